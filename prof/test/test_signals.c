/*
 * test_signals.c -- a signal at any instruction of a call: its handler records
 * on the same processor, or forks. It interrupts each record call, and each
 * control call during which handlers may record, after each of its instructions
 * (single_step.h). Nothing may be lost, counted twice or negative, and no call
 * may wait for ever.
 *
 * The child of a fork finishes the call in its copy of memory, records more,
 * publishes everything, and must find its own events; the parent must find its
 * own events and no others.
 *
 * Handlers must not call prof_trace_emit(), so here it is only interrupted.
 *
 * build: cflags=-O2 not=asan,cov
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "prof/cpu.h"
#include "prof/prof.h"
#include "prof/trace.h"
#include "common/test/single_step.h"
#include "common/test/unit_test.h"

enum { TICKS_MAX = 64, BUCKETS_MAX = 16, PARTS_MAX = 64, HANG_SECONDS = 120 };

static const uintptr_t own[] = {0x1000, 0x2000};
static const uintptr_t others[] = {0x3000, 0x4000, 0x5000};

/* The instance, the profile and the trace whose calls are interrupted. */
static struct prof *prof;
static struct prof_proc *proc;
static struct prof_cpu *cpu;
static struct prof_trace *trace;
static void *prof_block;
static void *cpu_block;
static void *trace_block;
static size_t prof_bytes;
static size_t cpu_bytes;
static size_t trace_bytes;
static prof_bucket kept; /* a live object of `own` */

/* How many events of each kind were recorded. */
static struct {
    uint64_t own_allocs;
    uint64_t own_frees;
    uint64_t allocs; /* of `others` */
    uint64_t frees;
    uint64_t blocks;
    uint64_t mutexes;
    uint64_t ticks;
    uint64_t heaps; /* trace events */
} done;

static const struct prof_config config = {
    .buckets_max = BUCKETS_MAX,
    .procs_max = 1,
    .world = PROF_WORLD_RUNNING,
};
static const struct prof_cpu_config cpu_config = {
    .ticks_max = TICKS_MAX, .stacks_max = 8, .depth_max = 8};
static const struct prof_trace_config trace_config = {
    .procs_max = 1, .buffers_max = 16, .buffer_bytes = 256, .stacks_max = 8};

static bool
one_task(void *context, struct prof_trace_task *task)
{
    bool *reported = context;

    *task = (struct prof_trace_task){.id = 1};
    *reported = !*reported;
    return *reported;
}

/* returns: NULL, or what could not be built */
static const char *
build(void)
{
    bool reported = false;
    const struct prof_trace_world world = {
        .thread = 1, .task = 1, .next = one_task, .context = &reported};

    if (prof_init(&prof, &config, prof_block, prof_bytes) != PROF_OK)
        return "no instance";
    if (prof_cpu_init(&cpu, &cpu_config, cpu_block, cpu_bytes) != PROF_OK ||
        prof_cpu_start(cpu, 100) != PROF_OK)
        return "no CPU profile";
    if (prof_trace_init(&trace, &trace_config, trace_block, trace_bytes) !=
            PROF_OK ||
        prof_trace_start(trace, &world) != PROF_OK)
        return "no trace";
    return NULL;
}

static const char *
begin(void)
{
    const char *why;

    memset(prof_block, 0, prof_bytes);
    memset(cpu_block, 0, cpu_bytes);
    memset(trace_block, 0, trace_bytes);
    memset(&done, 0, sizeof done);
    why = build();
    if (why != NULL)
        return why;
    prof_heap_rate_set(prof, 1);
    proc = prof_proc_at(prof, 0);
    kept = prof_heap_alloc(proc, own, 2, 16);
    done.own_allocs = 1;
    return NULL;
}

/* ---- interrupted calls ---- */

static void
do_alloc(void)
{
    (void)prof_heap_alloc(proc, own, 2, 16);
    done.own_allocs++;
}

/* The bucket is new, and the handler's allocations need the same one. */
static void
do_first_alloc(void)
{
    (void)prof_heap_alloc(proc, others, 3, 48);
    done.allocs++;
}

static void
do_free(void)
{
    prof_heap_free(proc, kept);
    done.own_frees++;
}

static void
do_free_explicit(void)
{
    prof_heap_free_explicit(proc, kept);
    done.own_frees++;
}

static void
do_block(void)
{
    prof_contention_event(proc, PROF_BLOCK, others, 3, 10);
    done.blocks++;
}

static void
do_mutex(void)
{
    prof_contention_event(proc, PROF_MUTEX, others, 3, 100);
    done.mutexes++;
}

