/*
 * test_explore_model.c -- the explorer against a model, on random programs.
 *
 * The explorer runs a small program under every ordering. The model (rc11.h)
 * enumerates the program's execution graphs and keeps those that the axioms of
 * repaired C11 allow. The explorer must find exactly their outcomes.
 *
 *      test_explore_model            600 programs of each class
 *      test_explore_model 5000       5000 of each
 */
#include "explore.h"
#include "rc11.h"
#include "tsan.h"

#include <stdlib.h>
#include <string.h>

#include "unit_test.h"

enum { WRITES_MAX = 4 };

static uint32_t programs = 600;

/* ---- Explored ---- */

static struct props_rc11_program program;
static uint32_t memory[PROPS_RC11_LOCATIONS];
static uint32_t read_by[PROPS_RC11_THREADS_MAX][PROPS_RC11_STEPS_MAX];
static struct props_rc11_outcomes explored;
static struct props_rc11_outcomes allowed;

static void
setup(void *context)
{
    (void)context;
    memset(memory, 0, sizeof memory);
    memset(read_by, 0, sizeof read_by);
}

static void
run_thread(void *context, uint32_t thread)
{
    (void)context;
    for (uint32_t i = 0; i < program.length; i++) {
        const struct props_rc11_step *s = &program.steps[thread][i];

        switch (s->op) {
        case PROPS_RC11_LOAD:
            read_by[thread][i] =
                __tsan_atomic32_load(&memory[s->location], s->order);
            break;
        case PROPS_RC11_STORE:
            __tsan_atomic32_store(&memory[s->location], s->value, s->order);
            break;
        case PROPS_RC11_EXCHANGE:
            read_by[thread][i] = __tsan_atomic32_exchange(&memory[s->location],
                                                          s->value, s->order);
            break;
        case PROPS_RC11_FENCE:
            __tsan_atomic_thread_fence(s->order);
            break;
        }
    }
}

static void
note_outcome(void *context)
{
    uint64_t outcome = 0;

    (void)context;
    for (uint32_t t = 0; t < program.threads; t++) {
        for (uint32_t i = 0; i < program.length; i++)
            outcome = props_rc11_put(outcome, t, i, read_by[t][i]);
    }
    props_rc11_add(&explored, outcome);
}

static void
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
    sim_explore_exhaust(&kernel, options, &r);
    assert_int_equal(r.verdict, SIM_VERDICT_PASS);
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
        return exchanges[sim_rng_below(rng, 4)];
    case PROPS_RC11_FENCE:
        return fences[sim_rng_below(rng, 5)];
    }
    return __ATOMIC_RELAXED;
}

static void
draw_program(struct sim_rng *rng, enum class class)
{
    uint32_t value = 1;

    program.threads = 2 + sim_rng_below(rng, 2);
    program.length = program.threads == 3 ? 2 + sim_rng_below(rng, 2) : 3;
    for (uint32_t t = 0; t < program.threads; t++) {
        for (uint32_t i = 0; i < program.length; i++) {
            struct props_rc11_step *s = &program.steps[t][i];

            s->op = (enum props_rc11_op)sim_rng_below(
                rng, class == ACCESSES ? 3 : 4);
            s->location = sim_rng_below(rng, PROPS_RC11_LOCATIONS);
            if (value > WRITES_MAX && s->op != PROPS_RC11_FENCE)
                s->op = PROPS_RC11_LOAD; /* their orders are a factorial */
            s->order = draw_order(rng, s->op, class);
            s->value = 0;
            if (s->op == PROPS_RC11_STORE || s->op == PROPS_RC11_EXCHANGE)
                s->value = value++;
        }
    }
}

static void
print_program(void)
{
    static const char *const names[] = {"load", "store", "exchange", "fence"};

    for (uint32_t t = 0; t < program.threads; t++) {
        for (uint32_t i = 0; i < program.length; i++) {
            const struct props_rc11_step *s = &program.steps[t][i];

            print_message("T%u: %s %u order %d value %u\n", t, names[s->op],
                          s->location, s->order, s->value);
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
        explore(&(struct sim_exhaust_options){0});
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

int
main(int argc, char **argv)
{
    if (argc > 1)
        programs = (uint32_t)strtoul(argv[1], NULL, 10);
    return tests_run(NULL, NULL);
}
