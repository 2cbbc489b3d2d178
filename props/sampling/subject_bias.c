/*
 * subject_bias.c -- U1 and U2: are a subject's estimates right on average?
 *
 * A cell is a rate and a few sizes, each with a site of its own. Each run of a
 * cell uses a new instance; only the random numbers differ from run to run. For
 * each size, the mean estimate over all runs, divided by the truth, must be 1
 * to within 7.5 standard errors (subject_apart.h).
 *
 * U2 tries a thread that allocates once, or ten times, and ends. The first
 * random numbers of the runs are spread evenly over the range of a draw: each
 * is drawn from a part of its own. So for rule sets that draw each gap the runs
 * enumerate the first gaps instead of drawing them, and the same bound is wider
 * than necessary. The low bits are as random as any, for subjects that seed a
 * generator with them.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "props/sampling/checker.h"
#include "common/rng.h"
#include "subjects/subject.h"
#include "props/sampling/subject_apart.h"
#include "props/judge/subject_model.h"

enum {
    SIZES_MAX = 3,
    LONG_RUNS = 2048,
    FIRST_RUNS = 16384,
    PROBES = 33,
};

struct cell {
    uint64_t rate_bytes;
    uint64_t sizes[SIZES_MAX]; /* 0 ends them */
    uint32_t before;           /* allocations that are not measured */
    uint32_t count;            /* those that are */
    bool one_site;
    bool ends; /* the thread ends before its profile is read */
};

/* Simple cells come first, as the first that fails is reported. */
static const struct cell long_cells[] = {
    {512, {512}, 64, 128, false, false},
    {512, {16}, 256, 2048, false, false},
    {512, {1536}, 64, 96, false, false},
    {512, {513}, 64, 128, false, false},
    {512, {256, 512}, 64, 256, false, false},
    {512, {64, 512}, 64, 384, false, false},
    {512, {16, 512}, 64, 512, false, false},
    {512, {16, 576}, 64, 512, false, false},
    {512, {64, 512}, 64, 384, true, false},
    {65536, {65536}, 64, 128, false, false},
    {65536, {1024, 32768}, 64, 256, false, false},
};

static const struct cell first_cells[] = {
    {512, {512}, 0, 1, false, true},      {512, {1536}, 0, 1, false, true},
    {512, {256}, 0, 1, false, true},      {512, {64}, 0, 1, false, true},
    {512, {64}, 0, 10, false, true},      {65536, {65536}, 0, 1, false, true},
    {512, {64, 512}, 0, 10, false, true},
};

struct bias {
    const struct subject *subject;
    const struct cell *cell;
    struct sim_rng rng;
    uint64_t first; /* if `draws` is 0 and `spread` */
    bool spread;
    uint32_t draws;
    bool probes;                /* more allocations tell runs apart */
    double found[SIZES_MAX][2]; /* objects and bytes that a snapshot shows */
    struct subject_figure figures[SIZES_MAX][2];
};

static const uintptr_t frames[SIZES_MAX] = {0x1000, 0x2000, 0x3000};

/* ---- A run ---- */

static uint64_t
give_random(void *context)
{
    struct bias *bias = context;

    if (bias->draws++ == 0 && bias->spread)
        return bias->first;
    return sim_rng_next(&bias->rng);
}

static uint64_t
give_now_ns(void *context)
{
    (void)context;
    return 0;
}

static void
add_record(void *context, const struct subject_record *record)
{
    struct bias *bias = context;
    const struct subject_count *count =
        (bias->subject->can & SUBJECT_ALLOCATED) != 0 ? &record->allocated
                                                      : &record->live;

    for (int i = 0; i < SIZES_MAX; i++) {
        if (record->site.depth == 1 && record->site.frames[0] == frames[i]) {
            bias->found[i][0] += count->objects;
            bias->found[i][1] += count->bytes;
        }
    }
}

/* Read the whole profile; if the subject has a collector, after three
 * collections. */
static void
read_all(struct bias *bias, void *state)
{
    const struct subject *subject = bias->subject;

    for (int i = 0; i < 3 && subject->cycle != NULL; i++) {
        subject->cycle(state);
        if (subject->flush != NULL)
            subject->flush(state);
    }
    memset(bias->found, 0, sizeof bias->found);
    subject->snapshot(state, add_record, bias);
}

static void
allocate(struct bias *bias, void *state, uint32_t index, bool is_reported)
{
    const struct cell *cell = bias->cell;
    const uint32_t sizes = cell->sizes[1] == 0   ? 1
                           : cell->sizes[2] == 0 ? 2
                                                 : 3;
    const uint32_t which = index % sizes;
    const uint32_t at = cell->one_site ? 0 : which;
    const struct subject_site site = {&frames[at], 1};
    const struct subject_block block = {
        .address = ((uint64_t)index + 1) << 21,
        .size_bytes = cell->sizes[which],
    };

    bias->subject->alloc(state, 0, &site, &block);
    if (!is_reported)
        return;
    bias->figures[at][0].truth += 1;
    bias->figures[at][1].truth +=
        (double)subject_counted_bytes(bias->subject, cell->sizes[which], 0);
}

/* Allocate about as much as a sample stands for, in sizes that differ. */
static void
allocate_probes(struct bias *bias, void *state, uint32_t index)
{
    const uint64_t rate_bytes = bias->cell->rate_bytes;

    for (uint32_t i = 0; i < PROBES; i++) {
        const struct subject_site site = {&frames[i % SIZES_MAX], 1};
        const struct subject_block block = {
            .address = ((uint64_t)index + i + 1) << 21,
            .size_bytes = rate_bytes / 4 + i * i * 37 % (rate_bytes / 2),
        };

        bias->subject->alloc(state, 0, &site, &block);
    }
}

