/* name.h -- the name of a mutant, and which mutants belong to a sample. */
#ifndef MUTATE_NAME_H
#define MUTATE_NAME_H

#include <stdbool.h>
#include <stdint.h>

/* returns: malloc()ed FILE FUNCTION: TEXT -> INSTEAD, and #ORDINAL from the
 * second on */
char *name_of_mutant(const char *file, const char *function, const char *text,
                     const char *instead, uint32_t ordinal);

/* Is the mutant in the sample of one in `every`? Only the name decides. */
bool name_is_sampled(const char *name, uint64_t every);

#endif
