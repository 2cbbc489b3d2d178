/*
 * subject.h -- the table of functions by which `profsim check --subject` judges
 * a sampling heap profiler or a profiler of lock waits (docs/subjects.md has an
 * example).
 *
 * The harness calls a subject as a runtime or an allocator would, but makes all
 * calls from one real thread; an argument says which simulated thread acts. If
 * a function is NULL, or a flag is not set, the subject lacks that ability, and
 * properties that need it are not applicable.
 *
 * What makes runs repeatable
 *   - all state is reached from what begin() returns; a second begin()
 *     starts anew
 *   - random numbers come from config->random() and time from config->now_ns()
 *   - addresses are only numbers: nothing is mapped there, and a block above
 *     2 MiB may overlap the address of another one
 */
#ifndef SUBJECT_H
#define SUBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SUBJECT_VERSION 2

enum { SUBJECT_THREADS_MAX = 8 };

/* What a subject can do, beyond the functions that it has. */
enum {
    SUBJECT_FREED_EXPLICITLY = 1 << 0, /* free() by the program */
    SUBJECT_SWEPT = 1 << 1,            /* free() by a collector */
    SUBJECT_LIVE = 1 << 2,             /* records have `live`: not freed yet */
    SUBJECT_ALLOCATED = 1 << 3, /* records have `allocated`: since begin() */
    SUBJECT_FREED = 1 << 4,     /* records have `freed`, of those */
    SUBJECT_SAMPLES = 1 << 5,   /* counts have `samples` */
    SUBJECT_ADDRESSES = 1 << 6, /* each record is one live object */
    SUBJECT_SAMPLING = 1 << 7,  /* rates above 1; counts are estimates then */
    SUBJECT_OFF = 1 << 8,       /* rate 0: nothing is recorded */
    SUBJECT_AT_ONCE = 1 << 9,   /* a new rate begins with the next allocation,
                                   not when the gap of the old one ends */
    SUBJECT_RECORD_BY_RECORD = 1 << 10, /* a reading in parts promises each
                                           site as of some moment, not all as
                                           of the same one */
    SUBJECT_BLOCK = 1 << 11,            /* waits, where the waiter waited */
    SUBJECT_MUTEX = 1 << 12, /* waits, where the holder released the lock */
    SUBJECT_WAITS_SAMPLED = 1 << 13, /* rates of waits above 1 */
    SUBJECT_FORKS = 1 << 14, /* its process may really fork: its child is
                                judged as well */
};

struct subject_config {
    uint64_t rate_bytes; /* mean bytes per sample; 1: all */
    void *memory;        /* subject.memory_bytes, zero, aligned to 64 */
    void *context;       /* for random() and now_ns() */
    uint64_t (*random)(void *context); /* 64 uniform bits */
    uint64_t (*now_ns)(void *context);
};

/* A call stack, leaf first. It belongs to the caller: copy what you keep. */
struct subject_site {
    const uintptr_t *frames;
    uint32_t depth; /* may be 0 */
};

struct subject_block {
    uint64_t address; /* 0: the allocation failed */
    uint64_t size_bytes;
    uint64_t align_bytes; /* a power of two; 0: none was asked for */
    bool zeroed;
};

/* As the user sees them: estimates, if the rate is above 1. */
struct subject_count {
    double objects;
    double bytes;
    int64_t samples; /* that they are based on; SUBJECT_SAMPLES */
};

struct subject_record {
    struct subject_site site;
    uint64_t address; /* SUBJECT_ADDRESSES */
    struct subject_count live;
    struct subject_count allocated;
    struct subject_count freed;
};

/* Receives a record, which may be gone after the call. */
typedef void subject_visit(void *context, const struct subject_record *record);

enum subject_waits { SUBJECT_BLOCK_WAITS, SUBJECT_MUTEX_WAITS };

