/*
 * test_merge.c -- `profsim merge` of random results, compared with sums that
 * are made here: rows, orderings, campaigns. Some shards are missing, some are
 * there twice, some files contradict each other.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "list_command.h"
#include "merge_case.h"
#include "rows.h"
#include "unit_test.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { FILES_MAX = 8 };

static int
worse(int a, int b)
{
    return merge_badness(a) > merge_badness(b) ? a : b;
}

/* ---- Rows ---- */

enum { ITEMS_MAX = 9 };

struct row {
    int exit_code;
    char text[32]; /* "": no text */
};

static const struct command {
    const char *asked;
    bool repeats;
} commands[] = {{"make mutants", true},
                {"audit --judge", true},
                {"make fuzz TIME=5", false},
                {"make soak TIME=5", false}};

static void
draw_row(struct row *row, uint32_t item)
{
    static const int codes[] = {0, 0, 0, 0, 2, 3, 4, 5};
    static const char *const ends[] = {"", "", " b", " c\n  more"};

    row->exit_code = codes[merge_below(8)];
    snprintf(row->text, sizeof row->text, "item %" PRIu32 "%s\n", item,
             ends[merge_below(4)]);
}

/* Of two rows the worse one counts; of equally bad ones, the one whose text
 * sorts first. */
static void
take_row(struct row *kept, const struct row *row)
{
    if (kept->text[0] == '\0' ||
        merge_badness(row->exit_code) > merge_badness(kept->exit_code) ||
        (row->exit_code == kept->exit_code &&
         strcmp(row->text, kept->text) < 0))
        *kept = *row;
}

struct rows_case {
    const struct command *command;
    uint32_t shards;
    uint32_t items;
    struct row kept[ITEMS_MAX];
    char differences[4096];
    bool differs;
};

static void
write_rows(struct rows_case *c)
{
    const uint32_t shard = merge_below(c->shards);
    FILE *file = merge_begin_file("profsim result 1 rows", c->command->asked,
                                  shard, c->shards);
    size_t end = strlen(c->differences);

    fprintf(file, "spent 5\nlist %016x\nitems %" PRIu32 "\n", 7, c->items);
    for (uint32_t i = shard; i < c->items; i += c->shards) {
        struct row *const kept = &c->kept[i];
        struct row row;

        draw_row(&row, i);
        if (kept->text[0] != '\0' && merge_below(2) == 0)
            row = *kept;
        if (merge_below(8) == 0)
            continue;
        fprintf(file, "row %" PRIu32 " exit %d bytes %zu\n%s", i, row.exit_code,
                strlen(row.text), row.text);
        if (kept->text[0] != '\0' && c->command->repeats &&
            (kept->exit_code != row.exit_code ||
             strcmp(kept->text, row.text) != 0)) {
            end += (size_t)snprintf(
                &c->differences[end], sizeof c->differences - end,
                "%s: item %" PRIu32 " is not what another file says\n",
                merge_path(merge_files_count()), i);
            c->differs = true;
        }
        take_row(kept, &row);
    }
    merge_end_file(file);
}

static void
expect_rows(const struct rows_case *c, const struct captured *said)
{
    const bool by_make = strncmp(c->command->asked, "make", 4) == 0;
    bool is_missing[MERGE_SHARDS_MAX] = {false};
    char rows[ITEMS_MAX * 32] = "";
    int worst = c->differs ? 5 : 0;
    uint64_t hash = 0;
    uint32_t done = 0;

    for (uint32_t i = 0; i < c->items; i++) {
        const struct row *row = &c->kept[i];

        if (row->text[0] == '\0') {
            is_missing[i % c->shards] = true;
            continue;
        }
        done++;
        strcat(rows, row->text);
        worst = worse(worst, row->exit_code);
        merge_expect(said, row->exit_code != 0, "\"text\": \"item %" PRIu32, i);
        merge_expect(said, true, "\"name\": \"item %" PRIu32 "\"", i);
        hash += (uint64_t)XXH3_64bits_withSeed(
            row->text, strlen(row->text), i * 8 + (uint64_t)row->exit_code);
    }
    worst = worst == 0 && done < c->items ? 6 : worst;
    merge_expect_exit(said, worst);
    if (strncmp(said->text, c->differences, strlen(c->differences)) != 0 ||
        strncmp(&said->text[strlen(c->differences)], rows, strlen(rows)) != 0)
        fail_msg("wanted:\n%s%s\nin:\n%s", c->differences, rows, said->text);
    merge_expect_missing(said, is_missing, c->shards,
                         by_make ? "; do make "
                                 : "; do profsim audit --judge ");
    merge_expect(said, true,
                 "%s: %" PRIu32 " of %" PRIu32 " rows, log hash %016" PRIx64
                 "\n",
                 c->command->asked, done, c->items, hash);
}

