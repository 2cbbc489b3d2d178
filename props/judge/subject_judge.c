/*
 * subject_judge.c -- see subject_judge.h. A difference is named after what has
 * happened before it: A2 or A6 if nothing special has. The shrinker leaves out
 * what the difference does not need, and then the name is right.
 */
#include "subject_judge.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "instrument_subject.h"
#include "judge_internal.h"
#include "subject_view.h"

void
subject_judge_begin(struct subject_judge *judge)
{
    judge->model.world = judge->judge->world;
    subject_model_begin(&judge->model);
    judge->truths_seen = 0;
    judge->at_rest = judge->model.subject->cycle == NULL;
    judge->when = "";
    judge->hash = 0;
    judge->judge->events = 0;
}

/* ---- Saying what is wrong ---- */

struct site_text {
    char text[80];
};

static struct site_text
site_text(const struct subject_judge *judge, uint32_t site)
{
    const struct truth_stack *stack =
        &sim_world_config(judge->judge->world)->stacks[site];
    struct site_text made;

    snprintf(made.text, sizeof made.text,
             "site 0x%" PRIxPTR ".. (%" PRIu32 " frames)",
             stack->depth > 0 ? stack->frames[0] : 0, stack->depth);
    return made;
}

static void __attribute__((format(printf, 3, 4)))
breach(struct subject_judge *judge, enum props_property property,
       const char *format, ...)
{
    va_list arguments;
    char text[400];

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    judge_breach(judge->judge, property, "%s%s", judge->when, text);
}

/* A2 or A6, or what it is called where something special has happened. */
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

/* Less than expected, by more than sums in double can be off? More? */
static bool
is_less(const struct subject_judge *judge, double shown, double expected)
{
    return !(shown >= expected - 1e-6 - 1e-12 * judge->model.ever_bytes);
}

static bool
is_more(const struct subject_judge *judge, double shown, double expected)
{
    return !(shown <= expected + 1e-6 + 1e-12 * judge->model.ever_bytes);
}

static void
compare(struct subject_judge *judge, uint32_t site,
        const struct subject_sums *sums, const struct subject_count *shown)
{
    const double objects = (double)sums->must_objects;
    const bool sampled = sums->may_objects > 0;
    enum props_property plain;

    if (shown->objects < objects - 1e-6 ||
        is_less(judge, shown->bytes, sums->must_bytes))
        plain = PROPS_A6;
    else if (!sampled && (shown->objects > objects + 1e-6 ||
                          is_more(judge, shown->bytes, sums->must_bytes)))
        plain = PROPS_A2;
    else
        return;
    breach(judge, named(judge, plain),
           "%s: shows %.15g live objects of %.15g bytes, "
           "expected %s%" PRId64 " of %s%.15g",
           site_text(judge, site).text, shown->objects, shown->bytes,
           sampled ? "at least " : "", sums->must_objects,
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
    breach(judge, named(judge, shown->samples > most ? PROPS_A2 : PROPS_A6),
           "%s: shows %" PRId64 " samples, and %" PRId64 " to %" PRId64
           " objects live that could be",
           site_text(judge, site).text, shown->samples, sums->must_objects,
           most);
}

/* ---- A snapshot ---- */

static void
tell_count(struct subject_judge *judge, const char *what,
           const struct sim_subject_record *record,
           const struct subject_count *count)
{
    breach(judge, PROPS_A3,
           "site 0x%" PRIxPTR "..: %s %.15g objects of %.15g bytes",
           record->leaf, what, count->objects, count->bytes);
}

/* in: record, of all of its site */
static void
judge_count(struct subject_judge *judge, const char *what,
            const struct sim_subject_record *record,
            const struct subject_count *count)
{
    if (!(count->objects >= -1e-6) || is_less(judge, count->bytes, 0) ||
        count->samples < 0)
        tell_count(judge, what, record, count);
}

static void
judge_empty(struct subject_judge *judge, const char *what,
            const struct sim_subject_record *record,
            const struct subject_count *count)
{
    if (!(count->objects > 0) && is_more(judge, count->bytes, 0))
        tell_count(judge, what, record, count);
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
        is_less(judge, in->bytes - out->bytes, left->bytes) ||
        is_more(judge, in->bytes - out->bytes, left->bytes))
        breach(judge, PROPS_A1,
               "site 0x%" PRIxPTR "..: %.15g objects of %.15g bytes "
               "allocated, %.15g of %.15g freed, and %.15g of %.15g live",
               record->leaf, in->objects, in->bytes, out->objects, out->bytes,
               left->objects, left->bytes);
}

