/*
 * shown_scenarios.c -- a test of test_merge.c: what `profsim explain` and
 * `shrink` print of a scenario, which pages they write, and where `replay
 * --break` stops.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"
#include "explore.h"
#include "failure.h"
#include "kinds.h"
#include "merge_case.h"
#include "needed.h"
#include "subject_file.h"
#include "unit_test.h"
#include "wanted.h"

enum { SECONDS = 60, WORDS_MAX = 5, TEXT_BYTES = 1 << 16 };

/* One of two objects is freed. Under go1.6-late a flush between a sweep and the
 * next mark termination publishes the frees of that sweep too early. */
#define LATE                                             \
    "profsim scenario 2\nrules go1.6-late\nbuckets 64\n" \
    "stack s1 = 0x401010>0x401000\n\nalloc o1 s1 16\n"   \
    "alloc o2 s1 16\ndrop o1\ngc-mark\ngc-terminate\n"   \
    "gc-sweep o1\n"
#define CYCLE "          cycle "
#define NONE  "published 0 allocations, 0 frees; pending "
#define SHOWN(mark)                                            \
    "   1 " mark " alloc o1 s1 16\n" CYCLE "0; " NONE "1, 0\n" \
    "   2   alloc o2 s1 16\n" CYCLE "0; " NONE "2, 0\n"        \
    "   3 " mark " drop o1\n" CYCLE "0; " NONE "2, 0\n"        \
    "   4 " mark " gc-mark\n" CYCLE "0; " NONE "2, 0\n"        \
    "   5 " mark " gc-terminate\n" CYCLE "1; " NONE "2, 0\n"   \
    "   6 " mark " gc-sweep o1\n" CYCLE "1; " NONE "2, 1\n"
#define BAR "###############"
#define PLOT                                                 \
    "\nbytes in use (#), and published by the profile (=)\n" \
    "after         in use      published\n"                  \
    "    1             16              0  " BAR "\n"         \
    "    2             32              0  " BAR BAR "\n"     \
    "    3             32              0  " BAR BAR "\n"     \
    "    4             32              0  " BAR BAR "\n"     \
    "    5             32              0  " BAR BAR "\n"     \
    "    6             16              0  " BAR "\n"
#define OF_SUBJECT                                                          \
    "profsim scenario 2\ninstruments subject\nstack s = main\n\nalloc a s " \
    "14\n"

/* What is explained, and how; @ is the path. */
static const struct explained {
    const char *text;
    bool has_subject;
    int exit_code;
    const char *said;
} explained[] = {
    {LATE "gc-flush\nsnapshot-all\n", false, 2,
     "@: rules go1.6-late, 8 events; * without it the failure "
     "disappears\n\n" SHOWN(
         "*") "   7 * gc-flush\n" CYCLE
              "1 flushed; published 0 allocations, 1 frees; "
              "pending 2, 0\n"
              "   8 * snapshot-all\n          1 bucket: ok\n"
              "        - s1 16 bytes: 2 allocated, 1 freed   at mark "
              "termination 0\n"
              "        + s1 16 bytes: 0 allocated, 1 freed   shown\n" CYCLE
              "1 flushed; published 0 allocations, 1 frees; pending 2, 0\n" PLOT
              "    7             16            -16  " BAR "\n"
              "    8             16            -16  " BAR "\n\n"
              "H2 broken: no bucket ever shows more frees than allocations\n"
              "  event 8: bucket (stack 0x401000.., 2 frames, size 16) shows 0 "
              "allocations and 1 frees; at mark termination 0 it was 2 and "
              "1\n"},
    {LATE "gc-sweep o1\nsnapshot-all\n", false, 1,
     "@: rules go1.6-late, 8 events\n\n" SHOWN(
         " ") "profsim: @: event 7: the object has not been found dead, or was "
              "swept "
              "already\n"},
    {LATE, false, 0,
     "@: rules go1.6-late, 6 events\n\n" SHOWN(" ") PLOT
     "\nevery property holds\n"},
    {"profsim scenario 2\nprocs 2\nstack s1 = main\n\nalloc o1 s1 16\n"
     "gc-mark\nt1: stall 1000\ngc-terminate\n",
     false, 0,
     "@: rules exact, 4 events\n\n"
     "   1   alloc o1 s1 16\n" CYCLE "0; " NONE "1, 0\n"
     "   2   gc-mark\n" CYCLE "0; " NONE "1, 0\n"
     "   3   t1: stall 1000\n" CYCLE "0; " NONE "1, 0\n"
     "   4   gc-terminate\n" CYCLE "1; " NONE "1, 0\n"
     "          fault stall: a processor stalls in the middle of a "
     "collection\n"},
    {OF_SUBJECT "alloc b s 12\nsnapshot\nsnapshot\n", true, 2,
     "@: subject made, 4 events; * without it the failure disappears\n\n"
     "   1 * alloc a s 14\n   2   alloc b s 12\n   3   snapshot\n"
     "          1 records\n"
     "          shows  s: 1 live objects of 12 bytes\n\n"
     "A6 broken: at a rate of 1 every live object is shown, with its bytes\n"
     "  event 3: "},
    {OF_SUBJECT, false, 1,
     "profsim: @: it is for a subject: say which with --subject FILE\n"},
    {LATE "gc-swep o1\n", false, 1, "profsim: @:12: unknown event 'gc-swep'"},
};

