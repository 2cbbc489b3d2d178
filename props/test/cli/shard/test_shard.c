/* test_shard.c -- which tasks belong to a shard; reading the result files of
 * shards, which may be forged. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit_test.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "complaint.h"
#include "line_reader.h"
#include "rows.h"
#include "shard_result.h"
#include "shard_variables.h"

TEST(a_shard_is_written_or_what_a_scheduler_says)
{
    shard_variables_said();
}

TEST(what_is_no_shard_is_refused)
{
    shard_variables_refused();
}

static char path[] = "/tmp/test_shard_XXXXXX";

static int
make_path(void **state)
{
    const int fd = mkstemp(path);

    (void)state;
    return fd < 0 || close(fd) != 0;
}

static int
remove_path(void **state)
{
    (void)state;
    return remove(path);
}

static void
fill(struct cli_shard_result *r)
{
    static char scenario[] = "profsim scenario 2\nbuckets 64\n";

    assert_true(cli_shard_result_begin(
        r, "check H2 --rules exact --seeds 5..99", (struct cli_shard){3, 7}));
    r->seed_step = 7;
    r->spent_ms = 61204;
    r->is_checked = true;
    r->checked = PROPS_BIT(PROPS_S1) | PROPS_BIT(PROPS_S2);
    r->cells[PROPS_S1] = 4096;
    r->parts[0] =
        (struct cli_part){.seed_first = 7,
                          .runs = 5,
                          .events = 77,
                          .hash = 0x0123456789abcdef,
                          .failure = {CLI_BROKEN, PROPS_H2, 42, scenario}};
    r->parts[0].cover.hits[0] = 3;
    r->parts[0].cover.hits[COVER_COUNT - 1] = UINT64_MAX;
    r->parts[1] =
        (struct cli_part){.failure = {CLI_CRASH, PROPS_NONE, 7, NULL}};
}

TEST(a_result_comes_back_as_it_was)
{
    static struct cli_shard_result r;
    static struct cli_shard_result back;

    fill(&r);
    assert_null(cli_shard_result_write(&r, path));
    assert_int_equal(cli_shard_result_read(&back, path), CLI_SHARD_READ);
    assert_string_equal(back.asked, r.asked);
    assert_string_equal(back.version, r.version);
    assert_string_equal(back.program, r.program);
    assert_memory_equal(&back.shard, &r.shard, sizeof r.shard);
    assert_int_equal(back.seed_step, 7);
    assert_int_equal(back.spent_ms, r.spent_ms);
    assert_true(back.is_checked);
    assert_int_equal(back.checked, r.checked);
    assert_memory_equal(back.cells, r.cells, sizeof r.cells);
    assert_int_equal(back.parts[0].seed_first, 7);
    assert_int_equal(back.parts[0].runs, 5);
    assert_int_equal(back.parts[0].events, 77);
    assert_int_equal(back.parts[0].hash, r.parts[0].hash);
    assert_memory_equal(&back.parts[0].cover, &r.parts[0].cover,
                        sizeof r.parts[0].cover);
    assert_int_equal(back.parts[0].failure.property, PROPS_H2);
    assert_int_equal(back.parts[0].failure.seed, 42);
    assert_string_equal(back.parts[0].failure.scenario,
                        r.parts[0].failure.scenario);
    assert_int_equal(back.parts[1].failure.exit_code, CLI_CRASH);
    assert_int_equal(back.parts[1].failure.property, PROPS_NONE);
    cli_shard_result_free(&back);
}

/* Write a text and, below it, its right checksum, as a forger would. \1 stands
 * for a zero byte. */
static void
write_forged(const char *text)
{
    const size_t count = strlen(text);
    FILE *file = fopen(path, "wb");
    char *bytes = strdup(text);

    assert_non_null(file);
    assert_non_null(bytes);
    for (size_t i = 0; i < count; i++)
        bytes[i] = bytes[i] != '\1' ? bytes[i] : '\0';
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    fprintf(file, "end %016" PRIx64 "\n", (uint64_t)XXH3_64bits(bytes, count));
    assert_int_equal(fclose(file), 0);
    free(bytes);
}

static bool
is_read(const char *text)
{
    static struct cli_shard_result r;

    write_forged(text);
    if (cli_shard_result_read(&r, path) != CLI_SHARD_READ)
        return false;
    cli_shard_result_free(&r);
    return true;
}

