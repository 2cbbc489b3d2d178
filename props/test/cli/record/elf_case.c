/* elf_case.c -- see elf_case.h. */
#include "elf_case.h"

#include <string.h>

#include "spool_case.h"
#include "unit_test.h"

struct elf_model elf_files[ELF_FILES];
struct elf_mapping elf_mappings[ELF_MAPPINGS];

void
elf_make_file(uint32_t number, uint64_t seed)
{
    struct elf_model *const file = &elf_files[number];
    char name[16];

    elf_model_make(file, seed * ELF_FILES + number, (char)('a' + number));
    snprintf(name, sizeof name, "lib%u.so", number);
    snprintf(file->path, sizeof file->path, "%s", spool_path_of(name));
    elf_model_write(file);
}

/* Each file has two elf_mappings, one at each half of its code; the first file
 * is mapped twice, and the last one is not the file that was mapped. */
void
elf_make_mappings(void)
{
    for (uint32_t i = 0; i < ELF_MAPPINGS - 1; i++) {
        const uint64_t bias = UINT64_C(0x10000000) * (i / 2 + 1);
        const uint64_t half = i % 2 * ELF_TEXT_BYTES / 2;

        elf_mappings[i] = (struct elf_mapping){
            .model = &elf_files[i / 2 % ELF_FILES],
            .bias = bias,
            .start = bias + ELF_TEXT + half,
            .limit = bias + ELF_TEXT + half + ELF_TEXT_BYTES / 2,
            .offset = ELF_TEXT_OFFSET + half,
            .is_known = i / 2 % ELF_FILES != ELF_FILES - 1};
    }
    elf_mappings[ELF_MAPPINGS - 1] = elf_mappings[0];
    elf_mappings[ELF_MAPPINGS - 1].start += 64; /* it replaces the first one */
    elf_mappings[ELF_MAPPINGS - 1].limit -= 64;
    elf_mappings[ELF_MAPPINGS - 1].offset = 0x7000;
}

void
elf_add_mappings(struct cli_symbols *symbols, uint32_t count, bool with_id)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct elf_mapping *mapping = &elf_mappings[i];
        uint8_t id[ELF_ID_BYTES];

        memcpy(id, mapping->model->id, sizeof id);
        id[ELF_ID_BYTES - 1] ^= !mapping->is_known;
        cli_symbols_add(symbols, mapping->model->path, mapping->bias,
                        mapping->start, mapping->limit, mapping->offset, id,
                        with_id || !mapping->is_known ? ELF_ID_BYTES : 0);
    }
    cli_symbols_added(symbols);
}

void
elf_expect_found(struct cli_symbols *symbols, uint32_t count, uint64_t pc)
{
    static struct elf_found want;
    struct cli_symbol found[CLI_SYMBOLS_MAX];
    struct cli_symbol outermost;

    elf_model_find(elf_mappings, count, pc, &want);
    assert_int_equal(cli_symbols_find_all(symbols, pc, found), want.count);
    for (uint32_t i = 0; i < want.count; i++) {
        assert_string_equal(found[i].function, want.symbols[i].function);
        assert_int_equal(found[i].function_offset,
                         want.symbols[i].function_offset);
        assert_string_equal(found[i].file, want.symbols[i].file);
        assert_int_equal(found[i].line, want.symbols[i].line);
    }
    cli_symbols_find(symbols, pc, &outermost);
    assert_string_equal(outermost.function,
                        want.symbols[want.count - 1].function);
    assert_int_equal(outermost.line, want.symbols[want.count - 1].line);
}

void
elf_expect_own_name(const struct prof_symbols *symbols, uint64_t pc)
{
    static struct elf_found want;
    struct prof_symbol found = {.line = 7};
    const struct cli_symbol *outermost;

    elf_model_find(elf_mappings, 2, pc, &want);
    outermost = &want.symbols[want.count - 1];
    symbols->find(symbols->context, pc, &found);
    assert_string_equal(found.function, outermost->function);
    assert_string_equal(found.file, outermost->file);
    assert_int_equal(found.line, outermost->line);
    assert_int_equal(found.entry, outermost->function_offset != 0
                                      ? pc - outermost->function_offset
                                      : 0);
}

void
elf_append_mapping(const struct elf_mapping *mapping)
{
    const size_t path_bytes = strlen(mapping->model->path);
    uint64_t words[24] = {mapping->bias, mapping->start, mapping->limit,
                          mapping->offset,
                          ELF_ID_BYTES | (uint64_t)path_bytes << 32};

    assert_true(ELF_ID_BYTES + path_bytes <= 8 * 19);
    memcpy(&words[5], mapping->model->id, ELF_ID_BYTES);
    memcpy((char *)&words[5] + ELF_ID_BYTES, mapping->model->path, path_bytes);
    spool_append(EMBED_MODULE, 0, 0, words,
                 (uint32_t)(5 + (ELF_ID_BYTES + path_bytes + 7) / 8));
}

/* The frames of one pc follow each other. */
void
elf_expect_frames(const struct sim_recording *recording, uint32_t number,
                  uint64_t pc)
{
    static struct elf_found want;

    elf_model_find(elf_mappings, 2, pc, &want);
    for (uint32_t i = 0; i < want.count; i++) {
        const struct sim_recorded_frame frame =
            sim_recording_frame(recording, number + i);

        assert_int_equal(frame.pc, pc);
        assert_string_equal(frame.function, want.symbols[i].function);
        assert_int_equal(frame.function_offset,
                         want.symbols[i].function_offset);
        assert_string_equal(frame.file, want.symbols[i].file);
        assert_int_equal(frame.line, want.symbols[i].line);
        assert_string_equal(frame.module, elf_files[0].path);
        assert_int_equal(sim_recording_is_inlined(recording, number + i),
                         i + 1 < want.count);
    }
}
