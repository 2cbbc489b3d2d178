/* shard_variables.c -- see shard_variables.h. */
#include "shard_variables.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "unit_test.h"

#include "complaint.h"
#include "shard.h"

static const char *const variables[] = {
    "SLURM_ARRAY_TASK_ID",   "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MIN",
    "SLURM_ARRAY_TASK_STEP", "JOB_COMPLETION_INDEX",   "PARALLEL_SEQ",
    "CI_NODE_INDEX",         "CI_NODE_TOTAL"};

/* Set the environment, and check which shard it means; if it means one, nothing
 * is said. in: set, names and values in turn, NULL at the end; index, 0: none
 */
static void
expect_shard(const char *text, const char *const *set, uint32_t index,
             uint32_t count)
{
    struct cli_shard shard = {0, 0};

    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        unsetenv(variables[i]);
    for (; set != NULL && *set != NULL; set += 2)
        setenv(set[0], set[1], 1);
    cli_complain("nothing");
    assert_int_equal(cli_shard_parse(&shard, text), index != 0);
    assert_int_equal(strcmp(cli_complaint_last(), "nothing") == 0, index != 0);
    assert_int_equal(shard.index, index);
    assert_int_equal(shard.count, count);
}

/* The environment and the words mean no shard, and this is said last. */
static void
expect_told(const char *text, const char *const *set, const char *what)
{
    expect_shard(text, set, 0, 0);
    assert_string_equal(cli_complaint_last(), what);
}

#define SET(...) ((const char *const[]){__VA_ARGS__, NULL})

void
shard_variables_said(void)
{
    expect_shard("3/7", NULL, 3, 7);
    expect_shard("7/7", NULL, 7, 7);
    expect_shard("1/7", NULL, 1, 7);
    expect_shard("1/1", NULL, 1, 1);
    expect_shard("0000000000000000000000000000003/7", NULL, 3, 7);
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
    expect_shard("auto",
                 SET("SLURM_ARRAY_TASK_ID", "4", "SLURM_ARRAY_TASK_COUNT", "3",
                     "SLURM_ARRAY_TASK_MIN", "1", "SLURM_ARRAY_TASK_STEP", "3"),
                 2, 3);
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

void
shard_variables_refused(void)
{
    static const char *const words[] = {
        "",     "3",       "/",      "0/7",
        "8/7",  "3/0",     "3/7x",   "x/7",
        "-1/7", "3/65537", "3/7/7",  "auto/",
        "auto", "Auto",    "auto/7", "99999999999999999999/7"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        expect_shard(words[i], NULL, 0, 0);
    expect_told("3", NULL, "--shard takes I/N, auto or auto/N, not '3'");
    expect_told("00000000000000000000000000000031/7", NULL,
                "--shard takes I/N, auto or auto/N, not "
                "'00000000000000000000000000000031/7'");
    expect_told("auto", NULL,
                "--shard auto: no scheduler has set SLURM_ARRAY_TASK_ID, "
                "JOB_COMPLETION_INDEX, PARALLEL_SEQ or CI_NODE_INDEX");
    expect_told("auto/0", SET("CI_NODE_INDEX", "1", "CI_NODE_TOTAL", "4"),
                "--shard takes a whole number from 1 to 65536, not '0'");
    expect_told("auto",
                SET("SLURM_ARRAY_TASK_ID", "3", "SLURM_ARRAY_TASK_COUNT", "4",
                    "SLURM_ARRAY_TASK_STEP", "0"),
                "--shard auto: SLURM_ARRAY_TASK_ID is 3, not one of the 4 "
                "numbers from 1 on");
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
