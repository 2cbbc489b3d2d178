/*
 * cores.c -- the machine of cores.h, as a discrete-event simulation.
 *
 *      processor   ---work---|asks|..waits..|hand-over|---work---|asks| ...
 *      line                       |  others |  to it  |
 *
 * Each event in the queue is one processor's request for a line. Requests
 * arrive in order of time, and a line serves them in that order: it is busy
 * until `free_ps`, then goes to the next. A processor has one addition under
 * way at a time, as with a locked instruction.
 *
 * Invariants
 *   I1  a line belongs to the last processor that requested it.
 *   I2  a processor is in the queue, due when its work ends.
 *
 * The tests compare two cases with theory. First, one line, n processors, and
 * fixed times w of work and h of a hand-over: a processor's round takes w + h
 * if the line is free, n h if all queue, so the machine makes min(n / (w + h),
 * 1 / h) additions a second. Second, exponential times: the machine repairman
 * model.
 */
#include "cores.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "queue.h"
#include "rng.h"

enum { LINE_COUNTERS = 8, NOBODY = SIM_CORES_MAX };

struct line {
    uint64_t free_ps;
    uint32_t with; /* I1 */
};

struct machine {
    const struct sim_cores_config *config;
    struct line *lines;
    struct sim_queue queue; /* I2 */
    uint64_t words[SIM_QUEUE_WORDS(SIM_CORES_MAX)];
    struct sim_choices choices;
    struct sim_choice list[1];
    struct sim_rng rng;
};

/* Draw a time around a mean. With SIM_CORES_UNIFORM only work varies; a
 * hand-over takes its mean. */
static uint64_t
draw_ps(struct machine *m, uint64_t mean_ps, bool work)
{
    const double two_32 = 4294967296.0;
    const uint64_t number = sim_rng_next(&m->rng) >> 32;

    if (m->config->spread == SIM_CORES_EXPONENTIAL)
        return (uint64_t)(-log(((double)number + 0.5) / two_32) *
                          (double)mean_ps);
    if (m->config->spread == SIM_CORES_UNIFORM && work)
        return mean_ps / 2 + (mean_ps * number >> 32);
    return mean_ps;
}

static uint32_t
draw_row(struct machine *m)
{
    const uint32_t number = (uint32_t)(sim_rng_next(&m->rng) >> 32);
    uint32_t low = 0;
    uint32_t high = m->config->rows - 1;

    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;

        if (m->config->row_ends[middle] <= number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static uint32_t
lines_of_column(const struct sim_cores_config *config)
{
    return config->rows / LINE_COUNTERS + 1;
}

static struct line *
line_of(struct machine *m, uint32_t core, uint32_t row)
{
    switch (m->config->layout) {
    case SIM_CORES_APART:
        return &m->lines[row];
    case SIM_CORES_OWN:
        return &m->lines[core * lines_of_column(m->config) +
                         row / LINE_COUNTERS];
    case SIM_CORES_SHARED:
    case SIM_CORES_LAYOUTS:
        break;
    }
    return &m->lines[row / LINE_COUNTERS];
}

/* Add to a counter. returns: when the addition ends */
static uint64_t
add(struct machine *m, uint32_t core, uint64_t now_ps, uint64_t *handovers)
{
    struct line *line = line_of(m, core, draw_row(m));
    const uint32_t die = m->config->cores_of_die;
    uint64_t cost_ps;

    if (line->with == core)
        return now_ps;
    cost_ps =
        line->with / die == core / die ? m->config->near_ps : m->config->far_ps;
    if (line->with == NOBODY) /* it comes from memory, in any layout */
        cost_ps = m->config->near_ps;
    if (line->free_ps < now_ps)
        line->free_ps = now_ps;
    line->free_ps += draw_ps(m, cost_ps, false);
    line->with = core;
    (*handovers)++;
    return line->free_ps;
}

static bool
begin(struct machine *m, const struct sim_cores_config *config)
{
    const size_t columns = config->layout == SIM_CORES_OWN ? config->cores : 1;
    const size_t count = config->layout == SIM_CORES_APART
                             ? config->rows
                             : columns * lines_of_column(config);

    assert(config->cores > 0 && config->cores <= SIM_CORES_MAX);
    assert(config->rows > 0 && config->cores_of_die > 0);
    m->config = config;
    m->lines = calloc(count, sizeof *m->lines);
    if (m->lines == NULL)
        return false;
    /* A processor's own column is in its cache from the start. */
    for (size_t i = 0; i < count; i++)
        m->lines[i].with = config->layout == SIM_CORES_OWN
                               ? (uint32_t)(i / lines_of_column(config))
                               : NOBODY;
    m->rng.state = config->seed;
    sim_choices_init(&m->choices, m->list, 1);
    sim_choices_random(&m->choices, config->seed);
    sim_queue_init(&m->queue, m->words, config->cores);
    for (uint32_t i = 0; i < config->cores; i++)
        sim_queue_set(&m->queue, i, draw_ps(m, config->work_ps, true));
    return true;
}

bool
sim_cores_run(struct sim_cores_result *result,
              const struct sim_cores_config *config, uint64_t additions)
{
    const uint64_t warm = additions / 4;
    uint64_t warm_handovers = 0;
    uint64_t handovers = 0;
    uint64_t begun_ps = 0;
    uint64_t now_ps = 0;
    struct machine m;

    if (!begin(&m, config))
        return false;
    for (uint64_t i = 0; i < additions; i++) {
        const uint32_t core = sim_queue_first(&m.queue, &m.choices, 0);

        now_ps = sim_queue_first_ticks(&m.queue);
        if (i == warm) {
            begun_ps = now_ps;
            warm_handovers = handovers;
        }
        sim_queue_set(&m.queue, core,
                      add(&m, core, now_ps, &handovers) +
                          draw_ps(&m, config->work_ps, true));
    }
    free(m.lines);
    result->additions = additions - warm;
    result->handovers = handovers - warm_handovers;
    result->span_ps = now_ps - begun_ps;
    return true;
}
