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
#include "rows.h"
#include "shard_result.h"

/* ---- Which shard ---- */

static const char *const variables[] = {
    "SLURM_ARRAY_TASK_ID",   "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MIN",
    "SLURM_ARRAY_TASK_STEP", "JOB_COMPLETION_INDEX",   "PARALLEL_SEQ",
    "CI_NODE_INDEX",         "CI_NODE_TOTAL"};

/* Set the environment, and check which shard it means. in: set, names and
 * values in turn, NULL at the end */
static void
expect_shard(const char *text, const char *const *set, uint32_t index,
             uint32_t count)
{
    struct cli_shard shard = {0, 0};

    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        unsetenv(variables[i]);
    for (; set != NULL && *set != NULL; set += 2)
        setenv(set[0], set[1], 1);
    assert_int_equal(cli_shard_parse(&shard, text), index != 0);
    assert_int_equal(shard.index, index);
    assert_int_equal(shard.count, count);
}

#define SET(...) ((const char *const[]){__VA_ARGS__, NULL})

TEST(a_shard_is_written_or_what_a_scheduler_says)
{
    expect_shard("3/7", NULL, 3, 7);
    expect_shard("7/7", NULL, 7, 7);
    expect_shard("auto",
                 SET("SLURM_ARRAY_TASK_ID", "1", "SLURM_ARRAY_TASK_COUNT", "7",
                     "SLURM_ARRAY_TASK_MIN", "1"),
                 1, 7);
    expect_shard("auto",
                 SET("SLURM_ARRAY_TASK_ID", "0", "SLURM_ARRAY_TASK_COUNT", "7",
                     "SLURM_ARRAY_TASK_MIN", "0"),
                 1, 7);
    expect_shard("auto",
                 SET("SLURM_ARRAY_TASK_ID", "14", "SLURM_ARRAY_TASK_COUNT", "3",
                     "SLURM_ARRAY_TASK_MIN", "10", "SLURM_ARRAY_TASK_STEP",
                     "2"),
                 3, 3);
    /* A part of an array is run again: its tasks keep their numbers. */
    expect_shard("auto/7",
                 SET("SLURM_ARRAY_TASK_ID", "5", "SLURM_ARRAY_TASK_COUNT", "2",
                     "SLURM_ARRAY_TASK_MIN", "3"),
                 5, 7);
    expect_shard("auto/7", SET("JOB_COMPLETION_INDEX", "0"), 1, 7);
    expect_shard("auto/7", SET("JOB_COMPLETION_INDEX", "6"), 7, 7);
    expect_shard("auto/7", SET("PARALLEL_SEQ", "7"), 7, 7);
    expect_shard("auto", SET("CI_NODE_INDEX", "2", "CI_NODE_TOTAL", "4"), 2, 4);
    expect_shard("auto", SET("CI_NODE_INDEX", "1", "CI_NODE_TOTAL", "1"), 1, 1);
    /* The largest array that is allowed. */
    expect_shard("auto",
                 SET("CI_NODE_INDEX", "65536", "CI_NODE_TOTAL", "65536"), 65536,
                 65536);
    expect_shard("auto",
                 SET("SLURM_ARRAY_TASK_ID", "4294967295",
                     "SLURM_ARRAY_TASK_COUNT", "2", "SLURM_ARRAY_TASK_MIN",
                     "4294967294"),
                 2, 2);
    expect_shard("auto",
                 SET("SLURM_ARRAY_TASK_ID", "4294967296",
                     "SLURM_ARRAY_TASK_COUNT", "2", "SLURM_ARRAY_TASK_MIN",
                     "4294967295"),
                 0, 0);
}

