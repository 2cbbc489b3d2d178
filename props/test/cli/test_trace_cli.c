/*
 * test_trace_cli.c -- the `trace` command: what it prints, what it writes.
 *
 * Independent readers check the converted files: json_check.c the JSON, protoc
 * with fixtures/trace/perfetto-subset.proto the protobuf. Their counts must
 * follow from the counts of the events, type by type.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "folder.h"
#include "json_check.h"
#include "trace.h"
#include "trace_reader.h"
#include "trace_script.h"
#include "trace_stat.h"
#include "trace_view.h"
#include "unit_test.h"

#define VECTORS "fixtures/trace/vectors/"
#define HTTP    "fixtures/trace/recorded/http_1_5_good"
#define STRESS  "fixtures/trace/recorded/stress_1_5_good"
#define GOOD    VECTORS "01-minimal-good.trace"
#define SKEWED  VECTORS "11-ts-regress-across-Ps.trace"
#define BROKEN  VECTORS "08-type-0.trace"

static char out_path[64];  /* in folder */
static char said[1 << 16]; /* what the command printed */
static char complained[4096];

/* Redirect a stream to a temporary file. returns: its old descriptor */
static int
divert(FILE *stream, FILE *to)
{
    const int saved = dup(fileno(stream));

    assert_non_null(to);
    assert_true(saved >= 0);
    assert_true(dup2(fileno(to), fileno(stream)) >= 0);
    return saved;
}

static void
restore(FILE *stream, int saved, FILE *from, char *text, size_t room)
{
    (void)fflush(stream);
    assert_true(dup2(saved, fileno(stream)) >= 0);
    (void)close(saved);
    rewind(from);
    text[fread(text, 1, room - 1, from)] = '\0';
    (void)fclose(from);
}

/* Run the command; its words end in NULL. returns: its exit code */
static int
run(const char *first, ...)
{
    char *argv[16] = {"trace"};
    int argc = 1;
    va_list words;

    va_start(words, first);
    for (const char *word = first; word != NULL && argc < 15;
         word = va_arg(words, const char *))
        argv[argc++] = strdup(word);
    va_end(words);

    FILE *out = tmpfile();
    FILE *err = tmpfile();
    (void)fflush(stdout);
    const int saved_out = divert(stdout, out);
    const int saved_err = divert(stderr, err);
    const int code = (int)cli_trace(argc, argv);
    restore(stdout, saved_out, out, said, sizeof said);
    restore(stderr, saved_err, err, complained, sizeof complained);
    for (int i = 1; i < argc; i++)
        free(argv[i]);
    return code;
}

TEST(check_prints_one_line_a_file_and_fails_unless_all_are_ok)
{
    assert_int_equal(run("check", GOOD, STRESS, HTTP, NULL), 0);
    assert_string_equal(said,
                        GOOD ": ok 4 events\n" STRESS ": ok 1279 events\n" HTTP
                             ": ok 7309 events\n");
    assert_int_equal(run("check", GOOD, SKEWED, BROKEN, "/nowhere", GOOD, NULL),
                     1);
    assert_string_equal(
        said, GOOD ": ok 4 events\n" SKEWED ": time-order: offset 0x1c: event "
                   "12 at tick 1100 follows event 11 at tick 5000 (offset "
                   "0x25)\n" BROKEN ": error: offset 0x27: unknown event type "
                   "0\n/nowhere: error: cannot be read: No such file or "
                   "directory\n" GOOD ": ok 4 events\n");
    assert_string_equal(complained, "");
}

TEST(a_file_without_an_end_gets_its_verdict)
{
    assert_int_equal(run("check", "/dev/zero", NULL), 1);
    assert_string_equal(said,
                        "/dev/zero: error: offset 0x0: not a trace file\n");
}

