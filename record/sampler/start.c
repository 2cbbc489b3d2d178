/*
 * start.c -- when the profiler begins, forks and ends.
 *
 * The profiler begins with the first allocation once the environment can be
 * read, or in its constructor. The child of a fork keeps its parent's records,
 * because it has copies of the blocks, but draws its own random numbers. If its
 * parent had one thread, the child starts an agent at its next sample.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "prof/fork.h"
#include "prof/port.h"
#include "prof/process.h"
#include "record/sampler/profiler.h"
#include "record/preload/stack.h"
#include "record/sampler/block_table.h"
#include "record/unwind/unwind.h"

enum {
    BUCKETS_MAX = 32768, /* different stacks and sizes */
    FRAMES_A_BUCKET = 20
};

static int64_t
number_of(const char *name, int64_t otherwise)
{
    const char *const text = secure_getenv(name);
    char *end;
    long long value;

    if (text == NULL || *text == '\0')
        return otherwise;
    value = strtoll(text, &end, 10);
    return *end == '\0' && value >= 0 ? value : otherwise;
}

static bool
configure(void)
{
    struct profile_config *const to = &profile.config;
    const char *const folder = secure_getenv(PROFILE_ENV_FOLDER);

    if (folder != NULL && strlen(folder) >= sizeof to->folder)
        return false;
    strcpy(to->folder, folder != NULL ? folder : "");
    to->heap_rate_bytes = number_of(PROFILE_ENV_HEAP, PROF_HEAP_RATE_DEFAULT);
    to->mutex_fraction = number_of(PROFILE_ENV_MUTEX, 1);
    to->block_rate_ns = number_of(PROFILE_ENV_BLOCK, 0);
    to->cpu_hz = (uint32_t)number_of(PROFILE_ENV_CPU, 0);
    to->every_s = (uint32_t)number_of(PROFILE_ENV_EVERY, 0);
    to->has_agent = number_of(PROFILE_ENV_NO_AGENT, 0) == 0;
    return true;
}

static uint64_t
seed_of_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return ((uint64_t)now.tv_sec << 30 ^ (uint64_t)now.tv_nsec) +
           ((uint64_t)getpid() << 40);
}

static bool
make_prof(void)
{
    static struct prof_rules rules;
    const struct prof_config config = {
        .buckets_max = BUCKETS_MAX,
        .depth_max = PROFILE_DEPTH_MAX,
        .frames_max = (uint64_t)BUCKETS_MAX * FRAMES_A_BUCKET,
        .procs_max = PROFILE_PROCS_OWN + PROFILE_PROCS_SHARED,
        .world = PROF_WORLD_RUNNING,
        .seed = seed_of_now(),
        .rules = &rules,
    };
    const size_t bytes = prof_bytes_needed(&config);
    void *const block = profile_map(bytes);

    rules = prof_rules_exact;
    rules.waiters = PROF_WAITERS_ALL; /* charge a holder for every waiter */
    if (block == NULL ||
        prof_init(&profile.prof, &config, block, bytes) != PROF_OK)
        return false;
    prof_heap_rate_set(profile.prof, profile.config.heap_rate_bytes);
    (void)prof_mutex_fraction_set(profile.prof, profile.config.mutex_fraction);
    prof_block_rate_set(profile.prof, profile.config.block_rate_ns);
    return true;
}

/* ---- forks ---- */

/*
 * Was the process begun by exec or by fork()? The kernel clears this in each
 * child, so one that was made by clone() or the system call is noticed, and
 * without a call, which a confined process might not survive.
 */
static _Atomic bool *is_known;

static bool
know_process(void)
{
    is_known = profile_map(sizeof *is_known);
    if (is_known == NULL)
        return false;
    (void)madvise(is_known, sizeof *is_known, MADV_WIPEONFORK);
    atomic_store(is_known, true);
    return true;
}

/*
 * End profiling in a child that a signal handler forked after it had
 * interrupted the profiler. The interrupted call still ends normally, but no
 * profiles are written.
 */
