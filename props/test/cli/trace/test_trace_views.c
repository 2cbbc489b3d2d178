/*
 * test_trace_views.c -- `profsim trace` on traces with large numbers and with
 * everything that a trace can have: what a viewer shows of a converted trace,
 * the sums that are printed, and what happens when memory or the disk is full.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "captured.h"
#include "folder.h"
#include "refused_memory.h"
#include "trace.h"
#include "trace_large.h"
#include "trace_reader.h"
#include "trace_script.h"
#include "trace_shown.h"
#include "trace_stat.h"
#include "trace_times.h"
#include "unit_test.h"

enum { SECONDS = 60, REQUESTS_MAX = 400 };

static char in_path[sizeof folder + 16];
static char out_path[sizeof folder + 16];

/* ---- The command, in a process of its own ---- */

static size_t most_bytes;   /* of a file; 0: no limit */
static const char *says_to; /* where the output goes; NULL: into memory */

static uint32_t asked_to_fail; /* the request for memory that fails; 0: none */

static enum cli_exit
trace_with_limits(int argc, char **argv)
{
    const struct rlimit limit = {most_bytes, most_bytes};

    if (most_bytes > 0 && (signal(SIGXFSZ, SIG_IGN) == SIG_ERR ||
                           setrlimit(RLIMIT_FSIZE, &limit) != 0))
        return CLI_NOT_FOUND;
    if (says_to != NULL && freopen(says_to, "w", stdout) == NULL)
        return CLI_NOT_FOUND;
    refused_memory_at = asked_to_fail;
    return cli_trace(argc, argv);
}

/* Run the command; its words end in NULL. */
static struct captured
run(const char *first, ...)
{
    char *argv[12] = {strdup("trace")};
    struct captured said;
    int argc = 1;
    va_list words;

    va_start(words, first);
    for (const char *word = first; word != NULL && argc < 11;
         word = va_arg(words, const char *))
        argv[argc++] = strdup(word);
    va_end(words);
    assert_true(captured_run(&said, trace_with_limits, argv, -1, SECONDS));
    assert_int_equal(said.signal, 0);
    while (argc > 0)
        free(argv[--argc]);
    return said;
}

static char *
converted(const char *format, size_t *bytes)
{
    struct captured said =
        run("convert", "--to", format, in_path, "-o", out_path, NULL);
    uint8_t *text;

    if (said.exit_code != 0)
        fail_msg("%s", said.text);
    captured_free(&said);
    text = props_trace_load(out_path, bytes);
    text[*bytes] = '\0';
    assert_int_equal(unlink(out_path), 0);
    return (char *)text;
}

/* ---- Traces ---- */

/* All kinds of items, at least two of each; numbers that need 64 bits; slices
 * that stay open; two processors, and events outside all processors. */
static const char *const scripts[] = {
    "p0 create:1 start:1 end",
    "p-1 create:5 p3 start:5+2 heap:64 raw:0xc3 raw:4 raw:7 raw:2 raw:0x11 "
    "raw:0x22",
    "p0 procstart:7 procs:2 create:1 create:2 start:1+3 gcstart "
    "heap:1099511627776+1 nextgc:18446744073709551615 scanstart+2 scandone+9 "
    "sweepstart+1 sweepdone+3 gcdone send+1 procstop p1 procstart:4294967303 "
    "start:2+5 unblock:1+1 end+1 procstop",
    "p0 create:1 start:1 heap:4294967296+5000000000000 heap:4294967297 "
    "sched+281474976710656 start:1 sleep unblock:1+7 freq:1000000007",
    "p0 create:4294967297 start:4294967297 syscall+1 sysblock+2 "
    "sysexit:4294967297+40 start:4294967297+3 select+1 gcstart scanstart "
    "p1 procstart:5+9 sweepstart",
    "p0 create:1 create:2 start:1 sleep start:2 timer:2 unblock:1 block p1 "
    "create:3 start:3 net unblock:3 freq:3",
};

static void
write_script(const char *text)
{
    static struct props_trace_script script;
    FILE *file = fopen(in_path, "wb");

    memset(&script, 0, sizeof script);
    props_trace_script(&script, text);
    assert_non_null(file);
    fwrite(script.bytes, 1, script.bytes_count, file);
    assert_int_equal(fclose(file), 0);
}

