/* sampled_sites.c -- see sampled_sites.h. */
#include "record/test/sampled_sites.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define NAME(name) #name,
static const char *const site_names[] = {SITES(NAME)};

static struct {
    _Atomic uint64_t allocated_objects;
    _Atomic uint64_t allocated_bytes;
    _Atomic uint64_t freed_objects;
    _Atomic uint64_t freed_bytes;
} truth[SITE_COUNT];

static struct block
noted(void *address, size_t bytes, enum site site)
{
    const struct block block = {address, bytes, site};

    if (address == NULL)
        abort();
    truth[site].allocated_objects++;
    truth[site].allocated_bytes += bytes;
    return block;
}

static void
note_free(const struct block *block)
{
    truth[block->site].freed_objects++;
    truth[block->site].freed_bytes += block->bytes;
}

void
sampled_release(const struct block *block)
{
    note_free(block);
    free(block->address);
}

#define SITE __attribute__((noinline)) struct block
#define MALLOC_SITE(name)                                  \
    SITE name(size_t bytes)                                \
    {                                                      \
        return noted(malloc(bytes), bytes, NUMBER_##name); \
    }

MALLOC_SITE(site_malloc)
MALLOC_SITE(site_of_a_thread)
MALLOC_SITE(site_of_the_child)
MALLOC_SITE(site_small)
MALLOC_SITE(site_middle)
MALLOC_SITE(site_large)

SITE
site_calloc(size_t bytes)
{
    return noted(calloc(3, bytes), 3 * bytes, NUMBER_site_calloc);
}

SITE
site_aligned(size_t bytes)
{
    return noted(aligned_alloc(64, 64 * bytes), 64 * bytes,
                 NUMBER_site_aligned);
}

SITE
site_posix(size_t bytes)
{
    void *address = NULL;

    if (posix_memalign(&address, 4096, bytes) != 0)
        abort();
    return noted(address, bytes, NUMBER_site_posix);
}

SITE
site_grow(struct block old)
{
    note_free(&old);
    return noted(realloc(old.address, old.bytes * 40), old.bytes * 40,
                 NUMBER_site_grow);
}

SITE
site_shrink(struct block old)
{
    note_free(&old);
    return noted(realloc(old.address, old.bytes / 2 + 1), old.bytes / 2 + 1,
                 NUMBER_site_shrink);
}

void
sampled_print_truth(void)
{
    for (int i = 0; i < SITE_COUNT; i++)
        if (truth[i].allocated_objects != 0)
            printf("%s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
                   site_names[i], truth[i].allocated_objects,
                   truth[i].allocated_bytes,
                   truth[i].allocated_objects - truth[i].freed_objects,
                   truth[i].allocated_bytes - truth[i].freed_bytes);
}
