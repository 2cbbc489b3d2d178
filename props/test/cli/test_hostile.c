/*
 * test_hostile.c -- malicious files: their texts are escaped before they are
 * printed, sizes that they only claim take no memory, and damaged files are
 * refused.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "captured.h"
#include "command.h"
#include "explore.h"
#include "folder.h"
#include "mutants.h"
#include "recfile.h"
#include "trace.h"
#include "unit_test.h"

enum { SECONDS = 60 };

static struct captured captured;

static int
make_folder(void **state)
{
    return folder_make(state) != 0 || chdir(folder) != 0;
}

static void
write_file(const char *path, const void *bytes, size_t bytes_count)
{
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, bytes_count, file), bytes_count);
    assert_int_equal(fclose(file), 0);
}

/* Run a command on the file; whatever the file holds, only printable text may
 * be printed. */
static void
run_on(enum cli_exit (*command)(int, char **), const char *name,
       const char *path)
{
    char *words[] = {(char *)(uintptr_t)name, (char *)(uintptr_t)path, NULL};

    captured_free(&captured);
    assert_true(captured_run(&captured, command, words, -1, SECONDS));
    assert_int_equal(captured.signal, 0);
    for (size_t i = 0; i < captured.text_bytes; i++)
        assert_true(
            captured.text[i] == '\n' ||
            ((uint8_t)captured.text[i] >= ' ' && captured.text[i] != 0x7f));
}

/* Check that the last command took no more memory than a file of this size
 * justifies. */
static void
assert_below_ceiling(const char *path)
{
    struct stat status;

    assert_int_equal(stat(path, &status), 0);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__clang__) /* shadow memory */
    assert_true(captured.peak_bytes <
                ((size_t)64 << 20) + 64 * (size_t)status.st_size);
#endif
}

/* ---- recordings ---- */

/* Write a recording with one allocation, in a function and a module of these
 * names. */
static void
write_recording(const char *path, const char *function, const char *module)
{
    static const uint64_t none[CLI_RECFILE_CAUSES];
    const char *arguments[] = {"prog"};
    const struct cli_recfile_about about = {.ticks_per_second = 1000,
                                            .depth_max = 8,
                                            .arguments_count = 1,
                                            .arguments = arguments};
    const struct cli_recfile_frame frame = {
        .pc = 0x1010, .module = 1, .function = 1, .file = 2, .line = 3};
    const struct cli_recfile_module mapped = {
        .start = 0x1000, .length_bytes = 0x1000, .path = 2};
    const uint32_t stack[] = {0};
    struct cli_recfile file;

    cli_recfile_init(&file, 0);
    cli_recfile_about(&file, &about);
    cli_recfile_string(&file, function);
    cli_recfile_string(&file, module);
    cli_recfile_module(&file, &mapped);
    cli_recfile_frame(&file, &frame);
    cli_recfile_stack(&file, stack, 1);
    cli_recfile_thread(&file, 1, "");
    cli_recfile_alloc(&file, 0, 1, 64, 0);
    cli_recfile_end(&file, none);
    assert_false(file.failed);
    write_file(path, file.bytes, file.bytes_count);
    cli_recfile_release(&file);
}

static char *
slurp(const char *path)
{
    static char text[65536];
    FILE *file = fopen(path, "rb");
    size_t bytes;

    assert_non_null(file);
    bytes = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[bytes] = '\0';
    return text;
}

TEST(a_recording_cannot_print_its_own_verdict)
{
    write_recording("verdict.rec",
                    "f\n\nverdict: H1 broken at event 1: forged\x1b[2J\xff",
                    "/m");
    run_on(cli_show, "show", "verdict.rec");
    assert_int_equal(captured.exit_code, CLI_OK);
    assert_non_null(strstr(captured.text,
                           "f\\n\\nverdict: H1 broken at event 1: "
                           "forged\\x1b[2J\\xff"));
    assert_null(strstr(captured.text, "\nverdict: H1"));
    run_on(cli_check, "check", "verdict.rec");
    assert_int_equal(captured.exit_code, CLI_OK);
    assert_non_null(strstr(captured.text, "\nverdict: every property"));
    write_recording("module.rec", "", "/lib/m\nverdict: forged");
    run_on(cli_show, "show", "module.rec");
    assert_null(strstr(captured.text, "\nverdict: forged"));
}

