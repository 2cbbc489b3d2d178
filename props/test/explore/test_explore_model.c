/*
 * test_explore_model.c -- the explorer against a model, on random programs.
 *
 * The explorer runs a small program under every ordering. The model (rc11.h)
 * enumerates the program's execution graphs and keeps those that the axioms of
 * repaired C11 allow. The explorer must find exactly their outcomes, in shards
 * and in steps, too, and also if loads are repeated until they read a certain
 * value.
 *
 *      test_explore_model            600 programs of each class
 *      test_explore_model 5000       5000 of each
 */
#include "explore.h"
#include "rc11.h"
#include "tsan.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit_test.h"

enum { WRITES_MAX = 4 };

static uint32_t programs = 600;

/* ---- Explored ---- */

static struct props_rc11_program program;
static uint64_t memory[PROPS_RC11_LOCATIONS];
static uint32_t width; /* bytes of a location; they lie side by side */
static uint32_t read_by[PROPS_RC11_THREADS_MAX][PROPS_RC11_STEPS_MAX];
static bool waits[PROPS_RC11_THREADS_MAX][PROPS_RC11_STEPS_MAX];
static uint64_t completed; /* runs */
static struct props_rc11_outcomes explored;
static struct props_rc11_outcomes allowed;

static void
setup(void *context)
{
    (void)context;
    memset(memory, 0, sizeof memory);
    memset(read_by, 0, sizeof read_by);
}

/* clang-format off */
#define STEP_OF(bits)                                                          \
    static uint32_t step_of_##bits(const struct props_rc11_step *s, void *at)  \
    {                                                                          \
        const uint##bits##_t value = (uint##bits##_t)s->value;                 \
        uint##bits##_t expected = (uint##bits##_t)s->expected;                 \
        uint##bits##_t *place = at;                                            \
                                                                               \
        switch (s->op) {                                                       \
        case PROPS_RC11_LOAD:                                                  \
            return (uint32_t)__tsan_atomic##bits##_load(place, s->order);      \
        case PROPS_RC11_STORE:                                                 \
            __tsan_atomic##bits##_store(place, value, s->order);               \
            break;                                                             \
        case PROPS_RC11_EXCHANGE:                                              \
            return (uint32_t)__tsan_atomic##bits##_exchange(place, value,      \
                                                            s->order);         \
        case PROPS_RC11_FENCE:                                                 \
            __tsan_atomic_thread_fence(s->order);                              \
            break;                                                             \
        case PROPS_RC11_CAS:                                                   \
            if (s->value % 3 == 0)                                             \
                return (uint32_t)__tsan_atomic##bits##_compare_exchange_val(   \
                    place, expected, value, s->order, s->order_failure);       \
            if (s->value % 3 == 1)                                             \
                __tsan_atomic##bits##_compare_exchange_strong(                 \
                    place, &expected, value, s->order, s->order_failure);      \
            else                                                               \
                __tsan_atomic##bits##_compare_exchange_weak(                   \
                    place, &expected, value, s->order, s->order_failure);      \
            return (uint32_t)expected;                                         \
        }                                                                      \
        return 0;                                                              \
    }
/* clang-format on */

STEP_OF(8)
STEP_OF(16)
STEP_OF(32)
STEP_OF(64)

static void
run_thread(void *context, uint32_t thread)
{
    (void)context;
    for (uint32_t i = 0; i < program.length; i++) {
        const struct props_rc11_step *s = &program.steps[thread][i];
        void *at = (char *)memory + s->location * width;

        for (;;) {
            read_by[thread][i] = width == 1   ? step_of_8(s, at)
                                 : width == 2 ? step_of_16(s, at)
                                 : width == 4 ? step_of_32(s, at)
                                              : step_of_64(s, at);
            if (!waits[thread][i] || read_by[thread][i] == s->expected)
                break;
            sim_explore_spin_wait();
        }
    }
}

static void
note_outcome(void *context)
{
    uint64_t outcome = 0;

    (void)context;
    completed++;
    for (uint32_t t = 0; t < program.threads; t++) {
        for (uint32_t i = 0; i < program.length; i++)
            outcome = props_rc11_put(outcome, t, i, read_by[t][i]);
    }
    props_rc11_add(&explored, outcome);
}

static struct sim_exhaust_result
explore(const struct sim_exhaust_options *options)
{
    struct sim_kernel kernel = {.name = "random",
                                .about = "any",
                                .setup = setup,
                                .finish = note_outcome,
                                .threads_count = program.threads};
    struct sim_exhaust_result r;

    for (uint32_t t = 0; t < program.threads; t++)
        kernel.threads[t] = (struct sim_thread){"t", run_thread, NULL};
    explored.count = 0;
    completed = 0;
    sim_explore_exhaust(&kernel, options, &r);
    free(r.choices);
    return r;
}

/* ---- Programs ---- */

enum class {
    ACCESSES, /* relaxed, acquire and release */
    FENCES,   /* ACCESSES, and fences of every order */
    SEQ_CST,  /* all of these; a third are seq_cst */
};

