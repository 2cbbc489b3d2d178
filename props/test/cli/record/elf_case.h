/*
 * elf_case.h -- three files of elf_model.h, and where they are mapped: each
 * file at two places, one for each half of its code. The first file is mapped
 * twice, the last one is not the file that was mapped, and the last mapping
 * replaces the middle of the first one.
 */
#ifndef ELF_CASE_H
#define ELF_CASE_H

#include "elf_model.h"
#include "prof/symbol.h"
#include "recording.h"

enum { ELF_FILES = 3, ELF_MAPPINGS = 9 };

extern struct elf_model elf_files[ELF_FILES];
extern struct elf_mapping elf_mappings[ELF_MAPPINGS];

void elf_make_file(uint32_t number, uint64_t seed);
void elf_make_mappings(void);
void elf_add_mappings(struct cli_symbols *symbols, uint32_t count,
                      bool with_id);
void elf_expect_found(struct cli_symbols *symbols, uint32_t count, uint64_t pc);
void elf_expect_own_name(const struct prof_symbols *symbols, uint64_t pc);
void elf_append_mapping(const struct elf_mapping *mapping);
void elf_expect_frames(const struct sim_recording *recording, uint32_t number,
                       uint64_t pc);

#endif
