/*
 * list_items.c -- a test of test_merge.c: `profsim shard` on random lists. The
 * first word of an item, up to '-', says how the command that is run for it
 * ends.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "list_command.h"
#include "merge_case.h"
#include "refused_calls.h"
#include "rows.h"
#include "unit_test.h"
#include "wanted.h"

enum { SECONDS = 60, ITEMS_MAX = 9, LISTS = SANITIZED ? 5 : 20 };
enum { LONGEST = 255, STOPPED = -1, KILLED = -2 };

static const char script[] = "#!/bin/sh\n"
                             "case $2 in z-*) printf '\\000';; esac\n"
                             "printf '%s and %s\\n' \"$1\" \"$2\"\n"
                             "echo unseen >&2\n"
                             "read line && echo \"input $line\"\n"
                             "case $2 in\n"
                             "k-*) kill -9 $$;;\n"
                             "s-[036]*) kill -TERM $PPID; sleep 50; exit 0;;\n"
                             "s-[147]*) kill -INT $PPID; sleep 50; exit 0;;\n"
                             "s-[258]*) kill -HUP $PPID; sleep 50; exit 0;;\n"
                             "s-c*) exec >&-; kill -HUP $PPID; sleep 50;;\n"
                             "s-t*) trap 'exit 200' TERM; kill -HUP $PPID\n"
                             "sleep 50; exit 0;;\n"
                             "e-*) exec /nowhere;;\n"
                             "z-*) exit 0;;\n"
                             "n-*) printf 'no\\000end'; exit 0;;\n"
                             "esac\n"
                             "exit ${2%%-*}\n";

static char items[ITEMS_MAX][LONGEST + 1];
static uint32_t items_count;

/* Draw an item. in: is_last, it may end the command or the shard */
static void
draw_item(char *item, uint32_t number, bool is_last)
{
    static const char *const ends[] = {"0", "0", "0",   "1",   "2", "124",
                                       "k", "n", "125", "255", "e", "s"};

    snprintf(item, LONGEST + 1, "%s-%" PRIu32,
             ends[merge_below(is_last ? 12 : 8)], number);
    if (merge_below(9) == 0) {
        const size_t used = strlen(item);

        memset(&item[used], 'x', LONGEST - used);
        item[LONGEST] = '\0';
    }
}

/* returns: the exit code of an item's row; STOPPED, KILLED: it has none, as the
 * shard ends there */
static int
row_of(const char *item)
{
    const int code = atoi(item);

    if (item[0] == 's')
        return KILLED;
    if (item[0] == 'k')
        return 3;
    if (item[0] == 'n')
        return 0;
    if (item[0] == 'e' || code >= 125)
        return STOPPED;
    return code > 0 ? 2 : 0;
}

/* What an item prints. */
static void
text_of(char *text, size_t room, const char *item)
{
    snprintf(text, room, "%sof a list and %s\n%s", item[0] == 'z' ? " " : "",
             item, item[0] == 'n' ? "no end\n" : "");
}

static int
run_list(struct captured *said, const char *const *words, const char *input)
{
    static char text[8][160];
    char *argv[9];
    FILE *const list = tmpfile();
    int argc = 0;

    assert_non_null(list);
    fputs(input, list);
    assert_int_equal(fflush(list), 0);
    rewind(list);
    for (; words[argc] != NULL; argc++) {
        snprintf(text[argc], sizeof text[argc], "%s", words[argc]);
        argv[argc] = text[argc];
    }
    argv[argc] = NULL;
    assert_true(
        captured_run(said, cli_list_shard, argv, fileno(list), SECONDS));
    fclose(list);
    return said->exit_code;
}

/* Check the file of a shard that ended at item `end`, and remove it. */
static void
expect_rows(const char *path, struct cli_shard shard, uint32_t end)
{
    struct cli_rows rows;
    char text[512];

    assert_true(cli_rows_read(&rows, path));
    assert_int_equal(rows.count, items_count);
    for (uint32_t i = 0; i < items_count; i++) {
        if (i % shard.count != shard.index - 1 || i >= end) {
            assert_null(rows.rows[i].text);
            continue;
        }
        text_of(text, sizeof text, items[i]);
        assert_string_equal(rows.rows[i].text, text);
        assert_int_equal(rows.rows[i].exit_code, row_of(items[i]));
    }
    cli_rows_free(&rows);
    assert_int_equal(unlink(path), 0);
}

