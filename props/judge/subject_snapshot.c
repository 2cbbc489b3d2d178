/*
 * subject_snapshot.c -- judge a snapshot. The property that names a difference
 * depends on what happened before it (a fork, a realloc, ...); it is A2 or A6
 * if nothing special did. At first that is a guess; shrinking removes the
 * events that the difference does not need, and makes the name right.
 */
#include <inttypes.h>
#include <math.h>

#include "sim/instruments/instrument_subject.h"
#include "props/judge/subject_parts.h"
#include "props/judge/subject_view.h"

/* returns: A2 or A6, or the property of what happened before */
static enum props_property
named(const struct subject_judge *judge, enum props_property plain)
{
    const uint32_t past = judge->model.past;

    if ((past & RATE_CHANGED) != 0)
        return PROPS_G1;
    if ((past & HAS_FORKED) != 0)
        return PROPS_F1;
    if ((past & THREAD_ENDED) != 0)
        return PROPS_E1;
    if ((past & WAS_HUGE) != 0)
        return PROPS_V1;
    return (past & WAS_REALLOCATED) != 0 ? PROPS_A7 : plain;
}

static void
compare(struct subject_judge *judge, uint32_t site,
        const struct subject_sums *sums, const struct subject_count *shown)
{
    const enum subject_fit fit = subject_model_fit(&judge->model, sums, shown);
    const bool sampled = sums->may_objects > 0;

    if (fit == SHOWS_RIGHT)
        return;
    subject_breach(judge, named(judge, fit == SHOWS_LESS ? PROPS_A6 : PROPS_A2),
                   "%s: shows %.15g live objects of %.15g bytes, "
                   "expected %s%" PRId64 " of %s%.15g",
                   subject_site_text(judge, site).text, shown->objects,
                   shown->bytes, sampled ? "at least " : "", sums->must_objects,
                   sampled ? "at least " : "", sums->must_bytes);
}

static void
compare_samples(struct subject_judge *judge, uint32_t site,
                const struct subject_sums *sums,
                const struct subject_count *shown)
{
    const int64_t most = sums->must_objects + sums->may_objects;

    if ((judge->model.subject->can & SUBJECT_SAMPLES) == 0 ||
        (shown->samples >= sums->must_objects && shown->samples <= most))
        return;
    subject_breach(judge,
                   named(judge, shown->samples > most ? PROPS_A2 : PROPS_A6),
                   "%s: shows %" PRId64 " samples, and %" PRId64 " to %" PRId64
                   " objects live that could be",
                   subject_site_text(judge, site).text, shown->samples,
                   sums->must_objects, most);
}

/* ---- A snapshot ---- */

static void
report_count(struct subject_judge *judge, const char *what,
             const struct sim_subject_record *record,
             const struct subject_count *count)
{
    subject_breach(judge, PROPS_A3,
                   "site 0x%" PRIxPTR "..: %s %.15g objects of %.15g bytes",
                   record->leaf, what, count->objects, count->bytes);
}

/* in: record, the sum of its site's records */
static void
judge_count(struct subject_judge *judge, const char *what,
            const struct sim_subject_record *record,
            const struct subject_count *count)
{
    if (!(count->objects >= -1e-6) ||
        subject_is_less(&judge->model, count->bytes, 0) || count->samples < 0)
        report_count(judge, what, record, count);
}

static void
judge_empty(struct subject_judge *judge, const char *what,
            const struct sim_subject_record *record,
            const struct subject_count *count)
{
    if (!(count->objects > 0) &&
        subject_is_more(&judge->model, count->bytes, 0))
        report_count(judge, what, record, count);
}

