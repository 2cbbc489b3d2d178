/*
 * test_after_fork.c -- a thread forks while others are inside calls of the
 * library: the child can use the whole library at once.
 *
 * Here timing decides where the fork hits; props/kernels/fork.c tries a fork at
 * every point.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "aligned_block.h"
#include "prof/cpu.h"
#include "prof/fork.h"
#include "prof/registry.h"
#include "prof/trace.h"
#include "test_prof_make.h"
#include "unit_test.h"

enum {
    FORKS = 60,
    CHILD_SECONDS = 60, /* for a child that hangs; enough on a slow machine */
    STACKS = 64,
    PROCS = 3,
    TICKS = 8
};

static struct prof *prof;
static struct prof_trace *trace;
static struct prof_cpu *cpu;
static struct prof_registry *registry;
static struct prof_profile *profile;
static atomic_bool is_over;

/* ---- the threads ---- */

static void
stack_of(uintptr_t stack[2], uint64_t number)
{
    stack[0] = 0x401000 + number % STACKS * 16;
    stack[1] = 0x500000;
}

static void *
record(void *context)
{
    struct prof_proc *proc = prof_proc_at(prof, 1);
    uintptr_t stack[2];

    (void)context;
    for (uint64_t i = 0; !atomic_load(&is_over); i++) {
        stack_of(stack, i);
        prof_heap_free_explicit(proc, prof_heap_alloc(proc, stack, 2, 16));
        prof_contention_event(proc, PROF_MUTEX, stack, 2, 5);
        prof_cpu_tick(cpu, stack, 2, NULL);
        prof_trace_emit(trace, 1, PROF_EV_GO_SCHED, NULL, stack, 2);
        prof_trace_emit(trace, PROF_TRACE_NO_PROC, PROF_EV_GO_SCHED, NULL,
                        stack, 2);
    }
    return NULL;
}

static void *
control(void *context)
{
    struct prof_heap_record records[STACKS];
    size_t count;

    (void)context;
    while (!atomic_load(&is_over)) {
        (void)!prof_heap_next_cycle(prof);
        (void)!prof_heap_flush(prof);
        (void)!prof_heap_post_sweep(prof);
        (void)!prof_heap_snapshot(prof, PROF_SELECT_ALL, records, STACKS,
                                  &count);
        prof_cpu_drain(cpu);
        (void)!prof_profile_add(profile, "key", 3, NULL, 0);
        (void)!prof_profile_remove(profile, "key", 3);
    }
    return NULL;
}

static void *
read_trace(void *context)
{
    const uint8_t *bytes;
    size_t count;

    (void)context;
    while (!atomic_load(&is_over)) {
        if (prof_trace_read(trace, &bytes, &count) == PROF_ERR_AGAIN)
            (void)!prof_trace_wait(trace);
    }
    return NULL;
}

/* ---- the child ---- */

/* Make a number of the line of a failed check the child's exit status. */
#define CHECK(condition)               \
    do {                               \
        if (!(condition))              \
            return __LINE__ % 250 + 1; \
    } while (0)

static bool
no_task(void *context, struct prof_trace_task *task)
{
    (void)context;
    (void)task;
    return false;
}

static int
go_on_with_the_heap(void)
{
    struct prof_heap_record records[STACKS + 1];
    uintptr_t stack[2] = {1, 2};
    struct prof_heap_totals before;
    struct prof_heap_totals after;
    size_t count;

    prof_after_fork_child(prof);
    CHECK(prof_check(prof) == NULL);
    before = prof_heap_totals(prof);
    prof_heap_free(prof_proc_at(prof, 0),
                   prof_heap_alloc(prof_proc_at(prof, 1), stack, 2, 16));
    for (int i = 0; i < 3; i++) {
        CHECK(prof_heap_flush(prof) == PROF_OK);
        CHECK(prof_heap_next_cycle(prof) == PROF_OK);
    }
    CHECK(prof_heap_flush(prof) == PROF_OK);
    CHECK(prof_heap_post_sweep(prof) == PROF_OK);
    after = prof_heap_totals(prof);
    CHECK(after.allocs_pending == 0 && after.frees_pending == 0);
    CHECK(after.allocs_published ==
          before.allocs_published + before.allocs_pending + 1);
    CHECK(prof_heap_snapshot(prof, PROF_SELECT_ALL, records, STACKS + 1,
                             &count) == PROF_OK);
    CHECK(count >= 1 && records[0].allocs == 1 && records[0].frees == 1);
    return 0;
}

