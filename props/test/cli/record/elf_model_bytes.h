/*
 * elf_model_bytes.h -- puts together the bytes of an ELF file, section by
 * section.
 */
#ifndef ELF_MODEL_BYTES_H
#define ELF_MODEL_BYTES_H

#include <elf.h>

#include "elf_model.h"

enum section {
    S_NONE,
    S_TEXT,
    S_UNWIND,
    S_ID,
    S_SYMBOLS,
    S_STRINGS,
    S_ABBREV,
    S_INFO,
    S_LINE,
    S_RANGES,
    S_NAMES,
    SECTIONS
};

extern uint32_t elf_used; /* bytes so far */
extern Elf64_Shdr elf_headers[SECTIONS];

void elf_put(const void *data, uint32_t count);
void elf_put_number(uint64_t value, uint32_t count);
void elf_put_text(const char *text);
void elf_put_leb(uint64_t value);
/* Overwrite a number of four bytes. */
void elf_put_at(uint32_t at, uint32_t value);

/* in: address, 0 if the section is not loaded */
void elf_section_begin(enum section section, uint32_t type, uint64_t address);
void elf_section_end(enum section section);

/* Put the sections of debug information. */
void elf_model_put_dwarf(const struct elf_model *model);

#endif
