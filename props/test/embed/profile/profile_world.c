/* profile_world.c -- see profile_world.h. */
#include "profile_world.h"

#include <errno.h>
#include <string.h>

#include "prof/port.h"
#include "probes.h"
#include "stack.h"
#include "told.h"
#include "unit_test.h"
#include "unwind.h"

struct profile profile;
_Thread_local struct profile_thread profile_thread;
_Thread_local uint64_t embed_until_bytes;
_Thread_local bool embed_inside;
_Atomic uint32_t embed_awaited;
unsigned short otel_memory_alloc_semaphore;
unsigned short otel_memory_free_semaphore;

struct profile_world profile_world;

static char processors[2]; /* own, borrowed */
static bool is_borrowed, is_locked, is_stack_held;
static const char frames[8];

const void *
profile_world_frame(void)
{
    return &frames[sim_rng_below(&profile_world.rng, sizeof frames)];
}

bool
profile_world_is_quiet(void)
{
    return !is_borrowed && !is_locked && !is_stack_held;
}

static void
note(char what, uint64_t value)
{
    const size_t count = strlen(profile_world.noted);

    assert_true(count < PROFILE_NOTED_MAX);
    profile_world.noted[count] = what;
    profile_world.noted_value[count] = value;
}

void
profile_world_want(char what, uint64_t value)
{
    const size_t at = profile_world.wanted++;

    assert_int_equal(profile_world.noted[at], what);
    assert_int_equal(profile_world.noted_value[at], value);
}

/* ---- the library ---- */

static void
expect_proc(const struct prof_proc *proc)
{
    const bool is_own = profile_thread.proc != NULL;

    assert_true(embed_inside);
    assert_int_equal(is_borrowed, !is_own);
    assert_ptr_equal(proc, &processors[is_own ? 0 : 1]);
}

bool
prof_heap_sample(struct prof_proc *proc, uint64_t size_bytes)
{
    expect_proc(proc);
    assert_int_equal(embed_until_bytes, 0);
    note('s', size_bytes);
    return profile_world.samples;
}

static void
expect_stack(const uintptr_t *stack, uint32_t depth)
{
    assert_true(is_stack_held);
    assert_int_equal(depth, 1);
    assert_in_range(stack[0], (uintptr_t)frames,
                    (uintptr_t)frames + sizeof frames);
}

prof_bucket
prof_heap_alloc(struct prof_proc *proc, const uintptr_t *stack, uint32_t depth,
                uint64_t size_bytes)
{
    expect_proc(proc);
    expect_stack(stack, depth);
    note('a', size_bytes);
    return profile_world.next_bucket;
}

void
prof_heap_free_explicit(struct prof_proc *proc, prof_bucket bucket)
{
    expect_proc(proc);
    errno = EINTR;
    note('f', bucket);
}

uint64_t
prof_heap_until_take(const struct prof_proc *proc)
{
    expect_proc(proc);
    return profile_world.next_until;
}

int64_t
prof_heap_rate(const struct prof *prof)
{
    (void)prof;
    return profile_world.rate;
}

const struct prof_rules prof_rules_exact;

struct prof_heap_sum
prof_heap_unsample(const struct prof_rules *rules, struct prof_heap_sum one,
                   int64_t rate_bytes)
{
    assert_ptr_equal(rules, &prof_rules_exact);
    assert_true(embed_inside);
    assert_int_equal(one.objects, 1);
    one.bytes = (int64_t)((uint64_t)one.bytes * 2 + (uint64_t)rate_bytes);
    return one;
}

void
prof_contention_event(struct prof_proc *proc, enum prof_contention kind,
                      const uintptr_t *stack, uint32_t depth, int64_t cycles)
{
    expect_proc(proc);
    expect_stack(stack, depth);
    note(kind == PROF_MUTEX ? 'm' : 'b', (uint64_t)cycles);
}

uint64_t
profile_world_charge(uint64_t first_ns, uint64_t last_ns, uint32_t others)
{
    return first_ns * 100 + last_ns * 10 + others + 1;
}

int64_t
prof_mutex_cycles(const struct prof *prof, int64_t first, int64_t last,
                  uint32_t others)
{
    (void)prof;
    assert_true(embed_inside);
    return (int64_t)profile_world_charge((uint64_t)first, (uint64_t)last,
                                         others);
}

uint64_t
prof_port_now_ns(void)
{
    assert_true(embed_inside);
    return profile_world.clock_ns;
}

static void
act(struct profile_act *what)
{
    const struct profile_act now = *what;

    what->run = NULL;
    if (now.run != NULL)
        now.run(now.context);
}

