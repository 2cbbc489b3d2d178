/*
 * program.h -- a whole program as a kernel; private to explore/runtime/.
 *
 * This folder replaces the libc functions that a program calls. A replacement
 * of NAME is written as explored_NAME, and renamed to NAME when the archive is
 * made (intercept.awk); the archive's own calls of NAME still reach libc.
 * Outside a run, explored_NAME does what libc's NAME does.
 */
#ifndef EXPLORE_RUNTIME_PROGRAM_H
#define EXPLORE_RUNTIME_PROGRAM_H

#include <string.h>
#include <time.h>

#include "explore/engine/object.h"

struct engine;

#define HERE ((uintptr_t)__builtin_return_address(0))

static inline bool
sim_program_runs(struct engine *e)
{
    return e->active;
}

/* heap.c: an arena for each thread, so that addresses do not depend on the
 * schedule. */
void sim_heap_open(struct engine *e);
void
sim_heap_keep(struct engine *e); /* what is allocated now exists in each run */
void sim_heap_reset(struct engine *e);   /* ... and nothing else */
void sim_heap_release(struct engine *e); /* ... nor after the runs */
void *sim_heap_take(struct engine *e, size_t bytes, size_t alignment,
                    uintptr_t site);
void *sim_heap_allocate(struct engine *e, size_t bytes,
                        uintptr_t site); /* as malloc() does */
void *sim_heap_allocate_aligned(struct engine *e, size_t alignment,
                                size_t bytes, uintptr_t site);
void sim_heap_give(struct engine *e, void *block, uintptr_t site);
/* Look for a live block to which nothing points.
 * in:      stack, the lowest address in use on the current thread's stack; 0 if
 *          its function has returned, so that nothing on the stack counts
 * out:     *site, where the block was allocated
 * returns: bytes of the first leaked block; 0 if there is none */
size_t sim_heap_leak(struct engine *e, uintptr_t stack, uintptr_t *site);

/* image.c: the program's variables. */
/* in:      stack, an address in the process's own stack: what lies beyond is
 *          kept, too */
void sim_image_keep(uintptr_t stack);
void sim_image_reset(void);
void sim_image_each(void (*visit)(uintptr_t begin, uintptr_t end));
bool sim_image_has(uintptr_t address);

/* tls.c: each thread's own copy of the thread-local variables. */
void sim_tls_open(struct engine *e);
void sim_tls_reset(uint32_t thread, bool is_main);
void sim_tls_each(struct engine *e,
                  void (*visit)(uintptr_t begin, uintptr_t end));

/* errno.c; when a thread begins */
void sim_errno_reset(uint32_t thread);

/* pthread.c */
void sim_pthread_reset(struct engine *e);

/* thread_exits.c: destructors of thread_local objects */
void sim_thread_exits_reset(void);
void sim_thread_exits_add(struct engine *e, void (*destroy)(void *),
                          void *object);
void sim_thread_exits_run(struct engine *e);

/* end.c */
_Noreturn void sim_program_exit(struct engine *e, int status, uintptr_t site);
/* in: whole, whether a run ends the process, not only a function */
void sim_end_open(bool whole);
void sim_end_reset(void);

/* clock.c; until: NULL for a wait without a limit */
void sim_clock_reset(uint32_t thread); /* when a thread begins */
enum sim_limit sim_clock_limit(struct engine *e, const struct timespec *until);
void sim_clock_reach(struct engine *e, const struct timespec *until);
struct timespec sim_clock_after(struct engine *e, const struct timespec *time);

/* What each thread has of its own, when it begins. */
static inline void
sim_thread_resets(uint32_t thread, bool is_main)
{
    sim_tls_reset(thread, is_main);
    sim_clock_reset(thread);
    sim_errno_reset(thread);
}

/* To tell the program's calls from those of libraries. */
extern char __executable_start, etext;

static inline bool
sim_program_called(uintptr_t site)
{
    return site - (uintptr_t)&__executable_start <
           (uintptr_t)&etext - (uintptr_t)&__executable_start;
}

/* A plain access by a function that replaces libc's. */
static inline void
sim_program_reads(struct engine *e, const volatile void *p, size_t bytes,
                  uintptr_t site)
{
    if (bytes > 0 && sim_program_called(site))
        sim_plain_access(e, (uintptr_t)p, bytes, false, site);
}

/* A string of at most so many bytes: its end is read, too, if it lies within
 * them. returns: its length */
static inline size_t
sim_program_reads_string(struct engine *e, const char *s, size_t most,
                         uintptr_t site)
{
    const size_t length = strnlen(s, most);

    sim_program_reads(e, s, length < most ? length + 1 : length, site);
    return length;
}

static inline void
sim_program_writes(struct engine *e, volatile void *p, size_t bytes,
                   uintptr_t site)
{
    if (bytes > 0 && sim_program_called(site))
        sim_plain_access(e, (uintptr_t)p, bytes, true, site);
}

#endif