TEST(a_path_cannot_print_a_line)
{
    write_recording("a\nb: ok", "f", "/m");
    run_on(cli_show, "show", "a\nb: ok");
    assert_int_equal(strncmp(captured.text, "a\\nb: ok: ", 10), 0);
    run_on(cli_run, "run", "no\nsuch\x1b.sim");
    assert_int_equal(captured.exit_code, CLI_USAGE);
    assert_non_null(strstr(captured.text, "no\\nsuch\\x1b.sim: "));
    run_on(cli_replay, "replay", "no\nsuch.sim");
    run_on(cli_explain, "explain", "no\nsuch.sim");
    run_on(cli_shrink, "shrink", "no\nsuch.sim");
}

TEST(a_name_cannot_end_a_line_of_a_profile)
{
    char *words[] = {"show", "--out", "out", "names.rec", NULL};

    write_recording("names.rec", "f\n---\n0x1 g\n", "/m\n---");
    captured_free(&captured);
    assert_true(captured_run(&captured, cli_show, words, -1, SECONDS));
    assert_int_equal(captured.exit_code, CLI_OK);
    assert_non_null(strstr(slurp("out/heap.symbolized"),
                           " f\\n---\\n0x1 g\\n\n---\nheap profile: "));
    assert_null(strchr(slurp("out/heap.txt"), 'g')); /* no name is in it */
    assert_non_null(strstr(slurp("out/peak.folded"), "f\\n---\\n0x1 g\\n"));
}

/* ---- mutants ---- */

static const char table[] = "name,kind,verdict,by,runs\n"
                            "\"a.c f: \"\"x\"\" -> y\",order,failed,t u,\n"
                            "\"b.c g: 1 -> 2\",constant,equivalent,,\n"
                            "\"b.c h: 1 -> 2\",constant,survives,,5\n";

/* Compute the checksum as cksum(1) does, by code of its own. */
static size_t
make_table(char *text, const char *rows, unsigned rows_count)
{
    char command[256];
    char sum[32];
    FILE *pipe;

    write_file("rows", rows, strlen(rows));
    snprintf(command, sizeof command, "cksum rows");
    pipe = popen(command, "r");
    assert_non_null(pipe);
    assert_int_equal(fscanf(pipe, "%31s", sum), 1);
    pclose(pipe);
    return (size_t)sprintf(text, "%send,%u,%s\n", rows, rows_count, sum);
}

static int
mutants_of(const void *bytes, size_t bytes_count)
{
    write_file("table", bytes, bytes_count);
    run_on(cli_mutants, "mutants", "table");
    return captured.exit_code;
}

TEST(a_table_of_mutants_is_whole_or_refused)
{
    char text[512];
    const size_t bytes = make_table(text, table, 3);

    assert_int_equal(mutants_of(text, bytes), CLI_BROKEN); /* one survives */
    assert_non_null(strstr(captured.text, "b.c                            2"));
    assert_non_null(strstr(captured.text, "t                              1"));
    for (size_t i = 0; i < bytes; i++)
        assert_int_equal(mutants_of(text, i), CLI_USAGE);
    for (size_t i = 0; i < bytes; i++) {
        text[i] ^= 1;
        assert_int_equal(mutants_of(text, bytes), CLI_USAGE);
        text[i] ^= 1;
    }
    memcpy(text + bytes, "x", 2);
    assert_int_equal(mutants_of(text, bytes + 1), CLI_USAGE);
}

