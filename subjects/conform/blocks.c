/* blocks.c -- what fires for a block: when, with what, how often. */
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "subjects/conform/exercise.h"

enum { BLOCKS = 400, SAMPLES = 1500 };

/* Volatile, so no compiler knows the value. No allocator has this much
 * memory. */
static volatile size_t too_many = SIZE_MAX / 4;

static size_t
odd_size(size_t i)
{
    return 1 + i * i * 131 % 1999993;
}

/* Allocate blocks of many sizes in every way, and pass to `judge` the events
 * that each block fired. Every second block is freed later, not at once. */
static uint64_t
walk(void (*judge)(const struct way *way, size_t bytes, const void *block,
                   const struct seen *born, const struct seen *died))
{
    static void *kept[BLOCKS];
    static struct seen born[BLOCKS];
    uint64_t sampled = 0;

    for (const struct way *way = ways; way->name != NULL; way++) {
        for (size_t i = 0; i < BLOCKS; i++) {
            seen_begin();
            kept[i] = way->allocate(odd_size(i));
            born[i] = seen_end();
            if (kept[i] == NULL)
                not_tried("%s of %zu bytes failed", way->name, odd_size(i));
            sampled += born[i].allocs > 0;
        }
        for (size_t i = 0; i < BLOCKS; i++) {
            const size_t at = i * 7 % BLOCKS;
            struct seen died;

            seen_free(kept[at], &died);
            judge(way, odd_size(at), kept[at], &born[at], &died);
        }
    }
    if (sampled < 100)
        not_tried("only %ju blocks were sampled", (uintmax_t)sampled);
    return sampled;
}

static void
judge_one_event(const struct way *way, size_t bytes, const void *block,
                const struct seen *born, const struct seen *died)
{
    (void)block;
    if (born->allocs > 1)
        broken("%s of %zu bytes fires %u alloc events", way->name, bytes,
               born->allocs);
    if (born->frees > 0)
        broken("%s of %zu bytes fires a free", way->name, bytes);
    if (died->allocs > 0)
        broken("the free of a block of %s fires an alloc", way->name);
}

void
check_one_event(void)
{
    struct seen seen;
    uint64_t sampled = walk(judge_one_event);

    for (size_t bytes = 1 << 20; bytes <= (size_t)1 << 30; bytes *= 2) {
        free(seen_malloc(bytes, &seen));
        sampled += seen.allocs > 0;
        if (seen.allocs > 1)
            broken("malloc of %zu bytes fires %u alloc events", bytes,
                   seen.allocs);
    }
    holds("%ju sampled blocks of up to 1 GiB", (uintmax_t)sampled);
}

static void
judge_size(const struct way *way, size_t bytes, const void *block,
           const struct seen *born, const struct seen *died)
{
    (void)block;
    (void)died;
    if (born->allocs > 0 && born->alloc.bytes != bytes)
        broken("%s of %zu bytes says it has %ju", way->name, bytes,
               (uintmax_t)born->alloc.bytes);
}

void
check_sizes(void)
{
    const uint64_t sampled = walk(judge_size);

    seen_begin();
    if (calloc(too_many, 8) != NULL)
        broken("calloc of a product that overflows returns a block");
    if (seen_end().allocs > 0)
        broken("calloc of a product that overflows fires an alloc");
    holds("%ju sampled blocks", (uintmax_t)sampled);
}

static void
judge_address(const struct way *way, size_t bytes, const void *block,
              const struct seen *born, const struct seen *died)
{
    (void)bytes;
    if (born->allocs > 0 && born->alloc.address != (uintptr_t)block)
        broken("%s returns %p, its alloc says %#jx", way->name, block,
               (uintmax_t)born->alloc.address);
    if (died->frees > 0 && died->freed.address != (uintptr_t)block)
        broken("free of %p, its event says %#jx", block,
               (uintmax_t)died->freed.address);
}

void
check_addresses(void)
{
    holds("%ju sampled blocks", (uintmax_t)walk(judge_address));
}

static void
judge_free(const struct way *way, size_t bytes, const void *block,
           const struct seen *born, const struct seen *died)
{
    (void)block;
    if (died->frees != born->allocs)
        broken("a block of %s, %zu bytes, was %ssampled, and its free fires %u "
               "times",
               way->name, bytes, born->allocs > 0 ? "" : "not ", died->frees);
}

void
check_frees(void)
{
    holds("%ju sampled blocks", (uintmax_t)walk(judge_free));
}

void
check_nothing(void)
{
    void *block = NULL;

    seen_begin();
    for (int i = 0; i < 1000; i++) {
        free(NULL);
        if (malloc(too_many) != NULL || calloc(1, too_many) != NULL ||
            aligned_alloc(64, too_many) != NULL ||
            memalign(64, too_many) != NULL ||
            posix_memalign(&block, 64, too_many) == 0)
            not_tried("an allocation of %zu bytes does not fail",
                      (size_t)too_many);
    }
    if (seen_end().allocs > 0)
        broken("an allocation that failed fires an alloc");
    if (seen_end().frees > 0)
        broken("free(NULL) fires a free");
    holds("1,000 rounds of free(NULL) and of 5 functions that fail");
}

