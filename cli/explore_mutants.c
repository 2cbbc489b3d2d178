/*
 * explore_mutants.c -- a matrix of memory orders made weaker.
 *
 * A site is the address that an access returns to, so one binary holds all
 * mutants. Kernels of one table share their program and so their sites: a
 * mutant lives only if every kernel that reaches its site passes.
 */
#include "explore_mutants.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SITES_MAX = 512, SITE_RUNS = 500, RUNS_MAX = 300000 };

static struct sim_site sites[SITES_MAX];
static uint32_t sites_count;

static bool
is_named(const struct sim_kernel_entry *entry, const char *only)
{
    return only == NULL || strcmp(entry->name, only) == 0;
}

static bool
known(uintptr_t site)
{
    for (uint32_t i = 0; i < sites_count; i++) {
        if (sites[i].site == site)
            return true;
    }
    return false;
}

static bool
collect_sites(const struct sim_kernel_entry *group, const char *only)
{
    static struct sim_site reached[SITES_MAX];
    bool any = false;

    sites_count = 0;
    for (const struct sim_kernel_entry *e = group; e->name != NULL; e++) {
        uint32_t count;

        if (!is_named(e, only))
            continue;
        any = true;
        count = sim_explore_sites(e->make(), SITE_RUNS, reached, SITES_MAX);
        for (uint32_t i = 0; i < count && sites_count < SITES_MAX; i++) {
            if (!known(reached[i].site))
                sites[sites_count++] = reached[i];
        }
    }
    return any;
}

static const char *
order_text(int order)
{
    static const char *const texts[] = {"relaxed", "consume", "acquire",
                                        "release", "acq_rel", "seq_cst"};

    return texts[order];
}

/* returns: whether the kernel fails under the mutant now in force */
static bool
notices(const struct sim_kernel_entry *entry, const struct sim_run_options *run)
{
    struct sim_exhaust_options options = {.run = *run, .runs_max = RUNS_MAX};
    struct sim_exhaust_result r;

    if (entry->bounded && !run->bounded) {
        options.run.bounded = true;
        options.run.preemptions_max = entry->preemptions_max;
    }
    sim_explore_exhaust(entry->make(), &options, &r);
    free(r.choices);
    if (r.verdict == SIM_VERDICT_FAIL) {
        printf("%s, %s\n", entry->name,
               sim_failure_kind_text(r.first_failure.failure.kind));
        return true;
    }
    if (r.verdict == SIM_VERDICT_UNFINISHED)
        printf("(%s not finished) ", entry->name);
    return false;
}

static bool
try_mutant(const struct sim_kernel_entry *group, const char *only,
           const struct sim_run_options *run, const struct sim_site *was,
           const struct sim_site *is)
{
    bool found = false;

    printf("  %s\n    %s -> ", sim_site_text(was->site),
           order_text(was->order));
    if (was->order != is->order)
        printf("%s: ", order_text(is->order));
    else
        printf("the same, on failure %s -> %s: ",
               order_text(was->order_failure), order_text(is->order_failure));
    sim_explore_mutate(is);
    for (const struct sim_kernel_entry *e = group; e->name != NULL && !found;
         e++) {
        if (is_named(e, only))
            found = notices(e, run);
    }
    sim_explore_mutate(NULL);
    if (!found)
        printf("SURVIVES\n");
    return found;
}

bool
cli_explore_mutants(const struct sim_kernel_entry *group, const char *only,
                    const struct sim_run_options *run, uint32_t *mutants,
                    uint32_t *found)
{
    if (!collect_sites(group, only))
        return false;
    for (uint32_t i = 0; i < sites_count; i++) {
        struct sim_site weaker = sites[i];

        for (uint32_t step = 0; sim_explore_weaken(&weaker, step); step++) {
            (*mutants)++;
            *found += try_mutant(group, only, run, &sites[i], &weaker);
            weaker = sites[i];
        }
    }
    return true;
}
