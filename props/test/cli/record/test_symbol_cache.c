/*
 * test_symbol_cache.c -- the cache of function names across images never
 * returns the name of another file or address; random spools, converted one
 * after the other with one cache, become the recordings that they should.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "convert.h"
#include "elf_case.h"
#include "folder.h"
#include "map_model.h"
#include "names.h"
#include "names_case.h"
#include "recfile_exact.h"
#include "refused_memory.h"
#include "sanitized.h"
#include "spool_case.h"
#include "spool_exact.h"
#include "spool_heads.h"
#include "spool_model.h"
#include "spool_modules.h"
#include "symbol_cache.h"
#include "unit_test.h"

static const uint8_t first_id[] = {1, 2, 3};
static const uint8_t second_id[] = {1, 2, 4};

/* Make a name from the file and the address. */
static void
keep(struct cli_symbol_cache *cache, uint32_t file, uint64_t offset)
{
    char function[32];
    struct cli_symbol found[2] = {
        {.function = "inlined", .file = "x.h", .line = 7},
        {.function = function, .function_offset = offset, .file = ""}};

    snprintf(function, sizeof function, "%u/%llx", file,
             (unsigned long long)offset);
    cli_symbol_cache_put(cache, file, offset, found, 2);
    memset(function, 'x', sizeof function - 1); /* the cache has copied it */
}

static void
expect(struct cli_symbol_cache *cache, uint32_t file, uint64_t offset)
{
    struct cli_symbol found[CLI_SYMBOLS_MAX];
    char function[32];

    snprintf(function, sizeof function, "%u/%llx", file,
             (unsigned long long)offset);
    assert_int_equal(cli_symbol_cache_get(cache, file, offset, found), 2);
    assert_string_equal(found[0].function, "inlined");
    assert_string_equal(found[0].file, "x.h");
    assert_int_equal(found[0].line, 7);
    assert_string_equal(found[1].function, function);
    assert_int_equal(found[1].function_offset, offset);
    assert_string_equal(found[1].file, "");
}

TEST(a_name_is_that_of_its_file_and_address)
{
    struct cli_symbol_cache *const cache = cli_symbol_cache_open();
    struct cli_symbol found[CLI_SYMBOLS_MAX];
    const uint32_t files[] = {
        cli_symbol_cache_file(cache, "/a", first_id, 3),
        cli_symbol_cache_file(cache, "/a", second_id, 3),
        cli_symbol_cache_file(cache, "/a", first_id, 2),
        cli_symbol_cache_file(cache, "/b", first_id, 3),
    };

    for (uint32_t i = 0; i < 4; i++)
        for (uint32_t k = 0; k < i; k++)
            assert_int_not_equal(files[i], files[k]);
    for (uint32_t i = 0; i < 4; i++)
        for (uint64_t offset = 0; offset < 3000; offset++)
            keep(cache, files[i], offset * 16);
    assert_int_equal(cli_symbol_cache_file(cache, "/a", second_id, 3),
                     files[1]);
    for (uint32_t i = 0; i < 4; i++)
        for (uint64_t offset = 0; offset < 3000; offset++)
            expect(cache, files[i], offset * 16);
    assert_int_equal(cli_symbol_cache_get(cache, files[0], 8, found), 0);
    cli_symbol_cache_close(cache);
}

/* A file without a build id may have been replaced since. */
TEST(what_cannot_be_told_apart_is_not_kept)
{
    struct cli_symbol_cache *const cache = cli_symbol_cache_open();
    struct cli_symbol found[CLI_SYMBOLS_MAX];
    const uint32_t file = cli_symbol_cache_file(cache, "/a", first_id, 3);

    assert_int_equal(cli_symbol_cache_file(cache, "/a", NULL, 0), 0);
    assert_int_equal(cli_symbol_cache_file(NULL, "/a", first_id, 3), 0);
    keep(cache, 0, 64);
    assert_int_equal(cli_symbol_cache_get(cache, 0, 64, found), 0);
    keep(cache, file, UINT64_C(1) << 48 | 64);
    assert_int_equal(
        cli_symbol_cache_get(cache, file, UINT64_C(1) << 48 | 64, found), 0);
    assert_int_equal(cli_symbol_cache_get(cache, file, 64, found), 0);
    cli_symbol_cache_close(cache);
}

