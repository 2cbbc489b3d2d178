/* nearest.h -- finds the known word that a wrong word was meant to be. */
#ifndef COMMON_NEAREST_H
#define COMMON_NEAREST_H

#include <stddef.h>
#include <stdint.h>

struct sim_nearest {
    const char *wrong;
    size_t wrong_bytes;
    const char *best; /* NULL: no word is near */
    uint32_t distance;
};

/*
 * Consider one more known word. Of equally near words the first is kept. Case
 * does not matter.
 */
void sim_nearest_try(struct sim_nearest *nearest, const char *known);

#endif
