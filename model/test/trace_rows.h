/* trace_rows.h -- scripts of traces with the verdict each must get. */
#ifndef MODEL_TEST_TRACE_ROWS_H
#define MODEL_TEST_TRACE_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "model/trace/trace_reader.h"

#define OK         MODEL_TRACE_OK
#define TIME_ORDER MODEL_TRACE_TIME_ORDER
#define ERROR      MODEL_TRACE_ERROR

struct props_trace_row {
    const char *why;
    const char *script; /* for props_trace_script() */
    enum model_trace_verdict verdict;
    uint32_t events;    /* how many, if the verdict is ok */
    const char *reason; /* otherwise: a part of the reason */
};

/* Judge the scripts; the first wrong verdict fails the running test. */
void props_trace_judge(const struct props_trace_row *rows, size_t rows_count);

#define PROPS_TRACE_JUDGE(rows) \
    props_trace_judge(rows, sizeof(rows) / sizeof *(rows))

#endif