#define TOP   "profsim result 1\nversion 1\nprogram ab\nasked check\n"
#define HEAD  TOP "shard 1/7\nspent 5 ms\n"
#define PART  HEAD "part heaps\nseeds 1..8 step 7\nruns 2\n"
#define WHOLE PART "events 9\nhash 0123456789abcdef\n"

#define FAILED WHOLE "failure H2 seed 5 exit 2 scenario "

struct forged {
    const char *text;
    uint32_t line;
};

/* The same with what is said of it. */
struct told {
    struct forged forged;
    const char *what;
};

static const struct forged forged[] = {
    {"profsim result 2\n", 1},
    {"profsim result 1\nversion \n", 2},
    {"profsim result 1\nversion a\x1b[31m\n", 2},
    {"profsim result 1\nversion 0123456789012345678901234567890123\n", 2},
    {"profsim result 1\nversion 1\nasked check\n", 3},
    {"profsim result 1\nversion 1\nprogram ab\nasked $(id)\n", 4},
    {TOP "shard 8/7\n", 5},
    {TOP "shard 0/7\n", 5},
    {TOP "shard 1/65537\n", 5},
    {TOP "shard 1/7\nspent -5 ms\n", 6},
    {TOP "shard 0/0\nspent 5 ms\n", 5},
    {TOP "shard 1/7\nspent 5\n", 6},
    {TOP "shard 1/7\nspent 05 ms\n", 6},
    {TOP "shard 1/7\nspent 9223372036854775808 ms\n", 6},
    {TOP "shard 1/7\ntook 5 ms\n", 6},
    {HEAD "holds S1 cells 5\n", 7},
    {HEAD "enumerated\nholds none cells 5\n", 8},
    {HEAD "enumerated\nholds S1 cell 5\n", 8},
    {HEAD "enumerated\nholds S1 cells 05\n", 8},
    {HEAD "enumerated\nholds S1 cells 5 \n", 8},
    {HEAD "enumerated\nholds S1234567890123456 cells 5\n", 8},
    {HEAD "enumerated\nfailure S1 seed 0 exit 2 scenario 1\n", 8},
    {HEAD "part heaps\nseeds 1..08 step 7\n", 8},
    {HEAD "part heaps\nseeds 1..8 step 07\n", 8},
    {HEAD "part heaps\nseeds 1..8 step 7 \n", 8},
    {HEAD "part heaps\nseeds 1..8 step 65537\n", 8},
    {HEAD "part heaps\nseeds 1-8 step 7\n", 8},
    {HEAD "part heaps\nseeds 1..8 of 7\n", 8},
    {HEAD "part heaps\nseeds "
          "18446744073709551615..18446744073709551615 step 1\n",
     8},
    {HEAD "part heaps\nseeds 1..8 step 7\nruns 02\n", 9},
    {HEAD "part heaps\nseeds 1..8 step 7\nmore 2\n", 9},
    {PART "events 09\n", 10},
    {PART "events 9\nhash 0123456789abcdef0\n", 11},
    {WHOLE "goal SHORT_BUFFER 01\n", 12},
    {WHOLE "failure H2 seed 05 exit 2 scenario 0\n", 12},
    {WHOLE "failure H2 seed 5 exit 02 scenario 0\n", 12},
    {WHOLE "failure H2 seed 5 exit 2 scenario 00\n", 12},
    {WHOLE "failure H2 seed 5 exit 2 scenario 0 \n", 12},
    {WHOLE "failure H2 seed 5 exit 1 scenario 0\n", 12},
    {WHOLE "failure H2 at 5 exit 2 scenario 0\n", 12},
    {WHOLE "failure H2 seed 5 with 2 scenario 0\n", 12},
    {WHOLE "failure H2 seed 5 exit 2 text 0\n", 12},
    {HEAD "enumerated\nholds S9 cells 5\n", 8},
    {HEAD "part both\n", 7},
    {HEAD "part heaps\n", 8},
    {HEAD "part traces\npart heaps\n", 8},
    {HEAD "part heaps\nseeds 8..1 step 7\n", 8},
    {HEAD "part heaps\nseeds 1..9 step 7\n", 8},
    {HEAD "part heaps\nseeds 1..8 step 0\n", 8},
    {HEAD "part heaps\nseeds 01..8 step 7\n", 8},
    {HEAD "part heaps\nseeds 1..18446744073709551615 step 1\n", 8},
    {HEAD "part heaps\nseeds 1..99999999999999999999 step 1\n", 8},
    {HEAD "part heaps\nseeds 1..8 step 7\nruns 3\n", 9},
    {PART "events x\n", 10},
    {PART "events 9 \n", 10},
    {PART "events 9\nhash 123\n", 11},
    {PART "events 9\nhash 0123456789ABCDEF\n", 11},
    {WHOLE "goal NOTHING 1\n", 12},
    {WHOLE "goal SHORT_BUFFER 1\ngoal SHORT_BUFFER 1\n", 13},
    {WHOLE "goal SHORT_BUFFER 1 \n", 12},
    {WHOLE "failure H2 seed 5 exit 0 scenario 0\n", 12},
    {WHOLE "failure H2 seed 5 exit 6 scenario 0\n", 12},
    {WHOLE "failure HH seed 5 exit 2 scenario 0\n", 12},
    {WHOLE "failure H2 seed 5 exit 2 scenario 60000\nx\n", 12},
    {WHOLE "failure H2 seed 5 exit 2 scenario 2\nabc\n", 12},
    {WHOLE "part traces\nseeds 1..6 step 5\n", 13},
    {WHOLE "more\n", 12},
    {FAILED "3\n\na\nmore\n", 15},
    {FAILED "2\na\n\n", 14},
    {TOP "shard 01/7\n", 5},
    {TOP "shard 1/07\n", 5},
    {TOP "shard 1/7 \n", 5},
    {TOP "shard 1-7\n", 5},
    {TOP "part 1/7\n", 5},
    {TOP "end 0123456789abcdef\n", 5},
    {HEAD "end 0123456789abcdef\n", 7},
    {HEAD "end 0123456789abcdeg\n", 7},
};

