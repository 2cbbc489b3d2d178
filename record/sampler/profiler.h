/*
 * profiler.h -- the internal interface of the preloaded profiler, which runs
 * libprof in an unchanged program.
 *
 *      heap.c, locks.c (record/preload/hooks.h)
 *         |       |
 *      samples.c  waits.c      what is recorded of a call; block_table.c: the
 * blocks |       |            whose free must be recorded |       | threads.c
 * a processor of libprof for each thread
 *         |
 *      libprof                 one instance, in one reserved mapping
 *         ^
 *      dump.c                  profiles of it, as profile.proto
 *      cpu.c                   the CPU profile
 *         ^
 *      losses.c                what the profiles lack
 *      rights.c                the program's credentials, shared by the agent
 *      agent.c                 a thread: requests for profiles, and a timer
 *        agent_life.c          apart from the program
 *      start.c                 when it begins, forks and ends
 *
 * Rules
 *   R1  Nothing here calls malloc; memory is mapped. What libc allocates on our
 *       behalf passes through, because embed_inside is set.
 *   R2  The program's threads take no lock that the agent holds for longer than
 *       it takes to change an entry of a table.
 *   R3  What is not recorded is counted, by cause.
 */
#ifndef RECORD_SAMPLER_PROFILER_H
#define RECORD_SAMPLER_PROFILER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "record/preload/hooks.h"
#include "prof/cpu.h"
#include "prof/prof.h"
#include "record/sampler/profile_env.h"
#include "record/unwind/stack_memory.h"

enum { PROFILE_DEPTH_MAX = 64 };

struct profile_config {
    int64_t heap_rate_bytes;
    int64_t mutex_fraction; /* 0: no mutex profile */
    int64_t block_rate_ns;  /* 0: no block profile */
    uint32_t cpu_hz;        /* 0: no CPU profile */
    uint32_t every_s;       /* 0: files only at exit and on request */
    bool has_agent;
    char folder[PROFILE_FOLDER_MAX]; /* of the files */
};

/* What was not recorded. */
struct profile_losses {
    _Atomic uint64_t early; /* allocations before the profiler began */
    _Atomic uint64_t
        untracked; /* samples whose free cannot be recognised because too many
                      are live; they are in the totals */
    _Atomic uint64_t unseen; /* frees that were missed, which shows when the
                                address is allocated again */
    _Atomic uint64_t waits;  /* not registered: another lock had the slot */
    _Atomic uint64_t own;    /* 1: the program has a malloc of its own */
    _Atomic uint64_t timer;  /* 1: the program took SIGPROF or its timer */
};

enum profile_phase { PROFILE_FRESH, PROFILE_STARTING, PROFILE_ON, PROFILE_OFF };

struct profile {
    _Atomic uint32_t phase;
    struct profile_config config;
    struct prof *prof;
    struct prof_cpu *cpu;          /* NULL: no CPU profile */
    pid_t process;                 /* whose profile it is */
    _Atomic bool is_idle_child;    /* forked, and has taken no sample since */
    _Atomic uint32_t confinements; /* calls that confined it (rights.c) */
    _Atomic pid_t confined_child;  /* 0, or the last child that confined itself
                                      and had run no fork handler */
    struct profile_losses losses;
};

extern struct profile profile;

static inline bool
profile_is_on(void)
{
    return atomic_load_explicit(&profile.phase, memory_order_acquire) ==
           PROFILE_ON;
}

/* start.c: begin, unless already begun. returns: is it on? */
bool profile_begin(void);

/* returns: memory that is reserved, zeroed; NULL if there is none */
void *profile_map(size_t bytes);

/* threads.c */

/* What a thread knows about itself. */
struct profile_thread {
    struct prof_proc *proc; /* its own; NULL: none yet, or none was free */
    bool is_surplus;        /* none was free */
    bool is_off;            /* embed_until_bytes is not the processor's */
    struct embed_own_stack stack;
};

extern _Thread_local struct profile_thread profile_thread
    __attribute__((tls_model("initial-exec")));

/* Processors of the instance: those that threads own, and those that are
 * borrowed for one call. */
