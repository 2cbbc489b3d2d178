/* subject_model.c -- see subject_model.h. */
#include "props/judge/subject_model.h"

#include <stdlib.h>
#include <string.h>

#include "sim/instruments/instrument_subject.h"

/* After so many mean gaps a new rate surely counts. An exact bound would need
 * the distribution of the gaps. */
#define GAPS_LEFT 64

/* ---- Memory ---- */

bool
subject_model_init(struct subject_model *model, uint32_t objects_max)
{
    model->things_count = 0;
    model->things = calloc((size_t)objects_max + 1, sizeof *model->things);
    return model->things != NULL;
}

void
subject_model_release(struct subject_model *model)
{
    free(model->things);
    model->things = NULL;
}

void
subject_model_begin(struct subject_model *model)
{
    model->subject = sim_world_config(model->world)->subject;
    memset(model->things, 0, model->things_count * sizeof *model->things);
    model->things_count = 0;
    memset(model->debt_bytes, 0, sizeof model->debt_bytes);
    model->rate_bytes = 1;
    model->sampled_at_bytes = 0;
    model->ever_bytes = 0;
    model->was_reported = false;
    model->past = 0;
}

/* ---- The model ---- */

uint64_t
subject_counted_bytes(const struct subject *subject, uint64_t size_bytes,
                      uint64_t align_bytes)
{
    return subject->counted_bytes != NULL
               ? subject->counted_bytes(size_bytes, align_bytes)
               : size_bytes;
}

/* Is the current allocation recorded? Its bytes count towards the end of a
 * gap. */
static enum recorded
recorded_now(struct subject_model *model, uint32_t thread, uint64_t bytes)
{
    uint64_t *debt_bytes = &model->debt_bytes[thread];

    if (model->rate_bytes == 0)
        return NEVER;
    if (model->rate_bytes > 1 || bytes == 0)
        return MAYBE;
    if (*debt_bytes == 0)
        return SURELY;
    *debt_bytes -= bytes < *debt_bytes ? bytes : *debt_bytes;
    return MAYBE;
}

static void
learn_rate(struct subject_model *model, uint64_t rate_bytes)
{
    if (model->was_reported)
        model->past |= RATE_CHANGED;
    model->rate_bytes = rate_bytes;
    if (rate_bytes > model->sampled_at_bytes && rate_bytes > 1)
        model->sampled_at_bytes = rate_bytes;
    if (!model->was_reported || (model->subject->can & SUBJECT_AT_ONCE) != 0)
        return;
    for (uint32_t i = 0; i < SIM_PROCS_MAX; i++)
        model->debt_bytes[i] = model->sampled_at_bytes > UINT64_MAX / GAPS_LEFT
                                   ? UINT64_MAX
                                   : GAPS_LEFT * model->sampled_at_bytes;
}

static void
learn_block(struct subject_model *model, const struct truth_entry *fact)
{
    struct subject_thing *thing = &model->things[fact->object];
    const uint64_t bytes = subject_counted_bytes(
        model->subject, fact->size_bytes, (uint64_t)fact->cycles);
    enum recorded recorded = recorded_now(model, fact->proc, bytes);

    if (fact->kind == TRUTH_REALLOC) {
        model->past |= WAS_REALLOCATED;
        if (recorded == NEVER && thing->recorded != NEVER && fact->flag)
            recorded = MAYBE; /* the old record of the same block may stay */
    }
    thing->recorded = recorded;
    thing->lives = true;
    thing->site = sim_subject_site(model->world, fact->stack);
    thing->bytes = bytes;
    model->ever_bytes += (double)bytes;
    if (bytes >= UINT64_C(1) << 40)
        model->past |= WAS_HUGE;
    if (fact->object >= model->things_count)
        model->things_count = fact->object + 1;
}

static void
learn_end(struct subject_model *model, const struct truth_entry *fact)
{
    const bool child = fact->kind == TRUTH_FORK && fact->flag;

    model->past |= fact->kind == TRUTH_FORK ? HAS_FORKED : THREAD_ENDED;
    if (fact->kind == TRUTH_THREAD_EXIT)
        model->debt_bytes[fact->proc] = 0;
    for (uint32_t i = 0; i < SIM_PROCS_MAX && child; i++)
        model->debt_bytes[i] = i == fact->proc ? model->debt_bytes[i] : 0;
}

void
subject_model_learn(struct subject_model *model, const struct truth_entry *fact)
{
    switch ((int)fact->kind) {
    case TRUTH_ALLOC:
    case TRUTH_REALLOC:
        learn_block(model, fact);
        break;
    case TRUTH_REALLOC_FAILED:
        model->past |= WAS_REALLOCATED;
        break;
    case TRUTH_FREE_EXPLICIT:
    case TRUTH_SWEEP:
        model->things[fact->object].lives = false;
        break;
    case TRUTH_THREAD_EXIT:
    case TRUTH_FORK:
        learn_end(model, fact);
        break;
    case TRUTH_BLOCK_RATE:
    case TRUTH_MUTEX_FRACTION:
        model->past |= WAIT_RATE_CHANGED;
        break;
    case TRUTH_HEAP_RATE:
        learn_rate(model, (uint64_t)fact->cycles);
        return;
    default:
        break;
    }
    model->was_reported = true;
}

static void
add_thing(struct subject_sums *sums, const struct subject_thing *thing)
{
    const bool sure = thing->recorded == SURELY;

    if (!thing->lives || thing->recorded == NEVER)
        return;
    ++*(sure ? &sums->must_objects : &sums->may_objects);
    *(sure ? &sums->must_bytes : &sums->may_bytes) += (double)thing->bytes;
}

struct subject_sums
subject_model_sums(const struct subject_model *model, uint32_t site)
{
    struct subject_sums sums = {0};

    for (uint32_t i = 0; i < model->things_count; i++) {
        if (model->things[i].site == site)
            add_thing(&sums, &model->things[i]);
    }
    return sums;
}

/* ---- What is shown ---- */

bool
subject_is_less(const struct subject_model *model, double shown,
                double expected)
{
    return !(shown >= expected - 1e-6 - 1e-12 * model->ever_bytes);
}

bool
subject_is_more(const struct subject_model *model, double shown,
                double expected)
{
    return !(shown <= expected + 1e-6 + 1e-12 * model->ever_bytes);
}

enum subject_fit
subject_model_fit(const struct subject_model *model,
                  const struct subject_sums *sums,
                  const struct subject_count *shown)
{
    const double objects = (double)sums->must_objects;

    if (!(shown->objects >= objects - 1e-6) ||
        subject_is_less(model, shown->bytes, sums->must_bytes))
        return SHOWS_LESS;
    if (sums->may_objects == 0 &&
        (!(shown->objects <= objects + 1e-6) ||
         subject_is_more(model, shown->bytes, sums->must_bytes)))
        return SHOWS_MORE;
    return SHOWS_RIGHT;
}
