/*
 * test_explore_parts.c -- unit tests of the parts of a search: questions, the
 * frontier and the estimate.
 */
#include "estimate.h"
#include "explore.h"
#include "frontier.h"
#include "visited.h"

#include <string.h>

#include "unit_test.h"

/* ---- Questions ---- */

/* The choices that a load has: sources that may lead on, then threads to wait
 * for. If no source leads on, its only choice is to stay blocked. */
static uint32_t
answers_of(const struct sim_question *q, uint32_t *answers)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < q->sources; i++) {
        if ((q->futile >> i & 1) == 0)
            answers[count++] = i;
    }
    if (count == 0) {
        answers[0] = q->sources + SIM_THREADS_MAX;
        return 1;
    }
    for (uint32_t i = 0; i < SIM_THREADS_MAX; i++) {
        if ((q->enabled & q->allowed & 1U << i) != 0)
            answers[count++] = q->sources + i;
    }
    return count;
}

static void
check_question(struct sim_question q)
{
    struct sim_choice choice = {.bound = q.sources + SIM_THREADS_MAX + 1};
    uint32_t answers[16];
    const uint32_t count = answers_of(&q, answers);

    choice.value = sim_question_first(&q);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(choice.value, answers[i]);
        assert_int_equal(sim_question_answers(&q, &choice), count);
        assert_int_equal(sim_question_passed(&q, &choice), i);
        assert_int_equal(sim_question_has_next(&q, &choice), i + 1 < count);
        assert_int_equal(sim_question_next(&q, &choice), i + 1 < count);
    }
}

TEST(a_question_has_each_answer_once)
{
    for (uint32_t sources = 1; sources <= 3; sources++) {
        for (uint32_t futile = 0; futile < 1U << sources; futile++) {
            for (uint32_t allowed = 0; allowed < 8; allowed++) {
                for (uint32_t enabled = 0; enabled < 8; enabled++)
                    check_question(
                        (struct sim_question){.sources = sources,
                                              .futile = futile,
                                              .allowed = (uint8_t)allowed,
                                              .enabled = (uint8_t)enabled});
            }
        }
    }
    check_question((struct sim_question){
        .sources = 2, .allowed = 0x80, .enabled = 0x80}); /* the last thread */
}

TEST(an_ordinary_choice_counts_to_its_bound)
{
    struct sim_question q = {.sources = 0};

    for (uint32_t bound = 1; bound <= 4; bound++) {
        struct sim_choice choice = {.bound = bound};

        for (uint32_t i = 0; i < bound; i++) {
            assert_int_equal(choice.value, i);
            assert_int_equal(sim_question_answers(&q, &choice), bound);
            assert_int_equal(sim_question_passed(&q, &choice), i);
            assert_int_equal(sim_question_next(&q, &choice), i + 1 < bound);
        }
    }
}

/* All sources lead round a loop: the only choice left is to stay in it. */
TEST(a_read_whose_sources_are_all_futile_stays_blocked)
{
    struct sim_question q = {.sources = 2, .allowed = 2, .enabled = 2};
    struct sim_choice choice = {.bound = 2 + SIM_THREADS_MAX + 1};

    choice.value = sim_question_first(&q);
    assert_int_equal(choice.value, 0);
    q.futile = 3;
    assert_true(sim_question_next(&q, &choice));
    assert_int_equal(choice.value, 2 + SIM_THREADS_MAX);
    assert_int_equal(sim_question_answers(&q, &choice), 1);
    assert_int_equal(sim_question_passed(&q, &choice), 0);
    assert_false(sim_question_has_next(&q, &choice));
}

/* Only the first 64 sources can be marked as futile. */
TEST(a_question_may_have_many_sources)
{
    struct sim_question q = {.sources = 70, .futile = UINT64_MAX};
    struct sim_choice choice = {.bound = 70 + SIM_THREADS_MAX + 1};

    choice.value = sim_question_first(&q);
    assert_int_equal(choice.value, 64);
    assert_int_equal(sim_question_answers(&q, &choice), 6);
    for (uint32_t i = 65; i < 70; i++) {
        assert_true(sim_question_next(&q, &choice));
        assert_int_equal(choice.value, i);
        assert_int_equal(sim_question_passed(&q, &choice), i - 64);
    }
    assert_false(sim_question_next(&q, &choice));
}

/* ---- The frontier ---- */

/* Split the root: a search is at the second of four choices, and below it at
 * the first of three. */
static uint32_t
split_root(struct sim_frontier *f)
{
    const struct sim_step steps[2] = {{.choice = {.bound = 4, .value = 1}},
                                      {.choice = {.bound = 3, .value = 0}}};
    uint32_t part;

    sim_frontier_begin(f);
    assert_true(sim_frontier_share(f, NULL) == 0);
    part = sim_frontier_take(f);
    assert_int_equal(sim_frontier_depth(f, part), 0);
    sim_frontier_split(f, part, steps, 2);
    return part;
}

