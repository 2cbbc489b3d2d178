/* elf_model_dwarf.c -- writes the debug information of elf_model.h, after the
 * DWARF 4 standard. */
#include <dwarf.h>

#include "elf_model_bytes.h"

/* Abbreviations of entries; those with a second form have it behind them. */
enum abbrev {
    A_UNIT = 1,
    A_UNIT_RANGES,
    A_SPACE,
    A_FUNCTION,
    A_FUNCTION_RANGES,
    A_BLOCK,
    A_BLOCK_RANGES,
    A_INLINED,
    A_INLINED_RANGES,
    A_INLINED_NOWHERE,
    A_INLINED_NOWHERE_RANGES,
    A_OTHER,
    A_ORIGIN_NAME,
    A_ORIGIN_LINKAGE,
    A_ORIGIN_MIPS,
    A_ORIGIN_NONE
};

static uint32_t unit_begin;
static uint32_t origins[ELF_ORIGINS]; /* of the unit that is written */
static uint32_t range_at[ELF_ENTRIES];
static uint32_t line_at[ELF_UNITS];

static void
put_abbrev(enum abbrev number, uint32_t tag, bool has_children,
           const uint16_t *pairs)
{
    elf_put_leb(number);
    elf_put_leb(tag);
    elf_put_number(has_children, 1);
    for (; *pairs != 0; pairs += 2) {
        elf_put_leb(pairs[0]);
        elf_put_leb(pairs[1]);
    }
    elf_put_number(0, 2);
}

#define PLACE      DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, DW_FORM_data4
#define PLACES     DW_AT_ranges, DW_FORM_sec_offset
#define LINES      DW_AT_stmt_list, DW_FORM_sec_offset
#define CALL       DW_AT_abstract_origin, DW_FORM_ref4, DW_AT_call_line, DW_FORM_udata
#define CALL_FILE  DW_AT_call_file, DW_FORM_udata
#define NAME       DW_AT_name, DW_FORM_string
#define PAIRS(...) ((const uint16_t[]){__VA_ARGS__, 0})

static void
put_abbrevs(void)
{
    elf_section_begin(S_ABBREV, SHT_PROGBITS, 0);
    put_abbrev(A_UNIT, DW_TAG_compile_unit, true, PAIRS(LINES, PLACE));
    put_abbrev(A_UNIT_RANGES, DW_TAG_compile_unit, true,
               PAIRS(LINES, DW_AT_low_pc, DW_FORM_addr, PLACES));
    put_abbrev(A_SPACE, DW_TAG_namespace, true, PAIRS(NAME));
    put_abbrev(A_FUNCTION, DW_TAG_subprogram, true, PAIRS(NAME, PLACE));
    put_abbrev(A_FUNCTION_RANGES, DW_TAG_subprogram, true, PAIRS(NAME, PLACES));
    put_abbrev(A_BLOCK, DW_TAG_lexical_block, true, PAIRS(PLACE));
    put_abbrev(A_BLOCK_RANGES, DW_TAG_lexical_block, true, PAIRS(PLACES));
    put_abbrev(A_INLINED, DW_TAG_inlined_subroutine, true,
               PAIRS(CALL, CALL_FILE, PLACE));
    put_abbrev(A_INLINED_RANGES, DW_TAG_inlined_subroutine, true,
               PAIRS(CALL, CALL_FILE, PLACES));
    put_abbrev(A_INLINED_NOWHERE, DW_TAG_inlined_subroutine, true,
               PAIRS(CALL, PLACE));
    put_abbrev(A_INLINED_NOWHERE_RANGES, DW_TAG_inlined_subroutine, true,
               PAIRS(CALL, PLACES));
    put_abbrev(A_OTHER, DW_TAG_catch_block, false, PAIRS(PLACE));
    put_abbrev(A_ORIGIN_NAME, DW_TAG_subprogram, false, PAIRS(NAME));
    put_abbrev(A_ORIGIN_LINKAGE, DW_TAG_subprogram, false,
               PAIRS(NAME, DW_AT_MIPS_linkage_name, DW_FORM_string,
                     DW_AT_linkage_name, DW_FORM_string));
    put_abbrev(A_ORIGIN_MIPS, DW_TAG_subprogram, false,
               PAIRS(NAME, DW_AT_MIPS_linkage_name, DW_FORM_string));
    put_abbrev(A_ORIGIN_NONE, DW_TAG_subprogram, false,
               PAIRS(DW_AT_inline, DW_FORM_data1));
    elf_put_number(0, 1);
    elf_section_end(S_ABBREV);
}

/* Ranges are relative to the first byte of a unit; to 0 if it has two ranges
 * itself. */
static void
put_ranges(const struct elf_model *model)
{
    uint64_t base = 0;

    elf_section_begin(S_RANGES, SHT_PROGBITS, 0);
    for (uint32_t i = 0; i < model->entries_count; i++) {
        const struct elf_entry *entry = &model->entries[i];

        if (entry->kind == ELF_UNIT)
            base = entry->limit[1] == 0 ? entry->start[0] : 0;
        range_at[i] = elf_used - (uint32_t)elf_headers[S_RANGES].sh_offset;
        for (uint32_t k = 0; k < 2 && entry->limit[1] != 0; k++) {
            elf_put_number(entry->start[k] - base, 8);
            elf_put_number(entry->limit[k] - base, 8);
        }
        elf_put_number(0, 8);
        elf_put_number(0, 8);
    }
    elf_section_end(S_RANGES);
}

