/*
 * run_files.c -- a test of test_merge.c: what `profsim run` shows and writes of
 * a recording, with any of its options, compared with what the parts that show
 * a heap print and write for it; and the folders of several files.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check_recording.h"
#include "command.h"
#include "graphs.h"
#include "heap_report.h"
#include "input.h"
#include "kinds.h"
#include "merge_case.h"
#include "profiles.h"
#include "unit_test.h"
#include "wanted.h"

enum { SECONDS = 60, CASES = SANITIZED ? 4 : 16, WORDS_MAX = 12 };

static const char recorded[] = "fixtures/recordings/waits.rec";

/* What is asked for. */
static struct {
    const char *by; /* NULL: not given */
    uint64_t top;   /* 0: not given */
    bool folded;
    bool out;
    bool verdicts;
    bool page;
} now;

static void
show(const struct cli_heap_report *report)
{
    struct cli_call_tree *tree = cli_call_tree_new();
    bool good = tree != NULL;

    for (uint32_t i = 0; i < 3; i++)
        good =
            good && cli_call_tree_add(tree, i, report->calls, report->recording,
                                      report->heap, (enum cli_measure)i);
    good = good && cli_call_tree_finish(tree) &&
           (now.folded ? cli_graphs_folded(stdout, tree, report->measure)
                       : cli_heap_report_print(report)) &&
           (!now.out ||
            (cli_profiles_write_recording(wanted_path("reference"), recorded,
                                          report->recording, report->calls,
                                          report->heap) &&
             cli_graphs_write(wanted_path("reference"), tree, recorded)));
    cli_call_tree_delete(tree);
    if (!good)
        exit(CLI_CRASH);
}

/* Print and write what the command must. */
static enum cli_exit
refer(int argc, char **argv)
{
    struct cli_heap_report report = {
        .path = recorded, .top = now.top != 0 ? now.top : 10, .only = now.by};
    struct sim_recording_error error;
    struct sim_recording *recording;
    struct sim_live_heap heap;
    struct cli_report verdicts;
    struct sim_input input;

    if (!sim_input_read(&input, recorded) ||
        !sim_recording_take_input(&recording, &input, &error) ||
        !sim_live_heap_open(&heap, recording, NULL))
        return CLI_CRASH;
    if (now.by != NULL && !cli_measure_find(now.by, &report.measure))
        return CLI_CRASH;
    report.recording = recording;
    report.heap = &heap;
    report.calls = cli_calls_open(recording);
    show(&report);
    cli_calls_close((struct cli_calls *)(uintptr_t)report.calls);
    sim_live_heap_close(&heap);
    if (now.verdicts) {
        cli_report_begin(&verdicts, argc, argv);
        putchar('\n');
        fflush(stdout);
        cli_check_recording(recording, recorded, &prof_rules_exact, PROPS_ALL,
                            &verdicts);
        cli_report_drop(&verdicts, CLI_OK);
    }
    sim_recording_close(recording);
    sim_input_free(&input);
    return CLI_OK;
}

static int
shell(const char *format, const char *a, const char *b)
{
    char command[512];

    snprintf(command, sizeof command, format, a, b);
    return system(command);
}

/* Run the command as it is asked now, and the reference. */
static void
expect_shown(void)
{
    static char words[WORDS_MAX][160];
    char *argv[WORDS_MAX];
    struct captured reference;
    struct captured said;
    int argc = 0;

#define ADD(...) \
    snprintf(argv[argc] = words[argc], sizeof *words, __VA_ARGS__), argc++
    ADD("run");
    ADD("%s", recorded);
    ADD("--json=%s", wanted_path("a.json"));
    if (now.by != NULL)
        ADD("--by=%s", now.by);
    if (now.top != 0)
        ADD("--top=%d", (int)now.top);
    if (now.folded)
        ADD("--folded");
    if (now.verdicts)
        ADD("--verdicts");
    if (now.out)
        ADD("--out=%s", wanted_path("out"));
    if (now.page)
        ADD("--html=%s", wanted_path("a.html"));
    argv[argc] = NULL;
    assert_true(captured_run(&reference, refer, argv, -1, SECONDS));
    merge_expect_exit(&reference, 0);
    wanted_begin();
    fputs(reference.text, wanted_text);
    if (!now.verdicts) {
        wanted_result("files", recorded, PROPS_NONE, "not-tried");
        wanted_member("text", "its heap was shown; --verdicts judges the "
                              "library on it");
        wanted_rest("", NULL);
    }
    wanted_end();
    captured_free(&reference);
    if (now.verdicts) { /* its results are those of another test */
        assert_true(captured_run(&said, cli_run, argv, -1, SECONDS));
        wanted_expect(&said);
        merge_expect_exit(&said, 0);
        captured_free(&said);
        assert_int_equal(unlink(wanted_path("a.json")), 0);
    } else {
        wanted_run(cli_run, argv, -1, 0);
    }
    assert_int_equal(access(wanted_path("a.html"), F_OK), now.page ? 0 : -1);
    assert_int_equal(unlink(wanted_path("a.html")), now.page ? 0 : -1);
    assert_int_equal(access(wanted_path("out"), F_OK), now.out ? 0 : -1);
    if (now.out) {
        assert_int_equal(shell("diff -r %s %s >/dev/null", wanted_path("out"),
                               wanted_path("reference")),
                         0);
        assert_int_equal(
            shell("rm -r %s %s", wanted_path("out"), wanted_path("reference")),
            0);
    }
}