static int
draw_order(struct sim_rng *rng, enum props_rc11_op op, enum class class)
{
    static const int loads[] = {__ATOMIC_RELAXED, __ATOMIC_ACQUIRE};
    static const int stores[] = {__ATOMIC_RELAXED, __ATOMIC_RELEASE};
    static const int exchanges[] = {__ATOMIC_RELAXED, __ATOMIC_ACQUIRE,
                                    __ATOMIC_RELEASE, __ATOMIC_ACQ_REL};
    static const int fences[] = {__ATOMIC_ACQUIRE, __ATOMIC_RELEASE,
                                 __ATOMIC_ACQ_REL, __ATOMIC_SEQ_CST,
                                 __ATOMIC_SEQ_CST};

    if (class == SEQ_CST && sim_rng_below(rng, 3) == 0)
        return __ATOMIC_SEQ_CST;
    switch (op) {
    case PROPS_RC11_LOAD:
        return loads[sim_rng_below(rng, 2)];
    case PROPS_RC11_STORE:
        return stores[sim_rng_below(rng, 2)];
    case PROPS_RC11_EXCHANGE:
    case PROPS_RC11_CAS:
        return exchanges[sim_rng_below(rng, 4)];
    case PROPS_RC11_FENCE:
        return fences[sim_rng_below(rng, 5)];
    }
    return __ATOMIC_RELAXED;
}

static void
draw_program(struct sim_rng *rng, enum class class)
{
    static const enum props_rc11_op ops[] = {PROPS_RC11_LOAD, PROPS_RC11_STORE,
                                             PROPS_RC11_EXCHANGE,
                                             PROPS_RC11_CAS, PROPS_RC11_FENCE};
    uint32_t value = 1;

    width = 1U << sim_rng_below(rng, 4);
    program.threads = 2 + sim_rng_below(rng, 2);
    program.length = program.threads == 3 ? 2 + sim_rng_below(rng, 2) : 3;
    for (uint32_t t = 0; t < program.threads; t++) {
        for (uint32_t i = 0; i < program.length; i++) {
            struct props_rc11_step *s = &program.steps[t][i];

            s->op = ops[sim_rng_below(rng, class == ACCESSES ? 4 : 5)];
            s->location = sim_rng_below(rng, PROPS_RC11_LOCATIONS);
            if (value > WRITES_MAX && s->op != PROPS_RC11_FENCE)
                s->op = PROPS_RC11_LOAD; /* their orders are a factorial */
            s->order = draw_order(rng, s->op, class);
            s->order_failure = draw_order(rng, PROPS_RC11_LOAD, class);
            s->expected = sim_rng_below(rng, value + 1);
            s->value = 0;
            if (s->op == PROPS_RC11_STORE || s->op == PROPS_RC11_EXCHANGE ||
                s->op == PROPS_RC11_CAS)
                s->value = value++;
        }
    }
}

static void
print_program(void)
{
    static const char *const names[] = {"load", "store", "exchange", "fence",
                                        "compare-exchange"};

    for (uint32_t t = 0; t < program.threads; t++) {
        for (uint32_t i = 0; i < program.length; i++) {
            const struct props_rc11_step *s = &program.steps[t][i];

            print_message("T%u: %s %u order %d value %u, expects %u order %d\n",
                          t, names[s->op], s->location, s->order, s->value,
                          s->expected, s->order_failure);
        }
    }
}

static void
fail_program(uint32_t number, const char *what, uint64_t outcome)
{
    print_program();
    fail_msg("program %u: outcome %llx is %s", number,
             (unsigned long long)outcome, what);
}

static void
compare(enum class class, uint64_t seed)
{
    struct sim_rng rng = {.state = seed};

    for (uint32_t i = 0; i < programs; i++) {
        draw_program(&rng, class);
        const struct sim_exhaust_result r =
            explore(&(struct sim_exhaust_options){0});
        assert_int_equal(r.verdict, SIM_VERDICT_PASS);
        props_rc11_allowed(&program, &allowed);
        for (uint32_t j = 0; j < explored.count; j++) {
            if (!props_rc11_has(&allowed, explored.seen[j]))
                fail_program(i, "not allowed", explored.seen[j]);
        }
        for (uint32_t j = 0; j < allowed.count; j++) {
            if (!props_rc11_has(&explored, allowed.seen[j]))
                fail_program(i, "not shown", allowed.seen[j]);
        }
    }
}

TEST(accesses_show_what_is_allowed_and_nothing_else)
{
    compare(ACCESSES, 1);
}

TEST(fences_show_what_is_allowed_and_nothing_else)
{
    compare(FENCES, 2);
}

TEST(seq_cst_shows_what_is_allowed_and_nothing_else)
{
    compare(SEQ_CST, 3);
}

/* What seq_cst accesses and fences did must be part of a state, or pruning
 * would lose outcomes. */
TEST(pruning_loses_no_outcome_of_a_random_program)
{
    struct sim_rng rng = {.state = 4};

    (void)state;
    for (uint32_t i = 0; i < 300; i++) {
        uint32_t pruned;

        draw_program(&rng, SEQ_CST);
        if (program.threads == 3)
            program.length = 2;
        explore(&(struct sim_exhaust_options){0});
        pruned = explored.count;
        explore(&(struct sim_exhaust_options){.by_schedules = true});
        assert_int_equal(explored.count, pruned);
        explore(&(struct sim_exhaust_options){.no_pruning = true});
        if (explored.count != pruned) {
            print_program();
            fail_msg("program %u: %u outcomes of %u", i, pruned,
                     explored.count);
        }
    }
}