static struct captured said;

/* Run a command on the files a.sim and, with `two`, b.sim. in: subject, whether
 * it has --subject; option, NULL: none */
static void
run(enum cli_exit (*command)(int, char **), const char *text, bool has_subject,
    const char *option)
{
    static char words[WORDS_MAX][256];
    char *argv[WORDS_MAX + 1];
    int argc = 0;

#define ADD(...) \
    snprintf(argv[argc] = words[argc], sizeof *words, __VA_ARGS__), argc++
    kind_write("a.sim", text);
    ADD("command");
    ADD("%s", wanted_path("a.sim"));
    if (option != NULL)
        ADD("%s", option);
    if (has_subject)
        ADD("--subject=%s", wanted_path("made.so"));
    argv[argc] = NULL;
    assert_true(captured_run(&said, command, argv, -1, SECONDS));
    assert_int_equal(unlink(wanted_path("a.sim")), 0);
}

/* The page's data repeat the failure with this command. in: behind "profsim
 * replay"; it, but for its end */
static void
expect_page(const char *command)
{
    static char text[TEXT_BYTES];
    char wanted[512];

    snprintf(wanted, sizeof wanted, "\"command\":\"profsim replay%s\",",
             command);
    wanted_take_file("page", text, sizeof text);
    assert_non_null(strstr(text, wanted));
}

static const char *
page_option(const char *name)
{
    static char option[128];

    snprintf(option, sizeof option, "--data=%s", wanted_path(name));
    return option;
}

/* The command that replays a.sim, without its first two words. */
static const char *
replay_words(bool has_subject)
{
    static char words[512];

    snprintf(words, sizeof words, "%s%s %s", has_subject ? " --subject " : "",
             has_subject ? wanted_path("made.so") : "", wanted_path("a.sim"));
    return words;
}

/* ---- explain ---- */

static void
expect_explained(const struct explained *row)
{
    static char wanted[TEXT_BYTES];
    const bool is_read = strstr(row->text, "gc-swep") == NULL;
    char *to = wanted;

    for (const char *at = row->said; *at != '\0'; at++) {
        if (*at == '@')
            to = stpcpy(to, wanted_path("a.sim"));
        else
            *to++ = *at;
    }
    *to = '\0';
    for (int i = 0; i < 3; i++) { /* without a page, with one, refused */
        const bool is_refused = i == 2 && is_read;

        run(cli_explain, row->text, row->has_subject,
            i == 0 ? NULL : page_option(i == 1 ? "page" : "no/page"));
        merge_expect_exit(&said, is_refused ? 1 : row->exit_code);
        if (strncmp(said.text, wanted, strlen(wanted)) != 0)
            fail_msg("%s\ninstead of:\n%s", said.text, wanted);
        merge_expect(&said, is_refused, "%s: No such file or directory",
                     wanted_path("no/page"));
        if (i == 1 && is_read)
            expect_page(replay_words(row->has_subject));
        captured_free(&said);
    }
}

