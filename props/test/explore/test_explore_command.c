/*
 * test_explore_command.c -- the words of `profsim explore` for kernels: what
 * they lead to, by exit code and by a part of what is printed.
 */
#include "explore.h"

#include <stdio.h>
#include <string.h>

#include "captured.h"
#include "textbook.h"
#include "unit_test.h"

/* Declared as in cli/explore/explore.h, whose name is also that of the
 * explorer's header. */
enum cli_exit cli_explore(int argc, char **argv);

static char text[1 << 16]; /* what the last command printed */

/* Run the command with words divided by blanks. returns: its exit code */
static int
explore(const char *words)
{
    char copy[400];
    char *argv[40];
    int argc = 0;
    struct captured captured;

    snprintf(copy, sizeof copy, "explore %s", words);
    for (char *word = strtok(copy, " "); word != NULL && argc < 39;
         word = strtok(NULL, " "))
        argv[argc++] = word;
    argv[argc] = NULL;
    assert_true(captured_run(&captured, cli_explore, argv, -1, 120));
    snprintf(text, sizeof text, "%s", captured.text);
    captured_free(&captured);
    return captured.exit_code;
}

static void
contains(const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("'%s' is not in:\n%s", part, text);
}

TEST(each_line_of_words_ends_and_prints_as_it_should)
{
    static const char searches[] = "are for exhaustive search";
    static const struct {
        const char *words;
        int exit_code;
        const char *part;
    } rows[] = {
        {"--help", 0, "usage: profsim explore"},
        {"--list", 0, "seqlock-2w2r"},
        {"seqlock-2w2r --exhaustive", 0, " 1521 graphs"},
        {"seqlock-2w2r --schedules", 0, " 1521 graphs"},
        {"seqlock-2w1r --jobs 2", 0, " 39 graphs"},
        {"seqlock-2w1r --bound 1", 0, "holds to 1 preemptions"},
        {"seqlock-2w1r --strategy pct --runs 20000", 0, " 39 graphs"},
        {"seqlock-2w1r --strategy urw --runs 20", 0, " 20 runs"},
        {"seqlock-2w1r --replay 0", 0, ""},
        {"table-same-2p1r --mutants", 0, "4 of 4 weaker orders found"},
        {"table-same-2p1r --mutants --csv", 0, ","},
        /* It has 39 graphs: a search of fewer proves nothing. */
        {"seqlock-2w1r --exhaustive --runs 20", 6, "not finished"},
        {"seqlock-2w1r --exhaustive --runs 1000", 0, "holds"},
        /* Of three shards. */
        {"seqlock-2w1r --shard 1/3", 0, "graph"},
        {"seqlock-2w1r --shard 4/3", 1, "--shard"},
        {"seqlock-2w1r --shard 1/3 --strategy pct", 1, searches},
        {"seqlock-2w1r --shard 1/3 --mutants", 1, "is for exhaustive search"},
        {"seqlock-2w1r --shard 1/3 --replay 0", 1, "is for exhaustive search"},
        {"seqlock-2w1r --result /nowhere/r --strategy pct", 1, searches},
        {"seqlock-2w1r --result /nowhere/r", 1, "/nowhere/r"},
        {"seqlock-2w1r --jobs 2 --strategy pct", 1, searches},
        {"seqlock-2w1r --checkpoint /tmp/x --strategy pct", 1, searches},
        {"--replay 0,1", 1, "--replay needs a kernel"},
        {"--html /nowhere/h", 1, "--html and --data need a kernel"},
        {"--data /nowhere/d", 1, "--html and --data need a kernel"},
        {"--checkpoint /nowhere/c", 1, "--checkpoint needs a kernel"},
        {"--result /nowhere/r", 1, "--result needs a kernel"},
        {"--csv", 1, "--csv is for --mutants"},
        {"flags seqlock-2w1r", 1, "one kernel at a time"},
        {"seqlock-2w1", 1, "seqlock-2w1r"},
        {"no-such --mutants", 1, "no-such"},
        {"seqlock-2w1r --strategy best", 1, "take random, pct, urw or stall"},
        {"seqlock-2w1r --strategy randon", 1, "random"},
        {"--no-such-option", 1, "no-such-option"},
        {"--exhaustve", 1, "--exhaustive"},
        {"seqlock-2w1r --seed", 1, "--seed"},
        {"flags --replay 0,1,no", 1, ""},
        {"flags --replay 0,99", 1, ""},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const int code = explore(rows[i].words);

        if (code != rows[i].exit_code || strstr(text, rows[i].part) == NULL)
            fail_msg("'%s' exits with %d, and prints:\n%s", rows[i].words, code,
                     text);
    }
}

