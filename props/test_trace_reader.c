/*
 * test_trace_reader.c -- the reader's verdicts.
 *
 * The recorded files and the vectors have verdicts from elsewhere
 * (fixtures/trace/README.md). Everything else is a script whose verdict follows
 * from the rules of the format in docs/trace-format.md; each rule that can fail
 * has a script that breaks this rule and no other.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "trace_reader.h"
#include "trace_script.h"

#define OK         MODEL_TRACE_OK
#define TIME_ORDER MODEL_TRACE_TIME_ORDER
#define ERROR      MODEL_TRACE_ERROR

/* A script, its verdict and, if ok, its events; else a part of the reason. */
struct row {
    const char *why;
    const char *script;
    enum model_trace_verdict verdict;
    uint32_t events;
    const char *reason;
};

static void
judge_row(const struct row *row)
{
    struct props_trace_script script;
    struct model_trace trace;

    props_trace_script(&script, row->script);
    model_trace_init(&trace);
    (void)model_trace_read(&trace, script.bytes, script.bytes_count);
    if (trace.verdict != row->verdict)
        fail_msg("%s: %s (%s)", row->why,
                 model_trace_verdict_name(trace.verdict), trace.reason.text);
    if (row->verdict == OK && model_trace_count(&trace) != row->events)
        fail_msg("%s: %u events", row->why, model_trace_count(&trace));
    if (row->verdict != OK && strstr(trace.reason.text, row->reason) == NULL)
        fail_msg("%s: %s", row->why, trace.reason.text);
    model_trace_release(&trace);
}

#define JUDGE(rows)                                                     \
    for (size_t row_ = 0; row_ < sizeof(rows) / sizeof *(rows); row_++) \
    judge_row(&(rows)[row_])

static void
every_vector_gets_its_verdict(void **state)
{
    FILE *index = fopen("fixtures/trace/vectors/INDEX.tsv", "r");
    char line[256];
    unsigned seen = 0;

    (void)state;
    assert_non_null(index);
    while (fgets(line, sizeof line, index) != NULL) {
        char name[128];
        char verdict[16];
        unsigned events;
        char path[192];
        size_t count;
        struct model_trace trace;

        if (line[0] == '#')
            continue;
        assert_int_equal(sscanf(line, "%127s %15s %u", name, verdict, &events),
                         3);
        (void)snprintf(path, sizeof path, "fixtures/trace/vectors/%s", name);
        uint8_t *bytes = props_trace_load(path, &count);
        model_trace_init(&trace);
        (void)model_trace_read(&trace, bytes, count);
        if (strcmp(model_trace_verdict_name(trace.verdict), verdict) != 0)
            fail_msg("%s: %s", name, trace.reason.text);
        if (trace.verdict == OK)
            assert_int_equal(model_trace_count(&trace), events);
        model_trace_release(&trace);
        free(bytes);
        seen++;
    }
    (void)fclose(index);
    assert_int_equal(seen, 56);
}

static void
recorded_traces_are_accepted_with_their_number_of_events(void **state)
{
    static const struct {
        const char *path;
        uint32_t events;
        uint64_t batches;
    } files[] = {
        {"fixtures/trace/recorded/http_1_5_good", 7309, 23},
        {"fixtures/trace/recorded/stress_1_5_good", 1279, 4},
    };

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        size_t count;
        uint8_t *bytes = props_trace_load(files[i].path, &count);
        struct model_trace trace;
        model_trace_init(&trace);
        assert_int_equal(model_trace_read(&trace, bytes, count), OK);
        assert_int_equal(model_trace_count(&trace), files[i].events);
        assert_int_equal(trace.batches, files[i].batches);
        assert_int_equal(trace.duplicate_seqs, 0);
        model_trace_release(&trace);
        free(bytes);
    }
}