/* The first record has 3 bytes, others 4: the first 64 KiB end inside one. */
TEST(a_pipe_is_read_until_it_ceases_to_be_a_trace)
{
    static uint8_t bytes[1 << 20] = "go 1.5 trace\0\0\0\0\1";
    int status = 0;

    for (size_t at = 19; at < 70000; at += 4)
        bytes[at] = 0x41;
    assert_int_equal(mkfifo(out_path, 0600), 0);
    if (fork() == 0) {
        const int to = open(out_path, O_WRONLY | O_CLOEXEC);
        for (int i = 0; i < 9; i++) {
            if (write(to, bytes, sizeof bytes) != (ssize_t)sizeof bytes)
                _exit(7);
            memset(bytes, 0, sizeof bytes);
        }
        _exit(0);
    }
    assert_int_equal(run("check", out_path, NULL), 1);
    assert_int_equal(unlink(out_path), 0);
    assert_true(wait(&status) > 0);
    assert_true(WIFSIGNALED(status) || WEXITSTATUS(status) == 7);
}

TEST(wrong_usage_is_one_clear_line)
{
    static const char *const lines[][6] = {
        {NULL},
        {"look", GOOD},
        {"check"},
        {"check", "--fast", GOOD},
        {"convert"},
        {"convert", GOOD, "-o", "/tmp/x"},
        {"convert", "--to", "chrome", GOOD},
        {"convert", "--to", "svg", GOOD, "-o", "/tmp/x"},
        {"convert", "--to"},
        {"convert", "--to", "chrome", GOOD, GOOD, "-o"},
        {"convert", "-v", GOOD},
    };

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        const char *const *word = lines[i];
        assert_int_equal(
            run(word[0], word[1], word[2], word[3], word[4], word[5], NULL), 1);
        assert_string_equal(said, "");
        assert_true(strncmp(complained, "profsim: ", 9) == 0);
        assert_ptr_equal(strchr(complained, '\n'),
                         complained + strlen(complained) - 1);
    }
}

TEST(dump_writes_events_in_order_and_stacks)
{
    struct props_trace_script script;

    props_trace_script(&script, "p-1 create:5 p3 start:5+2 heap:64 "
                                "raw:0xc3 raw:4 raw:7 raw:2 raw:0x11 raw:0x22");
    FILE *file = fopen(out_path, "wb");
    assert_non_null(file);
    (void)fwrite(script.bytes, 1, script.bytes_count, file);
    (void)fclose(file);
    assert_int_equal(run("dump", out_path, NULL), 0);
    assert_string_equal(
        said, "1 1000 offset=0x1e p=-1 g=0 GoCreate new=5 pc=0x7 stack=7\n"
              "2 1002 offset=0x2a p=3 g=5 GoStart pc=0x7\n"
              "3 1002 offset=0x2e p=3 g=5 HeapAlloc bytes=64\n"
              "stack 7: 0x11 0x22\n");
    assert_int_equal(run("dump", SKEWED, NULL), 1);
    assert_non_null(strstr(complained, ": time-order: "));
}

TEST(times_of_a_goroutine_are_what_a_stopwatch_says)
{
    struct props_trace_script script;
    struct model_trace trace;
    struct model_trace_stat stat;

    props_trace_script(&script,
                       "p0 create:1 gcstart start:1+10 recv+20 sweepstart "
                       "unblock:1+30 gcdone start:1+5 syscall+1 sysblock+2 "
                       "sysexit:1+40 start:1+3 end+7 scanstart heap:1+100");
    model_trace_init(&trace);
    assert_int_equal(model_trace_read(&trace, script.bytes, script.bytes_count),
                     MODEL_TRACE_OK);
    assert_true(model_trace_stat_make(&stat, &trace));
    assert_int_equal(stat.tasks_count, 1);
    assert_int_equal(stat.tasks[0].g, 1);
    assert_int_equal(stat.tasks[0].span_ticks[MODEL_TRACE_RUN],
                     20 + (1 + 2) + 7);
    assert_int_equal(stat.tasks[0].span_ticks[MODEL_TRACE_BLOCK], 30);
    assert_int_equal(stat.tasks[0].span_ticks[MODEL_TRACE_SCHED_WAIT],
                     10 + 5 + 3);
    assert_int_equal(stat.tasks[0].span_ticks[MODEL_TRACE_SYSCALL], 40);
    assert_int_equal(stat.tasks[0].lifetime_ticks, 118);
    assert_int_equal(stat.span_ticks, 218);
    assert_int_equal(stat.gc.ticks, 10 + 20 + 30);
    assert_int_equal(stat.sweep.ticks, 218 - 30);
    assert_int_equal(stat.scan.ticks, 100);
    assert_int_equal(model_trace_span_ns(&trace, 118), 118000);
    model_trace_stat_release(&stat);
    model_trace_release(&trace);
}