static const struct told told[] = {
    {{TOP "shard 1/7\nspent 5 ms\1\n", 6}, "a zero byte"},
    {{FAILED "3\na\1\n", 12}, "the text is not as long as this says"},
    {{FAILED "21\n", 14},
     "the file ends too soon"}, /* the last line is taken */
    {{FAILED "65536\n", 12}, "not a valid failure"},
    {{FAILED "65535\n", 12}, "the text is not as long as this says"},
};

/* Right files, at their limits. */
static const char *const right[] = {
    HEAD,
    WHOLE,
    TOP "shard 1/7\nspent 9223372036854775807 ms\n",
    HEAD "part heaps\nseeds "
         "18446744073709551614..18446744073709551614 step 1\nruns 1\n"
         "events 18446744073709551615\nhash 0123456789abcdef\n",
    HEAD "part heaps\nseeds 1..65537 step 65536\nruns 2\nevents 9\n"
         "hash 0123456789abcdef\n",
    HEAD "enumerated\nholds S1 cells 18446744073709551615\n",
    WHOLE "failure none seed 18446744073709551615 exit 5 scenario 0\n",
};

/* Complaints go to a file, to be counted. */
static FILE *complaints;
static int errors; /* standard error meanwhile */

static void
keep_complaints(void)
{
    complaints = tmpfile();
    errors = dup(STDERR_FILENO);
    assert_non_null(complaints);
    assert_true(dup2(fileno(complaints), STDERR_FILENO) >= 0);
}

static void
expect_complaints(uint32_t count)
{
    uint32_t lines = 0;

    assert_true(dup2(errors, STDERR_FILENO) >= 0);
    assert_int_equal(close(errors), 0);
    rewind(complaints);
    for (int sign; (sign = getc(complaints)) != EOF;)
        lines += sign == '\n';
    assert_int_equal(fclose(complaints), 0);
    assert_int_equal(lines, count);
}

/* Check that a file is refused with one complaint, about its wrong line. */
static void
expect_refused(bool (*read)(const char *text), const struct forged *wrong,
               const char *what)
{
    char place[64];

    keep_complaints();
    assert_false(read(wrong->text));
    expect_complaints(1);
    snprintf(place, sizeof place, "%s:%" PRIu32 ": ", path, wrong->line);
    if (strncmp(cli_complaint_last(), place, strlen(place)) != 0 ||
        strstr(cli_complaint_last(), what) == NULL)
        fail_msg("%s: not at %s%s but: %s", wrong->text, place, what,
                 cli_complaint_last());
}

