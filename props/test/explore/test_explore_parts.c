/*
 * test_explore_parts.c -- unit tests of the parts of a search: questions, the
 * frontier and the set of states.
 */
#include "explore.h"
#include "frontier.h"
#include "visited.h"

#include <malloc.h>
#include <string.h>

#include "barriers.h"
#include "places.h"
#include "question_model.h"
#include "seq_cst_model.h"
#include "set_model.h"
#include "unit_test.h"

/* ---- Questions ---- */

TEST(a_question_has_each_answer_once)
{
    question_model_try();
}

TEST(an_answer_that_is_learned_late_is_counted)
{
    question_model_late();
}

TEST(threads_that_are_not_finished_may_be_waited_for)
{
    question_model_threads();
}

TEST(an_ordinary_choice_counts_to_its_bound)
{
    question_model_ordinary();
}

TEST(a_read_whose_sources_are_all_futile_stays_blocked)
{
    question_model_futile();
}

TEST(a_question_may_have_many_sources)
{
    question_model_many();
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

    mallopt(M_PERTURB, 0xa5); /* what is not set is not 0 */
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
    mallopt(M_PERTURB, 0);
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

    assert_true(bytes <= sizeof m->bytes - m->count);
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

/* Two parts below one question. */
TEST(each_part_that_is_taken_counts)
{
    const struct sim_step step = {.choice = {.bound = 2}};
    double done[2] = {0, 0.5};
    struct memory m = {.count = 0};
    struct sim_frontier f;
    struct sim_frontier copy;

    sim_frontier_begin(&f);
    sim_frontier_split(&f, sim_frontier_take(&f), &step, 1);
    take_path(&f, 1, (uint32_t[]){1});
    expect_share(&f, done, 1.0 / 4);
    done[0] = done[1] = 1;
    assert_true(sim_frontier_share(&f, done) == 1);
    sim_frontier_copy(&copy, &f);
    assert_int_equal(copy.nodes_room, 1); /* not that of the other */
    sim_frontier_free(&copy);
    assert_true(sim_frontier_write(&f, put, &m));
    sim_frontier_free(&f);
    m.bytes[4 * sizeof(uint32_t)]++; /* the depth of the first question */
    assert_false(sim_frontier_read(&f, get, &m));
}

/* The head of a frontier that has so many nodes and parts, and nothing more. */
struct numbers {
    uint32_t counts[2];
    uint32_t asked;
};

static bool
get_numbers(void *file, void *data, size_t bytes)
{
    struct numbers *n = file;

    if (n->asked++ > 0)
        return false;
    assert_int_equal(bytes, sizeof n->counts);
    memcpy(data, n->counts, bytes);
    return true;
}

/* A file's numbers are not believed: it may ask for 2^24 of each. */
TEST(a_frontier_of_too_many_parts_is_refused_at_once)
{
    const uint32_t most = 1 << 24;
    const uint32_t counts[][2] = {
        {most, 0}, {most + 1, 0}, {0, most}, {0, most + 1}, {most, most + 1}};

    for (uint32_t i = 0; i < 5; i++) {
        struct numbers n = {.counts = {counts[i][0], counts[i][1]}};
        struct sim_frontier f;

        memset(&f, 0xff, sizeof f);
        assert_false(sim_frontier_read(&f, get_numbers, &n));
        assert_int_equal(n.asked > 1, i % 2 == 0 && i < 4);
        assert_null(f.nodes);
        assert_null(f.parts);
        assert_int_equal(f.parts_count, 0);
        assert_true(sim_frontier_is_empty(&f));
    }
}

enum { DEEP = 4, LISTS = 81, HELD_MAX = 8 };

/* All questions have three answers. Count the lists below a path. */
static void
count_below(const struct sim_step *path, uint32_t depth, uint8_t *lists)
{
    uint32_t first = 0;
    uint32_t count = 1;

    for (uint32_t i = 0; i < DEEP; i++) {
        first = first * 3 + (i < depth ? path[i].choice.value : 0);
        count *= i < depth ? 1 : 3;
    }
    for (uint32_t i = first; i < first + count; i++)
        lists[i]++;
}

static void
count_part(const struct sim_frontier *f, uint32_t part, uint8_t *lists)
{
    struct sim_step path[DEEP];

    sim_frontier_path(f, part, path);
    count_below(path, sim_frontier_depth(f, part), lists);
}

static uint32_t
draw(uint32_t bound)
{
    static uint64_t state = 9;

    state = state * 6364136223846793005U + 1442695040888963407U;
    return (uint32_t)(state >> 33) % bound;
}

/* Move on by some questions; the answers before are searched. */
static void
split(struct sim_frontier *f, uint32_t part, uint8_t *searched)
{
    const uint32_t depth = sim_frontier_depth(f, part);
    const uint32_t count = draw(DEEP + 1 - depth);
    struct sim_step path[DEEP];

    sim_frontier_path(f, part, path);
    for (uint32_t i = depth; i < depth + count; i++) {
        const uint32_t value = draw(3);

        path[i] = (struct sim_step){.choice = {.bound = 3}};
        for (; path[i].choice.value < value; path[i].choice.value++)
            count_below(path, i + 1, searched);
    }
    sim_frontier_split(f, part, path + depth, count);
}

/* Each list was searched, or is below one part that is left: in a copy, and in
 * what is read from a file. */
static void
check_lists(const struct sim_frontier *f, const uint8_t *searched)
{
    static struct memory m;

    for (uint32_t i = 0; i < 2; i++) {
        uint8_t lists[LISTS];
        struct sim_frontier other;
        uint32_t depth;
        uint32_t part;

        memcpy(lists, searched, LISTS);
        m.at = m.count = 0;
        if (i == 0)
            sim_frontier_copy(&other, f);
        else
            assert_true(sim_frontier_write(f, put, &m) &&
                        sim_frontier_read(&other, get, &m));
        for (part = 0; part < other.parts_count; part++)
            sim_frontier_return(&other, part);
        depth = 0;
        while ((part = sim_frontier_take(&other)) != SIM_NO_PART) {
            assert_true(sim_frontier_depth(&other, part) >= depth);
            depth = sim_frontier_depth(&other, part); /* the largest first */
            count_part(&other, part, lists);
        }
        sim_frontier_free(&other);
        for (uint32_t list = 0; list < LISTS; list++)
            assert_int_equal(lists[list], 1);
    }
}

TEST(each_list_is_below_one_part_whatever_is_done_with_parts)
{
    const size_t before = mallinfo2().uordblks;

    mallopt(M_PERTURB, 0xa5); /* what is not set is not 0 */
    for (uint32_t round = 0; round < 100; round++) {
        uint8_t searched[LISTS] = {0};
        uint32_t held[HELD_MAX];
        uint32_t count = 0;
        struct sim_frontier f;

        sim_frontier_begin(&f);
        for (uint32_t step = 0; !sim_frontier_is_empty(&f); step++) {
            const uint32_t kind = draw(5);
            uint32_t *part = &held[count > 0 ? draw(count) : 0];

            if (kind < 2 && count < HELD_MAX) {
                held[count] = sim_frontier_take(&f);
                count += held[count] != SIM_NO_PART;
            } else if (kind == 2 && count > 0) {
                split(&f, *part, searched);
            } else if (count > 0) {
                if (kind == 3)
                    count_part(&f, *part, searched);
                if (kind == 3)
                    sim_frontier_done(&f, *part);
                else
                    sim_frontier_return(&f, *part);
                *part = held[--count];
            }
            check_lists(&f, searched);
            assert_true(step < 10000);
        }
        sim_frontier_free(&f);
    }
    assert_true(mallinfo2().uordblks < before + (1 << 16));
    mallopt(M_PERTURB, 0);
}

/* ---- The set of states ---- */

TEST(a_set_has_what_was_put_into_it_and_no_more_than_it_may)
{
    for (uint64_t seed = 1; seed <= 12; seed++)
        set_model_try(seed % 2 != 0, seed);
}

TEST(keys_of_which_one_half_is_the_same_are_two)
{
    set_model_halves(false);
    set_model_halves(true);
}

TEST(a_key_is_new_to_one_of_two_processes)
{
    set_model_race();
}

TEST(a_shared_set_gives_the_memory_of_old_tables_back)
{
    set_model_memory();
}

TEST(a_shared_set_has_room_for_all_its_keys)
{
    set_model_room();
}

TEST(a_set_without_memory_says_that_it_is_full)
{
    set_model_refused();
}

/* ---- The order of seq_cst operations ---- */

TEST(seq_cst_operations_have_an_order_as_axioms_say)
{
    seq_cst_model_try();
    seq_cst_model_many();
}

TEST(atomics_are_refused_or_read_what_is_there_and_race_as_they_may)
{
    places_pairs();
    places_bytes();
    places_old_values();
    places_races();
}

TEST(a_barrier_is_a_full_fence_of_each_thread)
{
    barriers_count();
    barriers_tell();
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
