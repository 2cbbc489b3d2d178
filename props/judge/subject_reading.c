/*
 * subject_reading.c -- O3: a reading in parts shows the heap as it was at one
 * moment between its begin and its end. Some subjects promise less: each site
 * as it was at some such moment, not all at the same one.
 *
 * The model replays the moments when the reading ends. A site fits a moment if
 * what is shown of the site is right for that moment, and every object that is
 * shown had been allocated by then.
 */
#include <inttypes.h>

#include "sim/instruments/instrument_subject.h"
#include "props/judge/subject_parts.h"
#include "props/judge/subject_view.h"

static bool
is_shown(const struct sim_subject_view *view, uint32_t site)
{
    for (size_t i = 0; i < view->count; i++) {
        if (view->records[i].site == site)
            return true;
    }
    return false;
}

/* Does a site fit the model's moment, after `truths` facts? */
static bool
fits(const struct subject_judge *judge, const struct sim_subject_view *view,
     uint32_t site, uint32_t truths)
{
    const struct subject_model *then = &judge->reading.then;
    const struct subject_sums sums = subject_model_sums(then, site);
    struct subject_count shown = {0};

    for (size_t i = 0; i < view->count; i++) {
        if (view->records[i].site == site)
            subject_view_add(&shown, &view->records[i].live);
    }
    return subject_model_fit(then, &sums, &shown) == SHOWS_RIGHT &&
           (!is_shown(view, site) || subject_allocated_at(judge, site, truths));
}

static void
learn(struct subject_judge *judge, uint32_t truth)
{
    const struct truth_log *log = sim_world_truth(judge->judge->world);

    subject_model_learn(&judge->reading.then, &log->entries[truth]);
}

/* Take the model back to the moment when the reading began. */
static void
go_back(struct subject_judge *judge)
{
    judge->reading.then.world = judge->judge->world;
    subject_model_begin(&judge->reading.then);
    for (uint32_t i = 0; i < judge->reading.truths_first; i++)
        learn(judge, i);
}

/* returns: does the site fit at any moment up to `end`? */
static bool
fits_ever(struct subject_judge *judge, const struct sim_subject_view *view,
          uint32_t site, uint32_t end)
{
    go_back(judge);
    for (uint32_t i = judge->reading.truths_first; i < end; i++) {
        if (fits(judge, view, site, i))
            return true;
        learn(judge, i);
    }
    return fits(judge, view, site, end);
}

static bool
all_fit(const struct subject_judge *judge, const struct sim_subject_view *view,
        uint32_t truths)
{
    const struct sim_world *world = judge->judge->world;
    const uint32_t sites = sim_world_config(world)->stacks_count;

    for (uint32_t site = 0; site < sites; site++) {
        if (sim_subject_site(world, site) == site &&
            !fits(judge, view, site, truths))
            return false;
    }
    return true;
}

static bool
all_fit_at_once(struct subject_judge *judge,
                const struct sim_subject_view *view, uint32_t end)
{
    go_back(judge);
    for (uint32_t i = judge->reading.truths_first; i < end; i++) {
        if (all_fit(judge, view, i))
            return true;
        learn(judge, i);
    }
    return all_fit(judge, view, end);
}

static void
judge_sites(struct subject_judge *judge, const struct sim_subject_view *view,
            uint32_t end)
{
    const struct sim_world *world = judge->judge->world;
    const uint32_t sites = sim_world_config(world)->stacks_count;

    for (uint32_t site = 0; site < sites; site++) {
        struct subject_count shown = {0};

        if (sim_subject_site(world, site) != site ||
            fits_ever(judge, view, site, end))
            continue;
        for (size_t i = 0; i < view->count; i++) {
            if (view->records[i].site == site)
                subject_view_add(&shown, &view->records[i].live);
        }
        subject_breach(judge, PROPS_O3,
                       "%s: a reading in parts %s %.15g live objects of %.15g "
                       "bytes, as at no moment between its begin and its end",
                       subject_site_text(judge, site).text,
                       is_shown(view, site) ? "shows" : "has no record, so",
                       shown.objects, shown.bytes);
        return;
    }
    if ((judge->model.subject->can & SUBJECT_RECORD_BY_RECORD) == 0 &&
        !all_fit_at_once(judge, view, end))
        subject_breach(judge, PROPS_O3,
                       "a reading in parts shows each site as at some moment, "
                       "and no moment has them all");
}

static void
judge_reading(struct subject_judge *judge, uint32_t end)
{
    const struct sim_subject_view *view =
        sim_subject_view(judge->judge->world, 0);

    judge->hash = subject_view_hash(judge->hash, view);
    if (view->cut)
        subject_breach(judge, PROPS_A5, "a reading shows more than %zu records",
                       view->count);
    if (!judge->reading.is_judged ||
        (judge->model.subject->can & SUBJECT_LIVE) == 0)
        return;
    props_cover_hit(judge->judge->cover, COVER_SUBJECT_PARTS);
    /* A subject with a collector does not yet show allocations made
     * meanwhile. */
    if (judge->model.subject->cycle != NULL)
        end = judge->reading.truths_first;
    judge_sites(judge, view, end);
}

void
subject_reading_fact(struct subject_judge *judge, uint32_t truth)
{
    struct subject_reading *reading = &judge->reading;
    const struct truth_log *log = sim_world_truth(judge->judge->world);

    switch ((int)log->entries[truth].kind) {
    case TRUTH_PART_FIRST:
        reading->is_open = true;
        reading->is_judged = judge->at_rest;
        reading->truths_first = truth;
        return;
    case TRUTH_NEXT_CYCLE:
    case TRUTH_FLUSH:
        reading->is_judged &= judge->model.subject->cycle == NULL;
        return;
    default:
        break;
    }
    if (!reading->is_open || sim_subject_is_read(judge->judge->world))
        return;
    reading->is_open = false;
    judge_reading(judge, truth);
}
