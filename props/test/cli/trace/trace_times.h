/*
 * trace_times.h -- what `profsim trace stat` must print of a trace, from its
 * events alone: each goroutine's times are measured by themselves.
 */
#ifndef PROPS_TRACE_TIMES_H
#define PROPS_TRACE_TIMES_H

#include "trace_reader.h"

/* returns: the lines, to be freed */
char *trace_times_wanted(const struct model_trace *trace, const char *path);

#endif
