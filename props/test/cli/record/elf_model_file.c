/* elf_model_file.c -- writes the files of elf_model.h, after the ELF
 * standard. */
#include <string.h>

#include "elf_model_bytes.h"
#include "unit_test.h"

static const char *const section_names[SECTIONS] = {"",
                                                    ".text",
                                                    ".eh_frame_hdr",
                                                    ".note.gnu.build-id",
                                                    ".symtab",
                                                    ".strtab",
                                                    ".debug_abbrev",
                                                    ".debug_info",
                                                    ".debug_line",
                                                    ".debug_ranges",
                                                    ".shstrtab"};

static uint8_t bytes[ELF_FILE_BYTES];
uint32_t elf_used;
Elf64_Shdr elf_headers[SECTIONS];

void
elf_put(const void *data, uint32_t count)
{
    assert_true(elf_used + count <= sizeof bytes);
    memcpy(bytes + elf_used, data, count);
    elf_used += count;
}

void
elf_put_number(uint64_t value, uint32_t count)
{
    elf_put(&value, count);
}

void
elf_put_text(const char *text)
{
    elf_put(text, (uint32_t)strlen(text) + 1);
}

void
elf_put_leb(uint64_t value)
{
    for (; value > 127; value >>= 7)
        elf_put_number((value & 127) | 128, 1);
    elf_put_number(value, 1);
}

void
elf_put_at(uint32_t at, uint32_t value)
{
    memcpy(bytes + at, &value, sizeof value);
}

void
elf_section_begin(enum section section, uint32_t type, uint64_t address)
{
    elf_used = (elf_used + 7) & ~7u;
    elf_headers[section] =
        (Elf64_Shdr){.sh_type = type,
                     .sh_addr = address,
                     .sh_flags = address != 0 ? SHF_ALLOC : 0,
                     .sh_offset = elf_used,
                     .sh_addralign = 1};
}

void
elf_section_end(enum section section)
{
    elf_headers[section].sh_size = elf_used - elf_headers[section].sh_offset;
}

/* ---- sections of ELF ---- */

static void
put_unwind(const struct elf_model *model)
{
    static const uint8_t heads[2][4] = {{1, 0x1b, 3, 0x3b}, {1, 0x1b, 3, 0x3c}};

    elf_section_begin(S_UNWIND, SHT_PROGBITS, model->unwind_address);
    elf_put(heads[model->unwind == ELF_FOREIGN_TABLE], 4);
    elf_put_number(0, 4);
    elf_put_number(model->starts_count + (model->unwind == ELF_CUT_TABLE), 4);
    for (uint32_t i = 0; i < model->starts_count; i++) {
        elf_put_number(model->starts[i] - model->unwind_address, 4);
        elf_put_number(0x5a5a5a5a, 4);
    }
    elf_section_end(S_UNWIND);
}

static void
put_symbols(const struct elf_model *model)
{
    uint32_t names[ELF_SYMBOLS];
    uint32_t locals = 1;

    elf_section_begin(S_STRINGS, SHT_STRTAB, 0);
    elf_put_text("");
    for (uint32_t i = 0; i < model->symbols_count; i++) {
        names[i] = model->symbols[i].name[0] != '\0'
                       ? elf_used - (uint32_t)elf_headers[S_STRINGS].sh_offset
                       : 0;
        elf_put_text(model->symbols[i].name);
    }
    elf_section_end(S_STRINGS);
    elf_section_begin(S_SYMBOLS, SHT_SYMTAB, 0);
    elf_put(&(Elf64_Sym){0}, sizeof(Elf64_Sym));
    for (uint32_t i = 0; i < model->symbols_count; i++) {
        const struct elf_symbol *symbol = &model->symbols[i];

        locals += symbol->binding == STB_LOCAL;
        elf_put(
            &(Elf64_Sym){.st_name = names[i],
                         .st_info = (unsigned char)ELF64_ST_INFO(
                             symbol->binding, symbol->type),
                         .st_shndx = symbol->is_undefined ? SHN_UNDEF : S_TEXT,
                         .st_value = symbol->start,
                         .st_size = symbol->bytes},
            sizeof(Elf64_Sym));
    }
    elf_section_end(S_SYMBOLS);
    elf_headers[S_SYMBOLS].sh_link = S_STRINGS;
    elf_headers[S_SYMBOLS].sh_info = locals;
    elf_headers[S_SYMBOLS].sh_entsize = sizeof(Elf64_Sym);
}

