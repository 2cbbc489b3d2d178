/*
 * explore_mutants.c -- weakens each memory order, and prints which kernel
 * notices.
 *
 * A site is the return address of an atomic access, so one binary holds all
 * mutants. Kernels of one table share a program, and so its sites: a mutant
 * survives only if every kernel that reaches its site passes. Kernels are tried
 * in the order of their table, the cheap ones first.
 */
#include "explore_mutants.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "complaint.h"
#include "exit.h"
#include "kernel_groups.h"
#include "result_path.h"
#include "rows.h"

enum {
    SITES_MAX = 512,
    KERNELS_MAX = 128,
    SITE_RUNS = 500,   /* random runs that find a kernel's sites */
    RUNS_MAX = 300000, /* of a kernel against one mutant */
    BOUND_MAX = 2      /* of a kernel that needs a bound */
};

struct reached {
    struct sim_site site;
    bool kernels[KERNELS_MAX]; /* by row: does it reach the site? */
};

static struct reached sites[SITES_MAX];
static uint32_t sites_count;

/* End the process: in a matrix without some rows, mutants would seem to
 * survive. */
static _Noreturn void
too_many(const char *what)
{
    fprintf(stderr, "profsim: too many %s for a matrix\n", what);
    exit(CLI_INCOMPLETE);
}

/* ---- Sites ---- */

static void
note(const struct sim_site *site, uint32_t kernel)
{
    struct reached *r = sites;

    while (r < &sites[sites_count] && r->site.site != site->site)
        r++;
    if (r == &sites[SITES_MAX])
        too_many("sites");
    if (r == &sites[sites_count]) {
        sites_count++;
        *r = (struct reached){.site = *site};
    }
    r->kernels[kernel] = true;
}

/* in: only, a kernel's name; NULL: all */
static bool
is_meant(const struct sim_kernel_entry *entry, const char *only)
{
    return only == NULL || strcmp(entry->name, only) == 0;
}

static bool
collect_sites(const struct sim_kernel_entry *group, const char *only)
{
    static struct sim_site seen[SITES_MAX];
    bool any = false;

    sites_count = 0;
    for (uint32_t k = 0; group[k].name != NULL; k++) {
        uint32_t count;

        if (k == KERNELS_MAX)
            too_many("kernels");
        if (!is_meant(&group[k], only))
            continue;
        any = true;
        count = sim_explore_sites(group[k].make(), SITE_RUNS, seen, SITES_MAX);
        if (count == SITES_MAX)
            too_many("sites");
        for (uint32_t i = 0; i < count; i++)
            note(&seen[i], k);
    }
    return any;
}

/* Compare by place in the source, then by address, so that the code of one line
 * stays in order. */
static int
compare(const void *a, const void *b)
{
    const struct reached *left = a;
    const struct reached *right = b;
    const int order =
        strcmp(sim_site_text(left->site.site), sim_site_text(right->site.site));

    if (order != 0)
        return order;
    return left->site.site < right->site.site ? -1 : 1;
}

/* ---- One mutant ---- */

static const char *
order_text(int order)
{
    static const char *const texts[] = {"relaxed", "consume", "acquire",
                                        "release", "acq_rel", "seq_cst"};

    return texts[order];
}

/* What noticed a mutant. */
struct notice {
    const char *kernel; /* NULL: none did */
    enum sim_failure_kind kind;
    uint64_t runs;
    uint32_t unfinished; /* kernels that ran out of runs */
};

static bool
notices(const struct sim_kernel_entry *entry, const struct sim_run_options *run,
        struct notice *notice)
{
    struct sim_exhaust_options options = {.run = *run, .runs_max = RUNS_MAX};
    struct sim_exhaust_result r;

    if (entry->bounded && !run->bounded) {
        options.run.bounded = true;
        options.run.preemptions_max = entry->preemptions_max < BOUND_MAX
                                          ? entry->preemptions_max
                                          : BOUND_MAX;
    }
    sim_explore_exhaust(entry->make(), &options, &r);
    free(r.choices);
    notice->runs += r.runs;
    notice->unfinished += r.verdict == SIM_VERDICT_UNFINISHED;
    if (r.verdict != SIM_VERDICT_FAIL)
        return false;
    notice->kernel = entry->name;
    notice->kind = r.first_failure.failure.kind;
    return true;
}

