/*
 * symbols.h -- names for program counters, by libdw.
 */
#ifndef RECORD_SYMBOLS_SYMBOLS_H
#define RECORD_SYMBOLS_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

struct cli_symbols; /* opaque */

struct cli_symbol {
    const char *function; /* never empty; valid until the next call */
    uint64_t function_offset;
    const char *file; /* "" if not known; as long as the symbols */
    uint32_t line;    /* 0 if not known */
};

struct cli_symbol_files;

/*
 * in:      files, that were read before, to be used again; they must outlive
 *          the symbols; or NULL
 */
struct cli_symbols *cli_symbols_open(struct cli_symbol_files *files);
void cli_symbols_close(struct cli_symbols *symbols);

/*
 * Register where a file is mapped. If the file is gone, or has another build id
 * by now, its addresses are named by path and offset only.
 *
 * in: bias, what the loader added to the file's addresses; start, limit and
 *     offset of one mapping; id, its build id (none if id_bytes is 0)
 */
void cli_symbols_add(struct cli_symbols *symbols, const char *path,
                     uint64_t bias, uint64_t start, uint64_t limit,
                     uint64_t offset, const uint8_t *id, uint32_t id_bytes);

/*
 * Name a return address: the function and line of the call before it.
 *
 * out: *symbol. If no symbol covers the address, the function's name is
 *      `module+0xoffset`: the offset in the file of the function's first byte
 *      if unwind tables know it, else of the address
 */
void cli_symbols_find(struct cli_symbols *symbols, uint64_t pc,
                      struct cli_symbol *symbol);

/* The most functions at one pc: those that are inlined there, and the function
 * that contains them. */
enum { CLI_SYMBOLS_MAX = 65 };

/*
 * Name a return address and the functions that were inlined there, innermost
 * first; the last one contains all others.
 *
 * out:     found, room for CLI_SYMBOLS_MAX
 * returns: how many, at least 1
 */
uint32_t cli_symbols_find_all(struct cli_symbols *symbols, uint64_t pc,
                              struct cli_symbol *found);

#endif
