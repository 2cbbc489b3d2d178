/*
 * subject_wait_bias.c -- W3: are a subject's estimates of waits right on
 * average? Like subject_bias.c, but a cell is a rate and one or two lengths of
 * waits, which take turns, each at a site of its own.
 */
#include <stdio.h>
#include <string.h>

#include "common/rng.h"
#include "props/sampling/subject_apart.h"

enum { LENGTHS_MAX = 2, RUNS = 2048, WAITS = 1024 };

struct cell {
    enum subject_waits which;
    uint64_t rate;
    uint64_t ticks[LENGTHS_MAX]; /* 0 ends them */
};

/* Simple cells come first, as the first that fails is reported. */
static const struct cell cells[] = {
    {SUBJECT_BLOCK_WAITS, 100, {100}},
    {SUBJECT_BLOCK_WAITS, 100, {10}},
    {SUBJECT_BLOCK_WAITS, 100, {99}},
    {SUBJECT_BLOCK_WAITS, 100, {1000}},
    {SUBJECT_BLOCK_WAITS, 100, {50, 100}},
    {SUBJECT_BLOCK_WAITS, 100, {2, 1000}},
    {SUBJECT_BLOCK_WAITS, 10000, {1000, 30000}},
    {SUBJECT_MUTEX_WAITS, 2, {10}},
    {SUBJECT_MUTEX_WAITS, 4, {10, 10}},
    {SUBJECT_MUTEX_WAITS, 5, {1, 1000}},
    {SUBJECT_MUTEX_WAITS, 64, {100}},
};

struct bias {
    const struct cell *cell;
    struct sim_rng rng;
    bool probes;                  /* more waits tell runs apart */
    double found[LENGTHS_MAX][2]; /* counts, ticks */
    struct subject_figure figures[LENGTHS_MAX][2];
};

/* The stacks of the waits, and those of the releases. */
static const uintptr_t waited[LENGTHS_MAX] = {0x1000, 0x2000};
static const uintptr_t released[LENGTHS_MAX] = {0x3000, 0x4000};

static uint64_t
give_random(void *context)
{
    return sim_rng_next(&((struct bias *)context)->rng);
}

static uint64_t
give_now_ns(void *context)
{
    (void)context;
    return 0;
}

static void
add_record(void *context, const struct subject_wait_record *record)
{
    struct bias *bias = context;
    const uintptr_t *sites =
        bias->cell->which == SUBJECT_BLOCK_WAITS ? waited : released;

    for (int i = 0; i < LENGTHS_MAX; i++) {
        if (record->site.depth != 1 || record->site.frames[0] != sites[i])
            continue;
        bias->found[i][0] += record->count;
        bias->found[i][1] += record->ticks;
    }
}

static void
wait_once(struct bias *bias, const struct subject *subject, void *state,
          uint32_t index)
{
    const int at = bias->cell->ticks[1] == 0 ? 0 : (int)(index % LENGTHS_MAX);
    const struct subject_wait wait = {
        .waited = {&waited[at], 1},
        .released = {&released[at], 1},
        .ticks = bias->cell->ticks[at],
    };

    subject->wait(state, &wait);
}

/* Wait so often that about eight are sampled or more, for lengths that
 * differ. */
static void
wait_for_probes(const struct bias *bias, const struct subject *subject,
                void *state)
{
    const bool blocks = bias->cell->which == SUBJECT_BLOCK_WAITS;
    const uint64_t rate = bias->cell->rate;

    for (uint64_t i = 0; i < (blocks ? 32 : 16 * rate); i++) {
        const struct subject_wait wait = {
            .waited = {&waited[i % LENGTHS_MAX], 1},
            .released = {&released[i % LENGTHS_MAX], 1},
            .ticks = blocks ? rate / 4 + i * i * 37 % (rate / 2)
                            : i * i * 37 % 1009 + 1,
        };

        subject->wait(state, &wait);
    }
}

