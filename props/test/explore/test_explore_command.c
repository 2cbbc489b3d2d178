/*
 * test_explore_command.c -- `profsim explore`, called as a function.
 */
#include "explore.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "complaint.h"
#include "exit.h"
#include "explore/drawn_orders.h"
#include "explore/told_searches.h"
#include "explore_merge.h"
#include "explore_options.h"
#include "explore_result.h"
#include "folder.h"
#include "kernels.h"
#include "textbook.h"
#include "unit_test.h"

/* Declared as in cli/explore/explore.h, whose name is also that of the
 * explorer's header. */
enum cli_exit cli_explore(int argc, char **argv);

/* Call the command with its standard output in a file. out: text, what it
 * printed */
static int
printed(int (*call)(int argc, char **argv), int argc, char **argv, char *text,
        size_t text_bytes)
{
    FILE *file = tmpfile();
    const int saved = dup(STDOUT_FILENO);
    size_t got;
    int code;

    assert_non_null(file);
    fflush(stdout);
    dup2(fileno(file), STDOUT_FILENO);
    code = call(argc, argv);
    fflush(stdout);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    rewind(file);
    got = fread(text, 1, text_bytes - 1, file);
    text[got] = '\0';
    fclose(file);
    return code;
}

static int
explore(int argc, char **argv)
{
    return (int)cli_explore(argc, argv);
}

/* Run the command with words divided by blanks. out: text, what it printed */
static int
command(const char *words, char *text, size_t text_bytes)
{
    char copy[200];
    char *argv[20];
    int argc = 0;

    snprintf(copy, sizeof copy, "explore %s", words);
    for (char *word = strtok(copy, " "); word != NULL && argc < 19;
         word = strtok(NULL, " "))
        argv[argc++] = word;
    argv[argc] = NULL;
    return printed(explore, argc, argv, text, text_bytes);
}

static char text[1 << 16];

static void
contains(const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("'%s' is not in:\n%s", part, text);
}

TEST(each_kernel_has_one_line)
{
    uint32_t lines = 0;
    uint32_t kernels = 0;

    assert_int_equal(command("--list", text, sizeof text), 0);
    for (const char *p = text; *p != '\0'; p++)
        lines += *p == '\n';
    for (const struct sim_kernel_entry *e = fixtures_textbook; e->name != NULL;
         e++)
        kernels++;
    for (const struct sim_kernel_entry *e = props_kernels; e->name != NULL; e++)
        kernels++;
    assert_int_equal(lines, kernels);
    assert_int_equal(command("seqlock-2w2r --exhaustive", text, sizeof text),
                     0);
    contains(" 1521 graphs");
    contains("holds");
}

TEST(a_bound_and_a_strategy_are_taken)
{
    assert_int_equal(command("seqlock-2w1r --bound 1", text, sizeof text), 0);
    contains("holds to 1 preemptions");
    assert_int_equal(
        command("seqlock-2w1r --strategy pct --runs 20000", text, sizeof text),
        0);
    contains(" 20000 runs");
    contains(" 39 graphs");
}

/* seqlock-2w1r has 39 graphs: a search of fewer proves nothing. */
TEST(a_search_that_is_cut_short_does_not_pass)
{
    assert_int_equal(
        command("seqlock-2w1r --exhaustive --runs 20", text, sizeof text),
        CLI_INCOMPLETE);
    contains(" 20 runs");
    contains("not finished");
    assert_int_equal(
        command("seqlock-2w1r --exhaustive --runs 1000", text, sizeof text), 0);
    contains("holds");
}

TEST(wrong_words_are_usage_errors)
{
    static const char *const rows[] = {
        "no-such-kernel",        "--strategy best", "--bound x",
        "--no-such-option",      "flags seqlock",   "--replay 0,1",
        "flags --replay 0,1,no", "flags --runs 0",  "no-such --mutants",
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (command(rows[i], text, sizeof text) != 1)
            fail_msg("'%s' was taken", rows[i]);
    }
}