static void
put_rows(const struct elf_model *model, uint32_t unit)
{
    uint32_t line = 1;

    for (uint32_t i = 0; i < model->rows_count; i++) {
        const struct elf_row *row = &model->rows[i];

        if (row->unit != unit)
            continue;
        elf_put("\0\x09\x02", 3); /* the address */
        elf_put_number(row->address, 8);
        if (row->is_end) {
            elf_put("\0\x01\x01", 3);
            line = 1;
            continue;
        }
        elf_put("\x04", 1);
        elf_put_leb(row->file);
        elf_put("\x03", 1); /* lines on, signed: four bytes are enough */
        elf_put_number(((row->line - line) & 127) | 128, 1);
        elf_put_number(((row->line - line) >> 7 & 127) | 128, 1);
        elf_put_number(((row->line - line) >> 14 & 127) | 128, 1);
        elf_put_number((row->line - line) >> 21 & 127, 1);
        line = row->line;
        elf_put("\x01", 1);
    }
}

static void
put_lines(const struct elf_model *model)
{
    elf_section_begin(S_LINE, SHT_PROGBITS, 0);
    for (uint32_t unit = 0; unit < model->units_count; unit++) {
        const uint32_t at = elf_used;
        uint32_t head;

        line_at[unit] = elf_used - (uint32_t)elf_headers[S_LINE].sh_offset;
        elf_put_number(0, 4);
        elf_put_number(4, 2); /* version */
        head = elf_used;
        elf_put_number(0, 4);
        elf_put("\x01\x01\x01\x00\x01\x0d", 6);
        elf_put("\x00\x01\x01\x01\x01\x00\x00\x00\x01\x00\x00\x01", 12);
        elf_put_number(0, 1); /* no folders */
        for (uint32_t file = 1; file <= 2; file++) {
            char name[32];

            elf_model_file_name(model, unit, file, name, sizeof name);
            elf_put_text(name);
            elf_put_number(0, 3);
        }
        elf_put_number(0, 1);
        elf_put_at(head, elf_used - head - 4);
        put_rows(model, unit);
        elf_put_at(at, elf_used - at - 4);
    }
    elf_section_end(S_LINE);
}

static void
put_origins(const struct elf_model *model, uint32_t unit)
{
    char name[64];

    for (uint32_t i = 0; i < ELF_ORIGINS; i++) {
        elf_model_origin(model, &(struct elf_entry){.unit = unit, .origin = i},
                         name, sizeof name);
        origins[i] = elf_used - unit_begin;
        elf_put_leb(A_ORIGIN_NAME + i);
        if (i == ELF_ORIGINS - 1) {
            elf_put_number(1, 1);
            continue;
        }
        elf_put_text(i == 0 ? name : "plain");
        if (i == 1)
            elf_put_text("mips");
        if (i > 0)
            elf_put_text(name);
    }
}

static void
put_place(const struct elf_model *model, uint32_t i)
{
    const struct elf_entry *entry = &model->entries[i];

    if (entry->limit[1] != 0) {
        elf_put_number(range_at[i], 4);
        return;
    }
    elf_put_number(entry->start[0], 8);
    elf_put_number(entry->limit[0] - entry->start[0], 4);
}

static void
put_entry(const struct elf_model *model, uint32_t i)
{
    const struct elf_entry *entry = &model->entries[i];
    const uint32_t two = entry->limit[1] != 0;

    switch (entry->kind) {
    case ELF_UNIT:
        unit_begin = elf_used;
        elf_put_number(0, 4);
        elf_put_number(4, 2); /* version */
        elf_put_number(0, 4);
        elf_put_number(8, 1);
        elf_put_leb((uint32_t)A_UNIT + two);
        elf_put_number(line_at[entry->unit], 4);
        if (two)
            elf_put_number(0, 8);
        put_place(model, i);
        put_origins(model, entry->unit);
        return;
    case ELF_SPACE:
        elf_put_leb(A_SPACE);
        elf_put_text("space");
        return;
    case ELF_FUNCTION:
        elf_put_leb(A_FUNCTION + two);
        elf_put_text("function");
        put_place(model, i);
        elf_put_leb(A_OTHER);
        elf_put_number(entry->start[0], 8);
        elf_put_number(entry->limit[0] - entry->start[0], 4);
        return;
    case ELF_BLOCK:
        elf_put_leb(A_BLOCK + two);
        put_place(model, i);
        return;
    case ELF_INLINED:
        elf_put_leb(two + (uint32_t)(entry->call_file != 0
                                         ? A_INLINED
                                         : A_INLINED_NOWHERE));
        elf_put_number(origins[entry->origin], 4);
        elf_put_leb(entry->call_line);
        if (entry->call_file != 0)
            elf_put_leb(entry->call_file);
        put_place(model, i);
        return;
    }
}

static void
put_info(const struct elf_model *model)
{
    elf_section_begin(S_INFO, SHT_PROGBITS, 0);
    for (uint32_t i = 0; i < model->entries_count; i++) {
        const uint32_t depth = model->entries[i].depth;
        const uint32_t next =
            i + 1 < model->entries_count ? model->entries[i + 1].depth : 0;

        put_entry(model, i);
        for (uint32_t k = next; k <= depth; k++)
            elf_put_number(0, 1);
        if (next == 0)
            elf_put_at(unit_begin, elf_used - unit_begin - 4);
    }
    elf_section_end(S_INFO);
}

void
elf_model_put_dwarf(const struct elf_model *model)
{
    put_abbrevs();
    put_ranges(model);
    put_lines(model);
    put_info(model);
}