static void
possible_stories_are_accepted(void **state)
{
    static const struct row rows[] = {
        {"a whole life", "p0 procstart:5 create:1 start:1 end procstop", OK, 5,
         NULL},
        {"a start needs no ProcStart", "p0 create:1 start:1", OK, 2, NULL},
        {"events before any batch are processor 0's",
         "create:1 start:1 p0 sched p1 start:1", OK, 4, NULL},
        {"a batch without processor", "p-1 create:1 waiting:1", OK, 2, NULL},
        {"who runs is remembered across batches",
         "p0 create:1 start:1 p1 procstart:2 p0 syscall sysblock", OK, 5, NULL},
        {"every way to wait ends in an unblock",
         "p0 create:1 start:1 sleep unblock:1 start:1 block unblock:1 start:1 "
         "send unblock:1 start:1 recv unblock:1 start:1 select unblock:1 "
         "start:1 sync unblock:1 start:1 cond unblock:1 start:1 net unblock:1",
         OK, 25, NULL},
        {"preempted, rescheduled, stopped",
         "p0 create:1 start:1 preempt start:1 sched start:1 stop", OK, 7, NULL},
        {"a syscall that blocks",
         "p0 create:1 start:1 syscall sysblock p1 sysexit:1 start:1", OK, 6,
         NULL},
        {"waiting and in a syscall from the beginning",
         "p0 create:1 waiting:1 create:2 insyscall:2 unblock:1 sysexit:2", OK,
         6, NULL},
        {"scans and sweeps belong to a processor",
         "p0 scanstart sweepstart p1 scanstart sweepstart p0 scandone "
         "sweepdone p1 sweepdone scandone",
         OK, 8, NULL},
        {"a collection may end elsewhere", "p0 gcstart p1 gcdone gcstart", OK,
         3, NULL},
        {"a goroutine creates others", "p0 create:1 start:1 create:2 create:3",
         OK, 4, NULL},
        {"a timer's goroutine unblocks from anywhere",
         "p0 create:1 start:1 create:2 waiting:2 unblock:2@9 sched@5 "
         "p1 start:1@6 timer:1",
         OK, 7, NULL},
        {"counters", "p0 procs:4 heap:100 nextgc:200", OK, 3, NULL},
        {"no time passes at all", "p0 heap:1 heap:2 p1 heap:3", OK, 3, NULL},
        {"one event is enough", "heap:1", OK, 1, NULL},
    };

    (void)state;
    JUDGE(rows);
}

static void
each_rule_of_processors_and_phases_can_be_broken(void **state)
{
    static const struct row rows[] = {
        {"started twice", "p3 procstart:1 procstart:1", ERROR, 0,
         "p 3 is running before ProcStart"},
        {"stopped before it started", "p0 procstop", ERROR, 0,
         "p 0 is not running before ProcStop"},
        {"stopped twice", "p0 procstart:1 procstop procstop", ERROR, 0,
         "p 0 is not running before ProcStop"},
        {"stopped under a goroutine",
         "p0 procstart:1 create:1 start:1 procstop", ERROR, 0,
         "p 0 runs g 1 during ProcStop"},
        {"two collections", "p0 gcstart p1 gcstart", ERROR, 0,
         "GCStart while the previous one is not done"},
        {"no collection", "p0 gcdone", ERROR, 0, "GCDone of what did not"},
        {"ended twice", "p0 gcstart gcdone gcdone", ERROR, 0, "GCDone of what"},
        {"two scans", "p0 scanstart scanstart", ERROR, 0,
         "GCScanStart while the previous"},
        {"no scan", "p0 scandone", ERROR, 0, "GCScanDone of what"},
        {"another's scan", "p0 scanstart p1 scandone", ERROR, 0,
         "GCScanDone of what"},
        {"two sweeps", "p0 sweepstart sweepstart", ERROR, 0,
         "GCSweepStart while the previous"},
        {"no sweep", "p0 sweepdone", ERROR, 0, "GCSweepDone of what"},
        {"another's sweep", "p0 sweepstart p1 sweepdone", ERROR, 0,
         "GCSweepDone of what"},
    };

    (void)state;
    JUDGE(rows);
}

