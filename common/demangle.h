/* demangle.h -- names of C++, Rust and D functions as their source has them. */
#ifndef COMMON_DEMANGLE_H
#define COMMON_DEMANGLE_H

/*
 * in:      symbol, as a symbol table has it; any text
 * returns: the name, to be freed; NULL if the symbol is not mangled, its name
 *          would be far too long, or there is no memory. Then show the symbol
 *          itself
 */
char *cli_demangle(const char *symbol);

#endif
