/* interrupted.c -- see interrupted.h. */
#include "interrupted.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "prof/cpu.h"
#include "prof/prof.h"
#include "prof/trace.h"

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
    bool *told = context;

    *task = (struct prof_trace_task){.id = 1};
    *told = !*told;
    return *told;
}

/* returns: NULL, or what could not be built */
static const char *
build(void)
{
    bool told = false;
    const struct prof_trace_world world = {
        .thread = 1, .task = 1, .next = one_task, .context = &told};

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

const char *
interrupted_begin(void)
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

const struct interrupted_call interrupted_calls[INTERRUPTED_CALLS] = {
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

/* ---- the handler ---- */

/* Two allocations with their frees, two waits and a tick, all on the processor
 * whose call is interrupted. */
void
interrupted_live(void)
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

const char *
interrupted_check(void)
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

int
interrupted_open(void **state)
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

int
interrupted_close(void **state)
{
    (void)state;
    free(prof_block);
    free(cpu_block);
    free(trace_block);
    return 0;
}
