/*
 * cross_waits.c -- X1: block and mutex profiles against the waits of a trace.
 *
 *      trace:    GoBlockSync of 7 at stack s ... GoUnblock of 7 at stack u
 *                |<----------- blocked ----------->|
 *      block:    one event at s, of so many ticks
 *      mutex:    one event at u, of so many, if it was a mutex
 *
 * The trace has ticks divided by its divisor and rounded down, so a wait is
 * known to within one less than that; where the clock orders, it also moves on
 * between a fact and the event that tells it.
 */
#include <inttypes.h>
#include <string.h>

#include "cross.h"
#include "prof/trace.h"

/* Clocks beyond this are not compared: faults take them past 2^63. */
#define TICKS_MAX (INT64_C(1) << 60)

/* What the trace shows of one stack. */
struct shown {
    uint64_t pcs[PROF_TRACE_DEPTH_LIMIT];
    uint32_t depth;
    uint64_t count;
    uint64_t unknown; /* waits that may have been charged here, or not */
    uint64_t least_ticks;
    uint64_t most_ticks;
};

struct all_shown {
    uint32_t count;
    bool full; /* there is more than can be compared */
    struct shown sites[CROSS_SITES_MAX];
    uint64_t unknown; /* waits whose stack is not known */
};

struct waits {
    struct cross *cross;
    const struct model_trace *trace;
    int64_t divisor;
    int64_t slack_ticks;    /* by which a wait may differ */
    int64_t released_ticks; /* when somebody let a waiter go last */
    struct all_shown block;
    struct all_shown mutex;
};

/* The stack as a profile has it: cut at its depth. */
static struct shown *
site_of(struct waits *waits, struct all_shown *all, uint64_t stack)
{
    static uint64_t pcs[MODEL_TRACE_FRAMES_MAX];
    const uint32_t depth_max = sim_world_config(waits->cross->world)->depth_max;
    uint32_t depth = model_trace_stack(waits->trace, stack, pcs);
    struct shown *site;

    if (depth > depth_max)
        depth = depth_max;
    for (uint32_t i = 0; i < all->count; i++) {
        site = &all->sites[i];
        if (site->depth == depth &&
            memcmp(site->pcs, pcs, depth * sizeof *pcs) == 0)
            return site;
    }
    if (all->count == CROSS_SITES_MAX) {
        all->full = true;
        return NULL;
    }
    site = &all->sites[all->count++];
    *site = (struct shown){.depth = depth};
    memcpy(site->pcs, pcs, depth * sizeof *pcs);
    return site;
}

/*
 * An event of a profile.
 *
 * in:      shortest, longest, what it can be of, in ticks of the trace
 *          least, what an event counts at least
 */
static void
charge(const struct waits *waits, struct shown *site, int64_t shortest,
       int64_t longest, int64_t least)
{
    const int64_t low = shortest * waits->divisor - waits->slack_ticks;
    const int64_t high = longest * waits->divisor + waits->slack_ticks;

    site->count++;
    site->least_ticks += (uint64_t)(low < least ? least : low);
    site->most_ticks += (uint64_t)(high < least ? least : high);
}

/* Is such a wait charged to the block profile? */
static bool
is_charged(uint8_t type)
{
    return type == MODEL_TRACE_GO_BLOCK_SEND ||
           type == MODEL_TRACE_GO_BLOCK_RECV ||
           type == MODEL_TRACE_GO_BLOCK_SELECT ||
           type == MODEL_TRACE_GO_BLOCK_SYNC ||
           type == MODEL_TRACE_GO_BLOCK_COND;
}

/* A wait ends. in: task, as it was until now */
static void
end_wait(struct waits *waits, const struct cross_task *task,
         const struct model_trace_event *event)
{
    const int64_t blocked = event->ticks - task->since_ticks;
    int64_t alone = blocked;
    struct shown *site;

    if (event->ticks < 0 || event->ticks > TICKS_MAX / waits->divisor ||
        task->since_ticks < 0) {
        waits->block.full = true;
        return;
    }
    if (!task->has_stand) { /* it waited already when the trace began */
        waits->block.unknown++;
        site = site_of(waits, &waits->mutex, event->stack);
        if (site != NULL)
            site->unknown++;
        waits->released_ticks = event->ticks; /* it may have been of a mutex */
        return;
    }
    if (!is_charged(task->by))
        return;
    site = site_of(waits, &waits->block, task->stack);
    if (site != NULL)
        charge(waits, site, blocked, blocked, 1);
    if (task->by != MODEL_TRACE_GO_BLOCK_SYNC || event->g == 0)
        return;
    /* Who waits behind another is charged only from that one's release on. */
    if (waits->released_ticks > task->since_ticks)
        alone = event->ticks - waits->released_ticks;
    site = site_of(waits, &waits->mutex, event->stack);
    if (site != NULL)
        charge(waits, site, alone, blocked, 0);
    waits->released_ticks = event->ticks;
}

static bool
follow(struct waits *waits)
{
    struct cross_tasks *tasks = &waits->cross->tasks;
    const struct model_trace_event *event;

    cross_tasks_begin(tasks, waits->trace, waits->cross->order);
    while ((event = cross_tasks_peek(tasks)) != NULL) {
        if (event->type == MODEL_TRACE_GO_UNBLOCK) {
            const struct cross_task *task = cross_task(tasks, event->arg);

            if (task != NULL)
                end_wait(waits, task, event);
        }
        cross_tasks_next(tasks);
    }
    return !waits->block.full && !waits->mutex.full;
}

