/*
 * syscall_stubs.h -- replaces system calls of the port at link time (--wrap for
 * each): notes their arguments, and lets them fail, read few bytes, or end a
 * sleep at once.
 */
#ifndef PROPS_SYSCALL_STUBS_H
#define PROPS_SYSCALL_STUBS_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

enum call {
    NO_CALL,
    CALL_OPEN,
    CALL_READ,
    CALL_CLOCK,
    CALL_TIMER_CREATE,
    CALL_TIMER_SETTIME,
    CALL_SIGACTION,
    CALL_SYSCALL
};

struct futex_call {
    long number;
    const uint32_t *word;
    int operation;
    int value;
};

struct syscall_stubs {
    int refused_times; /* how often the chosen call still fails */
    int timers;        /* created and not deleted */
    struct itimerspec last_times;
    struct sigevent last_event;
    int last_timer_flags;
    int opened_flags;
    size_t reads;
    size_t reads_good;        /* reads that succeed before */
    size_t read_max;          /* bytes that one read gives */
    struct timespec set_time; /* of all clocks, if not 0 s */
    clockid_t asked_clock;
    struct futex_call futexes[8];
    size_t futexes_count;
    uint32_t *wakes_by; /* set to 0 when a sleep ends, at once; NULL: not */
    size_t barriers;
    unsigned refused_barriers; /* bits: does the next fail? */
    void (*meanwhile)(void);   /* called while a handler is set; or NULL */
    uintptr_t ticked[2];       /* the last tick's stack */
    uint32_t ticked_depth;
};

extern struct syscall_stubs syscall_stubs;

/* Let a call fail `times` times with errno `error`. */
void syscall_stubs_set(enum call call, int error, int times);

/* Stop replacing calls. returns: the timers that are left, for a teardown */
int syscall_stubs_end(void **state);

#endif
