/*
 * failure_trace.c -- see failure_trace.h.
 *
 * The events that were expected and those that were found are two lists, both
 * in the chronological order that the judge of traces gives them. The page
 * shows them side by side and marks the differences.
 */
#include "props/page/failure_trace.h"

#include <inttypes.h>
#include <string.h>

#include "common/json.h"
#include "props/judge/trace_judge.h"

enum {
    EVENTS_SHOWN = 1000, /* of a session */
    RECORDS_SHOWN = 1000
};

struct print {
    FILE *file;
    const struct sim_scenario *scenario;
    struct trace_judge *judge;
    const uint32_t *facts;
    uint32_t events_count;
};

/* ---- Stacks by their names ---- */

static uint32_t
depth_of(const struct truth_stack *stack)
{
    return stack->depth < PROF_TRACE_DEPTH_LIMIT ? stack->depth
                                                 : PROF_TRACE_DEPTH_LIMIT;
}

/* If two stacks of the scenario are equal up to the depth that a trace keeps,
 * both get the name of the first. */
static void
print_frames(const struct print *print, const uint64_t *frames, uint32_t depth)
{
    for (uint32_t s = 0; s < print->scenario->config.stacks_count; s++) {
        const struct truth_stack *stack = &print->scenario->stacks[s];
        bool is_same = depth_of(stack) == depth;

        for (uint32_t f = 0; f < depth && is_same; f++)
            is_same = stack->frames[f] == frames[f];
        if (is_same && depth > 0) {
            sim_json_string(print->file, print->scenario->stack_names[s]);
            return;
        }
    }
    fputc('"', print->file);
    for (uint32_t f = 0; f < depth; f++)
        fprintf(print->file, "%s0x%" PRIx64, f > 0 ? " < " : "", frames[f]);
    fputc('"', print->file);
}

static void
print_wanted_stack(const struct print *print, uint32_t index)
{
    static uint64_t frames[PROF_TRACE_DEPTH_LIMIT];
    const struct truth_stack *stack = &print->scenario->stacks[index];
    const uint32_t depth = index == TRUTH_NO_STACK ? 0 : depth_of(stack);

    for (uint32_t f = 0; f < depth; f++)
        frames[f] = stack->frames[f];
    print_frames(print, frames, depth);
}

/* ---- Events ---- */

/* returns: the number, from 1, of the scenario's event that made an entry of
 * the truth log */
static uint32_t
event_of(const struct print *print, uint64_t fact)
{
    uint32_t least = 0;
    uint32_t most = print->events_count;

    while (least < most) {
        const uint32_t middle = least + (most - least) / 2;

        if (print->facts[middle] > fact)
            most = middle;
        else
            least = middle + 1;
    }
    return least + 1;
}

static void
print_place(FILE *file, enum model_trace_type type, int64_t proc)
{
    fprintf(file, "[\"%s\",%" PRId64 ",", model_trace_type_name(type), proc);
}

static void
print_wanted(const struct print *print,
             const struct model_oracle_session *session, uint32_t kept)
{
    fprintf(print->file, ",\n\"expected_count\":%" PRIu32 ",\"expected\":[",
            kept);
    for (uint32_t i = 0; i < kept && i < EVENTS_SHOWN; i++) {
        const struct model_oracle_event *event =
            &session->events[print->judge->wanted[i]];

        fputs(i > 0 ? ",\n" : "\n", print->file);
        print_place(print->file, event->type,
                    event->proc == TRUTH_NO_PROC ? -1 : (int64_t)event->proc);
        fprintf(print->file,
                "%" PRIu64 ",%" PRIu64 ",%" PRId64 ",%" PRId64 ",%" PRIu32 ",",
                event->g, event->arg, event->ticks, event->ticks_latest,
                event_of(print, model_oracle_fact(event)));
        print_wanted_stack(print, event->stack);
        fputc(']', print->file);
    }
    fputc(']', print->file);
}

