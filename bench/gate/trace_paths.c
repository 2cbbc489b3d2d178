/*
 * trace_paths.c -- hot paths other than those of buckets: hashes, ticks of the
 * CPU profile, trace events, the profile file. See paths.c.
 */
#include <stdio.h>

#include "bench/bench.h"
#include "prof/core/hash.h"
#include "bench/gate/paths.h"
#include "prof/cpu.h"
#include "prof/pprof.h"
#include "prof/trace.h"

enum { TICKS = 500, ROOM_BYTES = 4 << 20, BUFFERS = 64, PLACES = 997 };

static struct {
    struct prof_cpu *cpu;
    struct prof_trace *trace;
    struct prof_output output;
    struct prof_memory memory;
    struct prof_heap_record records[STACKS];
    const uintptr_t *frames;
    uint32_t depth;
    enum prof_trace_event event;
    uint64_t ticks;
    bool reported;
} bed;

/* ---- paths ---- */

static void
hash(void)
{
    for (uint32_t i = 0; i < STACKS; i++)
        bench_use(prof_hash_stack(PROF_HASH_MULTILINEAR,
                                  gate_stack(bed.frames, i), bed.depth, 64));
}

static void
tick(void)
{
    for (uint32_t i = 0; i < TICKS; i++)
        prof_cpu_tick(bed.cpu, gate_stack(bed.frames, i), DEPTH, NULL);
}

static void
drain(void)
{
    prof_cpu_drain(bed.cpu);
}

static void
emit(void)
{
    for (uint32_t i = 0; i < STACKS; i++) {
        const uint64_t argument = i + (1 << 20);

        prof_trace_emit(bed.trace, 0, bed.event, &argument,
                        gate_stack(bed.frames, i), bed.depth);
    }
}

static void
encode(void)
{
    bed.memory.bytes_count = 0;
    must(prof_pprof_heap(&bed.output, bed.records, STACKS, 512 * 1024,
                         PROF_VIEW_INUSE));
}

/* ---- beds, rows ---- */

static void
count_hashes(void)
{
    static const uint32_t depths[] = {4, 16, 32, 128};
    char name[32];

    for (size_t i = 0; i < sizeof depths / sizeof *depths; i++) {
        bed.depth = depths[i];
        snprintf(name, sizeof name, "hash-%u", bed.depth);
        count(name, hash);
    }
}

static void
count_ticks(void)
{
    const struct prof_cpu_config config = {.ticks_max = 2 * TICKS};
    const size_t bytes = prof_cpu_bytes_needed(&config);

    must(prof_cpu_init(&bed.cpu, &config, bench_pages(bytes), bytes));
    must(prof_cpu_start(bed.cpu, PROF_CPU_HZ));
    count("cpu-tick", tick);
    count("cpu-drain", drain);
}

static uint64_t
next_tick(void *context)
{
    uint64_t *ticks = context;

    return *ticks += 100;
}

static bool
only_task(void *context, struct prof_trace_task *task)
{
    bool *reported = context;

    if (*reported)
        return false;
    *reported = true;
    *task = (struct prof_trace_task){.id = 1};
    return true;
}

/* Events ordered by the processor's counter. Its readings differ from run to
 * run, but with a large divisor the written numbers always have the same
 * length. */
static const struct prof_trace_config by_clock = {
    .procs_max = 1,
    .buffers_max = BUFFERS,
    .order = PROF_TRACE_ORDER_CLOCK,
    .tick_divisor = 1 << 24,
};

static const struct prof_trace_config by_stamps = {
    .procs_max = 1,
    .buffers_max = BUFFERS,
    .clock = {.ticks = next_tick, .context = &bed.ticks},
};

struct event_row {
    const char *name;
    enum prof_trace_event event;
};

static void
count_events(const struct prof_trace_config *config,
             const struct event_row *rows, size_t rows_count)
{
    const struct prof_trace_world world = {
        .thread = 1, .task = 1, .next = only_task, .context = &bed.reported};
    const size_t bytes = prof_trace_bytes_needed(config);

    bed.reported = false;
    must(prof_trace_init(&bed.trace, config, bench_pages(bytes), bytes));
    must(prof_trace_start(bed.trace, &world));
    bed.depth = DEPTH;
    for (size_t i = 0; i < rows_count; i++) {
        bed.event = rows[i].event;
        emit(); /* afterwards every stack has a number */
        count(rows[i].name, emit);
    }
    if (prof_trace_drops(bed.trace).no_buffer != 0)
        exit(1);
}

static void
find(void *context, uintptr_t pc, struct prof_symbol *symbol)
{
    (void)context;
    symbol->function = "function";
    symbol->file = "file.c";
    symbol->line = pc % 1000;
}

static void
count_file(void)
{
    const struct prof_config config = {.buckets_max = STACKS,
                                       .depth_max = DEPTH,
                                       .frames_max = STACKS * DEPTH};
    const size_t bytes = prof_bytes_needed(&config);
    struct prof *prof;
    size_t records;

    must(prof_init(&prof, &config, bench_pages(bytes), bytes));
    for (uint32_t i = 0; i < STACKS; i++) {
        uintptr_t stack[DEPTH]; /* with few different frames, as in programs */

        for (uint32_t frame = 0; frame < DEPTH; frame++)
            stack[frame] = 0x401000 + gate_stack(bed.frames, i)[frame] % PLACES;
        (void)prof_heap_alloc(prof_proc_at(prof, 0), stack, DEPTH, 64);
    }
    must(prof_heap_snapshot(prof, PROF_SELECT_ALL, bed.records, STACKS,
                            &records));
    bed.output.scratch_bytes = prof_pprof_scratch_bytes(STACKS, STACKS * DEPTH);
    bed.output.scratch = bench_pages(bed.output.scratch_bytes);
    bed.output.symbols = (struct prof_symbols){.find = find};
    bed.memory.bytes = bench_pages(ROOM_BYTES);
    bed.memory.bytes_max = ROOM_BYTES;
    bed.output.sink = prof_memory_sink(&bed.memory);
    count("encode", encode);
}

void
gate_trace_paths(const uintptr_t *frames)
{
    bed.frames = frames;
    static const struct event_row stamped[] = {
        {"trace-0", PROF_EV_GO_SYSBLOCK},
        {"trace-1", PROF_EV_HEAP_ALLOC},
        {"trace-0-stack", PROF_EV_GO_SCHED},
        {"trace-1-stack", PROF_EV_GO_UNBLOCK}};
    static const struct event_row clocked[] = {
        {"trace-0-clock", PROF_EV_GO_SYSBLOCK},
        {"trace-1-clock", PROF_EV_HEAP_ALLOC}};

    count_hashes();
    count_ticks();
    count_events(&by_stamps, stamped, sizeof stamped / sizeof *stamped);
    count_events(&by_clock, clocked, sizeof clocked / sizeof *clocked);
    count_file();
}
