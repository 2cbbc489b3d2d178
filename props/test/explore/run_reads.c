/*
 * run_reads.c -- reads in a search graph by graph: the questions that they ask,
 * and limits.
 */
#include "engine.h"
#include "futile.h"
#include "search.h"
#include "tsan.h"

#include <stdlib.h>
#include <string.h>

#include "run_races.h"
#include "unit_test.h"

static void
end_at_once(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
}

static uint32_t word;
static uint32_t reads;

static void
choose_and_load(void *context, uint32_t thread)
{
    const uint32_t *choices = context;

    (void)thread;
    for (uint32_t i = 0; i < *choices; i++)
        (void)sim_explore_choose(2, SIM_DATA);
    __tsan_atomic32_load(&word, __ATOMIC_RELAXED);
    if (++reads == 3)
        sim_explore_fail("the third time");
}

TEST(the_last_question_of_a_full_list_may_be_a_read)
{
    for (uint32_t more = 0; more < 2; more++) {
        uint32_t choices = SIM_CHOICES_MAX - 1 + more;
        const struct sim_kernel kernel = {
            .name = "full",
            .about = "any",
            .context = &choices,
            .threads = {{"e", end_at_once, NULL}, {"t", choose_and_load, NULL}},
            .threads_count = 2};
        struct sim_exhaust_result r;

        reads = 0;
        sim_explore_exhaust(&kernel, &(struct sim_exhaust_options){0}, &r);
        /* The first run is made twice; a list that is too long ends it all. */
        assert_int_equal(r.verdict,
                         more == 0 ? SIM_VERDICT_FAIL : SIM_VERDICT_UNFINISHED);
        assert_int_equal(r.runs, 2 - more);
        if (more != 0)
            break;
        free(r.choices);
        /* It may wait for each thread but its own. */
        assert_int_equal(sim_reduce_question(choices)->allowed,
                         UINT8_MAX & ~(1U << 1));
    }
}

static void
load(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    __tsan_atomic32_load(&word, __ATOMIC_RELAXED);
}

static void
store(void *context, uint32_t thread)
{
    (void)thread;
    __tsan_atomic32_store(context == NULL ? &word : context, 1,
                          __ATOMIC_RELAXED);
}

/* A random answer is the only source, or one of four threads to wait for; not
 * the thread itself, nor one that has ended. */
TEST(a_random_answer_is_a_source_or_a_thread_that_may_write)
{
    static struct sim_choice list[64];
    const struct sim_kernel kernel = {.name = "answers",
                                      .about = "any",
                                      .threads = {{"e", end_at_once, NULL},
                                                  {"l", load, NULL},
                                                  {"s", store, NULL},
                                                  {"t", store, NULL}},
                                      .threads_count = 4};
    uint32_t counts[1 + SIM_THREADS_MAX + 1] = {0};
    struct sim_choices choices;
    uint32_t switches = 0; /* of a run in which nobody waits */
    struct sim_run run;

    sim_engine_begin(&kernel, &(struct sim_run_options){.reduced = true});
    sim_choices_init(&choices, list, 64);
    for (uint32_t i = 0; i < 1000; i++) {
        sim_choices_prefix(&choices, NULL, 0, i);
        sim_engine_run(&choices, &run);
        assert_int_equal(list[0].bound, 1 + SIM_THREADS_MAX + 1);
        counts[list[0].value]++;
        if (list[0].value == 0)
            switches = run.switches;
        else if (list[0].value == 1 + 2)
            assert_int_equal(run.switches, switches + 1);
    }
    assert_in_range(counts[0], 520, 680); /* 600, 5 standard deviations */
    assert_in_range(counts[1 + 2], 135, 265);
    assert_int_equal(counts[0] + counts[1 + 2] + counts[1 + 3], 1000);
}

