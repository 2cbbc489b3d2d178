/*
 * cross_waits.c -- X1: block and mutex profiles against the waits of a trace.
 *
 *      trace:    GoBlockSync of 7 at stack s ... GoUnblock of 7 at stack u
 *                |<----------- blocked ----------->|
 *      block: one event at s, of the ticks blocked
 *      mutex: one event at u, of as many, if it was a mutex
 *
 * A trace does not say which waits are for a lock: a task that parks for
 * another reason looks the same, but no profile records it. So the n-th wait of
 * a task in the trace is paired with its n-th wait in cross.waits, where each
 * wait was noted when it happened. Then stacks and counts must be equal.
 *
 * If several tasks wait for a mutex, the holder is charged for each only from
 * the last time the mutex was handed over.
 *
 * The trace divides ticks by its divisor and rounds down, so the length of a
 * wait is known only to one tick of the file. If events are ordered by the
 * clock, the clock also advances between what happens and its event.
 */
#include <inttypes.h>
#include <string.h>

#include "props/cross/cross.h"
#include "prof/trace.h"

/* Clocks beyond this are not compared, since faults take them past 2^63. */
#define TICKS_MAX (INT64_C(1) << 60)

/* What the trace shows of one stack. */
struct shown {
    uint64_t pcs[PROF_TRACE_DEPTH_LIMIT];
    uint32_t depth;
    uint64_t count;
    uint64_t least_ticks;
    uint64_t most_ticks;
};

struct all_shown {
    uint32_t count;
    struct shown sites[CROSS_SITES_MAX];
};

struct waits {
    struct cross *cross;
    const struct model_trace *trace;
    int64_t divisor;
    int64_t slack_ticks;             /* by how much a wait may differ */
    bool is_beyond;                  /* more stacks than fit */
    uint32_t next;                   /* the next noted wait */
    uint32_t of[CROSS_TASKS_MAX];    /* each task's last, plus 1 */
    bool is_inside[CROSS_TASKS_MAX]; /* it began in this session */
    struct cross_release released[SIM_LOCKS_MAX];
    struct all_shown block;
    struct all_shown mutex;
};

/* Find the place of a stack, as far as an instrument keeps it. */
static struct shown *
site_at(struct waits *waits, struct all_shown *all, const uint64_t *pcs,
        uint32_t depth)
{
    const uint32_t depth_max = sim_world_config(waits->cross->world)->depth_max;
    struct shown *site;

    if (depth > depth_max)
        depth = depth_max;
    if (depth > PROF_TRACE_DEPTH_LIMIT)
        depth = PROF_TRACE_DEPTH_LIMIT;
    for (uint32_t i = 0; i < all->count; i++) {
        site = &all->sites[i];
        if (site->depth == depth &&
            memcmp(site->pcs, pcs, depth * sizeof *pcs) == 0)
            return site;
    }
    if (all->count == CROSS_SITES_MAX) {
        waits->is_beyond = true;
        return NULL;
    }
    site = &all->sites[all->count++];
    *site = (struct shown){.depth = depth};
    memcpy(site->pcs, pcs, depth * sizeof *pcs);
    return site;
}

static struct shown *
site_of(struct waits *waits, struct all_shown *all, uint64_t stack)
{
    static uint64_t pcs[MODEL_TRACE_FRAMES_MAX];
    const uint32_t depth = model_trace_stack(waits->trace, stack, pcs);

    return site_at(waits, all, pcs, depth);
}

/* Find the place of a wait that began before the trace. */
static struct shown *
site_noted(struct waits *waits, const struct cross_wait *wait)
{
    static uint64_t pcs[PROF_TRACE_DEPTH_LIMIT];
    const struct truth_stack *stack =
        &sim_world_config(waits->cross->world)->stacks[wait->stack];
    uint32_t depth = 0;

    for (; depth < stack->depth && depth < PROF_TRACE_DEPTH_LIMIT; depth++)
        pcs[depth] = stack->frames[depth];
    return site_at(waits, &waits->block, pcs, depth);
}

