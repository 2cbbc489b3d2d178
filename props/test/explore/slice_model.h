/* slice_model.h -- what a slice must be (sim/explore/report/slice.c). */
#ifndef PROPS_SLICE_MODEL_H
#define PROPS_SLICE_MODEL_H

#include "trace.h"

enum { SLICE_EVENTS_MAX = TRACE_MAX };

/* out: needed, for each event; returns: how many are needed */
uint32_t slice_model(const struct trace_event *trace, uint32_t count,
                     const struct sim_failure *failure, bool *needed);

#endif