static void
judge_balance(struct subject_judge *judge,
              const struct sim_subject_record *record)
{
    const uint32_t all = SUBJECT_LIVE | SUBJECT_ALLOCATED | SUBJECT_FREED;
    const struct subject_count *in = &record->allocated;
    const struct subject_count *out = &record->freed;
    const struct subject_count *left = &record->live;

    if ((judge->model.subject->can & all) != all)
        return;
    props_cover_hit(judge->judge->cover, COVER_SUBJECT_BALANCED);
    if (!(fabs(in->objects - out->objects - left->objects) <=
          1e-6 + 1e-9 * in->objects) ||
        subject_is_less(&judge->model, in->bytes - out->bytes, left->bytes) ||
        subject_is_more(&judge->model, in->bytes - out->bytes, left->bytes))
        subject_breach(
            judge, PROPS_A1,
            "site 0x%" PRIxPTR "..: %.15g objects of %.15g bytes "
            "allocated, %.15g of %.15g freed, and %.15g of %.15g live",
            record->leaf, in->objects, in->bytes, out->objects, out->bytes,
            left->objects, left->bytes);
}

static void
judge_address(struct subject_judge *judge, const struct sim_subject_view *view,
              size_t index)
{
    const struct sim_subject_record *record = &view->records[index];
    const struct sim_world *world = judge->judge->world;
    const struct subject_thing *found = NULL;

    if ((judge->model.subject->can & SUBJECT_ADDRESSES) == 0)
        return;
    props_cover_hit(judge->judge->cover, COVER_SUBJECT_ADDRESS);
    for (size_t i = 0; i < index; i++) {
        if (view->records[i].address == record->address)
            subject_breach(judge, PROPS_A4,
                           "address 0x%" PRIx64 " is shown twice",
                           record->address);
    }
    for (uint32_t i = 0; i < judge->model.things_count; i++) {
        if (judge->model.things[i].lives &&
            sim_subject_address(world, i) == record->address)
            found = &judge->model.things[i];
    }
    if (found == NULL)
        subject_breach(judge, PROPS_A4,
                       "address 0x%" PRIx64
                       " is shown, and nothing lives there",
                       record->address);
    else if (found->site != record->site)
        subject_breach(judge, PROPS_A4,
                       "address 0x%" PRIx64 " is shown at site 0x%" PRIxPTR
                       "..; what lives there is of %s",
                       record->address, record->leaf,
                       subject_site_text(judge, found->site).text);
}

typedef void count_judge(struct subject_judge *judge, const char *what,
                         const struct sim_subject_record *record,
                         const struct subject_count *count);

/* Judge each count that the subject has. */
static void
judge_counts(struct subject_judge *judge,
             const struct sim_subject_record *record, count_judge *judge_it)
{
    const uint32_t can = judge->model.subject->can;

    if ((can & SUBJECT_LIVE) != 0)
        judge_it(judge, "shows live", record, &record->live);
    if ((can & SUBJECT_ALLOCATED) != 0)
        judge_it(judge, "shows allocated", record, &record->allocated);
    if ((can & SUBJECT_FREED) != 0)
        judge_it(judge, "shows freed", record, &record->freed);
}

static void
judge_record(struct subject_judge *judge, const struct sim_subject_view *view,
             size_t index)
{
    const struct sim_subject_record *record = &view->records[index];
    const bool by_object = (judge->model.subject->can & SUBJECT_ADDRESSES) != 0;
    struct sim_subject_record sum;

    props_cover_hit(judge->judge->cover, COVER_SUBJECT_READ);
    judge_counts(judge, record, judge_empty);
    if (subject_view_sum(view, index, by_object, &sum)) {
        judge_counts(judge, &sum, judge_count);
        judge_balance(judge, &sum);
    }
    if (!subject_allocated_at(
            judge, record->site,
            sim_world_truth(judge->judge->world)->entries_count))
        subject_breach(judge, PROPS_A5,
                       "a site of %" PRIu32 " frame%s, 0x%" PRIxPTR
                       "..: nothing was allocated there",
                       record->depth, record->depth == 1 ? "" : "s",
                       record->leaf);
    judge_address(judge, view, index);
}