static uint8_t *
read_trace(struct model_trace *trace)
{
    size_t count;
    uint8_t *bytes = props_trace_load(in_path, &count);

    model_trace_init(trace);
    if (model_trace_read(trace, bytes, count) != MODEL_TRACE_OK)
        fail_msg("offset %" PRIu64 ": %s", trace->reason.offset_bytes,
                 trace->reason.text);
    return bytes;
}

static void
expect_shown(const char *name)
{
    struct model_trace trace;
    uint8_t *bytes = read_trace(&trace);
    size_t count;
    char *wanted = trace_shown_wanted(&trace);
    char *file = converted("chrome", &count);
    char *shown = trace_shown_chrome(file);

    if (strcmp(shown, wanted) != 0)
        fail_msg("%s: wanted\n%s\nbut Chrome shows\n%s", name, wanted, shown);
    free(shown);
    free(file);
    file = converted("perfetto", &count);
    shown = trace_shown_perfetto((const uint8_t *)file, count);
    if (strcmp(shown, wanted) != 0)
        fail_msg("%s: wanted\n%s\nbut Perfetto shows\n%s", name, wanted, shown);
    free(shown);
    free(file);
    free(wanted);
    model_trace_release(&trace);
    free(bytes);
}

static void
expect_times(const char *name)
{
    struct model_trace trace;
    uint8_t *bytes = read_trace(&trace);
    char *wanted = trace_times_wanted(&trace, in_path);
    struct captured said = run("stat", in_path, NULL);

    if (strcmp(said.text, wanted) != 0)
        fail_msg("%s: wanted\n%s\nbut stat says\n%s", name, wanted, said.text);
    captured_free(&said);
    free(wanted);
    model_trace_release(&trace);
    free(bytes);
}

TEST(each_item_and_each_sum_is_that_of_its_events)
{
    static const char *const recorded[] = {
        "fixtures/trace/recorded/http_1_5_good",
        "fixtures/trace/recorded/stress_1_5_good"};

    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        write_script(scripts[i]);
        expect_shown(scripts[i]);
        expect_times(scripts[i]);
    }
    assert_int_equal(unlink(in_path), 0);
    for (size_t i = 0; i < sizeof recorded / sizeof *recorded; i++) {
        size_t count;
        uint8_t *bytes = props_trace_load(recorded[i], &count);
        FILE *file = fopen(in_path, "wb");

        assert_non_null(file);
        fwrite(bytes, 1, count, file);
        assert_int_equal(fclose(file), 0);
        free(bytes);
        expect_shown(recorded[i]);
        expect_times(recorded[i]);
    }
    assert_int_equal(unlink(in_path), 0);
}

/* ---- What is printed ---- */

static void __attribute__((format(printf, 2, 3)))
expect(const char *text, const char *format, ...)
{
    char wanted[512];
    va_list values;

    va_start(values, format);
    vsnprintf(wanted, sizeof wanted, format, values);
    va_end(values);
    if (strstr(text, wanted) == NULL)
        fail_msg("no \"%s\" in:\n%s", wanted, text);
}

#define LARGE UINT64_C(0x123456789a)

/* Make a task whose numbers all differ. */
static struct model_trace_task
task_of(uint64_t number)
{
    return (struct model_trace_task){
        .g = LARGE + number,
        .events = LARGE + 10 + number,
        .lifetime_ticks = LARGE + 20 + number,
        .span_ticks = {LARGE + 30, LARGE + 40, LARGE + 50, LARGE + 60}};
}