/* Make one run. in: is_first, the first one, which also counts the truth */
static bool
run_once(struct bias *bias, void *memory, bool is_first)
{
    const struct subject *subject = bias->subject;
    const struct cell *cell = bias->cell;
    const struct subject_config config = {
        .rate_bytes = cell->rate_bytes,
        .memory = memory,
        .context = bias,
        .random = give_random,
        .now_ns = give_now_ns,
    };
    double before[SIZES_MAX][2];
    void *state;

    if (memory != NULL)
        memset(memory, 0, subject->memory_bytes);
    bias->draws = 0;
    state = subject->begin(&config);
    if (state == NULL)
        return false;
    if (subject->thread_start != NULL)
        subject->thread_start(state, 0);
    for (uint32_t i = 0; i < cell->before; i++)
        allocate(bias, state, i, false);
    read_all(bias, state);
    memcpy(before, bias->found, sizeof before);
    for (uint32_t i = 0; i < cell->count; i++)
        allocate(bias, state, cell->before + i, is_first);
    if (bias->probes)
        allocate_probes(bias, state, cell->before + cell->count);
    if (cell->ends && subject->thread_exit != NULL)
        subject->thread_exit(state, 0);
    read_all(bias, state);
    for (int i = 0; i < SIZES_MAX; i++) {
        for (int k = 0; k < 2; k++) {
            const double x = bias->found[i][k] - before[i][k];

            props_subject_add(&bias->figures[i][k], x);
        }
    }
    if (subject->end != NULL)
        subject->end(state);
    return true;
}

/* ---- A cell ---- */

static void
report(const struct bias *bias, int at, int what, double mean, double error,
       struct subject_result *result)
{
    const struct cell *cell = bias->cell;
    char sizes[64];
    char shown[64];

    props_subject_mean(shown, sizeof shown, mean, error);
    if (cell->sizes[1] == 0)
        snprintf(sizes, sizeof sizes, "size %d", (int)cell->sizes[0]);
    else
        snprintf(sizes, sizeof sizes, "sizes %d and %d in turn%s",
                 (int)cell->sizes[0], (int)cell->sizes[1],
                 cell->one_site ? " at one site" : "");
    snprintf(result->text, sizeof result->text,
             "rate %d, %s, %d allocations of a thread%s: %s of %s%d are "
             "estimated at %s",
             (int)cell->rate_bytes, sizes, (int)cell->count,
             cell->before > 0 ? " after others" : "",
             what == 0 ? "objects" : "bytes", cell->one_site ? "site " : "",
             cell->one_site ? 1 : (int)cell->sizes[at], shown);
}

/* Compare the figures of a cell with the truth. */
static void
weigh(const struct bias *bias, uint32_t runs, struct subject_result *result)
{
    for (int i = 0; i < SIZES_MAX; i++) {
        for (int k = 0; k < 2; k++) {
            const struct subject_figure *figure = &bias->figures[i][k];
            double mean;
            double error;

            if (!result->failed &&
                !props_subject_weigh(figure, runs, result, &mean, &error))
                report(bias, i, k, mean, error, result);
        }
    }
}

/* Make the runs of a cell. out: prints, unless NULL: a hash of what each run
 * shows */
static bool
run_all(struct bias *bias, uint32_t runs, void *memory, uint64_t *prints)
{
    const uint64_t part = UINT64_MAX / runs + 1;

    bias->rng.state = bias->cell->rate_bytes + bias->cell->sizes[0];
    bias->probes = prints != NULL;
    for (uint32_t i = 0; i < runs; i++) {
        bias->first = i * part + sim_mix64(i) % part;
        if (!run_once(bias, memory, i == 0))
            return false;
        if (prints != NULL)
            prints[i] = props_subject_print(&bias->found[0][0], 2 * SIZES_MAX);
    }
    return true;
}

static bool
try_cell(const struct subject *subject, const struct cell *cell, uint32_t runs,
         void *memory, struct subject_result *result)
{
    static struct bias bias;
    static uint64_t prints[FIRST_RUNS];

    memset(&bias, 0, sizeof bias);
    bias.subject = subject;
    bias.cell = cell;
    bias.spread = cell->ends;
    if (!run_all(&bias, runs, memory, NULL))
        return false;
    weigh(&bias, runs, result);
    if (result->failed && run_all(&bias, runs, memory, prints))
        props_subject_withdraw(prints, runs, result);
    result->cells++;
    return true;
}

/* The cells of a checker. */
struct cells {
    const struct cell *list;
    size_t count;
    uint32_t runs;
};

static void
try_all(const struct subject *subject, void *memory, const void *context,
        struct subject_result *result)
{
    const struct cells *cells = context;

    for (size_t i = 0; i < cells->count && !result->failed; i++) {
        if (!try_cell(subject, &cells->list[i], cells->runs, memory, result))
            return;
    }
    result->done = true;
}

/* ---- The checkers ---- */

void
props_check_subject_long(const struct props_question *question,
                         struct props_finding *finding)
{
    const struct cells cells = {
        long_cells, sizeof long_cells / sizeof *long_cells, LONG_RUNS};

    props_subject_apart(question->subject, try_all, &cells, LONG_RUNS, finding);
}

void
props_check_subject_first(const struct props_question *question,
                          struct props_finding *finding)
{
    const struct cells cells = {
        first_cells, sizeof first_cells / sizeof *first_cells, FIRST_RUNS};

    props_subject_apart(question->subject, try_all, &cells, FIRST_RUNS,
                        finding);
}