/* The store before the load is one of its two sources. */
TEST(a_random_answer_may_be_an_old_store)
{
    static struct sim_choice list[64];
    const struct sim_kernel kernel = {
        .name = "old",
        .about = "any",
        .threads = {{"s", store, NULL}, {"l", load, NULL}},
        .threads_count = 2};
    uint32_t counts[2] = {0};
    struct sim_choices choices;
    struct sim_run run;

    sim_engine_begin(&kernel, &(struct sim_run_options){.reduced = true});
    sim_choices_init(&choices, list, 64);
    for (uint32_t i = 0; i < 1000; i++) {
        sim_choices_prefix(&choices, NULL, 0, i);
        sim_engine_run(&choices, &run);
        assert_in_range(list[0].value, 0, 1);
        assert_int_equal(run.stale, list[0].value);
        counts[list[0].value]++;
    }
    assert_in_range(counts[1], 180, 320); /* one of four, 5 deviations */
}

static void
store_and_load(void *context, uint32_t thread)
{
    (void)context;
    __tsan_atomic32_store(&word, thread + 1, __ATOMIC_RELAXED);
    __tsan_atomic32_load(&word, __ATOMIC_RELAXED);
    __tsan_atomic32_store(&word, thread + 4, __ATOMIC_RELAXED);
}

/* Whose question it is, and whether a load or a store asks; loads of old stores
 * are counted. */
TEST(a_question_names_its_thread)
{
    static struct sim_choice list[64];
    const struct sim_kernel kernel = {
        .name = "names",
        .about = "any",
        .threads = {{"a", store_and_load, NULL}, {"b", store_and_load, NULL}},
        .threads_count = 2};
    uint32_t asked[4] = {0}; /* loads of each thread, its stores */
    struct sim_choices choices;
    struct sim_run run;

    sim_engine_begin(&kernel, &(struct sim_run_options){.unroll = 0});
    sim_choices_init(&choices, list, 64);
    for (uint32_t i = 0; i < 200; i++) {
        uint32_t stale = 0;

        sim_choices_random(&choices, i);
        sim_engine_run(&choices, &run);
        for (uint32_t k = 0; k < choices.count; k++) {
            const uint32_t thread = list[k].label % SIM_LABEL_STORE;
            const bool stores = list[k].label >= SIM_LABEL_STORE;

            if (list[k].kind != SIM_STALE)
                continue;
            assert_in_range(list[k].label / SIM_LABEL_STORE, 0, 1);
            assert_in_range(thread, 0, 1);
            assert_true(list[k].bound > 1);
            asked[thread + 2 * stores]++;
            stale += list[k].value != 0 && !stores;
        }
        assert_int_equal(run.stale, stale);
    }
    for (uint32_t i = 0; i < 4; i++)
        assert_true(asked[i] > 10);
}

/* ---- Futile sources ---- */

static uint32_t stores;    /* their values are 1, 2, .. */
static uint64_t learned;   /* values that are futile, a bit each */
static uint64_t read_name; /* of the load, and its place in the code */
static uintptr_t read_site;

static void
learn_values(void *context)
{
    (void)context;
    word = 0;
    for (uint32_t i = 0; i < 64 && read_name != 0; i++) {
        if ((learned >> i & 1) != 0)
            sim_futile_learn(read_name, i);
    }
}

static void
store_values(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    for (uint32_t i = 1; i <= stores; i++)
        __tsan_atomic32_store(&word, i, __ATOMIC_RELAXED);
}

static void
load_in_loop(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    __tsan_atomic32_load(&word, __ATOMIC_RELAXED);
    read_name = sim_self()->read_name;
    read_site = sim_self()->last_site;
}

