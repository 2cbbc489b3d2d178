/* cross.c -- keep the instruments' results when a session begins or ends. */
#include "props/cross/cross.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/instruments/instrument_cpu.h"
#include "prof/trace.h"

void
cross_release(struct cross *cross)
{
    for (uint32_t i = 0; i < SIM_TRACE_SESSIONS_MAX; i++)
        free(cross->sessions[i].cpu);
    cross_lines_release(&cross->lines);
    free(cross->records);
    free(cross->controls);
    free(cross->origins);
    free(cross->waits);
}

void
cross_begin(struct cross *cross)
{
    cross->sessions_count = 0;
    cross->readings_count = 0;
    cross->snapshots_count = 0;
    cross->records_count = 0;
    cross->controls_count = 0;
    cross->origins_count = 0;
    cross->waits_count = 0;
    memset(cross->on, 0, sizeof cross->on);
    memset(cross->last, 0, sizeof cross->last);
    memset(cross->released, 0, sizeof cross->released);
    cross->is_short = false;
    cross->cpu_session = 0;
    cross->cpu_begins = 0;
    cross->tracing = false;
    cross->numbers_are_made_up = false;
    cross->unsteady = false;
    cross->unflushed = false;
    cross->flushed = true;
    cross->compared_published = false;
    cross->heap_rated = false;
    cross->lines.count = 0;
}

/* ---- contention profiles ---- */

static bool
is_whole(const struct cross *cross, enum prof_contention kind)
{
    struct prof *prof = sim_world_prof(cross->world);
    const struct prof_drops drops = prof_drops(prof);

    return drops.no_bucket + drops.no_frames + drops.no_mutex == 0 &&
           (kind == PROF_BLOCK ? prof_block_rate_ticks(prof)
                               : prof_mutex_fraction_set(prof, -1)) == 1;
}

static void
take_sites(struct cross *cross, enum prof_contention kind,
           struct cross_sites *sites)
{
    struct prof_contention_record records[CROSS_SITES_MAX];
    size_t count = 0;

    sites->count = 0;
    sites->usable =
        is_whole(cross, kind) &&
        prof_contention_snapshot(sim_world_prof(cross->world), kind, records,
                                 CROSS_SITES_MAX, &count) == PROF_OK;
    for (size_t i = 0; i < count && sites->usable; i++)
        sites->sites[sites->count++] = (struct cross_site){
            .stack = records[i].stack,
            .depth = records[i].depth,
            .count = records[i].count,
            .cycles = records[i].cycles,
        };
}

/* Leave only what was added after `begin`. Stacks of one instance keep their
 * addresses. */
static void
subtract(struct cross_sites *end, const struct cross_sites *begin)
{
    end->usable &= begin->usable;
    for (uint32_t i = 0; i < end->count; i++) {
        struct cross_site *site = &end->sites[i];

        for (uint32_t j = 0; j < begin->count; j++) {
            const struct cross_site *before = &begin->sites[j];

            if (before->stack == site->stack && before->depth == site->depth) {
                site->count -= before->count;
                site->cycles -= before->cycles;
            }
        }
    }
}

/* ---- sessions ---- */

static struct cross_session *
session_now(struct cross *cross)
{
    return &cross->sessions[cross->sessions_count - 1];
}

static void
begin_session(struct cross *cross)
{
    struct cross_session *session;

    cross->sessions_count++; /* a world has at most as many sessions as fit */
    cross->tracing = true;
    cross->gomaxprocs = 1;
    cross->gc_done = 0;
    session = session_now(cross);
    session->ended = false;
    session->has_cpu = false;
    session->was_collecting = sim_world_gc(cross->world)->marking;
    session->lines_begin = cross_lines_so_far(cross);
    session->waits_begin = cross->waits_count;
    memcpy(session->waiting, cross->last, sizeof session->waiting);
    memcpy(session->released, cross->released, sizeof session->released);
    for (int kind = 0; kind < 2; kind++) {
        session->begin[kind].usable = false;
        session->end[kind].usable = false;
        if (cross_carries(cross, SIM_INSTRUMENT_BIT(SIM_CONTENTION)))
            take_sites(cross, (enum prof_contention)kind,
                       &session->begin[kind]);
    }
}

