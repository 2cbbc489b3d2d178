/*
 * hooks.h -- the interface between the interposed functions (heap.c, locks.c)
 * and the library that uses them: the recorder logs their calls, the profiler
 * samples them.
 *
 * Each preloaded library links the hooks and implements the functions below.
 * They run on the program's threads, wherever malloc may be called.
 */
#ifndef RECORD_PRELOAD_HOOKS_H
#define RECORD_PRELOAD_HOOKS_H

#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EMBED_HOOK __attribute__((visibility("default")))

/* Makes every build compile a function's last call as a jump. */
#ifdef __clang__
#define EMBED_JUMPS
#else
#define EMBED_JUMPS __attribute__((optimize("O2")))
#endif

/* Placed after the last use of a function's frame, so that no call before it
 * becomes a jump. */
#define EMBED_KEEP_FRAME() __asm__ volatile("" ::: "memory")

/*
 * Is this thread inside the library? If so, its calls go straight to the real
 * functions. Initial-exec, so that reading it calls no function.
 */
extern _Thread_local bool embed_inside
    __attribute__((tls_model("initial-exec")));

/*
 * Between begin and end, mutex hooks go straight to the real functions: the
 * program has one thread, which waits for no other. The recorder never begins
 * this, because it also logs waits for other processes.
 */
void embed_alone_begin(void);
void embed_alone_end(void);

/*
 * The number of slots in use in the implementer's table of the locks that
 * threads wait for. 0: no release needs to be reported.
 */
extern _Atomic uint32_t embed_awaited __attribute__((visibility("hidden")));

/* Find the real functions. context: inside */
void embed_heap_resolve(void);
void embed_locks_resolve(void);

/* returns: does the program call our malloc? If not, it has one of its own.
 * context: inside, not in a forked child: takes a lock of the loader */
bool embed_heap_is_reached(void);

/* returns: is this thread in a malloc other than libc's, which a hook called?
 */
bool embed_heap_is_in_real(void);

/* returns: usable bytes of a block; 0 if malloc does not say */
size_t embed_usable_bytes(void *address);

/* dlsym(RTLD_NEXT), into a function pointer. in: version, or NULL */
void embed_resolve(void *function, const char *name, const char *version);

/* Call the real prctl(), which uses as many of the four words as it needs. */
static inline int
embed_prctl(int option, va_list words)
{
    unsigned long word[4];

    for (int i = 0; i < 4; i++)
        word[i] = va_arg(words, unsigned long);
    return (int)syscall(SYS_prctl, option, word[0], word[1], word[2], word[3]);
}

/* --------------------------------------------------- implemented by each user
 *
 * In all of them, frame is __builtin_frame_address(0) of the interposed
 * function. None of them may change errno. */

/* How a block was requested. */
struct embed_request {
    size_t bytes;
    uint32_t alignment; /* 1 + its logarithm; 0: malloc's own */
    bool zeroed;
};

/*
 * Called after a block was allocated, or after the allocation failed.
 *
 * in:      address, NULL if it failed
 */
void embed_on_alloc(void *address, struct embed_request request,
                    const void *frame);

/* Called before a block is freed. in: address, not NULL */
void embed_on_free(void *address);

/*
 * Called before and after a block is resized.
 *
 * in:      old, not NULL
 *          token, what embed_on_resize() returned
 *          address, NULL if it failed or, with 0 bytes, freed the block
 */
uint64_t embed_on_resize(void *old);
void embed_on_resized(uint64_t token, void *old, void *address, size_t bytes,
                      const void *frame);

/* Called when memory was allocated before the real functions were known. */
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
    uint64_t stack; /* for the implementer: the waiter's stack or image */
    bool registered;
};

/*
 * Called before and after a thread blocks.
 *
 * in:      has_releaser: will a thread call embed_on_release()?
 *          status, of the call; 0 or an error
 * returns: false if the wait is of no interest: its end is then not reported
 */
bool embed_on_wait(struct embed_wait *wait, const void *lock, bool has_releaser,
                   const void *frame);
void embed_on_waited(const struct embed_wait *wait, enum embed_lock_kind kind,
                     int status, const void *frame);

/*
 * Called before and after a lock is released.
 *
 * in:      kind, mutex or read-write lock
 *          token, what embed_on_release() returned; if that is 0 there is no
 *          second call
 */
uint64_t embed_on_release(const void *lock, enum embed_lock_kind kind,
                          const void *frame);
void embed_on_released(uint64_t token, const void *frame);

/* Called when a library was unloaded. */
void embed_on_unload(void);

#endif
