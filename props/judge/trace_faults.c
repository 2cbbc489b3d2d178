/*
 * trace_faults.c -- which faults happened in a traced run, and how the run ends
 * once faults stop (L2).
 *
 * This quiet end takes at most QUIET_EVENTS_MAX events: one to wake each
 * stalled processor and one to wake the reader, up to four until a task runs,
 * one that stops tracing, one that reads. The reader then gets a header, a
 * footer, and at most one part for each buffer and each piece of the stacks.
 */
#include <inttypes.h>
#include <stdio.h>

#include "sim/generate/generate.h"
#include "props/judge/trace_judge.h"

enum { QUIET_EVENTS_MAX = 24, HEADER_AND_FOOTER = 3 };

/* Who is stalled, or held up. */

struct held {
    uint32_t session; /* the session that is on or unread, from 1; 0: none */
    bool unread;
    bool reader;
    bool collects;
    uint32_t working; /* processors, for the collector */
    uint32_t stalled; /* a bit for each processor stalled in a collection */
    uint64_t ticks;
};

/* Is this something that a task, a processor or the collector does? */
static bool
is_work(enum truth_kind kind)
{
    return kind == TRUTH_MARK || kind == TRUTH_TERMINATE ||
           (kind >= TRUTH_TASKS_FIRST && kind <= TRUTH_TIMERS);
}

static void
hit_if(struct trace_judge *judge, bool met, enum props_cover goal)
{
    if (met)
        props_cover_hit(judge->cover, goal);
}

/* Follow who is held up, and whether there is a trace, through a step. */
static void
follow(struct held *held, const struct truth_entry *step)
{
    const uint32_t bit =
        step->proc < SIM_PROCS_MAX ? UINT32_C(1) << step->proc : 0;

    if (step->kind == TRUTH_TRACE_START) {
        held->session++;
        held->unread = true;
        held->ticks = (uint64_t)step->at_ticks;
    } else if (step->kind == TRUTH_TRACE_READ) {
        held->unread = false;
    } else if (step->kind == TRUTH_MARK || step->kind == TRUTH_TERMINATE) {
        held->collects = step->kind == TRUTH_MARK;
    } else if (step->kind == TRUTH_SCAN_START ||
               step->kind == TRUTH_SWEEP_START) {
        held->working |= bit;
    } else if (step->kind == TRUTH_SCAN_DONE ||
               step->kind == TRUTH_SWEEP_DONE) {
        held->working &= ~bit;
    } else if (step->kind == TRUTH_READER_STALL ||
               step->kind == TRUTH_READER_BACK) {
        held->reader = step->kind == TRUTH_READER_STALL;
    } else if (step->kind == TRUTH_STALL &&
               (held->collects || (held->working & bit) != 0)) {
        held->stalled |= bit;
    } else if (step->kind == TRUTH_GO_ON) {
        held->stalled &= ~bit;
    }
}

void
trace_judge_faults(struct trace_judge *judge)
{
    const struct truth_log *log = sim_world_truth(judge->world);
    struct held held = {.session = 0};

    judge->stalled = 0;
    for (uint32_t i = 0; i < log->entries_count; i++) {
        const struct truth_entry *step = &log->entries[i];
        const bool clock = step->kind == TRUTH_CLOCK_JUMP;
        const bool back = step->cycles < 0;

        follow(&held, step);
        if (!held.unread)
            continue;
        if (held.reader)
            judge->stalled |= UINT64_C(1) << (held.session - 1);
        hit_if(judge, held.reader && is_work(step->kind),
               COVER_FAULT_READER_STALLS);
        hit_if(judge, held.stalled != 0 && is_work(step->kind),
               COVER_FAULT_TRACE_STALL);
        hit_if(judge, clock && !back, COVER_FAULT_TRACE_CLOCK_AHEAD);
        hit_if(judge, clock && back, COVER_FAULT_TRACE_CLOCK_BACK);
        hit_if(judge, step->kind == TRUTH_CLOCK_FREEZE,
               COVER_FAULT_TRACE_CLOCK_FREEZE);
        hit_if(judge, ((uint64_t)step->at_ticks ^ held.ticks) >> 63 != 0,
               COVER_FAULT_TRACE_CLOCK_LIMIT);
        held.ticks = (uint64_t)step->at_ticks;
    }
}

/* ---- The quiet end ---- */

/* How many parts all stacks may take: a piece has at least 11 frames. */
static uint32_t
parts_max(const struct sim_config *config)
{
    const uint32_t pieces = 1 + PROF_TRACE_DEPTH_LIMIT / 11;
    const uint32_t parts = config->trace.buffers +
                           pieces * config->trace.stacks_room +
                           HEADER_AND_FOOTER;

    return parts < SIM_TRACE_CHUNKS_MAX ? parts : SIM_TRACE_CHUNKS_MAX;
}

/* Write who still waits for what, although nobody is held up any more. */
static void
report_pending(const struct sim_world *world, char *pending,
               size_t pending_bytes)
{
    const uint32_t sessions = sim_sessions(world);
    const struct sim_session *session;

    if (sim_world_traces(world)) {
        snprintf(pending, pending_bytes,
                 "the end of session %" PRIu32
                 " waits for a task that runs and stops tracing",
                 sessions);
        return;
    }
    if (sessions == 0)
        return;
    session = sim_session(world, sessions - 1);
    if (!session->has_ended)
        snprintf(pending, pending_bytes,
                 "the reader waits for the end of session %" PRIu32
                 ": tracing is off, it has %" PRIu32
                 " parts, and a read returns: %s",
                 sessions, session->chunks,
                 prof_status_text(sim_trace_answers(world)->last_read));
    else if (session->chunks - session->chunks_on >
             parts_max(sim_world_config(world)))
        snprintf(pending, pending_bytes,
                 "session %" PRIu32 " took %" PRIu32
                 " parts after its end, of at most %" PRIu32,
                 sessions, session->chunks - session->chunks_on,
                 parts_max(sim_world_config(world)));
}

void
trace_judge_quiet(struct sim_world *world, char *pending, size_t pending_bytes)
{
    struct sim_event event;

    pending[0] = '\0';
    if (!sim_world_carries(world, SIM_TRACER))
        return;
    for (int i = 0; i < QUIET_EVENTS_MAX && sim_quiet_next(world, &event);
         i++) {
        const char *why = sim_world_apply(world, &event);

        if (why != NULL) {
            snprintf(pending, pending_bytes, "%s is pending: %s",
                     sim_event_word(event.kind), why);
            return;
        }
    }
    report_pending(world, pending, pending_bytes);
}
