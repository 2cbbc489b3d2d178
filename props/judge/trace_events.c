/*
 * trace_events.c -- compare the decoded events of a trace with the model's.
 *
 * Both lists are sorted by the order in which things happened: the model's by
 * rank, the trace's by sequence number. The first difference is reported.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "props/judge/trace_judge.h"

static const struct model_trace_event *
found_at(const struct trace_judge *judge, uint32_t index)
{
    return &judge->trace.events[judge->found[index]];
}

static const struct model_oracle_event *
wanted_at(const struct trace_judge *judge, uint32_t index)
{
    return &judge->want->events[judge->wanted[index]];
}

/* The events are nearly sorted, in long runs. */
void
trace_judge_sort(const struct model_trace *trace, uint32_t *order)
{
    const struct model_trace_event *events = trace->events;

    for (uint32_t i = 0; i < trace->events_count; i++) {
        uint32_t at = i;

        for (; at > 0 && events[order[at - 1]].seq > events[i].seq; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
}

static int64_t
proc_of(const struct model_oracle_event *want)
{
    return want->proc == TRUTH_NO_PROC ? -1 : (int64_t)want->proc;
}

/* Is it the event for this fact, whatever its arguments? */
static bool
is_same(const struct trace_judge *judge, const struct model_oracle_event *want,
        const struct model_trace_event *found)
{
    return found->type == want->type && found->arg == want->arg &&
           found->g == want->g &&
           model_trace_proc_id(&judge->trace, found->proc) == proc_of(want);
}

static bool
is_then(const struct model_oracle_event *want,
        const struct model_trace_event *found)
{
    return found->ticks >= want->ticks && found->ticks <= want->ticks_latest;
}

static bool
is_anywhere(const struct trace_judge *judge,
            const struct model_oracle_event *want, uint32_t from)
{
    for (uint32_t i = from; i < judge->trace.events_count; i++) {
        if (is_same(judge, want, found_at(judge, i)) &&
            is_then(want, found_at(judge, i)))
            return true;
    }
    return false;
}

/* A wanted event is not where it should be: name the property that this
 * breaks. */
static void
miss(struct trace_judge *judge, uint32_t index)
{
    const struct model_oracle_event *want = wanted_at(judge, index);
    const struct model_trace_event *found =
        index < judge->trace.events_count ? found_at(judge, index) : NULL;
    const bool is_late = is_anywhere(judge, want, index);
    enum props_property property = PROPS_T3;

    if (want->type == MODEL_TRACE_GO_SYS_EXIT ||
        (found != NULL && found->type == MODEL_TRACE_GO_SYS_EXIT))
        property = PROPS_T9;
    else if (is_late)
        property = PROPS_T1;
    else if (want->is_gone)
        property = PROPS_T10;
    trace_judge_breach(
        judge, property,
        "entry %" PRIu32 " of the trace must be %s (task %" PRIu64
        ", processor %" PRId64 ", argument %" PRIu64 ") at tick %" PRId64
        "%s; in its place is %s (task %" PRIu64 ", processor %" PRId64
        ", argument %" PRIu64 ")",
        index + 1, model_trace_type_name(want->type), want->g, proc_of(want),
        want->arg, want->ticks, is_late ? ", which comes later" : "",
        found == NULL
            ? "nothing"
            : model_trace_type_name((enum model_trace_type)found->type),
        found == NULL ? 0 : found->g,
        found == NULL ? 0 : model_trace_proc_id(&judge->trace, found->proc),
        found == NULL ? 0 : found->arg);
}

/* returns: was the stack left out for lack of room? */
static bool
judge_stack(struct trace_judge *judge, uint32_t index)
{
    static uint64_t pcs[MODEL_TRACE_FRAMES_MAX];
    const struct model_oracle_event *want = wanted_at(judge, index);
    const struct model_trace_event *found = found_at(judge, index);
    const struct truth_stack empty = {NULL, 0};
    const struct truth_stack *stack =
        want->stack == TRUTH_NO_STACK
            ? &empty
            : &sim_world_config(judge->world)->stacks[want->stack];
    const uint32_t depth = stack->depth < PROF_TRACE_DEPTH_LIMIT
                               ? stack->depth
                               : PROF_TRACE_DEPTH_LIMIT;
    const uint32_t got = model_trace_stack(&judge->trace, found->stack, pcs);

    if (found->stack == 0 && depth > 0 && judge->got->drops.no_stack > 0)
        return true;
    for (uint32_t i = 0; i < depth && i < got; i++) {
        if (pcs[i] != stack->frames[i])
            trace_judge_breach(
                judge, PROPS_T6,
                "entry %" PRIu32 ": frame %" PRIu32 " of stack %" PRIu64
                " is 0x%" PRIx64 ", not 0x%" PRIxPTR,
                index + 1, i + 1, found->stack, pcs[i], stack->frames[i]);
    }
    if (got != depth || (depth == 0) != (found->stack == 0))
        trace_judge_breach(judge, PROPS_T6,
                           "entry %" PRIu32 ": stack %" PRIu64 " has %" PRIu32
                           " frames, not %" PRIu32,
                           index + 1, found->stack, got, depth);
    if (stack->depth > PROF_TRACE_DEPTH_LIMIT)
        props_cover_hit(judge->cover, COVER_TRACE_STACK_CUT);
    return false;
}

/* returns: as judge_stack() */
static bool
judge_event(struct trace_judge *judge, uint32_t index)
{
    const struct model_oracle_event *want = wanted_at(judge, index);
    const struct model_trace_event *found = found_at(judge, index);

    if (!is_then(want, found))
        trace_judge_breach(judge, PROPS_T1,
                           "entry %" PRIu32 ", %s, is at tick %" PRId64
                           ", not %" PRId64,
                           index + 1, model_trace_type_name(want->type),
                           found->ticks, want->ticks);
    if (want->type == MODEL_TRACE_GO_CREATE && found->pc != want->pc)
        trace_judge_breach(judge, PROPS_T12,
                           "entry %" PRIu32 ": task %" PRIu64
                           " begins at 0x%" PRIx64 ", not 0x%" PRIx64,
                           index + 1, want->arg, found->pc, want->pc);
    if (index > 0 && found->seq <= found_at(judge, index - 1)->seq)
        trace_judge_breach(judge, PROPS_T1,
                           "entries %" PRIu32 " and %" PRIu32
                           " both have number %" PRId64,
                           index, index + 1, found->seq);
    return judge_stack(judge, index);
}

/* Every stack in the file belongs to an event of this session. */
static void
judge_strangers(struct trace_judge *judge)
{
    for (uint32_t i = 0; i < judge->trace.stacks.count; i++) {
        const uint64_t id = judge->trace.stacks.nodes[i].key;
        bool is_named = judge->got->drops.no_buffer > 0;

        for (uint32_t j = 0; j < judge->trace.events_count && !is_named; j++)
            is_named = judge->trace.events[j].stack == id;
        if (!is_named)
            trace_judge_breach(judge, PROPS_T8,
                               "no event of the session has stack %" PRIu64,
                               id);
    }
}

static void
judge_verdict(struct trace_judge *judge)
{
    const enum model_trace_verdict want =
        judge->runs_back ? MODEL_TRACE_TIME_ORDER : MODEL_TRACE_OK;

    if (judge->runs_back)
        props_cover_hit(judge->cover, COVER_TRACE_SKEW);
    if (judge->trace.verdict != want)
        trace_judge_breach(judge, PROPS_T1, "the verdict is %s, not %s: %s",
                           model_trace_verdict_name(judge->trace.verdict),
                           model_trace_verdict_name(want),
                           judge->trace.reason.text);
}

void
trace_judge_events(struct trace_judge *judge)
{
    uint64_t stackless = 0;

    judge->runs_back =
        model_oracle_order(judge->want, judge->kept, judge->wanted);
    trace_judge_sort(&judge->trace, judge->found);
    for (uint32_t i = 0; i < judge->kept; i++) {
        if (i >= judge->trace.events_count ||
            !is_same(judge, wanted_at(judge, i), found_at(judge, i))) {
            miss(judge, i);
            return;
        }
        stackless += judge_event(judge, i);
    }
    if (judge->trace.events_count > judge->kept)
        trace_judge_breach(judge, PROPS_T3,
                           "there are %" PRIu32 " events, %" PRIu32
                           " were to be",
                           judge->trace.events_count, judge->kept);
    if (judge->got->drops.no_buffer == 0 &&
        stackless != judge->got->drops.no_stack)
        trace_judge_breach(judge, PROPS_T6,
                           "%" PRIu64 " events lack their stack, %" PRIu64
                           " are counted",
                           stackless, judge->got->drops.no_stack);
    if (judge->trace.ticks_per_second <
            (int64_t)judge->want->ticks_per_second_least ||
        judge->trace.ticks_per_second >
            (int64_t)judge->want->ticks_per_second_most)
        trace_judge_breach(judge, PROPS_T7,
                           "the frequency is %" PRIu64 ", the file says "
                           "%" PRId64,
                           judge->want->ticks_per_second_most,
                           judge->trace.ticks_per_second);
    judge_strangers(judge);
    judge_verdict(judge);
}
