/*
 * agent_stubs.h -- stubs of what the malloc profiler's agent calls in a test: a
 * clock, dumps, clients, and an old kernel. Every wait ends after ten seconds.
 */
#ifndef AGENT_STUBS_H
#define AGENT_STUBS_H

#include <sys/resource.h>

#include "profile.h"

enum { AGENT_STEP_S = 100 }; /* between files */

struct agent_stubs {
    _Atomic int64_t clock_ns;
    _Atomic int dumps;
    _Atomic bool dump_hangs;     /* ten seconds at most */
    _Atomic bool asks_meanwhile; /* in a dump, as a signal does */
    _Atomic bool is_outside;     /* a dump by a thread that is not inside */
    _Atomic bool is_confined;
    _Atomic int drained;        /* times that the agent looked */
    _Atomic pid_t agent_number; /* of its thread */
    /* The system. */
    _Atomic bool is_old_kernel; /* threads share their descriptors */
    int lingers;                /* times that an ended thread is still seen */
    _Atomic int lingers_asked;
    _Atomic pid_t asked_process, asked_number;
    struct rlimit files_limit;
    bool has_no_limit, cannot_raise;
    rlim_t raised_to;
    _Atomic int raises;
    _Atomic int client_user;  /* who is at the other end; -1: nobody knows */
    _Atomic int interrupted;  /* times that sending is */
    _Atomic int patience_set; /* times, of one second */
    _Atomic uint32_t written; /* bit set, of kinds whose profile was */
    _Atomic int masked;       /* signals of the agent's thread, all: 1 */
};

/* Those of the program, none of which is root. */
enum { AGENT_USER = 1001, AGENT_EFFECTIVE = 1002 };

/* How often this thread has woken others. */
extern _Thread_local int agent_wakes;

extern struct agent_stubs agent_stubs;

/* What this thread's clock says next, if it is not NULL. */
extern _Thread_local const int64_t *agent_next_ns;

/* A setup and its teardown: the agent runs, and has read the clock. */
int agent_begin(void **state);
int agent_end(void **state);

/* Ask for files as a signal does, on whatever thread. */
void agent_ask(void);

void agent_await(_Atomic int *count, int at_least);

/* returns: a socket on which the agent was asked */
int agent_client(const char *request);
void agent_expect(int client, const char *want);

#endif