TEST(sums_of_more_than_32_bits_are_printed_whole)
{
    struct model_trace_task tasks[2] = {task_of(0), task_of(1)};
    struct model_trace_stat stat = {.tasks = tasks, .tasks_count = 2};
    struct model_trace trace = {.events_count = 1000,
                                .order_count = 990,
                                .ticks_per_second = 1000000000,
                                .batches = LARGE + 1,
                                .stack_records = LARGE + 2,
                                .futile_events = 10,
                                .duplicate_seqs = LARGE + 3};
    char *text = NULL;
    size_t bytes;
    FILE *to = open_memstream(&text, &bytes);

    assert_non_null(to);
    trace.wire.bytes_count = 12345678905; /* more than 2^33 */
    stat.span_ticks = LARGE + 4;
    stat.gc = (struct model_trace_phase){LARGE + 5, LARGE + 6};
    stat.scan = (struct model_trace_phase){LARGE + 7, LARGE + 8};
    stat.sweep = (struct model_trace_phase){1, LARGE + 9};
    stat.events_by_type[MODEL_TRACE_GO_START] = LARGE;
    model_trace_stat_print(&stat, &trace, to);
    assert_int_equal(fclose(to), 0);
    expect(text, "  bytes            12345678905\n  events           990\n"
                 "  futile-removed   10\n  bytes-per-event  12345678.90\n");
    expect(text, "  batches          %" PRIu64 "\n", LARGE + 1);
    expect(text, "  stacks           %" PRIu64 "\n", LARGE + 2);
    expect(text, "  duplicate-seqs   %" PRIu64 "\n", LARGE + 3);
    expect(text, "  span-ns          %" PRIu64 "\n", LARGE + 4);
    expect(text, "  gc-ns            %" PRIu64 " in %" PRIu64 "\n", LARGE + 6,
           LARGE + 5);
    expect(text, "  gc-scan-ns       %" PRIu64 " in %" PRIu64 "\n", LARGE + 8,
           LARGE + 7);
    expect(text, "  gc-sweep-ns      %" PRIu64 " in 1\n", LARGE + 9);
    expect(text, "  GoStart          %12" PRIu64 "\n", LARGE);
    for (uint64_t i = 0; i < 2; i++)
        expect(text,
               "  %8" PRIu64 " %8" PRIu64 " %14" PRIu64 " %14" PRIu64
               " %14" PRIu64 " %14" PRIu64 " %14" PRIu64 "\n",
               LARGE + i, LARGE + 10 + i, LARGE + 30, LARGE + 40, LARGE + 50,
               LARGE + 60, LARGE + 20 + i);
    free(text);
}

/* Print the line that a dump must have for an event. */
static void
print_event(FILE *to, const struct model_trace *trace,
            const struct model_trace_event *event)
{
    static const char *const places[] = {NULL, "timers", "network", "syscalls",
                                         "gc"};
    static const struct {
        const char *type;
        const char *arg;
    } args[] = {{"Gomaxprocs", "procs"}, {"ProcStart", "thread"},
                {"GoCreate", "new"},     {"GoUnblock", "target"},
                {"HeapAlloc", "bytes"},  {"NextGC", "bytes"}};
    const char *type =
        model_trace_type_name((enum model_trace_type)event->type);

    fprintf(to, "%" PRId64 " %" PRId64 " offset=0x%" PRIx64 " p=", event->seq,
            event->ticks, event->offset_bytes);
    if (event->track == MODEL_TRACE_ON_PROC)
        fprintf(to, "%" PRId64, model_trace_proc_id(trace, event->proc));
    else
        fputs(places[event->track], to);
    fprintf(to, " g=%" PRIu64 " %s", event->g, type);
    for (size_t i = 0; i < sizeof args / sizeof *args; i++) {
        if (strcmp(args[i].type, type) == 0)
            fprintf(to, " %s=%" PRIu64, args[i].arg, event->arg);
    }
    if (event->pc != 0)
        fprintf(to, " pc=0x%" PRIx64, event->pc);
    if (event->stack != 0)
        fprintf(to, " stack=%" PRIu64, event->stack);
    fputc('\n', to);
}

TEST(a_dump_has_all_of_each_event)
{
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        struct model_trace trace;
        struct captured said;
        char *wanted = NULL;
        size_t bytes;
        FILE *to = open_memstream(&wanted, &bytes);
        uint8_t *file;

        write_script(scripts[i]);
        file = read_trace(&trace);
        for (uint32_t at = 0; at < trace.order_count; at++)
            print_event(to, &trace, &trace.events[trace.order[at]]);
        if (i == 1)
            fputs("stack 7: 0x11 0x22\n", to);
        assert_int_equal(fclose(to), 0);
        said = run("dump", in_path, NULL);
        assert_int_equal(said.exit_code, 0);
        assert_string_equal(said.text, wanted);
        captured_free(&said);
        model_trace_release(&trace);
        free(file);
        free(wanted);
    }
    assert_int_equal(unlink(in_path), 0);
}

/* ---- Several files, of which some are wrong ---- */

