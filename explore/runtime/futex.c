/*
 * futex.c -- sleeping on a word: the system call that locks are made of.
 *
 * Programs call it through syscall(); so does libstdc++, for waits on atomics,
 * futures, latches and semaphores. All other system calls through syscall() are
 * refused.
 */
#include "explore/runtime/program.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "explore/runtime/explored.h"
#include "explore/runtime/shims.h"

const char *
sim_sleep_end(bool woken, bool spurious)
{
    if (woken)
        return "woken on";
    return spurious ? "woken for no reason on" : "timed out on";
}

static long
fails(int error)
{
    *explored___errno_location() = error;
    return -1;
}

static long
futex_wait(struct engine *e, uint32_t *word, uint32_t seen,
           const struct timespec *until, uintptr_t site)
{
    struct object *o = sim_object_at(e, word, site);
    struct requested requested;
    bool spurious;
    bool woken;

    sim_heap_check(e, (uintptr_t)word, sizeof *word, site);
    sim_round_arrive(e, site);
    sim_shard_sleeps(e);
    sim_object_point(e, o, true, site);
    requested = sim_self(e)->run.requested;
    if ((uint32_t)sim_memory_system_read(e, (uintptr_t)word, sizeof *word,
                                         &o->sync, site) != seen) {
        sim_object_event(e, o, "no sleep on", true, false, site);
        sim_order_record(e, &o->order, requested, false);
        sim_order_offer(e, &o->order, false);
        return fails(EAGAIN);
    }
    sim_object_event(e, o, "sleep on", true, false, site);
    sim_object_changed(e);
    sim_order_record(e, &o->order, requested, false);
    spurious = sim_object_spurious(e);
    woken = sim_object_sleep(e, o, false, NULL,
                             spurious ? SIM_PASSED : sim_clock_limit(e, until),
                             site);
    sim_object_gone_on(e, o, sim_sleep_end(woken, spurious), woken, site);
    sim_self(e)->run.turns++; /* a wake-up was consumed */
    if (woken || spurious)
        return 0;
    sim_clock_reach(e, until);
    return fails(ETIMEDOUT);
}

static long
futex_wake(struct engine *e, const uint32_t *word, uint32_t most,
           uintptr_t site)
{
    struct object *o = sim_object_at(e, word, site);
    uint32_t woken;

    sim_object_point(e, o, false, site);
    sim_object_event(e, o, most == 1 ? "wake one on" : "wake all on", true,
                     true, site);
    sim_clock_join(&o->sync, &sim_self(e)->run.now);
    sim_self(e)->run.turns++;
    sim_order_record(e, &o->order, sim_self(e)->run.requested, true);
    woken = sim_object_wake(e, o, most, false);
    sim_order_offer(e, &o->order, true);
    return (long)woken;
}

static long
futex(struct engine *e, uint32_t *word, int operation, uint32_t value,
      const struct timespec *time, uint32_t set, uintptr_t site)
{
    const int command =
        operation & ~(FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME);
    struct timespec until;

    switch (command) {
    case FUTEX_WAIT: /* its time is a duration, not a deadline */
        if (time == NULL)
            return futex_wait(e, word, value, NULL, site);
        sim_program_reads(e, time, sizeof *time, site);
        until = sim_clock_after(e, time);
        return futex_wait(e, word, value, &until, site);
    case FUTEX_WAIT_BITSET:
        if (time != NULL)
            sim_program_reads(e, time, sizeof *time, site);
        if (set == FUTEX_BITSET_MATCH_ANY)
            return futex_wait(e, word, value, time, site);
        break;
    case FUTEX_WAKE:
        return futex_wake(e, word, value, site);
    case FUTEX_WAKE_BITSET:
        if (set == FUTEX_BITSET_MATCH_ANY)
            return futex_wake(e, word, value, site);
        break;
    }
    sim_engine_refuse(e, SIM_FAIL_REFUSED, site, 0,
                      "a futex operation other than wait and wake, or with a "
                      "set of bits, is not modelled");
}

long
explored_syscall(long number, ...)
{
    struct engine *e = &sim_engine;
    const uintptr_t site = HERE;
    char text[SIM_FAILURE_TEXT_BYTES];
    long words[6];
    va_list list;

    va_start(list, number);
    for (uint32_t i = 0; i < 6; i++)
        words[i] = va_arg(list, long);
    va_end(list);
    if (!sim_program_runs(e))
        return syscall(number, words[0], words[1], words[2], words[3], words[4],
                       words[5]);
    if (number == SYS_gettid)
        return getpid() + (long)e->current;
    if (number == SYS_futex)
        return futex(e, (uint32_t *)words[0], (int)words[1], (uint32_t)words[2],
                     (const struct timespec *)words[3], (uint32_t)words[5],
                     site);
    snprintf(text, sizeof text, "system call %ld is not modelled", number);
    sim_engine_refuse(e, SIM_FAIL_REFUSED, site, 0, text);
}