/* Which events are needed is not asked of a scenario with many. */
static void
expect_many(int events)
{
    static char text[TEXT_BYTES];
    char *to = stpcpy(text, LATE);

    for (int i = 6 + 2; i < events; i++)
        to = stpcpy(to, "block-snapshot room=0\n");
    stpcpy(to, "gc-flush\nsnapshot-all\n");
    run(cli_explain, text, false, NULL);
    merge_expect_exit(&said, 2);
    merge_expect(&said, true, "%d events%s\n", events,
                 events <= CLI_NEEDED_EVENTS_MAX
                     ? "; * without it the failure disappears"
                     : "");
    merge_expect(&said, events <= CLI_NEEDED_EVENTS_MAX, "   5 * gc-term");
    captured_free(&said);
}

/* ---- shrink ---- */

static enum cli_exit
shrink_to_full_disk(int argc, char **argv)
{
    const int full = open("/dev/full", O_WRONLY);

    return full < 0 || dup2(full, 1) < 0 ? CLI_CRASH : cli_shrink(argc, argv);
}

/* in: kind, one that can be read */
static void
expect_shrunk(const struct kind *kind, bool has_subject)
{
    const bool of_subject = strstr(kind->text, "instruments subject") != NULL;
    char path[128];
    char command[512];
    struct props_failure failure;
    struct sim_error error;
    struct sim_scenario *scenario;

    snprintf(path, sizeof path, "%s", wanted_path("a.sim"));
    snprintf(command, sizeof command, "profsim shrink%s",
             replay_words(has_subject));
    scenario = kind_parse(path, kind->text, &error);
    run(cli_shrink, kind->text, has_subject, page_option("page"));
    if (scenario == NULL) {
        merge_expect_exit(&said, 1);
        merge_expect(&said, true, "profsim: %s\n", error.text);
        captured_free(&said);
        return;
    }
    if (of_subject)
        scenario->config.subject = has_subject ? made : NULL;
    assert_true(props_failure_of_scenario(
        &failure, scenario, of_subject ? PROPS_OF_SUBJECTS : PROPS_ALL,
        command));
    sim_scenario_free(scenario);
    merge_expect_exit(&said, failure.text != NULL ? 0 : 1);
    if (failure.text != NULL) {
        assert_string_equal(said.text, failure.text);
        expect_page(" SMALLER.sim");
        captured_free(&said);
        run(cli_shrink, kind->text, has_subject, page_option("no/page"));
        merge_expect_exit(&said, 1);
        merge_expect(&said, true, "%s", failure.text);
        captured_free(&said);
        run(shrink_to_full_disk, kind->text, has_subject, NULL);
        merge_expect_exit(&said, 1);
        assert_string_equal(said.text, ""); /* main() says why */
    } else {
        merge_expect(&said, true,
                     "profsim: %s: breaks nothing, so there is nothing to "
                     "shrink\n",
                     path);
    }
    captured_free(&said);
    props_failure_free(&failure);
}

/* ---- replay ---- */

