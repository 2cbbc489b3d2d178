/*
 * rows_edges.c -- tests of test_merge.c: what a list may ask for, its limits,
 * when its file is written and when it is left alone, and what is said of files
 * that do not fit. The clock is simulated.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "complaint.h"
#include "merge.h"
#include "merge_case.h"
#include "rows.h"
#include "unit_test.h"

static const struct cli_shard whole = {1, 1};

static bool
begins(struct cli_rows *rows, const char *asked, struct cli_shard shard,
       uint32_t count)
{
    return cli_rows_begin(rows, asked, shard, NULL, 7, count);
}

/* ---- What may be asked ---- */

static void
expect_asked(void)
{
    static const char *const right[] = {
        "mutants --memory-order",
        "mutants --memory-order flags",
        "mutants --memory-order A.z_9,b-c Z0",
        "audit --judge",
        "audit --judge --rate=5 --rules=a,b",
        "audit --judge --rules=x --rate=1 --rate=2",
        "make mutants",
        "make fuzz",
        "make fuzz TIME=5 ENGINE=afl",
        "make fuzz ENGINE=x",
        "make soak TIME=9",
    };
    static const char *const wrong[] = {
        "",
        "make",
        "mutants",
        "mutants --memory-orders",
        "mutants --memory-order -x",
        "mutants --memory-order flags -x",
        "mutants --memory-order -x flags",
        "mutants --memory-order a/b",
        "audit --judge --rate",
        "audit --judge rate=5",
        "audit --judge --rate=a/b",
        "make mutants x",
        "make mutants TIME=5",
        "make mutantsX",
        "make soak ENGINE=afl",
        "make soak TIME=5 x",
        "make fuzz time=5",
        "make fuzz x TIME=5",
        "make fuzz TIME=$(id)",
        "make fuzz ENGINE=a TIME=;",
        "profile",
    };

    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        if (!cli_rows_may_ask(right[i]))
            fail_msg("%s", right[i]);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        if (cli_rows_may_ask(wrong[i]))
            fail_msg("%s", wrong[i]);
    }
}

/* ---- Limits ---- */

static void
expect_refused(const char *asked, uint32_t count, const char *what)
{
    struct cli_rows rows;

    assert_false(begins(&rows, asked, whole, count));
    assert_string_equal(cli_complaint_last(), what);
}

static void
expect_lengths(void)
{
    static const char begin[] = "mutants --memory-order ";
    char asked[CLI_ROWS_ASKED + 1];
    char said[CLI_ROWS_ASKED + 100];
    struct cli_rows rows;

    expect_refused("make mutants", 0, "a list has 1 to 65536 items, not 0");
    expect_refused("make mutants", 65537,
                   "a list has 1 to 65536 items, not 65537");
    expect_refused("make", 5,
                   "--asked takes a command that merge can repeat, not 'make'");
    for (uint32_t count = 1; count <= 65536; count += 65535) {
        assert_true(
            begins(&rows, "make mutants", (struct cli_shard){0, 0}, count));
        assert_int_equal(rows.shard.index, 1);
        assert_int_equal(rows.shard.count, 1);
        assert_int_equal(cli_rows_end(&rows), CLI_INCOMPLETE);
        cli_rows_free(&rows);
    }
    memset(asked, 'x', sizeof asked);
    memcpy(asked, begin, sizeof begin - 1);
    asked[CLI_ROWS_ASKED - 1] = '\0';
    assert_true(begins(&rows, asked, whole, 1));
    assert_string_equal(rows.asked, asked);
    cli_rows_free(&rows);
    asked[CLI_ROWS_ASKED - 1] = 'x';
    asked[CLI_ROWS_ASKED] = '\0';
    snprintf(said, sizeof said,
             "--asked takes a command that merge can repeat, not '%s'", asked);
    expect_refused(asked, 1, said);
}

/* A result holds exactly so many bytes, however many items have no row. */
static void
expect_bytes(void)
{
    enum {
        ROW = CLI_ROW_BYTES - 2,
        FIT = CLI_ROWS_BYTES / ROW,
        REST = CLI_ROWS_BYTES % ROW
    };
    char given[ROW + 1];
    struct cli_rows rows;

    assert_in_range(REST, 1, ROW - 1);
    memset(given, 'x', sizeof given);
    given[ROW - 1] = '\n';
    given[ROW] = '\0';
    assert_true(begins(&rows, "make mutants", whole, 2 * FIT));
    for (uint32_t i = 0; i < FIT; i++)
        assert_true(cli_rows_add(&rows, i, CLI_OK, given));
    assert_true(cli_rows_add(&rows, FIT, CLI_OK, ""));
    assert_string_equal(rows.rows[FIT].text, "");
    assert_true(cli_rows_add(&rows, FIT + 1, CLI_OK, &given[ROW - REST]));
    assert_false(cli_rows_add(&rows, FIT + 2, CLI_OK, "\n"));
    assert_string_equal(
        cli_complaint_last(),
        "a result holds 262144 bytes of rows; take more shards");
    cli_rows_free(&rows);
}