static struct notice
try_mutant(const struct sim_kernel_entry *group,
           const struct sim_run_options *run, const struct reached *was,
           const struct sim_site *is)
{
    struct notice notice = {.kernel = NULL};

    sim_explore_mutate(is);
    for (uint32_t k = 0; group[k].name != NULL; k++) {
        if (was->kernels[k] && notices(&group[k], run, &notice))
            break;
    }
    sim_explore_mutate(NULL);
    return notice;
}

/* Which order is weakened, and to which. */
static const char *
step_text(const struct sim_site *was, const struct sim_site *is,
          const char *between)
{
    const bool on_failure = was->order == is->order;
    static char text[80];

    snprintf(text, sizeof text, "%s%s%s%s", on_failure ? "on failure " : "",
             order_text(on_failure ? was->order_failure : was->order), between,
             order_text(on_failure ? is->order_failure : is->order));
    return text;
}

static void
print(FILE *file, const struct sim_site *was, const struct sim_site *is,
      const struct notice *notice, bool csv)
{
    fprintf(file,
            csv ? "\"%s\",%s,%s,%s,%" PRIu64 "\n"
                : "%s\n    %s: %s, %s, %" PRIu64 " runs",
            sim_site_text(was->site), step_text(was, is, csv ? "," : " -> "),
            notice->kernel != NULL ? notice->kernel : "SURVIVES",
            notice->kernel != NULL ? sim_failure_kind_text(notice->kind) : "-",
            notice->runs);
    if (!csv && notice->kernel == NULL && notice->unfinished > 0)
        fprintf(file, " (%" PRIu32 " kernels not finished)",
                notice->unfinished);
    if (!csv)
        fputc('\n', file);
}

static void
add_result(struct cli_report *report, const struct sim_site *was,
           const struct sim_site *is, const struct notice *notice)
{
    struct cli_result *result = cli_report_add(
        report, sim_site_text(was->site), step_text(was, is, " -> "),
        notice->kernel != NULL ? CLI_VERDICT_CAUGHT : CLI_VERDICT_UNNOTICED);

    cli_result_count(result, "runs", notice->runs);
    if (notice->kernel != NULL)
        cli_result_text(report, &result->text, "%s, %s", notice->kernel,
                        sim_failure_kind_text(notice->kind));
    else if (notice->unfinished > 0)
        cli_result_text(report, &result->text,
                        "no kernel; %" PRIu32 " were not finished",
                        notice->unfinished);
}

/* ---- All of them ---- */

struct work {
    const struct cli_mutant_options *options;
    struct cli_rows rows; /* of the shard; empty if there is no file */
    bool has_rows;
    bool counts; /* only counts the mutants */
    uint64_t list;
    uint32_t item;
    uint32_t tried;
    uint32_t found;
};

/* returns: false, and a complaint, if the row is not kept */
static bool
try_item(struct work *work, const struct sim_kernel_entry *group,
         const struct reached *was, const struct sim_site *is)
{
    struct notice notice;
    char *text = NULL;
    size_t bytes = 0;
    FILE *file;
    bool kept;

    if (work->has_rows && !cli_rows_wants(&work->rows, work->item))
        return true;
    file = cli_need(open_memstream(&text, &bytes));
    notice = try_mutant(group, &work->options->run, was, is);
    print(file, &was->site, is, &notice, work->options->csv);
    cli_need(fclose(file) == 0 ? text : NULL);
    fputs(text, stdout);
    fflush(stdout);
    add_result(work->options->report, &was->site, is, &notice);
    work->tried++;
    work->found += notice.kernel != NULL;
    kept =
        !work->has_rows || cli_rows_add(&work->rows, work->item, CLI_OK, text);
    free(text);
    return kept;
}

