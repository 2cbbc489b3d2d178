/* trace_rows.c -- see trace_rows.h. */
#include "model/test/trace_rows.h"

#include <string.h>

#include "common/test/trace_script.h"
#include "common/test/unit_test.h"

static void
judge_row(const struct props_trace_row *row)
{
    struct props_trace_script script;
    struct model_trace trace;

    props_trace_script(&script, row->script);
    model_trace_init(&trace);
    (void)model_trace_read(&trace, script.bytes, script.bytes_count);
    if (trace.verdict != row->verdict)
        fail_msg("%s: %s (%s)", row->why,
                 model_trace_verdict_name(trace.verdict), trace.reason.text);
    if (row->verdict == OK && model_trace_count(&trace) != row->events)
        fail_msg("%s: %u events", row->why, model_trace_count(&trace));
    if (row->verdict != OK && strstr(trace.reason.text, row->reason) == NULL)
        fail_msg("%s: %s", row->why, trace.reason.text);
    model_trace_release(&trace);
}

void
props_trace_judge(const struct props_trace_row *rows, size_t rows_count)
{
    for (size_t i = 0; i < rows_count; i++)
        judge_row(&rows[i]);
}