/* Before an event of the scenario the process is stopped, not behind it. */
static void
expect_breaks(void)
{
    static const struct {
        const char *option;
        int signal;
        int exit_code;
        const char *said;
    } rows[] = {
        {"--break=1", SIGTRAP, -1, ""},
        {"--break=6", SIGTRAP, -1, ""},
        {"--break=7", 0, 0, "every property holds\n"},
        {"--break=1000000", 0, 0, "every property holds\n"},
        {"--break=1000001", 0, 1, "from 1 to 1000000, not '1000001'"},
        {"--break=0", 0, 1, "from 1 to 1000000, not '0'"},
        {"--break=x", 0, 1, "from 1 to 1000000, not 'x'"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        run(cli_replay, LATE, false, rows[i].option);
        assert_int_equal(said.signal, rows[i].signal);
        assert_int_equal(said.exit_code, rows[i].exit_code);
        merge_expect(&said, true, "%s", rows[i].said);
        captured_free(&said);
    }
}

/* A run that ends its process is in a process of its own, or in this one. */
static void
expect_crash(void)
{
    static const char crash[] = OF_SUBJECT "alloc b s 13\n";

    run(cli_replay, crash, true, page_option("page"));
    merge_expect_exit(&said, 3);
    expect_page(replay_words(true));
    captured_free(&said);
    run(cli_replay, crash, true, "--in-process");
    assert_int_equal(said.signal, SIGABRT);
    captured_free(&said);
}

/* Each of these commands leaves the file that it reads as it is. */
static void expect_pages(enum cli_exit (*command)(int, char **))
{
    char option[128];

    snprintf(option, sizeof option, "--json=%s", wanted_path("a.sim"));
    run(command, LATE, false, option);
    merge_expect_exit(&said, 1);
    merge_expect(&said, true, "it is an input");
    captured_free(&said);
    run(command, LATE, false, page_option("page"));
    merge_expect_exit(&said, 0);
    expect_page(replay_words(false));
    captured_free(&said);
    run(command, LATE, false, page_option("no/page"));
    merge_expect_exit(&said, 1);
    captured_free(&said);
    run(command, LATE "gc-swep o1\n", false, page_option("page"));
    merge_expect_exit(&said, 1);
    assert_int_equal(access(wanted_path("page"), F_OK), -1);
    captured_free(&said);
}

/* ---- explore ---- */

static const char no_list[] =
    "profsim: --replay takes up to 65536 numbers with commas, not ";

/* What is printed of a kernel that holds, and of lists that are none. in:
 * option; wanted, a part of the text; there, is it printed? */
static void
expect_explored(const char *option, int exit_code, const char *wanted,
                bool there)
{
    char words[3][128] = {"explore", "sb-relaxed"};
    char *argv[] = {words[0], words[1], option != NULL ? words[2] : NULL, NULL};

    snprintf(words[2], sizeof words[2], "%s", option != NULL ? option : "");
    assert_true(captured_run(&said, cli_explore, argv, -1, SECONDS));
    merge_expect_exit(&said, exit_code);
    merge_expect(&said, there, "%s", wanted);
    captured_free(&said);
}

void
merge_shown_scenarios(void)
{
    static const char *const lists[] = {"--replay=1,",  "--replay=x",
                                        "--replay=+1",  "--replay= 1",
                                        "--replay=1,,", "--replay=1x"};

    merge_make_subject();
    merge_explained();
    for (size_t i = 0; i < sizeof explained / sizeof *explained; i++)
        expect_explained(&explained[i]);
    expect_many(CLI_NEEDED_EVENTS_MAX);
    expect_many(CLI_NEEDED_EVENTS_MAX + 1);
    for (int i = 0; i < KINDS; i++) {
        if (kinds[i].text != NULL)
            expect_shrunk(&kinds[i],
                          strstr(kinds[i].text, "instruments") != NULL);
    }
    expect_breaks();
    if (!SANITIZED) { /* the sanitizer prints numbers beside fibers */
        expect_explored(NULL, 0, "no failure, so no page\n", false);
        expect_explored(page_option("page"), 0, "no failure, so no page\n",
                        true);
    }
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        expect_explored(lists[i], 1, no_list, true);
    expect_crash();
    expect_pages(cli_replay);
    expect_pages(cli_run);
    merge_page_buckets();
}