/* Add an event of a profile. in: least, what any event counts at least */
static void
charge(const struct waits *waits, struct shown *site, int64_t ticks,
       int64_t least)
{
    const int64_t low = ticks - waits->slack_ticks;
    const int64_t high = ticks + waits->slack_ticks;

    if (site == NULL)
        return;
    site->count++;
    site->least_ticks += (uint64_t)(low < least ? least : low);
    site->most_ticks += (uint64_t)(high < least ? least : high);
}

/* Convert a clock of the world to ticks of a trace, which count from 1. */
static int64_t
clock_of(struct waits *waits, int64_t ticks)
{
    if (ticks < 0 || ticks > TICKS_MAX / waits->divisor) {
        waits->is_beyond = true;
        return 0;
    }
    return (ticks - 1) * waits->divisor;
}

static bool
begins_wait(uint8_t type)
{
    switch ((int)type) {
    case MODEL_TRACE_GO_SLEEP:
    case MODEL_TRACE_GO_BLOCK:
    case MODEL_TRACE_GO_BLOCK_SEND:
    case MODEL_TRACE_GO_BLOCK_RECV:
    case MODEL_TRACE_GO_BLOCK_SELECT:
    case MODEL_TRACE_GO_BLOCK_SYNC:
    case MODEL_TRACE_GO_BLOCK_COND:
    case MODEL_TRACE_GO_BLOCK_NET:
        return true;
    default:
        return false;
    }
}

/* Take the next noted wait, which must be this one: both lists are in order. */
static void
begin_wait(struct waits *waits, const struct model_trace_event *event)
{
    const struct cross *cross = waits->cross;

    if (waits->next == cross->waits_count ||
        cross->waits[waits->next].task != event->g) {
        cross_breach(waits->cross, PROPS_X1,
                     "the trace has task %" PRIu64
                     " wait where it does not, or another one does",
                     event->g);
        waits->is_beyond = true;
        return;
    }
    waits->of[event->g] = ++waits->next;
    waits->is_inside[event->g] = true;
}

/* A wait ends. in: task, its state before */
static void
end_wait(struct waits *waits, const struct cross_task *task,
         const struct cross_wait *wait, const struct model_trace_event *event)
{
    const bool is_inside = waits->is_inside[wait->task];
    const int64_t now_ticks = clock_of(waits, event->ticks);
    struct cross_release *released;
    int64_t since_ticks = wait->began_ticks;
    uint32_t index = (uint32_t)(wait - waits->cross->waits);

    if (is_inside)
        since_ticks = clock_of(waits, task->since_ticks);
    else if (since_ticks < 0 || since_ticks > TICKS_MAX)
        waits->is_beyond = true;
    if (!wait->is_of_lock || waits->is_beyond)
        return;
    if (wait->block_on)
        charge(waits,
               is_inside ? site_of(waits, &waits->block, task->stack)
                         : site_noted(waits, wait),
               now_ticks - since_ticks, 1);
    if (!wait->is_of_mutex)
        return;
    released = &waits->released[wait->lock];
    if (index < released->begun)
        since_ticks = released->ticks;
    if (wait->mutex_on)
        charge(waits, site_of(waits, &waits->mutex, event->stack),
               now_ticks - since_ticks, 0);
    *released = (struct cross_release){now_ticks, waits->next};
}

static bool
follow(struct waits *waits)
{
    struct cross_tasks *tasks = &waits->cross->tasks;
    const struct model_trace_event *event;

    cross_tasks_begin(tasks, waits->trace, waits->cross->order);
    while ((event = cross_tasks_peek(tasks)) != NULL && !waits->is_beyond) {
        const struct cross_task *task = cross_task(tasks, event->arg);

        if (begins_wait(event->type) && event->g < CROSS_TASKS_MAX)
            begin_wait(waits, event);
        else if (event->type == MODEL_TRACE_GO_UNBLOCK && task != NULL &&
                 waits->of[event->arg] != 0)
            end_wait(waits, task,
                     &waits->cross->waits[waits->of[event->arg] - 1], event);
        cross_tasks_next(tasks);
    }
    return !waits->is_beyond;
}