static void
end_in_child(void)
{
    atomic_store(&profile.phase, PROFILE_OFF);
    (void)profile_threads_after_fork_child();
    profile_agent_after_fork_child(false);
}

static void
go_on_in_child(void)
{
    const uint64_t seed = seed_of_now();
    bool had_others;

    embed_inside = true;
    atomic_store(&profile.is_idle_child, true);
    profile_until_give(); /* from the parent; the child draws its own */
    prof_after_fork_child(profile.prof);
    for (uint32_t i = 0; i < PROFILE_PROCS_OWN + PROFILE_PROCS_SHARED; i++)
        prof_proc_seed(prof_proc_at(profile.prof, i), seed + i);
    /*
     * If the parent had other threads, one may have held a lock of the loader
     * that starting a thread needs. Then the child gets no agent.
     */
    had_others = profile_threads_after_fork_child();
    profile_agent_after_fork_child(!had_others);
    if (profile.cpu != NULL)
        prof_cpu_after_fork_child(profile.cpu);
    embed_inside = false;
}

static void
after_fork_in_child(void)
{
    atomic_store(is_known, true);
    table_after_fork();
    profile_waits_after_fork_child();
    profile_dump_after_fork_child();
    embed_stacks_reclaim();
    profile_rights_after_fork_child();
    if (embed_inside)
        end_in_child();
    else if (profile_is_on())
        go_on_in_child();
    profile.cpu = NULL; /* timers are not inherited */
}

static pid_t (*real_fork)(void);

EMBED_HOOK pid_t _Fork(void); /* newer than some headers */

/* fork() for signal handlers: runs no handlers of ours by itself. */
EMBED_HOOK pid_t
_Fork(void)
{
    pid_t child;

    if (real_fork == NULL)
        embed_resolve(&real_fork, "_Fork", NULL);
    table_before_fork();
    child = real_fork();
    if (child == 0)
        after_fork_in_child();
    else
        table_after_fork();
    return child;
}

/* ---- begin, end ---- */

static bool
start(void)
{
    embed_depth_max = PROFILE_DEPTH_MAX;
    profile.process = getpid();
    if (!configure() || !know_process() || !embed_stacks_start() ||
        !make_prof())
        return false;
    embed_unwind_start();
    profile_threads_start();
    pthread_atfork(table_before_fork, table_after_fork, after_fork_in_child);
    embed_resolve(&real_fork, "_Fork", NULL);
    profile_cpu_begin();
    return true;
}

bool
profile_begin(void)
{
    const int saved_errno = errno;
    const bool inside = embed_inside;
    uint32_t phase = PROFILE_FRESH;

    if (profile_is_on())
        return true;
    /* Before libc has started there is no environment to read. */
    if (environ == NULL || !atomic_compare_exchange_strong(
                               &profile.phase, &phase, PROFILE_STARTING))
        return false;
    embed_inside = true;
    phase = start() ? PROFILE_ON : PROFILE_OFF;
    atomic_store_explicit(&profile.phase, phase, memory_order_release);
    embed_inside = inside;
    errno = saved_errno;
    return phase == PROFILE_ON;
}

static void __attribute__((constructor)) begin_early(void)
{
    const bool inside = embed_inside;

    embed_inside = true;
    embed_locks_resolve();
    embed_heap_resolve();
    profile_threads_resolve();
    atomic_store(&profile.losses.own, !embed_heap_is_reached());
    if (profile_begin()) {
        profile_waits_start();
        profile_agent_start();
    }
    embed_inside = inside;
}

/*
 * Does nothing in a handler that interrupted the profiler: a dump would wait
 * for the interrupted code. Nor in a child that was made without fork(): it has
 * no agent, and locks may be held in it for ever.
 */
static void __attribute__((destructor)) end_late(void)
{
    int cancelling;

    if (!profile_is_on() || profile.config.folder[0] == '\0' || embed_inside ||
        !atomic_load(is_known))
        return;
    embed_inside = true;
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelling);
    profile_agent_end();
    (void)pthread_setcancelstate(cancelling, NULL);
}