TEST(what_is_no_shard_is_refused)
{
    static const char *const words[] = {
        "",     "3",       "/",      "0/7",
        "8/7",  "3/0",     "3/7x",   "x/7",
        "-1/7", "3/65537", "3/7/7",  "auto/",
        "auto", "Auto",    "auto/7", "99999999999999999999/7"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        expect_shard(words[i], NULL, 0, 0);
    /* Task counts of a scheduler that are too large, also 2^32 + 2. */
    expect_shard("auto", SET("CI_NODE_INDEX", "1", "CI_NODE_TOTAL", "65537"), 0,
                 0);
    expect_shard(
        "auto", SET("CI_NODE_INDEX", "1", "CI_NODE_TOTAL", "4294967298"), 0, 0);
    expect_shard(
        "auto", SET("CI_NODE_INDEX", "4294967297", "CI_NODE_TOTAL", "7"), 0, 0);
    expect_shard("auto", SET("JOB_COMPLETION_INDEX", "3"), 0, 0);
    expect_shard("auto", SET("PARALLEL_SEQ", "3"), 0, 0);
    assert_non_null(strstr(cli_complaint_last(), "; write auto/N"));
    expect_shard("auto", SET("CI_NODE_INDEX", "1", "CI_NODE_TOTAL", "0"), 0, 0);
    assert_non_null(strstr(cli_complaint_last(), "; write auto/N"));
    expect_shard("auto/7", SET("PARALLEL_SEQ", "0"), 0, 0);
    expect_shard("auto/7", SET("PARALLEL_SEQ", "8"), 0, 0);
    expect_shard("auto/7", SET("JOB_COMPLETION_INDEX", "7"), 0, 0);
    expect_shard("auto/7", SET("SLURM_ARRAY_TASK_ID", "0"), 0, 0);
    expect_shard("auto", SET("CI_NODE_INDEX", "two", "CI_NODE_TOTAL", "4"), 0,
                 0);
    /* If numbers are missing, a task's number does not say which shard it
     * is. */
    expect_shard("auto",
                 SET("SLURM_ARRAY_TASK_ID", "9", "SLURM_ARRAY_TASK_COUNT", "3",
                     "SLURM_ARRAY_TASK_MIN", "1"),
                 0, 0);
    expect_shard("auto",
                 SET("SLURM_ARRAY_TASK_ID", "11", "SLURM_ARRAY_TASK_COUNT", "3",
                     "SLURM_ARRAY_TASK_MIN", "10", "SLURM_ARRAY_TASK_STEP",
                     "2"),
                 0, 0);
    expect_shard(
        "auto",
        SET("PARALLEL_SEQ", "1", "CI_NODE_INDEX", "1", "CI_NODE_TOTAL", "4"), 0,
        0);
    assert_non_null(strstr(cli_complaint_last(), "both"));
}

/* ---- Files ---- */

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

/* Write a text and, below it, its right checksum, as a forger would. */
static void
write_forged(const char *text)
{
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    fprintf(file, "%send %016" PRIx64 "\n", text,
            (uint64_t)XXH3_64bits(text, strlen(text)));
    assert_int_equal(fclose(file), 0);
}

static enum cli_shard_read
read_forged(const char *text)
{
    static struct cli_shard_result r;
    enum cli_shard_read read;

    write_forged(text);
    read = cli_shard_result_read(&r, path);
    if (read == CLI_SHARD_READ)
        cli_shard_result_free(&r);
    return read;
}

#define HEAD                                                            \
    "profsim result 1\nversion 1\nprogram ab\nasked check\nshard 1/7\n" \
    "spent 5 ms\n"
#define PART  HEAD "part heaps\nseeds 1..8 step 7\nruns 2\n"
#define WHOLE PART "events 9\nhash 0123456789abcdef\n"

struct forged {
    const char *text;
    uint32_t line;
};

static const struct forged forged[] = {
    {"profsim result 2\n", 1},
    {"profsim result 1\nversion \n", 2},
    {"profsim result 1\nversion a\x1b[31m\n", 2},
    {"profsim result 1\nversion 0123456789012345678901234567890123\n", 2},
    {"profsim result 1\nversion 1\nasked check\n", 3},
    {"profsim result 1\nversion 1\nprogram ab\nasked $(id)\n", 4},
    {"profsim result 1\nversion 1\nprogram ab\nasked check\nshard 8/7\n", 5},
    {"profsim result 1\nversion 1\nprogram ab\nasked check\nshard 0/7\n", 5},
    {"profsim result 1\nversion 1\nprogram ab\nasked check\nshard "
     "1/65537\n",
     5},
    {"profsim result 1\nversion 1\nprogram ab\nasked check\nshard 1/7\n"
     "spent -5 ms\n",
     6},
    {HEAD "holds S1 cells 5\n", 7},
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
    {PART "events 9\nhash 123\n", 11},
    {PART "events 9\nhash 0123456789ABCDEF\n", 11},
    {WHOLE "goal NOTHING 1\n", 12},
    {WHOLE "goal SHORT_BUFFER 1\ngoal SHORT_BUFFER 1\n", 13},
    {WHOLE "goal SHORT_BUFFER 1 \n", 12},
    {WHOLE "failure H2 seed 5 exit 0 scenario 0\n", 12},
    {WHOLE "failure H2 seed 5 exit 6 scenario 0\n", 12},
    {WHOLE "failure HH seed 5 exit 2 scenario 0\n", 12},
    {WHOLE "failure H2 seed 5 exit 2 scenario 65536\n", 12},
    {WHOLE "failure H2 seed 5 exit 2 scenario 60000\nx\n", 12},
    {WHOLE "failure H2 seed 5 exit 2 scenario 2\nabc\n", 12},
    {WHOLE "part traces\nseeds 1..6 step 5\n", 13},
    {WHOLE "more\n", 12},
};

static void
expect_complaint(const struct forged *wrong)
{
    char place[64];

    snprintf(place, sizeof place, "%s:%" PRIu32 ": ", path, wrong->line);
    if (strncmp(cli_complaint_last(), place, strlen(place)) != 0)
        fail_msg("%s: not at %s but: %s", wrong->text, place,
                 cli_complaint_last());
}

TEST(a_forged_line_is_refused_with_its_place)
{
    assert_int_equal(read_forged(HEAD), CLI_SHARD_READ);
    assert_int_equal(read_forged(WHOLE), CLI_SHARD_READ);
    for (size_t i = 0; i < sizeof forged / sizeof *forged; i++) {
        assert_int_equal(read_forged(forged[i].text), CLI_SHARD_WRONG);
        expect_complaint(&forged[i]);
    }
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
    {LIST "row 1 exit 0 bytes 2048\na\n", 9},
    {LIST "row 1 exit 0 bytes 200\na\n", 9},
    {LIST "row 1 exit 0 bytes 1\na\n", 9},
    {ROW "row 4 exit 2 bytes 2\na\n", 11},
    {ROW "row 1 exit 2 bytes 2\na\n", 11},
    {ROW "more\n", 11},
};

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
    for (size_t i = 0; i < sizeof forged_rows / sizeof *forged_rows; i++) {
        write_forged(forged_rows[i].text);
        assert_false(cli_rows_read(&rows, path));
        expect_complaint(&forged_rows[i]);
    }
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
        assert_int_equal(cli_shard_result_read(&r, path), CLI_SHARD_WRONG);
        bytes[at % count] ^= cut ? 0 : 1 << at % 8;
    }
}

TEST(only_a_regular_file_is_read)
{
    static struct cli_shard_result r;
    char link[sizeof path + 8];

    assert_int_equal(read_forged(WHOLE), CLI_SHARD_READ);
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

    fill(&a);
    fill(&b);
    b.shard.index = 5;
    assert_true(cli_shard_result_fits(&a, &b, "there"));
    b.shard.count = 8;
    assert_false(cli_shard_result_fits(&a, &b, "there"));
    fill(&b);
    b.version[0] ^= 1;
    assert_false(cli_shard_result_fits(&a, &b, "there"));
    fill(&b);
    b.program[31] ^= 1;
    assert_false(cli_shard_result_fits(&a, &b, "there"));
    fill(&b);
    b.asked[7] ^= 1;
    assert_false(cli_shard_result_fits(&a, &b, "there"));
    assert_non_null(strstr(cli_complaint_last(), "there: "));
}

int
main(void)
{
    return tests_run(make_path, remove_path);
}
