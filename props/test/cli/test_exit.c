/* test_exit.c -- exit codes and verdicts that only a faulty library causes. */
#include <signal.h>
#include <string.h>

#include "file_result.h"
#include "unit_test.h"

TEST(the_worst_of_two_does_not_depend_on_their_order)
{
    /* Exit codes from best to worst. */
    static const enum cli_exit codes[] = {
        CLI_OK,       CLI_INCOMPLETE,     CLI_BROKEN, CLI_CRASH,
        CLI_LIVENESS, CLI_NONDETERMINISM, CLI_USAGE};
    const size_t count = sizeof codes / sizeof *codes;

    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < count; j++)
            assert_int_equal(cli_exit_worse(codes[i], codes[j]),
                             codes[i > j ? i : j]);
    }
}

TEST(a_property_has_its_exit_code)
{
    assert_int_equal(cli_exit_of(PROPS_NONE), 0);
    assert_int_equal(cli_exit_of(PROPS_H1), 2);
    assert_int_equal(cli_exit_of(PROPS_T1), 2);
    assert_int_equal(cli_exit_of(PROPS_L1), 4);
    assert_int_equal(cli_exit_of(PROPS_L2), 4);
    assert_int_equal(cli_exit_of(PROPS_D1), 5);
}

TEST(a_process_that_ends_is_a_crash_and_one_that_does_not_is_none)
{
    struct props_breach breach = cli_no_breach();

    assert_int_equal(cli_crash("f", SIGSEGV, &breach), 3);
    assert_non_null(strstr(breach.text, "signal 11"));
    assert_int_equal(cli_crash("f", 0, &breach), 3);
    assert_string_equal(breach.text, "the run ended its process");
    assert_int_equal(cli_crash("f", SIGALRM, &breach), 4);
    assert_string_equal(breach.text, "the run does not end");
}

TEST(an_exit_code_and_its_verdict_lead_to_each_other)
{
    for (int code = CLI_OK; code <= CLI_INCOMPLETE; code++)
        assert_int_equal(cli_verdict_exit(cli_verdict_of((enum cli_exit)code)),
                         code);
    assert_int_equal(cli_verdict_of(CLI_CRASH), CLI_VERDICT_CRASHED);
    assert_int_equal(cli_verdict_of(CLI_LIVENESS), CLI_VERDICT_NO_END);
    assert_int_equal(cli_verdict_of(CLI_NONDETERMINISM),
                     CLI_VERDICT_NONDETERMINISTIC);
    /* A verdict that is not "passed" makes the command fail, or counts as
     * skipped. */
    for (int i = 0; i < CLI_VERDICT_COUNT; i++) {
        const enum cli_verdict verdict = (enum cli_verdict)i;
        const enum cli_verdict_kind kind = cli_verdict_kind(verdict);

        assert_int_equal(cli_verdict_exit(verdict) != CLI_OK,
                         kind == CLI_FAILED || kind == CLI_ERROR);
    }
}

/* In JUnit a crash is an error, an endless run a failure; both have a replay
 * command. */
TEST(a_crash_is_no_skipped_test)
{
    char *argv[] = {"replay", "a.sim", NULL};
    struct props_breach breach = cli_no_breach();
    struct cli_report report;
    char text[4096] = "";
    FILE *file = fmemopen(text, sizeof text, "w");

    assert_non_null(file);
    cli_report_begin(&report, 2, argv);
    cli_crash("a.sim", SIGSEGV, &breach);
    cli_file_result(&report, "files", "a.sim", CLI_CRASH, &breach,
                    "profsim replay");
    cli_crash("b.sim", SIGALRM, &breach);
    cli_file_result(&report, "files", "b.sim", CLI_LIVENESS, &breach,
                    "profsim replay");
    cli_report_write_junit(file, &report);
    fclose(file);
    cli_report_drop(&report, CLI_OK);
    assert_non_null(strstr(text, "tests=\"2\" failures=\"1\" errors=\"1\" "
                                 "skipped=\"0\""));
    assert_non_null(strstr(text, "<error type=\"crashed\""));
    assert_non_null(strstr(text, "<failure type=\"no-end\""));
    assert_non_null(strstr(text, "replay: profsim replay b.sim"));
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
