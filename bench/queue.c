/*
 * queue.c -- the simulator's event queue: hold, one pop and one push, with so
 * many actors in it. The queue of generated worlds holds at most 64.
 */
#include "queue.h"

#include "bench.h"
#include "rng.h"

enum { HOLDS = 200000 };

struct hold {
    struct sim_queue queue;
    struct sim_choices choices;
    struct sim_choice list[1];
    uint32_t actors;
};

static double
hold_once(void *context, uint32_t round)
{
    struct hold *hold = context;
    struct sim_rng rng = {round};
    uint64_t begun;

    sim_choices_random(&hold->choices, round);
    sim_queue_init(&hold->queue);
    for (uint32_t who = 0; who < hold->actors; who++)
        sim_queue_push(&hold->queue, sim_rng_next(&rng) % 1000, who);
    begun = bench_cpu_ns();
    for (uint32_t i = 0; i < HOLDS; i++) {
        uint64_t at_ticks;
        const uint32_t who =
            sim_queue_pop(&hold->queue, &hold->choices, 0, &at_ticks);

        sim_queue_push(&hold->queue, at_ticks + 1 + (sim_rng_next(&rng) & 1023),
                       who);
    }
    return (double)(bench_cpu_ns() - begun) / HOLDS;
}

int
main(void)
{
    static const uint32_t sizes[] = {2, 8, 64};
    static struct hold hold;
    struct bench bench;

    bench_begin(&bench, "queue", sizeof sizes / sizeof *sizes);
    sim_choices_init(&hold.choices, hold.list, 1);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const struct bench_entrant ours = {"profsim", hold_once, &hold};
        const struct bench_row row = {
            .operation = "hold", .unit = "ns", .n = sizes[i]};

        hold.actors = sizes[i];
        bench_compare(&bench, &row, &ours, 1);
    }
    return bench_end(&bench);
}