TEST(the_mutants_of_the_table_are_all_found)
{
    assert_int_equal(command("table-same-2p1r --mutants", text, sizeof text),
                     0);
    contains("acquire -> relaxed: table-same-2p1r, check, ");
    contains("4 of 4 weaker orders found");
}

/* Explore with the options, then run the command that is printed. in: kept, of
 * the options those that the command repeats */
static void
expect_replay(const char *options, const char *kept)
{
    char words[200];
    char again[150];
    const char *replay;

    snprintf(words, sizeof words, "seqlock-1w1r%s", options);
    assert_int_equal(command(words, text, sizeof text), CLI_BROKEN);
    contains("a reader accepted halves of two updates");
    snprintf(words, sizeof words, "replay: profsim explore seqlock-1w1r%s --r",
             kept);
    contains(words);
    replay = strstr(text, "seqlock-1w1r --");
    assert_non_null(replay);
    snprintf(again, sizeof again, "%.*s", (int)strcspn(replay, "\n"), replay);
    assert_int_equal(command(again, text, sizeof text), CLI_BROKEN);
    contains("a reader accepted halves of two updates");
    contains(again);
    snprintf(words, sizeof words, "%s,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0",
             again);
    assert_int_equal(command(words, text, sizeof text), CLI_BROKEN);
    sim_explore_mutate(NULL);
    assert_int_equal(command(words, text, sizeof text), CLI_USAGE);
}

/* A failure prints options that show the same failure. */
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
    const struct sim_kernel *kernel = fixtures_seqlock(1, 1);
    struct sim_site sites[16];
    const uint32_t count = sim_explore_sites(kernel, 200, sites, 16);
    uint32_t weak = 0;

    while (weak < count && (sites[weak].op != SIM_OP_FENCE ||
                            !sim_explore_weaken(&sites[weak], 0)))
        weak++;
    assert_in_range(weak, 0, count - 1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sim_explore_mutate(&sites[weak]);
        expect_replay(rows[i][0], rows[i][1]);
    }
}

/* ---- Adding up the results of shards ---- */

static int
merge(int argc, char **argv)
{
    struct cli_report report;

    enum cli_exit exit_code;

    cli_report_begin(&report, argc, argv);
    exit_code = cli_explore_merge(argv, (uint32_t)argc, ".", &report);
    for (size_t i = 0; i < report.results_count; i++) {
        const struct cli_result *r = report.results[i];

        printf("%s, %s: %s, %s %d, %s %d\n", r->subject, r->name,
               cli_verdict_word(r->verdict), r->counts[0].name,
               (int)r->counts[0].value, r->counts[1].name,
               (int)r->counts[1].value);
    }
    return (int)cli_report_drop(&report, exit_code);
}

struct shard_said {
    enum cli_exit exit_code;
    const char *choices;
};

enum { SHARDS = 4 };

/* Write the results of shards, and merge the files in the order given. */
static int
merged(const char *asked, const struct shard_said *said, const int *order)
{
    char paths[SHARDS][40];
    char *argv[SHARDS];
    int code;

    for (uint32_t i = 0; i < SHARDS; i++) {
        struct cli_explored one = {.version = "1",
                                   .program = "p",
                                   .shard = {i + 1, SHARDS},
                                   .depth = 3,
                                   .runs = 10 + i,
                                   .graphs = 1 << i,
                                   .graphs_sum = UINT64_MAX - i,
                                   .exit_code = said[i].exit_code,
                                   .choices =
                                       (char *)(uintptr_t)said[i].choices};

        snprintf(one.asked, sizeof one.asked, "explore %s", asked);
        snprintf(paths[i], sizeof paths[i], "/tmp/explore-%d-%u.result",
                 (int)getpid(), i);
        assert_null(cli_explored_write(&one, paths[i]));
    }
    for (int i = 0; i < SHARDS; i++)
        argv[i] = paths[order[i]];
    code = printed(merge, SHARDS, argv, text, sizeof text);
    for (uint32_t i = 0; i < SHARDS; i++)
        unlink(paths[i]);
    return code;
}

