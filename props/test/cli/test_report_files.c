/* test_report_files.c -- reports as JSON and JUnit (docs/ci.md), and the files
 * to which they are written. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "unit_test.h"

#include "complaint.h"
#include "folder.h"
#include "prof/version.h"
#include "refused_text.h"
#include "report.h"

static char *argv[] = {"check", "--seeds", "a\x1b", NULL};

/* ---- Texts ---- */

static void
fill(struct cli_report *report)
{
    struct cli_result *result;

    cli_report_begin(report, 3, argv);
    result = cli_report_add(report, "a.b", "H1", CLI_VERDICT_HOLDS);
    cli_result_seeds(result, 1, UINT64_MAX);
    cli_result_count(result, "runs", 7);
    cli_result_count(result, "events", UINT64_C(1) << 32);
    result = cli_report_add(report, "<x>", "k", CLI_VERDICT_BROKEN);
    cli_result_text(report, &result->text, "first");
    cli_result_text(report, &result->text, "%d & \"%d\"", 1, 2);
    cli_result_text(report, &result->about, "about");
    cli_result_text(report, &result->property, "H2");
    cli_result_text(report, &result->saved, "s");
    cli_result_text(report, &result->page, "p");
    cli_result_replay(report, result, "other", NULL);
    cli_result_replay(report, result, "profsim replay", "a b");
    cli_result_seeds(result, 5, 5);
    result = cli_report_add(report, "a.b", "H3", CLI_VERDICT_NOT_TRIED);
    result = cli_report_add(report, "a.b", "H4", CLI_VERDICT_BOUNDED);
    cli_result_text(report, &result->text, "to 2");
    result = cli_report_add(report, "a.b", "H5", CLI_VERDICT_SAMPLED);
    cli_report_add(report, "a.b", "H6", CLI_VERDICT_CRASHED);
    result = cli_report_add(report, "a.b", "H7", CLI_VERDICT_CAUGHT);
    cli_result_count(result, "one", 1);
    report->exit_code = CLI_CRASH;
    assert_false(report->failed);
}

static void
expect_text(void (*write)(FILE *file, const struct cli_report *report),
            const struct cli_report *report, const char *want)
{
    static char text[1 << 13];
    FILE *file = fmemopen(text, sizeof text, "w");

    assert_non_null(file);
    write(file, report);
    assert_int_equal(fclose(file), 0);
    assert_string_equal(text, want);
}

TEST(a_report_is_this_json)
{
    struct cli_report report;

    fill(&report);
    expect_text(
        cli_report_write_json, &report,
        "{\n  \"format\": \"profsim report\",\n  \"version\": 1,\n"
        "  \"profsim\": \"" PROF_VERSION "\",\n"
        "  \"command\": \"check\",\n"
        "  \"arguments\": [\"--seeds\", \"a\\\\x1b\"],\n"
        "  \"exit\": 3,\n"
        "  \"counts\": {\n"
        "    \"holds\": 1,\n    \"bounded\": 1,\n    \"sampled\": 1,\n"
        "    \"caught\": 1,\n    \"not-tried\": 1,\n"
        "    \"not-applicable\": 0,\n    \"stopped\": 0,\n"
        "    \"unnoticed\": 0,\n    \"broken\": 1,\n    \"no-end\": 0,\n"
        "    \"nondeterministic\": 0,\n    \"survives\": 0,\n"
        "    \"crashed\": 1,\n    \"incomplete\": 0,\n"
        "    \"wrong-input\": 0\n"
        "  },\n  \"results\": [\n"
        "    {\n      \"subject\": \"a.b\",\n      \"name\": \"H1\",\n"
        "      \"verdict\": \"holds\",\n"
        "      \"seeds\": {\"first\": 1, \"last\": 18446744073709551615},\n"
        "      \"counts\": {\"runs\": 7, \"events\": 4294967296}\n    },\n"
        "    {\n      \"subject\": \"\\u003cx>\",\n      \"name\": \"k\",\n"
        "      \"about\": \"about\",\n      \"verdict\": \"broken\",\n"
        "      \"property\": \"H2\",\n      \"text\": \"1 & \\\"2\\\"\",\n"
        "      \"seed\": 5,\n      \"counts\": {},\n"
        "      \"saved\": \"s\",\n      \"page\": \"p\",\n"
        "      \"replay\": \"profsim replay 'a b'\"\n    },\n"
        "    {\n      \"subject\": \"a.b\",\n      \"name\": \"H3\",\n"
        "      \"verdict\": \"not-tried\",\n      \"counts\": {}\n    },\n"
        "    {\n      \"subject\": \"a.b\",\n      \"name\": \"H4\",\n"
        "      \"verdict\": \"bounded\",\n      \"text\": \"to 2\",\n"
        "      \"counts\": {}\n    },\n"
        "    {\n      \"subject\": \"a.b\",\n      \"name\": \"H5\",\n"
        "      \"verdict\": \"sampled\",\n      \"counts\": {}\n    },\n"
        "    {\n      \"subject\": \"a.b\",\n      \"name\": \"H6\",\n"
        "      \"verdict\": \"crashed\",\n      \"counts\": {}\n    },\n"
        "    {\n      \"subject\": \"a.b\",\n      \"name\": \"H7\",\n"
        "      \"verdict\": \"caught\",\n"
        "      \"counts\": {\"one\": 1}\n    }\n"
        "  ]\n}\n");
    cli_report_drop(&report, CLI_OK);
}

