/*
 * clock.c -- time and random numbers that are the same in every run.
 *
 * Each thread has its own random numbers and its own clock, which moves when
 * the thread reads it or sleeps. So neither depends on the order in which
 * threads run. Each of the first readings moves the clock by a microsecond;
 * from the eighth on the step doubles with each reading, up to a second. So a
 * loop that reads the clock until a deadline ends after a few rounds.
 */
#include "program.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "explored.h"

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
now_ns(void)
{
    const uint32_t before = readings[sim_engine.current];
    uint64_t *mine = &passed_ns[sim_engine.current];

    sim_round_progress(); /* the next reading returns another time */
    if (before < SLOW_READINGS + DOUBLINGS_MAX)
        readings[sim_engine.current]++;
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
sim_clock_reach(const struct timespec *until)
{
    uint64_t *mine = &passed_ns[sim_engine.current];

    if (ns_of(until) > BEGIN_NS + *mine)
        *mine = ns_of(until) - BEGIN_NS;
}

struct timespec
sim_clock_after(const struct timespec *time)
{
    const uint64_t ns = BEGIN_NS + passed_ns[sim_engine.current] + ns_of(time);

    return (struct timespec){.tv_sec = (time_t)(ns / SECOND_NS),
                             .tv_nsec = (long)(ns % SECOND_NS)};
}

enum sim_limit
sim_clock_limit(const struct timespec *until)
{
    if (until == NULL)
        return SIM_UNLIMITED;
    return ns_of(until) <= BEGIN_NS + passed_ns[sim_engine.current]
               ? SIM_PASSED
               : SIM_LIMITED;
}

static void
read_clock(struct timespec *time, uintptr_t site)
{
    const uint64_t now = now_ns();

    sim_program_writes(time, sizeof *time, site);
    time->tv_sec = (time_t)(now / SECOND_NS);
    time->tv_nsec = (long)(now % SECOND_NS);
}

int
explored_clock_gettime(clockid_t clock, struct timespec *time)
{
    if (!sim_program_runs())
        return clock_gettime(clock, time);
    read_clock(time, HERE);
    return 0;
}

int
explored_timespec_get(struct timespec *time, int base)
{
    if (!sim_program_runs() || base != TIME_UTC)
        return timespec_get(time, base);
    read_clock(time, HERE);
    return base;
}

int
explored_gettimeofday(struct timeval *time, void *zone)
{
    uint64_t now;

    if (!sim_program_runs())
        return gettimeofday(time, zone);
    now = now_ns();
    sim_program_writes(time, sizeof *time, HERE);
    time->tv_sec = (time_t)(now / SECOND_NS);
    time->tv_usec = (suseconds_t)(now % SECOND_NS / 1000);
    return 0;
}

time_t
explored_time(time_t *seconds)
{
    time_t now;

    if (!sim_program_runs())
        return time(seconds);
    now = (time_t)(now_ns() / SECOND_NS);
    if (seconds != NULL) {
        sim_program_writes(seconds, sizeof *seconds, HERE);
        *seconds = now;
    }
    return now;
}

clock_t
explored_clock(void)
{
    if (!sim_program_runs())
        return clock();
    return (clock_t)((now_ns() - BEGIN_NS) / 1000);
}

/* ---- Sleeping: time passes for the thread, and nothing waits ---- */

int
explored_nanosleep(const struct timespec *time, struct timespec *left)
{
    if (!sim_program_runs())
        return nanosleep(time, left);
    passed_ns[sim_engine.current] += ns_of(time);
    return 0;
}

int
explored_clock_nanosleep(clockid_t clock, int flags,
                         const struct timespec *time, struct timespec *left)
{
    if (!sim_program_runs())
        return clock_nanosleep(clock, flags, time, left);
    if ((flags & TIMER_ABSTIME) != 0)
        sim_clock_reach(time);
    else
        explored_nanosleep(time, left);
    return 0;
}

int
explored_usleep(useconds_t microseconds)
{
    if (!sim_program_runs())
        return usleep(microseconds);
    passed_ns[sim_engine.current] += (uint64_t)microseconds * 1000;
    return 0;
}

unsigned int
explored_sleep(unsigned int seconds)
{
    if (!sim_program_runs())
        return sleep(seconds);
    passed_ns[sim_engine.current] += (uint64_t)seconds * SECOND_NS;
    return 0;
}

/* ---- Random numbers ---- */

static uint64_t
next_number(void)
{
    uint64_t *mine = &numbers[sim_engine.current];

    sim_round_progress();
    *mine = *mine * 6364136223846793005U + 1442695040888963407U;
    return *mine >> 33;
}

void
explored_srand(unsigned int seed)
{
    if (!sim_program_runs())
        srand(seed);
    else
        numbers[sim_engine.current] = seed;
}

int
explored_rand(void)
{
    return sim_program_runs() ? (int)next_number() : rand();
}

void
explored_srandom(unsigned int seed)
{
    if (!sim_program_runs())
        srandom(seed);
    else
        numbers[sim_engine.current] = seed;
}

long
explored_random(void)
{
    return sim_program_runs() ? (long)next_number() : random();
}

int
explored_rand_r(unsigned int *seed)
{
    if (sim_program_runs())
        sim_program_writes(seed, sizeof *seed, HERE);
    return rand_r(seed);
}

double
explored_drand48(void)
{
    return sim_program_runs() ? (double)next_number() / 0x80000000U : drand48();
}

uint32_t
explored_arc4random(void)
{
    return sim_program_runs() ? (uint32_t)next_number() : (uint32_t)rand();
}
