/*
 * dump_case.h -- a profile made by hand, as an agent sends it, and what must be
 * in the files that are made of it.
 */
#ifndef PROPS_DUMP_CASE_H
#define PROPS_DUMP_CASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DUMP_BYTES_MAX = 1 << 14 };

struct dump_profile {
    uint8_t bytes[DUMP_BYTES_MAX];
    size_t count;
};

/* returns: an address in a function; the two have one name, in two files */
uintptr_t dump_here(void);
uintptr_t dump_there(void);

/* Which locations have names: one; one and those of this program's code; all;
 * all, in a profile of allocations with a stack for each sample. */
enum dump_names { DUMP_ONE, DUMP_OF_CODE, DUMP_ALL, DUMP_HEAP };

/* Make a profile. in: seed, of its samples */
void dump_make(struct dump_profile *profile, uint64_t seed,
               enum dump_names names);

/*
 * Print what a profile says, as sorted lines: for each type and stack the sum,
 * and each call's address, mapping, function, file and line.
 *
 * returns: the lines, to be freed
 */
char *dump_lines_of_pprof(const void *bytes, size_t count);
char *dump_lines_of_otlp(const void *bytes, size_t count);

#endif
