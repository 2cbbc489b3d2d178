/*
 * written_worlds.c -- a part of run_files.c: the files that `profsim run --out`
 * writes about two small worlds, and what it says if it cannot write them. Each
 * number follows from the events.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"
#include "kinds.h"
#include "merge_case.h"
#include "unit_test.h"
#include "wanted.h"

enum { SECONDS = 60, FILE_BYTES = 4096 };

/* A tick is a microsecond, and the timer of the CPU profile ticks every 100,000
 * of them: three times before the allocation. The third trace is not ended by
 * the program. */
#define STACKS \
    "stack top = main@0x401005\nstack deep = main@0x401005>work@0x401015\n"
#define TRACE(from) \
    "p0: start-trace " from "\np0: stop-trace top\n" READ READ READ
#define READ "p0: read-trace 0\n"
#define SCHEDULED(instruments)                    \
    "profsim scenario 2\nscheduled\n" instruments \
    "procs 2\nticks-per-us 1\n" STACKS            \
    "p0: proc-start\np0: create -\np0: run t1\n"  \
    "p0: create top\np1: proc-start\np1: create -\n"
#define ALL                                                             \
    SCHEDULED("instruments heap contention trace cpu debug\n")          \
    "p0: start-cpu 10\np0: start-trace top\n@+300000 t1: alloc a deep " \
    "64\nt1: block deep 5\nt1: mutex top 7\nt1: block deep 6\n"         \
    "p0: stop-trace top\n" READ READ READ TRACE(                        \
        "deep") "p0: start-trace "                                      \
                "deep\np0: snapshot-all\n"
/* The first processor runs no task; the timer never ticks. */
#define SECOND                               \
    SCHEDULED("instruments goroutine cpu\n") \
    "p0: stop-for-ever top\np1: run t2\n"
#define WITHOUT_TASKS                                                        \
    "profsim scenario 2\nrules go1.10\n" STACKS                              \
    "stack half = start@0x401025>0x402000"                                   \
    "\nalloc a deep 64\nblock deep 5\nmutex deep 7\ngc-mark\ngc-terminate\n" \
    "heap-rate 4096\nmutex-fraction 3\nblock half 6\nsnapshot-all\n"

#define TOP  "#\t0x401004\tmain+0x0\t@:0\n"
#define DEEP "#\t0x401014\twork+0x0\t@:0\n" TOP
/* pprof tells a heap by sums that differ: the bytes allocated are one more. */
#define HEAP(rate)                                                      \
    "heap profile: 1: 64 [1: 65] @ " rate "\n1: 64 [1: 64] @ 0x401015 " \
    "0x401005\n" DEEP "\n"