TEST(a_report_is_this_xml)
{
    struct cli_report report;

    fill(&report);
    expect_text(
        cli_report_write_junit, &report,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<testsuites name=\"profsim check\" tests=\"7\" failures=\"1\" "
        "errors=\"1\" skipped=\"1\">\n"
        "  <testsuite name=\"a.b\" tests=\"6\" failures=\"0\" errors=\"1\" "
        "skipped=\"1\">\n"
        "    <properties>\n"
        "      <property name=\"holds\" value=\"1\"/>\n"
        "      <property name=\"bounded\" value=\"1\"/>\n"
        "      <property name=\"sampled\" value=\"1\"/>\n"
        "      <property name=\"caught\" value=\"1\"/>\n"
        "      <property name=\"not-tried\" value=\"1\"/>\n"
        "      <property name=\"crashed\" value=\"1\"/>\n"
        "    </properties>\n"
        "    <testcase classname=\"profsim.check.a_b\" name=\"H1\">\n"
        "      <system-out>runs: 7\nevents: 4294967296\n</system-out>\n"
        "    </testcase>\n"
        "    <testcase classname=\"profsim.check.a_b\" name=\"H3\">\n"
        "      <skipped message=\"not-tried: no run could have "
        "shown a failure\"/>\n"
        "    </testcase>\n"
        "    <testcase classname=\"profsim.check.a_b\" name=\"H4 (bounded: to "
        "2)\">\n"
        "    </testcase>\n"
        "    <testcase classname=\"profsim.check.a_b\" name=\"H5 "
        "(sampled)\">\n"
        "    </testcase>\n"
        "    <testcase classname=\"profsim.check.a_b\" name=\"H6\">\n"
        "      <error type=\"crashed\" message=\"a run crashed, or "
        "called exit\">a run crashed, or called exit\n</error>\n"
        "    </testcase>\n"
        "    <testcase classname=\"profsim.check.a_b\" name=\"H7\">\n"
        "      <system-out>one: 1\n</system-out>\n"
        "    </testcase>\n"
        "  </testsuite>\n"
        "  <testsuite name=\"&lt;x&gt;\" tests=\"1\" failures=\"1\" "
        "errors=\"0\" skipped=\"0\">\n"
        "    <properties>\n"
        "      <property name=\"broken\" value=\"1\"/>\n"
        "    </properties>\n"
        "    <testcase classname=\"profsim.check.&lt;x&gt;\" name=\"k\">\n"
        "      <failure type=\"broken\" message=\"1 &amp; "
        "&quot;2&quot;\">1 &amp; &quot;2&quot;\n"
        "property: H2\nabout: about\nseed: 5\nsaved: s\npage: p\n"
        "replay: profsim replay 'a b'\n</failure>\n"
        "    </testcase>\n"
        "  </testsuite>\n"
        "</testsuites>\n");
    cli_report_drop(&report, CLI_OK);
}

/* returns: how often there is such a text in what is written */
static int
times(void (*write)(FILE *file, const struct cli_report *report),
      const struct cli_report *report, const char *wanted)
{
    static char text[1 << 14];
    FILE *file = fmemopen(text, sizeof text, "w");
    int count = 0;

    assert_non_null(file);
    write(file, report);
    assert_int_equal(fclose(file), 0);
    for (const char *at = text; (at = strstr(at, wanted)) != NULL; at++)
        count++;
    return count;
}