#define PROFILE_PROCS_OWN    112u
#define PROFILE_PROCS_SHARED 16u

/* Give the thread a processor of its own until it exits. context: inside */
void profile_thread_begin(void);

/* Return to the thread's processor the count of bytes left until the next
 * sample. From then on each allocation asks libprof whether it is sampled. */
void profile_until_give(void);

/* Borrow a processor for one call. context: inside */
struct prof_proc *profile_proc_borrow(uint32_t *index);
void profile_proc_return(uint32_t index);

void profile_threads_start(void);

/* Find the real functions. context: inside */
void profile_threads_resolve(void);

/* returns: was there another thread with a processor? */
bool profile_threads_after_fork_child(void);

/* cpu.c */

/* Begin the CPU profile, if one is wanted. */
void profile_cpu_begin(void);

/* Is the program now using SIGPROF or its timer itself? If so, this counts it.
 */
void profile_cpu_look(void);

/* Write the CPU profile, and begin a new one. */
enum prof_status profile_cpu_write(const struct prof_output *output);

/* losses.c */

/* Print what is sampled and what was lost. out: to, ending in NUL */
void profile_status_print(char *to, size_t bytes);

/* Write what was lost into the folder, if anything was. context: inside */
void profile_losses_write(void);

/* waits.c */

/* context: before the agent starts, whose thread does not count as the
 * program's */
void profile_waits_start(void);
void profile_waits_after_fork_child(void);

/* dump.c */

enum profile_kind {
    PROFILE_HEAP,
    PROFILE_ALLOCS,
    PROFILE_MUTEX,
    PROFILE_BLOCK,
    PROFILE_CPU,
    PROFILE_KINDS
};

extern const char *const profile_kind_names[PROFILE_KINDS];

/* returns: is this kind being taken? */
bool profile_has(enum profile_kind kind);

/*
 * Write a profile as profile.proto, not compressed.
 *
 * returns: PROF_OK, the sink's status, PROF_ERR_MEMORY; PROF_ERR_BUSY if record
 *          calls did not end in time
 * context: inside; waits for other dumps
 */
PROF_NODISCARD enum prof_status profile_dump(enum profile_kind kind,
                                             const struct prof_sink *sink);

#define PROFILE_ALL ((1u << PROFILE_KINDS) - 1)

/*
 * Write the profiles of some kinds, if they are taken, into files of a folder.
 * The first profile is always written; a later contention profile only if it
 * has an entry.
 *
 * in:      kinds, 1 << kind each
 * returns: PROF_OK, or the status of the first that failed;
 *          PROF_ERR_CONFIG: the path is too long
 * context: inside
 */
PROF_NODISCARD enum prof_status profile_dump_to(const char *folder,
                                                uint32_t kinds);

/* Write all profiles that are taken, except allocs, and the losses into the
 * folder that the environment names, if it names one. */
void profile_dump_files(void);
void profile_dump_after_fork_child(void);

/* rights.c */

/*
 * returns: has the process forbidden itself some system calls, or prepared to?
 *          If so, the profiler starts no thread and opens no file, as the
 *          process might be killed for that.
 */
bool profile_is_confined(void);
void profile_rights_after_fork_child(void);

/* agent.c */

/* Start the agent's thread, if one is wanted and there is none. */
void profile_agent_start(void);

/* End the agent's thread; the next sample starts another. context: inside */
void profile_agent_stop(void);

bool profile_agent_is_running(void);

/* Write the files of a program that exits. context: inside */
void profile_agent_end(void);

/* agent_life.c */

/* Close all descriptors, in a table of the agent's own. returns: false if the
 * kernel cannot do that, and nothing was closed */
bool profile_agent_leave_table(void);

/* Change the count of threads by which libc knows the last one. */
void profile_agent_count(int32_t change);

/* returns: have all other threads ended? context: the agent, which has a table
 * of descriptors of its own */
bool profile_agent_is_last(void);

/* End the thread as the last one of the program ended. context:
 * profile_agent_is_last() has returned true */
void profile_agent_end_last(void);

/* in: may_start, may the child start an agent? */
void profile_agent_after_fork_child(bool may_start);

#endif
