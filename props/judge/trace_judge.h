/*
 * trace_judge.h -- compare the traces of a world with those that the model
 * derives (T1 to T14).
 */
#ifndef PROPS_JUDGE_TRACE_JUDGE_H
#define PROPS_JUDGE_TRACE_JUDGE_H

#include <stdbool.h>
#include <stdint.h>

#include "props/cross/cross.h"
#include "props/judge/judge.h"
#include "model/trace/trace_oracle.h"
#include "sim/instruments/instrument_trace.h"
#include "model/trace/trace_reader.h"

struct trace_judge {
    struct sim_world *world;
    struct model_oracle *oracle;
    struct props_coverage *cover;
    props_set requested;        /* the properties to judge */
    char pending[256];          /* for L2 */
    struct props_breach breach; /* `event` is the session */
    struct cross *cross;        /* gets each good session; NULL: none */
    uint64_t hash;              /* of the truth and all bytes */

    uint32_t session; /* the session being judged */
    const struct sim_session *got;
    const struct model_oracle_session *want;
    uint32_t kept;    /* events of `want` that were not dropped */
    uint64_t stalled; /* a bit for each session: the reader was stalled */
    bool runs_back;
    struct model_trace trace;  /* decoded */
    struct model_trace broken; /* decoded from a spoilt copy */
    uint32_t *wanted;          /* events of `want` as they happened */
    uint32_t *found;           /* events of `trace`, by sequence number */
    uint8_t *scratch;          /* a copy to spoil */
    size_t scratch_bytes;
};

/*
 * out:     *judge, whose world is the caller's
 */
bool trace_judge_init(struct trace_judge *judge, uint32_t truths_max);
void trace_judge_release(struct trace_judge *judge);

/*
 * Judge a run at its end.
 *
 * returns: false if it broke a property that was asked for; see judge->breach
 */
bool trace_judge_run(struct trace_judge *judge);

/*
 * L2: end a run without faults: wake what was stalled, stop tracing, read to
 * the end. Call this before trace_judge_run(), which then reports `pending`.
 *
 * out:     pending, "" or what is still waiting, and for what
 */
void trace_judge_quiet(struct sim_world *world, char *pending,
                       size_t pending_bytes);

/* Find the faults that a run has met, and fill in judge->stalled. */
void trace_judge_faults(struct trace_judge *judge);

/* Note a breach; the first one's text is kept. */
void trace_judge_breach(struct trace_judge *judge, enum props_property property,
                        const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* out: order, of all events of a trace by sequence */
void trace_judge_sort(const struct model_trace *trace, uint32_t *order);

/* Parts of the judge, each in its file, to be called in this order. */
void trace_judge_records(struct trace_judge *judge); /* bytes and chunks */
void trace_judge_events(struct trace_judge *judge);  /* against the model */
void trace_judge_spoilt(struct trace_judge *judge);  /* T13, T14 */

#endif