/* Run a shard of the list of items. */
static void
expect_items(struct cli_shard shard)
{
    char text[512];
    char input[ITEMS_MAX * (LONGEST + 2)] = "";
    char begin[8192] = "";
    char option[32];
    const char *words[] = {
        "shard", "--asked=make mutants", "--result",  wanted_path("rows"),
        option,  wanted_path("run"),     "of a list", NULL};
    struct captured said;
    uint32_t end = items_count;
    int exit_code = 0;

    snprintf(option, sizeof option, "--shard=%" PRIu32 "/%" PRIu32, shard.index,
             shard.count);
    for (uint32_t i = 0; i < items_count; i++) {
        strcat(strcat(input, items[i]), "\n");
        if (i % shard.count != shard.index - 1 || end < items_count)
            continue;
        if (row_of(items[i]) < 0) {
            end = i;
            exit_code = row_of(items[i]) == KILLED
                            ? (exit_code != 0 ? exit_code : 6)
                            : 1;
            continue;
        }
        text_of(text, sizeof text, items[i]);
        strcat(strcat(begin, "unseen\n"), text);
        if (merge_badness(row_of(items[i])) > merge_badness(exit_code))
            exit_code = row_of(items[i]);
    }
    run_list(&said, words, input);
    merge_expect_exit(&said, exit_code);
    if (exit_code == 1)
        merge_expect(&said, true, "profsim: %s: exit code %d at item '%s'\n",
                     wanted_path("run"),
                     items[end][0] == 'e' ? 127 : atoi(items[end]), items[end]);
    merge_expect(&said, true, "%s", begin);
    captured_free(&said);
    expect_rows(wanted_path("rows"), shard, end);
}

static void
expect_list(void)
{
    struct cli_shard shard = {1, 1};

    shard.count = 1 + merge_below(3);
    shard.index = 1 + merge_below(shard.count);
    items_count = 1 + merge_below(ITEMS_MAX);
    for (uint32_t i = 0; i < items_count; i++)
        draw_item(items[i], i, merge_below(6) == 0);
    expect_items(shard);
}

/* Each signal ends the shard, and all processes of the item's command, though
 * it has closed its output, or ends with a code of its own. */
static void
expect_signals(void)
{
    static const char *const last[] = {"s-0", "s-1", "s-2", "s-c", "s-t"};

    items_count = 3;
    for (size_t i = 0; i < sizeof last / sizeof *last; i++) {
        strcpy(items[0], "z-0");
        strcpy(items[1], last[i]);
        strcpy(items[2], "0-2");
        expect_items((struct cli_shard){1, 1});
    }
}

/* A list may have 2^16 items; the first is run. */
static void
expect_long_list(uint32_t count, const char *complaint)
{
    const char *words[] = {"shard",
                           "--asked=make mutants",
                           "--result",
                           wanted_path("rows"),
                           "--shard=1/65536",
                           "true",
                           NULL};
    char *input = calloc(count, 2 + 1);
    struct captured said;

    assert_non_null(input);
    for (uint32_t i = 0; i < count; i++)
        memcpy(&input[2 * i], "a\n", 2);
    assert_int_equal(run_list(&said, words, input), complaint != NULL);
    merge_expect(&said, true, "%s",
                 complaint != NULL ? complaint : "1 of 65536 rows, ");
    captured_free(&said);
    free(input);
}

