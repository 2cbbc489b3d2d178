/*
 * trace_spoilt.c -- give the reader spoilt copies of a trace: cut anywhere
 * (T13), or with bytes changed anywhere (T14).
 *
 * A cut file lacks its frequency, so the reader must refuse it; but the events
 * before the cut must be read as from the whole file.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/rng.h"
#include "props/judge/trace_judge.h"

enum { TRIES = 6, SPOILT_ONE_IN = 8 };

static bool
make_room(struct trace_judge *judge, size_t bytes)
{
    uint8_t *more;

    if (bytes <= judge->scratch_bytes)
        return true;
    more = realloc(judge->scratch, bytes);
    if (more == NULL)
        return false;
    judge->scratch = more;
    judge->scratch_bytes = bytes;
    return true;
}

static void
judge_cut(struct trace_judge *judge, size_t bytes)
{
    const struct model_trace *whole = &judge->trace;
    const struct model_trace *part = &judge->broken;
    const enum model_trace_verdict verdict =
        model_trace_read(&judge->broken, judge->got->bytes, bytes);

    props_cover_hit(judge->cover, COVER_TRACE_CUT);
    if (verdict != MODEL_TRACE_ERROR || part->reason.text[0] == '\0')
        trace_judge_breach(
            judge, PROPS_T13, "%zu bytes of %zu are accepted (%s)", bytes,
            judge->got->bytes_count, model_trace_verdict_name(verdict));
    for (uint32_t i = 0; i < part->events_count; i++) {
        if (i >= whole->events_count ||
            part->events[i].type != whole->events[i].type ||
            part->events[i].seq != whole->events[i].seq ||
            part->events[i].ticks != whole->events[i].ticks ||
            part->events[i].g != whole->events[i].g)
            trace_judge_breach(judge, PROPS_T13,
                               "cut at %zu, event %" PRIu32 " is another one",
                               bytes, i + 1);
    }
}

static void
judge_change(struct trace_judge *judge, struct sim_rng *rng)
{
    const size_t bytes = judge->got->bytes_count;

    memcpy(judge->scratch, judge->got->bytes, bytes);
    for (int i = 0; i < 3; i++)
        judge->scratch[sim_rng_next(rng) % bytes] = (uint8_t)sim_rng_next(rng);
    props_cover_hit(judge->cover, COVER_TRACE_SPOILT);
    model_trace_read(&judge->broken, judge->scratch, bytes);
    if (judge->broken.verdict != MODEL_TRACE_OK &&
        judge->broken.reason.text[0] == '\0')
        trace_judge_breach(judge, PROPS_T14, "refused without a reason");
}

void
trace_judge_spoilt(struct trace_judge *judge)
{
    const size_t bytes = judge->got->bytes_count;
    /* The footer comes last, so a cut before it leaves no frequency. */
    const size_t cut_max = judge->want->timers == 0 ? bytes : bytes / 2;
    struct sim_rng rng;

    rng.state = judge->hash ^ bytes;
    if (sim_rng_next(&rng) % SPOILT_ONE_IN != 0 || !make_room(judge, bytes))
        return;
    for (int i = 0; i < TRIES; i++) {
        if ((judge->requested & PROPS_BIT(PROPS_T13)) != 0)
            judge_cut(judge, sim_rng_next(&rng) % cut_max);
        if ((judge->requested & PROPS_BIT(PROPS_T14)) != 0)
            judge_change(judge, &rng);
    }
}
