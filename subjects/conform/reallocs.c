/* reallocs.c -- checks the contract's sentences about realloc. */
#include <stdint.h>
#include <stdlib.h>

#include "subjects/conform/exercise.h"

enum { ROUNDS = 3000, BYTES = 65536 };

static volatile size_t too_many = SIZE_MAX / 4;

void
check_realloc_of_null(void)
{
    const double chance = chance_of(BYTES);
    const uint64_t trials = trials_for(ROUNDS / 2, chance);
    uint64_t count = 0;

    for (uint64_t i = 0; i < trials; i++) {
        void *block;

        seen_begin();
        block = realloc(NULL, BYTES);
        count += seen_end().allocs > 0;
        if (seen_end().allocs > 0 &&
            seen_end().alloc.address != (uintptr_t)block)
            broken("the alloc of realloc(NULL, n) is of another address");
        free(block);
    }
    holds("a deviation of %.0f %% would be noticed",
          judge_count("realloc(NULL, n)", trials, chance, count) * 100);
}

void
check_realloc_to_zero(void)
{
    void *const sampled = sampled_block(BYTES);
    void *const unsampled = unsampled_block(BYTES);
    void *left;

    seen_begin();
    left = realloc(sampled, 0);
    if (left != NULL)
        not_applicable("realloc(p, 0) does not free here");
    if (seen_end().frees != 1 || seen_end().allocs != 0 ||
        seen_end().freed.address != (uintptr_t)sampled)
        broken("realloc(p, 0) of a sampled block fires %u frees and %u allocs",
               seen_end().frees, seen_end().allocs);
    seen_begin();
    left = realloc(unsampled, 0);
    if (seen_end().frees != 0 || seen_end().allocs != 0)
        broken("realloc(p, 0) of a block that was not sampled fires %u frees",
               seen_end().frees);
    holds("of a sampled block and of one that was not");
}

/* Shrink and grow blocks that are sampled, or blocks that are not. */
static void
judge_reallocs(bool of_sampled)
{
    static const size_t sizes[] = {BYTES / 2, BYTES - 8, BYTES + 8, BYTES * 2};

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const double chance = chance_of(sizes[i]);
        uint64_t count = 0;

        for (int round = 0; round < ROUNDS; round++) {
            void *const old =
                of_sampled ? sampled_block(BYTES) : unsampled_block(BYTES);
            struct seen seen;
            void *block;

            seen_begin();
            block = realloc(old, sizes[i]);
            seen = seen_end();
            if (block == NULL)
                not_tried("realloc to %zu bytes failed", sizes[i]);
            if (seen.frees != of_sampled)
                broken("realloc from %d to %zu bytes of a block that was "
                       "%ssampled fires %u frees",
                       (int)BYTES, sizes[i], of_sampled ? "" : "not ",
                       seen.frees);
            if (of_sampled && seen.freed.address != (uintptr_t)old)
                broken("the free of a realloc is of another address");
            if (seen.allocs > 1)
                broken("one realloc fires %u allocs", seen.allocs);
            if (seen.allocs == 1 && (seen.alloc.bytes != sizes[i] ||
                                     seen.alloc.address != (uintptr_t)block))
                broken("realloc to %zu bytes at %p says %ju bytes at %#jx",
                       sizes[i], block, (uintmax_t)seen.alloc.bytes,
                       (uintmax_t)seen.alloc.address);
            count += seen.allocs > 0;
            free(block);
        }
        (void)judge_count("blocks that realloc returned", ROUNDS, chance,
                          count);
    }
    holds("%d reallocs to each of 4 sizes, smaller and larger", (int)ROUNDS);
}

void
check_realloc_of_sampled(void)
{
    judge_reallocs(true);
}

void
check_realloc_of_unsampled(void)
{
    judge_reallocs(false);
}

/* After failed calls, blocks must be sampled as before: a failure must neither
 * use up a sample nor cause one. */
static double
judge_after_failures(void)
{
    const double chance = chance_of(BYTES);
    const uint64_t trials = trials_for(ROUNDS / 2, chance);
    uint64_t count = 0;

    for (uint64_t i = 0; i < trials; i++) {
        void *const old = unsampled_block(BYTES);
        void *block;

        if (realloc(old, too_many) != NULL)
            not_tried("a realloc to %zu bytes does not fail", (size_t)too_many);
        seen_begin();
        block = malloc(BYTES);
        count += seen_end().allocs > 0;
        free(block);
        free(old);
    }
    return judge_count("blocks after a realloc that failed", trials, chance,
                       count);
}

void
check_realloc_that_fails(void)
{
    double unnoticed;

    for (int i = 0; i < 100; i++) {
        void *const sampled = sampled_block(BYTES);
        struct seen seen;

        seen_begin();
        if (realloc(sampled, too_many) != NULL)
            not_tried("a realloc to %zu bytes does not fail", (size_t)too_many);
        if (seen_end().allocs > 0 || seen_end().frees > 0)
            broken("a realloc that fails fires %u frees and %u allocs",
                   seen_end().frees, seen_end().allocs);
        seen_free(sampled, &seen);
        if (seen.frees != 1 || seen.freed.address != (uintptr_t)sampled)
            broken("the free after a realloc that failed fires %u times",
                   seen.frees);
    }
    unnoticed = judge_after_failures();
    holds("100 sampled blocks; of the chance after a failure, a deviation of "
          "%.0f %% would be noticed",
          unnoticed * 100);
}