static void
print_found(const struct print *print)
{
    static uint64_t frames[MODEL_TRACE_FRAMES_MAX];
    const struct model_trace *trace = &print->judge->trace;

    fprintf(print->file, ",\n\"found_count\":%" PRIu32 ",\"found\":[",
            trace->events_count);
    for (uint32_t i = 0; i < trace->events_count && i < EVENTS_SHOWN; i++) {
        const struct model_trace_event *event =
            &trace->events[print->judge->found[i]];

        fputs(i > 0 ? ",\n" : "\n", print->file);
        print_place(print->file, (enum model_trace_type)event->type,
                    model_trace_proc_id(trace, event->proc));
        fprintf(print->file,
                "%" PRIu64 ",%" PRIu64 ",%" PRId64 ",%" PRId64 ",%" PRIu64 ",",
                event->g, event->arg, event->ticks, event->seq,
                event->offset_bytes);
        print_frames(print, frames,
                     model_trace_stack(trace, event->stack, frames));
        fputc(']', print->file);
    }
    fputc(']', print->file);
}

/* ---- The file ---- */

static void
print_records(const struct print *print, const struct sim_session *got)
{
    struct model_trace_record record;
    struct model_trace_wire wire;
    uint32_t count = 0;

    fputs(",\n\"parts\":[", print->file);
    for (uint32_t i = 0; i < got->chunks; i++)
        fprintf(print->file, "%s%" PRIu32, i > 0 ? "," : "",
                got->chunk_ends[i]);
    fputs("],\"records\":[", print->file);
    if (!model_trace_wire_open(&wire, got->bytes, got->bytes_count))
        count = RECORDS_SHOWN;
    for (; count < RECORDS_SHOWN &&
           model_trace_wire_next(&wire, &record) == MODEL_TRACE_STEP_RECORD;
         count++) {
        fprintf(print->file, "%s[%" PRIu64 ",\"%s\"", count > 0 ? ",\n" : "\n",
                record.offset_bytes, model_trace_type_name(record.type));
        for (uint64_t a = 0; a < record.arg_count && a < MODEL_TRACE_ARGS_MAX;
             a++)
            fprintf(print->file, ",%" PRIu64, record.args[a]);
        fputc(']', print->file);
    }
    fputc(']', print->file);
}

static void
print_session(const struct print *print, uint32_t index)
{
    const struct sim_session *got = sim_session(print->judge->world, index);
    const struct model_oracle_session *want =
        model_oracle_session(print->judge->oracle, index);
    const uint64_t dropped = got->drops.no_buffer;
    const uint32_t kept =
        dropped > want->count ? 0 : want->count - (uint32_t)dropped;
    struct model_trace *trace = &print->judge->trace;

    model_trace_read(trace, got->bytes, got->bytes_count);
    trace_judge_sort(trace, print->judge->found);
    model_oracle_order(want, kept, print->judge->wanted);
    fprintf(print->file,
            "%s{\"session\":%" PRIu32 ",\"stopped\":%s,\"read\":%s,"
            "\"dropped\":%" PRIu64 ",\"without_stack\":%" PRIu64
            ",\"bytes\":%zu,\"verdict\":\"%s\"",
            index > 0 ? ",\n" : "\n", index + 1,
            want->has_ended ? "true" : "false",
            got->has_ended ? "true" : "false", dropped, got->drops.no_stack,
            got->bytes_count, model_trace_verdict_name(trace->verdict));
    if (trace->verdict != MODEL_TRACE_OK) {
        fputs(",\"reason\":", print->file);
        sim_json_string(print->file, trace->reason.text);
    }
    fprintf(print->file,
            ",\"ticks_per_second\":[%" PRIu64 ",%" PRIu64 ",%" PRId64
            "],\"timers\":%" PRIu64,
            want->ticks_per_second_least, want->ticks_per_second_most,
            trace->ticks_per_second, want->timers);
    print_wanted(print, want, kept);
    print_found(print);
    print_records(print, got);
    fputc('}', print->file);
}

void
cli_failure_trace_print(FILE *file, const struct sim_scenario *scenario,
                        struct props_run *run, const uint32_t *facts,
                        uint32_t events_count)
{
    const struct print print = {file, scenario, &run->trace, facts,
                                events_count};
    const uint32_t sessions = model_oracle_sessions(run->trace.oracle);

    fputc('[', file);
    for (uint32_t i = 0; i < sessions && i < sim_sessions(run->judge.world);
         i++)
        print_session(&print, i);
    fputs("]\n", file);
    fflush(file);
}
