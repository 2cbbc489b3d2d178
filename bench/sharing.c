/*
 * sharing.c -- how two processors slow each other down: atomic additions to one
 * counter, to two counters in one cache line, and to two lines; and how long a
 * line takes from one processor to the other. The record path makes one such
 * addition per event, so this shows when buckets contend (docs/speed.md).
 */
#include <stdatomic.h>

#include "bench.h"
#include "pair.h"

enum {
    ROUNDS = 100,
    ADDS = 1000, /* in a round */
    LINE_WORDS = 8,
};

struct sharing {
    _Atomic uint64_t *counters;
    size_t apart; /* words between the counters of the two threads */
};

static void
add(void *context, uint32_t thread, uint32_t round)
{
    const struct sharing *sharing = context;
    _Atomic uint64_t *counter = sharing->counters + thread * sharing->apart;

    (void)round;
    for (uint32_t i = 0; i < ADDS; i++)
        atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

/* Each thread adds when the word shows that it is its round. */
static void
hand_over(void *context, uint32_t thread, uint32_t round)
{
    const struct sharing *sharing = context;
    _Atomic uint64_t *word = sharing->counters;

    for (uint32_t i = 0; i < ADDS; i++) {
        const uint64_t mine =
            ((uint64_t)round * ADDS + i) * BENCH_PAIR + thread;

        while (atomic_load_explicit(word, memory_order_acquire) != mine)
            ;
        atomic_store_explicit(word, mine + 1, memory_order_release);
    }
}

/* returns: ns per addition of one thread, while the other adds, too */
static double
run(void *context, void (*once)(void *, uint32_t, uint32_t))
{
    const struct bench_pair pair = {.once = once,
                                    .context = context,
                                    .rounds = ROUNDS,
                                    .warm = ROUNDS / 10};

    return bench_pair_run(&pair) * bench_ns_a_tick() / ADDS;
}

static double
add_once(void *context, uint32_t round)
{
    (void)round;
    return run(context, add);
}

static double
hand_over_once(void *context, uint32_t round)
{
    const struct sharing *sharing = context;

    (void)round;
    atomic_store(sharing->counters, 0);
    return run(context, hand_over) / BENCH_PAIR;
}

int
main(void)
{
    struct sharing apart = {.apart = 64 * LINE_WORDS};
    struct sharing line = {.apart = 1};
    struct sharing counter = {.apart = 0};
    const struct bench_entrant adding[] = {{"lines apart", add_once, &apart},
                                           {"one line", add_once, &line},
                                           {"one counter", add_once, &counter}};
    const struct bench_entrant handing[] = {
        {"one way", hand_over_once, &counter}};
    struct bench_row row = {
        .operation = "atomic-add", .unit = "ns", .threads = BENCH_PAIR};
    struct bench bench;

    bench_begin(&bench, "sharing", 2);
    apart.counters = line.counters = counter.counters = bench_pages(1 << 16);
    bench_compare(&bench, &row, adding, sizeof adding / sizeof *adding);
    row.operation = "hand-over";
    bench_compare(&bench, &row, handing, 1);
    return bench_end(&bench);
}
