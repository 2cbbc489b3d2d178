/*
 * symbols.c -- names for program counters: symbol tables, .dynsym, DWARF lines.
 *
 *      pc -> the last mapping that contains it -> address in its file
 *
 * A symbol counts only if it covers the pc. The nearest exported symbol before
 * a stripped static function is a wrong name, and a wrong name is worse than
 * `module+0xoffset`.
 */
#include "record/symbols/symbols.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/command/complaint.h"
#include "record/convert/items.h"
#include "record/command/symbol_file.h"

struct mapping {
    uint64_t start;
    uint64_t limit;
    uint64_t offset;
    uint64_t bias;
    struct cli_symbol_file *file;
};

struct cli_symbols {
    struct cli_symbol_files *files;
    struct cli_symbol_files *own; /* NULL: they are the caller's */
    struct cli_items mappings;    /* struct mapping */
    char text[4400];
};

struct cli_symbols *
cli_symbols_open(struct cli_symbol_files *files)
{
    struct cli_symbols *const symbols = cli_need(calloc(1, sizeof *symbols));

    if (files == NULL)
        files = symbols->own = cli_symbol_files_open();
    symbols->files = files;
    return symbols;
}

void
cli_symbols_close(struct cli_symbols *symbols)
{
    cli_symbol_files_close(symbols->own);
    free(symbols->mappings.items);
    free(symbols);
}

void
cli_symbols_add(struct cli_symbols *symbols, const char *path, uint64_t bias,
                uint64_t start, uint64_t limit, uint64_t offset,
                const uint8_t *id, uint32_t id_bytes)
{
    struct mapping *const mapping =
        cli_items_add(&symbols->mappings, sizeof *mapping);

    *mapping = (struct mapping){
        start, limit, offset, bias,
        cli_symbol_file_of(symbols->files, path, id, id_bytes)};
}

/* returns: the last mapping at pc, which has replaced earlier ones; NULL if
 *          there is none */
static const struct mapping *
mapping_of(const struct cli_symbols *symbols, uint64_t pc)
{
    const struct mapping *const mappings = symbols->mappings.items;
    size_t i = symbols->mappings.count;

    while (i > 0 &&
           (pc - 1 < mappings[i - 1].start || pc - 1 >= mappings[i - 1].limit))
        i--;
    return i > 0 ? &mappings[i - 1] : NULL;
}

/* Name the function after its place in the file: its first byte if unwind
 * tables know it, else the pc. */
static void
name_by_place(struct cli_symbols *symbols, const struct mapping *mapping,
              uint64_t pc, struct cli_symbol *symbol)
{
    const char *const slash = strrchr(mapping->file->path, '/');
    const char *const name = slash != NULL ? slash + 1 : mapping->file->path;
    uint64_t start = pc - mapping->bias;

    if (cli_eh_table_start(&mapping->file->unwind, pc - 1 - mapping->bias,
                           &start))
        start += mapping->bias;
    else
        start = pc;
    if (start < mapping->start || start > pc)
        start = pc;
    symbol->function_offset = pc - start;
    snprintf(symbols->text, sizeof symbols->text, "%s+0x%" PRIx64, name,
             start - mapping->start + mapping->offset);
}

/* Name the function that contains the pc, not one that was inlined into it. */
static void
name_function(struct cli_symbols *symbols, const struct mapping *mapping,
              uint64_t pc, struct cli_symbol *symbol)
{
    const struct cli_table_symbol *const found =
        cli_symbol_table_find(&mapping->file->symbols, pc - 1 - mapping->bias);

    if (found == NULL) {
        name_by_place(symbols, mapping, pc, symbol);
        return;
    }
    /* Leave out the version of `name@@VERSION`. */
    snprintf(symbols->text, sizeof symbols->text, "%.*s",
             (int)strcspn(found->name, "@"), found->name);
    symbol->function_offset = pc - mapping->bias - found->start;
}

uint32_t
cli_symbols_find_all(struct cli_symbols *symbols, uint64_t pc,
                     struct cli_symbol *found)
{
    const struct mapping *const mapping = mapping_of(symbols, pc);
    struct cli_inline inlined[CLI_INLINES_MAX];
    struct cli_line line = {.file = ""};
    uint32_t count = 0;

    if (mapping == NULL) {
        snprintf(symbols->text, sizeof symbols->text, "0x%" PRIx64, pc);
        *found = (struct cli_symbol){.function = symbols->text, .file = ""};
        return 1;
    }
    cli_symbol_file_read(mapping->file);
    if (mapping->file->debug_info != NULL)
        count = cli_debug_info_find(mapping->file->debug_info,
                                    pc - 1 - mapping->bias, &line, inlined);
    /* The pc's line belongs to the innermost function; each outer function has
     * the line of its call. */
    for (uint32_t i = 0; i <= count; i++) {
        found[i] = (struct cli_symbol){
            .function = symbols->text, .file = line.file, .line = line.line};
        if (i == count)
            break;
        found[i].function = inlined[i].function;
        line = inlined[i].call;
    }
    name_function(symbols, mapping, pc, &found[count]);
    return count + 1;
}

void
cli_symbols_find(struct cli_symbols *symbols, uint64_t pc,
                 struct cli_symbol *symbol)
{
    struct cli_symbol found[CLI_SYMBOLS_MAX];
    const uint32_t count = cli_symbols_find_all(symbols, pc, found);

    /* Only the outermost function, and its line. */
    *symbol = found[count - 1];
}