static const struct written {
    const char *text;   /* a scenario */
    const char *name;   /* of a file */
    const char *wanted; /* @ is the scenario's path; NULL: packed */
} written[] = {
    {ALL, "allocs.pb.gz", NULL},
    {ALL, "allocs.txt", HEAP("heapprofile")},
    {ALL, "block.pb.gz", NULL},
    {ALL, "block.txt",
     "--- contention:\ncycles/second=1000000\n11 2 @ 0x401015 0x401005\n" DEEP
     "\n"},
    {ALL, "goroutine-stacks.txt",
     "goroutine 1 [running]:\nwork(...)\n\t@:0\nmain(...)\n\t@:0\n\n"
     "goroutine 2 [runnable]:\nmain.t2(...)\n\t@:0 +0x1\ncreated by "
     "main\n\t@:0\n"},
    {ALL, "goroutine.pb.gz", NULL},
    {ALL, "goroutine.txt",
     "goroutine profile: total 2\n1 @ 0x400021\n# labels: {\"task\":\"2\"}\n"
     "#\t0x400020\tmain.t2+0x0\t@:0\n\n1 @ 0x401015 0x401005\n"
     "# labels: {\"task\":\"1\"}\n" DEEP "\n"},
    {ALL, "heap.pb.gz", NULL},
    {ALL, "heap.symbolized",
     "--- symbol\nbinary=unknown\n0x0000000000401005 main\n"
     "0x0000000000401015 work\n---\n" HEAP("heapprofile")},
    {ALL, "heap.txt", HEAP("heapprofile")},
    {ALL, "mutex.pb.gz", NULL},
    {ALL, "mutex.txt",
     "--- mutex:\ncycles/second=1000000\nsampling period=1\n7 1 @ "
     "0x401005\n" TOP "\n"},
    {ALL, "profile.pb.gz", NULL},
    {ALL, "profile.txt",
     "cpu profile: total 3\n3 @ 0x401005\n# labels: {\"task\":\"1\"}\n" TOP
     "\n"},
    {ALL, "threadcreate.pb.gz", NULL},
    {ALL, "threadcreate.txt",
     "threadcreate profile: total 2\n1 @ 0x1\n#\t0x0\n\n1 @ 0x401005\n" TOP
     "\n"},
    {ALL, "trace-2.out", "go 1."},
    {ALL, "trace-3.out", "go 1."},
    {ALL, "trace.out", "go 1."},
    {SECOND, "goroutine-stacks.txt",
     "goroutine 2 [running]:\n\tgoroutine running on other thread; stack "
     "unavailable\ncreated by main\n\t@:0\n\n"
     "goroutine 1 [select (no cases)]:\nmain(...)\n\t@:0\n"},
    {SECOND, "goroutine.pb.gz", NULL},
    {SECOND, "goroutine.txt",
     "goroutine profile: total 2\n1 @ 0x1\n# labels: "
     "{\"task\":\"2\"}\n#\t0x0\n\n1 @ 0x401005\n# labels: "
     "{\"task\":\"1\"}\n" TOP "\n"},
    {SECOND, "threadcreate.pb.gz", NULL},
    {SECOND, "threadcreate.txt",
     "threadcreate profile: total 2\n1 @ 0x1\n#\t0x0\n\n1 @ 0x401005\n" TOP
     "\n"},
    {WITHOUT_TASKS, "allocs.pb.gz", NULL},
    {WITHOUT_TASKS, "allocs.txt", HEAP("heap/8192")},
    {WITHOUT_TASKS, "block.pb.gz", NULL},
    {WITHOUT_TASKS, "block.txt",
     "--- contention:\ncycles/second=1000000000\n6 1 @ 0x402000 "
     "0x401025\n#\t0x401fff\n#\t0x401024\tstart+0x0\t@:0\n\n"
     "5 1 @ 0x401015 0x401005\n" DEEP "\n"},
    {WITHOUT_TASKS, "heap.pb.gz", NULL},
    {WITHOUT_TASKS, "heap.symbolized",
     "--- symbol\nbinary=unknown\n0x0000000000401005 main\n"
     "0x0000000000401015 work\n0x0000000000401025 start\n---\n" HEAP(
         "heap/8192")},
    {WITHOUT_TASKS, "heap.txt", HEAP("heap/8192")},
    {WITHOUT_TASKS, "mutex.pb.gz", NULL},
    {WITHOUT_TASKS, "mutex.txt",
     "--- mutex:\ncycles/second=1000000000\nsampling period=3\n"
     "7 1 @ 0x401015 0x401005\n" DEEP "\n"},
};

static struct captured said;

static void
run(const char *text, const char *option)
{
    char words[3][256];
    char *argv[] = {words[0], words[1], words[2], NULL};

    kind_write("a.sim", text);
    snprintf(words[0], sizeof words[0], "run");
    snprintf(words[1], sizeof words[1], "%s", wanted_path("a.sim"));
    snprintf(words[2], sizeof words[2], "%s", option);
    assert_true(captured_run(&said, cli_run, argv, -1, SECONDS));
    assert_int_equal(unlink(wanted_path("a.sim")), 0);
}

static const char *
out(const char *folder)
{
    static char option[256];

    snprintf(option, sizeof option, "--out=%s", wanted_path(folder));
    return option;
}