TEST(rows_are_those_of_all_files)
{
    for (uint64_t seed = 1; seed <= 2 * MERGE_CASES; seed++) {
        struct rows_case c = {.differs = false};
        struct captured said;

        merge_seed(seed);
        c.command = &commands[merge_below(4)];
        c.shards = 1 + merge_below(MERGE_SHARDS_MAX);
        c.items = 1 + merge_below(ITEMS_MAX);
        for (uint32_t left = 1 + merge_below(FILES_MAX); left > 0; left--)
            write_rows(&c);
        said = merge_files();
        expect_rows(&c, &said);
        captured_free(&said);
    }
}

static void
expect_added(struct cli_rows *rows, uint32_t item, size_t bytes, size_t newline)
{
    static char given[2 * CLI_ROW_BYTES + 2];
    const size_t most = CLI_ROW_BYTES - 1; /* with a newline at the end */
    const bool fits = bytes < most;
    const char *kept;
    size_t length;

    memset(given, 'x', bytes);
    given[bytes] = '\0';
    if (newline < bytes)
        given[newline] = '\n';
    assert_true(cli_rows_add(rows, item, CLI_OK, given));
    if (bytes == 0 || given[bytes - 1] != '\n')
        given[bytes++] = '\n';
    given[bytes] = '\0';
    kept = rows->rows[item].text;
    length = strlen(kept);
    assert_in_range(length, 1, most);
    assert_string_equal(kept, &given[bytes - length]);
    /* The text is kept whole if it fits; otherwise as many whole lines as fit,
     * if any does. */
    if (fits)
        assert_int_equal(length, bytes);
    else if (newline + 1 < bytes && bytes - newline - 1 <= most - 2)
        assert_int_equal(length, bytes - newline - 1);
    else
        assert_in_range(length, most - 2, most);
}

TEST(of_a_long_row_the_last_lines_are_kept)
{
    struct cli_rows rows;
    uint32_t item = 0;

    assert_true(cli_rows_begin(&rows, "make mutants", (struct cli_shard){1, 1},
                               NULL, 7, 128));
    for (size_t bytes = CLI_ROW_BYTES - 4; bytes < CLI_ROW_BYTES + 4; bytes++) {
        const size_t newlines[] = {bytes,     0,         1,        2,
                                   bytes / 2, bytes - 2, bytes - 1};

        for (size_t i = 0; i < sizeof newlines / sizeof *newlines; i++)
            expect_added(&rows, item++, bytes, newlines[i]);
    }
    expect_added(&rows, item++, 2 * CLI_ROW_BYTES, 5);
    expect_added(&rows, item++, 2 * CLI_ROW_BYTES, CLI_ROW_BYTES + 9);
    expect_added(&rows, item++, 1, 1);
    cli_rows_free(&rows);
}

/* A shard that continues keeps the rows and the time of its earlier run. */
TEST(a_shard_goes_on_behind_its_rows)
{
    const struct cli_shard second = {2, 3};
    FILE *file =
        merge_begin_file("profsim result 1 rows", "make mutants", 1, 3);
    const char *const path = merge_path(merge_files_count());
    struct cli_rows found;
    struct cli_rows rows;
    uint64_t spent_ms = 4294967296000;

    fprintf(file,
            "spent 4294967296000\nlist %016x\nitems 8\n"
            "row 4 exit 0 bytes 4\none\n",
            7);
    merge_end_file(file);
    assert_false(cli_rows_begin(&rows, "make mutants", (struct cli_shard){1, 3},
                                path, 7, 8));
    assert_false(cli_rows_begin(&rows, "make mutants", second, path, 8, 8));
    assert_false(cli_rows_begin(&rows, "make mutants", second, path, 7, 9));
    assert_false(cli_rows_begin(&rows, "make soak", second, path, 7, 8));
    for (int done = 1; done <= 3; done++) {
        assert_true(cli_rows_begin(&rows, "make mutants", second, path, 7, 8));
        assert_in_range(rows.spent_ms, spent_ms, spent_ms + 100000);
        rows.begun_ms -= 1000000; /* as if it had begun so long ago */
        spent_ms += 1000000;
        for (uint32_t i = 0; i < 8; i++)
            assert_int_equal(cli_rows_wants(&rows, i),
                             (i == 1 && done < 2) || (i == 7 && done < 3));
        rows.written_ms -= 2000; /* so the row is written at once */
        if (done < 3)
            assert_true(cli_rows_add(&rows, done == 1 ? 1 : 7,
                                     done == 1 ? CLI_OK : CLI_BROKEN, "more"));
        assert_true(cli_rows_read(&found, path));
        assert_non_null(found.rows[done == 1 ? 1 : 7].text);
        cli_rows_free(&found);
        assert_int_equal(cli_rows_end(&rows),
                         done == 1 ? CLI_INCOMPLETE : CLI_BROKEN);
        cli_rows_free(&rows);
    }
    assert_true(cli_rows_read(&rows, path));
    assert_string_equal(rows.rows[1].text, "more\n");
    assert_string_equal(rows.rows[4].text, "one\n");
    assert_int_equal(rows.rows[7].exit_code, CLI_BROKEN);
    assert_null(rows.rows[3].text);
    cli_rows_free(&rows);
    merge_remove_files();
}