/* Take the next part. in: path, the values of the choices that lead to it */
static uint32_t
take_path(struct sim_frontier *f, uint32_t depth, const uint32_t *path)
{
    const uint32_t part = sim_frontier_take(f);
    struct sim_step steps[4];

    assert_int_not_equal(part, SIM_NO_PART);
    assert_int_equal(sim_frontier_depth(f, part), depth);
    sim_frontier_path(f, part, steps);
    for (uint32_t i = 0; i < depth; i++)
        assert_int_equal(steps[i].choice.value, path[i]);
    return part;
}

static void
expect_share(const struct sim_frontier *f, const double *done, double want)
{
    const double share = sim_frontier_share(f, done);

    assert_true(share > want - 1e-9 && share < want + 1e-9);
}

TEST(parts_are_handed_out_from_the_root_and_shares_add_up)
{
    double done[8] = {0};
    struct sim_frontier f;
    uint32_t parts[5];

    parts[0] = split_root(&f);
    assert_int_equal(sim_frontier_depth(&f, parts[0]), 2);
    expect_share(&f, NULL, 1.0 / 4); /* the first choice is done */
    done[parts[0]] = 0.5;
    expect_share(&f, done, 1.0 / 4 + 0.5 / 12);
    parts[1] = take_path(&f, 1, (uint32_t[]){2});
    parts[2] = take_path(&f, 1, (uint32_t[]){3});
    parts[3] = take_path(&f, 2, (uint32_t[]){1, 1});
    parts[4] = take_path(&f, 2, (uint32_t[]){1, 2});
    assert_int_equal(sim_frontier_take(&f), SIM_NO_PART);
    sim_frontier_done(&f, parts[1]);
    expect_share(&f, NULL, 2.0 / 4);
    sim_frontier_return(&f, parts[2]);
    done[parts[2]] = 1; /* nobody works on it */
    expect_share(&f, done, 2.0 / 4 + 0.5 / 12);
    assert_int_equal(take_path(&f, 1, (uint32_t[]){3}), parts[2]);
    sim_frontier_done(&f, parts[3]);
    expect_share(&f, NULL, 2.0 / 4 + 1.0 / 12);
    sim_frontier_done(&f, parts[0]);
    sim_frontier_done(&f, parts[4]); /* and the root's second */
    expect_share(&f, NULL, 3.0 / 4);
    assert_false(sim_frontier_is_empty(&f));
    sim_frontier_done(&f, parts[2]);
    assert_true(sim_frontier_is_empty(&f));
    expect_share(&f, NULL, 1);
    assert_int_equal(sim_frontier_take(&f), SIM_NO_PART);
    sim_frontier_free(&f);
}

TEST(nodes_and_parts_that_are_done_are_used_again)
{
    struct sim_frontier f;
    uint32_t part;

    sim_frontier_begin(&f);
    part = sim_frontier_take(&f);
    for (uint32_t i = 0; i < 100; i++) {
        const struct sim_step step = {.choice = {.bound = 2}};
        const uint32_t old = part;

        sim_frontier_split(&f, part, &step, 1);
        part = sim_frontier_take(&f);
        sim_frontier_done(&f, old);
        assert_int_equal(sim_frontier_depth(&f, part), i + 1);
    }
    assert_int_equal(f.parts_count, 2);
    assert_int_equal(f.nodes_count, 100);
    sim_frontier_done(&f, part);
    assert_true(sim_frontier_is_empty(&f));
    sim_frontier_free(&f);
}

struct memory {
    uint8_t bytes[4096];
    size_t count;
    size_t at;
};

static bool
put(void *file, const void *data, size_t bytes)
{
    struct memory *m = file;

    memcpy(&m->bytes[m->count], data, bytes);
    m->count += bytes;
    return true;
}

static bool
get(void *file, void *data, size_t bytes)
{
    struct memory *m = file;

    if (bytes > m->count - m->at)
        return false;
    memcpy(data, &m->bytes[m->at], bytes);
    m->at += bytes;
    return true;
}

TEST(a_frontier_is_read_as_it_was_written_and_all_of_it_is_free)
{
    struct memory m = {.count = 0};
    struct sim_frontier f;
    struct sim_frontier read;

    split_root(&f);
    sim_frontier_take(&f);
    assert_true(sim_frontier_write(&f, put, &m));
    assert_true(sim_frontier_read(&read, get, &m));
    assert_int_equal(m.at, m.count);
    expect_share(&read, NULL, 1.0 / 4);
    take_path(&read, 1, (uint32_t[]){2}); /* the part of least depth first */
    take_path(&read, 1, (uint32_t[]){3});
    take_path(&read, 2, (uint32_t[]){1, 0});
    take_path(&read, 2, (uint32_t[]){1, 1});
    take_path(&read, 2, (uint32_t[]){1, 2});
    assert_int_equal(sim_frontier_take(&read), SIM_NO_PART);
    sim_frontier_free(&read);
    sim_frontier_free(&f);
}

/* A damaged frontier that is accepted can be walked: it refers to no missing
 * node. */