static int
go_on_with_the_trace(void)
{
    const struct prof_trace_world world = {
        .thread = 1, .task = 1, .next = no_task};
    const uint8_t *bytes;
    size_t count;

    prof_trace_after_fork_child(trace);
    CHECK(prof_trace_read(trace, &bytes, &count) == PROF_ERR_OFF);
    CHECK(prof_trace_start(trace, &world) == PROF_OK);
    CHECK(prof_trace_stop(trace, 0, NULL, 0) == PROF_OK);
    CHECK(prof_trace_read(trace, &bytes, &count) == PROF_OK);
    return 0;
}

static int
go_on_with_the_rest(void)
{
    const uintptr_t stack = 0x1000;
    size_t open;

    prof_cpu_after_fork_child(cpu);
    CHECK(prof_cpu_start(cpu, PROF_CPU_HZ) == PROF_OK);
    prof_cpu_tick(cpu, &stack, 1, NULL);
    CHECK(prof_cpu_stop(cpu) == PROF_OK);
    CHECK(prof_cpu_totals(cpu).recorded == 1);
    prof_registry_after_fork_child(registry);
    CHECK(prof_profile_remove(profile, "key", 3) == PROF_OK);
    CHECK(prof_profile_count(profile, &open) == PROF_OK && open == 0);
    CHECK(prof_profile_add(profile, "key", 3, NULL, 0) == PROF_OK);
    return 0;
}

static int
child(void)
{
    int wrong;

    alarm(CHILD_SECONDS);
    wrong = go_on_with_the_heap();
    if (wrong == 0)
        wrong = go_on_with_the_trace();
    return wrong != 0 ? wrong : go_on_with_the_rest();
}

/* ---- real forks ---- */

static void
make_others(void)
{
    const struct prof_trace_config traced = {.procs_max = PROCS,
                                             .buffers_max = 8,
                                             .buffer_bytes = 256,
                                             .stacks_max = STACKS};
    const struct prof_cpu_config ticking = {.ticks_max = TICKS};
    const struct prof_registry_config named = {.profiles_max = 1,
                                               .entries_max = 1};
    const size_t trace_bytes = prof_trace_bytes_needed(&traced);
    const size_t cpu_bytes = prof_cpu_bytes_needed(&ticking);
    const size_t registry_bytes = prof_registry_bytes_needed(&named);

    assert_int_equal(prof_trace_init(&trace, &traced,
                                     props_block(trace_bytes, 0), trace_bytes),
                     PROF_OK);
    assert_int_equal(
        prof_cpu_init(&cpu, &ticking, props_block(cpu_bytes, 0), cpu_bytes),
        PROF_OK);
    assert_int_equal(prof_registry_init(&registry, &named,
                                        props_block(registry_bytes, 0),
                                        registry_bytes),
                     PROF_OK);
    assert_int_equal(prof_registry_new(registry, "own", &profile), PROF_OK);
}

static void
fork_and_wait(void)
{
    const pid_t pid = fork();
    int status;

    if (pid == 0)
        _exit(child());
    assert_true(pid > 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (status != 0)
        fail_msg("a child %s %d",
                 WIFSIGNALED(status) ? "was ended by signal"
                                     : "found something wrong: CHECK at line "
                                       "(less 1, modulo 250)",
                 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

TEST(a_child_goes_on_whatever_other_threads_were_doing)
{
    const struct prof_config config = {.buckets_max = 4 * STACKS,
                                       .procs_max = PROCS,
                                       .world = PROF_WORLD_RUNNING};
    const struct prof_trace_world world = {
        .thread = 1, .task = 1, .next = no_task};
    void *(*const bodies[])(void *) = {record, control, read_trace};
    pthread_t threads[3];

    prof = props_prof_make(&config);
    make_others();
    assert_int_equal(prof_trace_start(trace, &world), PROF_OK);
    assert_int_equal(prof_cpu_start(cpu, PROF_CPU_HZ), PROF_OK);
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, bodies[i], NULL), 0);
    for (int i = 0; i < FORKS; i++)
        fork_and_wait();
    atomic_store(&is_over, true);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(prof_trace_stop(trace, 0, NULL, 0), PROF_OK);
    assert_int_equal(pthread_join(threads[2], NULL), 0);
    /* The parent's profile still runs. */
    assert_int_equal(prof_cpu_stop(cpu), PROF_OK);
    free(trace);
    free(cpu);
    free(registry);
    props_prof_drop(prof);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
