/* wanted.c -- see wanted.h. */
#include "wanted.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "merge_case.h"
#include "unit_test.h"

enum { SECONDS = 60, TEXT_BYTES = 1 << 19 };

FILE *wanted_text;

static FILE *results;
static char text_wanted[TEXT_BYTES];
static char results_wanted[TEXT_BYTES];

void
wanted_begin(void)
{
    text_wanted[0] = results_wanted[0] = '\0';
    wanted_text = fmemopen(text_wanted, sizeof text_wanted, "w");
    results = fmemopen(results_wanted, sizeof results_wanted, "w");
    assert_non_null(wanted_text);
    assert_non_null(results);
}

void
wanted_end(void)
{
    assert_int_equal(fclose(wanted_text), 0);
    assert_int_equal(fclose(results), 0);
}

const char *
wanted_path(const char *name)
{
    static char paths[8][128];
    static int last;

    last = (last + 1) % 8;
    snprintf(paths[last], sizeof paths[last], "%s/%s", merge_folder(), name);
    return paths[last];
}

void
wanted_take_file(const char *name, char *text, size_t room)
{
    FILE *file = fopen(wanted_path(name), "r");

    assert_non_null(file);
    text[fread(text, 1, room - 1, file)] = '\0';
    assert_int_equal(fclose(file), 0);
    assert_int_equal(unlink(wanted_path(name)), 0);
}

void
wanted_member(const char *name, const char *format, ...)
{
    va_list values;

    va_start(values, format);
    fprintf(results, ",\n      \"%s\": \"", name);
    vfprintf(results, format, values);
    fputc('"', results);
    va_end(values);
}

void
wanted_result(const char *subject, const char *name, enum props_property about,
              const char *verdict)
{
    fputs(ftell(results) > 0 ? ",\n    {\n" : "    {\n", results);
    fprintf(results, "      \"subject\": \"%s\"", subject);
    wanted_member("name", "%s", name);
    if (about != PROPS_NONE)
        wanted_member("about", "%s", props_property_sentence(about));
    wanted_member("verdict", "%s", verdict);
}

void
wanted_rest(const char *counts, const char *replay)
{
    fprintf(results, ",\n      \"counts\": {%s}", counts);
    if (replay != NULL)
        wanted_member("replay", "%s", replay);
    fputs("\n    }", results);
}

static enum cli_exit (*command_run)(int argc, char **argv);

/* Output and errors in order, though one is written by characters. */
static enum cli_exit
run_unbuffered(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IONBF, 0);
    return command_run(argc, argv);
}

void
wanted_failure(uint64_t seed, const char *counts, const char *path,
               const char *replay)
{
    fprintf(results, ",\n      \"seed\": %" PRIu64, seed);
    fprintf(results, ",\n      \"counts\": {%s}", counts);
    wanted_member("saved", "%s.sim", path);
    wanted_member("page", "%s.html", path);
    wanted_member("replay", "%s", replay);
    fputs("\n    }", results);
}

void
wanted_seeds(uint64_t first, uint64_t last, const char *counts)
{
    fprintf(results,
            ",\n      \"seeds\": {\"first\": %" PRIu64 ", \"last\": %" PRIu64
            "}",
            first, last);
    wanted_rest(counts, NULL);
}

/* Compare line by line, as messages of cmocka are cut. */
static void
expect_same(const char *found, const char *wanted)
{
    while (*found != '\0' && *found == *wanted) {
        const size_t bytes = strcspn(found, "\n") + 1;

        if (strncmp(found, wanted, bytes) != 0)
            break;
        found += bytes - (found[bytes - 1] == '\0');
        wanted += bytes - (wanted[bytes - 1] == '\0');
    }
    if (strcmp(found, wanted) != 0)
        fail_msg("found:\n%.400s\nwanted:\n%.400s", found, wanted);
}

void
wanted_expect(const struct captured *said)
{
    expect_same(said->text, text_wanted);
}

/* Check the results in the report, and remove it. */
static void
expect_report(void)
{
    static char text[TEXT_BYTES];
    char *begin;
    char *end;

    wanted_take_file("a.json", text, sizeof text);
    begin = strstr(text, "\"results\": [");
    assert_non_null(begin);
    begin += strlen("\"results\": [");
    begin += *begin == '\n';
    end = strstr(begin, results_wanted[0] != '\0' ? "\n  ]\n}\n" : "]\n}\n");
    assert_non_null(end);
    *end = '\0';
    expect_same(begin, results_wanted);
}

/* Drop the line with the time and the speed. */
static void
drop_speed(char *text)
{
    char *end = strstr(text, " million events/s\n");
    char *begin = end;

    if (end == NULL)
        return;
    while (begin > text && begin[-1] != '\n')
        begin--;
    end = strchr(end, '\n') + 1;
    memmove(begin, end, strlen(end) + 1);
}

static void
run(enum cli_exit (*command)(int argc, char **argv), char **argv, int input,
    int exit_code, bool exact)
{
    struct captured said;

    command_run = command;
    assert_true(captured_run(&said, run_unbuffered, argv, input, SECONDS));
    drop_speed(said.text);
    if (exact)
        wanted_expect(&said);
    else
        merge_expect(&said, true, "%s", text_wanted);
    merge_expect_exit(&said, exit_code);
    captured_free(&said);
    expect_report();
}

void
wanted_run(enum cli_exit (*command)(int argc, char **argv), char **argv,
           int input, int exit_code)
{
    run(command, argv, input, exit_code, true);
}

void
wanted_run_at_least(enum cli_exit (*command)(int argc, char **argv),
                    char **argv, int exit_code)
{
    run(command, argv, -1, exit_code, false);
}
