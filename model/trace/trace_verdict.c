/* trace_verdict.c -- states what is wrong with a trace, and where. */
#include <stdarg.h>
#include <stdio.h>

#include "model/trace/trace_reader.h"

const char *
model_trace_verdict_name(enum model_trace_verdict verdict)
{
    static const char *const names[] = {"ok", "time-order", "error"};

    return names[verdict];
}

enum model_trace_verdict
model_trace_reject(struct model_trace *trace, enum model_trace_verdict verdict,
                   uint64_t offset, const char *format, ...)
{
    va_list args;

    trace->reason.offset_bytes = offset;
    va_start(args, format);
    (void)vsnprintf(trace->reason.text, sizeof trace->reason.text, format,
                    args);
    va_end(args);
    trace->verdict = verdict;
    return verdict;
}

enum model_trace_verdict
model_trace_no_memory(struct model_trace *trace)
{
    return model_trace_reject(trace, MODEL_TRACE_ERROR, 0, "out of memory");
}
