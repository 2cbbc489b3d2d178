/*
 * test_explore_command.c -- `profsim explore`, called as a function.
 */
#include "explore.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exit.h"
#include "kernels.h"
#include "textbook.h"
#include "unit_test.h"

/* As in cli/explore/explore.h, which shares its name with the explorer's. */
enum cli_exit cli_explore(int argc, char **argv);

/* Run the command with words divided by blanks. out: text, what it printed */
static int
command(const char *words, char *text, size_t text_bytes)
{
    char copy[200];
    char *argv[20];
    int argc = 0;
    FILE *file = tmpfile();
    const int saved = dup(STDOUT_FILENO);
    size_t got;
    int code;

    assert_non_null(file);
    snprintf(copy, sizeof copy, "explore %s", words);
    for (char *word = strtok(copy, " "); word != NULL && argc < 19;
         word = strtok(NULL, " "))
        argv[argc++] = word;
    argv[argc] = NULL;
    fflush(stdout);
    dup2(fileno(file), STDOUT_FILENO);
    code = (int)cli_explore(argc, argv);
    fflush(stdout);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    rewind(file);
    got = fread(text, 1, text_bytes - 1, file);
    text[got] = '\0';
    fclose(file);
    return code;
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

/* seqlock-2w1r has 39 graphs: not all of them prove nothing. */
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
        "flags --replay 0,1,no", "flags --runs 0",
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

/* The words a failure prints, given back, show the same failure. */
TEST(a_failure_is_replayed_by_the_words_it_prints)
{
    const struct sim_kernel *kernel = fixtures_seqlock(1, 1);
    struct sim_site sites[16];
    const uint32_t count = sim_explore_sites(kernel, 200, sites, 16);
    char again[200];
    const char *words;

    for (uint32_t i = 0; i < count; i++) {
        if (sites[i].op == SIM_OP_FENCE && sim_explore_weaken(&sites[i], 0)) {
            sim_explore_mutate(&sites[i]);
            break;
        }
    }
    assert_int_equal(command("seqlock-1w1r", text, sizeof text), CLI_BROKEN);
    contains("a reader accepted halves of two updates");
    words = strstr(text, "replay: profsim explore ");
    assert_non_null(words);
    words += strlen("replay: profsim explore ");
    snprintf(again, sizeof again, "%.*s", (int)strcspn(words, "\n"), words);
    assert_int_equal(command(again, text, sizeof text), CLI_BROKEN);
    contains("a reader accepted halves of two updates");
    sim_explore_mutate(NULL);
    assert_int_equal(command(again, text, sizeof text), 0);
    contains("the run passes");
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