TEST(a_forged_line_is_refused_with_its_place)
{
    keep_complaints();
    for (size_t i = 0; i < sizeof right / sizeof *right; i++)
        assert_true(is_read(right[i]));
    expect_complaints(0);
    for (size_t i = 0; i < sizeof forged / sizeof *forged; i++)
        expect_refused(is_read, &forged[i], "");
    for (size_t i = 0; i < sizeof told / sizeof *told; i++)
        expect_refused(is_read, &told[i].forged, told[i].what);
}

#define ROWS                                                       \
    CLI_ROWS_FIRST "\nversion 1\nprogram ab\nasked make mutants\n" \
                   "shard 2/3\nspent 5\n"
#define LIST ROWS "list 0123456789abcdef\nitems 9\n"
#define ROW  LIST "row 4 exit 2 bytes 2\na\n"

#define MOST_ROWS                                                             \
    CLI_ROWS_FIRST "\nversion 1\nprogram ab\nasked make mutants\nshard 2/3\n" \
                   "spent 5\nlist 0123456789abcdef\nitems 65536\n"            \
                   "row 65533 exit 5 bytes 1\n\n"

static const struct forged forged_rows[] = {
    {"profsim result 1\n", 1},
    {ROWS "list 0123\n", 7},
    {ROWS "list 0123456789abcdef\nitems 65537\n", 8},
    {LIST "row 0 exit 0 bytes 2\na\n", 9},
    {LIST "row 2 exit 0 bytes 2\na\n", 9},
    {LIST "row 10 exit 0 bytes 2\na\n", 9},
    {LIST "row 1 exit 1 bytes 2\na\n", 9},
    {LIST "row 1 exit 7 bytes 2\na\n", 9},
    {LIST "row 01 exit 0 bytes 2\na\n", 9},
    {LIST "row 1 exit 00 bytes 2\na\n", 9},
    {LIST "row 1 exit 0 bytes 02\na\n", 9},
    {LIST "row 1 exit 0 bytes 2 \na\n", 9},
    {LIST "row 1 ends 0 bytes 2\na\n", 9},
    {LIST "row 1 exit 0 words 2\na\n", 9},
    {ROWS "list 0123456789abcdef\nitems 09\n", 8},
    {ROWS "list 0123456789abcdef\nthings 9\n", 8},
    {CLI_ROWS_FIRST "\nversion 1\nprogram ab\nasked make mutants\n"
                    "shard 0/0\nspent 5\nlist 0123456789abcdef\nitems 9\n",
     8},
    {LIST "row 1 exit 0 bytes 200\na\n", 9},
    {LIST "row 1 exit 0 bytes 1\na\n", 9},
    {ROW "row 4 exit 2 bytes 2\na\n", 11},
    {ROW "row 1 exit 2 bytes 2\na\n", 11},
    {ROW "more\n", 11},
};

static const struct told told_rows[] = {
    {{LIST "row 1 exit 0 bytes 2048\na\n", 9}, "not a row"},
    {{LIST "row 1 exit 0 bytes 2047\na\n", 9},
     "the text is not as long as this says"},
    {{LIST "row 65537 exit 0 bytes 2\na\n", 9}, "not a row"},
    {{LIST "row 65536 exit 0 bytes 2\na\n", 9}, "not its shard's"},
};

static bool
has_rows(const char *text)
{
    struct cli_rows rows;

    write_forged(text);
    return cli_rows_read(&rows, path);
}

TEST(a_forged_row_is_refused_with_its_place)
{
    struct cli_rows rows;

    write_forged(ROW);
    assert_true(cli_rows_read(&rows, path));
    assert_int_equal(rows.count, 9);
    assert_int_equal(rows.rows[4].exit_code, CLI_BROKEN);
    assert_string_equal(rows.rows[4].text, "a\n");
    assert_null(rows.rows[1].text);
    cli_rows_free(&rows);
    write_forged(MOST_ROWS);
    assert_true(cli_rows_read(&rows, path));
    assert_int_equal(rows.count, CLI_ROWS_MAX);
    assert_int_equal(rows.rows[65533].exit_code, CLI_NONDETERMINISM);
    assert_string_equal(rows.rows[65533].text, "\n");
    cli_rows_free(&rows);
    for (size_t i = 0; i < sizeof forged_rows / sizeof *forged_rows; i++)
        expect_refused(has_rows, &forged_rows[i], "");
    for (size_t i = 0; i < sizeof told_rows / sizeof *told_rows; i++)
        expect_refused(has_rows, &told_rows[i].forged, told_rows[i].what);
}

