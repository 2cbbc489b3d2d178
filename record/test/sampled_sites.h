/*
 * sampled_sites.h -- functions that allocate, and count what they do.
 *
 * None is inlined, so in a profile it is the leaf of a stack.
 */
#ifndef RECORD_TEST_SAMPLED_SITES_H
#define RECORD_TEST_SAMPLED_SITES_H

#include <stddef.h>

#define SITES(site)                                                         \
    site(site_malloc) site(site_calloc) site(site_aligned) site(site_posix) \
        site(site_grow) site(site_shrink) site(site_of_a_thread)            \
            site(site_of_the_child) site(site_small) site(site_middle)      \
                site(site_large)

#define NUMBER(name) NUMBER_##name,
enum site { SITES(NUMBER) SITE_COUNT };

struct block {
    void *address;
    size_t bytes;
    enum site site;
};

struct block site_malloc(size_t bytes);
struct block site_calloc(size_t bytes);
struct block site_aligned(size_t bytes);
struct block site_posix(size_t bytes);
struct block site_of_a_thread(size_t bytes);
struct block site_of_the_child(size_t bytes);
struct block site_small(size_t bytes);
struct block site_middle(size_t bytes);
struct block site_large(size_t bytes);

/* Resize a block. It counts as freed and, with its whole new size, as
 * allocated. */
struct block site_grow(struct block old);
struct block site_shrink(struct block old);

void sampled_release(const struct block *block);

/*
 * Print a line for each site that was used: NAME allocated_objects
 * allocated_bytes inuse_objects inuse_bytes.
 */
void sampled_print_truth(void);

/* Allocate more live blocks, and by more stacks, than a profile has room for;
 * print how many. */
int sampled_lose(void);

#endif