TEST(stat_accounts_for_every_tick_of_every_goroutine)
{
    static const char *const paths[] = {HTTP, STRESS};

    for (size_t i = 0; i < 2; i++) {
        size_t count;
        uint8_t *bytes = props_trace_load(paths[i], &count);
        struct model_trace trace;
        struct model_trace_stat stat;
        uint64_t events = 0;
        uint64_t done = 0; /* created by goroutines */
        model_trace_init(&trace);
        (void)model_trace_read(&trace, bytes, count);
        assert_true(model_trace_stat_make(&stat, &trace));
        for (unsigned type = 0; type < MODEL_TRACE_TYPE_COUNT; type++)
            events += stat.events_by_type[type];
        assert_int_equal(events, model_trace_count(&trace));
        for (uint32_t at = 0; at < model_trace_count(&trace); at++)
            done += model_trace_at(&trace, at)->g != 0;
        for (uint32_t at = 0; at < stat.tasks_count; at++) {
            const struct model_trace_task *task = &stat.tasks[at];
            uint64_t sum = 0;
            for (unsigned span = 0; span < MODEL_TRACE_SPAN_COUNT; span++)
                sum += task->span_ticks[span];
            done -= task->events;
            assert_int_equal(sum, task->lifetime_ticks);
            assert_true(sum <= stat.span_ticks);
            assert_true(at == 0 || task[-1].g < task->g);
        }
        assert_int_equal(done, 0);
        model_trace_stat_release(&stat);
        model_trace_release(&trace);
        free(bytes);
        assert_int_equal(run("stat", paths[i], NULL), 0);
        assert_non_null(strstr(said, "sched-wait-ns"));
    }
}

/* The list of goroutines grows while a goroutine in it creates another. */
TEST(who_creates_many_goroutines_has_done_all_of_it)
{
    enum { CREATED = 300 };
    char text[32 * CREATED] = "p0 create:1 start:1";
    size_t end = strlen(text);
    struct props_trace_script script;
    struct model_trace trace;
    struct model_trace_stat stat;

    for (int i = 0; i < CREATED; i++)
        end += (size_t)snprintf(&text[end], sizeof text - end, " create:%d",
                                2 + i);
    props_trace_script(&script, text);
    model_trace_init(&trace);
    assert_int_equal(model_trace_read(&trace, script.bytes, script.bytes_count),
                     MODEL_TRACE_OK);
    assert_true(model_trace_stat_make(&stat, &trace));
    assert_int_equal(stat.tasks_count, 1 + CREATED);
    assert_int_equal(stat.tasks[0].g, 1);
    assert_int_equal(stat.tasks[0].events, 1 + CREATED);
    for (uint32_t i = 1; i < stat.tasks_count; i++)
        assert_int_equal(stat.tasks[i].events, 0);
    model_trace_stat_release(&stat);
    model_trace_release(&trace);
}

/* Counts of a viewer's items: begins, ends, instants, counters. */
struct items {
    uint64_t begins;
    uint64_t ends;
    uint64_t instants;
    uint64_t counters;
};