/* ---- Scenarios ---- */

/* Run scenarios; each of those that ran has its profiles in a folder of its
 * own, if there are several. */
static void
expect_folders(int count)
{
    char words[5][160] = {"run"};
    char *argv[6] = {words[0]};
    struct captured said;

    for (int i = 0; i < count; i++) {
        argv[i + 1] = words[i + 1];
        snprintf(words[i + 1], sizeof *words, "%s", wanted_path(kinds[i].name));
        kind_write(kinds[i].name, kinds[i].text);
    }
    argv[count + 1] = words[count + 1];
    argv[count + 2] = NULL;
    snprintf(words[count + 1], sizeof *words, "--out=%s", wanted_path("out"));
    assert_true(captured_run(&said, cli_run, argv, -1, SECONDS));
    merge_expect_exit(&said, count > 2 ? 2 : 0); /* the third is wrong */
    captured_free(&said);
    for (int i = 0; i < count; i++) {
        char name[64];

        snprintf(name, sizeof name, "out/%s%sheap.txt",
                 count > 1 ? kinds[i].name : "", count > 1 ? "/" : "");
        assert_int_equal(access(wanted_path(name), R_OK), 0);
        assert_int_equal(unlink(wanted_path(kinds[i].name)), 0);
    }
    assert_int_equal(shell("rm -r %s%s", wanted_path("out"), ""), 0);
}

/* ---- Words ---- */

static void
expect_refused(void)
{
    static const struct {
        const char *words[4];
        const char *said;
    } rows[] = {
        {{"run", "--by=x"}, "--by takes peak, exit or allocs, not 'x'"},
        {{"run", "--debug=x"}, "--debug takes alloc, not 'x'"},
        {{"run", "--out="}, "--out needs the name of a folder"},
        {{"run", "--top=0"},
         "--top takes a whole number from 1 to 4294967295, not '0'"},
        {{"run", "a.sim", "b.sim", "--html=x"},
         "--html and --data take one file"},
        {{"run", "--html=x"}, "needs a FILE"},
        {{"run", recorded, "--subject=own"},
         "--subject is for scenarios, and this is a recording"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char words[4][64];
        char *argv[5] = {NULL};
        struct captured said;

        for (int k = 0; k < 4 && rows[i].words[k] != NULL; k++) {
            argv[k] = words[k];
            snprintf(words[k], sizeof words[k], "%s", rows[i].words[k]);
        }
        assert_true(captured_run(&said, cli_run, argv, -1, SECONDS));
        merge_expect_exit(&said, 1);
        merge_expect(&said, true, "%s", rows[i].said);
        assert_ptr_equal(strchr(said.text, '\n'),
                         &said.text[said.text_bytes - 1]);
        captured_free(&said);
    }
}

/* A folder whose path is as long as a path may be, or one byte longer. */
static void
expect_long_folder(void)
{
    static char option[PATH_MAX + 16];
    char path[160];
    char word[] = "run";
    char *argv[] = {word, path, option, NULL};

    snprintf(path, sizeof path, "%s", wanted_path(kinds[0].name));
    kind_write(kinds[0].name, kinds[0].text);
    for (size_t bytes = PATH_MAX - 1; bytes <= PATH_MAX; bytes++) {
        const char *end = wanted_path("out");
        struct captured said;

        strcpy(option, "--out=");
        memset(&option[6], '/', bytes - strlen(end));
        strcpy(&option[6 + bytes - strlen(end)], end);
        assert_true(captured_run(&said, cli_run, argv, -1, SECONDS));
        merge_expect_exit(&said, 1); /* no file's path fits */
        merge_expect(&said, bytes == PATH_MAX,
                     "profsim: run: --out: %.40s...: name too long\n",
                     &option[6]);
        if (bytes == PATH_MAX) /* and nothing is run */
            assert_ptr_equal(strchr(said.text, '\n'),
                             &said.text[said.text_bytes - 1]);
        captured_free(&said);
    }
    assert_int_equal(unlink(path), 0);
    (void)rmdir(wanted_path("out"));
}

void
merge_run_files(void)
{
    static const char *const measures[] = {NULL, "peak", "exit", "allocs"};

    merge_seed(61);
    for (uint32_t i = 0; i < CASES; i++) {
        now.by = measures[merge_below(4)];
        now.top = merge_below(2) > 0 ? 1 + merge_below(3) : 0;
        now.folded = merge_below(3) == 0;
        now.out = merge_below(4) == 0;
        now.verdicts = merge_below(4) == 0;
        now.page = merge_below(6) == 0;
        expect_shown();
    }
    expect_folders(1);
    expect_folders(2);
    expect_folders(3);
    expect_refused();
    expect_long_folder();
    merge_written_worlds();
}
