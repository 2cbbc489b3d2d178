/*
 * forged_orderings.c -- tests of test_merge.c: how a result of orderings is
 * written and read. Anybody may have written it, so each line that is not the
 * one that belongs there is refused, with its number.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "complaint.h"
#include "explore_result.h"
#include "merge_case.h"
#include "unit_test.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

/* A right result, line by line; the line with its sum comes after them. */
static const char *const right[] = {"profsim result 1 explore",
                                    "version 1.2",
                                    "program p",
                                    "asked explore mine",
                                    "shard 2/3",
                                    "spent 5",
                                    "depth 3",
                                    "loops 3",
                                    "loop 0000000000000001",
                                    "loop 0000000100000000",
                                    "loop ffffffffffffffff",
                                    "runs 11",
                                    "graphs 7",
                                    "hash 8000000000000001",
                                    "bounded 0",
                                    "exit 2",
                                    "choices g0,1,2"};

enum { LINES = sizeof right / sizeof *right, LOOPS_AT = 8, TEXT_MAX = 1 << 17 };

static char forged[TEXT_MAX];

/* Write these lines and their sum. in: damage, xored to the byte at `where`
 * after the sum is made; bytes, how many are written at most */
static void
write_forged(const char *const *lines, int count, size_t where, char damage,
             size_t bytes)
{
    FILE *file = fopen(merge_path(0), "w");
    size_t used = 0;

    assert_non_null(file);
    for (int i = 0; i < count; i++)
        used +=
            (size_t)snprintf(&forged[used], TEXT_MAX - used, "%s\n", lines[i]);
    used +=
        (size_t)snprintf(&forged[used], TEXT_MAX - used, "end %016" PRIx64 "\n",
                         (uint64_t)XXH3_64bits(forged, used));
    assert_in_range(used, 1, TEXT_MAX - 1);
    forged[where] = (char)(forged[where] ^ damage);
    fwrite(forged, 1, bytes < used ? bytes : used, file);
    assert_int_equal(fclose(file), 0);
}

/* Check that the file is refused at a line (from 1), or is taken: 0. */
static void
expect_read_at(int line, struct cli_explored *e)
{
    const bool taken = cli_explored_read(e, merge_path(0));
    char begins[300];

    if (taken != (line == 0))
        fail_msg("%s:\n%.1000s", taken ? "is taken" : "is refused", forged);
    if (taken)
        return;
    assert_null(e->choices);
    snprintf(begins, sizeof begins, "%s:%d: ", merge_path(0), line);
    if (strncmp(cli_complaint_last(), begins, strlen(begins)) != 0)
        fail_msg("'%s' does not begin with '%s'", cli_complaint_last(), begins);
}

/* Put another text into the place of a line, NULL: nothing. */
static void
expect_line(int line, const char *text, int refused_at)
{
    struct cli_explored e;
    const char *lines[LINES];
    int count = 0;

    for (int i = 0; i < LINES; i++) {
        if (i + 1 != line || text != NULL)
            lines[count++] = i + 1 == line ? text : right[i];
    }
    write_forged(lines, count, 0, 0, TEXT_MAX);
    expect_read_at(refused_at, &e);
    if (refused_at == 0)
        cli_explored_free(&e);
}

/* Each line is there once, in its place. */
static void
expect_order(void)
{
    struct cli_explored e;
    const char *lines[LINES + 1];

    for (int k = 1; k < LINES; k++) {
        const bool is_loop = k >= LOOPS_AT && k < LOOPS_AT + 3;

        expect_line(k + 1, NULL,
                    k + 1 == LINES ? 0
                    : is_loop      ? LOOPS_AT + 3
                                   : k + 1);
        memcpy(lines, right, sizeof right);
        memcpy(&lines[k + 1], &right[k], (LINES - (size_t)k) * sizeof *right);
        write_forged(lines, LINES + 1, 0, 0, TEXT_MAX);
        expect_read_at(k + 2, &e);
        memcpy(lines, right, sizeof right);
        lines[k - 1] = right[k];
        lines[k] = right[k - 1];
        write_forged(lines, LINES, 0, 0, TEXT_MAX);
        if (k > 1)
            expect_read_at(is_loop && k > LOOPS_AT ? k + 1 : k, &e);
    }
}

/* Numbers in the forms that are taken, and in others. */
static void
expect_numbers(void)
{
    static const int decimal[] = {6, 7, 12, 13, 15};
    static const struct {
        const char *text;
        bool is_right;
    } forms[] = {{"0", true},
                 {"4294967296", true},
                 {"18446744073709551615", true},
                 {"18446744073709551616", false},
                 {"", false},
                 {"00", false},
                 {"07", false},
                 {"-1", false},
                 {"+1", false},
                 {" 1", false},
                 {"1 ", false},
                 {"0x1", false},
                 {"a", false}};
    char line[64];

    for (size_t i = 0; i < sizeof decimal / sizeof *decimal; i++) {
        const char *const was = right[decimal[i] - 1];

        for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
            snprintf(line, sizeof line, "%.*s%s", (int)strcspn(was, " ") + 1,
                     was, forms[f].text);
            expect_line(decimal[i], line, forms[f].is_right ? 0 : decimal[i]);
        }
    }
}