static bool
allocated_there(const struct subject_judge *judge, uint32_t site)
{
    const struct truth_log *truth = sim_world_truth(judge->judge->world);

    for (uint32_t i = 0; i < truth->entries_count; i++) {
        const struct truth_entry *fact = &truth->entries[i];

        if ((fact->kind == TRUTH_ALLOC || fact->kind == TRUTH_REALLOC) &&
            sim_subject_site(judge->judge->world, fact->stack) == site)
            return true;
    }
    return false;
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
            breach(judge, PROPS_A4, "address 0x%" PRIx64 " is shown twice",
                   record->address);
    }
    for (uint32_t i = 0; i < judge->model.things_count; i++) {
        if (judge->model.things[i].lives &&
            sim_subject_address(world, i) == record->address)
            found = &judge->model.things[i];
    }
    if (found == NULL)
        breach(judge, PROPS_A4,
               "address 0x%" PRIx64 " is shown, and nothing lives there",
               record->address);
    else if (found->site != record->site)
        breach(judge, PROPS_A4,
               "address 0x%" PRIx64 " is shown at site 0x%" PRIxPTR
               "..; what lives there is of %s",
               record->address, record->leaf,
               site_text(judge, found->site).text);
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
    if (!allocated_there(judge, record->site))
        breach(judge, PROPS_A5,
               "a site of %" PRIu32 " frames, 0x%" PRIxPTR
               "..: nothing was allocated there",
               record->depth, record->leaf);
    judge_address(judge, view, index);
}

static void
note_cover(struct subject_judge *judge, const struct subject_sums *sums)
{
    static const enum props_cover goals[] = {
        COVER_SUBJECT_REALLOC, COVER_SUBJECT_HUGE, COVER_SUBJECT_EXIT,
        COVER_SUBJECT_FORK, COVER_SUBJECT_RATE}; /* by bit of the past */
    struct props_coverage *cover = judge->judge->cover;

    if (sums->must_objects == 0)
        return;
    props_cover_hit(cover, COVER_SUBJECT_EXACT);
    for (size_t i = 0; i < sizeof goals / sizeof *goals; i++) {
        if ((judge->model.past >> i & 1) != 0)
            props_cover_hit(cover, goals[i]);
    }
}

/* A site against all that lives there. */
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

static bool
is_same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b)); /* A3 tells those */
}

/* in: a, b, the same count of `record` in two views */
static void
compare_count(struct subject_judge *judge, enum props_property property,
              const struct sim_subject_record *record, const char *what,
              const struct subject_count *a, const struct subject_count *b)
{
    if (!is_same(a->objects, b->objects) || !is_same(a->bytes, b->bytes) ||
        a->samples != b->samples)
        breach(judge, property,
               "site 0x%" PRIxPTR
               "..: %s %.15g objects of %.15g bytes, %" PRId64
               " samples; and then %.15g of %.15g, %" PRId64,
               record->leaf, what, a->objects, a->bytes, a->samples, b->objects,
               b->bytes, b->samples);
}

/* in: property, broken if the two views differ */
static void
judge_same(struct subject_judge *judge, enum props_property property,
           const char *when)
{
    const struct sim_subject_view *a = sim_subject_view(judge->judge->world, 0);
    const struct sim_subject_view *b = sim_subject_view(judge->judge->world, 1);

    if (a->count != b->count) {
        breach(judge, property, "%zu records %s, and then %zu", a->count, when,
               b->count);
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
            breach(judge, property,
                   "record %zu of %zu %s: site 0x%" PRIxPTR
                   "..; and then another, or another address",
                   i + 1, a->count, when, x->leaf);
    }
}