static void
each_rule_of_goroutines_can_be_broken(void **state)
{
    static const struct row rows[] = {
        {"waiting, but unknown", "p0 waiting:5", ERROR, 0,
         "g 5 is not runnable before GoWaiting"},
        {"waiting twice", "p0 create:1 waiting:1 waiting:1", ERROR, 0,
         "g 1 is not runnable before GoWaiting"},
        {"waiting while it runs", "p0 create:1 start:1 waiting:1", ERROR, 0,
         "g 1 is not runnable before GoWaiting"},
        {"in a syscall, but unknown", "p0 insyscall:5", ERROR, 0,
         "g 5 is not runnable before GoInSyscall"},
        {"in a syscall while waiting", "p0 create:1 waiting:1 insyscall:1",
         ERROR, 0, "g 1 is not runnable before GoInSyscall"},
        {"created twice", "p0 create:1 create:1", ERROR, 0,
         "g 1 exists already"},
        {"created after its end", "p0 create:1 start:1 end create:1", ERROR, 0,
         "g 1 exists already"},
        {"goroutine 0 created", "p0 create:0", ERROR, 0, "g 0 exists already"},
        {"mentioned before it was created",
         "p0 heap:1@3 create:1 start:1@4 heap:9@2 create:1@9", ERROR, 0,
         "g 1 exists already"},
        {"started unknown", "p0 start:1", ERROR, 0,
         "g 1 is not runnable before GoStart"},
        {"started twice", "p0 create:1 start:1 p1 start:1", ERROR, 0,
         "g 1 is not runnable before GoStart"},
        {"started while waiting", "p0 create:1 start:1 recv start:1", ERROR, 0,
         "g 1 is not runnable before GoStart"},
        {"started in a syscall", "p0 create:1 start:1 sysblock start:1", ERROR,
         0, "g 1 is not runnable before GoStart"},
        {"started after its end", "p0 create:1 start:1 end start:1", ERROR, 0,
         "g 1 is not runnable before GoStart"},
        {"started on a busy processor", "p0 create:1 create:2 start:1 start:2",
         ERROR, 0, "p 0 runs g 1 already at GoStart of g 2"},
        {"unblocked, but unknown", "p0 unblock:5", ERROR, 0,
         "g 5 is not waiting before GoUnblock"},
        {"unblocked twice", "p0 create:1 waiting:1 unblock:1 unblock:1", ERROR,
         0, "g 1 is not waiting before GoUnblock"},
        {"unblocked by itself", "p0 create:1 start:1 unblock:1", ERROR, 0,
         "g 1 is not waiting before GoUnblock"},
        {"unblocked by one that does not run",
         "p0 create:1 create:2 waiting:2 start:1 unblock:2@9 sched@6", ERROR, 0,
         "g 1 is not running at GoUnblock"},
        {"unblocked by one that runs elsewhere",
         "p0 create:1 start:1 create:2 waiting:2 unblock:2@9 sched@5 "
         "p1 start:1@6",
         ERROR, 0, "p 0 runs g 0, not g 1, at GoUnblock"},
        {"unblocked by nobody on a busy processor",
         "p0 create:1 create:2 waiting:2 unblock:2@9 start:1@5", ERROR, 0,
         "p 0 runs g 1, not g 0, at GoUnblock"},
        {"out of a syscall, but unknown", "p0 sysexit:5", ERROR, 0,
         "g 5 is not waiting before GoSysExit"},
        {"out of a syscall twice",
         "p0 create:1 insyscall:1 sysexit:1 sysexit:1", ERROR, 0,
         "g 1 is not waiting before GoSysExit"},
        {"out of a syscall before it blocked",
         "p0 create:1 start:1 syscall sysblock@9 sysexit:1@4", ERROR, 0,
         "g 1 is not waiting before GoSysExit"},
        {"created by one that does not run",
         "p0 create:1 start:1 create:2@9 sched@3", ERROR, 0,
         "g 1 is not running at GoCreate"},
        {"created by one that runs elsewhere",
         "p0 create:1 start:1 create:2@9 sched@3 p1 start:1@4", ERROR, 0,
         "p 0 runs g 0, not g 1, at GoCreate"},
    };

    (void)state;
    JUDGE(rows);
}

/* The events that need their goroutine to run right there. */
static void
what_a_running_goroutine_does_takes_one_that_runs_there(void **state)
{
    static const char *const words[] = {
        "end",  "stop", "sched", "preempt", "sleep",  "block",   "send",
        "recv", "net",  "sync",  "cond",    "select", "syscall", "sysblock",
    };
    static const struct {
        const char *before;
        const char *after;
        const char *reason;
    } frames[] = {
        {"p0 ", "", "g 0 cannot do"},
        {"p0 create:1 start:1 ", "@9 start:1@20 sched@3",
         "g 1 is not running at"},
        {"p0 create:1 start:1 ", "@9 start:1@20 sched@3 p1 start:1@4",
         "p 0 runs g 0, not g 1, at"},
    };

    (void)state;
    for (size_t word = 0; word < sizeof words / sizeof *words; word++) {
        for (size_t i = 0; i < sizeof frames / sizeof *frames; i++) {
            char script[128];
            (void)snprintf(script, sizeof script, "%s%s%s", frames[i].before,
                           words[word], frames[i].after);
            const struct row row = {script, script, ERROR, 0, frames[i].reason};
            judge_row(&row);
        }
    }
}

