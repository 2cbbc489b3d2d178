/*
 * thread.h -- a thread of the explored code: what it waits for, what it has
 * read, what it offers; private to the explorer.
 *
 * Example: thread 1 stands before `lock one`, which thread 2 holds. Its `wants`
 * is that lock, its bit in the engine's `ready` is clear, and `next_site` is
 * the call. When thread 2 unlocks, the bit is set, and thread 1 may be picked.
 */
#ifndef EXPLORE_ENGINE_THREAD_H
#define EXPLORE_ENGINE_THREAD_H

#include "explore/engine/explore.h"
#include "explore/engine/fiber.h"
#include "explore/engine/location.h"
#include "explore/search/reduce.h"

struct lock;
struct object;

enum { ROUND_READS_MAX = 64, STATES_MAX = 32, ENDED_MAX = 32, BUSY_MAX = 32 };

/* One load of a round of a wait loop, and the store that it read. */
struct round_read {
    uintptr_t site;
    struct location *location;
    uint32_t thread;
    uint32_t stamp;
    uint64_t state; /* of the code before it; 0: not known */
    uint64_t value;
    uint32_t question; /* in search graph by graph; UINT32_MAX: none */
    uint32_t done;     /* its thread's events and plain accesses so far */
};

/* What a thread has read since its last write; see wait.c. */
struct round {
    uint32_t count;  /* of `reads` */
    uint32_t at;     /* index of the probe's next read */
    uint32_t rounds; /* rounds of the probe so far */
    uint32_t looks;  /* loads of the probe so far */
    uint32_t real;   /* rounds explored because they were not repetitions */
    uint32_t left;   /* how often a probe has left its loop in this run */
    uint64_t state;  /* of the code at the end of the latest round */
    uint32_t done;   /* events and plain accesses at its end */
    bool bracketed;  /* reads[0..count) is one round, from end to end */
    bool counts;     /* the state differs in each round */
    struct round_read *reads; /* the thread's */
};

/* What a thread was about to do when it reached an access (round.c). */
struct thread_state {
    uint64_t hash;  /* hash of registers, stack and site */
    uint32_t first; /* index in `round` of its first read since */
    uint32_t looks; /* object_looks at that time */
    uint32_t turns; /* the thread's, at that time */
    uint64_t held;  /* sim_object_held() at that time */
    uint64_t seen;  /* sim_object_changes() at that time */
};

/* A place that the thread has come to again and again, though it may have
 * written in between (round.c). */
struct busy {
    uint64_t run; /* of another run: empty */
    uint64_t hash;
    uint64_t seen;      /* sim_object_changes() at that time */
    uint32_t new_reads; /* the thread's, at that time */
    uint32_t old_reads;
    uint32_t rounds;
};

/* A function has returned: its variables, all that lay below on the stack, are
 * gone. */
struct ended {
    uintptr_t below;
    uint32_t stamp; /* of the end, as of a plain write */
    uintptr_t site;
};

/* Of a thread, what begins anew with each run. */
struct thread_run {
    struct clock now;
    struct clock pending;   /* what an acquire fence will join in */
    struct clock release;   /* `now` at the last release fence */
    struct lock *wants;     /* a lock; ready when it is free */
    struct lock *sleeps_on; /* a word; ready when it is woken */
    /* Reduced search: it waits for a write; see reduce.c. */
    struct chain *waits_for_chain;
    uint32_t waits_for_thread;
    bool waits_idly;    /* that thread has done nothing on the chain since */
    uint32_t stayed_at; /* question at which it has stayed blocked, + 1 */
    bool (*can_take)(void *context);
    void *can_take_context;
    bool blocks;                /* while can_take() fails it must wait */
    bool orders;                /* its operation is on an object (order.c) */
    bool looks;                 /* ... and waits only for changes of it */
    uint32_t question;          /* question of its latest read */
    uint32_t offered;           /* ... and of the one it waited for */
    struct requested requested; /* questions of its operation on an object */
    struct requested turn;      /* questions of its turn among barriers */
    bool has_turn;              /* `turn` is still to be recorded */
    bool is_barrier;            /* its operation is a barrier */
    bool barrier_came; /* another's barrier came after its last operation */
    struct clock before_barrier; /* what it depended on before that barrier */
    bool needs;                  /* as in struct asked, while it is recorded */
    bool shuts;
    uint64_t read_name;     /* names its next read; see futile.c */
    struct chain *awaits;   /* blocked until this changes */
    struct offer offers[3]; /* operations to be offered (offer.c) */
    uint32_t offers_count;
    uint32_t offered_stamp; /* stamp of the one being offered */
    bool released;          /* was blocked; no change can come any more */
    struct clock causal;    /* what its events depend on, reads included */
    struct clock before;    /* `causal` before its current operation */
    uint32_t plain_count;   /* plain accesses made in this run */
    uint8_t signals_left;
    bool finished;
    bool dropped; /* waits in a loop; exhaustive search does not run it */
    bool spinning;
    bool probing;         /* goes round a wait loop without recording events */
    uint64_t entry_state; /* state of the code before this load; or 0 */
    uintptr_t last_site;  /* of the latest event */
    uintptr_t next_site;  /* of the event it is about to do */

    /* Of a thread that the run has created itself (thread.c) */
    struct sim_fiber *starter;    /* continues once this thread has started */
    void (*body)(void *argument); /* NULL: the kernel's */
    void *argument;
    uintptr_t function;      /* its function, for reports */
    uint32_t joins;          /* the thread whose end it waits for, + 1; or 0 */
    uint32_t ended_at;       /* stamp of its last event, once it has finished */
    struct object *waits_on; /* ready when this admits it (object.c) */
    struct object *sleeps_for; /* an object that another thread will wake */
    struct object *relock;     /* what it takes again when woken, or NULL */
    uint8_t need;              /* its need of waits_on: enum sim_need */
    bool timed;                /* it waits for a limited time */
    bool timed_out;            /* its wait ended by time-out */
    uint8_t timeouts_left;     /* how many waits may still time out early */
    uint32_t states_count;     /* states since its last change */
    uint32_t turns;            /* what others may have noticed (round.c) */
    uint32_t turning;          /* rounds with turns since its last change */
    uint32_t object_looks;     /* operations on objects */
    uint64_t object_own;       /* ... that changed one */
    uint64_t object_seen; /* changes by others when its wait loop began; or 0 */
    struct round round;
    uintptr_t arrived;  /* its stack pointer, at the latest access (round.c) */
    uint32_t new_reads; /* reads of stores of others that it had not read */
    uint32_t old_reads; /* ... of stores that were not the newest */
    uint32_t ended_count;
    uintptr_t exposed_from; /* of its stack, what other threads have used */
    uintptr_t exposed_to;
};

struct thread {
    struct sim_fiber fiber;
    uint32_t steps;        /* scheduling points passed in this run */
    uint32_t steps_before; /* ... in an earlier run, for URW */
    uint32_t priority;     /* PCT */
    struct thread_run run;
    struct busy busy[BUSY_MAX];    /* by hash */
    struct ended ended[ENDED_MAX]; /* outer functions first, ended before */
    struct thread_state states[STATES_MAX];   /* round.c */
    struct round_read reads[ROUND_READS_MAX]; /* of run.round */
};

#endif