/* Check a file of the folder `out`, and remove it. */
static void
expect_file(const struct written *file)
{
    static char got[FILE_BYTES];
    static char wanted[FILE_BYTES];
    char name[64];
    char *to = wanted;

    snprintf(name, sizeof name, "out/%s", file->name);
    wanted_take_file(name, got, sizeof got);
    if (file->wanted == NULL) {
        assert_memory_equal(got, "\x1f\x8b\x08", 3);
        return;
    }
    for (const char *at = file->wanted; *at != '\0'; at++) {
        if (*at == '@' && at[1] == ':')
            to = stpcpy(to, wanted_path("a.sim"));
        else
            *to++ = *at;
    }
    *to = '\0';
    if (strncmp(file->name, "trace", 5) == 0)
        got[strlen(wanted)] = '\0';
    if (strcmp(got, wanted) != 0)
        fail_msg("%s:\n%s\ninstead of:\n%s", file->name, got, wanted);
}

static void
expect_all(const char *text)
{
    run(text, out("out"));
    merge_expect_exit(&said, 0);
    captured_free(&said);
    for (size_t i = 0; i < sizeof written / sizeof *written; i++) {
        if (written[i].text == text)
            expect_file(&written[i]);
    }
    assert_int_equal(rmdir(wanted_path("out")), 0); /* no other file */
}

/* ---- What cannot be written ---- */

static void
expect_refused(const char *text, const char *folder, const char *path,
               const char *why)
{
    run(text, out(folder));
    merge_expect_exit(&said, 1);
    merge_expect(&said, true, "profsim: %s: %s\n", wanted_path(path), why);
    captured_free(&said);
}

/* A folder is where a file must be. */
static void
expect_taken(const char *text, const char *name)
{
    char path[64];
    char command[256];

    snprintf(path, sizeof path, "out/%s", name);
    assert_int_equal(mkdir(wanted_path("out"), 0700), 0);
    assert_int_equal(mkdir(wanted_path(path), 0700), 0);
    expect_refused(text, "out", path, "Is a directory");
    snprintf(command, sizeof command, "rm -r %s", wanted_path("out"));
    assert_int_equal(system(command), 0);
}

/* ---- Lines of allocations ---- */

/* The collector lists all tasks: one has not begun, one is of the runtime. */
#define LINES                                                                 \
    "tracealloc(0xc000000000, 0x40)\ngoroutine 1 [running]:\nwork(...)\n\t@:" \
    "0\nmain(...)\n\t@:0\n\n"

static void
expect_lines(void)
{
    static char wanted[FILE_BYTES];
    char *to = wanted;

    run(ALL, "--debug=alloc");
    for (const char *at = LINES; *at != '\0'; at++) {
        if (*at == '@')
            to = stpcpy(to, wanted_path("a.sim"));
        else
            *to++ = *at;
    }
    *to = '\0';
    merge_expect_exit(&said, 0);
    merge_expect(&said, true, "%s", wanted);
    captured_free(&said);
    run(ALL "p0: gc-mark deep\np0: gc-terminate\n", "--debug=alloc");
    merge_expect_exit(&said, 0);
    merge_expect(&said, true, "\nmain.t2(...)\n");
    merge_expect(&said, true, "\nruntime.t3(...)\n");
    captured_free(&said);
    run(WITHOUT_TASKS, "--debug=alloc");
    merge_expect_exit(&said, 0);
    merge_expect(&said, true, "goroutine 0 [running]:\nwork(...)\n");
    captured_free(&said);
}

void
merge_written_worlds(void)
{
    static const char *const only_some[] = {
        SCHEDULED("instruments trace\n") TRACE("top"),
        SCHEDULED("instruments goroutine\n"),
        WITHOUT_TASKS,
    };
    static const char *const taken[] = {"trace.out", "threadcreate.txt",
                                        "heap.txt"};

    expect_all(ALL);
    expect_all(SECOND);
    expect_all(WITHOUT_TASKS);
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        expect_refused(only_some[i], "no/out", "no/out",
                       "No such file or directory");
        expect_taken(only_some[i], taken[i]);
    }
    expect_lines();
}