TEST(each_number_is_taken_from_its_least_to_its_most)
{
    static const struct {
        const char *option;
        const char *taken[2];
        const char *refused[2];
    } rows[] = {
        {"--bound", {"0", "1000"}, {"-1", "1001"}},
        {"--unroll", {"1", "1000"}, {"0", "1001"}},
        {"--spurious", {"0", "1000"}, {"-1", "1001"}},
        {"--jobs", {"1", "256"}, {"0", "257"}},
        {"--time", {"1", "1000000000"}, {"0", "1000000001"}},
        {"--runs",
         {"1", "18446744073709551615"},
         {"0", "18446744073709551616"}},
        {"--seed", {"0", "18446744073709551615"}, {"x", "1.5"}},
    };
    char words[80];

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (int k = 0; k < 2; k++) {
            snprintf(words, sizeof words, "--list %s %s", rows[i].option,
                     rows[i].taken[k]);
            if (explore(words) != 0)
                fail_msg("'%s' is refused: %s", words, text);
            snprintf(words, sizeof words, "--list %s=%s", rows[i].option,
                     rows[i].refused[k]);
            if (explore(words) != 1)
                fail_msg("'%s' is taken", words);
            contains(rows[i].option);
        }
    }
}

/* A failure prints options that show the same failure: those that the command
 * repeats stand in the second column. */
TEST(a_failure_is_replayed_by_the_words_it_prints)
{
    static const char *const rows[][2] = {
        {"", ""},
        {" --exhaustive", ""},
        {" --bound 2", " --bound 2"},
        {" --unroll 3 --spurious 2", " --unroll 3 --spurious 2"},
        {" --spurious 1 --bound 3 --unroll 2",
         " --bound 3 --unroll 2 --spurious 1"},
        {" --strategy random --seed 5", " --strategy random"},
        {" --strategy pct --unroll 2", " --strategy pct --unroll 2"}};
    struct sim_site sites[16];
    const uint32_t count =
        sim_explore_sites(fixtures_seqlock(1, 1), 200, sites, 16);
    char words[200];
    char again[150];
    uint32_t weak = 0;

    while (weak < count && (sites[weak].op != SIM_OP_FENCE ||
                            !sim_explore_weaken(&sites[weak], 0)))
        weak++;
    assert_in_range(weak, 0, count - 1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *replay;

        sim_explore_mutate(&sites[weak]);
        snprintf(words, sizeof words, "seqlock-1w1r%s", rows[i][0]);
        assert_int_equal(explore(words), CLI_BROKEN);
        contains("a reader accepted halves of two updates");
        snprintf(words, sizeof words,
                 "replay: profsim explore seqlock-1w1r%s --r", rows[i][1]);
        contains(words);
        replay = strstr(text, "seqlock-1w1r --");
        assert_non_null(replay);
        snprintf(again, sizeof again, "%.*s", (int)strcspn(replay, "\n"),
                 replay);
        assert_int_equal(explore(again), CLI_BROKEN);
        contains("a reader accepted halves of two updates");
        contains(again);
        /* The unchanged seqlock refuses a list that is too long for it. */
        sim_explore_mutate(NULL);
        snprintf(words, sizeof words, "%s,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0",
                 again);
        assert_int_equal(explore(words), CLI_USAGE);
    }
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
