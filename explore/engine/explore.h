/*
 * explore.h -- run real C code under every ordering that C11 allows.
 *
 * A kernel is a closed program: a setup, a few threads, a final check. Its
 * source is compiled with -fsanitize=thread (rule cc_explored of
 * tools/rules.ninja) and linked against this library instead of the sanitizer's
 * runtime. So each atomic access calls the explorer, with its memory order and
 * its call site. Threads are fibers; which one runs next and which store a load
 * returns are choices (choice.h). One kernel runs at a time; the explorer is
 * not reentrant.
 *
 *      struct sim_kernel k = {
 *          "mp", "message passing", NULL, setup, finish, NULL,
 *          {{"writer", write_it}, {"reader", read_it}}, 2};
 *      struct sim_exhaust_result r;
 *
 *      sim_explore_exhaust(&k, &(struct sim_exhaust_options){0}, &r);
 *
 * Not modelled: load buffering (a load never sees a store that has not run
 * yet). Refused: 16-byte atomics, and atomics of different sizes at one
 * location.
 */
#ifndef EXPLORE_ENGINE_EXPLORE_H
#define EXPLORE_ENGINE_EXPLORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/choice.h"

enum {
    SIM_THREADS_MAX = 8,
    SIM_FAILURE_TEXT_BYTES = 192,
};

/* ---- What is explored ---- */

struct sim_thread {
    const char *name;
    void (*body)(void *context, uint32_t thread);
    /* Optional: runs at most once, on this thread, between two accesses. */
    void (*signal)(void *context, uint32_t thread);
};

/* Setup, finish and invariant run alone: their accesses are not events. */
struct sim_kernel {
    const char *name;
    const char *about; /* one sentence: what must hold */
    void *context;
    void (*setup)(void *context);     /* before each run: reset everything */
    void (*finish)(void *context);    /* after all threads; may fail; or NULL */
    void (*invariant)(void *context); /* after each event; may fail; or NULL */
    struct sim_thread threads[SIM_THREADS_MAX];
    uint32_t threads_count;
    bool barriers; /* a thread calls sim_explore_barrier(); if one does so
                    * unannounced, the search falls back to schedules */
};

/* ---- What a kernel may call ---- */

/*
 * Report a broken property; in a run, ends it and does not return.
 *
 * in:      what, a string that lives as long as the kernel
 */
void sim_explore_fail(const char *what);

/* sim_explore_fail(what) unless `holds`. */
void sim_explore_check(bool holds, const char *what);

/* Make a choice of the kernel itself, such as a fault or an input. It is part
 * of the state. */
uint32_t sim_explore_choose(uint32_t bound, enum sim_kind kind);

/*
 * Record the begin or end of an operation in a history. A mark is an event that
 * touches no memory, but its position in the order of all marks is part of the
 * state.
 *
 * returns: how many marks came before
 */
uint64_t sim_explore_mark(void);

/*
 * Continue as the child of a fork: only the calling thread survives, and memory
 * stays as it is. All other threads end where they are; if a signal function
 * calls this, so does the thread that it interrupted.
 *
 * in:      child, what the child does; the thread ends after it
 */
_Noreturn void sim_explore_fork(void (*child)(void));

/* Number of the running thread; 0 outside a run. */
uint32_t sim_explore_thread(void);

/*
 * Locks for a port. A lock is identified by its address. A thread must take
 * locks in ascending rank; 0 means unranked. trylock may take any rank, because
 * it cannot wait.
 */
void sim_explore_lock(const void *lock, uint32_t rank);
bool sim_explore_trylock(const void *lock, uint32_t rank);
void sim_explore_unlock(const void *lock);

/*
 * A full fence in all threads at once, wherever each one is (membarrier).
 * Afterwards the caller sees everything that the others did before, and they
 * see everything that the caller did before.
 */
void sim_explore_barrier(void);

