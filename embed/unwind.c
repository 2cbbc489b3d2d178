/*
 * unwind.c -- whose call is this? Stacks by libunwind; by frame pointers if the
 * program is said to keep them, unless it is on a stack that is not a thread's
 * (a coroutine's, a signal's).
 *
 * The unwinder takes locks and caches what it learns: fork while another thread
 * is in it leaves the child with a locked lock. So threads count themselves in
 * and out, and fork waits (for microseconds; bounded) until nobody is in. The
 * dynamic linker's lock it never comes to, see modules.c.
 */
#define UNW_LOCAL_ONLY
#include "recorder.h"

#include <libunwind.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

#define WAITS_MAX 100000u
#define OWN_MAX   6u /* frames of the recorder on top of a stack */

bool embed_by_frames;

extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

static bool
is_own(uintptr_t pc)
{
    return pc >= (uintptr_t)__ehdr_start && pc < (uintptr_t)_end;
}

static bool
enter_unwinder(struct embed_state *state)
{
    uint32_t waits;

    if (embed_self.forking)
        return false;
    for (waits = 0; waits < WAITS_MAX; waits++) {
        atomic_fetch_add(&state->unwinding, 1);
        if (atomic_load(&state->forking) == 0)
            return true;
        atomic_fetch_sub(&state->unwinding, 1);
        sched_yield();
    }
    return false;
}

static void
before_fork(void)
{
    uint32_t waits;

    embed_self.forking = true;
    atomic_fetch_add(&embed_state->forking, 1);
    for (waits = 0; waits < WAITS_MAX; waits++) {
        if (atomic_load(&embed_state->unwinding) == 0)
            break;
        sched_yield();
    }
}

static void
after_fork_in_parent(void)
{
    atomic_fetch_sub(&embed_state->forking, 1);
    embed_self.forking = false;
}

/* Where the kernel has wiped the state already, this changes nothing. */
static void
after_fork_in_child(void)
{
    struct embed_state *state = embed_state;

    embed_self.forking = false;
    if (atomic_load(&state->forking) != 0)
        memset(state, 0, sizeof *state);
}

void
embed_unwind_start(void)
{
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
    unw_set_caching_policy(unw_local_addr_space, UNW_CACHE_GLOBAL);
}

static uint64_t
hash_of(const uintptr_t *pcs, uint32_t depth)
{
    uint64_t hash = depth;
    uint32_t i;

    for (i = 0; i < depth; i++) {
        hash = (hash ^ pcs[i]) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 32;
    }
    return hash;
}

/* Where the thread's stack lies, asked once; else nowhere. */
static const struct embed_bounds *
own_stack(void)
{
    if (embed_self.stack.high == 0) {
        embed_self.asking = true;
        if (!embed_frames_bounds(&embed_self.stack))
            embed_self.stack = (struct embed_bounds){1, 1};
        embed_self.asking = false;
    }
    return &embed_self.stack;
}

static uint32_t
ask_libunwind(uintptr_t *found, uint32_t found_max)
{
    int got;

    if (!enter_unwinder(embed_state))
        return 0;
    embed_self.unwinding = true;
    got = unw_backtrace((void **)(void *)found, (int)found_max);
    embed_self.unwinding = false;
    atomic_fetch_sub(&embed_state->unwinding, 1);
    return got > 0 ? (uint32_t)got : 0;
}

/*
 * The first entry of unw_backtrace() is this function or its caller, depending
 * on the version; what lies in the recorder is skipped by address instead.
 */
__attribute__((noinline)) void
embed_unwind(struct embed_stack *stack, uintptr_t caller)
{
    uintptr_t found[EMBED_DEPTH_MAX + OWN_MAX];
    const uint32_t found_max = embed_depth_max + OWN_MAX;
    uint32_t count = 0;
    uint32_t i;

    stack->depth = 0;
    if (embed_by_frames)
        count = embed_frames_walk(found, found_max,
                                  (uintptr_t)__builtin_frame_address(0),
                                  own_stack());
    if (count == 0)
        count = ask_libunwind(found, found_max);
    for (i = 0; i < count && stack->depth < embed_depth_max; i++)
        if (found[i] != 0 && !is_own(found[i]))
            stack->pcs[stack->depth++] = found[i];
    if (stack->depth == 0)
        stack->pcs[stack->depth++] = caller;
    stack->hash = hash_of(stack->pcs, stack->depth);
}