/* Three subjects, of which two have one result: each verdict once. */
TEST(each_verdict_and_each_subject_is_written_once)
{
    static const char *const subjects[] = {"x", "y", "y", "z"};
    struct cli_report report;
    char wanted[80];

    cli_report_begin(&report, 3, argv);
    assert_int_equal(times(cli_report_write_json, &report, "[]\n}\n"), 1);
    for (int i = 0; i < CLI_VERDICT_COUNT; i++) {
        cli_report_add(&report, subjects[i < 3 ? i : 3], "n",
                       (enum cli_verdict)i);
        assert_int_equal(
            times(cli_report_write_json, &report, "\n    }\n  ]\n}\n"), 1);
    }
    for (int i = 0; i < CLI_VERDICT_COUNT; i++) {
        snprintf(wanted, sizeof wanted, "<property name=\"%s\" value=\"1\"/>",
                 cli_verdict_word((enum cli_verdict)i));
        assert_int_equal(times(cli_report_write_junit, &report, wanted), 1);
    }
    snprintf(wanted, sizeof wanted,
             "check\" tests=\"%d\" failures=\"4\" errors=\"3\" skipped=\"4\"",
             CLI_VERDICT_COUNT);
    assert_int_equal(times(cli_report_write_junit, &report, wanted), 1);
    assert_int_equal(times(cli_report_write_junit, &report, "<testsuite "), 3);
    assert_int_equal(times(cli_report_write_junit, &report, "<testcase "),
                     CLI_VERDICT_COUNT);
    cli_report_drop(&report, CLI_OK);
}

TEST(a_text_may_be_empty_and_replaces_the_one_before)
{
    struct cli_report report;
    struct cli_result *result;

    cli_report_begin(&report, 3, argv);
    result = cli_report_add(&report, "a", "b", CLI_VERDICT_HOLDS);
    cli_result_text(&report, &result->text, "%s", "x");
    cli_result_text(&report, &result->text, "%s", "");
    assert_string_equal(result->text, "");
    assert_false(report.failed);
    cli_report_drop(&report, CLI_OK);
}

TEST(no_result_is_lost_when_there_are_many)
{
    struct cli_report report;
    char name[16];

    cli_report_begin(&report, 1, argv);
    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof name, "%d", i);
        cli_report_add(&report, i % 3 == 0 ? "a" : "b", name,
                       i % 2 == 0 ? CLI_VERDICT_HOLDS : CLI_VERDICT_STOPPED);
    }
    assert_int_equal(report.results_count, 1000);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(atoi(report.results[i]->name), i);
    assert_int_equal(cli_report_count(&report, NULL, CLI_VERDICT_HOLDS), 500);
    assert_int_equal(cli_report_count(&report, "a", CLI_VERDICT_HOLDS), 167);
    assert_int_equal(cli_report_count(&report, "b", CLI_VERDICT_STOPPED), 333);
    assert_int_equal(cli_report_count(&report, "c", CLI_VERDICT_HOLDS), 0);
    for (uint64_t i = 0; i < CLI_COUNTS_MAX + 2; i++)
        cli_result_count(report.results[0], "n", i);
    assert_int_equal(report.results[0]->counts_count, CLI_COUNTS_MAX);
    assert_int_equal(report.results[0]->counts[CLI_COUNTS_MAX - 1].value,
                     CLI_COUNTS_MAX - 1);
    assert_int_equal(cli_report_drop(&report, CLI_BROKEN), CLI_BROKEN);
}

/* ---- Files ---- */

static char paths[3][64];

static int
make_paths(void **state)
{
    static const char *const names[] = {"a", "b", "c"};

    if (folder_make(state) != 0)
        return -1;
    for (int i = 0; i < 3; i++)
        folder_path(paths[i], sizeof paths[i], names[i]);
    return 0;
}

static off_t
bytes_of(const char *path)
{
    struct stat like;

    return stat(path, &like) == 0 ? like.st_size : -1;
}