static void
do_tick(void)
{
    prof_cpu_tick(cpu, own, 2, NULL);
    done.ticks++;
}

static void
do_trace(void)
{
    const uint64_t bytes = 4096;

    prof_trace_emit(trace, 0, PROF_EV_HEAP_ALLOC, &bytes, NULL, 0);
    done.heaps++;
}

static void
do_advance(void)
{
    /* A handler may be inside a call of its own: then the next advance
     * retries. */
    (void)!prof_heap_next_cycle(prof);
    (void)!prof_heap_flush(prof);
}

static void
do_post_sweep(void)
{
    (void)!prof_heap_post_sweep(prof);
}

static void
do_snapshot(void)
{
    static struct prof_heap_record records[BUCKETS_MAX];
    size_t count;

    (void)!prof_heap_snapshot(prof, PROF_SELECT_ALL, records, BUCKETS_MAX,
                              &count);
}

static void
do_drain(void)
{
    prof_cpu_drain(cpu);
}

static const struct interrupted_call {
    const char *name;
    void (*call)(void);
    bool records; /* true: a record call; false: a control call */
} calls[] = {
    {"alloc", do_alloc, true},
    {"first alloc", do_first_alloc, true},
    {"free", do_free, true},
    {"explicit free", do_free_explicit, true},
    {"block event", do_block, true},
    {"mutex event", do_mutex, true},
    {"tick", do_tick, true},
    {"trace event", do_trace, true},
    {"next cycle and flush", do_advance, false},
    {"post-sweep", do_post_sweep, false},
    {"snapshot", do_snapshot, false},
    {"drain of ticks", do_drain, false},
};

enum { CALLS = sizeof calls / sizeof *calls };

/* ---- the handler ---- */

/* Two allocations with their frees, two waits and a tick, all on the processor
 * whose call is interrupted. */
static void
live(void)
{
    prof_heap_free(proc, prof_heap_alloc(proc, others, 3, 48));
    prof_heap_free_explicit(proc, prof_heap_alloc(proc, others, 3, 48));
    done.allocs += 2;
    done.frees += 2;
    prof_contention_event(proc, PROF_BLOCK, others, 3, 10);
    done.blocks++;
    prof_contention_event(proc, PROF_MUTEX, others, 3, 100);
    done.mutexes++;
    prof_cpu_tick(cpu, others, 3, NULL);
    done.ticks++;
}

/* ---- the comparison ---- */

static char wrong[200]; /* the first difference found */

static bool
check_equal(const char *what, uint64_t got, uint64_t want)
{
    if (got != want && wrong[0] == '\0')
        snprintf(wrong, sizeof wrong, "%s: %" PRIu64 ", expected %" PRIu64,
                 what, got, want);
    return got == want;
}

static void
check_heap(void)
{
    struct prof_heap_record records[BUCKETS_MAX];
    struct prof_heap_record mine = {.allocs = 0};
    struct prof_heap_record theirs = {.allocs = 0};
    size_t count = 0;

    for (int i = 0; i < 3; i++) {
        check_equal("next cycle", prof_heap_next_cycle(prof), PROF_OK);
        check_equal("flush", prof_heap_flush(prof), PROF_OK);
    }
    check_equal(
        "snapshot",
        prof_heap_snapshot(prof, PROF_SELECT_ALL, records, BUCKETS_MAX, &count),
        PROF_OK);
    for (size_t i = 0; i < count; i++) {
        if (records[i].size_bytes == 16)
            mine = records[i];
        else
            theirs = records[i];
    }
    check_equal("buckets", count, done.allocs > 0 ? 2 : 1);
    check_equal("allocations", mine.allocs, done.own_allocs);
    check_equal("frees", mine.frees, done.own_frees);
    check_equal("allocations of the other stack", theirs.allocs, done.allocs);
    check_equal("frees of the other stack", theirs.frees, done.frees);
}

static void
check_waits(enum prof_contention kind, uint64_t want, uint64_t ticks)
{
    struct prof_contention_record record = {.count = 0};
    size_t count;

    check_equal("contention snapshot",
                prof_contention_snapshot(prof, kind, &record, 1, &count),
                PROF_OK);
    check_equal("waits", record.count, want);
    check_equal("ticks of waits", record.cycles, want * ticks);
}

static void
check_ticks(void)
{
    struct prof_cpu_totals totals;

    check_equal("stop of the CPU profile", prof_cpu_stop(cpu), PROF_OK);
    totals = prof_cpu_totals(cpu);
    check_equal("CPU ticks", totals.recorded + totals.lost, done.ticks);
    if (done.ticks < TICKS_MAX)
        check_equal("lost CPU ticks", totals.lost, 0);
}

