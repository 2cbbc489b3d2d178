/*
 * merge_orderings.c -- tests of test_merge.c: results of shards that explore
 * orderings.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "explore.h"
#include "explore_result.h"
#include "merge_case.h"
#include "program_id.h"
#include "unit_test.h"

struct explored {
    uint32_t shard;
    uint64_t runs, graphs, sum, bounded;
    int exit_code;
    char choices[64];
};

static void
write_explored(const struct explored *e, uint32_t shards)
{
    FILE *file = merge_begin_file("profsim result 1 explore", "explore mine",
                                  e->shard, shards);

    fprintf(file,
            "spent 5\ndepth 3\nloops 1\nloop %016x\nruns %" PRIu64
            "\ngraphs %" PRIu64 "\nhash %016" PRIx64 "\nbounded %" PRIu64
            "\nexit %d\n",
            9, e->runs, e->graphs, e->sum, e->bounded, e->exit_code);
    if (e->choices[0] != '\0')
        fprintf(file, "choices %s\n", e->choices);
    merge_end_file(file);
}

static struct explored
draw_explored(uint32_t shard)
{
    static const int codes[] = {0, 0, 0, 0, 2, 3, 4, 5};
    struct explored e = {
        .shard = shard,
        .runs = (uint64_t)merge_below(9) << 30 | merge_below(9),
        .graphs = (uint64_t)merge_below(3) << 31 | merge_below(9),
        .sum = (uint64_t)merge_below(1u << 31) << 33 | merge_below(999),
        .bounded = (uint64_t)merge_below(2) << 32,
        .exit_code = codes[merge_below(8)]};

    if (e.exit_code != 0)
        snprintf(e.choices, sizeof e.choices,
                 "g%" PRIu32 ",0,0,0,1,1,1,1,2,2,2,2,3,3,3,3,%" PRIu32, shard,
                 merge_below(1000));
    return e;
}

static void
expect_explored(const struct explored *sum, const bool *is_missing,
                uint32_t shards, const struct captured *said)
{
    bool missing = false;
    int exit_code = sum->exit_code;

    for (uint32_t i = 0; i < shards; i++)
        missing |= is_missing[i];
    if (exit_code == 0 && (missing || sum->graphs == 0))
        exit_code = 6;
    merge_expect_exit(said, exit_code);
    merge_expect_missing(said, is_missing, shards,
                         "; do profsim explore mine ");
    merge_expect(said, true,
                 "explore mine: %" PRIu64 " runs, %" PRIu64
                 " graphs, log hash %016" PRIx64 ", %s\n",
                 sum->runs, sum->graphs, sum->sum,
                 missing            ? "not finished"
                 : exit_code == 6   ? "no run comes to its end"
                 : exit_code != 0   ? "fails"
                 : sum->bounded > 0 ? "holds, waits to a bound"
                                    : "holds");
    merge_expect(said, sum->choices[0] != '\0',
                 "replay: profsim explore mine --replay %s\n", sum->choices);
}

/* A shard may have two files. The worst failure, or the first of equally bad
 * ones, is shown with its choices. */
void
merge_orderings(void)
{
    for (uint64_t seed = 1; seed <= MERGE_CASES; seed++) {
        uint32_t shards;
        bool is_missing[MERGE_SHARDS_MAX];
        struct explored sum = {.runs = 0};
        struct captured said;

        merge_seed(seed);
        shards = 1 + merge_below(MERGE_SHARDS_MAX);
        for (uint32_t i = 0; i < shards; i++) {
            const struct explored e = draw_explored(i);

            is_missing[i] = i > 0 && merge_below(4) == 0;
            if (is_missing[i])
                continue;
            for (uint32_t times = 1 + (merge_below(3) == 0); times > 0; times--)
                write_explored(&e, shards);
            sum.runs += e.runs;
            sum.graphs += e.graphs;
            sum.sum += e.sum;
            sum.bounded += e.bounded;
            if (merge_badness(e.exit_code) > merge_badness(sum.exit_code)) {
                sum.exit_code = e.exit_code;
                memcpy(sum.choices, e.choices, sizeof sum.choices);
            }
        }
        said = merge_files();
        expect_explored(&sum, is_missing, shards, &said);
        captured_free(&said);
    }
}

void
merge_orderings_that_differ(void)
{
    for (int field = 0; field < 4; field++) {
        struct explored e = {.runs = 9, .graphs = 4, .sum = 77};
        struct captured said;

        write_explored(&e, 1);
        e.graphs += field == 1;
        e.sum += field == 2;
        e.exit_code = field == 3 ? 2 : 0;
        write_explored(&e, 1);
        said = merge_files();
        merge_expect_exit(&said, field == 0 ? 0 : 1);
        merge_expect(&said, field > 0,
                     "are results of the same shard, but differ");
        captured_free(&said);
    }
}

static void
write_learned(const char *asked, uint32_t shards, uint64_t depth, uint64_t loop)
{
    FILE *file = merge_begin_file("profsim result 1 explore", asked, 0, shards);

    fprintf(file,
            "spent 5\ndepth %" PRIu64 "\nloops 1\nloop %016" PRIx64
            "\nruns 1\ngraphs 1\nhash %016x\nbounded 0\nexit 0\n",
            depth, loop, 1);
    merge_end_file(file);
}