/* What happens before may take the lock, too. */
void
prof_port_lock_take(struct prof_port_lock *lock)
{
    struct profile_act under = profile_world.under_lock;
    const struct profile_act after = profile_world.after_lock;

    (void)lock;
    assert_false(is_locked);
    profile_world.under_lock.run = profile_world.after_lock.run = NULL;
    act(&profile_world.before_lock);
    profile_world.after_lock = after;
    is_locked = true;
    act(&under);
}

void
prof_port_lock_release(struct prof_port_lock *lock)
{
    (void)lock;
    assert_true(is_locked);
    is_locked = false;
    act(&profile_world.after_lock);
    errno = EINTR;
}

void
prof_port_lock_reset(struct prof_port_lock *lock)
{
    (void)lock;
    is_locked = false;
    profile_world.resets++;
}

/* ---- the rest of the profiler ---- */

bool
profile_begin(void)
{
    return profile_world.begins;
}

void
profile_thread_begin(void)
{
    assert_true(embed_inside);
    note('t', 0);
    if (sim_rng_below(&profile_world.rng, 2) == 0)
        profile_thread.proc = (struct prof_proc *)(void *)&processors[0];
    else
        profile_thread.is_surplus = true;
}

/* A thread that is off counts down from OFF_BYTES; what is left of them belongs
 * to no processor. */
void
profile_until_give(void)
{
    if (embed_until_bytes != 0 && !profile_thread.is_off)
        note('u', embed_until_bytes);
    embed_until_bytes = 0;
}

struct prof_proc *
profile_proc_borrow(uint32_t *index)
{
    assert_false(is_borrowed);
    is_borrowed = true;
    *index = 5;
    return (struct prof_proc *)(void *)&processors[1];
}

void
profile_proc_return(uint32_t index)
{
    assert_true(is_borrowed);
    assert_int_equal(index, 5);
    is_borrowed = false;
}

void
profile_agent_start(void)
{
    assert_true(embed_inside);
    note('g', 0);
}

void
profile_probe_alloc(uintptr_t address, uint64_t bytes, uint64_t weight_bytes)
{
    assert_int_equal(weight_bytes, bytes * 2 + (uint64_t)profile_world.rate);
    note('p', address);
}

void
profile_probe_free(uintptr_t address)
{
    note('q', address);
}

struct embed_stack *
embed_stack_borrow(void)
{
    static struct embed_stack stack;

    assert_true(embed_inside);
    assert_false(is_stack_held);
    is_stack_held = true;
    errno = EINTR;
    return &stack;
}

void
embed_stack_return(struct embed_stack *stack)
{
    is_stack_held = false;
    stack->depth = 99;
}

void
embed_stack_take(struct embed_stack *stack, const void *frame,
                 struct embed_own_stack *own)
{
    assert_ptr_equal(own, &profile_thread.stack);
    stack->depth = 1;
    stack->pcs[0] = (uintptr_t)frame;
}

void
embed_unwind_forget(void)
{
    profile_world.forgotten++;
}

void
embed_alone_begin(void)
{
    profile_world.alone_begun++;
}

void
profile_world_draw(void)
{
    static const int64_t rates[] = {0, 1, 512};

    memset(profile_world.noted, 0, sizeof profile_world.noted);
    profile_world.wanted = 0;
    profile_world.samples = sim_rng_below(&profile_world.rng, 2) == 0;
    profile_world.next_bucket =
        sim_rng_below(&profile_world.rng, 6) == 0
            ? PROF_BUCKET_NONE
            : 1 + sim_rng_below(&profile_world.rng, 1000) * 4000000;
    profile_world.next_until = sim_rng_below(&profile_world.rng, 3) * 300;
    profile_world.rate = rates[sim_rng_below(&profile_world.rng, 3)];
    profile_world.clock_ns +=
        sim_rng_below(&profile_world.rng, 3) * UINT64_C(3000000000);
    otel_memory_alloc_semaphore = sim_rng_below(&profile_world.rng, 2) == 0;
    otel_memory_free_semaphore = sim_rng_below(&profile_world.rng, 2) == 0;
    profile_world.begins = sim_rng_below(&profile_world.rng, 16) != 0;
    embed_inside = sim_rng_below(&profile_world.rng, 16) == 0;
    if (sim_rng_below(&profile_world.rng, 16) == 0) { /* another thread */
        memset(&profile_thread, 0, sizeof profile_thread);
        embed_until_bytes = 0;
    }
}
