/*
 * test_linear.c -- the linearizability search, against brute force and known
 * histories.
 */
#include "explore/textbook/history.h"
#include "explore/engine/linear.h"
#include "common/rng.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/test/unit_test.h"

enum { READ, WRITE, SWAP };

static uint32_t steps;

/* Keys are registers of one byte. SWAP writes a value and returns the one
 * before. */
static bool
register_step(void *state, const struct sim_operation *o)
{
    uint8_t *values = state;
    uint8_t *value = &values[o->key];
    const uint8_t before = *value;

    steps++;
    if (o->kind != READ)
        *value = (uint8_t)o->argument;
    return o->kind == WRITE || o->pending || before == o->result;
}

static const struct sim_linear_model registers = {.state_bytes = 4,
                                                  .step = register_step};

static void
add(struct sim_history *h, uint32_t kind, uint64_t key, uint64_t argument,
    uint64_t result, uint64_t call, uint64_t end)
{
    h->operations[h->count++] =
        (struct sim_operation){.kind = kind,
                               .key = key,
                               .argument = argument,
                               .result = result,
                               .call_time = call,
                               .return_time = end,
                               .pending = end == UINT64_MAX};
}

static bool
check(const struct sim_history *h)
{
    return sim_linear_check(&registers, h);
}

TEST(a_read_may_see_an_overlapping_write_or_not)
{
    struct sim_history h;

    for (uint64_t seen = 0; seen < 3; seen++) {
        sim_history_init(&h);
        add(&h, WRITE, 0, 1, 0, 0, 10);
        add(&h, READ, 0, 0, seen, 5, 6);
        assert_int_equal(check(&h), seen < 2);
    }
}

TEST(a_read_after_a_write_must_see_it)
{
    struct sim_history h;

    sim_history_init(&h);
    add(&h, WRITE, 0, 1, 0, 0, 1);
    add(&h, READ, 0, 0, 0, 2, 3);
    assert_false(check(&h));
}

TEST(two_readers_must_agree_on_the_order)
{
    struct sim_history h;

    sim_history_init(&h);
    add(&h, WRITE, 0, 1, 0, 0, 100);
    add(&h, READ, 0, 0, 1, 10, 20);
    add(&h, READ, 0, 0, 0, 30, 40); /* the new value, then the old one */
    assert_false(check(&h));
}

TEST(a_pending_call_may_have_taken_effect_or_not)
{
    struct sim_history h;

    for (uint64_t seen = 0; seen < 2; seen++) {
        sim_history_init(&h);
        add(&h, WRITE, 0, 1, 0, 0, UINT64_MAX);
        add(&h, READ, 0, 0, seen, 5, 6);
        assert_true(check(&h));
    }
    add(&h, READ, 0, 0, 0, 7, 8); /* but not both of them */
    assert_false(check(&h));
}

/* ---- Brute force ---- */

/* Try every order that keeps to the times; pending operations may be left
 * out. */
static bool
brute(const struct sim_history *h, uint32_t done, const uint8_t state[4])
{
    bool all = true;

    for (uint32_t i = 0; i < h->count; i++)
        all = all && ((done >> i & 1) != 0 || h->operations[i].pending);
    if (all)
        return true;
    for (uint32_t i = 0; i < h->count; i++) {
        uint8_t next[4];
        bool first = (done >> i & 1) == 0;

        for (uint32_t j = 0; j < h->count; j++) {
            if ((done >> j & 1) == 0 &&
                h->operations[j].return_time < h->operations[i].call_time)
                first = false;
        }
        memcpy(next, state, 4);
        if (first && register_step(next, &h->operations[i]) &&
            brute(h, done | 1U << i, next))
            return true;
    }
    return false;
}

static void
random_history(struct sim_history *h, struct sim_rng *rng)
{
    const uint32_t count = 1 + sim_rng_below(rng, 6);

    sim_history_init(h);
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t call = sim_rng_below(rng, 16);
        const bool pending = sim_rng_below(rng, 8) == 0;

        add(h, sim_rng_below(rng, 3), sim_rng_below(rng, 2),
            sim_rng_below(rng, 3), sim_rng_below(rng, 3), call,
            pending ? UINT64_MAX : call + 1 + sim_rng_below(rng, 8));
    }
}

