/* heap_report.h -- the report of `profsim show` on a recorded program's heap.
 */
#ifndef RECORD_REPORT_HEAP_REPORT_H
#define RECORD_REPORT_HEAP_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "record/report/calls.h"
#include "record/report/live_heap.h"

/* What sites are sorted by, and what graphs show. */
enum cli_measure {
    CLI_BY_PEAK,   /* in use at the peak */
    CLI_BY_EXIT,   /* never freed */
    CLI_BY_ALLOCS, /* allocated in the whole run */
    CLI_MEASURES
};

/* in: `peak`, `exit`, `allocs`; out: *measure; returns: false if it is none */
bool cli_measure_find(const char *name, enum cli_measure *measure);

/* returns: the count of a site by this measure */
struct sim_heap_count cli_measure_of(const struct sim_heap_sums *sums,
                                     enum cli_measure measure);

struct cli_heap_report {
    const char *path;
    const struct sim_recording *recording;
    const struct sim_live_heap *heap;
    const struct cli_calls *calls;
    uint64_t top; /* sites to print */
    bool only;    /* sites by one measure only */
    enum cli_measure measure;
};

/* Print it on standard output. */
void cli_heap_report_print(const struct cli_heap_report *report);

#endif