/* What is said of a result of which only the first bytes are left. */
static const char *
cut_at(const char *bytes, size_t count)
{
    if (count < strlen("profsim result"))
        return "it is not the result of a shard";
    return bytes[count - 1] == '\n' ? "the file ends too soon"
                                    : "the line is cut";
}

/* Change any byte, or end the file anywhere. */
TEST(a_damaged_result_is_refused)
{
    static struct cli_shard_result r;
    static char bytes[1 << 14];
    FILE *file;
    size_t count;

    fill(&r);
    assert_null(cli_shard_result_write(&r, path));
    file = fopen(path, "rb");
    assert_non_null(file);
    count = fread(bytes, 1, sizeof bytes, file);
    assert_int_equal(fclose(file), 0);
    assert_in_range(count, 100, sizeof bytes - 1);
    for (size_t at = 0; at < 2 * count; at++) {
        const bool cut = at >= count;

        bytes[at % count] ^= cut ? 0 : 1 << at % 8;
        file = fopen(path, "wb");
        assert_non_null(file);
        fwrite(bytes, 1, cut ? at - count : count, file);
        assert_int_equal(fclose(file), 0);
        keep_complaints();
        assert_int_equal(cli_shard_result_read(&r, path), CLI_SHARD_WRONG);
        expect_complaints(1);
        if (cut && strstr(cli_complaint_last(), "not as long") == NULL)
            assert_non_null(
                strstr(cli_complaint_last(), cut_at(bytes, at - count)));
        bytes[at % count] ^= cut ? 0 : 1 << at % 8;
    }
}

/* The first line of a file, of which 7 bytes have room. */
TEST(the_first_line_is_cut_to_its_room)
{
    static const char *const texts[][2] = {{"", ""},
                                           {"ab", "ab"},
                                           {"ab\ncd\n", "ab"},
                                           {"1234567\n89\n", "1234567"},
                                           {"12345678\n", "1234567"}};
    char first[9];

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        FILE *file = fopen(path, "wb");

        assert_non_null(file);
        fputs(texts[i][0], file);
        assert_int_equal(fclose(file), 0);
        strcpy(first, "????????");
        assert_true(cli_reader_first(path, first, 8));
        assert_string_equal(first, texts[i][1]);
    }
    assert_false(cli_reader_first("/nowhere/x", first, 8));
    assert_string_equal(cli_complaint_last(),
                        "/nowhere/x: No such file or directory");
}

TEST(only_a_regular_file_is_read)
{
    static struct cli_shard_result r;
    char link[sizeof path + 8];

    assert_true(is_read(WHOLE));
    snprintf(link, sizeof link, "%s.link", path);
    assert_int_equal(cli_shard_result_read(&r, link), CLI_SHARD_NONE);
    assert_int_equal(symlink(path, link), 0);
    assert_int_equal(cli_shard_result_read(&r, link), CLI_SHARD_WRONG);
    assert_int_equal(remove(link), 0);
    assert_int_equal(cli_shard_result_read(&r, "/dev/zero"), CLI_SHARD_WRONG);
}

TEST(parts_of_other_campaigns_do_not_fit)
{
    static struct cli_shard_result a;
    static struct cli_shard_result b;
    char *const texts[] = {&b.version[0], &b.program[31], &b.asked[7]};

    fill(&a);
    fill(&b);
    b.shard.index = 5;
    assert_true(cli_shard_result_fits(&a, &b, "there"));
    b.shard.count = 8;
    assert_false(cli_shard_result_fits(&a, &b, "there"));
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        fill(&b);
        *texts[i] ^= 1;
        assert_false(cli_shard_result_fits(&a, &b, "there"));
    }
    assert_non_null(strstr(cli_complaint_last(), "there: "));
}

int
main(void)
{
    return tests_run(make_path, remove_path);
}
