/*
 * own_counts.c -- a test of test_merge.c: the library as a subject, compared
 * with an instance that is called directly, in random programs.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "merge_case.h"
#include "prof/fork.h"
#include "prof/prof.h"
#include "subject_file.h"
#include "unit_test.h"

enum {
    RECORDS = 1024,
    DEPTH = 32,
    BLOCKS = 300,
    STEPS = 600,
    PROGRAMS = 12,
    LIVE_MAX = 8192 /* blocks */
};

static const struct prof_config config = {.buckets_max = RECORDS,
                                          .depth_max = DEPTH,
                                          .procs_max = SUBJECT_THREADS_MAX};

static const struct subject *own;
static void *own_memory;
static void *state; /* of the subject */
static struct prof *prof;
static void *prof_memory;
static uint64_t seed;

static struct block {
    struct subject_block block;
    prof_bucket bucket;
    bool is_live;
} blocks[BLOCKS];

static uint64_t
draw_seed(void *context)
{
    (void)context;
    return seed;
}

static void *
zeroed(size_t bytes)
{
    const size_t whole = (bytes + 63) / 64 * 64;
    void *memory = aligned_alloc(64, whole);

    assert_non_null(memory);
    return memset(memory, 0, whole);
}

static void
begin(uint64_t rate)
{
    const struct subject_config given = {
        .rate_bytes = rate, .random = draw_seed, .memory = NULL};
    struct subject_config with_memory = given;
    struct prof_config mine = config;

    own = cli_subject_own();
    assert_non_null(own);
    own_memory = zeroed(own->memory_bytes);
    with_memory.memory = own_memory;
    state = own->begin(&with_memory);
    assert_non_null(state);
    mine.seed = seed;
    prof_memory = zeroed(prof_bytes_needed(&mine));
    assert_int_equal(
        prof_init(&prof, &mine, prof_memory, prof_bytes_needed(&mine)),
        PROF_OK);
    prof_heap_rate_set(prof, (int64_t)rate);
    memset(blocks, 0, sizeof blocks);
}

static void
end(void)
{
    free(own_memory);
    free(prof_memory);
}

/* ---- What is shown ---- */

/* An estimate of the objects and bytes of so many samples. */
static void
expect_count(const struct subject_count *found, uint64_t samples,
             const struct prof_heap_record *record)
{
    const long double size = (long double)record->size_bytes;
    const long double each =
        record->rate_bytes > 1
            ? 1 / (1 - expl(-size / (long double)record->rate_bytes))
            : 1;
    const long double objects = each * (long double)samples;

    assert_int_equal(found->samples, samples);
    if (samples == 0)
        assert_true(found->objects == 0 && found->bytes == 0);
    if (samples == 0 || isinf(each))
        return;
    assert_true(fabsl(found->objects - objects) <= objects * 1e-9L);
    assert_true(fabsl(found->bytes - objects * size) <= objects * size * 1e-9L);
}

struct reading {
    struct prof_heap_record heap[RECORDS];
    struct prof_contention_record waits[RECORDS];
    size_t count;
    size_t seen;
};
static struct reading reading;

static void
visit(void *context, const struct subject_record *record)
{
    struct reading *r = context;
    const struct prof_heap_record *wanted = &r->heap[r->seen];

    assert_true(r->seen++ < r->count);
    assert_int_equal(record->site.depth, wanted->depth);
    assert_memory_equal(record->site.frames, wanted->stack,
                        wanted->depth * sizeof *wanted->stack);
    expect_count(&record->allocated, wanted->allocs, wanted);
    expect_count(&record->freed, wanted->frees, wanted);
    expect_count(&record->live, wanted->allocs - wanted->frees, wanted);
}

static void
visit_wait(void *context, const struct subject_wait_record *record)
{
    struct reading *r = context;
    const struct prof_contention_record *wanted = &r->waits[r->seen];

    assert_true(r->seen++ < r->count);
    assert_int_equal(record->site.depth, wanted->depth);
    assert_memory_equal(record->site.frames, wanted->stack,
                        wanted->depth * sizeof *wanted->stack);
    assert_true(record->count == (double)wanted->count);
    assert_true(record->ticks == (double)wanted->cycles);
}

static void
compare(void)
{
    reading.seen = 0;
    assert_int_equal(prof_heap_snapshot(prof, PROF_SELECT_ALL, reading.heap,
                                        RECORDS, &reading.count),
                     PROF_OK);
    own->snapshot(state, visit, &reading);
    assert_int_equal(reading.seen, reading.count);
    for (int i = 0; i < 2; i++) {
        reading.seen = 0;
        assert_int_equal(
            prof_contention_snapshot(prof, i == 0 ? PROF_BLOCK : PROF_MUTEX,
                                     reading.waits, RECORDS, &reading.count),
            PROF_OK);
        own->read_waits(state,
                        i == 0 ? SUBJECT_BLOCK_WAITS : SUBJECT_MUTEX_WAITS,
                        visit_wait, &reading);
        assert_int_equal(reading.seen, reading.count);
    }
}

/* ---- Steps ---- */

static struct subject_site
draw_site(uintptr_t *frames)
{
    const uint32_t depth = merge_below(20) > 0 ? 1 + merge_below(3) : DEPTH + 3;

    for (uint32_t i = 0; i < depth; i++)
        frames[i] = 0x1000 + 16 * merge_below(3);
    return (struct subject_site){frames, depth};
}

