/*
 * check_lines.c -- a test of check_words.c: command lines of `profsim check`
 * that are not random, with what is said of them. The number of processors and
 * the system's random numbers are simulated.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "check_options.h"
#include "complaint.h"
#include "merge_case.h"
#include "property.h"
#include "subject.h"
#include "unit_test.h"

long __real_sysconf(int name);
long __wrap_sysconf(int name);
ssize_t __real_getrandom(void *to, size_t bytes, unsigned flags);
ssize_t __wrap_getrandom(void *to, size_t bytes, unsigned flags);

static long processors = LONG_MIN; /* those of the system */
static bool is_drawn_here;
static uint64_t drawn_here; /* 0: the system has no random numbers */

long
__wrap_sysconf(int name)
{
    return name == _SC_NPROCESSORS_ONLN && processors != LONG_MIN
               ? processors
               : __real_sysconf(name);
}

ssize_t
__wrap_getrandom(void *to, size_t bytes, unsigned flags)
{
    if (!is_drawn_here)
        return __real_getrandom(to, bytes, flags);
    if (drawn_here == 0 || bytes != sizeof drawn_here)
        return -1;
    memcpy(to, &drawn_here, bytes);
    return (ssize_t)bytes;
}

static struct cli_check_options fixed;

/* Parse one or two words. in: second, or NULL. out: fixed */
static bool
takes(const char *first, const char *second)
{
    static struct cli_report report;
    static char words[3][64] = {"check"};
    enum cli_exit exit_code = CLI_OK;
    char *argv[] = {words[0], words[1], second != NULL ? words[2] : NULL, NULL};
    bool taken;

    snprintf(words[1], sizeof words[1], "%s", first);
    snprintf(words[2], sizeof words[2], "%s", second != NULL ? second : "");
    cli_complain("nothing");
    taken = cli_check_options(&fixed, &report, second != NULL ? 3 : 2, argv,
                              &exit_code);
    assert_int_equal(strcmp(cli_complaint_last(), "nothing") == 0, taken);
    assert_int_equal(exit_code, CLI_USAGE);
    return taken;
}

static void
expect_refused(void)
{
    static const char *const rows[][3] = {
        {"plain", NULL,
         "there is no property 'plain'; 'profsim list' names them"},
        {"--seeds=7", NULL, "--seeds takes a range A..B, not '7'"},
        {"--seeds=18446744073709551615..", "--time=9",
         "--seeds takes a whole number from 0 to 18446744073709551614, not "
         "'18446744073709551615'"},
        {"--seeds=1..18446744073709551615", NULL,
         "--seeds takes a whole number from 0 to 18446744073709551614, not "
         "'18446744073709551615'"},
        {"--seeds=8..7", NULL, "--seeds 8..7 is empty"},
        {"--seeds=5..", NULL, "--seeds without an end needs --time"},
        {"--subject=own", "--rules=exact",
         "--rules is about the library, not a subject"},
        {"--subject=own", "--shard=1/2",
         "--shard and --result are about the library, not a subject"},
        {"--subject=own", "--result=r",
         "--shard and --result are about the library, not a subject"},
        {"--subject=own", "--corpus=c",
         "--corpus goes with neither --subject nor files"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_false(takes(rows[i][0], rows[i][1]));
        assert_string_equal(cli_complaint_last(), rows[i][2]);
    }
}

/* Each property is one of the library, of subjects, or of both: D1. */
static void
expect_properties(void)
{
    for (int i = 0; i < PROPS_COUNT; i++) {
        const char *id = props_property_id((enum props_property)i);
        char said[80];

        snprintf(said, sizeof said,
                 "%s is a property of subjects: name one with --subject", id);
        assert_int_equal(takes(id, NULL), i < PROPS_U1);
        if (i >= PROPS_U1)
            assert_string_equal(cli_complaint_last(), said);
        snprintf(said, sizeof said, "%s is a property of the library", id);
        if (takes(id, "--subject=own"))
            assert_true(i >= PROPS_U1 || i == PROPS_D1);
        else
            assert_string_equal(cli_complaint_last(), said);
    }
}

static void
expect_subject(void)
{
    props_set all = PROPS_BIT(PROPS_D1);

    for (int i = PROPS_U1; i < PROPS_COUNT; i++)
        all |= PROPS_BIT(i);
    assert_true(takes("--subject=own", NULL));
    assert_int_equal(fixed.campaign.asked, all);
    assert_string_equal(fixed.campaign.subject->name, "own");
    assert_string_equal(fixed.save, "subject-failures/own");
    assert_string_equal(fixed.save_above, "subject-failures");
    assert_true(takes("--subject=own", "--save=s"));
    assert_string_equal(fixed.save, "s");
    assert_null(fixed.save_above);
}

/* As many jobs as processors, within their limits. */
static void
expect_jobs(void)
{
    static const struct {
        long processors;
        uint32_t jobs;
    } rows[] = {{-1, 1},
                {0, 1},
                {1, 1},
                {2, 2},
                {3, 3},
                {PROPS_JOBS_MAX - 1, PROPS_JOBS_MAX - 1},
                {PROPS_JOBS_MAX, PROPS_JOBS_MAX},
                {PROPS_JOBS_MAX + 1, PROPS_JOBS_MAX},
                {1L << 33, PROPS_JOBS_MAX}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        processors = rows[i].processors;
        assert_true(takes("H2", NULL));
        assert_int_equal(fixed.campaign.jobs, rows[i].jobs);
    }
    processors = LONG_MIN;
}

/* Numbers that the system draws give seeds with room behind them. */
static void
expect_drawn(void)
{
    static const uint64_t numbers[] = {UINT64_MAX, UINT64_MAX - 8, 9};
    uint64_t before = 0;

    is_drawn_here = true;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        drawn_here = numbers[i];
        assert_true(takes("--time=9", NULL));
        assert_true(fixed.drawn);
        assert_true(fixed.campaign.seed_first < UINT64_C(1) << 62);
        assert_true(fixed.campaign.seed_first != before);
        before = fixed.campaign.seed_first;
    }
    drawn_here = 0;
    assert_false(takes("--time=9", NULL));
    assert_string_equal(cli_complaint_last(),
                        "the system has no random numbers");
    is_drawn_here = false;
}

void
merge_check_lines(void)
{
    expect_refused();
    expect_properties();
    expect_subject();
    expect_jobs();
    expect_drawn();
    /* The largest seed. */
    assert_true(takes("--seeds=18446744073709551614..", "--time=9"));
    assert_int_equal(fixed.campaign.seed_first, UINT64_MAX - 1);
    assert_int_equal(fixed.campaign.seed_last, UINT64_MAX - 1);
}
