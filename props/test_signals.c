/*
 * test_signals.c -- a signal at any instruction: each record call, and each
 * control call that handlers may come into, is interrupted after each of its
 * instructions by a handler that records, on the same processor. Nothing is
 * lost, doubled or negative, and nobody waits for ever (props/step.h).
 *
 * prof_trace_emit() must not be called by a handler, so it is interrupted and
 * does not interrupt.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "prof/cpu.h"
#include "prof/prof.h"
#include "prof/trace.h"
#include "step.h"

enum {
    STEPS_MAX = 20000,  /* of one call */
    CONTROL_STRIDE = 5, /* instructions from strike to strike, there */
    TICKS_MAX = 64,
    TRACE_BYTES_MAX = 1 << 20,
};

static const uintptr_t own[] = {0x1000, 0x2000};
static const uintptr_t others[] = {0x3000, 0x4000, 0x5000};

/* The world of one interrupted call. */
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
static prof_bucket kept; /* by the call, of `own` */

/* What was done. */
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
    .buckets_max = 16,
    .procs_max = 1,
    .world = PROF_WORLD_RUNNING,
};
static const struct prof_cpu_config cpu_config = {
    .ticks_max = TICKS_MAX, .stacks_max = 8, .depth_max = 8};
static const struct prof_trace_config trace_config = {
    .procs_max = 1, .buffers_max = 16, .buffer_bytes = 256, .stacks_max = 8};

static bool
no_task(void *context, struct prof_trace_task *task)
{
    bool *told = context;

    *task = (struct prof_trace_task){.id = 1};
    *told = !*told;
    return *told;
}

static void
begin(void)
{
    bool told = false;
    const struct prof_trace_world world = {
        .thread = 1, .task = 1, .next = no_task, .context = &told};

    memset(prof_block, 0, prof_bytes);
    memset(cpu_block, 0, cpu_bytes);
    memset(trace_block, 0, trace_bytes);
    memset(&done, 0, sizeof done);
    assert_int_equal(prof_init(&prof, &config, prof_block, prof_bytes),
                     PROF_OK);
    prof_heap_rate_set(prof, 1);
    proc = prof_proc_at(prof, 0);
    assert_int_equal(prof_cpu_init(&cpu, &cpu_config, cpu_block, cpu_bytes),
                     PROF_OK);
    assert_int_equal(prof_cpu_start(cpu, 100), PROF_OK);
    assert_int_equal(
        prof_trace_init(&trace, &trace_config, trace_block, trace_bytes),
        PROF_OK);
    assert_int_equal(prof_trace_start(trace, &world), PROF_OK);
    kept = prof_heap_alloc(proc, own, 2, 16);
    done.own_allocs = 1;
}

/* ------------------------------------------------------------- interrupted
 * calls
 */

static void
do_alloc(void)
{
    (void)prof_heap_alloc(proc, own, 2, 16);
    done.own_allocs++;
}

/* The same new bucket that the handler needs. */
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
do_turn(void)
{
    /* A handler's own call may be in flight: then it is to be tried again. */
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
    static struct prof_heap_record records[16];
    size_t count;

    (void)!prof_heap_snapshot(prof, PROF_SELECT_ALL, records, 16, &count);
}

static void
do_drain(void)
{
    prof_cpu_drain(cpu);
}

static const struct {
    const char *name;
    void (*call)(void);
    bool records; /* struck at each instruction, else at some */
} calls[] = {
    {"alloc", do_alloc, true},
    {"first alloc", do_first_alloc, true},
    {"free", do_free, true},
    {"explicit free", do_free_explicit, true},
    {"block event", do_block, true},
    {"mutex event", do_mutex, true},
    {"tick", do_tick, true},
    {"trace event", do_trace, true},
    {"next cycle and flush", do_turn, false},
    {"post-sweep", do_post_sweep, false},
    {"snapshot", do_snapshot, false},
    {"drain of ticks", do_drain, false},
};

/* ----------------------------------------------------------------- the handler
 */

/* Two lives and three events, on the processor that is interrupted. */
static void
strike(void)
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

/* ------------------------------------------------------------------- the
 * account
 */