/* A shard continues only from a result of the same search by the same build. */
void
merge_learned(void)
{
    static const struct {
        const char *asked;
        uint32_t shards;
        uint64_t depth;
        bool is_whole;
        uint32_t learned;
    } others[] = {{"explore mine", 3, 4, false, 1},
                  {"explore mine", 3, 0, true, 1},
                  {"explore mine", 2, 0, false, 1},
                  {"explore other", 3, 0, false, 0}};
    static struct cli_explored mine = {.asked = "explore mine",
                                       .shard = {2, 3}};
    uint64_t loops[SIM_LOOPS_MAX];
    uint32_t known = 0;
    char before[256];

    assert_non_null(getcwd(before, sizeof before));
    assert_true(cli_program_id(mine.program));
    for (uint32_t i = 0; i < sizeof others / sizeof *others; i++) {
        write_learned(others[i].asked, others[i].shards, others[i].depth,
                      UINT64_C(0x100000000) + i);
        assert_int_equal(cli_explored_learn(&mine, merge_path(7)),
                         others[i].is_whole);
        assert_int_equal(chdir(merge_folder()), 0);
        assert_int_equal(cli_explored_learn(&mine, "h.result"),
                         others[i].is_whole);
        assert_int_equal(chdir(before), 0);
        known += others[i].learned;
        assert_int_equal(sim_explore_loops(loops), known);
        merge_remove_files();
    }
    mine.program[0] ^= 1;
    write_learned("explore mine", 3, 0, 99);
    assert_false(cli_explored_learn(&mine, merge_path(7)));
    assert_int_equal(sim_explore_loops(loops), known);
    merge_remove_files();
}

/* ---- Loops ---- */

enum { LOOPS = 3 };

struct learner {
    bool is_there;
    bool knows[LOOPS];
    uint64_t depth;
    int exit_code;
    uint64_t graphs;
};

static struct learner
draw_learner(void)
{
    static const uint64_t depths[] = {0, 3, 3, UINT64_C(1) << 32};
    struct learner l = {.is_there = true, .depth = depths[merge_below(4)]};

    for (int i = 0; i < LOOPS; i++)
        l.knows[i] = merge_below(4) > 0;
    l.exit_code = merge_below(6) == 0 ? 2 : 0;
    l.graphs = merge_below(3);
    return l;
}

static uint64_t
loop_of(int i)
{
    return (uint64_t)(i + 1) << 33;
}

static void
write_learner(const struct learner *l, uint32_t shard, uint32_t shards)
{
    FILE *file = merge_begin_file("profsim result 1 explore", "explore mine",
                                  shard, shards);
    int loops = 0;

    for (int i = 0; i < LOOPS; i++)
        loops += l->knows[i];
    fprintf(file, "spent 5\ndepth %" PRIu64 "\nloops %d\n", l->depth, loops);
    for (int i = 0; i < LOOPS; i++) {
        if (l->knows[i])
            fprintf(file, "loop %016" PRIx64 "\n", loop_of(i));
    }
    fprintf(file,
            "runs 1\ngraphs %" PRIu64 "\nhash %016" PRIx32
            "\nbounded 0\nexit %d\n",
            l->graphs, shard, l->exit_code);
    if (l->exit_code != 0)
        fprintf(file, "choices g%" PRIu32 "\n", shard);
    merge_end_file(file);
}

/* returns: does the shard know every loop that any shard knows? */
static bool
knows_all(const struct learner *l, const struct learner *all, uint32_t shards)
{
    for (uint32_t s = 0; s < shards; s++) {
        for (int i = 0; i < LOOPS && all[s].is_there; i++) {
            if (all[s].knows[i] && !l->knows[i])
                return false;
        }
    }
    return true;
}

/* The depth of the split: 0 if any shard could not split; else that of the
 * first shard that knows all loops. */
static uint64_t
depth_of_all(const struct learner *all, uint32_t shards)
{
    uint64_t depth = UINT64_MAX;

    for (uint32_t s = shards; s-- > 0;) {
        if (all[s].is_there && knows_all(&all[s], all, shards))
            depth = all[s].depth;
    }
    for (uint32_t s = 0; s < shards; s++) {
        if (all[s].is_there && all[s].depth == 0)
            depth = 0;
    }
    return depth;
}

static void
expect_learners(const struct learner *all, uint32_t shards,
                const struct captured *said)
{
    const uint64_t depth = depth_of_all(all, shards);
    bool is_missing[MERGE_SHARDS_MAX] = {false};
    struct explored sum = {.runs = 0};
    int file = 0;

    for (uint32_t s = 0; s < shards; s++) {
        const struct learner *l = &all[s];
        const bool counts =
            l->is_there &&
            (l->exit_code != 0 ||
             (l->depth == depth &&
              (knows_all(l, all, shards) || (depth == 0 && l->graphs == 0))));

        is_missing[s] = !counts;
        if (l->is_there)
            merge_expect(said, !counts, "%s: other shards have learned more",
                         merge_path(file++));
        if (!counts)
            continue;
        sum.runs++;
        sum.graphs += l->graphs;
        sum.sum += s;
        if (l->exit_code != 0 && sum.exit_code == 0)
            snprintf(sum.choices, sizeof sum.choices, "g%" PRIu32, s);
        sum.exit_code = l->exit_code != 0 ? l->exit_code : sum.exit_code;
    }
    expect_explored(&sum, is_missing, shards, said);
}

/* A shard counts only if it knows what all shards know together. */
void
merge_learners(void)
{
    for (uint64_t seed = 1; seed <= 2 * MERGE_CASES; seed++) {
        struct learner all[MERGE_SHARDS_MAX] = {{.is_there = false}};
        struct captured said;
        uint32_t shards;

        merge_seed(seed);
        shards = 1 + merge_below(MERGE_SHARDS_MAX);
        for (uint32_t s = 0; s < shards; s++) {
            if (s > 0 && merge_below(6) == 0)
                continue;
            all[s] = draw_learner();
            write_learner(&all[s], s, shards);
        }
        said = merge_files();
        expect_learners(all, shards, &said);
        captured_free(&said);
    }
}
