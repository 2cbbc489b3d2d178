/*
 * debug_info.h -- looks an address up in DWARF information: its line, and the
 * functions that were inlined there.
 */
#ifndef RECORD_SYMBOLS_DEBUG_INFO_H
#define RECORD_SYMBOLS_DEBUG_INFO_H

#include <elfutils/libdwfl.h>
#include <stdint.h>

enum { CLI_INLINES_MAX = 64 }; /* deeper ones are left out */

struct cli_line {
    const char *file; /* "" if not known */
    uint32_t line;    /* 0 if not known */
};

struct cli_inline {
    const char *function; /* its linkage name, if it has one */
    struct cli_line call; /* where it was called */
};

struct cli_debug_info; /* opaque: what was looked up of one module */

struct cli_debug_info *cli_debug_info_open(Dwfl_Module *module);

/* NULL is allowed. */
void cli_debug_info_close(struct cli_debug_info *info);

/*
 * out:     *line; found, innermost first, room for CLI_INLINES_MAX; texts
 *          belong to the module
 * in:      address, as mapped
 * returns: how many functions are inlined around the address
 */
uint32_t cli_debug_info_find(struct cli_debug_info *info, uint64_t address,
                             struct cli_line *line, struct cli_inline *found);

#endif