static void
check_heap(const char *name, uint32_t at)
{
    struct prof_heap_record records[16];
    size_t count;
    uint64_t own_allocs = 0;
    uint64_t own_frees = 0;
    uint64_t allocs = 0;
    uint64_t frees = 0;

    for (int i = 0; i < 3; i++) {
        assert_int_equal(prof_heap_next_cycle(prof), PROF_OK);
        assert_int_equal(prof_heap_flush(prof), PROF_OK);
    }
    assert_int_equal(
        prof_heap_snapshot(prof, PROF_SELECT_ALL, records, 16, &count),
        PROF_OK);
    for (size_t i = 0; i < count; i++) {
        const bool mine = records[i].size_bytes == 16;

        *(mine ? &own_allocs : &allocs) += records[i].allocs;
        *(mine ? &own_frees : &frees) += records[i].frees;
    }
    if (own_allocs != done.own_allocs || own_frees != done.own_frees ||
        allocs != done.allocs || frees != done.frees || count > 2)
        fail_msg("%s, struck at instruction %u: %zu buckets, %lu/%lu and "
                 "%lu/%lu, expected %lu/%lu and %lu/%lu",
                 name, at, count, own_allocs, own_frees, allocs, frees,
                 done.own_allocs, done.own_frees, done.allocs, done.frees);
}

static void
check_waits(const char *name, uint32_t at, enum prof_contention kind,
            uint64_t wanted)
{
    struct prof_contention_record record = {.count = 0};
    size_t count;

    assert_int_equal(prof_contention_snapshot(prof, kind, &record, 1, &count),
                     PROF_OK);
    if (record.count != wanted ||
        record.cycles != wanted * (kind == PROF_BLOCK ? 10 : 100))
        fail_msg("%s, struck at instruction %u: %lu events of %lu ticks, "
                 "expected %lu",
                 name, at, record.count, record.cycles, wanted);
}

/* Read a trace to its end. returns: how many events of the heap's size */
static uint64_t
read_trace(void)
{
    const uint8_t *bytes;
    size_t bytes_count;
    uint64_t parts = 0;
    enum prof_status status = PROF_OK;

    assert_int_equal(prof_trace_stop(trace, 0, NULL, 0), PROF_OK);
    for (; parts < 64 && status == PROF_OK; parts++)
        status = prof_trace_read(trace, &bytes, &bytes_count);
    assert_int_equal(status, PROF_ERR_END);
    return parts;
}

static void
check(const char *name, uint32_t at)
{
    struct prof_cpu_totals totals;

    assert_null(prof_check(prof));
    check_heap(name, at);
    check_waits(name, at, PROF_BLOCK, done.blocks);
    check_waits(name, at, PROF_MUTEX, done.mutexes);
    assert_int_equal(prof_cpu_stop(cpu), PROF_OK);
    totals = prof_cpu_totals(cpu);
    if (totals.recorded + totals.lost != done.ticks)
        fail_msg("%s, struck at instruction %u: %lu ticks and %lu lost, of %lu",
                 name, at, totals.recorded, totals.lost, done.ticks);
    if (done.ticks < TICKS_MAX)
        assert_int_equal(totals.lost, 0);
    (void)read_trace();
    assert_int_equal(prof_trace_drops(trace).no_buffer, 0);
}

/* ------------------------------------------------------------------- the tests
 */

static uint32_t
steps_of(void (*call)(void))
{
    begin();
    props_step_begin(NULL, 0);
    call();
    return props_step_end();
}

static void
a_handler_may_record_at_any_instruction(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        const uint32_t steps = steps_of(calls[i].call);
        const uint32_t stride = calls[i].records ? 1 : CONTROL_STRIDE;

        assert_in_range(steps, 10 * PROPS_STEPS, STEPS_MAX);
        for (uint32_t at = 1; at <= steps; at += stride) {
            begin();
            props_step_begin(strike, at);
            calls[i].call();
            props_step_end();
            check(calls[i].name, at);
        }
    }
}

static void
a_handler_may_record_after_each_instruction_of_one_call(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        begin();
        props_step_begin(strike, 0);
        calls[i].call();
        assert_in_range(props_step_end(), 10 * PROPS_STEPS, STEPS_MAX);
        check(calls[i].name, 0);
    }
}

static int
take_memory(void **state)
{
    (void)state;
    alarm(120); /* a call that waits for what it interrupts never ends */
    prof_bytes = prof_bytes_needed(&config);
    cpu_bytes = prof_cpu_bytes_needed(&cpu_config);
    trace_bytes = prof_trace_bytes_needed(&trace_config);
    prof_block = aligned_alloc(PROF_BLOCK_ALIGN, prof_bytes);
    cpu_block = aligned_alloc(PROF_BLOCK_ALIGN, cpu_bytes);
    trace_block = aligned_alloc(PROF_BLOCK_ALIGN, trace_bytes);
    return prof_block == NULL || cpu_block == NULL || trace_block == NULL;
}

static int
give_memory(void **state)
{
    (void)state;
    free(prof_block);
    free(cpu_block);
    free(trace_block);
    return 0;
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_handler_may_record_at_any_instruction),
        cmocka_unit_test(
            a_handler_may_record_after_each_instruction_of_one_call),
    };

    return cmocka_run_group_tests(tests, take_memory, give_memory);
}