/* ---- no memory ---- */

/* Let one request for memory fail, and those after it succeed. */
static void
keep_without(uint32_t request)
{
    enum { NAMES = 1100 }; /* the list must grow for these */
    struct cli_symbol found[CLI_SYMBOLS_MAX];
    struct cli_symbol_cache *const cache = cli_symbol_cache_open();
    uint32_t missing = 0;
    uint32_t file;

    refused_memory_at = request;
    file = cli_symbol_cache_file(cache, "/a", first_id, 3);
    if (file == 0)
        file = cli_symbol_cache_file(cache, "/a", first_id, 3);
    assert_int_equal(file, 1);
    for (uint64_t i = 0; i < NAMES; i++)
        keep(cache, file, i * 16);
    refused_memory_at = 0;
    for (uint64_t i = 0; i < NAMES; i++)
        if (cli_symbol_cache_get(cache, file, i * 16, found) == 0)
            missing++;
        else
            expect(cache, file, i * 16);
    assert_true(missing <= 1);
    cli_symbol_cache_close(cache);
}

/* Each name takes about one request for memory, and a list that grows a few
 * more. */
TEST(a_name_that_found_no_memory_is_none)
{
    for (uint32_t i = 1; i < 12; i++)
        keep_without(i);
    for (uint32_t i = 1020; i < 1060; i++)
        keep_without(i);
}

/* ---- the map below ---- */

TEST(a_map_has_the_keys_that_were_put_and_is_full_enough)
{
    map_check_random();
    map_check_few_live();
    map_check_spread();
    map_check_refused();
}

/* ---- spools made by hand ---- */

TEST(a_header_is_of_a_spool_or_is_refused)
{
    spool_check_headers();
    spool_check_no_spool();
    spool_check_commands();
    spool_check_executed();
}

TEST(a_recording_is_known_byte_by_byte)
{
    recfile_check_bytes();
    recfile_check_refused();
    spool_check_exact();
    spool_check_layers();
    spool_check_replaced();
    spool_check_collisions();
    spool_check_events();
    spool_check_records();
}

/* ---- names of mappings ---- */

TEST(an_address_in_a_mapping_of_code_has_the_name_of_its_file)
{
    char path[64];

    folder_path(path, sizeof path, "code");
    names_check_segments(path);
    names_check_other_files(path);
    names_check_descriptors(path);
    names_check_again();
}

/* ---- whole spools ---- */

static struct spool_model model;
static uint32_t requests_left; /* until one would have been refused */

/* Convert the model's spool. returns: NULL with *error if it fails */
static struct sim_recording *
convert(struct cli_symbol_cache *cache, char *error, size_t error_bytes)
{
    const struct embed_spool_header *header = (const void *)model.bytes;
    struct sim_recording_error damage;
    struct sim_recording *recording;
    struct cli_converted what;
    char from[64];
    char to[64];
    bool good;
    FILE *file;

    folder_path(from, sizeof from, "spool");
    folder_path(to, sizeof to, "x.rec");
    file = fopen(from, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(model.bytes, 1, sizeof model.bytes, file),
                     sizeof model.bytes);
    assert_int_equal(fclose(file), 0);
    refused_memory_at = requests_left;
    good = cli_convert(from, to, cache, &what, error, error_bytes);
    requests_left = refused_memory_at;
    refused_memory_at = 0;
    if (!good) {
        assert_int_equal(access(to, F_OK), -1);
        return NULL;
    }
    if (!sim_recording_open(&recording, to, &damage))
        fail_msg("offset %llu: %s", (unsigned long long)damage.offset_bytes,
                 damage.reason);
    assert_int_equal(remove(to), 0);
    assert_int_equal(what.events, sim_recording_events(recording));
    assert_int_equal(what.stacks, sim_recording_totals(recording)->stacks);
    assert_int_equal(what.process, header->process);
    assert_string_equal(what.command, "run it x");
    return recording;
}

static void
expect_recording(struct cli_symbol_cache *cache, bool whole)
{
    char error[128] = "";
    struct sim_recording *recording = convert(cache, error, sizeof error);

    if (recording == NULL)
        fail_msg("%s", error);
    spool_model_check(&model, recording, whole);
    sim_recording_close(recording);
}