static const struct cross_site *
reported_at(const struct cross_sites *reported, const struct shown *shown)
{
    for (uint32_t i = 0; i < reported->count; i++) {
        const struct cross_site *site = &reported->sites[i];
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

/* Compare one stack of a profile with the same stack of the trace. */
static void
compare(struct waits *waits, const char *name,
        const struct cross_sites *reported, const struct shown *shown)
{
    const struct cross_site none = {.depth = 0};
    const struct cross_site *site = reported_at(reported, shown);

    if (site == NULL)
        site = &none;
    if (site->count != shown->count)
        cross_breach(waits->cross, PROPS_X1,
                     "the trace shows %" PRIu64 " waits at 0x%" PRIx64
                     ", the %s profile has %" PRIu64,
                     shown->count, shown->depth > 0 ? shown->pcs[0] : 0, name,
                     site->count);
    else if (site->cycles < shown->least_ticks ||
             site->cycles > shown->most_ticks)
        cross_breach(waits->cross, PROPS_X1,
                     "the trace shows %" PRIu64 " waits of %" PRIu64
                     " to %" PRIu64 " ticks at 0x%" PRIx64
                     ", the %s profile has %" PRIu64 " ticks",
                     shown->count, shown->least_ticks, shown->most_ticks,
                     shown->depth > 0 ? shown->pcs[0] : 0, name, site->cycles);
}

/* Every stack of a profile must also be in the trace. */
static uint64_t
unseen(const struct cross_sites *reported, const struct all_shown *all)
{
    uint64_t events = 0;

    for (uint32_t i = 0; i < reported->count; i++) {
        bool seen = false;

        for (uint32_t j = 0; j < all->count && !seen; j++)
            seen = reported_at(reported, &all->sites[j]) == &reported->sites[i];
        events += seen ? 0 : reported->sites[i].count;
    }
    return events;
}

static void
compare_all(struct waits *waits, enum prof_contention kind,
            const struct cross_sites *reported)
{
    const bool is_block = kind == PROF_BLOCK;
    const struct all_shown *all = is_block ? &waits->block : &waits->mutex;
    const char *name = is_block ? "block" : "mutex";
    uint64_t more;

    if (!reported->usable ||
        (!is_block && sim_world_config(waits->cross->world)->waiters_all)) {
        props_cover_hit(waits->cross->cover, COVER_CROSS_WAITS_UNJUDGED);
        return;
    }
    for (uint32_t i = 0; i < all->count; i++) {
        compare(waits, name, reported, &all->sites[i]);
        props_cover_hit(waits->cross->cover,
                        is_block ? COVER_CROSS_BLOCK : COVER_CROSS_MUTEX);
    }
    more = unseen(reported, all);
    if (more > 0)
        cross_breach(waits->cross, PROPS_X1,
                     "the %s profile has %" PRIu64
                     " waits that the trace does not show",
                     name, more);
}

void
cross_waits(struct cross *cross, const struct cross_session *session,
            const struct model_trace *trace)
{
    static struct waits waits;
    const struct sim_config *config = sim_world_config(cross->world);

    if (!cross_carries(cross, SIM_INSTRUMENT_BIT(SIM_CONTENTION)))
        return;
    waits.block.count = 0; /* sites are cleared when they are taken */
    waits.mutex.count = 0;
    waits.is_beyond = false;
    memset(waits.of, 0, sizeof waits.of);
    memset(waits.is_inside, 0, sizeof waits.is_inside);
    waits.cross = cross;
    waits.trace = trace;
    waits.divisor = config->trace.tick_divisor;
    waits.slack_ticks =
        waits.divisor - 1 +
        (config->trace.by_clock ? 2 * (int64_t)SIM_READINGS_MAX : 0);
    waits.next = session->waits_begin;
    memcpy(waits.of, session->waiting, sizeof session->waiting);
    memcpy(waits.released, session->released, sizeof waits.released);
    if (cross->is_short || !follow(&waits)) {
        props_cover_hit(cross->cover, COVER_CROSS_WAITS_UNJUDGED);
        return;
    }
    compare_all(&waits, PROF_BLOCK, &session->end[PROF_BLOCK]);
    compare_all(&waits, PROF_MUTEX, &session->end[PROF_MUTEX]);
}