static void
expect_futile(uint32_t count, uint64_t values)
{
    const struct sim_kernel kernel = {
        .name = "futile",
        .about = "any",
        .setup = learn_values,
        .threads = {{"s", store_values, NULL}, {"l", load_in_loop, NULL}},
        .threads_count = 2};
    struct sim_exhaust_result r;
    uint64_t want = 0; /* the last store comes first */
    bool others = count >= 64;

    stores = count - 1;
    learned = values;
    for (uint32_t i = 0; i < count && i < 64; i++) {
        if (stores - i < 64 && (values >> (stores - i) & 1) != 0)
            want |= UINT64_C(1) << i;
        else
            others = true;
    }
    sim_explore_exhaust(&kernel, &(struct sim_exhaust_options){.runs_max = 1},
                        &r);
    assert_int_equal(r.failures, 0);
    assert_int_equal(sim_reduce_question(0)->sources, count);
    assert_int_equal(sim_reduce_question(0)->futile,
                     others ? want & ~UINT64_C(1) : want);
}

/* The last store is futile only if all are. Beyond 64 sources none is. */
TEST(a_loop_is_not_led_round_by_futile_sources)
{
    expect_futile(2, 0);
    assert_true(read_name == 0);
    sim_wait_learn(read_site); /* it is in a wait loop */
    expect_futile(2, 0);
    assert_true(read_name != 0);
    for (uint32_t count = 1; count <= 4; count++) {
        for (uint64_t values = 0; values < UINT64_C(1) << count; values++)
            expect_futile(count, values);
    }
    for (uint32_t count = 62; count <= 66; count++) {
        expect_futile(count, UINT64_MAX);
        expect_futile(count, UINT64_MAX >> 2);
        expect_futile(count, UINT64_MAX << 2);
    }
    expect_futile(64, UINT64_C(1) << 63); /* the last store alone */
}

/* ---- A chain of threads ---- */

static uint32_t links[SIM_THREADS_MAX];

static void
clear_links(void *context)
{
    (void)context;
    memset(links, 0, sizeof links);
}

static void
load_next(void *context, uint32_t thread)
{
    (void)context;
    if (thread + 1 < SIM_THREADS_MAX)
        __tsan_atomic32_load(&links[thread + 1], __ATOMIC_RELAXED);
    __tsan_atomic32_store(&links[thread], 1, __ATOMIC_RELAXED);
}

/* Each thread but the last one reads what the next one has written, or not. So
 * up to seven threads wait, each for the next. */
TEST(each_thread_may_wait_for_the_next)
{
    struct sim_kernel kernel = {.name = "chain",
                                .about = "any",
                                .setup = clear_links,
                                .threads_count = SIM_THREADS_MAX};
    struct sim_exhaust_result r;

    for (uint32_t i = 0; i < SIM_THREADS_MAX; i++)
        kernel.threads[i] = (struct sim_thread){"link", load_next, NULL};
    assert_int_equal(
        sim_explore_exhaust(&kernel, &(struct sim_exhaust_options){0}, &r),
        SIM_VERDICT_PASS);
    assert_int_equal(r.graphs, 1 << (SIM_THREADS_MAX - 1));
    assert_int_equal(r.runs, r.graphs);
}

/* ---- Drawn kernels ---- */

static uint8_t drawn[3][3]; /* operations of each thread */
static uint32_t drawn_words[2];

static void
clear_drawn(void *context)
{
    (void)context;
    memset(drawn_words, 0, sizeof drawn_words);
}

static void
do_drawn(void *context, uint32_t thread)
{
    static uint32_t lock;

    (void)context;
    for (uint32_t i = 0; i < 3; i++) {
        const uint8_t what = drawn[thread][i];
        uint32_t *at = &drawn_words[what % 2];

        if (what == 1 || what == 2)
            __tsan_atomic32_store(at, thread + 1, __ATOMIC_RELAXED);
        if (what == 3 || what == 4)
            __tsan_atomic32_load(at, __ATOMIC_RELAXED);
        if (what == 5) {
            sim_explore_lock(&lock, 0);
            __tsan_atomic32_store(at, thread + 1, __ATOMIC_RELAXED);
            sim_explore_unlock(&lock);
        }
        if (what == 6 && sim_explore_trylock(&lock, 0))
            sim_explore_unlock(&lock);
        if (what == 7 || what == 8)
            sim_explore_barrier();
    }
}