/*
 * A futex. wait: if *word is `seen`, sleep until another thread wakes the word.
 * wake: wake all sleepers of the word. The word is read by a seq_cst load,
 * which sees what was written before any earlier wake-up of the word. If
 * nothing will ever wake a sleeper, that is a deadlock.
 */
void sim_explore_wait(const uint32_t *word, uint32_t seen);
void sim_explore_wake(const uint32_t *word);

/* Wake one of the sleepers, by choice. */
void sim_explore_wake_one(const uint32_t *word);

/*
 * End one unsuccessful round of a wait loop; a pause instruction does the same.
 * If the next round would repeat this one, exhaustive search abandons the
 * thread here (runs in which it reads later cover the rest), and sampling lets
 * it sleep until a location that it read has changed. A loop that counts its
 * rounds is followed until it ends (wait.c). If nothing can change any more,
 * that is a livelock.
 */
void sim_explore_spin_wait(void);

/* ---- The result of a run ---- */

enum sim_failure_kind {
    SIM_FAIL_NONE,
    SIM_FAIL_CHECK,
    SIM_FAIL_RACE,
    SIM_FAIL_DEADLOCK,
    SIM_FAIL_LOCK_RANK,
    SIM_FAIL_LOCK_MISUSE,
    SIM_FAIL_LIVELOCK,
    SIM_FAIL_MIXED_SIZE, /* refused: not modelled */
    SIM_FAIL_STACK,      /* refused: another thread's stack */
    SIM_FAIL_CRASH,
    SIM_FAIL_LIMIT,   /* too many steps, words or locks */
    SIM_FAIL_PRUNING, /* re-checking a pruned run found a new graph */
    SIM_FAIL_HEAP,    /* used after free, freed twice, beyond its end */
    SIM_FAIL_LEAK,    /* never freed, and nothing points to it */
    SIM_FAIL_EXIT,    /* the program ended itself: abort, assert, exit(1) */
    SIM_FAIL_REFUSED, /* a call that the explorer does not model */
    SIM_FAIL_GONE,    /* a variable whose function may have returned */
    SIM_FAIL_KIND_COUNT
};

struct sim_failure {
    enum sim_failure_kind kind;
    uint32_t thread;
    uintptr_t site;       /* return address of the access, or 0 */
    uintptr_t other_site; /* race: the earlier access */
    char text[SIM_FAILURE_TEXT_BYTES];
};

enum sim_end {
    SIM_END_COMPLETE, /* all threads finished, final check passed */
    SIM_END_PRUNED,   /* state seen before */
    SIM_END_BLOCKED,  /* a thread waits for what another run provides */
    SIM_END_FAILED,
};

struct sim_run {
    enum sim_end end;
    struct sim_failure failure;
    uint64_t graph[2]; /* hash of the execution graph */
    uint32_t steps;    /* scheduling points */
    uint32_t switches; /* away from a thread that could have continued */
    uint32_t stale;    /* loads that did not return the newest store */
    bool bounded;      /* a loop's rounds were not all explored (wait.c) */
};

/* ---- Memory-order mutants ---- */

enum sim_op {
    SIM_OP_LOAD,
    SIM_OP_STORE,
    SIM_OP_RMW,
    SIM_OP_CAS,
    SIM_OP_FENCE,
    SIM_OP_LOCK,
    SIM_OP_UNLOCK,
    SIM_OP_BARRIER,
    SIM_OP_WAIT,
    SIM_OP_WAKE,
    SIM_OP_MARK,
    SIM_OP_CALL,   /* of a whole program: on a lock, a thread, the heap */
    SIM_OP_THREAD, /* a thread is created or joined */
    SIM_OP_COUNT
};

/* Orders are the compiler's numbers, __ATOMIC_RELAXED..__ATOMIC_SEQ_CST. */
struct sim_site {
    uintptr_t site;
    enum sim_op op;
    int order;
    int order_failure; /* of a compare-exchange; else relaxed */
};

/* Run `site` with weaker orders from now on; NULL: as compiled. */
void sim_explore_mutate(const struct sim_site *weaker);