/* A text is cut at the end of its first line: all that follows is kept. */
static void
expect_lines(void)
{
    enum { BYTES = CLI_ROW_BYTES + 5, FIRST = 7, KEPT = BYTES - FIRST - 1 };
    char given[BYTES + 1];
    struct cli_rows rows;

    assert_int_equal(KEPT, CLI_ROW_BYTES - 3);
    memset(given, 'x', sizeof given);
    given[FIRST] = given[FIRST + 50] = given[BYTES - 1] = '\n';
    given[BYTES] = '\0';
    assert_true(begins(&rows, "make mutants", whole, 1));
    assert_true(cli_rows_add(&rows, 0, CLI_OK, given));
    assert_string_equal(rows.rows[0].text, &given[FIRST + 1]);
    cli_rows_free(&rows);
}

/* ---- The file ---- */

/* returns: does the file have the row? */
static bool
is_written(const char *path, uint32_t item)
{
    struct cli_rows found;
    bool is_there;

    assert_true(cli_rows_read(&found, path));
    is_there = found.rows[item].text != NULL;
    cli_rows_free(&found);
    return is_there;
}

/* The file is written at the beginning, at the end, and with a row if a second
 * or more has passed. A shard that has its own rows is complete. */
static void
expect_writes(const char *path)
{
    const struct cli_shard first = {1, 3};
    struct cli_rows rows;

    simulated_ms = 5000;
    assert_true(cli_rows_begin(&rows, "make mutants", first, path, 7, 9));
    simulated_ms = 5999;
    assert_true(cli_rows_add(&rows, 0, CLI_OK, "a"));
    assert_false(is_written(path, 0));
    simulated_ms = 6000;
    assert_true(cli_rows_add(&rows, 3, CLI_OK, "b"));
    assert_true(is_written(path, 3));
    simulated_ms = 6500;
    assert_int_equal(cli_rows_end(&rows), CLI_INCOMPLETE);
    assert_true(cli_rows_add(&rows, 6, CLI_OK, "c"));
    assert_false(is_written(path, 6));
    assert_int_equal(cli_rows_end(&rows), CLI_OK);
    assert_true(is_written(path, 6));
    assert_int_equal(rows.spent_ms, 1500);
    cli_rows_free(&rows);
    /* An old error number is not taken for one of this file. */
    errno = ENOENT;
    assert_true(cli_rows_begin(&rows, "make mutants", first, path, 7, 9));
    assert_string_equal(rows.rows[3].text, "b\n");
    cli_rows_free(&rows);
    simulated_ms = 0;
}

/* A file that is no result stays as it is. */
static void
expect_other_file(const char *path)
{
    FILE *file = fopen(path, "w");
    char text[32] = "";
    struct cli_rows rows;

    assert_non_null(file);
    fputs("a diary\n", file);
    assert_int_equal(fclose(file), 0);
    assert_false(cli_rows_begin(&rows, "make mutants", whole, path, 7, 10));
    file = fopen(path, "r");
    assert_non_null(file);
    assert_int_equal(fread(text, 1, sizeof text - 1, file), 8);
    assert_int_equal(fclose(file), 0);
    assert_string_equal(text, "a diary\n");
    assert_int_equal(unlink(path), 0);
}

/* ---- What is said ---- */

static char asked_path[64];

static enum cli_exit
begin_again(int argc, char **argv)
{
    struct cli_rows rows;

    (void)argc;
    (void)argv;
    if (!cli_rows_begin(&rows, "make mutants", (struct cli_shard){1, 3},
                        asked_path, 7, 9))
        return CLI_USAGE;
    cli_rows_free(&rows);
    return CLI_OK;
}

static void
expect_continued(void)
{
    char *none[] = {NULL};
    char wanted[128];
    struct captured said;

    snprintf(wanted, sizeof wanted, "%s: continues after 3 rows\n", asked_path);
    assert_true(captured_run(&said, begin_again, none, -1, 60));
    merge_expect_exit(&said, 0);
    assert_string_equal(said.text, wanted);
    captured_free(&said);
    assert_int_equal(unlink(asked_path), 0);
}