static void
check_trace(void)
{
    const uint8_t *bytes;
    size_t bytes_count;
    enum prof_status status = PROF_OK;

    check_equal("stop of the trace", prof_trace_stop(trace, 0, NULL, 0),
                PROF_OK);
    for (int i = 0; i < PARTS_MAX && status == PROF_OK; i++)
        status = prof_trace_read(trace, &bytes, &bytes_count);
    check_equal("end of the trace", status, PROF_ERR_END);
    check_equal("events without a buffer", prof_trace_drops(trace).no_buffer,
                0);
}

static const char *
check(void)
{
    const char *broken = prof_check(prof);

    wrong[0] = '\0';
    if (broken != NULL)
        return broken;
    check_heap();
    check_waits(PROF_BLOCK, done.blocks, 10);
    check_waits(PROF_MUTEX, done.mutexes, 100);
    check_ticks();
    check_trace();
    return wrong[0] != '\0' ? wrong : NULL;
}

static int
open_all(void **state)
{
    (void)state;
    alarm(HANG_SECONDS); /* ends a call that hangs */
    prof_bytes = prof_bytes_needed(&config);
    cpu_bytes = prof_cpu_bytes_needed(&cpu_config);
    trace_bytes = prof_trace_bytes_needed(&trace_config);
    prof_block = aligned_alloc(PROF_BLOCK_ALIGN, prof_bytes);
    cpu_block = aligned_alloc(PROF_BLOCK_ALIGN, cpu_bytes);
    trace_block = aligned_alloc(PROF_BLOCK_ALIGN, trace_bytes);
    return prof_block == NULL || cpu_block == NULL || trace_block == NULL;
}

static int
close_all(void **state)
{
    (void)state;
    free(prof_block);
    free(cpu_block);
    free(trace_block);
    return 0;
}

/* ---- signals ---- */

enum {
    STEPS_MAX = 20000,  /* instructions of one call */
    CONTROL_STRIDE = 5, /* instructions from one signal to the next in control
                         * calls */
};

static uint32_t
steps_of(void (*call)(void))
{
    assert_null(begin());
    props_step_begin(NULL, 0);
    call();
    return props_step_end();
}

/* Interrupt a call. in: at, the instruction, from 1; 0: after each */
static uint32_t
strike(const struct interrupted_call *call, uint32_t at)
{
    uint32_t steps;
    const char *why;

    assert_null(begin());
    props_step_begin(live, at);
    call->call();
    steps = props_step_end();
    why = check();
    if (why != NULL)
        fail_msg("%s, struck at instruction %u: %s", call->name, at, why);
    return steps;
}

TEST(a_handler_may_record_at_any_instruction)
{
    for (size_t i = 0; i < CALLS; i++) {
        const struct interrupted_call *call = &calls[i];
        const uint32_t steps = steps_of(call->call);

        assert_in_range(steps, 10 * PROPS_STEPS, STEPS_MAX);
        assert_in_range(strike(call, 0), 10 * PROPS_STEPS, STEPS_MAX);
        for (uint32_t at = 1; at <= steps;
             at += call->records ? 1 : CONTROL_STRIDE)
            strike(call, at);
    }
}

/* ---- forks ---- */

enum { FORK_STRIDE = 23, CHILD_SECONDS = 20 };

static bool is_child;
static int child_status;

/* The child records more events; the parent waits until the child has ended. */
static void
fork_here(void)
{
    const pid_t child = fork();

    if (child == 0) {
        is_child = true;
        alarm(CHILD_SECONDS);
        live();
        return;
    }
    if (child < 0 || waitpid(child, &child_status, 0) != child)
        child_status = -1;
}

static void
fork_at(const struct interrupted_call *call, uint32_t at)
{
    const char *why;

    child_status = 0;
    assert_null(begin());
    props_step_begin(fork_here, at);
    call->call();
    props_step_end();
    why = check();
    if (is_child) {
        if (why != NULL)
            fprintf(stderr, "%s, forked at instruction %u: the child: %s\n",
                    call->name, at, why);
        _exit(why != NULL);
    }
    if (why != NULL)
        fail_msg("%s, forked at instruction %u: %s", call->name, at, why);
    assert_int_equal(child_status, 0);
}

TEST(a_process_may_fork_in_the_middle_of_any_call)
{
    for (size_t i = 0; i < CALLS; i++) {
        const uint32_t steps = steps_of(calls[i].call);

        for (uint32_t at = 1; at <= steps; at += FORK_STRIDE)
            fork_at(&calls[i], at);
    }
}

int
main(void)
{
    return tests_run(open_all, close_all);
}
