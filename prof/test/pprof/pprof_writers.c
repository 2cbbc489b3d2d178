/* pprof_writers.c -- every writer of a profile, with a small profile. */
#include <string.h>

#include "prof/test/pprof/pprof_case.h"
#include "prof/test/pprof/pprof_writers.h"
#include "prof/cpu.h"
#include "prof/text.h"
#include "common/test/unit_test.h"

static const uintptr_t stack[] = {CASE_MALLOC, CASE_WORK, CASE_SERVE,
                                  CASE_MAIN};
static const struct prof_label labels[] = {{"key", "value"}};
static const struct prof_heap_record heap[] = {
    {.allocs = 3, .frees = 1, .size_bytes = 64, .stack = stack, .depth = 4},
    {.allocs = 9, .size_bytes = 16, .stack = stack + 1, .depth = 3},
};
static const struct prof_contention_record waits[] = {
    {.count = 3, .cycles = 100, .stack = stack, .depth = 4},
    {.count = 1, .cycles = 900, .stack = stack + 2, .depth = 2},
};
static const struct prof_count_record counts[] = {
    {.stack = stack, .depth = 4, .labels = labels, .labels_count = 1},
    {.stack = stack + 1, .depth = 3},
};

static enum prof_status
write_heap(const struct prof_output *output)
{
    return prof_pprof_heap(output, heap, 2, 512, PROF_VIEW_ALLOCS);
}

static enum prof_status
write_contention(const struct prof_output *output)
{
    return prof_pprof_contention(output, waits, 2, 1000, 1);
}

static enum prof_status
write_counts(const struct prof_output *output)
{
    return prof_pprof_counts(output, "goroutine", counts, 2);
}

static enum prof_status
write_heap_text(const struct prof_output *output)
{
    static const struct prof_heap_counters counters = {.gcs = 1};

    return prof_text_heap(output, heap, 2, 512, &counters);
}

static enum prof_status
write_mutex_text(const struct prof_output *output)
{
    return prof_text_contention(output, PROF_MUTEX, waits, 2, 1000, 1);
}

static enum prof_status
write_counts_text(const struct prof_output *output)
{
    return prof_text_counts(output, "goroutine", counts, 2);
}

static size_t
print_dump(void *context, char *buffer, size_t room)
{
    static const char text[] = "task 1 [running]:\nmain()\n";
    const size_t bytes = room < sizeof text - 1 ? room : sizeof text - 1;

    (void)context;
    memcpy(buffer, text, bytes);
    return bytes;
}

static enum prof_status
write_dump(const struct prof_output *output)
{
    return prof_text_dump(output, &(struct prof_dump){.print = print_dump});
}

static const struct prof_task_stack task = {.id = 1,
                                            .state = "running",
                                            .stack = stack,
                                            .depth = 4,
                                            .created_by = CASE_MAIN};

static enum prof_status
write_debug_line(const struct prof_output *output)
{
    return prof_text_trace_alloc(output, 0xc000, 32, "T", &task);
}

static enum prof_status
write_block_text(const struct prof_output *output)
{
    return prof_text_contention(output, PROF_BLOCK, waits, 2, 1000, 1);
}

static enum prof_status
write_debug_free(const struct prof_output *output)
{
    return prof_text_trace_free(output, 0xc000, 32, &task);
}

static enum prof_status
write_debug_gc(const struct prof_output *output)
{
    return prof_text_trace_gc(output, &task, 1);
}

/* returns: a small profile, the same each time */
static struct prof_cpu *
cpu_profile(void)
{
    static const uint64_t words[] = {3, 0, 100, 5, 0, 7, 0x2041, 0x2241};
    static _Alignas(64) unsigned char block[1 << 18];
    const struct prof_cpu_config config = {
        .ticks_max = 8, .stacks_max = 8, .depth_max = 8};
    struct prof_cpu *cpu;

    assert_int_equal(prof_cpu_init(&cpu, &config, block, sizeof block),
                     PROF_OK);
    assert_int_equal(prof_cpu_load(cpu, words, 8, NULL, 0), PROF_OK);
    return cpu;
}

static enum prof_status
write_cpu(const struct prof_output *output)
{
    return prof_cpu_write(cpu_profile(), output, 5000);
}

static enum prof_status
write_cpu_text(const struct prof_output *output)
{
    return prof_cpu_write_text(cpu_profile(), output);
}

const struct pprof_writer pprof_writers[] = {
    {"heap", write_heap},
    {"contention", write_contention},
    {"counts", write_counts},
    {"cpu", write_cpu},
    {"cpu text", write_cpu_text},
    {"heap text", write_heap_text},
    {"mutex text", write_mutex_text},
    {"counts text", write_counts_text},
    {"dump", write_dump},
    {"block text", write_block_text},
    {"debug line", write_debug_line},
    {"debug line of a free", write_debug_free},
    {"debug line of a collection", write_debug_gc},
};
const size_t pprof_writers_count = sizeof pprof_writers / sizeof *pprof_writers;
