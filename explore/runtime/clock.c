/*
 * clock.c -- time and random numbers that are the same in every run.
 *
 * Each thread has its own random numbers and its own clock, which moves when
 * the thread reads it or sleeps. So neither depends on the order in which
 * threads run. Each of the first readings moves the clock by a microsecond;
 * from the eighth on the step doubles with each reading, up to a second. So a
 * loop that reads the clock until a deadline ends after a few rounds.
 */
#include "explore/runtime/program.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "explore/runtime/explored.h"

#define BEGIN_NS  1000000000000000000U /* in September 2001 */
#define SECOND_NS 1000000000U

enum { SLOW_READINGS = 8, DOUBLINGS_MAX = 20 };

static uint64_t passed_ns[SIM_THREADS_MAX];
static uint32_t readings[SIM_THREADS_MAX];
static uint64_t numbers[SIM_THREADS_MAX];

void
sim_clock_reset(uint32_t thread)
{
    passed_ns[thread] = 0;
    readings[thread] = 0;
    numbers[thread] = thread + 1;
}

static uint64_t
now_ns(struct engine *e)
{
    const uint32_t before = readings[e->current];
    uint64_t *mine = &passed_ns[e->current];

    sim_round_progress(e); /* the next reading returns another time */
    if (before < SLOW_READINGS + DOUBLINGS_MAX)
        readings[e->current]++;
    *mine += UINT64_C(1000)
             << (before < SLOW_READINGS ? 0 : before - SLOW_READINGS);
    return BEGIN_NS + *mine;
}

static uint64_t
ns_of(const struct timespec *time)
{
    return (uint64_t)time->tv_sec * SECOND_NS + (uint64_t)time->tv_nsec;
}

/* Move the thread's clock forward to `until`, never back. */
void
sim_clock_reach(struct engine *e, const struct timespec *until)
{
    uint64_t *mine = &passed_ns[e->current];

    if (ns_of(until) > BEGIN_NS + *mine)
        *mine = ns_of(until) - BEGIN_NS;
}

struct timespec
sim_clock_after(struct engine *e, const struct timespec *time)
{
    const uint64_t ns = BEGIN_NS + passed_ns[e->current] + ns_of(time);

    return (struct timespec){.tv_sec = (time_t)(ns / SECOND_NS),
                             .tv_nsec = (long)(ns % SECOND_NS)};
}

enum sim_limit
sim_clock_limit(struct engine *e, const struct timespec *until)
{
    if (until == NULL)
        return SIM_UNLIMITED;
    return ns_of(until) <= BEGIN_NS + passed_ns[e->current] ? SIM_PASSED
                                                            : SIM_LIMITED;
}

static void
read_clock(struct engine *e, struct timespec *time, uintptr_t site)
{
    const uint64_t now = now_ns(e);

    sim_program_writes(e, time, sizeof *time, site);
    time->tv_sec = (time_t)(now / SECOND_NS);
    time->tv_nsec = (long)(now % SECOND_NS);
}

int
explored_clock_gettime(clockid_t clock, struct timespec *time)
{
    struct engine *e = &sim_engine;

    if (!sim_program_runs(e))
        return clock_gettime(clock, time);
    read_clock(e, time, HERE);
    return 0;
}

int
explored_timespec_get(struct timespec *time, int base)
{
    struct engine *e = &sim_engine;

    if (!sim_program_runs(e) || base != TIME_UTC)
        return timespec_get(time, base);
    read_clock(e, time, HERE);
    return base;
}

int
explored_gettimeofday(struct timeval *time, void *zone)
{
    struct engine *e = &sim_engine;
    uint64_t now;

    if (!sim_program_runs(e))
        return gettimeofday(time, zone);
    now = now_ns(e);
    sim_program_writes(e, time, sizeof *time, HERE);
    time->tv_sec = (time_t)(now / SECOND_NS);
    time->tv_usec = (suseconds_t)(now % SECOND_NS / 1000);
    return 0;
}

time_t
explored_time(time_t *seconds)
{
    struct engine *e = &sim_engine;
    time_t now;

    if (!sim_program_runs(e))
        return time(seconds);
    now = (time_t)(now_ns(e) / SECOND_NS);
    if (seconds != NULL) {
        sim_program_writes(e, seconds, sizeof *seconds, HERE);
        *seconds = now;
    }
    return now;
}

clock_t
explored_clock(void)
{
    struct engine *e = &sim_engine;

    if (!sim_program_runs(e))
        return clock();
    return (clock_t)((now_ns(e) - BEGIN_NS) / 1000);
}

/* ---- Sleeping: time passes for the thread, and nothing waits ---- */

int
explored_nanosleep(const struct timespec *time, struct timespec *left)
{
    struct engine *e = &sim_engine;

    if (!sim_program_runs(e))
        return nanosleep(time, left);
    passed_ns[e->current] += ns_of(time);
    return 0;
}

int
explored_clock_nanosleep(clockid_t clock, int flags,
                         const struct timespec *time, struct timespec *left)
{
    struct engine *e = &sim_engine;

    if (!sim_program_runs(e))
        return clock_nanosleep(clock, flags, time, left);
    if ((flags & TIMER_ABSTIME) != 0)
        sim_clock_reach(e, time);
    else
        explored_nanosleep(time, left);
    return 0;
}

int
explored_usleep(useconds_t microseconds)
{
    struct engine *e = &sim_engine;

    if (!sim_program_runs(e))
        return usleep(microseconds);
    passed_ns[e->current] += (uint64_t)microseconds * 1000;
    return 0;
}

unsigned int
explored_sleep(unsigned int seconds)
{
    struct engine *e = &sim_engine;

    if (!sim_program_runs(e))
        return sleep(seconds);
    passed_ns[e->current] += (uint64_t)seconds * SECOND_NS;
    return 0;
}

/* ---- Random numbers ---- */

static uint64_t
next_number(struct engine *e)
{
    uint64_t *mine = &numbers[e->current];

    sim_round_progress(e);
    *mine = *mine * 6364136223846793005U + 1442695040888963407U;
    return *mine >> 33;
}

void
explored_srand(unsigned int seed)
{
    struct engine *e = &sim_engine;

    if (!sim_program_runs(e))
        srand(seed);
    else
        numbers[e->current] = seed;
}

int
explored_rand(void)
{
    struct engine *e = &sim_engine;

    return sim_program_runs(e) ? (int)next_number(e) : rand();
}

void
explored_srandom(unsigned int seed)
{
    struct engine *e = &sim_engine;

    if (!sim_program_runs(e))
        srandom(seed);
    else
        numbers[e->current] = seed;
}

long
explored_random(void)
{
    struct engine *e = &sim_engine;

    return sim_program_runs(e) ? (long)next_number(e) : random();
}

int
explored_rand_r(unsigned int *seed)
{
    struct engine *e = &sim_engine;

    if (sim_program_runs(e))
        sim_program_writes(e, seed, sizeof *seed, HERE);
    return rand_r(seed);
}

double
explored_drand48(void)
{
    struct engine *e = &sim_engine;

    return sim_program_runs(e) ? (double)next_number(e) / 0x80000000U
                               : drand48();
}

uint32_t
explored_arc4random(void)
{
    struct engine *e = &sim_engine;

    return sim_program_runs(e) ? (uint32_t)next_number(e) : (uint32_t)rand();
}