TEST(a_report_is_written_once_and_to_three_places)
{
    struct cli_report report;

    cli_report_begin(&report, 3, argv);
    assert_false(cli_report_take(&report, CLI_REPORT_JSON, ""));
    assert_true(cli_report_take(&report, CLI_REPORT_JSON, paths[0]));
    assert_false(cli_report_take(&report, CLI_REPORT_JSON, paths[1]));
    assert_false(cli_report_take(&report, CLI_REPORT_JUNIT, paths[0]));
    assert_string_equal(report.json, paths[0]);
    assert_null(report.junit);
    assert_false(
        cli_report_take(&report, CLI_REPORT_JUNIT, "/nonexistent/folder/b"));
    report.junit = NULL;
    assert_true(cli_report_take(&report, CLI_REPORT_JUNIT, paths[1]));
    assert_false(cli_report_take(&report, CLI_REPORT_HTML, paths[1]));
    assert_true(cli_report_take(&report, CLI_REPORT_HTML, paths[2]));
    cli_report_add(&report, "a", "b", CLI_VERDICT_HOLDS);
    for (int i = 0; i < 3; i++)
        assert_int_equal(bytes_of(paths[i]), -1);
    assert_int_equal(cli_report_end(&report, CLI_BROKEN), CLI_BROKEN);
    for (int i = 0; i < 3; i++)
        assert_in_range(bytes_of(paths[i]), 100, 1 << 20);
    for (int i = 0; i < 3; i++)
        assert_int_equal(remove(paths[i]), 0);
}

TEST(no_report_takes_the_place_of_an_input)
{
    for (int i = 0; i < 6; i++) {
        char *inputs[] = {paths[i < 3 ? 1 : 0], paths[i < 3 ? 0 : 1]};
        struct cli_report report;
        FILE *file = fopen(paths[0], "w");

        assert_non_null(file);
        fputs("mine", file);
        assert_int_equal(fclose(file), 0);
        cli_report_begin(&report, 3, argv);
        report.inputs = inputs;
        report.inputs_count = 2;
        assert_true(
            cli_report_take(&report, CLI_REPORT_JSON + i % 3, paths[0]));
        assert_int_equal(cli_report_end(&report, CLI_OK), CLI_USAGE);
        assert_non_null(strstr(cli_complaint_last(), "it is an input"));
        assert_int_equal(bytes_of(paths[0]), 4);
    }
    assert_int_equal(remove(paths[0]), 0);
}

/* Of an input with another name, too; what is not an input is written. */
TEST(a_page_takes_no_input_s_place_by_another_name)
{
    char other[80];
    char *inputs[] = {other, paths[1]};

    snprintf(other, sizeof other, "%s/./a", folder);
    for (int i = 0; i < 3; i += 2) {
        struct cli_report report;
        FILE *file = fopen(paths[0], "w");

        assert_non_null(file);
        assert_int_equal(fclose(file), 0);
        cli_report_begin(&report, 3, argv);
        report.inputs = inputs;
        report.inputs_count = 2;
        report.html = paths[i];
        assert_int_equal(cli_report_end(&report, CLI_OK),
                         i == 0 ? CLI_USAGE : CLI_OK);
        assert_int_equal(bytes_of(paths[0]), 0);
    }
    assert_int_equal(remove(paths[0]), 0);
    assert_int_equal(remove(paths[2]), 0);
}

TEST(two_reports_in_one_file_are_refused_by_name)
{
    static const char *const options[] = {"--json", "--junit", "--html"};

    for (int i = 0; i < 9; i++) {
        struct cli_report report;
        const int first = i / 3;
        const int second = i % 3;
        char want[160];

        cli_report_begin(&report, 3, argv);
        assert_true(
            cli_report_take(&report, CLI_REPORT_JSON + first, paths[0]));
        assert_false(
            cli_report_take(&report, CLI_REPORT_JSON + second, paths[0]));
        snprintf(want, sizeof want, "%s and %s cannot both be '%s'",
                 options[first < second ? first : second],
                 options[first < second ? second : first], paths[0]);
        if (first == second)
            snprintf(want, sizeof want, "%s is given twice: '%s' and '%s'",
                     options[first], paths[0], paths[0]);
        assert_string_equal(cli_complaint_last(), want);
        cli_report_drop(&report, CLI_OK);
        assert_int_equal(cli_report_end(&report, CLI_OK), CLI_OK);
        assert_int_equal(bytes_of(paths[0]), -1);
    }
}