/* Other lines, and where each is refused: 0, nowhere. */
static void
expect_words(void)
{
    static const struct {
        const char *text;
        int line;
        int refused_at;
    } rows[] = {{"profsim result 1 rows", 1, 1},
                {"profsim result 1 explore ", 1, 1},
                {"version 0123456789012345678901234567890", 2, 0},
                {"version 01234567890123456789012345678901", 2, 2},
                {"version ", 2, 2},
                {"version a\tb", 2, 2},
                {"program 0123456789abcdef0123456789abcdef", 3, 0},
                {"program 0123456789abcdef0123456789abcdefg", 3, 3},
                {"asked a$b", 4, 4},
                {"asked a;b", 4, 4},
                {"asked aZ09_+=:,./- ", 4, 0},
                {"shard 3/3", 5, 0},
                {"shard 4/3", 5, 5},
                {"shard 0/0", 5, 0},
                {"shard 0/3", 5, 5},
                {"shard 1/0", 5, 5},
                {"shard 1/65536", 5, 0},
                {"shard 1/65537", 5, 5},
                {"shard 1/3 ", 5, 5},
                {"loops 2", 8, 11},
                {"loops 4", 8, 12},
                {"loops 257", 8, 8},
                {"loops 256", 8, 12},
                {"loop 0000000100000000", 9, 10},
                {"loop 0000000000000000", 9, 0},
                {"loop 0000000000000000", 10, 10},
                {"loop 0000000000000001", 10, 10},
                {"loop 00000001000000000", 10, 10},
                {"loop 000000010000000", 10, 10},
                {"loop 00000001000000AB", 10, 10},
                {"loop 0000000100000000", 11, 11},
                {"loop 0000000100000001", 11, 0},
                {"hash 800000000000000g", 14, 14},
                {"hash 80000000000000", 14, 14},
                {"exit 0", 16, 17},
                {"exit 1", 16, 16},
                {"exit 3", 16, 0},
                {"exit 4", 16, 0},
                {"exit 5", 16, 0},
                {"exit 6", 16, 16},
                {"choices ", 17, 0},
                {"choices 0123456789,g", 17, 0},
                {"choices 0,1;2", 17, 17},
                {"choices 0,-1", 17, 17},
                {"choices 0,1 ", 17, 17},
                {"choice 0,1", 17, 17}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        expect_line(rows[i].line, rows[i].text, rows[i].refused_at);
}

/* A file is whole: no beginning of it is taken, and no changed byte. */
static void
expect_whole(void)
{
    struct cli_explored e;
    size_t bytes;

    write_forged(right, LINES, 0, 0, TEXT_MAX);
    expect_read_at(0, &e);
    assert_int_equal(e.shard.index, 2);
    assert_int_equal(e.shard.count, 3);
    assert_string_equal(e.choices, "g0,1,2");
    cli_explored_free(&e);
    for (int lines = 0; lines < LINES - 1; lines++) { /* and a good last line */
        write_forged(right, lines, 0, 0, TEXT_MAX);
        assert_false(cli_explored_read(&e, merge_path(0)));
    }
    write_forged(right, LINES, 0, 0, TEXT_MAX);
    bytes = strlen(forged);
    for (size_t i = 0; i < bytes; i++) {
        write_forged(right, LINES, 0, 0, i);
        assert_false(cli_explored_read(&e, merge_path(0)));
        write_forged(right, LINES, i, 1, TEXT_MAX);
        assert_false(cli_explored_read(&e, merge_path(0)));
    }
}

void
merge_forged_orderings(void)
{
    expect_whole();
    expect_order();
    expect_numbers();
    expect_words();
    assert_int_equal(unlink(merge_path(0)), 0);
}

/* A result is read as it was written. */
void
merge_written_orderings(void)
{
    static const int codes[] = {0, 2, 3, 4, 5};
    static char choices[CLI_EXPLORED_LIST];

    for (uint64_t seed = 1; seed <= 40; seed++) {
        static const uint64_t counts[] = {0, 1, 2, SIM_LOOPS_MAX};
        static struct cli_explored e;
        static struct cli_explored found;
        uint64_t *const numbers[] = {&e.spent_ms, &e.depth,      &e.runs,
                                     &e.graphs,   &e.graphs_sum, &e.bounded};

        merge_seed(seed);
        memset(&e, 0, sizeof e);
        snprintf(e.version, sizeof e.version, "%" PRIu32, merge_below(99));
        snprintf(e.program, sizeof e.program, "p%" PRIu32, merge_below(99));
        snprintf(e.asked, sizeof e.asked, "explore %" PRIu32, merge_below(99));
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
            *numbers[i] = (uint64_t)merge_below(1u << 31) << merge_below(34);
        e.shard.count = 1 + merge_below(5);
        e.shard.index = 1 + merge_below(e.shard.count);
        e.loops_count = counts[merge_below(4)];
        for (uint64_t i = 0; i < e.loops_count; i++)
            e.loops[i] = (i << 40) + merge_below(1000);
        e.exit_code = (enum cli_exit)codes[merge_below(5)];
        memset(choices, '1', sizeof choices - 1);
        choices[merge_below(3) == 0 ? sizeof choices - 1 : merge_below(9)] =
            '\0';
        e.choices = e.exit_code != 0 && merge_below(3) > 0 ? choices : NULL;
        assert_null(cli_explored_write(&e, merge_path(0)));
        assert_true(cli_explored_read(&found, merge_path(0)));
        assert_int_equal(found.choices != NULL, e.choices != NULL);
        if (e.choices != NULL)
            assert_string_equal(found.choices, e.choices);
        cli_explored_free(&found);
        e.choices = NULL;
        assert_memory_equal(&found, &e, sizeof e);
        assert_int_equal(unlink(merge_path(0)), 0);
    }
}