void
check_size_zero(void)
{
    const size_t bytes = 65536;
    const double chance = chance_of(bytes);
    const uint64_t trials = trials_for(SAMPLES, chance);
    uint64_t count = 0;
    uint64_t zeros = 0;
    double noticed;

    for (uint64_t i = 0; i < trials; i++) {
        struct seen seen;

        for (int j = 0; j < 20; j++) {
            free(seen_malloc(0, &seen));
            zeros += seen.allocs > 0;
            if (seen.allocs > 0 && seen.alloc.bytes != 0)
                broken("a block of no size says it has %ju",
                       (uintmax_t)seen.alloc.bytes);
            if (seen.allocs > 0 && seen.alloc.weight_bytes != 0)
                broken("a block of no size weighs %ju bytes",
                       (uintmax_t)seen.alloc.weight_bytes);
        }
        free(seen_malloc(bytes, &seen));
        count += seen.allocs > 0;
    }
    noticed =
        judge_count("blocks after those of no size", trials, chance, count);
    holds("%ju of %ju blocks of no size fired; a deviation of %.0f %% of the "
          "others would be noticed",
          (uintmax_t)zeros, (uintmax_t)(trials * 20), noticed * 100);
}

/* All ways have the chance and the weight of malloc. */
static double
judge_ways(const struct way *given, size_t bytes)
{
    const double chance = chance_of(bytes);
    const uint64_t trials = trials_for(SAMPLES, chance);
    double coarsest = 0;

    for (const struct way *way = given; way->name != NULL; way++) {
        uint64_t count = 0;
        double noticed;

        for (uint64_t i = 0; i < trials; i++) {
            void *block;

            seen_begin();
            block = way->allocate(bytes);
            count += seen_end().allocs > 0;
            free(block);
        }
        noticed = judge_count(way->name, trials, chance, count);
        coarsest = noticed > coarsest ? noticed : coarsest;
    }
    return coarsest;
}

void
check_entry_points(void)
{
    holds("8 functions; a deviation of %.0f %% would be noticed in each",
          judge_ways(ways, 65536) * 100);
}

#define ALIGNED(bits)                                                        \
    static void *aligned_##bits(size_t bytes)                                \
    {                                                                        \
        void *block = NULL;                                                  \
        const size_t alignment = (size_t)1 << bits;                          \
                                                                             \
        return posix_memalign(&block, alignment, bytes) == 0 ? block : NULL; \
    }
ALIGNED(3)
ALIGNED(6)
ALIGNED(10)
ALIGNED(11)
ALIGNED(12)
ALIGNED(16)
ALIGNED(21)

void
check_alignment(void)
{
    static const struct way aligned[] = {
        {"alignment 8", aligned_3},      {"alignment 64", aligned_6},
        {"alignment 1024", aligned_10},  {"alignment 2048", aligned_11},
        {"alignment 4096", aligned_12},  {"alignment 65536", aligned_16},
        {"alignment 2 MiB", aligned_21}, {NULL, NULL},
    };

    holds("alignments from 8 bytes to 2 MiB; a deviation of %.0f %% would be "
          "noticed in each",
          judge_ways(aligned, 65536) * 100);
}

void
check_aligned_results(void)
{
    char untouched;
    void *block = &untouched;

    if (posix_memalign(&block, 3, 64) != EINVAL || block != &untouched)
        broken("posix_memalign with an alignment of 3 is not EINVAL, or "
               "changes its result");
    if (posix_memalign(&block, 64, too_many) != ENOMEM || block != &untouched)
        broken("posix_memalign without memory is not ENOMEM, or changes its "
               "result");
    for (size_t alignment = 8; alignment <= (size_t)1 << 21; alignment *= 2)
        for (size_t i = 0; i < 64; i++) {
            if (posix_memalign(&block, alignment, odd_size(i)) != 0)
                not_tried("posix_memalign failed");
            if ((uintptr_t)block % alignment != 0)
                broken("posix_memalign(%zu, %zu) returns %p", alignment,
                       odd_size(i), block);
            memset(block, 1, odd_size(i));
            free(block);
        }
    holds("2 failures, 19 alignments, 64 sizes each");
}

void
check_errors(void)
{
    enum { MARK = 77 };
    uint32_t sampled = 0;

    for (size_t i = 0; i < 2000; i++) {
        void *block;

        seen_begin();
        errno = MARK;
        block = malloc(i % 2 == 0 ? odd_size(i) : 1 << 20);
        sampled += errno == MARK && seen_end().allocs > 0;
        if (errno != MARK)
            broken("a malloc that works sets errno to %d", errno);
        free(block);
        if (errno != MARK)
            broken("free sets errno to %d", errno);
        if (i % 100 != 0)
            continue;
        block = malloc(1 << 20);
        if (realloc(block, too_many) != NULL || errno != ENOMEM)
            broken("a realloc that fails sets errno to %d, not to ENOMEM",
                   errno);
        errno = MARK;
        if (malloc(too_many) != NULL || errno != ENOMEM)
            broken("a malloc that fails sets errno to %d, not to ENOMEM",
                   errno);
        free(block);
    }
    if (sampled == 0)
        not_tried("none of 2,000 blocks was sampled");
    holds("%u sampled blocks of 2,000, and 40 failures", sampled);
}
