/* heap_report.c -- see heap_report.h. Prints sums, then sites, then the rest.
 */
#include "record/report/heap_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/command/complaint.h"
#include "common/escape.h"
#include "record/convert/losses.h"

bool
cli_measure_find(const char *name, enum cli_measure *measure)
{
    static const char *const measure_names[CLI_MEASURES] = {"peak", "exit",
                                                            "allocs"};

    for (int i = 0; i < CLI_MEASURES; i++) {
        if (strcmp(measure_names[i], name) == 0) {
            *measure = (enum cli_measure)i;
            return true;
        }
    }
    return false;
}

struct sim_heap_count
cli_measure_of(const struct sim_heap_sums *sums, enum cli_measure measure)
{
    switch (measure) {
    case CLI_BY_PEAK:
        return sums->peak;
    case CLI_BY_EXIT:
        return sums->exit;
    case CLI_BY_ALLOCS:
    case CLI_MEASURES:
        break;
    }
    return sums->allocs;
}

static double
seconds_of(const struct cli_heap_report *report, uint64_t ticks)
{
    return (double)ticks /
           (double)sim_recording_totals(report->recording)->ticks_per_second;
}

/* Print ` (1.5 MiB)`, or nothing for less than a KiB. */
static void
print_rounded(uint64_t bytes)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB"};
    double value = (double)bytes / 1024;
    int unit = 0;

    if (bytes < 1024)
        return;
    for (; value >= 1024 && unit < 3; unit++)
        value /= 1024;
    printf(" (%.1f %s)", value, units[unit]);
}

static void
print_count(const char *what, struct sim_heap_count count)
{
    printf("%-13s %" PRIu64 " bytes", what, count.bytes);
    print_rounded(count.bytes);
    printf(" in %" PRIu64 " object%s", count.objects,
           count.objects == 1 ? "" : "s");
}

/* ---- losses ---- */

_Static_assert((int)SIM_RECORDED_CAUSE_COUNT == (int)CLI_RECFILE_CAUSES,
               "the causes are those of the format");

static void
print_losses(const struct cli_heap_report *report)
{
    const struct sim_recording_totals *totals =
        sim_recording_totals(report->recording);
    bool any = false;
    char text[256];

    for (int i = 0; i < SIM_RECORDED_CAUSE_COUNT; i++) {
        if (totals->dropped[i] == 0)
            continue;
        any = true;
        cli_losses_text(text, sizeof text, (size_t)i, totals->dropped[i]);
        printf("%-13s %s\n", "not recorded", text);
    }
    if (!any)
        printf("%-13s nothing\n", "not recorded");
}

/* ---- sums ---- */

static void
print_head(const struct cli_heap_report *report)
{
    const struct sim_recording_totals *totals =
        sim_recording_totals(report->recording);
    const struct sim_live_heap *heap = report->heap;
    const uint64_t events = sim_recording_events(report->recording);

    sim_escape_text(stdout, report->path);
    putchar(':');
    for (uint32_t i = 0; i < totals->arguments && i < 8; i++) {
        putchar(' ');
        sim_escape_text(stdout, sim_recording_argument(report->recording, i));
    }
    printf("%s\nprocess %" PRIu32 ", %" PRIu32 " thread%s, %.3f s, %" PRIu64
           " recorded event%s\n\n",
           totals->arguments > 8 ? " ..." : "", totals->process,
           totals->threads, totals->threads == 1 ? "" : "s",
           seconds_of(report, heap->duration_ticks), events,
           events == 1 ? "" : "s");
    print_count("peak", heap->total.peak);
    printf(", at %.3f s\n", seconds_of(report, heap->peak_ticks));
    print_count("at exit", heap->total.exit);
    puts(" never freed");
    print_count("allocated", heap->total.allocs);
    printf("; %" PRIu64 " of them freed\n",
           heap->total.allocs.objects - heap->total.exit.objects);
    if (heap->has_usable && heap->total.peak.bytes > 0) {
        printf("%-13s %" PRIu64 " bytes", "usable", heap->peak_usable_bytes);
        print_rounded(heap->peak_usable_bytes);
        printf(" at the peak, by malloc_usable_size(): %.1f %% more than was "
               "asked for\n",
               100 * ((double)heap->peak_usable_bytes /
                          (double)heap->total.peak.bytes -
                      1));
    }
    if (totals->waits > 0)
        printf("%-13s %" PRIu64 ", for locks\n", "waits", totals->waits);
    print_losses(report);
}

/* ---- sites ---- */

struct ranked {
    struct sim_heap_count count;
    uint32_t stack;
};

/* Compare: more bytes come first, then more objects, then the smaller number,
 * so the order is total. */
static int
compare_ranked(const void *a, const void *b)
{
    const struct ranked *x = a;
    const struct ranked *y = b;

    if (x->count.bytes != y->count.bytes)
        return x->count.bytes > y->count.bytes ? -1 : 1;
    if (x->count.objects != y->count.objects)
        return x->count.objects > y->count.objects ? -1 : 1;
    return x->stack < y->stack ? -1 : x->stack > y->stack;
}

