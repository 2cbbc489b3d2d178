/*
 * accounts.h -- a profiler that counts everything, as a subject of `profsim
 * check --subject`. Each profiler of this folder adds to it one bug that a real
 * profiler had, or no bug if it is built with FIXED.
 */
#ifndef ACCOUNTS_H
#define ACCOUNTS_H

#include "subject.h"

enum { BLOCKS_MAX = 4096 };

struct open_block {
    struct subject_site site; /* the harness keeps stacks */
    uint64_t address;
    int64_t objects;
    int64_t bytes;
};

struct accounts {
    bool is_off;
    uint32_t count;
    struct open_block blocks[BLOCKS_MAX];
    /* For use by profilers that change a function. */
    uint64_t numbers[SUBJECT_THREADS_MAX];
    struct subject_site site;
};

static inline void *
accounts_begin(const struct subject_config *config)
{
    struct accounts *const a = config->memory;

    a->is_off = config->rate_bytes == 0;
    return a;
}

static inline void
accounts_open(struct accounts *a, const struct subject_site *site,
              uint64_t address, int64_t objects, uint64_t bytes)
{
    if (address != 0 && a->count < BLOCKS_MAX)
        a->blocks[a->count++] =
            (struct open_block){*site, address, objects, (int64_t)bytes};
}

static inline void
accounts_close(struct accounts *a, uint64_t address)
{
    for (uint32_t i = 0; i < a->count; i++)
        if (a->blocks[i].address == address) {
            a->blocks[i] = a->blocks[--a->count];
            return;
        }
}

static inline void
accounts_alloc(void *state, uint32_t thread, const struct subject_site *site,
               const struct subject_block *block)
{
    struct accounts *const a = state;

    (void)thread;
    if (!a->is_off)
        accounts_open(a, site, block->address, 1, block->size_bytes);
}

static inline void
accounts_free(void *state, uint32_t thread, const struct subject_block *block,
              bool swept)
{
    (void)thread;
    (void)swept;
    accounts_close(state, block->address);
}

static inline void
accounts_realloc(void *state, uint32_t thread, const struct subject_site *site,
                 const struct subject_block *from,
                 const struct subject_block *to)
{
    if (to->address == 0)
        return;
    accounts_close(state, from->address);
    accounts_alloc(state, thread, site, to);
}

static inline void
accounts_set_rate(void *state, uint64_t rate_bytes)
{
    ((struct accounts *)state)->is_off = rate_bytes == 0;
}

static inline void
accounts_snapshot(void *state, subject_visit *visit, void *context)
{
    const struct accounts *const a = state;

    for (uint32_t i = 0; i < a->count; i++) {
        const struct open_block *const block = &a->blocks[i];
        const struct subject_record record = {
            .site = block->site,
            .live = {.objects = block->objects, .bytes = block->bytes},
        };

        visit(context, &record);
    }
}

#ifdef FIXED
#define ACCOUNTS_ALLOC(f)    accounts_alloc
#define ACCOUNTS_REALLOC(f)  accounts_realloc
#define ACCOUNTS_SET_RATE(f) accounts_set_rate
#else
#define ACCOUNTS_ALLOC(f)    f
#define ACCOUNTS_REALLOC(f)  f
#define ACCOUNTS_SET_RATE(f) f
#endif

/* The subject's table, and functions that replace the correct ones. */
#define ACCOUNTS(name_, alloc_, realloc_, set_rate_)                       \
    const struct subject *profsim_subject(void)                            \
    {                                                                      \
        static const struct subject subject = {                            \
            .version = SUBJECT_VERSION,                                    \
            .name = name_,                                                 \
            .can = SUBJECT_FREED_EXPLICITLY | SUBJECT_LIVE | SUBJECT_OFF | \
                   SUBJECT_AT_ONCE,                                        \
            .memory_bytes = sizeof(struct accounts),                       \
            .begin = accounts_begin,                                       \
            .alloc = ACCOUNTS_ALLOC(alloc_),                               \
            .realloc = ACCOUNTS_REALLOC(realloc_),                         \
            .free = accounts_free,                                         \
            .set_rate = ACCOUNTS_SET_RATE(set_rate_),                      \
            .snapshot = accounts_snapshot,                                 \
        };                                                                 \
                                                                           \
        return &subject;                                                   \
    }

#endif