/* A thread has waited for a lock, which its holder has now released. */
struct subject_wait {
    struct subject_site waited;   /* charged for block waits */
    struct subject_site released; /* charged for mutex waits */
    uint32_t waiter;              /* threads */
    uint32_t holder;
    uint64_t ticks; /* 1 or more */
};

/* As the user sees them: estimates, if the rate is above 1. */
struct subject_wait_record {
    struct subject_site site;
    double count;
    double ticks;
};

typedef void subject_visit_wait(void *context,
                                const struct subject_wait_record *record);

struct subject {
    uint32_t version; /* SUBJECT_VERSION */
    uint32_t can;     /* flags, as above */
    const char *name;
    uint32_t depth_max;  /* frames of a site that are kept; 0: all */
    size_t memory_bytes; /* for config->memory */

    /* returns: the state, the first argument of all others; NULL: no memory */
    void *(*begin)(const struct subject_config *config);
    void (*end)(void *state);

    /* Thread numbers are below SUBJECT_THREADS_MAX, and are reused after
     * thread_exit(). Blocks of a thread outlive it. */
    void (*thread_start)(void *state, uint32_t thread);
    void (*thread_exit)(void *state, uint32_t thread);

    void (*alloc)(void *state, uint32_t thread, const struct subject_site *site,
                  const struct subject_block *block);
    /* `to` replaces `from`: at another address, or at the same one. If it has
     * address 0, the realloc failed and `from` stays. */
    void (*realloc)(void *state, uint32_t thread,
                    const struct subject_site *site,
                    const struct subject_block *from,
                    const struct subject_block *to);
    /* thread: the one that frees, for the program or in a sweep */
    void (*free)(void *state, uint32_t thread,
                 const struct subject_block *block, bool swept);

    /* Called in each collection: cycle() when marking has ended and the world
     * is stopped, the next function after the restart. A subject that has
     * cycle() shows the heap as of a completed collection, and shows everything
     * after three collections in which nothing else happens. */
    void (*cycle)(void *state);
    void (*flush)(void *state);

    /* Set the rate from now on. 1: everything; 0: nothing (SUBJECT_OFF). */
    void (*set_rate)(void *state, uint64_t rate_bytes);

    /* The process has forked. in: child, true in the child, where `thread` is
     * the only thread left; false in the parent, where nothing has changed.
     * With SUBJECT_FORKS the process really has forked, and handlers of
     * pthread_atfork() have run. */
    void (*fork)(void *state, uint32_t thread, bool child);

    /* Call visit(context, &record) for each record. If a site appears twice,
     * its counts are added up, except with SUBJECT_ADDRESSES. No record may
     * have bytes without objects. */
    void (*snapshot)(void *state, subject_visit *visit, void *context);

    /* Read the same records in parts, between which the program goes on, and
     * may even fork. read_next() calls visit once, or returns false when there
     * is no more. One reading at a time, and no snapshot() meanwhile. */
    void (*read_begin)(void *state);
    bool (*read_next)(void *state, subject_visit *visit, void *context);

    /* returns: the number of bytes that the subject counts for a request, such
     * as its size class, or its size with a header. NULL: the requested
     * size. */
    uint64_t (*counted_bytes)(uint64_t size_bytes, uint64_t align_bytes);

    /* SUBJECT_BLOCK, SUBJECT_MUTEX. All waits since begin(); a site may appear
     * twice. */
    void (*wait)(void *state, const struct subject_wait *wait);
    void (*read_waits)(void *state, enum subject_waits which,
                       subject_visit_wait *visit, void *context);

    /* Set the rate from now on. 1: all waits, as after begin(). 0: none
     * (SUBJECT_OFF). Above 1 (SUBJECT_WAITS_SAMPLED): on average one block wait
     * is recorded per `rate` ticks of waiting, or one mutex wait in `rate`. */
    void (*set_wait_rate)(void *state, enum subject_waits which, uint64_t rate);
};

/* What a shared object or source file defines. returns: its table */
const struct subject *profsim_subject(void);

#ifdef __cplusplus
}
#endif

#endif
