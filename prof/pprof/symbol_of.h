/* symbol_of.h -- the embedder's symbol for an address. */
#ifndef PROF_PPROF_SYMBOL_OF_H
#define PROF_PPROF_SYMBOL_OF_H

#include "prof/symbol.h"

/* returns: all zero if the embedder has no `find` */
static inline struct prof_symbol
symbol_of(const struct prof_symbols *symbols, uintptr_t pc)
{
    struct prof_symbol symbol = {.line = 0};

    if (symbols->find != NULL)
        symbols->find(symbols->context, pc, &symbol);
    return symbol;
}

/* The address to show: inside the call, so one before the return address,
 * unless that is the function's entry. */
static inline uintptr_t
shown_pc(uintptr_t pc, const struct prof_symbol *symbol)
{
    return pc == symbol->entry || pc == 0 ? pc : pc - 1;
}

#endif