TEST(a_damaged_frontier_is_refused_or_sound)
{
    struct memory whole = {.count = 0};
    struct sim_frontier f;
    uint32_t refused = 0;

    split_root(&f);
    sim_frontier_take(&f);
    assert_true(sim_frontier_write(&f, put, &whole));
    sim_frontier_free(&f);
    for (size_t at = 0; at < whole.count; at++) {
        struct memory m = whole;
        struct sim_step path[16];

        m.bytes[at] ^= 0x82;
        if (!sim_frontier_read(&f, get, &m)) {
            assert_null(f.nodes);
            refused++;
            continue;
        }
        for (uint32_t i = 0; i < 16; i++) {
            const uint32_t part = sim_frontier_take(&f);

            if (part == SIM_NO_PART)
                break;
            assert_in_range(sim_frontier_depth(&f, part), 0, 15);
            sim_frontier_path(&f, part, path);
        }
        sim_frontier_free(&f);
    }
    assert_true(refused >= 8); /* at least those with a damaged count */
    for (size_t cut = 0; cut < whole.count; cut++) {
        struct memory m = whole;

        m.count = cut;
        assert_false(sim_frontier_read(&f, get, &m));
    }
}

/* ---- The estimate ---- */

/*
 * 1,000 points are kept as stretches. When 32 stretches are full each two
 * become one, so in the end a stretch has 32 points, and the last one 8.
 */
TEST(an_estimate_of_many_points_is_that_of_their_stretches)
{
    double runs[32] = {0};
    double share[32] = {0};
    double squares = 0;
    double all_runs = 0;
    double all_share = 0;
    double error;
    double left;
    struct sim_estimate e;

    sim_estimate_begin(&e);
    for (uint32_t i = 0; i < 1000; i++) {
        const double more = 1 + i * 7 % 13;
        const double less = (1 + i * 5 % 11) / 1e5;

        all_runs += more;
        all_share += less;
        runs[i / 32] += more;
        share[i / 32] += less;
        sim_estimate_add(&e, all_runs, all_share);
        sim_estimate_add(&e, all_runs, all_share + 1); /* without runs */
    }
    left = sim_estimate_left(&e, &error);
    assert_true(left > (all_runs / all_share - all_runs) * 0.999999);
    assert_true(left < (all_runs / all_share - all_runs) * 1.000001);
    for (uint32_t i = 0; i < 32; i++) {
        const double off = runs[i] - all_runs / all_share * share[i];

        squares += off * off;
    }
    squares = squares * 32 / 31 / all_share / all_share;
    assert_true(error * error > squares * 0.999999);
    assert_true(error * error < squares * 1.000001);
}

TEST(an_estimate_needs_four_stretches)
{
    struct sim_estimate e;
    double error = 1;

    sim_estimate_begin(&e);
    for (uint32_t i = 1; i <= 3; i++)
        sim_estimate_add(&e, 10 * i, 0.1 * i);
    assert_true(sim_estimate_left(&e, &error) == 0 && error == 0);
    sim_estimate_add(&e, 40, 0.4);
    assert_true(sim_estimate_left(&e, &error) > 59.9);
    assert_true(error < 1e-6);
}

/* ---- The set of states ---- */

enum { KEYS = 20000 };

/* Make keys, some of which differ in one half only. */
static void
key_of(uint64_t i, uint64_t key[2])
{
    key[0] = sim_mix64(i / 3 + 1);
    key[1] = sim_mix64(i % 3 * 7 + i / 3 % 64);
}

static void
sum_keys(void *context, const uint64_t key[2])
{
    *(uint64_t *)context += key[0] * 3 + key[1];
}

static void
check_set(struct sim_visited *set)
{
    uint64_t want = 0;
    uint64_t sum = 0;
    uint64_t key[2];

    for (uint64_t i = 0; i < KEYS; i++) {
        key_of(i, key);
        want += key[0] * 3 + key[1];
        assert_false(sim_visited_contains(set, key));
        assert_false(sim_visited_insert(set, key));
        assert_true(sim_visited_contains(set, key));
        assert_int_equal(sim_visited_count(set), i + 1);
    }
    for (uint64_t i = 0; i < KEYS; i++) {
        key_of(i, key);
        assert_true(sim_visited_insert(set, key));
    }
    assert_int_equal(sim_visited_count(set), KEYS);
    sim_visited_each(set, sum_keys, &sum);
    assert_int_equal(sum, want);
    assert_false(set->full);
    key_of(KEYS, key); /* one more than fits */
    assert_false(sim_visited_insert(set, key));
    assert_true(set->full);
    assert_false(sim_visited_contains(set, key));
    sim_visited_clear(set);
    assert_int_equal(sim_visited_count(set), 0);
    assert_false(set->full);
    key_of(0, key);
    assert_false(sim_visited_contains(set, key));
    assert_false(sim_visited_insert(set, key));
    sim_visited_close(set);
}

TEST(a_set_has_what_was_put_into_it_and_no_more_than_it_may)
{
    struct sim_visited set;

    assert_true(sim_visited_init(&set, KEYS));
    check_set(&set);
    assert_true(sim_visited_init_shared(&set, KEYS));
    check_set(&set);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