/* Handle one weaker order: in the first pass add its name to the list of items,
 * in the second try it. */
static bool
take_item(struct work *work, const struct sim_kernel_entry *group,
          const struct reached *was, const struct sim_site *is)
{
    bool good = true;

    if (work->counts) {
        cli_rows_name(&work->list, sim_site_text(was->site.site));
        cli_rows_name(&work->list, order_text(is->order));
    } else {
        good = try_item(work, group, was, is);
    }
    work->item++;
    return good;
}

/* Handle all weaker orders of one table of kernels, which share a program. out:
 * *any, set to true if the table has the kernel `only` */
static bool
take_group(struct work *work, const struct sim_kernel_entry *group, bool *any)
{
    if (!collect_sites(group, work->options->only))
        return true;
    *any = true;
    qsort(sites, sites_count, sizeof *sites, compare);
    for (uint32_t i = 0; i < sites_count; i++) {
        struct sim_site weaker = sites[i].site;

        for (uint32_t step = 0; sim_explore_weaken(&weaker, step); step++) {
            if (!take_item(work, group, &sites[i], &weaker))
                return false;
            weaker = sites[i].site;
        }
    }
    return true;
}

/* returns: CLI_USAGE after a complaint */
static enum cli_exit
take_all(struct work *work)
{
    bool any = false;

    work->item = 0;
    for (size_t g = 0; cli_kernel_groups[g] != NULL; g++) {
        if (!take_group(work, cli_kernel_groups[g], &any))
            return CLI_USAGE;
    }
    return any ? CLI_OK : cli_no_such_kernel(work->options->only);
}

/* Begin a shard. Every shard lists all items, to count them. */
static enum cli_exit
begin_rows(struct work *work, char *path, size_t room)
{
    const struct cli_mutant_options *options = work->options;
    enum cli_exit exit_code;
    char asked[CLI_ROWS_ASKED];

    work->counts = true;
    exit_code = take_all(work);
    work->counts = false;
    if (exit_code != CLI_OK)
        return exit_code;
    snprintf(asked, sizeof asked, "mutants --memory-order%s%s",
             options->only != NULL ? " " : "",
             options->only != NULL ? options->only : "");
    if (options->result != NULL &&
        !cli_result_path(options->result, options->shard, path, room))
        return CLI_USAGE;
    work->has_rows = cli_rows_begin(&work->rows, asked, options->shard,
                                    options->result != NULL ? path : NULL,
                                    work->list, work->item);
    return work->has_rows ? CLI_OK : CLI_USAGE;
}

/* returns: CLI_INCOMPLETE, after a complaint */
static enum cli_exit
nothing_tried(const struct cli_mutant_options *options)
{
    static const char why[] = "no access has an order that could be weaker, so "
                              "nothing was tried";
    struct cli_result *result = cli_report_add(
        options->report, "kernels",
        options->only != NULL ? options->only : "all", CLI_VERDICT_INCOMPLETE);

    cli_result_text(options->report, &result->text, why);
    cli_complain("explore: %s", why);
    return CLI_INCOMPLETE;
}

enum cli_exit
cli_explore_mutants(const struct cli_mutant_options *options)
{
    static char path[PATH_MAX];
    struct work work = {.options = options};
    enum cli_exit exit_code = CLI_OK;

    if (options->csv)
        puts("site,order,weaker,noticed by,how,runs");
    fflush(stdout);
    if (options->shard.count != 0 || options->result != NULL)
        exit_code = begin_rows(&work, path, sizeof path);
    if (exit_code == CLI_OK)
        exit_code = take_all(&work);
    if (work.has_rows) {
        if (exit_code == CLI_OK)
            exit_code = cli_rows_end(&work.rows);
        cli_rows_free(&work.rows);
    } else if (exit_code == CLI_OK && work.item == 0) {
        return nothing_tried(options);
    } else if (exit_code == CLI_OK && !options->csv) {
        printf("%" PRIu32 " of %" PRIu32 " weaker orders found\n", work.found,
               work.tried);
    }
    return exit_code;
}