/* Make one of the 24 orders of four files. */
static void
order_of(int number, int *order)
{
    int left[SHARDS] = {0, 1, 2, 3};

    for (int i = 0, count = SHARDS; i < SHARDS; i++, count--) {
        const int which = number % count;

        number /= count;
        order[i] = left[which];
        memmove(&left[which], &left[which + 1],
                (size_t)(count - which - 1) * sizeof *left);
    }
}

/* Only the worst shard's failure is shown in full; of equally bad ones, the
 * first. */
static void
check_merged(const struct shard_said *said)
{
    for (int number = 0; number < 24; number++) {
        const struct shard_said *worst = NULL;
        char want[300];
        int order[SHARDS];

        order_of(number, order);
        for (int i = 0; i < SHARDS; i++) {
            const struct shard_said *one = &said[order[i]];

            if (one->exit_code != CLI_OK &&
                (worst == NULL ||
                 cli_exit_worse(worst->exit_code, one->exit_code) !=
                     worst->exit_code))
                worst = one;
        }
        assert_int_equal(merged("mine", said, order),
                         worst != NULL ? worst->exit_code : CLI_OK);
        snprintf(want, sizeof want,
                 "explore mine: 46 runs, 15 graphs, log hash %016llx, %s\n",
                 (unsigned long long)-10, worst != NULL ? "fails" : "holds");
        contains(want);
        if (worst == NULL || worst->choices == NULL) {
            assert_null(strstr(text, "replay"));
            continue;
        }
        snprintf(want, sizeof want,
                 "replay: profsim explore mine --replay %s\n", worst->choices);
        contains(want);
    }
}

TEST(the_worst_of_failing_shards_is_told)
{
    static const char longer[] = "0,1,0,2,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,3";
    static const struct shard_said rows[][SHARDS] = {
        {{CLI_OK, NULL}, {CLI_OK, NULL}, {CLI_OK, NULL}, {CLI_OK, NULL}},
        {{CLI_OK, NULL}, {CLI_BROKEN, "0,0,1"}, {CLI_OK, NULL}, {CLI_OK, NULL}},
        {{CLI_BROKEN, longer},
         {CLI_OK, NULL},
         {CLI_CRASH, "g0,1,1,1,1,1,1,1,1,1"},
         {CLI_OK, NULL}},
        {{CLI_BROKEN, "0,7"},
         {CLI_BROKEN, longer},
         {CLI_BROKEN, "1"},
         {CLI_OK, NULL}},
        {{CLI_BROKEN, "1,1"},
         {CLI_CRASH, NULL},
         {CLI_NONDETERMINISM, "0,0,0"},
         {CLI_BROKEN, longer}},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        check_merged(rows[i]);
}

/* Only a search for a kernel is run again, with options that have a number. */
TEST(a_result_asks_for_a_search_alone)
{
    static const struct {
        const char *asked;
        bool is_right;
    } rows[] = {{"explore k", true},
                {"explore k-2 --bound 1", true},
                {"explore k --unroll 20 --spurious 9 --bound 0", true},
                {"check k", false},
                {"explorer k", false},
                {"explore", false},
                {"explore -k", false},
                {"explore --bound 1", false},
                {"explore a/k", false},
                {"explore k --bound", false},
                {"explore k --bound x", false},
                {"explore k --spurious -1", false},
                {"explore k --bound 1 --unroll", false},
                {"explore k --replay 1", false},
                {"explore k --bounds 1", false}};
    char path[40];
    char *argv[] = {path};

    snprintf(path, sizeof path, "/tmp/explore-%d.result", (int)getpid());
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct cli_explored one = {.version = "1",
                                   .program = "p",
                                   .runs = 3,
                                   .graphs = 2,
                                   .bounded = i % 2};
        char said[200];

        snprintf(one.asked, sizeof one.asked, "%s", rows[i].asked);
        assert_null(cli_explored_write(&one, path));
        if (printed(merge, 1, argv, text, sizeof text) !=
            (rows[i].is_right ? CLI_OK : CLI_USAGE))
            fail_msg("%s", rows[i].asked);
        snprintf(said, sizeof said, "kernels,%s: %s, runs 3, graphs 2\n",
                 rows[i].asked + strlen("explore"), /* the shortest of all */
                 i % 2 == 1 ? "bounded" : "holds");
        if (rows[i].is_right)
            contains(said);
        snprintf(said, sizeof said,
                 "%s: 'asked %s' is not a command of profsim", path,
                 rows[i].asked);
        assert_int_equal(strcmp(cli_complaint_last(), said) == 0,
                         !rows[i].is_right);
        unlink(path);
    }
}

