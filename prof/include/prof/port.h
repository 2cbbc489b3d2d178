/*
 * prof/port.h -- the functions that the core needs from its platform. The core
 * calls no others.
 *
 * prof/port/ implements this header for Linux; the simulator and the tests link
 * their own. To replace it, name your object before libprof.a.
 */
#ifndef PROF_PORT_H
#define PROF_PORT_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* A lock for control calls. All zero bytes is an unlocked lock. */
struct prof_port_lock {
    uint32_t word; /* the port's own; nothing else touches it */
};

/*
 * Take the lock, waiting as long as another thread holds it.
 *
 * context: any thread, not a signal handler, not while holding the lock
 */
void prof_port_lock_take(struct prof_port_lock *lock);

/* returns: true if the lock was free and is now the caller's; never waits */
bool prof_port_lock_try(struct prof_port_lock *lock);

/* in: a lock that the caller holds */
void prof_port_lock_release(struct prof_port_lock *lock);

/*
 * Unlock the lock, whichever thread holds it.
 *
 * context: the only thread of the process, in the child of a fork
 */
void prof_port_lock_reset(struct prof_port_lock *lock);

/* returns: nanoseconds of a clock that never goes backwards */
uint64_t prof_port_now_ns(void);

/* Tell the processor that this thread is in a spin loop. */
static inline void
prof_port_spin_pause(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/*
 * Sleep while *word is `seen`. May return early.
 *
 * in:      word, changed before prof_port_wake() is called
 */
void prof_port_wait(const uint32_t *word, uint32_t seen);

/* Wake all threads that sleep on the word. context: any thread */
void prof_port_wake(const uint32_t *word);

/*
 * Order memory on all threads of the process, as if each had executed a full
 * fence during the call. The caller then sees what each thread did before its
 * fence, and each thread sees what the caller did before the call.
 *
 * returns: false if the system cannot do that
 */
bool prof_port_barrier(void);

/*
 * Report a broken invariant of the library and do not return.
 *
 * context: any, signal handlers included
 */
__attribute__((noreturn)) void prof_port_panic(const char *file, int line,
                                               const char *condition);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