/* The first spools are short. A spool that ends early has the events of all
 * records before. */
TEST(random_spools_become_their_recordings)
{
    struct cli_symbol_cache *const cache = cli_symbol_cache_open();

    for (uint32_t seed = 1; seed < (SANITIZED ? 40 : 150); seed++) {
        struct embed_spool_header *header = (void *)model.bytes;

        spool_model_make(&model, seed, 2 + seed * 8);
        expect_recording(seed % 2 == 0 ? cache : NULL, true);
        if (model.events_count == 0)
            continue;
        atomic_store(&header->used_bytes,
                     model.event_ends[seed % model.events_count]);
        expect_recording(NULL, false);
    }
    cli_symbol_cache_close(cache);
}

TEST(a_spool_is_converted_whole_or_not_at_all_when_memory_is_refused)
{
    struct cli_symbol_cache *cache;

    spool_model_make(&model, 1000, 150);
    for (uint32_t request = 1;; request += SANITIZED ? 11 : 1) {
        char error[128] = "";
        struct sim_recording *recording;

        assert_true(request < 2000);
        cache = cli_symbol_cache_open();
        requests_left = request;
        recording = convert(cache, error, sizeof error);
        cli_symbol_cache_close(cache);
        if (recording == NULL) {
            assert_string_equal(error,
                                "not enough memory to convert the recording");
            continue;
        }
        spool_model_check(&model, recording, false); /* names may be missing */
        sim_recording_close(recording);
        if (requests_left > 0)
            break;
    }
    requests_left = 0;
}

/* ---- files with symbols ---- */

TEST(each_address_has_the_names_that_a_linear_search_finds)
{
    for (uint32_t seed = 1; seed < (SANITIZED ? 6 : 30); seed++) {
        struct cli_symbol_cache *const cache =
            seed % 3 == 0 ? cli_symbol_cache_open() : NULL;
        struct cli_symbols *const symbols = cli_symbols_open(cache);
        const uint32_t count = ELF_MAPPINGS - (cache != NULL);

        for (uint32_t i = 0; i < ELF_FILES; i++)
            elf_make_file(i, seed);
        elf_make_mappings();
        elf_add_mappings(symbols, count, cache != NULL || seed % 2 == 0);
        for (uint32_t i = 0; i < count; i++)
            for (uint64_t pc = elf_mappings[i].start;
                 pc <= elf_mappings[i].limit; pc++)
                elf_expect_found(symbols, count, pc);
        elf_expect_found(symbols, count, 1);
        elf_expect_found(symbols, count, UINT64_MAX);
        cli_symbols_close(symbols);
        cli_symbol_cache_close(cache);
    }
}

/* A name for which there is no memory is left out, or is that of the place. */
TEST(without_memory_a_function_is_named_by_its_place)
{
    static struct elf_found want;
    struct cli_symbol found;

    for (uint32_t i = 0; i < ELF_FILES; i++)
        elf_make_file(i, 2);
    elf_make_mappings();
    for (uint32_t request = 1;; request++) {
        struct cli_symbol_cache *const cache = cli_symbol_cache_open();
        struct cli_symbols *symbols;
        uint32_t left = 1;

        assert_true(request < 1000);
        refused_memory_at = request;
        symbols = cli_symbols_open(cache);
        if (symbols != NULL) {
            elf_add_mappings(symbols, ELF_MAPPINGS - 1, true);
            for (uint64_t pc = elf_mappings[0].start;
                 pc < elf_mappings[1].limit; pc += 3) {
                cli_symbols_find(symbols, pc, &found);
                elf_model_find(elf_mappings, ELF_MAPPINGS - 1, pc, &want);
                if (strstr(found.function, "0x") == NULL)
                    assert_string_equal(found.function,
                                        want.functions[want.count - 1]);
            }
            left = refused_memory_at;
        }
        refused_memory_at = 0;
        cli_symbols_close(symbols);
        cli_symbol_cache_close(cache);
        if (symbols != NULL && left > 0)
            break;
    }
}

/* The kernel lists whole pages of the file. Segments of the file share pages,
 * and are not in the order of their addresses. */