TEST(each_file_has_its_own_verdict)
{
    static const char bad[] = "fixtures/trace/vectors/08-type-0.trace";
    static const char *const verbs[] = {"check", "dump", "stat"};

    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        for (int where = 0; where < 3; where++) {
            const char *paths[] = {in_path, in_path, in_path};
            struct captured said;
            char *second;

            write_script("p0 create:1 start:1 end");
            paths[where] = i == 0 ? folder : bad;
            said = run(verbs[i], paths[0], paths[1], paths[2], NULL);
            assert_int_equal(said.exit_code, 1);
            expect(said.text,
                   i == 0 ? "%s: error: cannot be read: Is a "
                            "directory\n"
                          : "%s: error: offset 0x27: ",
                   paths[where]);
            /* The other two files are complete. */
            second = strstr(said.text, i == 0 ? ": ok 3 events\n" : "GoEnd");
            assert_non_null(second);
            assert_non_null(
                strstr(second + 1, i == 0 ? ": ok 3 events\n" : "GoEnd"));
            captured_free(&said);
        }
    }
    assert_int_equal(unlink(in_path), 0);
}

/* ---- Large files ---- */

TEST(a_large_file_is_read_to_its_end)
{
    struct captured said;

    trace_large_write(in_path);
    said = run("stat", in_path, NULL);
    assert_int_equal(said.exit_code, 0);
    expect(said.text, "  stacks           %d\n", TRACE_LARGE_STACKS);
    captured_free(&said);
    assert_int_equal(unlink(in_path), 0);
}

/* ---- Limits ---- */

static const char *const all[][5] = {
    {"check", in_path},
    {"dump", in_path},
    {"stat", in_path},
    {"convert", "--to=chrome", in_path, "-o", out_path},
    {"convert", "--to=perfetto", in_path, "-o", out_path}};

static struct captured
run_one(size_t i)
{
    return run(all[i][0], all[i][1], all[i][2], all[i][3], all[i][4], NULL);
}

/* Remove the file. returns: its size; -1: it did not exist */
static off_t
written(void)
{
    struct stat status;
    const bool is_there = stat(out_path, &status) == 0;

    (void)unlink(out_path);
    return is_there ? status.st_size : -1;
}

/* Let each request for memory fail in turn. Either that is reported and no file
 * is written; or the memory was not needed, and nothing is missing. */
TEST(without_memory_a_verb_fails_and_says_why)
{
    write_script(scripts[2]);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct captured whole = run_one(i);
        const off_t whole_bytes = written();
        uint32_t refused = 0;

        assert_int_equal(whole.exit_code, 0);
        for (uint32_t k = 1; k < REQUESTS_MAX; k++) {
            struct captured said;

            asked_to_fail = k;
            said = run_one(i);
            asked_to_fail = 0;
            if (said.exit_code == 0) {
                assert_string_equal(said.text, whole.text);
                captured_free(&said);
                assert_int_equal(written(), whole_bytes);
                break;
            }
            refused++;
            assert_int_equal(said.exit_code, 1);
            expect(said.text, "memory");
            assert_int_not_equal(access(out_path, F_OK), 0);
            captured_free(&said);
        }
        assert_in_range(refused, 1, REQUESTS_MAX - 2);
        captured_free(&whole);
    }
    assert_int_equal(unlink(in_path), 0);
}

TEST(what_cannot_be_written_is_no_success)
{
    write_script(scripts[2]);
    says_to = "/dev/full";
    for (size_t i = 0; i < 3; i++) {
        struct captured said = run_one(i);

        assert_int_equal(said.exit_code, 1);
        assert_string_equal(said.text, ""); /* main() says why */
        captured_free(&said);
    }
    says_to = NULL;
    for (size_t i = 3; i < 5; i++) {
        for (most_bytes = 1; most_bytes < 2000; most_bytes = most_bytes * 7) {
            struct captured said = run_one(i);

            assert_int_equal(said.exit_code, 1);
            if (most_bytes > 300) /* the messages themselves fit */
                expect(said.text, "File too large");
            assert_int_not_equal(access(out_path, F_OK), 0);
            captured_free(&said);
        }
        most_bytes = 0;
    }
    assert_int_equal(unlink(in_path), 0);
}

static int
make_folder(void **state)
{
    const int status = folder_make(state);

    folder_path(in_path, sizeof in_path, "in");
    folder_path(out_path, sizeof out_path, "out");
    return status;
}

int
main(void)
{
    return tests_run(make_folder, folder_remove);
}
