/*
 * explore_mutants.c -- weakens each memory order, and prints which kernel
 * notices.
 *
 * A site is the return address of an atomic access, so one binary holds all
 * mutants. Kernels of one table share a program, and so its sites: a mutant
 * survives only if every kernel that reaches its site passes. Kernels are tried
 * in the order of their table, the cheap ones first.
 */
#include "explore/command/explore_mutants.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/command/complaint.h"
#include "explore/command/explore_shard.h"
#include "explore/command/kernel_groups.h"
#include "explore/command/mutant_rows.h"
#include "prof/process.h"

enum {
    SITES_MAX = 512,
    KERNELS_MAX = 128,
    SITE_RUNS = 500,   /* random runs that find a kernel's sites */
    RUNS_MAX = 300000, /* of a kernel against one mutant */
    BOUND_MAX = 2,     /* of a kernel that needs a bound */
    WRITE_S = 1        /* how often the result is written, about */
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
is_intended(const struct sim_kernel_entry *entry, const char *only)
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
        if (!is_intended(&group[k], only))
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

/* Does the kernel notice the mutant? */
static bool
notices(const struct sim_kernel_entry *entry, const struct sim_run_options *run,
        struct cli_mutant *mutant)
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
    mutant->runs += r.runs;
    mutant->unfinished += r.verdict == SIM_VERDICT_UNFINISHED;
    if (r.verdict != SIM_VERDICT_FAIL)
        return false;
    mutant->kernel = cli_need(strdup(entry->name));
    mutant->how =
        cli_need(strdup(sim_failure_kind_text(r.first_failure.failure.kind)));
    return true;
}

static struct cli_mutant
try_mutant(const struct sim_kernel_entry *group,
           const struct sim_run_options *run, const struct reached *reached,
           const struct sim_site *is)
{
    const struct sim_site *was = &reached->site;
    const bool on_failure = was->order == is->order;
    struct cli_mutant mutant = {
        .site = cli_need(strdup(sim_site_text(was->site))),
        .is = cli_need(
            strdup(order_text(on_failure ? is->order_failure : is->order))),
    };

    if (asprintf(&mutant.was, "%s%s", on_failure ? "on failure " : "",
                 order_text(on_failure ? was->order_failure : was->order)) < 0)
        cli_need(NULL);
    sim_explore_mutate(is);
    for (uint32_t k = 0; group[k].name != NULL; k++) {
        if (reached->kernels[k] && notices(&group[k], run, &mutant))
            break;
    }
    sim_explore_mutate(NULL);
    if (mutant.kernel == NULL)
        mutant.how = cli_need(strdup("-"));
    return mutant;
}

/* ---- All of them ---- */

struct work {
    const struct cli_explore_words *words;
    struct cli_shard_file file;
    struct cli_mutants mutants; /* the rows of this shard */
    uint64_t item;              /* of all shards */
    uint64_t row;               /* of this one */
    uint64_t noticed;
    int64_t written_ns;
};

/* returns: false, and a complaint, if the file is not written */
static bool
write_rows(struct work *work)
{
    work->written_ns = prof_process_monotonic_ns();
    if (work->file.path == NULL)
        return true;
    cli_shard_write(&work->file);
    cli_mutants_pass(&work->file, &work->mutants);
    return cli_shard_written(&work->file);
}

/* Handle one weaker order, unless it is another shard's. Its row may be there
 * from before. returns: false, and a complaint, if a row cannot be kept */
static bool
take_item(struct work *work, const struct sim_kernel_entry *group,
          const struct reached *was, const struct sim_site *is)
{
    const struct cli_shard *shard = &work->file.shard;
    const struct cli_mutant *mutant;
    const bool is_there = work->row < work->mutants.count;

    if (work->item++ % shard->count != shard->index - 1)
        return true;
    mutant =
        is_there
            ? &work->mutants.rows[work->row]
            : cli_mutants_add(&work->mutants,
                              try_mutant(group, &work->words->run, was, is));
    work->row++;
    work->noticed += mutant->kernel != NULL;
    cli_mutant_print(mutant, work->words->csv, work->words->report);
    return is_there ||
           prof_process_monotonic_ns() - work->written_ns <
               INT64_C(1000000000) * WRITE_S ||
           write_rows(work);
}

/* Handle all weaker orders of one table of kernels, which share a program. out:
 * *any, set to true if the table has the kernel that was named */
static bool
take_group(struct work *work, const struct sim_kernel_entry *group, bool *any)
{
    if (!collect_sites(group, work->words->kernel))
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

static enum cli_exit
take_all(struct work *work)
{
    bool any = false;

    for (size_t g = 0; cli_kernel_groups[g] != NULL; g++) {
        if (!take_group(work, cli_kernel_groups[g], &any))
            return CLI_USAGE;
    }
    return any ? CLI_OK : cli_no_such_kernel(work->words->kernel);
}

/* returns: CLI_INCOMPLETE, after a complaint */
static enum cli_exit
nothing_tried(const struct cli_explore_words *w)
{
    static const char why[] = "no access has an order that could be weaker, so "
                              "nothing was tried";
    struct cli_result *result = cli_report_add(
        w->report, "kernels", w->kernel != NULL ? w->kernel : "all",
        CLI_VERDICT_INCOMPLETE);

    cli_result_text(w->report, &result->text, why);
    cli_complain("explore: %s", why);
    return CLI_INCOMPLETE;
}

static enum cli_exit
run(struct work *work)
{
    const struct cli_shard *shard = &work->file.shard;
    struct cli_shard_file old;
    enum cli_exit exit_code;
    bool exists;

    if (!cli_shard_resume(&work->file, &old, &exists))
        return CLI_USAGE;
    if (exists) {
        cli_mutants_pass(&old, &work->mutants);
        cli_shard_close(&old);
        if (old.wrong)
            return CLI_USAGE;
    }
    cli_mutants_head(work->words->csv);
    fflush(stdout);
    exit_code = take_all(work);
    if (exit_code == CLI_OK && work->item == 0)
        return nothing_tried(work->words);
    work->mutants.is_done = true;
    if (exit_code == CLI_OK && !write_rows(work))
        exit_code = CLI_USAGE;
    if (exit_code != CLI_OK)
        return exit_code;
    if (shard->count > 1)
        printf("shard %" PRIu32 "/%" PRIu32 " is done\n", shard->index,
               shard->count);
    else if (!work->words->csv)
        cli_mutants_total(work->noticed, work->item);
    return CLI_OK;
}

enum cli_exit
cli_explore_mutants(const struct cli_explore_words *words, int argc,
                    char *const *argv)
{
    static char path[PATH_MAX];
    struct work work = {.words = words,
                        .written_ns = prof_process_monotonic_ns()};
    enum cli_exit exit_code;

    if (!cli_explore_shard_file(&work.file, words, argc, argv, path,
                                sizeof path))
        return CLI_USAGE;
    exit_code = run(&work);
    cli_mutants_free(&work.mutants);
    cli_shard_close(&work.file);
    return exit_code;
}