/*
 * List the atomic sites that the kernel's random runs reach.
 *
 * out:     sites[0..returned), in the order of first use
 * returns: how many, at most sites_max
 */
uint32_t sim_explore_sites(const struct sim_kernel *kernel, uint32_t runs,
                           struct sim_site *sites, uint32_t sites_max);

/*
 * Weaken the memory order of `site` by one step: from seq_cst to acq_rel, to
 * acquire or release, to relaxed. Steps of a compare-exchange weaken the order
 * of success first, then that of failure.
 *
 * in:      step, index of the step among the possible ones
 * out:     *site
 * returns: false if there is no such step
 */
bool sim_explore_weaken(struct sim_site *site, uint32_t step);

/* ---- Single runs ---- */

enum sim_strategy {
    SIM_STRATEGY_RANDOM, /* uniform among the runnable threads */
    SIM_STRATEGY_PCT,    /* priorities with d - 1 random drops */
    SIM_STRATEGY_URW,    /* by estimated remaining steps */
    SIM_STRATEGY_STALL,  /* random; one thread sleeps through a window */
    SIM_STRATEGY_COUNT
};

/* Zero-initialised means: random, no limits, all defaults. */
struct sim_run_options {
    enum sim_strategy strategy;
    uint32_t pct_depth;        /* PCT: 0 draws 1..5 per run */
    uint32_t preemptions_max;  /* used if bounded */
    bool bounded;              /* at most preemptions_max preemptions */
    uint32_t spurious_max;     /* spurious failures and wake-ups in a run */
    uint32_t steps_max;        /* 0: 20 000 */
    bool lazy_start;           /* starting a thread is a step of its own */
    bool reduced;              /* each graph once, not each schedule */
    bool drop_waiters;         /* a wait loop ends its thread; exhaustive */
    uint32_t silent_ms;        /* processor time without access; 0: 2000 */
    uint32_t unroll;           /* rounds of a loop that counts; 0: 2 */
    uintptr_t stall_from_site; /* STALL: after this event, 0 any ... */
    uintptr_t stall_to_site;   /* ... and before this one, 0 any */
};

/*
 * Make one run, with the back end that `choices` was begun with. For PCT and
 * URW use sim_explore_sample(): they learn the lengths of threads from earlier
 * runs.
 *
 * returns: run->end
 */
enum sim_end sim_explore_run(const struct sim_kernel *kernel,
                             const struct sim_run_options *options,
                             struct sim_choices *choices, struct sim_run *run);

/* ---- All runs ---- */

/* The progress of a search. */
struct sim_progress {
    uint64_t runs;
    uint64_t graphs;
    double share;      /* of the tree, done */
    double left;       /* estimated runs; 0: not known yet */
    double left_error; /* one standard error of it */
    uint64_t took_ms;
};

struct sim_exhaust_options {
    struct sim_run_options run;
    uint64_t runs_max;       /* 0: no limit */
    uint64_t states_max;     /* 0: 2^26, a gigabyte */
    uint32_t recheck_of_100; /* share of cut runs that is continued */
    bool no_pruning;         /* the plain odometer, for comparison */
    bool by_schedules;       /* not reduced: every schedule, cut by graphs */
    bool keep_going;         /* past failures */
    bool portfolio;          /* random runs in between, from `seed` */
    uint64_t seed;
    uint32_t jobs;          /* processes; 0 or 1: only this one */
    uint64_t time_ms;       /* 0: no limit */
    uint32_t alone_ms;      /* search alone before starting processes; 0: 50 */
    const char *checkpoint; /* a file to resume from and to write, or NULL */
    uint32_t checkpoint_ms; /* how often, at most; 0: 5000 */
    uint32_t shard;         /* 1 .. shards: search only this shard's lists */
    uint32_t shards;        /* 0: there are none */
    bool shards_whole; /* do not split: the first shard searches everything */
    /* Called several times a second; or NULL. */
    void (*progress)(void *context, const struct sim_progress *progress);
    void *progress_context;
    /* Called after each run that was not cut, by the process that made it; or
     * NULL. */
    void (*after_run)(void *context, const struct sim_run *run);
    void *after_run_context;
};