static void
end_session(struct cross *cross)
{
    struct cross_session *session = session_now(cross);

    cross->tracing = false;
    session->lines_end = cross_lines_so_far(cross);
    for (int kind = 0; kind < 2; kind++) {
        if (!session->begin[kind].usable)
            continue;
        take_sites(cross, (enum prof_contention)kind, &session->end[kind]);
        subtract(&session->end[kind], &session->begin[kind]);
    }
    session->ended = true;
}

/* ---- events ---- */

/* Follow what an event says about the whole run. */
static void
watch(struct cross *cross, const struct sim_event *event)
{
    switch ((int)event->kind) {
    case SIM_EV_HEAP:
    case SIM_EV_GOAL:
        cross->numbers_are_made_up = true;
        break;
    case SIM_EV_HEAP_RATE:
        cross->heap_rated = true;
        break;
    case SIM_EV_GC_FLUSH:
        cross->flushed = true;
        break;
    case SIM_EV_GC_TERMINATE:
    case SIM_EV_GC_TERMINATE_STW:
        cross->unflushed |= !cross->flushed;
        cross->flushed = false;
        break;
    case SIM_EV_CLOCK_JUMP:
    case SIM_EV_CLOCK_FREEZE:
        cross->unsteady = true;
        break;
    default:
        break;
    }
}

/* Follow what an event says about the current session. */
static void
watch_session(struct cross *cross, const struct sim_event *event)
{
    struct cross_session *session = session_now(cross);

    switch ((int)event->kind) {
    case SIM_EV_SET_PROCS:
        cross->gomaxprocs++;
        break;
    case SIM_EV_GOROUTINES:
        if (cross_carries(cross, SIM_INSTRUMENT_BIT(SIM_TASKS)))
            cross_keep_tasks(cross);
        cross->gomaxprocs++;
        break;
    case SIM_EV_GC_TERMINATE:
    case SIM_EV_GC_TERMINATE_STW:
        cross->gc_done++;
        break;
    case SIM_EV_GC_FLUSH:
    case SIM_EV_GC_POST_SWEEP:
        cross_keep_control(cross, event->kind);
        break;
    case SIM_EV_SNAPSHOT_ALL:
        if (cross_carries(cross, SIM_INSTRUMENT_BIT(SIM_HEAP_PROFILE)))
            cross_keep_snapshot(cross);
        break;
    case SIM_EV_BLOCK: /* a wait of no task */
    case SIM_EV_BLOCK_RATE:
        session->begin[PROF_BLOCK].usable = false;
        break;
    case SIM_EV_MUTEX:
    case SIM_EV_MUTEX_FRACTION:
        session->begin[PROF_MUTEX].usable = false;
        break;
    case SIM_EV_CPU_STOP:
        if (cross_carries(cross, SIM_INSTRUMENT_BIT(SIM_CPU)))
            cross_keep_cpu(cross);
        break;
    default:
        break;
    }
}

/* A start that is refused, because a profile is running, begins none. */
static void
start_cpu(struct cross *cross)
{
    const struct sim_cpu_profile *profile = sim_cpu_profile(cross->world);

    if (profile->begins == cross->cpu_begins)
        return;
    cross->cpu_begins = profile->begins;
    cross->cpu_session = cross->tracing ? cross->sessions_count : 0;
}

void
cross_event(struct cross *cross, const struct sim_event *event)
{
    const bool traces = sim_world_traces(cross->world);

    watch(cross, event);
    if (cross_carries(cross, SIM_INSTRUMENT_BIT(SIM_DEBUG_LINES)))
        cross_keep_origins(cross, event);
    if (event->kind == SIM_EV_CPU_START &&
        cross_carries(cross, SIM_INSTRUMENT_BIT(SIM_CPU)))
        start_cpu(cross);
    if (!cross_carries(cross, SIM_INSTRUMENT_BIT(SIM_TRACER)))
        return;
    cross_keep_waits(cross, event);
    if (traces && !cross->tracing)
        begin_session(cross);
    else if (!traces && cross->tracing)
        end_session(cross);
    else if (cross->tracing)
        watch_session(cross, event);
}

void
cross_session(struct cross *cross, uint32_t session,
              const struct model_trace *trace)
{
    const struct cross_session *reported = &cross->sessions[session];

    if (session >= cross->sessions_count || !reported->ended)
        return;
    cross_waits(cross, reported, trace);
    cross_heap(cross, session, trace);
    cross_goroutines(cross, session, trace);
    cross_cpu(cross, reported, trace);
}