/* Both searches find the same graphs. Search graph by graph makes few runs that
 * lead to no new graph: of two threads, one in ten kernels has any; in all, at
 * most four runs are made for three graphs. */
TEST(drawn_kernels_have_the_same_graphs_either_way)
{
    struct sim_rng rng = {.state = 5};
    uint32_t two = 0;
    uint32_t exact = 0;
    uint64_t runs = 0;
    uint64_t graphs = 0;

    for (uint32_t i = 0; i < 160; i++) {
        struct sim_kernel kernel = {.name = "drawn",
                                    .about = "any",
                                    .setup = clear_drawn,
                                    .threads_count = 2 + i % 2,
                                    .barriers = i / 2 % 2 == 0};
        struct sim_exhaust_result r;
        struct sim_exhaust_result schedules;

        memset(drawn, 0, sizeof drawn);
        for (uint32_t k = 0; k < kernel.threads_count; k++) {
            kernel.threads[k] = (struct sim_thread){"drawn", do_drawn, NULL};
            for (uint32_t j = 0; j < 3 - i % 2; j++)
                drawn[k][j] =
                    (uint8_t)sim_rng_below(&rng, kernel.barriers ? 9 : 7);
        }
        assert_int_equal(
            sim_explore_exhaust(&kernel, &(struct sim_exhaust_options){0}, &r),
            SIM_VERDICT_PASS);
        assert_int_equal(
            sim_explore_exhaust(
                &kernel, &(struct sim_exhaust_options){.by_schedules = true},
                &schedules),
            SIM_VERDICT_PASS);
        assert_int_equal(r.graphs, schedules.graphs);
        assert_int_equal(r.graphs_sum, schedules.graphs_sum);
        two += kernel.threads_count == 2;
        exact += kernel.threads_count == 2 && r.runs == r.graphs;
        runs += r.runs;
        graphs += r.graphs;
    }
    assert_true(10 * exact >= 9 * two);
    assert_true(3 * runs <= 4 * graphs);
}

/* ---- The log ---- */

enum { STORES = 30000, LOGGED_MAX = 1 << 16 };

static void
store_and_lock(void *context, uint32_t thread)
{
    static uint32_t lock;
    const uint32_t *operations = context;
    uint32_t i = 0;

    (void)thread;
    for (; i < STORES; i++)
        __tsan_atomic32_store(&word, i, __ATOMIC_RELAXED);
    for (; i < *operations; i++) {
        if (i % 2 == 0)
            sim_explore_lock(&lock, 0);
        else
            sim_explore_unlock(&lock);
    }
}

TEST(a_run_may_have_65536_operations)
{
    static struct sim_choice list[SIM_CHOICES_MAX];

    for (uint32_t more = 0; more < 2; more++) {
        uint32_t operations = LOGGED_MAX + more;
        const struct sim_kernel kernel = {
            .name = "log",
            .about = "any",
            .context = &operations,
            .threads = {{"t", store_and_lock, NULL}},
            .threads_count = 1};
        const struct sim_run_options options = {.reduced = true,
                                                .steps_max = 2 * LOGGED_MAX};
        struct sim_choices choices;
        struct sim_run run;

        sim_choices_init(&choices, list, SIM_CHOICES_MAX);
        sim_choices_replay(&choices, NULL, 0);
        sim_explore_run(&kernel, &options, &choices, &run);
        assert_int_equal(run.end,
                         more != 0 ? SIM_END_FAILED : SIM_END_COMPLETE);
        if (more != 0)
            assert_string_equal(run.failure.text,
                                "the run has too many accesses");
    }
}

int
run_reads_tests(void)
{
    return tests_run(NULL, NULL);
}