/* Two results that do not fit; each says in what. */
static void
expect_unlike(void)
{
    static const char *const whats[] = {"version",          "build", "command",
                                        "number of shards", "list",  "list"};
    const struct cli_rows a = {.version = "1",
                               .program = "p",
                               .asked = "make mutants",
                               .shard = {1, 3},
                               .list = 7,
                               .count = 9};

    assert_true(cli_rows_fit(&a, &a, "there"));
    for (size_t i = 0; i < sizeof whats / sizeof *whats; i++) {
        struct cli_rows b = a;
        char said[64];

        *(i == 0 ? b.version : i == 1 ? b.program : b.asked) ^= i < 3;
        b.shard.index = 2;
        b.shard.count += i == 3;
        b.list += i == 4;
        b.count -= i == 5;
        snprintf(said, sizeof said, "there: it has another %s", whats[i]);
        assert_false(cli_rows_fit(&a, &b, "there"));
        assert_string_equal(cli_complaint_last(), said);
    }
}

/* Of which the last file does not belong to the others: one line says so. */
static void
expect_unmerged(void)
{
    static const struct {
        const char *asked;
        uint32_t list;
        const char *said;
    } rows[] = {
        {"make", 7, " 'asked make' is not a command of profsim"},
        {"make soak", 8, " it has another list"},
        {"make soak", 7, "9: the row is not its shard's"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const bool is_first = i == 0;
        char wanted[128];
        struct captured said;

        for (int k = is_first; k < 2; k++) {
            FILE *file =
                merge_begin_file("profsim result 1 rows",
                                 k == 1 ? rows[i].asked : "make soak", 0, 1);

            fprintf(file, "spent 5\nlist %016x\nitems 2\n",
                    k == 1 ? rows[i].list : 7);
            if (i == 2 && k == 1)
                fputs("row 2 exit 0 bytes 1\n\n", file);
            merge_end_file(file);
        }
        snprintf(wanted, sizeof wanted, "profsim: %s:%s\n",
                 merge_path(!is_first), rows[i].said);
        said = merge_files();
        merge_expect_exit(&said, 1);
        if (strncmp(said.text, wanted, strlen(wanted)) != 0 ||
            strstr(&said.text[1], "profsim: ") != NULL)
            fail_msg("not %sbut:\n%s", wanted, said.text);
        captured_free(&said);
    }
}

/* The hash of a list depends on its names and on their order. */
static void
expect_lists(void)
{
    static const char *const lists[][2] = {{"a", "b"}, {"b", "a"}, {"a", "a"}};
    uint64_t hashes[3] = {0};

    for (size_t i = 0; i < 3; i++) {
        cli_rows_name(&hashes[i], lists[i][0]);
        cli_rows_name(&hashes[i], lists[i][1]);
        for (size_t k = 0; k < i; k++)
            assert_true(hashes[k] != hashes[i]);
    }
}

/* in: path, of a folder; NULL: none is named */
static void
expect_no_merge(const char *path, const char *what)
{
    char words[2][64] = {"merge"};
    char *argv[] = {words[0], path != NULL ? words[1] : NULL, NULL};
    struct captured said;
    char wanted[160];

    snprintf(words[1], sizeof words[1], "%s", path != NULL ? path : "");
    snprintf(wanted, sizeof wanted, "profsim: %s%s\n", path != NULL ? path : "",
             what);
    assert_true(captured_run(&said, cli_merge, argv, -1, 60));
    merge_expect_exit(&said, 1);
    assert_string_equal(said.text, wanted);
    captured_free(&said);
}

/* Only files that end in .result are results, and none that is hidden. */
static void
expect_folders(void)
{
    static const char *const names[] = {"b", "a-long-name", "result.txt",
                                        ".result", ".hidden.result"};
    char folder[48];
    char path[80];

    snprintf(folder, sizeof folder, "%s/results", merge_folder());
    expect_no_merge(NULL,
                    "merge: needs a DIR; 'profsim merge --help' says more");
    expect_no_merge(folder, ": No such file or directory");
    assert_int_equal(mkdir(folder, 0700), 0);
    expect_no_merge(folder, ": no file there ends in .result");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        FILE *file;

        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        file = fopen(path, "w");
        assert_non_null(file);
        assert_int_equal(fclose(file), 0);
    }
    expect_no_merge(folder, ": no file there ends in .result");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        assert_int_equal(unlink(path), 0);
    }
    assert_int_equal(rmdir(folder), 0);
}

void
merge_rows_edges(void)
{
    snprintf(asked_path, sizeof asked_path, "%s/edges.result", merge_folder());
    expect_asked();
    expect_lengths();
    expect_bytes();
    expect_lines();
    expect_writes(asked_path);
    expect_continued();
    expect_other_file(asked_path);
    expect_unlike();
    expect_unmerged();
    expect_lists();
    expect_folders();
}