TEST(a_row_of_mutants_is_right_or_named)
{
    static const struct {
        const char *rows;
        const char *want;
    } rows[] = {
        {"a,b,c\n", "table:2: not a row of five fields"},
        {"a,b,failed,t,,\n", "table:2: not a row of five fields"},
        {"\"a,b,failed,t,\n", "table:2: not a row of five fields"},
        {"a,b,better,t,\n", "table:2: not a verdict on a mutant"},
        {"a,b,failed,t\033,\n", "table:2: not a text file"},
    };
    char text[512];
    char all[256];

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        snprintf(all, sizeof all, "name,kind,verdict,by,runs\n%s",
                 rows[i].rows);
        assert_int_equal(mutants_of(text, make_table(text, all, 1)), CLI_USAGE);
        assert_non_null(strstr(captured.text, rows[i].want));
    }
}

/* ---- memory ---- */

TEST(a_directive_takes_no_memory_beyond_its_file)
{
    static const struct {
        const char *line;
        const char *want;
    } rows[] = {
        {"frames 100000000\n", "x.sim:2: 'frames 100000000' asks for 1"},
        {"frames 4294967295\n", "x.sim:2: 'frames 4294967295' asks for 6"},
        {"# no\nbuckets 134217728\n", "x.sim:3: 'buckets 134217728' asks"},
        {"frames 9\nbuckets 200000\n", "x.sim:3: 'buckets 200000' asks for"},
        {"buckets 9\nframes 5000000\n", "x.sim:3: 'frames 5000000' asks for"},
    };
    char text[256];

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        snprintf(text, sizeof text, "profsim scenario 2\n%ssnapshot-all\n",
                 rows[i].line);
        write_file("x.sim", text, strlen(text));
        run_on(cli_run, "run", "x.sim");
        assert_int_equal(captured.exit_code, CLI_USAGE);
        if (strstr(captured.text, rows[i].want) == NULL)
            fail_msg("%s", captured.text);
    }
    snprintf(text, sizeof text,
             "profsim scenario 2\nbuckets 60000\nsnapshot-all\n");
    write_file("x.sim", text, strlen(text));
    run_on(cli_run, "run", "x.sim");
    assert_int_equal(captured.exit_code, CLI_OK);
    assert_below_ceiling("x.sim");
    run_on(cli_explain, "explain", "x.sim");
    assert_int_equal(captured.exit_code, CLI_OK);
    assert_below_ceiling("x.sim");
}

/* The bytes behind a header are not a trace: they are not read to the end. */
TEST(a_trace_is_read_up_to_what_is_none)
{
    static const char bytes[] = "go 1.5 trace\0\0\0\0\0";
    char *words[] = {"trace", "check", "sparse", NULL};

    write_file("sparse", bytes, sizeof bytes);
    assert_int_equal(truncate("sparse", (off_t)1 << 32), 0);
    captured_free(&captured);
    assert_true(captured_run(&captured, cli_trace, words, -1, SECONDS));
    assert_string_equal(captured.text, "sparse: error: offset 0x10: unknown "
                                       "event type 0\n");
#if !defined(__SANITIZE_ADDRESS__) && !defined(__clang__)
    assert_true(captured.peak_bytes < (size_t)64 << 20);
#endif
}

TEST(recordings_of_one_kind_of_record_stay_below_the_ceiling)
{
    enum { BYTES = 4 << 20 };
    static const uint64_t none[CLI_RECFILE_CAUSES];
    const struct cli_recfile_about about = {.ticks_per_second = 1000,
                                            .depth_max = 128};
    uint32_t stack[128] = {0};
    struct cli_recfile file;

    for (int kind = 0; kind < 3; kind++) {
        cli_recfile_init(&file, 0);
        cli_recfile_about(&file, &about);
        while (kind == 0 && file.bytes_count < BYTES)
            cli_recfile_string(&file, "");
        cli_recfile_frame(&file, &(struct cli_recfile_frame){.pc = 1});
        cli_recfile_frame(&file, &(struct cli_recfile_frame){.pc = 2});
        while (kind == 1 && file.bytes_count < BYTES) {
            stack[0] = !stack[0]; /* all other frames are shared */
            cli_recfile_stack(&file, stack, 128);
        }
        if (kind != 1)
            cli_recfile_stack(&file, stack, 128);
        cli_recfile_thread(&file, 1, "");
        for (uint64_t i = 0; kind == 2 && file.bytes_count < BYTES; i++)
            cli_recfile_alloc(&file, 0, 1, i, 0);
        cli_recfile_end(&file, none);
        write_file("kind.rec", file.bytes, file.bytes_count);
        cli_recfile_release(&file);
        run_on(cli_show, "show", "kind.rec");
        assert_below_ceiling("kind.rec");
        run_on(cli_check, "check", "kind.rec");
        assert_below_ceiling("kind.rec");
    }
}

