/*
 * forged_campaigns.c -- tests of test_merge.c: results of campaigns that no
 * shard writes, and failures that do not happen again, are refused; others are
 * not.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "merge_case.h"
#include "property.h"
#include "unit_test.h"

#define ASKED    "check H1 T1 --rules exact --seeds 1..40"
#define SUMS     "events 1\nhash 0123456789abcdef\n"
#define FAILS    " exit 2 scenario 0\n"
#define NO_WORD  "is not a command of profsim"
#define SEEDS_OF "the seeds of heaps are not those of its shard"
#define CLAIMS   "it claims enumerated properties that its shard does not check"

#define LATE       "check H2 T1 --rules go1.6-late --seeds 170..180"
#define LATE_SEEDS "part heaps\nseeds 170..170 step 4\nruns 1\n" SUMS
#define AS_IT_SAYS "seed 174 of heaps does not fail as it says"

/* Files of shard 2 of 4, or of shard 1 if they say what was enumerated: what
 * they ask, and the lines after the time. */
static const struct forged {
    const char *asked;
    const char *lines;
    const char *complaint; /* a part of it; NULL: the file is right */
} forged[] = {
    {ASKED, "", NULL},
    {"check --rules go1.5 --seeds 40..40", "", NULL},
    {"check H1 --rules exact --seeds 7.. --time 5", "", NULL},
    {"check --rules exact --time 1000000", "", NULL},
    {"run H1 T1 --rules exact --seeds 1..40", "", NO_WORD},
    {"check T1 H1 --rules exact --seeds 1..40", "", NO_WORD},
    {"check H1 T1 --seeds 1..40", "", NO_WORD},
    {"check H1 T1 --rules exact", "", NO_WORD},
    {"check H1 T1 --rules none --seeds 1..40", "", NO_WORD},
    {"check H1 T1 --rules exact --seeds 40..1", "", NO_WORD},
    {"check H1 T1 --rules exact --seeds 1..", "", NO_WORD},
    {"check H1 T1 --rules exact --time 1000001", "", NO_WORD},
    {"check a.sim --rules exact --seeds 1..40", "", NO_WORD},
    {" ", "", NO_WORD},
    {ASKED " --save a", "", NO_WORD},
    {ASKED " --corpus a", "", NO_WORD},
    {ASKED " --json a", "", NO_WORD},
    {ASKED " --jobs 2", "", NO_WORD},
    {ASKED " --pairs", "", NO_WORD},
    {ASKED " --help", "", NO_WORD},
    {"check --subject a.c --seeds 1..40", "", NO_WORD},
    {ASKED, "part heaps\nseeds 2..38 step 4\nruns 10\n" SUMS, NULL},
    {ASKED, "part heaps\nseeds 2..42 step 4\nruns 11\n" SUMS, SEEDS_OF},
    {ASKED, "part heaps\nseeds 1..37 step 4\nruns 10\n" SUMS, SEEDS_OF},
    {ASKED, "part heaps\nseeds 6..38 step 4\nruns 9\n" SUMS, SEEDS_OF},
    {ASKED, "part heaps\nseeds 2..8 step 3\nruns 3\n" SUMS,
     "the seeds are not those of its shard"},
    {ASKED,
     "part heaps\nseeds 2..2 step 4\nruns 1\n" SUMS "failure H1 seed 7" FAILS,
     SEEDS_OF},
    {ASKED,
     "part heaps\nseeds 2..2 step 4\nruns 1\n" SUMS "failure H1 seed 6" FAILS,
     "seed 6 of heaps does not fail"},
    {ASKED,
     "part heaps\nseeds 2..34 step 4\nruns 9\n" SUMS "failure H1 seed 38" FAILS,
     "seed 38 of heaps does not fail"},
    {ASKED,
     "part heaps\nseeds 2..38 step 4\nruns 10\n" SUMS
     "failure H1 seed 42" FAILS,
     SEEDS_OF},
    {ASKED, "part heaps\nfailure H1 seed 2" FAILS,
     "seed 2 of heaps does not fail"},
    {ASKED, "part heaps\nfailure H1 seed 1" FAILS, SEEDS_OF},
    {"check --rules exact --time 5",
     "part heaps\nseeds 9..10 step 1\nruns 2\n" SUMS, NULL},
    {"check --rules exact --time 5",
     "part heaps\nseeds 9..10 step 1\nruns 2\n" SUMS "failure H1 seed 12" FAILS,
     SEEDS_OF},
    {"check --rules exact --time 5",
     "part heaps\nseeds 9..10 step 1\nruns 2\n" SUMS "failure H1 seed 11" FAILS,
     "seed 11 of heaps does not fail"},
    {"check --rules exact --time 5",
     "part heaps\nseeds 9..9 step 1\nruns 1\n" SUMS "failure H1 seed 11" FAILS,
     SEEDS_OF},
    {"check --rules exact --time 5", "part heaps\nfailure H1 seed 7" FAILS,
     "seed 7 of heaps does not fail"},
    {"check H1 --rules exact --seeds 1..2",
     "part heaps\nseeds 2..2 step 4\nruns 1\n" SUMS, NULL},
    {"check H1 --rules exact --seeds 1..1",
     "part heaps\nseeds 2..2 step 4\nruns 1\n" SUMS, SEEDS_OF},
    {"check H1 --rules exact --seeds 1..40",
     "part traces\nseeds 2..38 step 4\nruns 10\n" SUMS,
     "the seeds of traces are not those of its shard"},
    {"check T1 --rules exact --seeds 1..40",
     "part heaps\nseeds 2..38 step 4\nruns 10\n" SUMS, SEEDS_OF},
    {ASKED, "enumerated\n", NULL},
    {ASKED, "enumerated\nholds S1 cells 4\n", CLAIMS},
    {"check S1 --rules exact --seeds 1..40", "enumerated\nholds S1 cells 4\n",
     NULL},
    {"check S1 --rules exact --seeds 1..40",
     "enumerated\nfailure S1 seed 0" FAILS,
     "S1 does not fail as the first shard says"},
    {"check S1 --rules exact --seeds 1..40",
     "enumerated\nfailure none seed 0" FAILS, CLAIMS},
    {"check S1 --rules exact --seeds 1..40",
     "enumerated\nfailure S2 seed 0" FAILS, CLAIMS},
    {"check S1 --rules exact --seeds 1..40",
     "enumerated\nfailure S1 seed 0 exit 2 scenario 2\na\n", CLAIMS},
};

