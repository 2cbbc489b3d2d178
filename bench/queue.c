/*
 * queue.c -- the simulator's event queue, compared with that of ns-3. The
 * operation is "hold": with n actors in the queue, take the first that is due
 * and make it due again some time later. If several are due, our queue makes a
 * choice, and theirs takes them by number.
 */
#include "queue.h"

#include <stdlib.h>

#include "bench.h"
#include "peers/peers.h"
#include "rng.h"

enum { HOLDS = 200000, ACTORS_MAX = 1000000 };

#define DELAY_MASK ((1U << 26) - 1) /* so long that ties are few */

struct hold {
    uint64_t *words;
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
    sim_queue_init(&hold->queue, hold->words, hold->actors);
    for (uint32_t who = 0; who < hold->actors; who++)
        sim_queue_set(&hold->queue, who, sim_rng_next(&rng) & DELAY_MASK);
    begun = bench_cpu_ns();
    for (uint32_t i = 0; i < HOLDS; i++) {
        const uint32_t who = sim_queue_first(&hold->queue, &hold->choices, 0);

        sim_queue_set(&hold->queue, who,
                      sim_queue_first_ticks(&hold->queue) + 1 +
                          (sim_rng_next(&rng) & DELAY_MASK));
    }
    return (double)(bench_cpu_ns() - begun) / HOLDS;
}

struct item {
    uint64_t at_ticks;
    uint32_t who;
};

struct heap {
    struct item *items; /* [0]: due first; [i] not after [2i + 1], [2i + 2] */
    size_t count;
};

static struct item heap_items[ACTORS_MAX];

static void
heap_push(struct heap *heap, struct item item)
{
    size_t i = heap->count++;

    for (; i > 0; i = (i - 1) / 2) {
        if (heap->items[(i - 1) / 2].at_ticks <= item.at_ticks)
            break;
        heap->items[i] = heap->items[(i - 1) / 2];
    }
    heap->items[i] = item;
}

static struct item
heap_pop(struct heap *heap)
{
    const struct item first = heap->items[0];
    const struct item last = heap->items[--heap->count];
    size_t i = 0;

    for (size_t child = 1; child < heap->count; child = 2 * i + 1) {
        if (child + 1 < heap->count &&
            heap->items[child + 1].at_ticks < heap->items[child].at_ticks)
            child++;
        if (last.at_ticks <= heap->items[child].at_ticks)
            break;
        heap->items[i] = heap->items[child];
        i = child;
    }
    heap->items[i] = last;
    return first;
}

/* The usual event queue: a binary heap of (time, who), in which ties have no
 * fixed order. */
static double
heap_once(void *context, uint32_t round)
{
    const struct hold *hold = context;
    struct heap heap = {.items = heap_items};
    struct sim_rng rng = {round};
    uint64_t begun;

    for (uint32_t who = 0; who < hold->actors; who++)
        heap_push(&heap, (struct item){sim_rng_next(&rng) & DELAY_MASK, who});
    begun = bench_cpu_ns();
    for (uint32_t i = 0; i < HOLDS; i++) {
        struct item item = heap_pop(&heap);

        item.at_ticks += 1 + (sim_rng_next(&rng) & DELAY_MASK);
        heap_push(&heap, item);
    }
    return (double)(bench_cpu_ns() - begun) / HOLDS;
}

static void
run_row(struct bench *bench, struct hold *hold, struct bench_peer *ns3,
        double goal)
{
    char verb[32];
    struct bench_command command = {ns3, verb};
    const struct bench_row row = {.operation = "hold",
                                  .unit = "ns",
                                  .goal_peer = ns3->name,
                                  .goal_ratio = goal,
                                  .n = hold->actors};
    struct bench_entrant entrants[3];
    size_t count = 0;

    entrants[count++] = (struct bench_entrant){"profsim", hold_once, hold};
    entrants[count++] =
        (struct bench_entrant){"(binary heap)", heap_once, hold};
    if (ns3->to != NULL)
        entrants[count++] =
            (struct bench_entrant){ns3->name, bench_peer_once, &command};
    snprintf(verb, sizeof verb, "hold %u", hold->actors);
    bench_compare(bench, &row, entrants, count);
}

int
main(void)
{
    static const uint32_t sizes[] = {2, 8, 64, 1000, 100000, 1000000};
    static const double goals[] = {1, 1, 1, 4.3, 4.6, 7.2};
    static struct hold hold;
    struct bench_peer ns3;
    struct bench bench;

    bench_begin(&bench, "queue", sizeof sizes / sizeof *sizes);
    bench.rows_planned -= bench.quick;
    if (!bench_peer_start(&ns3, "ns-3", "out/bench/peers/ns3"))
        bench_skip(&bench, ns3.name, "not built (make bench-peers)");
    hold.words =
        aligned_alloc(64, SIM_QUEUE_WORDS(ACTORS_MAX) * sizeof *hold.words);
    if (hold.words == NULL)
        exit(1);
    sim_choices_init(&hold.choices, hold.list, 1);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        hold.actors = sizes[i];
        if (bench.quick && hold.actors == ACTORS_MAX)
            continue;
        run_row(&bench, &hold, &ns3, goals[i]);
    }
    bench_peer_stop(&ns3);
    free(hold.words);
    return bench_end(&bench);
}