/* The items that the events of a trace must become. */
static struct items
items_wanted(const char *path)
{
    size_t count;
    uint8_t *bytes = props_trace_load(path, &count);
    struct model_trace trace;
    struct model_trace_stat stat;
    struct items items = {0};

    model_trace_init(&trace);
    assert_int_equal(model_trace_read(&trace, bytes, count), MODEL_TRACE_OK);
    assert_true(model_trace_stat_make(&stat, &trace));
    const uint64_t *by = stat.events_by_type;
    items.begins = by[MODEL_TRACE_GO_START] + by[MODEL_TRACE_PROC_START] +
                   by[MODEL_TRACE_GC_START] + by[MODEL_TRACE_SCAN_START] +
                   by[MODEL_TRACE_SWEEP_START];
    items.ends = items.begins; /* every slice is closed */
    items.counters = by[MODEL_TRACE_HEAP_ALLOC] + by[MODEL_TRACE_NEXT_GC] +
                     by[MODEL_TRACE_GOMAXPROCS];
    items.instants = by[MODEL_TRACE_GO_CREATE] + by[MODEL_TRACE_GO_UNBLOCK] +
                     by[MODEL_TRACE_GO_SYS_CALL] + by[MODEL_TRACE_GO_SYS_EXIT] +
                     by[MODEL_TRACE_GO_WAITING] +
                     by[MODEL_TRACE_GO_IN_SYSCALL] +
                     by[MODEL_TRACE_FUTILE_WAKEUP];
    model_trace_stat_release(&stat);
    model_trace_release(&trace);
    free(bytes);
    return items;
}

#define TRACKS_MAX 256

struct watch {
    bool is_declared[TRACKS_MAX];
    bool is_open[TRACKS_MAX];
    uint64_t now_ns;
    uint64_t items;
};

/* Check one item: its track is known, its slice fits, and time does not go
 * back. */
static bool
watch_item(void *to, const struct model_trace_item *item)
{
    struct watch *watch = to;
    const uint64_t track = item->track;

    assert_true(track > 0 && track < TRACKS_MAX);
    if (item->kind == MODEL_TRACE_ITEM_TRACK) {
        assert_false(watch->is_declared[track]);
        watch->is_declared[track] = true;
        return true;
    }
    assert_true(watch->is_declared[track]);
    assert_true(item->time_ns >= watch->now_ns);
    watch->now_ns = item->time_ns;
    if (item->kind == MODEL_TRACE_ITEM_BEGIN) {
        assert_false(watch->is_open[track]);
        watch->is_open[track] = true;
    }
    if (item->kind == MODEL_TRACE_ITEM_END) {
        assert_true(watch->is_open[track]);
        watch->is_open[track] = false;
    }
    watch->items += item->event != NULL;
    return true;
}

TEST(slices_of_a_track_follow_each_other_and_are_closed)
{
    static const char *const paths[] = {HTTP, STRESS, GOOD};

    for (size_t i = 0; i < 3; i++) {
        size_t count;
        uint8_t *bytes = props_trace_load(paths[i], &count);
        struct model_trace trace;
        struct watch watch = {0};
        model_trace_init(&trace);
        (void)model_trace_read(&trace, bytes, count);
        assert_true(model_trace_view(&trace, watch_item, &watch));
        assert_int_equal(watch.items, model_trace_count(&trace));
        for (size_t track = 0; track < TRACKS_MAX; track++)
            assert_false(watch.is_open[track]);
        model_trace_release(&trace);
        free(bytes);
    }
}

static uint64_t
occurrences(const char *text, const char *what)
{
    uint64_t count = 0;

    while ((text = strstr(text, what)) != NULL) {
        text += strlen(what);
        count++;
    }
    return count;
}