static void
expect_forged(const struct forged *f, uint32_t shard, const char *complaint)
{
    struct captured said;
    FILE *file = merge_begin_file("profsim result 1", f->asked, shard, 4);

    fprintf(file, "spent 5 ms\n%s", f->lines);
    merge_end_file(file);
    said = merge_files();
    merge_expect_exit(&said, complaint != NULL ? 1 : 6);
    merge_expect(&said, complaint != NULL, "profsim: ");
    if (complaint != NULL) { /* that one alone: a subject is not loaded */
        merge_expect(&said, true, "%s", complaint);
        merge_expect(&said, false, "a.c: ");
        merge_expect(&said, false, "usage: ");
    }
    captured_free(&said);
}

/* Shard 2 of 4 goes on from its own seeds alone: run it with this file as its
 * result. */
static void
expect_continued(const struct forged *f)
{
    static char more[][64] = {"--shard", "2/4", "--jobs", "1", "--result", ""};
    enum { MORE = sizeof more / sizeof *more };
    struct captured said;
    char copy[128];
    char *argv[16 + MORE];
    char *rest;
    int argc = 0;
    FILE *file = merge_begin_file("profsim result 1", f->asked, 1, 4);

    fprintf(file, "spent 5 ms\n%s", f->lines);
    merge_end_file(file);
    snprintf(copy, sizeof copy, "%s", f->asked);
    for (char *word = strtok_r(copy, " ", &rest); word != NULL && argc < 15;
         word = strtok_r(NULL, " ", &rest))
        argv[argc++] = word;
    snprintf(more[MORE - 1], sizeof *more, "%s", merge_path(0));
    for (int i = 0; i < MORE; i++)
        argv[argc++] = more[i];
    argv[argc] = NULL;
    assert_true(captured_run(&said, cli_check, argv, -1, 60));
    merge_expect_exit(&said, f->complaint != NULL ? 1 : 0);
    merge_expect(&said, f->complaint != NULL, "are not those of its shard");
    merge_expect(&said, f->complaint == NULL, "continues after 1");
    merge_expect(&said, f->complaint == NULL, "shard 2/4 is done");
    captured_free(&said);
    merge_remove_files();
}

/* Does a file have runs, but no failure and nothing that is enumerated? */
static bool
has_runs_alone(const struct forged *f)
{
    return strstr(f->lines, "runs ") != NULL &&
           strstr(f->lines, "failure") == NULL &&
           strstr(f->asked, "--time") == NULL;
}

/* Shard 3 of 4 has no seeds: the third would be 2^64. */
static const struct forged beyond = {
    "check H1 --rules exact --seeds 18446744073709551614.. --time 5",
    "part heaps\nseeds 0..0 step 4\nruns 1\n" SUMS, SEEDS_OF};

/* Two files of a shard that draws its seeds anew: a failure counts, also of the
 * one with fewer runs, whichever is read first. */