enum sim_verdict {
    SIM_VERDICT_PASS, /* every ordering was tried */
    SIM_VERDICT_FAIL,
    SIM_VERDICT_UNFINISHED, /* a limit was reached */
    SIM_VERDICT_EMPTY,      /* no run reached its end, so nothing is known */
    SIM_VERDICT_NONDETERMINISTIC,
    SIM_VERDICT_REFUSED, /* the checkpoint cannot be used */
};

struct sim_exhaust_result {
    enum sim_verdict verdict;
    uint64_t runs;
    uint64_t graphs;     /* complete runs */
    uint64_t graphs_sum; /* of their hashes */
    uint64_t sampled;    /* random runs in between */
    uint64_t blocked;    /* runs ended by a wait loop */
    uint64_t bounded;    /* runs that left rounds of a loop out */
    uint64_t states;
    uint64_t failures;
    uint64_t rechecked;
    struct sim_run first_failure;
    struct sim_run_options options; /* under which its choices replay */
    struct sim_choice *choices;     /* of the first failure; free() */
    uint32_t choices_count;
    char difference[SIM_FAILURE_TEXT_BYTES]; /* NONDETERMINISTIC: the first */
    char trouble[SIM_FAILURE_TEXT_BYTES];    /* trouble with the checkpoint or a
                                                process */
    bool found_by_sampling;                  /* the first failure */
    bool resumed;                            /* from the file */
    uint32_t shard_depth; /* number of answers that decide which shard has a
                             list; 0: one has all */
    bool fewest_known; /* shrunk: no failing list has fewer non-zero answers */
};

/* Every ordering, each execution graph completed once. */
enum sim_verdict sim_explore_exhaust(const struct sim_kernel *kernel,
                                     const struct sim_exhaust_options *options,
                                     struct sim_exhaust_result *result);

struct sim_sample_options {
    struct sim_run_options run;
    uint64_t runs;
    uint64_t time_ms; /* 0: no limit */
    uint64_t seed;
    bool keep_going;
    void (*after_run)(void *context, const struct sim_run *run);
    void *after_run_context;
};

/* Random runs; result->states counts distinct graphs, as far as kept. */
enum sim_verdict sim_explore_sample(const struct sim_kernel *kernel,
                                    const struct sim_sample_options *options,
                                    struct sim_exhaust_result *result);

/* ---- Shards ---- */

/*
 * List the loads in wait loops that searches have found. Knowing a loop changes
 * the lists of choices, so all shards of one search must know the same loops.
 *
 * out:     offsets[0 .. returned), in the program, ascending
 */
enum { SIM_LOOPS_MAX = 256 };
uint32_t sim_explore_loops(uint64_t offsets[SIM_LOOPS_MAX]);

/* Treat such a load as known from the beginning. */
void sim_explore_learn_loop(uint64_t offset);

/* ---- Reports ---- */

/*
 * Shrink a failing list; the kind and place of the failure stay the same.
 *
 * in/out:  result->choices, result->choices_count, result->first_failure
 * returns: runs made
 */
uint64_t sim_explore_shrink(const struct sim_kernel *kernel,
                            struct sim_exhaust_result *result);

/*
 * Print a shrunk failure: what broke, where, a space-time diagram of the run
 * with stale reads named, which choices are necessary, and how likely the
 * failure is after each prefix of the list.
 *
 * in:      data, gets the same as members of a JSON object (docs/pages.md); may
 *          be NULL
 */
void sim_explore_report(FILE *out, FILE *data, const struct sim_kernel *kernel,
                        struct sim_exhaust_result *result);

/* file:line of a site, with the lines it was inlined into; never NULL. */
const char *sim_site_text(uintptr_t site);

const char *sim_failure_kind_text(enum sim_failure_kind kind);
const char *sim_strategy_text(enum sim_strategy strategy);

#endif