static void
time_that_runs_backwards_is_a_verdict_of_its_own(void **state)
{
    static const struct row rows[] = {
        {"the frequency is 0", "p0 heap:1 freq:0", TIME_ORDER, 0, "0 ticks"},
        {"the frequency is negative", "p0 heap:1 freq:0xffffffffffffffff",
         TIME_ORDER, 0, "-1 ticks"},
        {"a good frequency does not mend a bad one", "p0 heap:1 freq:0 freq:5",
         TIME_ORDER, 0, "0 ticks"},
        {"across processors", "p0 heap:1@2 p1 heap:1@1+5", TIME_ORDER, 0,
         "event 2 at tick 1000 follows event 1 at tick 1005"},
        {"within one", "p0 heap:1@2 heap:2@1+1", TIME_ORDER, 0, "event 2 at"},
        {"a syscall exit is moved before it is asked",
         "p0 create:1 insyscall:1 heap:1@4+9 p1 sysexit:1@3+5", TIME_ORDER, 0,
         "event 4 at tick 1009 follows event 3 at tick 1014"},
        {"a syscall exit at its real time is fine",
         "p0 create:1 insyscall:1 heap:1@3+9 p1 sysexit:1@4+5", OK, 4, NULL},
        {"impossible stories come after the order of time",
         "p0 procstop@2 p1 heap:1@1+5", TIME_ORDER, 0, "event 2"},
        {"broken records come before it", "p0 heap:1@2 p1 heap:1@1+5 raw:0",
         ERROR, 0, "unknown event type 0"},
        {"broken bytes come before a bad frequency",
         "p0 heap:1 freq:0 raw:0x61", ERROR, 0, "ends inside a number"},
        {"but wrong records after a bad frequency are not looked at",
         "p0 heap:1 freq:0 raw:0x06 raw:0 raw:0 raw:0x05 raw:0 raw:0",
         TIME_ORDER, 0, "0 ticks"},
    };

    (void)state;
    JUDGE(rows);
}

static void
broken_records_are_errors(void **state)
{
    static const struct row rows[] = {
        {"nothing", "", ERROR, 0, "trace is empty"},
        {"batches alone", "p0 p1", ERROR, 0, "trace is empty"},
        {"length in the middle of a number",
         "heap:1 raw:0xcd raw:5 raw:1 raw:1 raw:1 raw:1 raw:0x80 raw:1", ERROR,
         0, "GoCreate has wrong length: 5 bytes announced"},
        {"length far beyond the end", "heap:1 raw:0xcd raw:0x7f raw:1", ERROR,
         0, "ends inside a number"},
        {"a number too few", "heap:1 raw:0xcd raw:4 raw:1 raw:1 raw:1 raw:1",
         ERROR, 0, "GoCreate has 4 numbers, needs 5"},
        {"a number too many",
         "heap:1 raw:0xcd raw:6 raw:1 raw:1 raw:1 raw:1 raw:1 raw:1", ERROR, 0,
         "GoCreate has 6 numbers, needs 5"},
        {"kind 3 with the right numbers is read, only the story fails",
         "heap:1 raw:0xc6 raw:2 raw:1 raw:0 p0 heap:1", ERROR, 0,
         "p 0 is not running before ProcStop"},
        {"a stack without frames says nothing",
         "heap:1 raw:0xc3 raw:2 raw:1 raw:0", OK, 1, NULL},
        {"a stack of kind 0", "heap:1 raw:0x03 raw:1 raw:0", OK, 1, NULL},
        {"a stack with one number", "heap:1 raw:0xc3 raw:1 raw:1", ERROR, 0,
         "Stack has 1 numbers"},
        {"a stack with a frame too many",
         "heap:1 raw:0xc3 raw:4 raw:1 raw:1 raw:9 raw:9", ERROR, 0,
         "Stack of 1 frames has 4 numbers"},
        {"type 63", "heap:1 raw:0x3f", ERROR, 0, "unknown event type 63"},
    };

    (void)state;
    JUDGE(rows);
}

