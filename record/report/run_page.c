/* run_page.c -- see run_page.h. Events are aggregated here, so the page for a
 * million events is no larger than for a thousand. */
#include "record/report/run_page.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/command/complaint.h"
#include "record/report/heap_time.h"
#include "common/json.h"
#include "prof/version.h"

enum {
    SMALLEST_PART = 2000, /* of a flame graph: narrower boxes are left out */
    LOCKS_MAX = 50,
    THREADS_MAX = 200,
    CALLS_SHOWN = 24
};

static void
print_count(FILE *file, const char *key, struct sim_heap_count count)
{
    fprintf(file, "%s[%" PRIu64 ",%" PRIu64 "]", key, count.bytes,
            count.objects);
}

/* ---- Head ---- */

static void
print_losses(FILE *file, const struct sim_recording_totals *totals)
{
    uint64_t lost = 0;

    for (int i = 0; i < SIM_RECORDED_CAUSE_COUNT; i++)
        lost += totals->dropped[i];
    fprintf(file, ",\n\"lost\":%" PRIu64, lost);
}

static void
print_head(FILE *file, const struct cli_heap_report *report)
{
    const struct sim_recording_totals *totals =
        sim_recording_totals(report->recording);
    const struct sim_live_heap *heap = report->heap;

    fprintf(file,
            "{\"format\":\"profsim run\",\"version\":1,\"profsim\":\"%s\",\n"
            "\"title\":",
            PROF_VERSION);
    sim_json_string(file, report->path);
    fputs(",\n\"arguments\":[", file);
    for (uint32_t i = 0; i < totals->arguments; i++) {
        fputs(i > 0 ? "," : "", file);
        sim_json_string(file, sim_recording_argument(report->recording, i));
    }
    fprintf(file,
            "],\n\"ticks_per_second\":%" PRIu64 ",\"duration_ticks\":%" PRIu64
            ",\"peak_ticks\":%" PRIu64 ",\"events\":%" PRIu64,
            totals->ticks_per_second, totals->duration_ticks, heap->peak_ticks,
            sim_recording_events(report->recording));
    print_count(file, ",\n\"peak\":", heap->total.peak);
    print_count(file, ",\"exit\":", heap->total.exit);
    print_count(file, ",\"allocs\":", heap->total.allocs);
    print_losses(file, totals);
}

/* ---- Over time ---- */

static void
print_stack(FILE *file, const struct cli_heap_report *report, uint32_t stack)
{
    static const struct cli_call *calls[CLI_CALLS_MAX];
    const uint32_t count = cli_calls_of(report->calls, stack, calls);
    const char *comma = "";
    uint32_t shown = 0;

    fputc('[', file);
    for (uint32_t i = 0; i < count && shown < CALLS_SHOWN; i++) {
        char line[32] = "";

        if (!calls[i]->is_telling && i + 1 < count)
            continue;
        fprintf(file, "%s[", comma);
        sim_json_string(file, calls[i]->function);
        fputc(',', file);
        sim_json_string(file, cli_base_name(calls[i]->file[0] != '\0'
                                                ? calls[i]->file
                                                : calls[i]->module));
        if (calls[i]->line > 0)
            snprintf(line, sizeof line, ",%" PRIu32, calls[i]->line);
        fprintf(file, "%s]", line);
        comma = ",";
        shown++;
    }
    fputc(']', file);
}

/* Sites: functions that allocate, malloc and its kin left out. */
struct sites {
    uint32_t *of; /* by stack */
    uint32_t count;
};

static uint32_t
site_of(const struct cli_calls *calls, uint32_t stack)
{
    static const struct cli_call *list[CLI_CALLS_MAX];
    const uint32_t count = cli_calls_of(calls, stack, list);
    uint32_t i = 0;

    while (i + 1 < count && !list[i]->is_telling)
        i++;
    return count > 0 ? list[i]->name + 1 : 0;
}

static void
find_sites(struct sites *sites, const struct cli_heap_report *report)
{
    const uint32_t stacks = sim_recording_totals(report->recording)->stacks;

    sites->count = 1;
    sites->of = cli_need(calloc((size_t)stacks + 1, sizeof *sites->of));
    for (uint32_t s = 0; s < stacks; s++) {
        sites->of[s] = site_of(report->calls, s);
        if (sites->of[s] >= sites->count)
            sites->count = sites->of[s] + 1;
    }
}

static void
add(struct sim_heap_count *to, struct sim_heap_count count)
{
    to->objects += count.objects;
    to->bytes += count.bytes;
}

/* Print a site's sums over its stacks, and the stack that had the most at one
 * time. */
static void
print_site(FILE *file, const struct cli_heap_report *report,
           const struct sites *sites, uint32_t site)
{
    const uint32_t stacks = sim_recording_totals(report->recording)->stacks;
    struct sim_heap_sums sums = {0};
    uint64_t most = 0;
    uint32_t stack = 0;
    uint32_t count = 0;

    for (uint32_t s = 0; s < stacks; s++) {
        const struct sim_heap_sums *part = &report->heap->sites[s];
        const uint64_t weight =
            part->peak.bytes > 0 ? part->peak.bytes : part->allocs.bytes / 1024;

        if (sites->of[s] != site || part->allocs.objects == 0)
            continue;
        add(&sums.peak, part->peak);
        add(&sums.exit, part->exit);
        add(&sums.allocs, part->allocs);
        if (count++ == 0 || weight > most) {
            most = weight;
            stack = s;
        }
    }
    fprintf(file, "{\"stacks\":%" PRIu32 ",\"stack\":", count);
    print_stack(file, report, stack);
    print_count(file, ",\"peak\":", sums.peak);
    print_count(file, ",\"exit\":", sums.exit);
    print_count(file, ",\"allocs\":", sums.allocs);
    fputc('}', file);
}