/* ---- names and pipes ---- */

/* Run a command whose standard input is a pipe with `bytes`. */
static void
run_on_pipe(enum cli_exit (*command)(int, char **), const char *name,
            const void *bytes, size_t bytes_count)
{
    char *words[] = {(char *)(uintptr_t)name, (char[]){"-"}, NULL};
    int ends[2];

    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], bytes, bytes_count), bytes_count);
    close(ends[1]);
    captured_free(&captured);
    assert_true(captured_run(&captured, command, words, ends[0], SECONDS));
    close(ends[0]);
}

static const char scenario[] = "profsim scenario 2\n"
                               "stack s = f>g\n"
                               "alloc o s 8\n"
                               "snapshot-all\n"
                               "  expect s 8 1/0\n";

static const char traced[] = "profsim scenario 2\nscheduled\n"
                             "instruments trace\np0: proc-start\n";

TEST(a_pipe_works_where_a_file_does)
{
    static char bytes[4096];
    FILE *file;
    size_t count;

    run_on_pipe(cli_run, "run", scenario, sizeof scenario - 1);
    assert_string_equal(captured.text, "-: ok\n");
    run_on_pipe(cli_replay, "replay", scenario, sizeof scenario - 1);
    assert_int_equal(captured.exit_code, CLI_OK);
    run_on_pipe(cli_explain, "explain", scenario, sizeof scenario - 1);
    assert_int_equal(captured.exit_code, CLI_OK);
    run_on_pipe(cli_run, "run", traced, sizeof traced - 1);
    assert_string_equal(captured.text, "-: ok\n");
    run_on_pipe(cli_replay, "replay", traced, sizeof traced - 1);
    assert_int_equal(captured.exit_code, CLI_OK);
    count = make_table(bytes, table, 3);
    run_on_pipe(cli_mutants, "mutants", bytes, count);
    assert_int_equal(captured.exit_code, CLI_BROKEN);
    write_recording("pipe.rec", "f", "/m");
    file = fopen("pipe.rec", "rb");
    assert_non_null(file);
    count = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    run_on_pipe(cli_show, "show", bytes, count);
    assert_int_equal(captured.exit_code, CLI_OK);
}

TEST(what_a_file_is_its_content_says)
{
    write_file("scenario.rec", scenario, sizeof scenario - 1);
    run_on(cli_run, "run", "scenario.rec");
    assert_string_equal(captured.text, "scenario.rec: ok\n");
    write_recording("recording.sim", "f", "/m");
    run_on(cli_show, "show", "recording.sim");
    assert_int_equal(captured.exit_code, CLI_OK);
    write_file("traced.rec", traced, sizeof traced - 1);
    run_on(cli_run, "run", "traced.rec");
    assert_string_equal(captured.text, "traced.rec: ok\n");
    write_file("text.sim", "hello\n", 6);
    run_on(cli_run, "run", "text.sim");
    assert_int_equal(captured.exit_code, CLI_USAGE);
    assert_non_null(strstr(captured.text, "text.sim: not a scenario"));
    run_on(cli_run, "run", "/dev/zero");
    assert_int_equal(captured.exit_code, CLI_USAGE);
}

int
main(void)
{
    const int failed = tests_run(make_folder, folder_clear);

    captured_free(&captured);
    return failed;
}