static void
futile_wake_ups_leave_the_trace_whole(void **state)
{
    static const struct row rows[] = {
        {"unblock, start, mark and block go",
         "p0 create:1 start:1 recv unblock:1 start:1 futile recv unblock:1", OK,
         4, NULL},
        {"preempted on the way, and moved",
         "p0 create:1 start:1 sync unblock:1 start:1 preempt p1 start:1 futile "
         "sync",
         OK, 3, NULL},
        {"what it did in between stays, and then it did not run",
         "p0 create:1 start:1 sync unblock:1 start:1 create:2 futile sync",
         ERROR, 0, "g 1 is not running at GoCreate"},
        {"a wait for the network is not futile",
         "p0 create:1 start:1 net unblock:1 start:1 futile net", OK, 7, NULL},
        {"without a mark nothing goes",
         "p0 create:1 start:1 cond unblock:1 start:1 cond", OK, 6, NULL},
        {"a mark without a block is kept",
         "p0 create:1 start:1 cond unblock:1 start:1 futile", OK, 6, NULL},
        {"two in a row",
         "p0 create:1 start:1 send unblock:1 start:1 futile send unblock:1 "
         "start:1 futile send",
         OK, 3, NULL},
        {"the trace begins inside one: the start and the block go",
         "p0 create:1 start:1 futile block", OK, 1, NULL},
        {"everything may go", "p0 futile select", OK, 0, NULL},
    };

    (void)state;
    JUDGE(rows);
}

static void
events_of_one_number_keep_the_order_of_the_file(void **state)
{
    struct props_trace_script script;
    struct model_trace trace;

    (void)state;
    props_trace_script(&script, "p0 heap:1@5 heap:2@5 p1 heap:3@4 heap:4@5 "
                                "p0 heap:5@5 heap:6@6");
    model_trace_init(&trace);
    assert_int_equal(model_trace_read(&trace, script.bytes, script.bytes_count),
                     OK);
    const uint64_t want[] = {3, 1, 2, 4, 5, 6};
    assert_int_equal(model_trace_count(&trace), 6);
    for (uint32_t i = 0; i < 6; i++)
        assert_int_equal(model_trace_at(&trace, i)->arg, want[i]);
    assert_int_equal(trace.duplicate_seqs, 3);
    model_trace_release(&trace);
}

static void
places_and_first_instructions_are_restored(void **state)
{
    struct props_trace_script script;
    struct model_trace trace;
    static const struct {
        uint8_t type;
        uint8_t place;
        uint64_t pc;
    } want[] = {
        {MODEL_TRACE_GO_CREATE, MODEL_TRACE_ON_PROC, 7},
        {MODEL_TRACE_GO_START, MODEL_TRACE_ON_PROC, 7},
        {MODEL_TRACE_GO_BLOCK_NET, MODEL_TRACE_ON_PROC, 0},
        {MODEL_TRACE_GO_UNBLOCK, MODEL_TRACE_ON_NETWORK, 0},
        {MODEL_TRACE_GO_START, MODEL_TRACE_ON_PROC, 0},
        {MODEL_TRACE_GO_SYS_BLOCK, MODEL_TRACE_ON_PROC, 0},
        {MODEL_TRACE_GO_SYS_EXIT, MODEL_TRACE_ON_SYSCALLS, 0},
        {MODEL_TRACE_GC_START, MODEL_TRACE_ON_GC, 0},
    };

    (void)state;
    props_trace_script(&script, "p0 create:1 start:1 net unblock:1 start:1 "
                                "sysblock sysexit:1 gcstart");
    model_trace_init(&trace);
    assert_int_equal(model_trace_read(&trace, script.bytes, script.bytes_count),
                     OK);
    assert_int_equal(model_trace_count(&trace), 8);
    for (uint32_t i = 0; i < 8; i++) {
        const struct model_trace_event *event = model_trace_at(&trace, i);
        assert_int_equal(event->type, want[i].type);
        assert_int_equal(event->place, want[i].place);
        assert_int_equal(event->pc, want[i].pc);
    }
    model_trace_release(&trace);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_vector_gets_its_verdict),
        cmocka_unit_test(
            recorded_traces_are_accepted_with_their_number_of_events),
        cmocka_unit_test(possible_stories_are_accepted),
        cmocka_unit_test(each_rule_of_processors_and_phases_can_be_broken),
        cmocka_unit_test(each_rule_of_goroutines_can_be_broken),
        cmocka_unit_test(
            what_a_running_goroutine_does_takes_one_that_runs_there),
        cmocka_unit_test(time_that_runs_backwards_is_a_verdict_of_its_own),
        cmocka_unit_test(broken_records_are_errors),
        cmocka_unit_test(futile_wake_ups_leave_the_trace_whole),
        cmocka_unit_test(events_of_one_number_keep_the_order_of_the_file),
        cmocka_unit_test(places_and_first_instructions_are_restored),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
