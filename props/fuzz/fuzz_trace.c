/* fuzz_trace.c -- any bytes as an execution trace: a verdict, never a crash. */
#include <stdlib.h>

#include "props/fuzz/fuzz.h"
#include "model/trace/trace_reader.h"

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t bytes_count)
{
    static struct model_trace trace;
    static int begun;

    if (!begun)
        model_trace_init(&trace);
    begun = 1;
    switch (model_trace_read(&trace, bytes, bytes_count)) {
    case MODEL_TRACE_OK:
        for (uint32_t i = 0; i < trace.order_count; i++) {
            if (trace.order[i] >= trace.events_count)
                abort();
        }
        break;
    case MODEL_TRACE_TIME_ORDER:
    case MODEL_TRACE_ERROR:
        if (trace.reason.offset_bytes > bytes_count)
            abort();
        break;
    }
    return 0;
}
