/*
 * symbol_table.h -- the functions of one file, found by address.
 */
#ifndef RECORD_SYMBOLS_SYMBOL_TABLE_H
#define RECORD_SYMBOLS_SYMBOL_TABLE_H

#include <elfutils/libdwfl.h>
#include <stdint.h>

/* One symbol; its name is the file's. */
struct cli_table_symbol {
    uint64_t start; /* as mapped */
    uint64_t limit;
    uint64_t limit_before; /* largest of it and of all before it */
    const char *name;
    uint32_t rank; /* of several for the same bytes: the smallest */
};

/* Sorted by start; all zero is an empty table. */
struct cli_symbol_table {
    struct cli_table_symbol *symbols;
    uint32_t count;
};

/* Fill an empty table from all symbols of a module that have a size. */
void cli_symbol_table_fill(struct cli_symbol_table *table, Dwfl_Module *module);
void cli_symbol_table_release(struct cli_symbol_table *table);

/*
 * Find the innermost symbol around an address. Of several for the same bytes, a
 * global one wins over a weak one, and a weak one over a local one; of equal
 * ones, the first in the table wins.
 *
 * returns: NULL if none covers it
 */
const struct cli_table_symbol *
cli_symbol_table_find(const struct cli_symbol_table *table, uint64_t address);

#endif