TEST(a_mapping_is_that_of_its_segment)
{
    enum { BIAS = 0x40000000 };
    const uint64_t pages = ELF_TEXT & ~UINT64_C(0xfff);
    struct prof_mapping listed[] = {
        {BIAS, BIAS + 0x1000, 0, elf_files[0].path, ""},
        {BIAS + ELF_OTHER, BIAS + ELF_OTHER + 0x1000, ELF_OTHER_OFFSET,
         elf_files[0].path, ""},
        {BIAS + pages, BIAS + pages + 0x1000, 0x1000, elf_files[0].path, ""},
        {BIAS - 0x5000, BIAS - 0x4000, 0, "[vdso]", ""},
        {BIAS - 0x7000, BIAS - 0x6000, 0, "", ""},
    };

    for (uint32_t seed = 1; seed < 6; seed++)
        for (size_t only = 1; only < 4; only++) {
            struct cli_names *names;
            struct prof_symbols symbols;
            struct prof_symbol none = {.line = 7};

            elf_make_file(0, seed * 10);
            for (size_t i = 0; i < 2; i++)
                elf_mappings[i] = (struct elf_mapping){
                    &elf_files[0],        BIAS,
                    listed[i + 1].start,  listed[i + 1].limit,
                    listed[i + 1].offset, true};
            names = only == 3 ? cli_names_open(listed, 5)
                              : cli_names_open(&listed[only], 1);
            assert_non_null(names);
            symbols = cli_names_symbols(names);
            for (uint64_t pc = listed[only % 3].start + 1;
                 only < 3 && pc <= listed[only % 3].start + 0x480; pc += 7)
                elf_expect_own_name(&symbols, pc);
            for (uint64_t pc = listed[2].start + 1;
                 only == 3 && pc <= BIAS + ELF_TEXT + ELF_TEXT_BYTES; pc++)
                elf_expect_own_name(&symbols, pc);
            symbols.find(symbols.context, 0, &none);
            assert_null(none.function);
            assert_int_equal(none.line, 7);
            symbols.find(symbols.context, BIAS - 0x4800, &none);
            assert_string_equal(none.function, "0x3fffb800");
            cli_names_close(names);
        }
}

TEST(a_recording_names_the_functions_of_its_files)
{
    enum { STACKS = 25, DEPTH = 8 };

    for (uint64_t seed = 1; seed < 13; seed++) {
        struct sim_recording *recording;
        struct cli_converted what;
        char error[128] = "";
        uint64_t pcs[STACKS];

        elf_make_file(0, seed);
        elf_make_mappings();
        spool_begin();
        elf_append_mapping(&elf_mappings[0]);
        elf_append_mapping(&elf_mappings[1]);
        for (uint32_t i = 0; i < STACKS; i++) {
            pcs[i] = elf_mappings[0].start + 1 + i % 16 + i / 16 * 16 * DEPTH +
                     seed % 4 * 256;
            (void)spool_append_stack(pcs[i], DEPTH);
        }
        if (!spool_convert(&what, error, sizeof error))
            fail_msg("%s", error);
        recording = spool_open_result();
        assert_int_equal(sim_recording_totals(recording)->stacks, STACKS);
        for (uint32_t i = 0; i < STACKS; i++) {
            uint32_t numbers[DEPTH];

            assert_int_equal(sim_recording_stack(recording, i, numbers, DEPTH),
                             DEPTH);
            for (uint32_t k = 0; k < DEPTH; k++)
                elf_expect_frames(recording, numbers[k], pcs[i] + 16 * k);
        }
        sim_recording_close(recording);
    }
}

TEST(a_module_has_an_id_and_a_path_that_fit_its_record)
{
    spool_modules_check_lengths();
}

TEST(segments_of_a_file_are_moved_up_together)
{
    spool_modules_check_segments();
}

static int
make_folders(void **state)
{
    return folder_make(state) | spool_make_folder(state);
}

static int
clear_folders(void **state)
{
    for (uint32_t i = 0; i < ELF_FILES; i++)
        (void)unlink(elf_files[i].path);
    return folder_clear(state) | spool_remove_folder(state);
}

int
main(void)
{
    return tests_run(make_folders, clear_folders);
}
