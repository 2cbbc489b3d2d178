/* sampled_losses.c -- more than a profile has room for. */
#include <stdint.h>
#include <stdio.h>

#include "record/test/sampled_sites.h"

static volatile uint32_t sink;

enum { LIVE = 60000, UNSEEN = 10, PATH_BITS = 16 };

void __libc_free(void *block); /* the profiler does not see its calls */

static void take_right(uint32_t path, uint32_t bits);

/* Allocate with one stack for each path. */
__attribute__((noinline)) static void
take_left(uint32_t path, uint32_t bits)
{
    if (bits == 0) {
        const struct block block = site_small(10);

        sampled_release(&block);
    } else if ((path & 1) != 0) {
        take_left(path >> 1, bits - 1);
    } else {
        take_right(path >> 1, bits - 1);
    }
    sink++; /* prevents a tail call */
}

__attribute__((noinline)) static void
take_right(uint32_t path, uint32_t bits)
{
    take_left(path, bits);
    sink++;
}

int
sampled_lose(void)
{
    for (uint32_t i = 0; i < UNSEEN; i++) {
        const struct block block = site_large(5000);

        __libc_free(block.address); /* and site_large() gets it again */
    }
    for (uint32_t i = 0; i < LIVE; i++)
        (void)site_middle(20);
    for (uint32_t path = 0; path < 1u << PATH_BITS; path++)
        take_left(path, PATH_BITS);
    printf("blocks %d paths %d unseen %d\n", LIVE, 1 << PATH_BITS, UNSEEN - 1);
    return 0;
}