TEST(the_search_agrees_with_trying_every_order)
{
    struct sim_rng rng = {.state = 1};
    uint32_t good = 0;

    (void)state;
    for (uint32_t i = 0; i < 20000; i++) {
        static const uint8_t zero[4];
        struct sim_history h;
        bool want;

        random_history(&h, &rng);
        want = brute(&h, 0, zero);
        assert_int_equal(check(&h), want);
        good += want;
    }
    /* Histories of both kinds were tried often. */
    assert_in_range(good, 2000, 18000);
}

TEST(twelve_overlapping_calls_are_judged_at_once)
{
    struct sim_history h;

    sim_history_init(&h);
    for (uint32_t i = 0; i < 12; i++)
        add(&h, SWAP, 0, i + 1, 99, i, 100); /* 99 was never written */
    assert_false(check(&h));
    for (uint32_t i = 0; i < 12; i++)
        h.operations[i].result = i == 0 ? 12 : i; /* a cycle */
    assert_false(check(&h));
    h.operations[0].result = 0;
    assert_true(check(&h));
}

/*
 * The state tells which write was last. From each set of k writes and its last
 * one, each other write is tried once: the sum of C(n,k) k (n-k) is
 * n (n-1) 2^(n-2). So is each write at the beginning, and the read at the end
 * after each last write. Without memory it were all n! orders.
 */
TEST(each_set_of_calls_with_a_state_is_tried_once)
{
    enum { WRITES = 8 };
    struct sim_history h;

    sim_history_init(&h);
    for (uint32_t i = 0; i < WRITES; i++)
        add(&h, WRITE, 3, i + 1, 0, i, 100);
    add(&h, READ, 3, 0, 99, 200, 201);
    steps = 0;
    assert_false(check(&h));
    assert_int_equal(steps, WRITES * (WRITES - 1) * (1 << (WRITES - 2)) +
                                WRITES + WRITES);
}

/* Of the state the last byte counts. */
static bool
large_step(void *state, const struct sim_operation *o)
{
    uint8_t *last = (uint8_t *)state + SIM_LINEAR_STATE_BYTES - 1;

    *last = (uint8_t)(*last + 1);
    return *last == o->result;
}

TEST(a_state_has_up_to_256_bytes)
{
    struct sim_linear_model large = {.state_bytes = SIM_LINEAR_STATE_BYTES,
                                     .step = large_step};
    struct sim_history h;
    pid_t child;
    int status;

    sim_history_init(&h);
    for (uint32_t i = 0; i < 3; i++)
        add(&h, WRITE, 0, 0, 3 - i, 0, 1);
    assert_true(sim_linear_check(&large, &h));
    h.operations[0].result = 1;
    assert_false(sim_linear_check(&large, &h));
    large.state_bytes++;
    child = fork();
    if (child == 0) {
        sim_linear_check(&large, &h);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
}

/* The history reports operations beyond the 64th. */
TEST(a_history_has_room_for_64_operations)
{
    struct sim_history h;

    h.overflowed = true;
    sim_history_init(&h);
    for (uint32_t i = 0; i < SIM_HISTORY_MAX; i++) {
        assert_int_equal(sim_history_call(&h, SWAP, i, i + 1), i);
        assert_int_equal(h.operations[i].key, i);
        assert_int_equal(h.operations[i].argument, i + 1);
        assert_true(h.operations[i].pending);
        assert_true(h.operations[i].return_time == UINT64_MAX);
        sim_history_return(&h, i, 7);
        assert_false(h.operations[i].pending);
        assert_int_equal(h.operations[i].result, 7);
    }
    assert_false(h.overflowed);
    assert_int_equal(sim_history_call(&h, SWAP, 0, 1), SIM_HISTORY_MAX);
    sim_history_return(&h, SIM_HISTORY_MAX, 7);
    assert_true(h.overflowed);
    assert_int_equal(h.count, SIM_HISTORY_MAX);
}

/* ---- With the explorer ---- */

TEST(relaxed_flags_have_a_history_that_no_order_explains)
{
    struct sim_exhaust_result r;

    sim_explore_exhaust(fixtures_flags(true), &(struct sim_exhaust_options){0},
                        &r);
    assert_int_equal(r.verdict, SIM_VERDICT_FAIL);
    assert_string_equal(r.first_failure.failure.text,
                        "no order of the calls explains their results");
    free(r.choices);
    sim_explore_exhaust(fixtures_flags(false),
                        &(struct sim_exhaust_options){.recheck_of_100 = 1}, &r);
    assert_int_equal(r.verdict, SIM_VERDICT_PASS);
    assert_true(r.graphs > 70); /* C(8,4) orders, and values */
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
