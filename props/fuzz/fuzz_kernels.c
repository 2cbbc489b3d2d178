/*
 * fuzz_kernels.c -- the first byte selects a kernel over the production core;
 * the others choose its schedule and which stores its loads read from.
 *
 * One run of a concurrent program covers its code, but not its orderings. So
 * the target also reports pairs of a load and the store that it reads from, by
 * source location, as coverage: a pair is new only the first time.
 *
 * If PROFSIM_KERNEL names a kernel, the first byte is used like the others.
 * PROFSIM_PAIRS=off leaves the pairs out, to measure their value.
 */
#include <stdio.h>
#include <string.h>

#include "explore/engine/engine.h"
#include "props/fuzz/fuzz.h"
#include "props/kernels/kernels.h"

enum { CHOICES_MAX = 4096 };

static struct sim_choice list[CHOICES_MAX];
static struct trace_event trace[TRACE_MAX];
static bool counts_pairs;

static const struct sim_kernel_entry *
wanted_kernel(void)
{
    const char *wanted = getenv("PROFSIM_KERNEL");
    const struct sim_kernel_entry *entry = props_kernels;

    if (wanted == NULL)
        return NULL;
    while (entry->name != NULL && strcmp(wanted, entry->name) != 0)
        entry++;
    if (entry->name == NULL) {
        fprintf(stderr, "fuzz: there is no kernel '%s'\n", wanted);
        exit(1);
    }
    return entry;
}

static const struct sim_kernel_entry *
kernel_of_byte(uint8_t byte)
{
    uint32_t count = 0;

    while (props_kernels[count].name != NULL)
        count++;
    return &props_kernels[byte % count];
}

/* The load address of the program varies: count from a symbol in it. */
static uint64_t
place_of(uintptr_t site)
{
    return site - (uintptr_t)props_kernels;
}

static void
count_pairs(void)
{
    for (uint32_t i = 0; i < sim_engine.state.trace_count; i++) {
        const struct trace_event *read = &trace[i];
        uint64_t written_at = 0; /* before the run */

        if (read->bytes == 0 || read->op == SIM_OP_STORE)
            continue;
        if (read->from != TRACE_MAX)
            written_at = place_of(trace[read->from].site);
        fuzz_feature(sim_mix64(sim_mix64(place_of(read->site)) ^ written_at ^
                               read->behind << 1));
    }
}

/* Shrink the failing run, and print it with its diagram. */
static void
report(const struct sim_kernel_entry *entry, const struct sim_kernel *kernel,
       const struct sim_run_options *options, const struct sim_choices *choices,
       const struct sim_run *run)
{
    struct sim_exhaust_result result = {
        .verdict = SIM_VERDICT_FAIL,
        .failures = 1,
        .first_failure = *run,
        .options = *options,
        .choices = calloc(CHOICES_MAX, sizeof *list),
        .choices_count = choices->count,
    };

    if (result.choices == NULL)
        abort();
    memcpy(result.choices, list, choices->count * sizeof *list);
    sim_engine.trace = NULL;
    sim_explore_report(stderr, NULL, kernel, &result);
    fprintf(stderr, "replay: profsim explore %s --strategy random --replay %s",
            entry->name, result.choices_count == 0 ? "0" : "");
    for (uint32_t i = 0; i < result.choices_count; i++)
        fprintf(stderr, "%s%u", i == 0 ? "" : ",", result.choices[i].value);
    fputc('\n', stderr);
    free(result.choices);
}

static void
run_kernel(const struct sim_kernel_entry *entry, const uint8_t *bytes,
           size_t bytes_count)
{
    const struct sim_kernel *kernel = entry->make();
    const struct sim_run_options options = {.strategy = SIM_STRATEGY_RANDOM};
    struct sim_choices choices;
    struct sim_run run;

    sim_choices_init(&choices, list, CHOICES_MAX);
    sim_choices_bytes(&choices, bytes, (uint32_t)bytes_count);
    sim_engine.trace = counts_pairs ? trace : NULL;
    if (sim_explore_run(kernel, &options, &choices, &run) == SIM_END_FAILED) {
        fprintf(stderr, "%s: %s\n  %s\n", entry->name, kernel->about,
                run.failure.text);
        if (fuzz_reports())
            report(entry, kernel, &options, &choices, &run);
        abort();
    }
    if (counts_pairs)
        count_pairs();
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t bytes_count)
{
    static const struct sim_kernel_entry *wanted;
    static bool begun;

    if (!begun) {
        wanted = wanted_kernel();
        counts_pairs = getenv("PROFSIM_PAIRS") == NULL;
        begun = true;
    }
    if (wanted != NULL)
        run_kernel(wanted, bytes, bytes_count);
    else if (bytes_count > 0)
        run_kernel(kernel_of_byte(bytes[0]), &bytes[1], bytes_count - 1);
    return 0;
}
