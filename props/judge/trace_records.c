/*
 * trace_records.c -- check the records and chunks of a trace: rules that do not
 * depend on the events.
 *
 *      chunk 1: header | chunks that begin with a batch: events |
 *      chunks: stacks 1, 2, 3 ... | Frequency, perhaps the timer task | end
 */
#include <inttypes.h>
#include <string.h>

#include "props/judge/trace_judge.h"

enum { HEADER_BYTES = 16, STACKS_MAX = 1024 };

/* The state of reading. */
struct reading {
    struct trace_judge *judge;
    uint32_t chunk; /* the chunk in which the current record begins */
    uint64_t chunk_start;
    uint64_t last_seq[SIM_PROCS_MAX + 1]; /* of each batch's processor, + 1 */
    uint64_t stacks;
    uint64_t frequencies;
    uint64_t timers;
    uint64_t timer;
    bool is_first_of_batch;
    bool is_by_clock;
};

/* The offset at which a chunk begins. */
static uint64_t
start_of(const struct trace_judge *judge, uint32_t chunk)
{
    return chunk == 0 ? 0 : judge->got->chunk_ends[chunk - 1];
}

/* Events and batches may not continue in the next chunk. */
static void
follow_chunks(struct reading *r, const struct model_trace_record *record)
{
    struct trace_judge *judge = r->judge;
    const uint64_t at = record->offset_bytes;
    const bool is_stack = record->type == MODEL_TRACE_STACK || r->stacks > 0;

    while (r->chunk < judge->got->chunks &&
           at >= judge->got->chunk_ends[r->chunk]) {
        r->chunk++;
        r->chunk_start = start_of(judge, r->chunk);
        if (is_stack || record->type == MODEL_TRACE_FREQUENCY)
            continue;
        if (at != r->chunk_start)
            trace_judge_breach(judge, PROPS_T5,
                               "a record goes on in the chunk at %" PRIu64,
                               r->chunk_start);
        else if (record->type != MODEL_TRACE_BATCH)
            trace_judge_breach(judge, PROPS_T5,
                               "the chunk at %" PRIu64 " does not begin with "
                               "a batch",
                               at);
    }
}

static void
take_batch(struct reading *r, const struct model_trace_record *record)
{
    const uint64_t proc = record->args[0];
    const bool is_none = proc == UINT64_MAX;
    uint64_t *last;

    r->is_first_of_batch = true;
    if (!is_none && proc >= SIM_PROCS_MAX) {
        trace_judge_breach(r->judge, PROPS_T12, "a batch of processor %" PRIu64,
                           proc);
        return;
    }
    last = &r->last_seq[is_none ? SIM_PROCS_MAX : proc];
    if (record->args[1] + 1 <= *last)
        trace_judge_breach(r->judge, PROPS_T2,
                           "the batch at %" PRIu64 " of processor %" PRId64
                           " begins at event %" PRIu64 ", after event %" PRIu64,
                           record->offset_bytes, (int64_t)proc, record->args[1],
                           *last - 1);
    *last = record->args[1] + 1;
}

static void
take_event(struct reading *r, const struct model_trace_record *record)
{
    if (r->stacks > 0 || r->frequencies > 0)
        trace_judge_breach(r->judge, PROPS_T4,
                           "an event at %" PRIu64 ", after the stacks",
                           record->offset_bytes);
    /* In the order of the clock, a batch begins with the number of the event
     * before it. */
    if (r->is_first_of_batch && !r->is_by_clock &&
        (record->args[0] != 0 || record->args[1] != 0))
        trace_judge_breach(
            r->judge, PROPS_T12,
            "the first event of a batch, at %" PRIu64
            ", differs from it by %" PRIu64 " numbers and %" PRIu64 " ticks",
            record->offset_bytes, record->args[0], record->args[1]);
    r->is_first_of_batch = false;
}

static void
take_stack(struct reading *r, const struct model_trace_record *record)
{
    r->stacks++;
    if (record->args[0] != r->stacks)
        trace_judge_breach(r->judge, PROPS_T6,
                           "stack number %" PRIu64 " is the %" PRIu64
                           "th in the file",
                           record->args[0], r->stacks);
    if (r->frequencies > 0)
        trace_judge_breach(r->judge, PROPS_T4, "a stack after the frequency");
}

static void
take_record(struct reading *r, const struct model_trace_record *record)
{
    if (record->type == MODEL_TRACE_BATCH) {
        take_batch(r, record);
    } else if (record->type == MODEL_TRACE_STACK) {
        take_stack(r, record);
    } else if (record->type == MODEL_TRACE_FREQUENCY) {
        r->frequencies++;
    } else if (record->type == MODEL_TRACE_TIMER_GOROUTINE) {
        r->timers++;
        r->timer = record->args[0];
    } else {
        take_event(r, record);
    }
}

static void
judge_end(const struct reading *r)
{
    const uint64_t want = r->judge->want->timers;

    if (r->frequencies != 1)
        trace_judge_breach(r->judge, PROPS_T4,
                           "the file names %" PRIu64 " frequencies",
                           r->frequencies);
    if (r->timers != (want != 0) || r->timer != want)
        trace_judge_breach(r->judge, PROPS_T12,
                           "the timers' task is %" PRIu64 ", the file says "
                           "%" PRIu64,
                           want, r->timer);
}

/* Each stack of the table is in the file once. */
static void
judge_stacks(struct trace_judge *judge, uint64_t stacks)
{
    static uint64_t a[MODEL_TRACE_FRAMES_MAX];
    static uint64_t b[MODEL_TRACE_FRAMES_MAX];

    for (uint64_t i = 1; i <= stacks && i <= STACKS_MAX; i++) {
        const uint32_t depth = model_trace_stack(&judge->trace, i, a);

        for (uint64_t j = 1; j < i; j++) {
            if (model_trace_stack(&judge->trace, j, b) == depth &&
                memcmp(a, b, depth * sizeof *a) == 0)
                trace_judge_breach(
                    judge, PROPS_T6,
                    "stacks %" PRIu64 " and %" PRIu64 " are the same", j, i);
        }
    }
}

void
trace_judge_records(struct trace_judge *judge)
{
    const struct sim_session *got = judge->got;
    struct reading reading = {
        .judge = judge,
        .is_by_clock = sim_world_config(judge->world)->trace.by_clock,
    };
    struct model_trace_record record;
    struct model_trace_wire wire;
    enum model_trace_step step;

    if (got->chunks == 0 || got->chunk_ends[0] != HEADER_BYTES ||
        !model_trace_wire_open(&wire, got->bytes, got->bytes_count)) {
        trace_judge_breach(judge, PROPS_T4, "it does not begin with a header");
        return;
    }
    while ((step = model_trace_wire_next(&wire, &record)) ==
           MODEL_TRACE_STEP_RECORD) {
        follow_chunks(&reading, &record);
        take_record(&reading, &record);
    }
    if (step == MODEL_TRACE_STEP_BROKEN) {
        trace_judge_breach(judge, PROPS_T4, "%s", wire.reason.text);
        return;
    }
    judge_end(&reading);
    model_trace_read(&judge->trace, got->bytes, got->bytes_count);
    judge_stacks(judge, reading.stacks);
}