/* ---- Waits ---- */

/* Some loads are repeated until they read a certain value. */
static void
draw_waits(struct sim_rng *rng)
{
    draw_program(rng, ACCESSES + sim_rng_below(rng, 3));
    for (uint32_t t = 0; t < program.threads; t++) {
        for (uint32_t i = 0; i < program.length; i++) {
            struct props_rc11_step *s = &program.steps[t][i];

            waits[t][i] =
                s->op == PROPS_RC11_LOAD && sim_rng_below(rng, 2) == 0;
            if (waits[t][i])
                s->expected = sim_rng_below(rng, WRITES_MAX + 1);
        }
    }
}

/* Does each wait of the outcome read what it waits for? */
static bool
ends(uint64_t outcome)
{
    for (uint32_t t = 0; t < program.threads; t++) {
        for (uint32_t i = 0; i < program.length; i++) {
            if (waits[t][i] &&
                (outcome & props_rc11_put(0, t, i, 15)) !=
                    props_rc11_put(0, t, i, program.steps[t][i].expected))
                return false;
        }
    }
    return true;
}

/* The first run and one in a hundred are made twice (repeat.c). */
static uint64_t
repeated(uint64_t runs)
{
    uint64_t count = 1;

    for (uint64_t i = 1; i < runs; i++)
        count += sim_mix64(i) % 100 == 0;
    return count;
}

/* Is what was explored what the model allows, each graph once? */
static void
check_waits(uint32_t number, const struct sim_exhaust_result *r)
{
    assert_in_range(completed, r->graphs, r->graphs + repeated(r->runs));
    props_rc11_allowed(&program, &allowed);
    for (uint32_t j = 0; j < explored.count; j++) {
        if (!props_rc11_has(&allowed, explored.seen[j]) ||
            !ends(explored.seen[j]))
            fail_program(number, "not allowed", explored.seen[j]);
    }
    for (uint32_t j = 0; j < allowed.count; j++) {
        if (ends(allowed.seen[j]) &&
            !props_rc11_has(&explored, allowed.seen[j]))
            fail_program(number, "not shown", allowed.seen[j]);
    }
}

static void
same_graphs(const struct sim_exhaust_result *r,
            const struct sim_exhaust_result *plain)
{
    assert_int_equal(r->graphs, plain->graphs);
    assert_int_equal(r->graphs_sum, plain->graphs_sum);
    assert_int_equal(r->failures > 0, plain->failures > 0);
}

/* Three shards have each graph once. */
static void
check_shards(const struct sim_exhaust_result *plain)
{
    struct sim_exhaust_result sum = {.graphs = 0};

    for (uint32_t i = 1; i <= 3; i++) {
        const struct sim_exhaust_result r =
            explore(&(struct sim_exhaust_options){
                .keep_going = true, .shard = i, .shards = 3});

        sum.graphs += r.graphs;
        sum.graphs_sum += r.graphs_sum;
        sum.failures += r.failures;
    }
    same_graphs(&sum, plain);
}

/* Searches of some runs each, which go on from a file. What they know of reads
 * that lead round a loop is not in it. */
static void
check_steps(const struct sim_exhaust_result *plain)
{
    char file[] = "/tmp/profsim-model-XXXXXX";
    struct sim_exhaust_options options = {.checkpoint = file};
    struct sim_exhaust_result r = {.verdict = SIM_VERDICT_UNFINISHED};

    assert_true(mkdtemp(file) != NULL);
    assert_int_equal(rmdir(file), 0);
    while (r.verdict == SIM_VERDICT_UNFINISHED) {
        options.runs_max += 1 + plain->runs / 3;
        assert_true(options.runs_max < 3 * plain->runs + 9);
        r = explore(&options);
        assert_string_equal(r.trouble, "");
    }
    same_graphs(&r, plain);
    assert_int_not_equal(access(file, F_OK), 0);
}

TEST(waits_end_as_they_may)
{
    struct sim_rng rng = {.state = 5};

    (void)state;
    for (uint32_t i = 0; i < programs / 2; i++) {
        struct sim_exhaust_result plain;
        struct sim_exhaust_result r;

        draw_waits(&rng);
        plain = explore(&(struct sim_exhaust_options){.keep_going = true});
        check_waits(i, &plain);
        r = explore(&(struct sim_exhaust_options){.keep_going = true,
                                                  .by_schedules = true});
        same_graphs(&r, &plain);
        if (i % 4 == 0)
            check_shards(&plain);
        if (i % 16 == 1 && plain.failures == 0)
            check_steps(&plain);
    }
    memset(waits, 0, sizeof waits);
}

int
main(int argc, char **argv)
{
    if (argc > 1)
        programs = (uint32_t)strtoul(argv[1], NULL, 10);
    return tests_run(NULL, NULL);
}