TEST(converted_json_is_valid_and_holds_every_event)
{
    static const char *const paths[] = {HTTP, STRESS, GOOD};

    for (size_t i = 0; i < 3; i++) {
        const struct items want = items_wanted(paths[i]);
        size_t count;
        assert_int_equal(
            run("convert", "--to", "chrome", paths[i], "-o", out_path, NULL),
            0);
        char *text = (char *)props_trace_load(out_path, &count);
        text[count] = '\0';
        assert_int_equal(strlen(text), count);
        assert_true(props_json_is_valid(text));
        assert_int_equal(occurrences(text, "{\"ph\":\"B\""), want.begins);
        assert_int_equal(occurrences(text, "{\"ph\":\"E\""), want.ends);
        assert_int_equal(occurrences(text, "{\"ph\":\"i\""), want.instants);
        assert_int_equal(occurrences(text, "{\"ph\":\"C\""), want.counters);
        free(text);
    }
}

/* Is a line a field without a name, "  17: 5" or "  17 {"? */
static bool
is_unknown_field(const char *line)
{
    line += strspn(line, " ");
    return *line >= '0' && *line <= '9';
}

TEST(converted_protobuf_fits_the_schema_and_holds_every_event)
{
    static const char *const paths[] = {HTTP, STRESS, GOOD};

    for (size_t i = 0; i < 3; i++) {
        const struct items want = items_wanted(paths[i]);
        struct items got = {0};
        char line[32768];
        char command[256];
        assert_int_equal(
            run("convert", "--to", "perfetto", paths[i], "-o", out_path, NULL),
            0);
        (void)snprintf(command, sizeof command,
                       "protoc --decode=subset.Trace "
                       "fixtures/trace/perfetto-subset.proto < %s",
                       out_path);
        FILE *text = popen(command, "r");
        assert_non_null(text);
        while (fgets(line, sizeof line, text) != NULL) {
            if (is_unknown_field(line))
                fail_msg("not in the schema: %s", line);
            got.begins += strstr(line, "type: TYPE_SLICE_BEGIN") != NULL;
            got.ends += strstr(line, "type: TYPE_SLICE_END") != NULL;
            got.instants += strstr(line, "type: TYPE_INSTANT") != NULL;
            got.counters += strstr(line, "type: TYPE_COUNTER") != NULL;
        }
        assert_int_equal(pclose(text), 0);
        assert_memory_equal(&got, &want, sizeof got);
    }
}

TEST(a_conversion_appears_whole_or_not_at_all)
{
    struct stat status;
    char first = '\0';
    int reader;

    (void)unlink(out_path);
    assert_int_equal(
        run("convert", "--to", "chrome", BROKEN, "-o", out_path, NULL), 1);
    assert_non_null(strstr(complained, ": error: offset 0x27"));
    assert_int_not_equal(stat(out_path, &status), 0);
    assert_int_equal(
        run("convert", "--to", "chrome", GOOD, "-o", "/nowhere/x", NULL), 1);
    /* A pipe is written to, and not replaced by a file. */
    assert_int_equal(mkfifo(out_path, 0600), 0);
    reader = open(out_path, O_RDWR | O_CLOEXEC);
    assert_true(fcntl(reader, F_SETPIPE_SZ, 1 << 20) >= 1 << 20);
    assert_int_equal(
        run("convert", "--to", "chrome", GOOD, "-o", out_path, NULL), 0);
    assert_int_equal(read(reader, &first, 1), 1);
    assert_int_equal(first, '{');
    assert_int_equal(stat(out_path, &status), 0);
    assert_true(S_ISFIFO(status.st_mode));
    assert_int_equal(close(reader), 0);
    assert_int_equal(unlink(out_path), 0);
    /* Only finished files are left. */
    assert_int_equal(rmdir(folder), 0);
    assert_int_equal(mkdir(folder, 0700), 0);
}

static int
make_folder(void **state)
{
    (void)state;
    return folder_with(out_path, sizeof out_path, "out");
}

static int
remove_folder(void **state)
{
    (void)unlink(out_path);
    return folder_remove(state);
}

int
main(void)
{
    return tests_run(make_folder, remove_folder);
}
