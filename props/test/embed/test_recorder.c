/*
 * test_recorder.c -- the recorder on real programs: exactly what happened.
 *
 * recorded_program makes known numbers of allocations in functions of known
 * names; what libc allocates besides is not counted. Then three unmodified
 * programs run: git, python3, sqlite3.
 * usage: test_recorder RECORDER PROGRAM
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exit.h"
#include "folder.h"
#include "frames.h"
#include "record.h"
#include "recording.h"
#include "unit_test.h"

#define ARGUMENTS_MAX 8

static const char *program;

/*
 * Counts of the objects allocated with `leaf` on top of the stack. A resize
 * counts as a free at the old stack and an allocation at the resizing one.
 */
struct tally {
    uint64_t allocs;
    uint64_t frees;
    uint64_t bytes;
    uint64_t threads; /* bit set: the threads that allocated */
};

static const char *
path_of(const char *name)
{
    static char path[128];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/*
 * Record a command into x.rec, in a child process; discard its output.
 *
 * returns: the exit code, or minus the signal
 */
static int
record(const char *first, ...)
{
    char output[] = "-o";
    char path[128];
    char name[] = "record";
    char most[] = "--images=1000000";
    char *argv[ARGUMENTS_MAX + 7] = {name, output, path, most};
    int argc = 4;
    const char *argument;
    va_list list;
    pid_t child;
    int status;

    snprintf(path, sizeof path, "%s", path_of("x.rec"));
    va_start(list, first);
    for (argument = first; argument != NULL && argc < ARGUMENTS_MAX + 6;
         argument = va_arg(list, const char *))
        argv[argc++] = strdup(argument);
    va_end(list);
    fflush(stdout);
    child = fork();
    if (child == 0) {
        dup2(open("/dev/null", O_WRONLY), 1);
        _exit((int)cli_record(argc, argv));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    while (argc > 4)
        free(argv[--argc]);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static struct sim_recording *
open_recording(const char *name)
{
    struct sim_recording *recording;
    struct sim_recording_error error;
    char line[200];

    if (sim_recording_open(&recording, path_of(name), &error)) {
        unlink(path_of(name));
        return recording;
    }
    sim_recording_explain(&error, name, line, sizeof line);
    fail_msg("%s", line);
    return NULL;
}

static bool
has_frame(const struct sim_recording *recording, uint32_t stack,
          const char *function, uint32_t first_frames)
{
    uint32_t frames[SIM_RECORDED_DEPTH_MAX];
    uint32_t depth =
        sim_recording_stack(recording, stack, frames, SIM_RECORDED_DEPTH_MAX);
    uint32_t i;

    for (i = 0; i < depth && i < first_frames; i++)
        if (strcmp(sim_recording_frame(recording, frames[i]).function,
                   function) == 0)
            return true;
    return false;
}

static struct tally
tally_of(const struct sim_recording *recording, const char *leaf)
{
    const struct sim_recording_totals *totals = sim_recording_totals(recording);
    bool *ours = calloc(totals->allocs + 1, sizeof *ours);
    struct sim_recording_cursor cursor;
    struct sim_recorded event;
    struct tally tally = {0};

    assert_non_null(ours);
    sim_recording_begin(recording, &cursor);
    while (sim_recording_next(&cursor, &event)) {
        if (event.kind == SIM_RECORDED_FREE ||
            event.kind == SIM_RECORDED_RESIZE)
            tally.frees += ours[event.object];
        if (event.kind == SIM_RECORDED_RESIZE)
            ours[event.object] = false;
        if ((event.kind != SIM_RECORDED_ALLOC &&
             event.kind != SIM_RECORDED_RESIZE) ||
            !has_frame(recording, event.stack, leaf, 1))
            continue;
        ours[event.object] = true;
        tally.allocs++;
        tally.bytes += event.size_bytes;
        tally.threads |= UINT64_C(1) << event.thread % 64;
    }
    free(ours);
    return tally;
}

static void
expect_tally(const struct sim_recording *recording, const char *leaf,
             uint64_t allocs, uint64_t frees, uint64_t bytes)
{
    struct tally tally = tally_of(recording, leaf);

    if (tally.allocs != allocs || tally.frees != frees || tally.bytes != bytes)
        fail_msg("%s: %llu allocs, %llu frees, %llu bytes", leaf,
                 (unsigned long long)tally.allocs,
                 (unsigned long long)tally.frees,
                 (unsigned long long)tally.bytes);
}

static void
expect_no_drops(const struct sim_recording *recording, uint64_t unknown)
{
    const struct sim_recording_totals *totals = sim_recording_totals(recording);
    int i;

    for (i = 0; i < SIM_RECORDED_CAUSE_COUNT; i++)
        if (totals->dropped[i] != (i == SIM_RECORDED_UNKNOWN ? unknown : 0))
            fail_msg("%llu dropped by cause %d",
                     (unsigned long long)totals->dropped[i], i);
}

TEST(threads_are_recorded_to_the_last_event)
{
    struct sim_recording *recording;

    assert_int_equal(record("--", program, "threads", NULL), 0);
    recording = open_recording("x.rec");
    /* Each of 4 threads makes 500 rounds: objects of 1000 to 1003 bytes grow to
     * 2000 to 2003, and 500 objects of 7 * 11 bytes are made. */
    expect_tally(recording, "make_small", 2000, 2000, 500 * 4006);
    expect_tally(recording, "grow", 2000, 2000, 500 * 8006);
    expect_tally(recording, "make_zeroed", 2000, 2000, 2000 * 77);
    expect_tally(recording, "make_before_main", 1, 1, 4321);
    /* Four threads allocated, apart from the first thread. */
    assert_int_equal(
        __builtin_popcountll(tally_of(recording, "make_small").threads & ~1ull),
        4);
    expect_no_drops(recording, 0);
    assert_string_equal(sim_recording_argument(recording, 1), "threads");
    sim_recording_close(recording);
}

/* Count the allocations by `function` that have `other` among the first
 * frames. */
static uint64_t
count_under(const struct sim_recording *recording, const char *function,
            const char *other, uint32_t first_frames)
{
    struct sim_recording_cursor cursor;
    struct sim_recorded event;
    uint64_t count = 0;

    sim_recording_begin(recording, &cursor);
    while (sim_recording_next(&cursor, &event))
        count += event.kind == SIM_RECORDED_ALLOC &&
                 has_frame(recording, event.stack, function, 1) &&
                 has_frame(recording, event.stack, other, first_frames);
    return count;
}

/* The same test as threads_are_recorded_to_the_last_event(), which uses unwind
 * tables, with frame pointers. */
TEST(frame_pointers_lead_to_the_same_functions)
{
    struct sim_recording *recording;

    if (!EMBED_FRAMES_OFFERED)
        skip();
    assert_int_equal(record("--frame-pointers", "--", program, "threads", NULL),
                     0);
    recording = open_recording("x.rec");
    expect_tally(recording, "make_small", 2000, 2000, 500 * 4006);
    expect_tally(recording, "grow", 2000, 2000, 500 * 8006);
    expect_tally(recording, "make_zeroed", 2000, 2000, 2000 * 77);
    expect_tally(recording, "make_before_main", 1, 1, 4321);
    assert_int_equal(count_under(recording, "make_small", "work", 2), 2000);
    assert_int_equal(count_under(recording, "make_zeroed", "work", 2), 2000);
    expect_no_drops(recording, 0);
    sim_recording_close(recording);
}

/* Unwind tables lead past a frame whose frame pointer is broken; frame pointers
 * end there. */
TEST(a_broken_frame_pointer_ends_a_stack)
{
    struct sim_recording *recording;

#ifndef __x86_64__
    skip();
#endif
    assert_int_equal(record("--", program, "frames", NULL), 0);
    recording = open_recording("x.rec");
    assert_int_equal(count_under(recording, "make_small", "main", 9), 7);
    sim_recording_close(recording);
    assert_int_equal(record("--frame-pointers", "--", program, "frames", NULL),
                     0);
    recording = open_recording("x.rec");
    expect_tally(recording, "make_small", 7, 0, 7 * 91);
    assert_int_equal(count_under(recording, "make_small", "call_amid", 2), 7);
    assert_int_equal(count_under(recording, "make_small", "main", 9), 0);
    expect_no_drops(recording, 0);
    sim_recording_close(recording);
}

static void
expect_family(const char *name)
{
    struct sim_recording *recording = open_recording(name);

    expect_tally(recording, "make_aligned", 4, 4, 101 + 128 + 103 + 104);
    /* An object of 9 bytes survives two failed reallocs, grows to 45 bytes, and
     * is freed; one of 33 is never freed. */
    expect_tally(recording, "make_small", 1, 1, 9);
    expect_tally(recording, "grow_array", 1, 1, 45);
    expect_tally(recording, "grow", 1, 0, 33);
    expect_no_drops(recording, 0);
    sim_recording_close(recording);
}

TEST(a_failed_realloc_leaves_its_object_alive)
{
    assert_int_equal(record(program, "family", NULL), 0);
    expect_family("x.rec");
}

TEST(objects_that_change_threads_keep_their_order)
{
    struct sim_recording *recording;

    assert_int_equal(record(program, "exchange", NULL), 0);
    recording = open_recording("x.rec");
    assert_int_equal(tally_of(recording, "make_for_other").allocs, 80000);
    assert_int_equal(tally_of(recording, "make_for_other").frees, 80000);
    expect_no_drops(recording, 0);
    sim_recording_close(recording);
}

TEST(a_forked_child_has_a_recording_of_its_own)
{
    struct sim_recording *recording;

    assert_int_equal(record(program, "fork", NULL), 0);
    recording = open_recording("x.rec");
    expect_tally(recording, "make_small", 10, 10, 600);
    expect_tally(recording, "make_in_child", 0, 0, 0);
    expect_no_drops(recording, 0);
    sim_recording_close(recording);
    recording = open_recording("x.rec.2");
    expect_tally(recording, "make_small", 0, 0, 0);
    expect_tally(recording, "make_in_child", 5, 1, 5 * 555);
    /* The child frees three objects of its parent, which its log does not
     * know. */
    expect_no_drops(recording, 3);
    sim_recording_close(recording);
}

TEST(forks_amid_a_busy_thread_neither_hang_nor_lose)
{
    struct sim_recording *recording;
    char name[16];
    int i;

    assert_int_equal(record(program, "forks", NULL), 0);
    recording = open_recording("x.rec");
    assert_true(tally_of(recording, "make_in_callback").allocs > 0);
    expect_no_drops(recording, 0);
    sim_recording_close(recording);
    for (i = 2; i < 42; i++) {
        snprintf(name, sizeof name, "x.rec.%d", i);
        recording = open_recording(name);
        expect_tally(recording, "make_in_child", 1, 1, 555);
        expect_no_drops(recording, 0);
        sim_recording_close(recording);
    }
}

/* Check that each allocation of make_small() has all its callers, up to the
 * start. */
static void
expect_callers(const struct sim_recording *recording)
{
    struct sim_recording_cursor cursor;
    struct sim_recorded event;

    sim_recording_begin(recording, &cursor);
    while (sim_recording_next(&cursor, &event)) {
        if (event.kind != SIM_RECORDED_ALLOC ||
            !has_frame(recording, event.stack, "make_small", 1))
            continue;
        assert_true(has_frame(recording, event.stack, "allocate_dozen", 2));
        assert_true(has_frame(recording, event.stack, "end", 3));
        assert_true(has_frame(recording, event.stack, "main", 4));
        assert_true(has_frame(recording, event.stack, "_start", 32));
    }
}

TEST(every_way_to_end_leaves_a_whole_recording)
{
    static const struct {
        const char *mode;
        int status;
    } rows[] = {{"sigkill", -9}, {"abort", -6}, {"_exit", 3}, {"return", 0}};
    size_t i;

    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct sim_recording *recording;

        assert_int_equal(record(program, rows[i].mode, NULL), rows[i].status);
        recording = open_recording("x.rec");
        expect_tally(recording, "make_small", 12, 2, 12 * 70);
        expect_callers(recording);
        expect_no_drops(recording, 0);
        sim_recording_close(recording);
    }
}

TEST(an_image_after_exec_has_a_recording_of_its_own)
{
    struct sim_recording *recording;

    assert_int_equal(record(program, "exec", NULL), 0);
    recording = open_recording("x.rec");
    expect_tally(recording, "make_small", 12, 2, 12 * 70);
    sim_recording_close(recording);
    expect_family("x.rec.2");
}

TEST(the_image_that_asked_for_most_bytes_is_the_first)
{
    char command[3 * PATH_MAX + 40];
    struct sim_recording *recording;

    snprintf(command, sizeof command, "%s fill && %s large && %s fill", program,
             program, program);
    assert_int_equal(record("--", "sh", "-c", command, NULL), 0);
    recording = open_recording("x.rec");
    expect_tally(recording, "make_small", 1, 1, 64 << 20);
    sim_recording_close(recording);
}

/* Check the only wait of this kind whose stack has `waiter`, and its
 * release. */
static void
expect_wait(const struct sim_recording *recording, enum sim_recorded_lock kind,
            bool failed, const char *waiter, const char *releaser)
{
    struct sim_recording_cursor cursor;
    struct sim_recorded event;
    uint64_t released_lock = UINT64_MAX;
    uint64_t released_ticks = 0;
    uint64_t waits = 0;

    sim_recording_begin(recording, &cursor);
    while (sim_recording_next(&cursor, &event)) {
        if (event.kind == SIM_RECORDED_RELEASE && releaser != NULL &&
            has_frame(recording, event.stack, releaser, 1)) {
            released_lock = event.lock;
            released_ticks = event.ticks;
        }
        if (event.kind != SIM_RECORDED_WAIT ||
            !has_frame(recording, event.stack, waiter, 1))
            continue;
        waits++;
        assert_int_equal(event.lock_kind, kind);
        assert_int_equal(event.wait_failed, failed);
        assert_true(event.wait_ticks > 0);
        if (releaser != NULL) {
            assert_int_equal(event.lock, released_lock);
            /* The release lies within the wait. */
            assert_true(event.ticks - event.wait_ticks <= released_ticks);
            assert_true(event.ticks >= released_ticks);
        }
    }
    if (waits != 1)
        fail_msg("%s: %llu waits", waiter, (unsigned long long)waits);
}

TEST(waits_name_the_waiter_and_the_one_who_let_go)
{
    struct sim_recording *recording;

    assert_int_equal(record(program, "locks", NULL), 0);
    recording = open_recording("x.rec");
    expect_wait(recording, SIM_RECORDED_MUTEX, false, "wait_for_mutex",
                "let_go_of_mutex");
    expect_wait(recording, SIM_RECORDED_READ, false, "wait_to_read",
                "let_go_of_rwlock");
    expect_wait(recording, SIM_RECORDED_WRITE, false, "wait_to_write",
                "let_go_of_rwlock");
    expect_wait(recording, SIM_RECORDED_COND, false, "wait_for_signal", NULL);
    expect_wait(recording, SIM_RECORDED_COND, true, "wait_in_vain", NULL);
    expect_wait(recording, SIM_RECORDED_MUTEX, true, "give_up_beside_another",
                NULL);
    expect_wait(recording, SIM_RECORDED_MUTEX, false, "wait_beside_another",
                "let_go_after_one_gave_up");
    expect_wait(recording, SIM_RECORDED_MUTEX, false, "wait_for_who_waits",
                "let_go_by_waiting");
    expect_no_drops(recording, 0);
    sim_recording_close(recording);
}

TEST(a_full_log_says_what_is_missing)
{
    struct sim_recording *recording;
    const struct sim_recording_totals *totals;

    assert_int_equal(record("--limit", "1M", program, "fill", NULL), 0);
    recording = open_recording("x.rec");
    totals = sim_recording_totals(recording);
    assert_true(totals->allocs > 10000);
    assert_true(totals->live < 100);
    assert_true(totals->allocs + totals->frees +
                    totals->dropped[SIM_RECORDED_LIMIT] >=
                200000);
    assert_int_equal(totals->dropped[SIM_RECORDED_UNKNOWN], 0);
    sim_recording_close(recording);
}

TEST(a_stack_is_cut_to_the_depth_asked_for)
{
    struct sim_recording *recording;
    uint32_t frame;

    assert_int_equal(record("--depth", "1", program, "return", NULL), 0);
    recording = open_recording("x.rec");
    assert_int_equal(sim_recording_totals(recording)->depth_max, 1);
    assert_int_equal(sim_recording_stack(recording, 0, &frame, 1), 1);
    expect_tally(recording, "make_small", 12, 2, 12 * 70);
    sim_recording_close(recording);
}

/* Distributions remove symbols from programs; the functions expected here are
 * exported. */
static void
expect_program(const char *function, uint64_t allocs_min)
{
    struct sim_recording *recording = open_recording("x.rec");
    const struct sim_recording_totals *totals = sim_recording_totals(recording);
    bool found = function == NULL;
    uint32_t i;

    assert_true(totals->allocs >= allocs_min);
    for (i = 0; i < totals->frames && !found; i++)
        found =
            strcmp(sim_recording_frame(recording, i).function, function) == 0;
    assert_true(found);
    assert_int_equal(totals->dropped[SIM_RECORDED_MISSED], 0);
    sim_recording_close(recording);
}

TEST(programs_that_know_nothing_of_us_are_recorded)
{
    const char *repository = path_of("repository");
    char copy[128];

    snprintf(copy, sizeof copy, "%s", repository);
    assert_int_equal(record("--", "git", "init", "-q", copy, NULL), 0);
    expect_program(NULL, 50);
    assert_int_equal(record("--", "git", "-C", copy, "status", NULL), 0);
    expect_program(NULL, 50);
    assert_int_equal(record("--", "/usr/bin/python3", "-c",
                            "import threading\n"
                            "t = [threading.Thread(target=lambda: "
                            "[bytearray(9000) for i in range(200)])"
                            " for n in range(4)]\n"
                            "[x.start() for x in t]\n[x.join() for x in t]",
                            NULL),
                     0);
    expect_program(NULL, 500);
    assert_int_equal(
        record("--", "sqlite3", ":memory:",
               "create table t(a, b); with recursive c(x) as (select 1 union "
               "all select x + 1 from c where x < 2000) insert into t select "
               "x, 'row ' || x from c; select count(*) from t",
               NULL),
        0);
    expect_program("sqlite3_step", 2000);
}

TEST(what_cannot_be_recorded_is_an_error_of_ours)
{
    struct stat status;

    assert_int_equal(record("--", "/no/such/command", NULL), CLI_NOT_FOUND);
    assert_int_equal(record("--", "no-such-command", NULL), CLI_NOT_FOUND);
    assert_int_equal(record("--", "/", NULL), CLI_NOT_EXECUTABLE);
    assert_int_equal(record("--depth", "0", program, NULL), CLI_RECORD);
    assert_int_equal(record("--limit", "12q", program, NULL), CLI_RECORD);
    assert_int_equal(record("--nonsense", program, NULL), CLI_RECORD);
    assert_int_equal(record(NULL), CLI_RECORD);
    assert_int_equal(mkdir(path_of("x.rec"), 0700), 0);
    assert_int_equal(record(program, "_exit", NULL), CLI_RECORD);
    assert_int_equal(rmdir(path_of("x.rec")), 0);
    assert_int_not_equal(stat(path_of("x.rec"), &status), 0);
}

int
main(int argc, char **argv)
{
    char *recorder;

    if (argc != 3)
        return 1;
    recorder = realpath(argv[1], NULL);
    program = realpath(argv[2], NULL);
    if (recorder == NULL || program == NULL)
        return 1;
    setenv("PROFSIM_RECORDER", recorder, 1);
    alarm(300);
    return tests_run(folder_make, folder_clear);
}
