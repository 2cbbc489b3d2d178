/*
 * sim_paths.c -- hot paths of the simulator and the explorer: see paths.c. This
 * is a separate program, because the explorer replaces functions that code
 * compiled for it calls.
 */
#include "explore/engine/explore.h"
#include "bench/gate/paths.h"
#include "sim/world/queue.h"
#include "common/rng.h"
#include "explore/textbook/textbook.h"

enum { HOLDS = 1000, ACTORS_MAX = 64 };

static struct {
    struct sim_queue queue;
    uint64_t words[SIM_QUEUE_WORDS(ACTORS_MAX)];
    struct sim_choices choices;
    struct sim_choice list[1];
    struct sim_rng rng;
} bed;

/* Let the first actor act, and make it due again later. */
static void
hold(void)
{
    for (uint32_t i = 0; i < HOLDS; i++) {
        const uint32_t who = sim_queue_first(&bed.queue, &bed.choices, 0);

        sim_queue_set(&bed.queue, who,
                      sim_queue_first_ticks(&bed.queue) + 1 +
                          (sim_rng_next(&bed.rng) & 63));
    }
}

static void
explore(void)
{
    const struct sim_exhaust_options options = {.run = {.lazy_start = true}};
    struct sim_exhaust_result result;

    if (sim_explore_exhaust(fixtures_seqlock(2, 1), &options, &result) !=
        SIM_VERDICT_PASS)
        exit(1);
}

static void
fill(uint32_t actors)
{
    sim_choices_init(&bed.choices, bed.list, 1);
    sim_choices_random(&bed.choices, 1);
    sim_queue_init(&bed.queue, bed.words, actors);
    for (uint32_t who = 0; who < actors; who++)
        sim_queue_set(&bed.queue, who, sim_rng_next(&bed.rng) & 63);
}

int
main(void)
{
    fill(8);
    count("queue-8", hold);
    fill(ACTORS_MAX);
    count("queue-64", hold);
    explore();
    count("explore", explore);
    return 0;
}