static void
note_cover(struct subject_judge *judge, const struct subject_sums *sums)
{
    static const enum props_cover goals[] = {
        COVER_SUBJECT_REALLOC, COVER_SUBJECT_HUGE, COVER_SUBJECT_EXIT,
        COVER_SUBJECT_FORK, COVER_SUBJECT_RATE}; /* by bit of model->past */
    struct props_coverage *cover = judge->judge->cover;

    if (sums->must_objects == 0)
        return;
    props_cover_hit(cover, COVER_SUBJECT_EXACT);
    for (size_t i = 0; i < sizeof goals / sizeof *goals; i++) {
        if ((judge->model.past >> i & 1) != 0)
            props_cover_hit(cover, goals[i]);
    }
}

/* Compare a site with all that is live there. */
static void
judge_site(struct subject_judge *judge, const struct sim_subject_view *view,
           uint32_t site)
{
    const struct subject_sums sums = subject_model_sums(&judge->model, site);
    struct subject_count shown = {0};

    for (size_t i = 0; i < view->count; i++) {
        if (view->records[i].site == site)
            subject_view_add(&shown, &view->records[i].live);
    }
    note_cover(judge, &sums);
    compare(judge, site, &sums, &shown);
    compare_samples(judge, site, &sums, &shown);
}

/* in: a, b, the same count of `record` in two views */
static void
compare_count(struct subject_judge *judge, enum props_property property,
              const struct sim_subject_record *record, const char *what,
              const struct subject_count *a, const struct subject_count *b)
{
    if (!subject_is_same(a->objects, b->objects) ||
        !subject_is_same(a->bytes, b->bytes) || a->samples != b->samples)
        subject_breach(judge, property,
                       "site 0x%" PRIxPTR
                       "..: %s %.15g objects of %.15g bytes, %" PRId64
                       " samples; and then %.15g of %.15g, %" PRId64,
                       record->leaf, what, a->objects, a->bytes, a->samples,
                       b->objects, b->bytes, b->samples);
}

/* in: property, broken if the two views differ */
void
subject_judge_same(struct subject_judge *judge, enum props_property property,
                   const char *when)
{
    const struct sim_subject_view *a = sim_subject_view(judge->judge->world, 0);
    const struct sim_subject_view *b = sim_subject_view(judge->judge->world, 1);

    if (a->count != b->count) {
        subject_breach(judge, property, "%zu records %s, and then %zu",
                       a->count, when, b->count);
        return;
    }
    for (size_t i = 0; i < a->count; i++) {
        const struct sim_subject_record *x = &a->records[i];
        const struct sim_subject_record *y = &b->records[i];

        compare_count(judge, property, x, "live", &x->live, &y->live);
        compare_count(judge, property, x, "allocated", &x->allocated,
                      &y->allocated);
        compare_count(judge, property, x, "freed", &x->freed, &y->freed);
        if (!subject_view_same_site(x, y) || x->address != y->address)
            subject_breach(judge, property,
                           "record %zu of %zu %s: site 0x%" PRIxPTR
                           "..; and then another, or another address",
                           i + 1, a->count, when, x->leaf);
    }
}

void
subject_judge_snapshot(struct subject_judge *judge)
{
    const struct sim_world *world = judge->judge->world;
    const struct sim_subject_view *view = sim_subject_view(world, 0);
    const uint32_t sites = sim_world_config(world)->stacks_count;

    judge->hash = subject_view_hash(judge->hash, view);
    if (view->cut)
        subject_breach(judge, PROPS_A5,
                       "a snapshot shows more than %zu records", view->count);
    subject_judge_same(judge, PROPS_O2, "at first");
    for (size_t i = 0; i < view->count; i++)
        judge_record(judge, view, i);
    for (uint32_t i = 0; i < judge->model.things_count; i++) {
        if (!judge->model.things[i].lives)
            props_cover_hit(judge->judge->cover, COVER_SUBJECT_FREED);
    }
    if ((judge->model.subject->can & SUBJECT_LIVE) == 0 || !judge->at_rest)
        return;
    for (uint32_t site = 0; site < sites; site++) {
        if (sim_subject_site(world, site) == site)
            judge_site(judge, view, site);
    }
}
