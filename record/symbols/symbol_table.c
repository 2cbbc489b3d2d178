/*
 * symbol_table.c -- see symbol_table.h. libdw searches a table from its first
 * symbol to its last for each address; this table is sorted once.
 *
 *      start ->  [a        ]
 *                  [b  ]            b lies in a: it is nearer
 *                         [c]       an address behind b's end is still in a
 *
 * The search begins at the last symbol that starts before the address. It goes
 * back until a symbol covers the address, or until no earlier symbol reaches
 * that far (`limit_before`).
 */
#include "record/symbols/symbol_table.h"

#include <stdlib.h>

#include "common/command/complaint.h"

static uint32_t
rank_of_binding(const GElf_Sym *symbol)
{
    switch (GELF_ST_BIND(symbol->st_info)) {
    case STB_GLOBAL:
        return 0;
    case STB_WEAK:
        return 1;
    default:
        return 2;
    }
}

static int
compare_symbols(const void *a, const void *b)
{
    const struct cli_table_symbol *x = a;
    const struct cli_table_symbol *y = b;

    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->limit != y->limit)
        return x->limit > y->limit ? -1 : 1; /* the smaller is nearer: last */
    return x->rank > y->rank ? -1 : x->rank < y->rank;
}

/* returns: false if it is no code that could be called */
static bool
is_code(const GElf_Sym *symbol, const char *name)
{
    const int type = GELF_ST_TYPE(symbol->st_info);

    return name != NULL && *name != '\0' && symbol->st_size > 0 &&
           symbol->st_shndx != SHN_UNDEF && type != STT_SECTION &&
           type != STT_FILE && type != STT_TLS;
}

void
cli_symbol_table_fill(struct cli_symbol_table *table, Dwfl_Module *module)
{
    const int count = dwfl_module_getsymtab(module);
    uint64_t limit = 0;

    if (count <= 0)
        return;
    table->symbols = cli_need(calloc((size_t)count, sizeof *table->symbols));
    for (int i = 0; i < count; i++) {
        struct cli_table_symbol *to = &table->symbols[table->count];
        GElf_Sym symbol;
        GElf_Addr start;
        const char *name = dwfl_module_getsym_info(module, i, &symbol, &start,
                                                   NULL, NULL, NULL);

        if (!is_code(&symbol, name))
            continue;
        to->name = name;
        to->start = start;
        to->limit = start + symbol.st_size;
        to->rank = rank_of_binding(&symbol) << 30 | (uint32_t)i;
        table->count++;
    }
    if (table->count > 0)
        qsort(table->symbols, table->count, sizeof *table->symbols,
              compare_symbols);
    for (uint32_t i = 0; i < table->count; i++) {
        if (table->symbols[i].limit > limit)
            limit = table->symbols[i].limit;
        table->symbols[i].limit_before = limit;
    }
}

void
cli_symbol_table_release(struct cli_symbol_table *table)
{
    free(table->symbols);
    *table = (struct cli_symbol_table){.count = 0};
}

const struct cli_table_symbol *
cli_symbol_table_find(const struct cli_symbol_table *table, uint64_t address)
{
    uint32_t low = 0;
    uint32_t high = table->count;

    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;

        if (table->symbols[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low > 0 && table->symbols[low - 1].limit_before > address; low--) {
        if (table->symbols[low - 1].limit > address)
            return &table->symbols[low - 1];
    }
    return NULL;
}