static bool
run_once(struct bias *bias, const struct subject *subject, void *memory)
{
    const struct subject_config config = {
        .rate_bytes = 1,
        .memory = memory,
        .context = bias,
        .random = give_random,
        .now_ns = give_now_ns,
    };
    void *state;

    if (memory != NULL)
        memset(memory, 0, subject->memory_bytes);
    state = subject->begin(&config);
    if (state == NULL)
        return false;
    if (subject->thread_start != NULL)
        subject->thread_start(state, 0);
    subject->set_wait_rate(state, bias->cell->which, bias->cell->rate);
    for (uint32_t i = 0; i < WAITS; i++)
        wait_once(bias, subject, state, i);
    if (bias->probes)
        wait_for_probes(bias, subject, state);
    memset(bias->found, 0, sizeof bias->found);
    subject->read_waits(state, bias->cell->which, add_record, bias);
    for (int i = 0; i < LENGTHS_MAX; i++) {
        for (int k = 0; k < 2; k++)
            props_subject_add(&bias->figures[i][k], bias->found[i][k]);
    }
    if (subject->end != NULL)
        subject->end(state);
    return true;
}

static void
report(const struct cell *cell, int at, int what, double mean, double error,
       struct subject_result *result)
{
    char lengths[64];
    char shown[64];

    props_subject_mean(shown, sizeof shown, mean, error);
    if (cell->ticks[1] == 0)
        snprintf(lengths, sizeof lengths, "%d ticks", (int)cell->ticks[0]);
    else
        snprintf(lengths, sizeof lengths, "%d and %d ticks in turn",
                 (int)cell->ticks[0], (int)cell->ticks[1]);
    snprintf(result->text, sizeof result->text,
             "%s waits, rate %d, %d of %s: %s of those of %d are estimated at "
             "%s",
             cell->which == SUBJECT_BLOCK_WAITS ? "block" : "mutex",
             (int)cell->rate, (int)WAITS, lengths,
             what == 0 ? "counts" : "ticks", (int)cell->ticks[at], shown);
}

static void
weigh(const struct bias *bias, struct subject_result *result)
{
    double mean;
    double error;

    for (int i = 0; i < LENGTHS_MAX; i++) {
        for (int k = 0; k < 2; k++) {
            if (!result->failed &&
                !props_subject_weigh(&bias->figures[i][k], RUNS, result, &mean,
                                     &error))
                report(bias->cell, i, k, mean, error, result);
        }
    }
}

/* As in subject_bias.c. */
static bool
run_all(struct bias *bias, const struct subject *subject, void *memory,
        uint64_t *prints)
{
    bias->rng.state = bias->cell->rate + bias->cell->ticks[0];
    bias->probes = prints != NULL;
    for (uint32_t i = 0; i < RUNS; i++) {
        if (!run_once(bias, subject, memory))
            return false;
        if (prints != NULL)
            prints[i] =
                props_subject_print(&bias->found[0][0], 2 * LENGTHS_MAX);
    }
    return true;
}

static bool
try_cell(const struct subject *subject, const struct cell *cell, void *memory,
         struct subject_result *result)
{
    static uint64_t prints[RUNS];
    const int lengths = cell->ticks[1] == 0 ? 1 : LENGTHS_MAX;
    struct bias bias = {.cell = cell};

    for (int i = 0; i < lengths; i++) {
        bias.figures[i][0].truth = (double)WAITS / lengths;
        bias.figures[i][1].truth =
            (double)WAITS / lengths * (double)cell->ticks[i];
    }
    if (!run_all(&bias, subject, memory, NULL))
        return false;
    weigh(&bias, result);
    if (result->failed && run_all(&bias, subject, memory, prints))
        props_subject_withdraw(prints, RUNS, result);
    result->cells++;
    return true;
}

static void
try_all(const struct subject *subject, void *memory, const void *context,
        struct subject_result *result)
{
    (void)context;
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        const uint32_t needs = cells[i].which == SUBJECT_BLOCK_WAITS
                                   ? SUBJECT_BLOCK
                                   : SUBJECT_MUTEX;

        if ((subject->can & needs) == 0 || result->failed)
            continue;
        if (!try_cell(subject, &cells[i], memory, result))
            return;
    }
    result->done = true;
}

void
props_check_subject_waits(const struct props_question *question,
                          struct props_finding *finding)
{
    props_subject_apart(question->subject, try_all, NULL, RUNS, finding);
}
