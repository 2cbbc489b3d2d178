/* drawn.h -- random numbers for a test's inputs: the same seed, the same
 * inputs. */
#ifndef DRAWN_H
#define DRAWN_H

#include <stdint.h>

static uint64_t drawn; /* the seed, to begin with */

/* returns: a number below limit (splitmix64) */
static uint64_t
draw(uint64_t limit)
{
    uint64_t z = drawn += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (z ^ z >> 31) % limit;
}

#endif