static void
put_id(const struct elf_model *model)
{
    elf_section_begin(S_ID, SHT_NOTE, 0x1800);
    elf_put_number(4, 4);
    elf_put_number(ELF_ID_BYTES, 4);
    elf_put_number(NT_GNU_BUILD_ID, 4);
    elf_put("GNU", 4);
    elf_put(model->id, ELF_ID_BYTES);
    elf_put_number(0, (4 - ELF_ID_BYTES % 4) % 4);
    elf_section_end(S_ID);
}

/* ---- the file ---- */

static void
put_names(void)
{
    elf_section_begin(S_NAMES, SHT_STRTAB, 0);
    for (uint32_t i = 0; i < SECTIONS; i++) {
        elf_headers[i].sh_name =
            elf_used - (uint32_t)elf_headers[S_NAMES].sh_offset;
        elf_put_text(section_names[i]);
    }
    elf_section_end(S_NAMES);
}

static void
put_segment(uint32_t flags, uint64_t offset, uint64_t address, uint64_t size)
{
    elf_put(&(Elf64_Phdr){.p_type = PT_LOAD,
                          .p_flags = flags,
                          .p_offset = offset,
                          .p_vaddr = address,
                          .p_paddr = address,
                          .p_filesz = size,
                          .p_memsz = size,
                          .p_align = 0x1000},
            sizeof(Elf64_Phdr));
}

static void
put_head(uint32_t sections_at)
{
    const uint32_t end_of_file = elf_used;

    elf_used = 0;
    elf_put(&(Elf64_Ehdr){.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3,
                                      ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                          .e_type = ET_DYN,
                          .e_machine = EM_X86_64,
                          .e_version = EV_CURRENT,
                          .e_phoff = sizeof(Elf64_Ehdr),
                          .e_shoff = sections_at,
                          .e_ehsize = sizeof(Elf64_Ehdr),
                          .e_phentsize = sizeof(Elf64_Phdr),
                          .e_phnum = 4,
                          .e_shentsize = sizeof(Elf64_Shdr),
                          .e_shnum = SECTIONS,
                          .e_shstrndx = S_NAMES},
            sizeof(Elf64_Ehdr));
    put_segment(PF_R | PF_X, 0, 0, 0x1000);
    put_segment(PF_R | PF_X, ELF_OTHER_OFFSET, ELF_OTHER, ELF_OTHER_BYTES);
    put_segment(PF_R, 0x1000, 0x2000, 0x80);
    put_segment(PF_R | PF_X, ELF_TEXT_OFFSET, ELF_TEXT, ELF_TEXT_BYTES);
    elf_used = end_of_file;
}

void
elf_model_write(const struct elf_model *model)
{
    uint32_t sections_at;
    FILE *file;

    memset(bytes, 0, sizeof bytes);
    memset(elf_headers, 0, sizeof elf_headers);
    elf_used = ELF_TEXT_OFFSET;
    elf_section_begin(S_TEXT, SHT_PROGBITS, ELF_TEXT);
    elf_used += ELF_TEXT_BYTES;
    elf_section_end(S_TEXT);
    elf_headers[S_TEXT].sh_flags |= SHF_EXECINSTR;
    put_id(model);
    if (model->unwind != ELF_NO_TABLE)
        put_unwind(model);
    put_symbols(model);
    elf_model_put_dwarf(model);
    put_names();
    elf_used = (elf_used + 7) & ~7u;
    sections_at = elf_used;
    elf_put(elf_headers, sizeof elf_headers);
    put_head(sections_at);
    file = fopen(model->path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, elf_used, file), elf_used);
    assert_int_equal(fclose(file), 0);
}
