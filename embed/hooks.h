/*
 * hooks.h -- between the interposed functions (heap.c, locks.c) and what is
 * done with their calls: the recorder logs them, the profiler samples them.
 *
 * Each library that is preloaded links the hooks and implements the functions
 * below. They run on the program's threads, anywhere malloc may be called.
 */
#ifndef EMBED_HOOKS_H
#define EMBED_HOOKS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EMBED_HOOK __attribute__((visibility("default")))

/*
 * Is this thread inside the library? What it calls then goes straight to the
 * real functions. Initial-exec: reading it calls nothing.
 */
extern _Thread_local bool embed_inside
    __attribute__((tls_model("initial-exec")));

/*
 * A thread's allocations of fewer bytes than this need not be told, if each
 * makes it less by its size. 0: all are told.
 */
extern _Thread_local uint64_t embed_until_bytes
    __attribute__((tls_model("initial-exec")));

/*
 * Count an allocation down. Read once: a handler that allocates in between may
 * be forgotten, but the number must not come below 0.
 *
 * returns: false if it must be told
 */
static inline bool
embed_skips(size_t bytes)
{
    volatile uint64_t *const until = &embed_until_bytes;
    const uint64_t seen = *until;

    if (bytes >= seen)
        return false;
    *until = seen - bytes;
    return true;
}

/*
 * Blocks whose free is to be told, counted by a hash of their address; the free
 * of others need not be. NULL: all are told.
 */
#define EMBED_FILTER_LOG2 15u
extern _Atomic uint8_t *const embed_filter;

static inline uint32_t
embed_hash_of(uintptr_t address, uint32_t log2)
{
    return (uint32_t)((address >> 4) * UINT64_C(0x9e3779b97f4a7c15) >>
                      (64 - log2));
}

static inline bool
embed_may_be_told(const void *address)
{
    return embed_filter == NULL ||
           atomic_load_explicit(&embed_filter[embed_hash_of((uintptr_t)address,
                                                            EMBED_FILTER_LOG2)],
                                memory_order_relaxed) != 0;
}

/* Find the real functions. context: inside */
void embed_heap_resolve(void);
void embed_locks_resolve(void);

/* dlsym(RTLD_NEXT), into a function pointer. in: version, or NULL */
void embed_resolve(void *function, const char *name, const char *version);

/* --------------------------------------------------- implemented by each user
 *
 * frame is __builtin_frame_address(0) of the interposed function. errno may be
 * changed by none of them.
 */

/* How a block was asked for. */
struct embed_request {
    size_t bytes;
    uint32_t alignment; /* 1 + its logarithm; 0: malloc's own */
    bool zeroed;
};

/*
 * A block was allocated, or could not be.
 *
 * in: address, NULL if there was no memory
 */
void embed_on_alloc(void *address, struct embed_request request,
                    const void *frame);

/* A block is about to be freed. in: address, not NULL */
void embed_on_free(void *address);

/*
 * A block is about to be resized, and was.
 *
 * in:      old, not NULL
 *          token, what embed_on_resize() returned
 *          address, NULL if it failed or, of 0 bytes, freed the block
 */
uint64_t embed_on_resize(void *old);
void embed_on_resized(uint64_t token, void *old, void *address, size_t bytes,
                      const void *frame);

/* Memory was given before the real functions were known. */
void embed_on_early(void);

/* Numbered as in docs/recording.md. */
enum embed_lock_kind {
    EMBED_LOCK_MUTEX,
    EMBED_LOCK_READ,
    EMBED_LOCK_WRITE,
    EMBED_LOCK_COND,
    EMBED_LOCK_SEMAPHORE,
};

struct embed_wait {
    uintptr_t lock;
    uint64_t start_ticks;
    uint64_t stack; /* of the waiter; the implementer's */
    bool registered;
};

/*
 * A thread is about to block, and no longer does.
 *
 * in:      has_releaser, will somebody call embed_on_release()?
 *          status, of the call; 0 or an error
 * returns: false if the wait is not wanted: no end follows
 */
bool embed_on_wait(struct embed_wait *wait, const void *lock, bool has_releaser,
                   const void *frame);
void embed_on_waited(const struct embed_wait *wait, enum embed_lock_kind kind,
                     int status, const void *frame);

/*
 * A lock is about to be given up, and was.
 *
 * in:      kind, mutex or read-write lock
 *          token, what embed_on_release() returned; of 0 there is no second
 * call
 */
uint64_t embed_on_release(const void *lock, enum embed_lock_kind kind,
                          const void *frame);
void embed_on_released(uint64_t token, const void *frame);

/* A library was unloaded. */
void embed_on_unload(void);

/* A thread was given a name. */
void embed_on_named(void);

#endif
