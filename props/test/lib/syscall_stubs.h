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
    int refused_times; /* the call that fails does so as often */
    int timers;        /* created and not deleted */
    struct itimerspec last_times;
    struct sigevent last_event;
    int last_timer_flags;
    int opened_flags;
    size_t reads;
    size_t reads_good;        /* that many do not fail */
    size_t read_max;          /* bytes that one gives */
    struct timespec set_time; /* what clocks say, unless its seconds are 0 */
    clockid_t asked_clock;
    struct futex_call futexes[8];
    size_t futexes_count;
    uint32_t *wakes_by; /* a sleep ends at once, and then it is 0 */
    size_t barriers;
    unsigned refused_barriers; /* bits, lowest first: whether the next are */
    void (*meanwhile)(void);   /* by another, when a handler is set; or NULL */
    uintptr_t ticked[2];       /* the last tick's stack */
    uint32_t ticked_depth;
};

extern struct syscall_stubs syscall_stubs;

/* Let a call fail, so often, with such an errno. */
void syscall_stubs_set(enum call call, int error, int times);

/* Back to the system as it is. returns: timers that are left, for a teardown */
int syscall_stubs_end(void **state);

#endif
