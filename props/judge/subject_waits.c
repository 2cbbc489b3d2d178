/*
 * subject_waits.c -- W1, W2 and W4: what a subject shows of waits. At a rate of
 * 1 each wait is counted once, with its ticks: at the stack that waited (block
 * waits), or at the stack that released the lock (mutex waits). At other rates
 * a site shows at least the waits that must have been recorded, and nothing if
 * none of its waits can have been.
 */
#include <inttypes.h>
#include <math.h>

#include "sim/instruments/instrument_subject.h"
#include "props/judge/subject_parts.h"
#include "props/judge/subject_view.h"

struct wait_sums {
    double must_count, must_ticks;
    bool may; /* there are waits that may be recorded or not */
};

/* Sum up the waits of a site, SIM_SUBJECT_NOWHERE: of all. */
static struct wait_sums
sums_of(const struct subject_judge *judge, bool is_mutex, uint32_t site)
{
    const struct sim_world *world = judge->judge->world;
    const struct truth_log *truth = sim_world_truth(world);
    struct wait_sums sums = {0};
    int64_t rate = 1;

    for (uint32_t i = 0; i < judge->truths_seen; i++) {
        const struct truth_entry *fact = &truth->entries[i];

        if (fact->kind == (is_mutex ? TRUTH_MUTEX_FRACTION : TRUTH_BLOCK_RATE))
            rate = fact->cycles;
        if (fact->kind != TRUTH_CONTENDED || rate == 0 ||
            (site != SIM_SUBJECT_NOWHERE &&
             sim_subject_site(world, is_mutex ? fact->lock : fact->stack) !=
                 site))
            continue;
        sums.may |= rate > 1;
        sums.must_count += rate == 1;
        sums.must_ticks += rate == 1 ? (double)fact->cycles : 0;
    }
    return sums;
}

static struct wait_sums
shown_of(const struct sim_subject_waits *waits, uint32_t site, bool all)
{
    struct wait_sums shown = {0};

    for (size_t i = 0; i < waits->count; i++) {
        if (!all && waits->records[i].site != site)
            continue;
        shown.must_count += waits->records[i].count;
        shown.must_ticks += waits->records[i].ticks;
    }
    return shown;
}

static bool
is_right(const struct wait_sums *sums, const struct wait_sums *shown)
{
    const double slack = 1e-6 + 1e-12 * sums->must_ticks;

    if (!(shown->must_count >= sums->must_count - 1e-6) ||
        !(shown->must_ticks >= sums->must_ticks - slack))
        return false;
    return sums->may || (shown->must_count <= sums->must_count + 1e-6 &&
                         shown->must_ticks <= sums->must_ticks + slack);
}

/* returns: the property that a difference breaks */
static enum props_property
named(const struct subject_judge *judge, const struct sim_subject_waits *waits,
      bool is_mutex)
{
    const struct wait_sums sums = sums_of(judge, is_mutex, SIM_SUBJECT_NOWHERE);
    const struct wait_sums shown = shown_of(waits, 0, true);

    if (is_right(&sums, &shown))
        return PROPS_W2;
    if ((judge->model.past & WAIT_RATE_CHANGED) != 0)
        return PROPS_W4;
    if ((judge->model.past & HAS_FORKED) != 0)
        return PROPS_F1;
    return (judge->model.past & THREAD_ENDED) != 0 ? PROPS_E1 : PROPS_W1;
}

static void
judge_site(struct subject_judge *judge, const struct sim_subject_waits *waits,
           bool is_mutex, uint32_t site)
{
    const struct wait_sums sums = sums_of(judge, is_mutex, site);
    const struct wait_sums shown = shown_of(waits, site, false);
    const char *least = sums.may ? "at least " : "";

    if (sums.must_count > 0) {
        props_cover_hit(judge->judge->cover, COVER_SUBJECT_WAITS);
        if ((judge->model.past & WAIT_RATE_CHANGED) != 0)
            props_cover_hit(judge->judge->cover, COVER_SUBJECT_WAIT_RATE);
    }
    if (is_right(&sums, &shown))
        return;
    subject_breach(judge, named(judge, waits, is_mutex),
                   "%s: shows %.15g %s waits of %.15g ticks, expected %s%.15g "
                   "of %s%.15g",
                   subject_site_text(judge, site).text, shown.must_count,
                   is_mutex ? "mutex" : "block", shown.must_ticks, least,
                   sums.must_count, least, sums.must_ticks);
}

static void
judge_record(struct subject_judge *judge, const struct sim_subject_wait *record,
             const struct sim_subject_wait *again)
{
    if (!(record->count >= 0) || !(record->ticks >= 0) ||
        (record->ticks > 0 && record->count <= 0))
        subject_breach(judge, PROPS_A3,
                       "site 0x%" PRIxPTR
                       "..: shows %.15g waits of %.15g ticks",
                       record->leaf, record->count, record->ticks);
    if (record->site == SIM_SUBJECT_NOWHERE)
        subject_breach(judge, PROPS_W2,
                       "a site of %" PRIu32 " frame%s, 0x%" PRIxPTR
                       "..: nothing waited there",
                       record->depth, record->depth == 1 ? "" : "s",
                       record->leaf);
    if (record->site != again->site || record->depth != again->depth ||
        !subject_is_same(record->count, again->count) ||
        !subject_is_same(record->ticks, again->ticks))
        subject_breach(judge, PROPS_O2,
                       "site 0x%" PRIxPTR "..: %.15g waits of %.15g ticks; "
                       "and then %.15g of %.15g, or another site",
                       record->leaf, record->count, record->ticks, again->count,
                       again->ticks);
}

void
subject_waits_judge(struct subject_judge *judge, bool is_mutex)
{
    const struct sim_world *world = judge->judge->world;
    const struct sim_subject_waits *waits = sim_subject_waits(world, 0);
    const struct sim_subject_waits *again = sim_subject_waits(world, 1);
    const uint32_t sites = sim_world_config(world)->stacks_count;

    judge->hash = subject_waits_hash(judge->hash, waits);
    if (waits->cut)
        subject_breach(judge, PROPS_W2, "a reading shows more than %zu records",
                       waits->count);
    if (waits->count != again->count)
        subject_breach(judge, PROPS_O2, "%zu records of waits, and then %zu",
                       waits->count, again->count);
    for (size_t i = 0; i < waits->count && i < again->count; i++)
        judge_record(judge, &waits->records[i], &again->records[i]);
    for (uint32_t site = 0; site < sites; site++) {
        if (sim_subject_site(world, site) == site)
            judge_site(judge, waits, is_mutex, site);
    }
}
