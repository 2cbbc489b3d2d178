/*
 * elf_model.h -- random ELF files with overlapping symbols, an unwind table,
 * lines and inlined calls; and what a linear search finds at each address.
 *
 * Addresses of the facts are the file's. The segment of code is from ELF_TEXT
 * to ELF_TEXT + ELF_TEXT_BYTES; its place in the file is ELF_TEXT_OFFSET.
 */
#ifndef ELF_MODEL_H
#define ELF_MODEL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "symbols.h"

enum {
    ELF_TEXT = 0x3080,
    ELF_TEXT_OFFSET = 0x1080,
    ELF_TEXT_BYTES = 0x400,
    ELF_OTHER = 0x1000, /* another segment of code, in which nothing is */
    ELF_OTHER_OFFSET = 0x2000,
    ELF_OTHER_BYTES = 0x100,
    ELF_SYMBOLS = 48,
    ELF_STARTS = 24,
    ELF_UNITS = 6,
    ELF_ORIGINS = 4, /* functions of a unit that are inlined */
    ELF_ENTRIES = 700,
    ELF_ROWS = 200,
    ELF_ID_BYTES = 21,
    ELF_NESTING = 8, /* of namespaces: functions in so many are left out */
    ELF_FILE_BYTES = 1 << 17
};

struct elf_symbol {
    uint64_t start;
    uint64_t bytes;
    uint32_t type;
    uint32_t binding; /* local ones come first */
    bool is_undefined;
    char name[24];
};

enum elf_entry_kind {
    ELF_UNIT,
    ELF_SPACE,
    ELF_FUNCTION,
    ELF_BLOCK,
    ELF_INLINED
};

/* An entry of the debug information; one follows its parent. */
struct elf_entry {
    enum elf_entry_kind kind;
    uint32_t depth; /* a unit's is 0 */
    uint32_t unit;
    uint64_t start[2];
    uint64_t limit[2]; /* 0: it has only one range */
    uint32_t origin;
    uint32_t call_file; /* 0: not known */
    uint32_t call_line;
    bool is_left_out; /* it or a function around it */
};

struct elf_row {
    uint64_t address;
    uint32_t unit;
    uint32_t file; /* from 1 */
    uint32_t line; /* 0: not known */
    bool is_end;
};

enum elf_unwind { ELF_NO_TABLE, ELF_TABLE, ELF_FOREIGN_TABLE, ELF_CUT_TABLE };

struct elf_model {
    struct elf_symbol symbols[ELF_SYMBOLS];
    uint32_t symbols_count;
    enum elf_unwind unwind;
    uint64_t unwind_address;
    uint64_t starts[ELF_STARTS]; /* sorted */
    uint32_t starts_count;
    struct elf_entry entries[ELF_ENTRIES];
    uint32_t entries_count;
    uint32_t units_count;
    struct elf_row rows[ELF_ROWS];
    uint32_t rows_count;
    uint8_t id[ELF_ID_BYTES];
    char path[128];
    char tag; /* in each name of this file */
};

/* in: tag, what tells this file's names from those of others */
void elf_model_make(struct elf_model *model, uint64_t seed, char tag);
/* Write the file to its path. */
void elf_model_write(const struct elf_model *model);

/* The name and call of an inlined function, as it must be found. */
void elf_model_origin(const struct elf_model *model,
                      const struct elf_entry *entry, char *name,
                      size_t name_bytes);
void elf_model_file_name(const struct elf_model *model, uint32_t unit,
                         uint32_t file, char *name, size_t name_bytes);

/* What is found at an address; in: is_known, whether the file may be read. */
struct elf_found {
    struct cli_symbol symbols[CLI_SYMBOLS_MAX];
    char functions[CLI_SYMBOLS_MAX][160];
    char files[CLI_SYMBOLS_MAX][32];
    uint32_t count;
};

/* A range of the address space at which a part of the file is. */
struct elf_mapping {
    const struct elf_model *model;
    uint64_t bias;
    uint64_t start;
    uint64_t limit;
    uint64_t offset;
    bool is_known; /* the file is the one that was mapped */
};

/* The last of these mappings has replaced those before. */
void elf_model_find(const struct elf_mapping *mappings, uint32_t count,
                    uint64_t pc, struct elf_found *found);

#endif