static void
print_time(FILE *file, const struct cli_heap_report *report,
           const struct sites *sites, const struct cli_heap_time *time)
{
    fprintf(file, ",\n\"rate_bytes\":%d,\"sites\":[", CLI_TIME_RATE_BYTES);
    for (uint32_t i = 0; i < time->sites_count; i++) {
        fputs(i > 0 ? ",\n" : "\n", file);
        print_site(file, report, sites, time->sites[i]);
    }
    fputs("],\n\"bins\":[", file);
    for (uint32_t i = 0; i < CLI_TIME_BINS; i++) {
        const struct cli_time_bin *bin = &time->bins[i];

        fputs(i > 0 ? ",\n[" : "\n[", file);
        for (uint32_t s = 0; s < time->sites_count; s++)
            fprintf(file, "%" PRIu64 ",", bin->bytes[s]);
        fprintf(file, "%" PRIu64 ",%.0f,%" PRIu64 "]",
                bin->bytes[CLI_TIME_SITES], bin->sigma_bytes, bin->allocs);
    }
    fputc(']', file);
}

/* ---- Stacks, locks, threads ---- */

static bool
is_wide(const struct cli_tree_node *nodes, uint32_t node)
{
    for (int m = 0; m < CLI_MEASURES; m++) {
        const uint64_t all = nodes[0].total[m].bytes;

        if (nodes[node].total[m].bytes > 0 &&
            nodes[node].total[m].bytes >= all / SMALLEST_PART)
            return true;
    }
    return node == 0;
}

static void
print_tree(FILE *file, const struct cli_call_tree *tree)
{
    uint32_t count;
    uint32_t names_count;
    const struct cli_tree_node *nodes = cli_call_tree_nodes(tree, &count);
    const char *const *names = cli_call_tree_names(tree, &names_count);
    uint32_t *numbers = cli_need(calloc(count, sizeof *numbers));
    uint32_t shown = 0;

    fputs(",\n\"names\":[", file);
    for (uint32_t i = 0; i < names_count; i++) {
        fputs(i > 0 ? "," : "", file);
        sim_json_string(file, names[i]);
    }
    fputs("],\n\"tree\":[", file);
    for (uint32_t i = 0; i < count; i++) {
        const struct cli_tree_node *node = &nodes[i];

        if (!is_wide(nodes, i))
            continue;
        numbers[i] = shown++;
        fprintf(file, "%s[%" PRIu32 ",%" PRIu32, i > 0 ? ",\n" : "\n",
                node->name, numbers[node->parent]);
        for (int m = 0; m < CLI_MEASURES; m++)
            fprintf(file, ",%" PRIu64 ",%" PRIu64, node->total[m].bytes,
                    node->total[m].objects);
        fputc(']', file);
    }
    fputc(']', file);
    free(numbers);
}

static void
print_locks(FILE *file, const struct cli_heap_report *report,
            const struct cli_heap_time *time)
{
    fprintf(file, ",\n\"locks_count\":%" PRIu64 ",\"locks\":[",
            time->locks_count);
    for (uint64_t i = 0; i < time->locks_count && i < LOCKS_MAX; i++) {
        const struct cli_time_lock *lock = &time->locks[i];

        fprintf(file,
                "%s{\"lock\":%" PRIu64 ",\"waits\":%" PRIu64
                ",\"ticks\":%" PRIu64 ",\"longest\":%" PRIu64 ",\"stack\":",
                i > 0 ? ",\n" : "\n", lock->lock, lock->waits, lock->ticks,
                lock->longest_ticks);
        print_stack(file, report, lock->longest_stack);
        fputc('}', file);
    }
    fputc(']', file);
}

static void
print_threads(FILE *file, const struct cli_heap_report *report)
{
    const uint32_t count = sim_recording_totals(report->recording)->threads;

    fprintf(file, ",\n\"threads_count\":%" PRIu32 ",\"threads\":[", count);
    for (uint32_t i = 0; i < count && i < THREADS_MAX; i++) {
        const struct sim_heap_thread *thread = &report->heap->threads[i];

        fprintf(file,
                "%s{\"thread\":%" PRIu64 ",\"name\":", i > 0 ? ",\n" : "\n",
                sim_recording_thread(report->recording, i));
        sim_json_string(file, sim_recording_thread_name(report->recording, i));
        print_count(file, ",\"allocs\":", thread->allocs);
        print_count(file, ",\"peak\":", thread->peak);
        print_count(file, ",\"exit\":", thread->exit);
        print_count(file, ",\"freed\":", thread->freed);
        fputc('}', file);
    }
    fputs("]}\n", file);
}

bool
cli_run_page_write(const struct cli_page_paths *paths,
                   const struct cli_heap_report *report,
                   const struct cli_call_tree *tree)
{
    struct cli_heap_time *time = cli_need(malloc(sizeof *time));
    struct cli_page page;
    struct sites sites = {0};

    cli_page_begin(&page);
    cli_need(page.file);
    find_sites(&sites, report);
    cli_heap_time_open(time, report->recording, sites.of, sites.count);
    print_head(page.file, report);
    print_time(page.file, report, &sites, time);
    print_tree(page.file, tree);
    print_locks(page.file, report, time);
    print_threads(page.file, report);
    cli_heap_time_close(time);
    free(time);
    free(sites.of);
    return cli_page_end(&page, CLI_PAGE_RUN, paths, report->path);
}
