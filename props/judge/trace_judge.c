/*
 * trace_judge.c -- judge a run of a traced world at its end.
 *
 * Each session is judged from the bytes up: records (trace_records.c), events
 * (trace_events.c), spoilt copies (trace_spoilt.c). Only the first difference
 * is reported, since later ones may be its consequences.
 */
#include "props/judge/trace_judge.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/rng.h"
#include "props/judge/trace_readers.h"

bool
trace_judge_init(struct trace_judge *judge, uint32_t truths_max)
{
    const size_t events_max = model_oracle_events_max(truths_max);

    judge->oracle = model_oracle_new(truths_max);
    judge->wanted = calloc(events_max, sizeof *judge->wanted);
    judge->found = calloc(events_max, sizeof *judge->found);
    judge->scratch = NULL;
    judge->scratch_bytes = 0;
    model_trace_init(&judge->trace);
    model_trace_init(&judge->broken);
    if (judge->oracle != NULL && judge->wanted != NULL && judge->found != NULL)
        return true;
    trace_judge_release(judge);
    return false;
}

void
trace_judge_release(struct trace_judge *judge)
{
    model_oracle_delete(judge->oracle);
    model_trace_release(&judge->trace);
    model_trace_release(&judge->broken);
    free(judge->wanted);
    free(judge->found);
    free(judge->scratch);
}

/* Check the results of start, stop and read, added up. */
static void
judge_answers(struct trace_judge *judge)
{
    const struct sim_trace_answers *answers = sim_trace_answers(judge->world);

    if (answers->starts_refused_on > 0)
        props_cover_hit(judge->cover, COVER_TRACE_STARTED_TWICE);
    if (answers->stops_refused > 0)
        props_cover_hit(judge->cover, COVER_TRACE_STOPPED_TWICE);
    if (answers->starts_refused_read > 0)
        props_cover_hit(judge->cover, COVER_TRACE_STARTED_UNREAD);
    if (answers->wrong_controls > 0)
        trace_judge_breach(judge, PROPS_T8, "%s", answers->wrong_text);
    if (answers->wrong_reads > 0)
        trace_judge_breach(judge, PROPS_T4, "%s", answers->wrong_text);
}

/* returns: how many of the session's events the file may lack */
static void
judge_drops(struct trace_judge *judge)
{
    const uint64_t dropped = judge->got->drops.no_buffer;
    const struct sim_config *config = sim_world_config(judge->world);

    judge->kept = judge->want->count;
    if (dropped > judge->want->count)
        trace_judge_breach(judge, PROPS_T3,
                           "%" PRIu64 " events were dropped, of %" PRIu32,
                           dropped, judge->want->count);
    else
        judge->kept -= (uint32_t)dropped;
    if (dropped == 0)
        return;
    props_cover_hit(judge->cover, COVER_TRACE_DROPPED);
    if (judge->kept == 0)
        trace_judge_breach(judge, PROPS_T3,
                           "all events were dropped, and no buffer was in use "
                           "when it began");
    if (config->trace.eager && (judge->stalled >> judge->session & 1) == 0)
        trace_judge_breach(judge, PROPS_T3,
                           "%" PRIu64 " events were dropped although the "
                           "reader kept up",
                           dropped);
}

static void
cover_session(struct trace_judge *judge)
{
    const struct model_oracle_session *want = judge->want;
    const bool is_by_clock = sim_world_config(judge->world)->trace.by_clock;
    const struct {
        enum props_cover goal;
        bool hit;
    } rows[] = {
        {COVER_TRACE_SESSION, true},
        {COVER_TRACE_SECOND, judge->session > 0},
        {COVER_TRACE_BY_CLOCK, is_by_clock},
        {COVER_TRACE_CLOCK_CUT, is_by_clock && judge->got->drops.no_buffer > 0},
        {COVER_TRACE_CHUNKS, judge->got->chunks > 4},
        {COVER_TRACE_LATE_RETURN, want->returns_late > 0},
        {COVER_TRACE_RETURN, want->returns > 0},
        {COVER_TRACE_PROC_GONE, want->gone > 0},
        {COVER_TRACE_OUTSIDE, want->outside > 0},
        {COVER_TRACE_FUTILE, want->futile > 0},
        {COVER_TRACE_TIMERS, want->timers != 0},
        {COVER_TRACE_COLLECTING, want->was_collecting},
        {COVER_TRACE_NO_STACK, judge->got->drops.no_stack > 0},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].hit)
            props_cover_hit(judge->cover, rows[i].goal);
    }
}

static bool
is_broken(const struct trace_judge *judge)
{
    return judge->breach.property != PROPS_NONE;
}

/* Does the file have all events that it must have, in a possible order? */
static bool
is_whole(const struct trace_judge *judge)
{
    return judge->trace.verdict == MODEL_TRACE_OK &&
           judge->got->drops.no_buffer + judge->got->drops.no_stack == 0;
}

static void
judge_session(struct trace_judge *judge)
{
    if (!judge->want->has_ended)
        return; /* the run ended while tracing was on */
    if (!judge->got->has_ended) {
        if (sim_sessions(judge->world) > judge->session + 1)
            trace_judge_breach(judge, PROPS_T8,
                               "another began before it was read to its end");
        return;
    }
    cover_session(judge);
    judge_drops(judge);
    if (!is_broken(judge))
        trace_judge_records(judge);
    if (!is_broken(judge))
        trace_judge_events(judge);
    if (!is_broken(judge) && judge->cross != NULL && is_whole(judge))
        cross_session(judge->cross, judge->session, &judge->trace);
    if (!is_broken(judge))
        trace_judge_spoilt(judge);
}

static void
hash_bytes(struct trace_judge *judge)
{
    for (size_t i = 0; i < judge->got->bytes_count; i++)
        judge->hash =
            (judge->hash ^ judge->got->bytes[i]) * UINT64_C(0x100000001b3);
}

static void
judge_readers(struct trace_judge *judge)
{
    const char *why;

    if (!sim_world_config(judge->world)->trace.two_readers ||
        (judge->requested & PROPS_BIT(PROPS_T11)) == 0)
        return;
    props_cover_hit(judge->cover, COVER_TRACE_READERS);
    why = trace_readers_try();
    if (why != NULL)
        trace_judge_breach(judge, PROPS_T11, "%s", why);
}

bool
trace_judge_run(struct trace_judge *judge)
{
    const struct truth_log *log = sim_world_truth(judge->world);
    const struct sim_config *config = sim_world_config(judge->world);
    uint32_t sessions;

    judge->breach = (struct props_breach){.property = PROPS_NONE};
    judge->session = 0;
    model_oracle_read(judge->oracle, log, config->trace.tick_divisor,
                      config->trace.by_clock ? SIM_READINGS_MAX : 0);
    judge->hash = sim_mix64(truth_hash(log));
    sessions = model_oracle_sessions(judge->oracle);
    trace_judge_faults(judge);
    judge_answers(judge);
    if (judge->pending[0] != '\0')
        trace_judge_breach(judge, PROPS_L2, "%s", judge->pending);
    judge_readers(judge);
    if (sessions != sim_sessions(judge->world))
        trace_judge_breach(judge, PROPS_T8,
                           "there were %" PRIu32 " sessions, of %" PRIu32,
                           sim_sessions(judge->world), sessions);
    for (uint32_t i = 0; i < sessions && !is_broken(judge); i++) {
        judge->session = i;
        judge->got = sim_session(judge->world, i);
        judge->want = model_oracle_session(judge->oracle, i);
        judge_session(judge);
        hash_bytes(judge);
    }
    return !is_broken(judge);
}