/* Allocate directly what the subject is told of. */
static void
allocate(struct block *b, uint32_t thread, const struct subject_site *site)
{
    struct prof_proc *proc = prof_proc_at(prof, thread);

    b->bucket = PROF_BUCKET_NONE;
    if (prof_heap_sample(proc, b->block.size_bytes))
        b->bucket = prof_heap_alloc(proc, site->frames, site->depth,
                                    b->block.size_bytes);
    b->is_live = true;
}

/* Blocks that are dead leave their addresses to others, and some allocations
 * fail. */
static void
step_block(uint32_t thread)
{
    static const uint64_t sizes[] = {0, 1, 16, 500, 4096};
    uintptr_t frames[DEPTH + 8];
    const struct subject_site site = draw_site(frames);
    struct block *b = &blocks[merge_below(BLOCKS)];
    const uint64_t address =
        0x7f0000000000 + 16 * (uint64_t)(b - blocks) * (1 + seed % 5);
    const struct subject_block to = {.address =
                                         merge_below(10) > 0 ? address : 0,
                                     .size_bytes = sizes[merge_below(5)]};

    if (!b->is_live) {
        own->alloc(state, thread, &site, &to);
        b->block = to;
        if (to.address != 0)
            allocate(b, thread, &site);
    } else if (merge_below(3) == 0) {
        const bool swept = merge_below(2) > 0;

        own->free(state, thread, &b->block, swept);
        if (swept)
            prof_heap_free(prof_proc_at(prof, thread), b->bucket);
        else
            prof_heap_free_explicit(prof_proc_at(prof, thread), b->bucket);
        b->is_live = false;
    } else {
        own->realloc(state, thread, &site, &b->block, &to);
        if (to.address == 0)
            return;
        prof_heap_free_explicit(prof_proc_at(prof, thread), b->bucket);
        b->block = to;
        allocate(b, thread, &site);
    }
}

static void
step_wait(void)
{
    uintptr_t waited[DEPTH + 8];
    uintptr_t released[DEPTH + 8];
    const struct subject_wait wait = {.waited = draw_site(waited),
                                      .released = draw_site(released),
                                      .waiter = merge_below(8),
                                      .holder = merge_below(8),
                                      .ticks = 1 + merge_below(5000)};

    own->wait(state, &wait);
    prof_contention_event(prof_proc_at(prof, wait.waiter), PROF_BLOCK,
                          wait.waited.frames, wait.waited.depth,
                          (int64_t)wait.ticks);
    prof_contention_event(prof_proc_at(prof, wait.holder), PROF_MUTEX,
                          wait.released.frames, wait.released.depth,
                          (int64_t)wait.ticks);
}

static void
step_rate(void)
{
    static const uint64_t rates[] = {0, 1, 2, 1000, 100000};
    const uint64_t rate = rates[merge_below(5)];

    switch (merge_below(3)) {
    case 0:
        own->set_rate(state, rate);
        prof_heap_rate_set(prof, (int64_t)rate);
        return;
    case 1:
        own->set_wait_rate(state, SUBJECT_BLOCK_WAITS, rate);
        prof_block_rate_set(prof, (int64_t)rate);
        return;
    default:
        own->set_wait_rate(state, SUBJECT_MUTEX_WAITS, rate);
        (void)prof_mutex_fraction_set(prof, (int64_t)rate);
        return;
    }
}

static void
step(void)
{
    switch (merge_below(40)) {
    case 0:
        step_rate();
        return;
    case 1:
    case 2:
        own->cycle(state);
        assert_int_equal(prof_heap_next_cycle(prof), PROF_OK);
        own->flush(state);
        assert_int_equal(prof_heap_flush(prof), PROF_OK);
        return;
    case 3:
        own->fork(state, 0, true);
        prof_after_fork_child(prof);
        return;
    case 4:
        own->fork(state, 0, false);
        return;
    case 5:
        compare();
        return;
    default:
        if (merge_below(4) == 0)
            step_wait();
        else
            step_block(merge_below(8));
        return;
    }
}

/* ---- Limits ---- */

/* More sites than there are buckets, and as many blocks as have places. */
static void
expect_full(void)
{
    const pid_t child = fork();
    int status = 0;

    assert_true(child >= 0);
    if (child == 0) {
        uintptr_t frame;
        const struct subject_site site = {&frame, 1};
        struct subject_block block = {.address = 0, .size_bytes = 8};

        for (uint64_t i = 1; i <= LIVE_MAX + 1; i++) {
            if (i == LIVE_MAX + 1) {
                compare();
                if (write(STDOUT_FILENO, "full\n", 5) != 5)
                    _exit(9);
            }
            frame = 0x1000 + 16 * (i % (RECORDS + 90));
            block.address = i * 64;
            if (prof_heap_sample(prof_proc_at(prof, 0), 8))
                (void)prof_heap_alloc(prof_proc_at(prof, 0), &frame, 1, 8);
            own->alloc(state, 0, &site, &block);
        }
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
}

static enum cli_exit
fill(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    seed = 5;
    begin(1);
    expect_full();
    return CLI_OK;
}

void
merge_own_counts(void)
{
    char *none[] = {NULL};
    struct captured said;

    for (seed = 1; seed <= PROGRAMS; seed++) {
        static const uint64_t rates[] = {1, 1000, 0};

        merge_seed(seed);
        begin(rates[seed % 3]);
        for (int i = 0; i < STEPS; i++)
            step();
        compare();
        end();
    }
    assert_true(captured_run(&said, fill, none, -1, 60));
    assert_string_equal(said.text, "full\nown: more than 8192 blocks live\n");
    captured_free(&said);
}