static const struct cross_site *
said_at(const struct cross_sites *said, const struct shown *shown)
{
    for (uint32_t i = 0; i < said->count; i++) {
        const struct cross_site *site = &said->sites[i];
        bool same = site->depth == shown->depth ||
                    (site->depth > PROF_TRACE_DEPTH_LIMIT &&
                     shown->depth == PROF_TRACE_DEPTH_LIMIT);

        for (uint32_t j = 0; j < shown->depth && same; j++)
            same = site->stack[j] == shown->pcs[j];
        if (same)
            return site;
    }
    return NULL;
}

/*
 * One stack of a profile against the same of the trace.
 *
 * in:      may_lack, not every wait that the trace shows is the profile's
 *          unknown, waits that the profile may have above those
 * returns: how many of those it has
 */
static uint64_t
compare(struct waits *waits, const char *name, const struct cross_sites *said,
        const struct shown *shown, bool may_lack, uint64_t unknown)
{
    const struct cross_site none = {.depth = 0};
    const struct cross_site *site = said_at(said, shown);

    if (site == NULL)
        site = &none;
    if ((site->count < shown->count && !may_lack) ||
        (site->count > shown->count && site->count - shown->count > unknown)) {
        cross_breach(waits->cross, PROPS_X1,
                     "the trace shows %" PRIu64 " waits (and %" PRIu64
                     " perhaps) at 0x%" PRIx64 ", the %s profile has %" PRIu64,
                     shown->count, unknown,
                     shown->depth > 0 ? shown->pcs[0] : 0, name, site->count);
        return 0;
    }
    /* Of as many waits, some may be others. */
    if (site->count != shown->count || (may_lack && unknown > 0))
        return site->count > shown->count ? site->count - shown->count : 0;
    if (site->cycles < shown->least_ticks || site->cycles > shown->most_ticks)
        cross_breach(waits->cross, PROPS_X1,
                     "the trace shows %" PRIu64 " waits of %" PRIu64
                     " to %" PRIu64 " ticks at 0x%" PRIx64
                     ", the %s profile has %" PRIu64 " ticks",
                     shown->count, shown->least_ticks, shown->most_ticks,
                     shown->depth > 0 ? shown->pcs[0] : 0, name, site->cycles);
    return 0;
}

/* Every stack that a profile has must be one that the trace shows. */
static uint64_t
unseen(const struct cross_sites *said, const struct all_shown *all)
{
    uint64_t events = 0;

    for (uint32_t i = 0; i < said->count; i++) {
        bool seen = false;

        for (uint32_t j = 0; j < all->count && !seen; j++)
            seen = said_at(said, &all->sites[j]) == &said->sites[i];
        events += seen ? 0 : said->sites[i].count;
    }
    return events;
}

static void
compare_block(struct waits *waits, const struct cross_sites *said)
{
    uint64_t more = unseen(said, &waits->block);

    for (uint32_t i = 0; i < waits->block.count; i++) {
        const struct shown *shown = &waits->block.sites[i];

        more += compare(waits, "block", said, shown, waits->cross->parks,
                        waits->block.unknown);
        if (!waits->cross->parks)
            props_cover_hit(waits->cross->cover, COVER_CROSS_BLOCK);
    }
    if (more > waits->block.unknown)
        cross_breach(waits->cross, PROPS_X1,
                     "the block profile has %" PRIu64
                     " waits that the trace does not show",
                     more - waits->block.unknown);
}

static void
compare_mutex(struct waits *waits, const struct cross_sites *said)
{
    for (uint32_t i = 0; i < waits->mutex.count; i++) {
        const struct shown *shown = &waits->mutex.sites[i];
        /* The releaser of a semaphore has no stack, and no event. */
        const bool may_lack = waits->cross->parks || shown->depth == 0;

        compare(waits, "mutex", said, shown, may_lack, shown->unknown);
        if (shown->count > 0 && !may_lack)
            props_cover_hit(waits->cross->cover, COVER_CROSS_MUTEX);
    }
    if (unseen(said, &waits->mutex) > 0)
        cross_breach(waits->cross, PROPS_X1,
                     "the mutex profile has releases that the trace does not "
                     "show");
}

void
cross_waits(struct cross *cross, const struct cross_session *session,
            const struct model_trace *trace)
{
    static struct waits waits;
    const struct sim_config *config = sim_world_config(cross->world);

    if (!session->end[PROF_BLOCK].usable && !session->end[PROF_MUTEX].usable)
        return;
    memset(&waits, 0, sizeof waits);
    waits.cross = cross;
    waits.trace = trace;
    waits.divisor = config->trace.tick_divisor;
    waits.slack_ticks =
        waits.divisor - 1 +
        (config->trace.by_clock ? 2 * (int64_t)SIM_READINGS_MAX : 0);
    if (!follow(&waits))
        return;
    if (session->end[PROF_BLOCK].usable)
        compare_block(&waits, &session->end[PROF_BLOCK]);
    if (session->end[PROF_MUTEX].usable && !config->waiters_all)
        compare_mutex(&waits, &session->end[PROF_MUTEX]);
}
