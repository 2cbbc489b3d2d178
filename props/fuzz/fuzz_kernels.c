/*
 * fuzz_kernels.c -- bytes are the schedule and the stale reads of a kernel over
 * the production core. New execution graphs count as coverage: the code of a
 * racing program is covered at once, its orderings never are.
 *
 * PROFSIM_KERNEL names the kernel (all, one after the other).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "kernels.h"

enum { GRAPHS = 1 << 13, CHOICES_MAX = 4096 };

/* libFuzzer reads this section as counters of its own; nobody else does. */
__attribute__((section(
    "__libfuzzer_extra_counters"))) static volatile uint8_t graphs[GRAPHS];

static struct sim_choice list[CHOICES_MAX];

static void
run_kernel(const struct sim_kernel *kernel, const uint8_t *bytes,
           size_t bytes_count)
{
    const struct sim_run_options options = {.strategy = SIM_STRATEGY_RANDOM};
    struct sim_choices choices;
    struct sim_run run;

    sim_choices_init(&choices, list, CHOICES_MAX);
    sim_choices_bytes(&choices, bytes, (uint32_t)bytes_count);
    if (sim_explore_run(kernel, &options, &choices, &run) != SIM_END_FAILED) {
        graphs[run.graph[0] % GRAPHS] = 1;
        return;
    }
    fprintf(stderr, "%s: %s\n  %s\nreplay: profsim explore %s --replay ",
            kernel->name, kernel->about, run.failure.text, kernel->name);
    for (uint32_t i = 0; i < choices.count; i++)
        fprintf(stderr, "%s%u", i == 0 ? "" : ",", choices.list[i].value);
    fputc('\n', stderr);
    abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t bytes_count)
{
    const char *wanted = getenv("PROFSIM_KERNEL");

    for (uint32_t i = 0; i < GRAPHS; i++)
        graphs[i] = 0;
    for (const struct sim_kernel_entry *e = props_kernels; e->name != NULL;
         e++) {
        if (wanted == NULL || strcmp(wanted, e->name) == 0)
            run_kernel(e->make(), bytes, bytes_count);
    }
    return 0;
}
