/*
 * agent_stubs.h -- stubs of what the malloc profiler's agent calls in a test: a
 * clock, dumps, clients, and an old kernel. Every wait ends after ten seconds.
 */
#ifndef AGENT_STUBS_H
#define AGENT_STUBS_H

#include <sys/resource.h>

#include "profile.h"

enum { AGENT_STEP_S = 100 }; /* from one set of files to the next */

struct agent_stubs {
    _Atomic int64_t clock_ns;
    _Atomic int dumps, dumps_begun;
    _Atomic bool dump_hangs;     /* a dump lasts up to ten seconds */
    _Atomic bool asks_meanwhile; /* a signal arrives in a dump */
    _Atomic int64_t dump_takes_ns;
    _Atomic bool is_outside;    /* a thread not inside made a dump */
    _Atomic bool reply_hangs;   /* as dump_hangs, of a reply to "status" */
    _Atomic bool asks_in_reply; /* a signal arrives in it */
    int dumps_before;           /* the last profile was sent */
    _Atomic bool is_confined;
    _Atomic int drained;        /* how often the agent has looked for work */
    _Atomic pid_t agent_number; /* the agent's thread */
    /* The system. */
    _Atomic bool is_old_kernel; /* threads share their descriptors */
    int lingers;                /* how often an ended thread is still seen */
    _Atomic int lingers_asked;
    _Atomic pid_t asked_process, asked_number;
    struct rlimit files_limit;
    bool has_no_limit, cannot_raise;
    rlim_t raised_to;
    _Atomic int raises;
    _Atomic int client_user; /* the user at the other end; -1: unknown */
    _Atomic int interrupted; /* how many sends are interrupted */
    _Atomic bool interrupted_for_long; /* longer than a client may take */
    _Atomic int patience_set; /* how often a time limit of one second was set */
    _Atomic uint32_t written; /* a bit for each kind of profile written */
    _Atomic bool is_slow;     /* joins of the thread time out */
    _Atomic int masked;       /* 1: all signals, in the agent's thread */
};

/* The user ids of the program, neither of them root. */
enum { AGENT_USER = 1001, AGENT_EFFECTIVE = 1002 };

/* How often this thread has woken others, and slept on a word. */
extern _Thread_local int agent_wakes, agent_sleeps;

extern struct agent_stubs agent_stubs;

/* If not NULL: what this thread's clock returns next. */
extern _Thread_local const int64_t *agent_next_ns;

/* If not NULL: called when this thread reads the clock. */
extern _Thread_local void (*agent_at_clock)(void);

/* The set-up and teardown of a test; between them the agent runs, and has read
 * the clock. */
int agent_begin(void **state);
int agent_end(void **state);

/* Ask for files as a signal handler does, on the calling thread. */
void agent_ask(void);

void agent_await(_Atomic int *count, int at_least);

/* Send a request to the agent. returns: the socket */
int agent_client(const char *request);
void agent_expect(int client, const char *want);

#endif