static void
expect_failure_of_fewer(uint32_t fewer)
{
    static const char *const parts[] = {"seeds 9..10 step 1\nruns 2\n" SUMS,
                                        "seeds 3..3 step 1\nruns 1\n" SUMS
                                        "failure H1 seed 4" FAILS};
    struct captured said;

    for (uint32_t i = 0; i < 2; i++) {
        FILE *file = merge_begin_file("profsim result 1",
                                      "check H1 --rules exact --time 5", 1, 4);

        fprintf(file, "spent 5 ms\npart heaps\n%s", parts[i == fewer]);
        merge_end_file(file);
    }
    said = merge_files();
    merge_expect_exit(&said, 1);
    merge_expect(&said, true, "rules exact: 2 runs, 1 events");
    merge_expect(&said, true, "%s: seed 4 of heaps does not fail",
                 merge_path((int)fewer));
    captured_free(&said);
}

/* Failures of shard 1 of 4 that are run again. The campaign of go1.6-late fails
 * at seed 174, the other one nowhere. */
static const struct {
    const char *asked;
    const char *lines;
    int exit_code;
    const char *said[3];
} repeated[] = {
    {LATE,
     LATE_SEEDS "failure H2 seed 174" FAILS,
     2,
     {"seed 174 fails\nH2 broken: "}},
    {LATE,
     LATE_SEEDS "failure H1 seed 174" FAILS,
     1,
     {"seed 174 fails\n", AS_IT_SAYS}},
    {LATE,
     LATE_SEEDS "failure H2 seed 174 exit 3 scenario 0\n",
     1,
     {AS_IT_SAYS}},
    {ASKED,
     "part heaps\nfailure D1 seed 1 exit 5 scenario 0\n",
     5,
     {"a.result: seed 1 of heaps failed, and holds here\n",
      "\"subject\": \"rules exact\",\n      \"name\": \"D1\",\n",
      "\"verdict\": \"nondeterministic\",\n      \"text\": \"\",\n      "
      "\"seed\": 1,\n"}},
    {ASKED,
     "part traces\nfailure none seed 1 exit 4 scenario 0\n",
     4,
     {"a.result: seed 1 of traces failed, and holds here\n",
      "\"subject\": \"traces\",\n      \"name\": \"process\",\n",
      "\"verdict\": \"no-end\",\n      \"seed\": 1,\n"}},
};

static void
expect_repeated(void)
{
    static const char *const saved[] = {
        "saved/H2-go1.6-late-174.sim", "saved/H2-go1.6-late-174.html", "saved"};
    char path[128];

    for (size_t i = 0; i < sizeof repeated / sizeof *repeated; i++) {
        struct captured said;
        FILE *file =
            merge_begin_file("profsim result 1", repeated[i].asked, 0, 4);

        fprintf(file, "spent 5 ms\n%s", repeated[i].lines);
        merge_end_file(file);
        said = merge_files();
        merge_expect_exit(&said, repeated[i].exit_code);
        for (int k = 0; k < 3 && repeated[i].said[k] != NULL; k++)
            merge_expect(&said, true, "%s", repeated[i].said[k]);
        captured_free(&said);
    }
    for (size_t i = 0; i < sizeof saved / sizeof *saved; i++) {
        snprintf(path, sizeof path, "%s/%s", merge_folder(), saved[i]);
        assert_int_equal(remove(path), 0);
    }
}

/* What was enumerated is added up over all properties of the library, or it is
 * one cell. */
static void
expect_cells(bool one)
{
    uint64_t sum = 0;
    struct captured said;
    FILE *file = merge_begin_file("profsim result 1",
                                  "check --rules exact --seeds 1..40", 0, 4);

    fputs("spent 5 ms\nenumerated\n", file);
    for (int i = 0; i < PROPS_COUNT; i++) {
        const uint64_t cells = one ? 1 : UINT64_C(1) << i;

        if ((PROPS_ALL & PROPS_BIT(i)) == 0 || (one && i != PROPS_S2))
            continue;
        fprintf(file, "holds %s cells %" PRIu64 "\n",
                props_property_id((enum props_property)i), cells);
        sum += cells;
    }
    merge_end_file(file);
    said = merge_files();
    merge_expect_exit(&said, 6);
    merge_expect(&said, true,
                 "rules exact: %" PRIu64 " cells enumerated or measured\n",
                 sum);
    captured_free(&said);
}

void
merge_forged_campaigns(void)
{
    expect_cells(false);
    expect_cells(true);
    expect_repeated();
    expect_forged(&beyond, 2, beyond.complaint);
    expect_failure_of_fewer(0);
    expect_failure_of_fewer(1);
    for (size_t i = 0; i < sizeof forged / sizeof *forged; i++) {
        const bool checks = strstr(forged[i].lines, "enumerated") != NULL;

        if (has_runs_alone(&forged[i]))
            expect_continued(&forged[i]);

        expect_forged(&forged[i], checks ? 0 : 1, forged[i].complaint);
        if (checks)
            expect_forged(&forged[i], 2, CLAIMS);
    }
}