static void
judge_snapshot(struct subject_judge *judge)
{
    const struct sim_world *world = judge->judge->world;
    const struct sim_subject_view *view = sim_subject_view(world, 0);
    const uint32_t sites = sim_world_config(world)->stacks_count;

    judge->hash = subject_view_hash(judge->hash, view);
    if (view->cut)
        breach(judge, PROPS_A5, "a snapshot shows more than %zu records",
               view->count);
    judge_same(judge, PROPS_O2, "at first");
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

void
subject_judge_event(struct subject_judge *judge)
{
    const struct truth_log *truth = sim_world_truth(judge->judge->world);

    for (; judge->truths_seen < truth->entries_count; judge->truths_seen++) {
        const struct truth_entry *fact = &truth->entries[judge->truths_seen];

        if (fact->kind == TRUTH_HEAP_RATE && judge->model.was_told)
            judge_same(judge, PROPS_G1, "before a change of rate");
        subject_model_learn(&judge->model, fact);
        if (fact->kind == TRUTH_SNAPSHOT)
            judge_snapshot(judge);
    }
    if (judge->when[0] == '\0')
        judge->judge->events++;
}

/* ---- The end ---- */

static void
step(struct subject_judge *judge, enum sim_event_kind kind, uint32_t object)
{
    const struct sim_event event = {
        .kind = kind, .object = object, .room = SIM_ROOM_ENOUGH};
    const char *why = sim_world_apply(judge->judge->world, &event);

    if (why != NULL)
        breach(judge, PROPS_D1, "the end is stuck at %s: %s",
               sim_event_word(kind), why);
    subject_judge_event(judge);
}

static void
collect(struct subject_judge *judge)
{
    struct sim_world *world = judge->judge->world;
    const struct sim_gc *gc = sim_world_gc(world);

    if (gc->marking)
        step(judge, SIM_EV_GC_TERMINATE, 0);
    if (gc->unflushed)
        step(judge, SIM_EV_GC_FLUSH, 0);
    while (gc->dead > 0)
        step(judge, SIM_EV_GC_SWEEP, sim_world_find(world, SIM_DEAD, 0));
}

/* Three collections, and what was read then is all that lives. */
static void
come_to_rest(struct subject_judge *judge)
{
    if ((judge->model.subject->can & SUBJECT_SWEPT) == 0)
        return;
    for (int i = 0; i < 3; i++) {
        collect(judge);
        step(judge, SIM_EV_GC_MARK, 0);
    }
    collect(judge);
}

static void
read_at_rest(struct subject_judge *judge)
{
    come_to_rest(judge);
    judge->at_rest = true;
    step(judge, SIM_EV_SNAPSHOT, 0);
    judge->at_rest = judge->model.subject->cycle == NULL;
}

void
subject_judge_end(struct subject_judge *judge)
{
    struct sim_world *world = judge->judge->world;
    const bool frees =
        (judge->model.subject->can & SUBJECT_FREED_EXPLICITLY) != 0;
    const bool sweeps = (judge->model.subject->can & SUBJECT_SWEPT) != 0;

    judge->judge->events -= judge->judge->events > 0; /* the last one */
    judge->when = "at the end: ";
    read_at_rest(judge);
    judge->when = "at the end, when all is freed: ";
    for (uint32_t i = 0; i < sim_world_objects_count(world); i++) {
        if (judge->judge->breach.property == PROPS_NONE && (frees || sweeps) &&
            sim_world_object(world, i)->state == SIM_LIVE)
            step(judge, sweeps ? SIM_EV_DROP : SIM_EV_FREE, i);
    }
    if (judge->judge->breach.property == PROPS_NONE && (frees || sweeps))
        read_at_rest(judge);
    sim_subject_end(world);
}
