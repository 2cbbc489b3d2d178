/*
 * start_stubs.h -- stubs of what the malloc profiler calls when it starts, in a
 * test. Each call is noted as a letter: L H T find real functions, S stacks,
 * m map, i init, u unwind, t threads, f R forks, c CPU, W waits, A E the agent.
 * In a child: ( ) the table's lock, w waits, d dumps, s stacks, r rights,
 * g bytes given back, p the library, h threads, a an agent may begin, n none,
 * x CPU.
 */
#ifndef START_STUBS_H
#define START_STUBS_H

#include "profile.h"

enum { START_PROCS = PROFILE_PROCS_OWN + PROFILE_PROCS_SHARED };

struct start_stubs {
    char fails_at;
    bool begins_amid; /* another thread begins the profiler meanwhile */
    bool had_others;  /* other threads, before the fork */
    long clock_ns;
    pid_t own;
    pid_t forked; /* what fork() returns */
    /* The calls made, and their arguments. */
    char seen[64];
    struct prof_config config;
    struct prof_rules rules;
    int64_t heap_rate, mutex_fraction, block_rate;
    uint64_t seeds[START_PROCS];
    char the_prof;
    void (*before_fork)(void), (*in_parent)(void), (*in_child)(void);
};

extern struct start_stubs start_stubs;

#endif