/* Lists and words that are refused, and what is said. */
static void
expect_refused(void)
{
    static const char *const inputs[] = {"", "a\n\nb\n", "a\nb", "\n"};
    static const char *const said_of[] = {
        "profsim: a list has 1 to 65536 items, not 0\n",
        "profsim: line 2: an item has 1 to 255 bytes\n",
        "profsim: line 2: an item has 1 to 255 bytes\n",
        "profsim: line 1: an item has 1 to 255 bytes\n"};
    static const struct {
        const char *words[7];
        const char *said;
    } rows[] = {
        {{"shard", "--asked=make mutants", "--result=x"}, "a COMMAND"},
        {{"shard", "--asked=make mutants", "true"}, "--asked and --result"},
        {{"shard", "--asked=make mutants", "--result=", "true"},
         "--asked and --result"},
        {{"shard", "--result=x", "true"}, "--asked and --result"},
        {{"shard", "--asked=rm", "--result=x", "true"},
         "--asked takes a command that merge can repeat, not 'rm'"},
        {{"shard", "--asked=make mutants", "--result=x", "--shard=3/2", "true"},
         "shard"},
    };
    const char *words[] = {"shard",    "--asked=make mutants",
                           "--result", wanted_path("rows"),
                           "true",     NULL};
    char item[LONGEST + 3];
    struct captured said;

    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        assert_int_equal(run_list(&said, words, inputs[i]), 1);
        assert_string_equal(said.text, said_of[i]);
        captured_free(&said);
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(run_list(&said, rows[i].words, "a\n"), 1);
        merge_expect(&said, true, "%s", rows[i].said);
        captured_free(&said);
    }
    words[4] = wanted_path("nowhere");
    assert_int_equal(run_list(&said, words, "a\n"), 1);
    merge_expect(&said, true,
                 "profsim: %s: No such file or directory\nprofsim: %s: exit "
                 "code 127 at item 'a'\n",
                 wanted_path("nowhere"), wanted_path("nowhere"));
    captured_free(&said);
    assert_int_equal(unlink(wanted_path("rows")), 0);
    memset(item, 'i', LONGEST + 1);
    strcpy(&item[LONGEST + 1], "\n");
    assert_int_equal(run_list(&said, words, item), 1);
    assert_string_equal(said.text, said_of[3]);
    captured_free(&said);
}

/* A command of `count` words, of which so many are taken. */
static void
expect_words(uint32_t count, int exit_code)
{
    char *argv[32] = {(char[]){"shard"}, (char[]){"--asked=make mutants"},
                      (char[]){"--result"}};
    struct captured said;
    char path[128];
    FILE *const list = tmpfile();

    assert_non_null(list);
    fputs("0\n", list);
    rewind(list);
    snprintf(path, sizeof path, "%s", wanted_path("rows"));
    argv[3] = path;
    argv[4] = (char[]){"true"};
    for (uint32_t i = 1; i < count; i++)
        argv[4 + i] = (char[]){"x"};
    assert_true(
        captured_run(&said, cli_list_shard, argv, fileno(list), SECONDS));
    fclose(list);
    merge_expect_exit(&said, exit_code);
    merge_expect(&said, exit_code != 0,
                 "profsim: shard: COMMAND has at most 16 words\n");
    captured_free(&said);
    assert_int_equal(unlink(path), exit_code == 0 ? 0 : -1);
}

/* A process is refused: the reason is said. */
static void
expect_no_process(void)
{
    const char *words[] = {"shard",    "--asked=make mutants",
                           "--result", wanted_path("rows"),
                           "true",     NULL};
    struct captured said;
    bool is_fork = false;

    for (uint32_t n = 1; n < 200 && !is_fork; n++) {
        refused_calls_at(n);
        run_list(&said, words, "a\n");
        is_fork = refused_calls_which() != NULL &&
                  strcmp(refused_calls_which(), "fork") == 0;
        if (is_fork) {
            merge_expect_exit(&said, 1);
            merge_expect(&said, true, "profsim: true: Input/output error\n");
        }
        captured_free(&said);
        (void)unlink(wanted_path("rows"));
    }
    refused_calls_at(0);
    assert_true(is_fork);
}

void
merge_list_items(void)
{
    FILE *file = fopen(wanted_path("run"), "w");

    assert_non_null(file);
    fputs(script, file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(wanted_path("run"), 0755), 0);
    merge_seed(51);
    for (int i = 0; i < LISTS; i++)
        expect_list();
    expect_signals();
    expect_long_list(65536, NULL);
    assert_int_equal(unlink(wanted_path("rows")), 0);
    expect_long_list(65537, "profsim: a list has at most 65536 items\n");
    expect_refused();
    expect_words(16, 0);
    expect_words(17, 1);
    expect_no_process();
    assert_int_equal(unlink(wanted_path("run")), 0);
}