/* Let each request for memory fail in turn, for each of the three files. */
TEST(a_report_is_whole_or_not_written_without_memory)
{
    for (int i = 0; i < 3; i++) {
        bool good = false;

        for (int request = 1; !good; request++) {
            const enum cli_verdict verdict = (enum cli_verdict)(request % 2);
            struct cli_report report;
            struct cli_result *result;
            enum cli_exit exit_code;

            assert_true(request < 100);
            refused_text_at = request;
            cli_report_begin(&report, 3, argv);
            cli_report_take(&report, CLI_REPORT_JSON + i, paths[0]);
            result = cli_report_add(&report, "a", "b", verdict);
            assert_int_equal(result->verdict, verdict);
            cli_result_text(&report, &result->text, "%d", 1);
            cli_result_text(&report, &result->saved, "x");
            cli_result_replay(&report, result, "again", "p");
            exit_code = cli_report_end(&report, CLI_BROKEN);
            good = refused_text_at > 0;
            refused_text_at = 0;
            assert_int_equal(exit_code, good ? CLI_BROKEN : CLI_USAGE);
            assert_int_equal(bytes_of(paths[0]) > 0, good);
            if (!good)
                assert_non_null(
                    strstr(cli_complaint_last(), ": not enough memory"));
        }
        assert_int_equal(remove(paths[0]), 0);
    }
}

/* A report that is incomplete is not written; the other one is. */
TEST(one_file_that_fails_is_told_and_the_other_is_written)
{
    struct cli_report report;

    cli_report_begin(&report, 3, argv);
    report.json = "/nonexistent/folder/a";
    report.junit = paths[1];
    assert_int_equal(cli_report_end(&report, CLI_OK), CLI_USAGE);
    assert_string_equal(cli_complaint_last(),
                        "/nonexistent/folder/a: No such file or directory");
    assert_in_range(bytes_of(paths[1]), 100, 1 << 20);
    assert_int_equal(remove(paths[1]), 0);
    cli_report_begin(&report, 3, argv);
    report.json = paths[0];
    report.html = paths[2];
    report.failed = true;
    assert_int_equal(cli_report_end(&report, CLI_OK), CLI_USAGE);
    assert_int_equal(bytes_of(paths[0]), -1);
    assert_int_equal(bytes_of(paths[2]), -1);
}

/* out: text, as much of a file as there is room for */
static void
read_file(const char *path, char *text, size_t room)
{
    FILE *file = fopen(path, "r");

    assert_non_null(file);
    text[fread(text, 1, room - 1, file)] = '\0';
    assert_int_equal(fclose(file), 0);
}

TEST(a_page_shows_the_report_as_json)
{
    static char text[1 << 20];
    struct cli_report report;

    fill(&report);
    report.html = paths[2];
    assert_int_equal(cli_report_end(&report, CLI_OK), CLI_OK);
    read_file(paths[2], text, sizeof text);
    assert_non_null(strstr(text, "\"format\": \"profsim report\""));
    assert_non_null(strstr(text, "profsim replay 'a b'"));
    assert_int_equal(remove(paths[2]), 0);
}

static void
expect_wrong_input(struct cli_report *report, enum cli_exit exit_code,
                   int count)
{
    static char text[1 << 12];
    char want[64];

    cli_complain("what is wrong");
    report->json = paths[0];
    assert_int_equal(cli_report_end(report, exit_code), exit_code);
    read_file(paths[0], text, sizeof text);
    snprintf(want, sizeof want, "\"wrong-input\": %d\n", count);
    assert_non_null(strstr(text, want));
    snprintf(want, sizeof want, "\"exit\": %d,\n", (int)exit_code);
    assert_non_null(strstr(text, want));
    assert_int_equal(strstr(text, "what is wrong") != NULL,
                     exit_code == CLI_USAGE && count == 1);
    assert_int_equal(remove(paths[0]), 0);
}

TEST(what_was_wrong_with_the_words_is_a_result)
{
    struct cli_report report;

    cli_report_begin(&report, 3, argv);
    expect_wrong_input(&report, CLI_USAGE, 1);
    cli_report_begin(&report, 3, argv);
    expect_wrong_input(&report, CLI_BROKEN, 0);
    cli_report_begin(&report, 3, argv);
    cli_report_add(&report, "a", "b", CLI_VERDICT_WRONG_INPUT);
    cli_report_add(&report, "a", "c", CLI_VERDICT_WRONG_INPUT);
    expect_wrong_input(&report, CLI_USAGE, 2);
}

int
main(void)
{
    return tests_run(make_paths, folder_remove);
}