static void
print_sites(const struct cli_heap_report *report, struct ranked *ranked,
            enum cli_measure measure)
{
    static const char *const titles[CLI_MEASURES] = {
        "in use at the peak", "never freed", "allocated in all"};
    const uint32_t stacks = sim_recording_totals(report->recording)->stacks;
    const uint64_t all = cli_measure_of(&report->heap->total, measure).bytes;
    uint32_t count = 0;

    for (uint32_t i = 0; i < stacks; i++) {
        ranked[count] = (struct ranked){
            cli_measure_of(&report->heap->sites[i], measure), i};
        count += ranked[count].count.objects > 0;
    }
    if (count == 0)
        return;
    qsort(ranked, count, sizeof *ranked, compare_ranked);
    printf("\n%s, by site (%" PRIu64 " of %" PRIu32 ")\n%14s %10s\n",
           titles[measure], report->top < count ? report->top : count, count,
           "bytes", "objects");
    for (uint32_t i = 0; i < count && i < report->top; i++) {
        printf("%14" PRIu64 " %10" PRIu64 " %5.1f %%  ", ranked[i].count.bytes,
               ranked[i].count.objects,
               all == 0 ? 0.0
                        : 100.0 * (double)ranked[i].count.bytes / (double)all);
        cli_calls_print(stdout, report->calls, ranked[i].stack);
        putchar('\n');
    }
}

/* ---- other views ---- */

static void
print_time(const struct cli_heap_report *report)
{
    const struct sim_live_heap *heap = report->heap;
    const uint64_t length = heap->duration_ticks / SIM_HEAP_SPANS + 1;
    const uint64_t most = heap->total.peak.bytes;

    printf("\nover time\n%10s %14s %14s %14s %10s\n", "until s", "most bytes",
           "at its end", "allocated", "objects");
    for (uint32_t i = 0;
         i < SIM_HEAP_SPANS && i * length <= heap->duration_ticks; i++) {
        const struct sim_heap_span *span = &heap->spans[i];
        const uint64_t end = (i + 1) * length;
        const int bar =
            most == 0 ? 0
                      : (int)(20 * ((double)span->most_bytes / (double)most));

        printf("%10.3f %14" PRIu64 " %14" PRIu64 " %14" PRIu64 " %10" PRIu64
               "  %.*s\n",
               seconds_of(report, end < heap->duration_ticks
                                      ? end
                                      : heap->duration_ticks),
               span->most_bytes, span->last_bytes, span->allocs.bytes,
               span->allocs.objects, bar, "####################");
    }
}

static void
print_threads(const struct cli_heap_report *report)
{
    const uint32_t count = sim_recording_totals(report->recording)->threads;

    printf("\nby thread%s\n%10s %14s %14s %14s %10s %14s\n",
           count > report->top ? ", the first ones" : "", "thread",
           "at the peak", "never freed", "allocated", "objects", "freed by it");
    for (uint32_t i = 0; i < count && i < report->top; i++) {
        const struct sim_heap_thread *thread = &report->heap->threads[i];

        printf("%10" PRIu64 " %14" PRIu64 " %14" PRIu64 " %14" PRIu64
               " %10" PRIu64 " %14" PRIu64 "  ",
               sim_recording_thread(report->recording, i), thread->peak.bytes,
               thread->exit.bytes, thread->allocs.bytes, thread->allocs.objects,
               thread->freed.bytes);
        sim_escape_text(stdout,
                        sim_recording_thread_name(report->recording, i));
        putchar('\n');
    }
}

static void
print_classes(const struct cli_heap_report *report)
{
    printf("\nby size\n%21s %14s %14s %14s %10s\n", "bytes an object",
           "at the peak", "never freed", "allocated", "objects");
    for (uint32_t i = 0; i < SIM_HEAP_CLASSES; i++) {
        const struct sim_heap_sums *sums = &report->heap->classes[i];
        const uint64_t least = i == 0 ? 0 : UINT64_C(1) << (i - 1);

        if (sums->allocs.objects > 0)
            printf("%10" PRIu64 "%s%10" PRIu64 " %14" PRIu64 " %14" PRIu64
                   " %14" PRIu64 " %10" PRIu64 "\n",
                   least, "-", i == 0 ? 0 : 2 * least - 1, sums->peak.bytes,
                   sums->exit.bytes, sums->allocs.bytes, sums->allocs.objects);
    }
}

void
cli_heap_report_print(const struct cli_heap_report *report)
{
    const uint32_t stacks = sim_recording_totals(report->recording)->stacks;
    struct ranked *ranked =
        cli_need(calloc((size_t)stacks + 1, sizeof *ranked));

    print_head(report);
    for (int i = 0; i < CLI_MEASURES; i++) {
        const enum cli_measure measure = (enum cli_measure)i;

        if (!report->only || measure == report->measure)
            print_sites(report, ranked, measure);
    }
    free(ranked);
    print_time(report);
    print_threads(report);
    print_classes(report);
}