/* Results of two builds, or of two searches, say nothing together. */
TEST(results_of_another_search_are_not_added_up)
{
    static const char *const whats[] = {"version", "build", "search",
                                        "number of shards"};
    char paths[2][40];
    char *argv[] = {paths[0], paths[1]};

    for (int k = 0; k <= 4; k++) {
        char complaint[150];

        for (uint32_t i = 0; i < 2; i++) {
            const bool other = i == 1;
            const struct cli_explored one = {
                .version = {other && k == 0 ? '2' : '1'},
                .program = {other && k == 1 ? 'q' : 'p'},
                .asked = {'e', 'x', 'p', 'l', 'o', 'r', 'e', ' ',
                          other && k == 2 ? 'l' : 'k'},
                .shard = {i + 1, other && k == 3 ? 3 : 2},
                .depth = 3,
                .runs = 1,
                .graphs = 1};

            snprintf(paths[i], sizeof paths[i], "/tmp/explore-%d-%u.result",
                     (int)getpid(), i);
            assert_null(cli_explored_write(&one, paths[i]));
        }
        assert_int_equal(printed(merge, 2, argv, text, sizeof text),
                         k < 4 ? CLI_USAGE : CLI_OK);
        snprintf(complaint, sizeof complaint, "%s: it has another %s than %s",
                 paths[1], k < 4 ? whats[k] : "", paths[0]);
        if (k < 4)
            assert_string_equal(cli_complaint_last(), complaint);
        unlink(paths[0]);
        unlink(paths[1]);
    }
}

/* A kernel's failure counts only if its choices fail when they are run
 * again. */
TEST(the_failure_of_a_shard_is_run_again)
{
    static const int order[SHARDS] = {1, 0, 3, 2};
    struct shard_said said[SHARDS] = {
        {CLI_OK, NULL}, {CLI_BROKEN, "0"}, {CLI_OK, NULL}, {CLI_OK, NULL}};
    const struct sim_kernel *kernel = fixtures_seqlock(1, 1);
    struct sim_site sites[16];
    const uint32_t count = sim_explore_sites(kernel, 200, sites, 16);
    char choices[200];
    const char *words;

    assert_int_equal(merged("seqlock-1w1r", said, order), CLI_USAGE);
    for (uint32_t i = 0; i < count; i++) {
        if (sites[i].op == SIM_OP_FENCE && sim_explore_weaken(&sites[i], 0)) {
            sim_explore_mutate(&sites[i]);
            break;
        }
    }
    assert_int_equal(command("seqlock-1w1r", text, sizeof text), CLI_BROKEN);
    words = strstr(text, " --replay ");
    assert_non_null(words);
    snprintf(choices, sizeof choices, "%.*s", (int)strcspn(words + 10, "\n"),
             words + 10);
    said[1].choices = choices;
    assert_int_equal(merged("seqlock-1w1r", said, order), CLI_BROKEN);
    contains("a reader accepted halves of two updates");
    contains(choices);
    sim_explore_mutate(NULL);
    assert_int_equal(merged("seqlock-1w1r", said, order), CLI_USAGE);
}

TEST(any_options_are_taken_or_refused)
{
    explore_options(1000);
}

TEST(what_a_search_finds_is_told_and_written)
{
    told_searches(folder);
}

TEST(a_run_is_replayed_by_its_list_of_choices)
{
    told_replays(folder);
}

TEST(a_result_is_replaced_by_one_of_the_same_search)
{
    replaced_results(folder);
}

TEST(each_weaker_order_is_tried_by_the_kernels_that_reach_it)
{
    drawn_orders(folder);
}

TEST(too_many_sites_are_refused)
{
    too_many_orders();
}

int
main(void)
{
    return tests_run(folder_make, folder_clear);
}