enum { LINE = 40, PRINTED = 8 };

/* Write the list: files of numbered lines, of some 2, 4, 6 ... 16 KiB. out:
 * given, what is in them. returns: standard input */
static int
write_printed(char (*given)[9 * CLI_ROW_BYTES])
{
    FILE *list = tmpfile();

    assert_non_null(list);
    for (uint32_t i = 0; i < PRINTED; i++) {
        const size_t bytes = (i + 1) * CLI_ROW_BYTES - 2 + i;
        FILE *file = fopen(merge_path((int)i), "w");

        for (size_t at = 0; at < bytes; at += LINE)
            snprintf(&given[i][at], LINE + 1, "%0*zu\n", LINE - 1, at);
        given[i][bytes - 1] = '\n';
        given[i][bytes] = '\0';
        assert_non_null(file);
        fputs(given[i], file);
        assert_int_equal(fclose(file), 0);
        fprintf(list, "%s\n", merge_path((int)i));
    }
    assert_int_equal(fflush(list), 0);
    rewind(list);
    return dup(fileno(list));
}

/* A row has the end of what a command prints, in whole lines. */
TEST(of_a_long_output_the_end_is_kept)
{
    static char given[PRINTED][9 * CLI_ROW_BYTES];
    char result[64];
    char *words[] = {"shard", "--asked", "make mutants", "--result", result,
                     "cat",   NULL};
    const int list = write_printed(given);
    struct captured said;
    struct cli_rows rows;

    snprintf(result, sizeof result, "%s", merge_path(PRINTED));
    assert_true(captured_run(&said, cli_list_shard, words, list, 60));
    merge_expect_exit(&said, 0);
    assert_true(cli_rows_read(&rows, result));
    for (uint32_t i = 0; i < PRINTED; i++) {
        const char *const kept = rows.rows[i].text;
        const size_t bytes = strlen(given[i]);
        const size_t length = strlen(kept);

        assert_in_range(length, CLI_ROW_BYTES - 2 - LINE, CLI_ROW_BYTES - 1);
        assert_string_equal(kept, &given[i][bytes - length]);
        assert_true(length == bytes || given[i][bytes - length - 1] == '\n');
        merge_expect(&said, true, "%s", kept);
        assert_int_equal(unlink(merge_path((int)i)), 0);
    }
    cli_rows_free(&rows);
    captured_free(&said);
    assert_int_equal(unlink(result), 0);
    close(list);
}

TEST(each_item_of_a_list_counts)
{
    merge_lists();
}

/* ---- Orderings ---- */

TEST(orderings_are_added_up)
{
    merge_orderings();
}

TEST(two_results_of_a_shard_that_differ_are_refused)
{
    merge_orderings_that_differ();
}

TEST(a_shard_learns_from_its_own_search_alone)
{
    merge_learned();
}

TEST(a_shard_counts_if_it_knows_what_all_know)
{
    merge_learners();
}

TEST(a_result_of_orderings_is_refused_at_its_wrong_line)
{
    merge_forged_orderings();
}

TEST(a_result_of_orderings_is_read_as_it_was_written)
{
    merge_written_orderings();
}

/* ---- Campaigns ---- */

TEST(campaigns_are_added_up)
{
    merge_campaigns();
}

TEST(two_files_of_a_shard_are_compared)
{
    merge_two_of_a_shard();
}

TEST(the_largest_of_three_files_counts)
{
    merge_three_of_a_shard();
}

TEST(the_first_failure_is_looked_at)
{
    merge_first_failure();
}

TEST(a_result_that_no_shard_writes_is_refused)
{
    merge_forged_campaigns();
}

TEST(shards_do_what_the_whole_campaign_does)
{
    merge_real_campaigns();
}

TEST(any_words_of_check_are_taken_or_refused)
{
    merge_check_words();
}

TEST(a_shard_has_its_own_seeds_left)
{
    merge_check_left();
}

TEST(a_search_says_what_was_tried_and_what_was_not)
{
    merge_search_ends();
}

TEST(the_parts_of_a_search_share_its_time)
{
    merge_parts();
}

TEST(a_command_is_cut_to_its_room)
{
    merge_short_commands();
}

/* ---- Other commands ---- */

TEST(each_command_helps_and_refuses_an_unknown_option)
{
    merge_helps();
    merge_live_audit();
}

TEST(a_refused_request_is_reported_and_leaves_no_half_file)
{
    merge_refused();
}

int
main(void)
{
    return tests_run(merge_make_folder, merge_remove_folder);
}
