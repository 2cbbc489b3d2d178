/*
 * test_trace_reader.c -- the reader's verdicts.
 *
 * For the recorded files and the vectors, the expected verdicts come from
 * elsewhere (fixtures/trace/README.md); for scripts, they follow from
 * docs/trace-format.md. test_trace_rules.c tests the rules of goroutines and
 * processors.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/trace/trace_reader.h"
#include "model/test/trace_rows.h"
#include "common/test/trace_script.h"
#include "common/test/unit_test.h"

TEST(every_vector_gets_its_verdict)
{
    FILE *index = fopen("fixtures/trace/vectors/INDEX.tsv", "r");
    char line[256];
    unsigned seen = 0;

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

TEST(recorded_traces_are_accepted_with_their_number_of_events)
{
    static const struct {
        const char *path;
        uint32_t events;
        uint64_t batches;
    } files[] = {
        {"fixtures/trace/recorded/http_1_5_good", 7309, 23},
        {"fixtures/trace/recorded/stress_1_5_good", 1279, 4},
    };

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

/* What a header says that is not of version 1.5. */
TEST(a_header_is_of_a_version_or_of_no_trace)
{
    static const char none[] = "not a trace file";
    static const struct {
        char header[MODEL_TRACE_HEADER_BYTES + 1];
        const char *reason;
    } rows[] = {
        {"go 1.5 trace", "trace is empty"},
        {"go 1.7 trace", "unsupported trace version 1.7, only 1.5 is read"},
        {"go 1.10 trace", "unsupported trace version 1.10, only 1.5 is read"},
        {"go 1.239 trace", "unsupported trace version 1.239, only 1.5 is read"},
        {"go 1.0 trace", none},
        {"go 1.x trace", none},
        {"go 0.5 trace", none},
        {"go 1,5 trace", none},
        {"go 1.5: trace", none},
        {"go 1.2345 trace", none},
        {"go 1.5 tracf", none},
        {"go 1.5 trace\0\0\0x", none},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct model_trace trace;

        model_trace_init(&trace);
        assert_int_equal(model_trace_read(&trace,
                                          (const uint8_t *)rows[i].header,
                                          MODEL_TRACE_HEADER_BYTES),
                         ERROR);
        if (strstr(trace.reason.text, rows[i].reason) == NULL)
            fail_msg("%s: %s", rows[i].header, trace.reason.text);
        assert_int_equal(trace.reason.offset_bytes, i == 0 ? 16 : 0);
        model_trace_release(&trace);
    }
}

TEST(time_that_runs_backwards_is_a_verdict_of_its_own)
{
    static const struct props_trace_row rows[] = {
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
        {"impossible events come after the order of time",
         "p0 procstop@2 p1 heap:1@1+5", TIME_ORDER, 0, "event 2"},
        {"broken records come before it", "p0 heap:1@2 p1 heap:1@1+5 raw:0",
         ERROR, 0, "unknown event type 0"},
        {"broken bytes come before a bad frequency",
         "p0 heap:1 freq:0 raw:0x61", ERROR, 0, "ends inside a number"},
        {"but wrong records after a bad frequency are not read",
         "p0 heap:1 freq:0 raw:0x06 raw:0 raw:0 raw:0x05 raw:0 raw:0",
         TIME_ORDER, 0, "0 ticks"},
    };

    PROPS_TRACE_JUDGE(rows);
}

TEST(broken_records_are_errors)
{
    static const struct props_trace_row rows[] = {
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
        {"kind 3 with the right numbers is read, only its events are "
         "impossible",
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
        {"a number of eleven bytes, and the ten of a file that ends",
         "freq:1 heap:1 raw:0x61 raw:0x80 raw:0x80 raw:0x80 raw:0x80 raw:0x80 "
         "raw:0x80 raw:0x80 raw:0x80 raw:0x80 raw:0x80",
         ERROR, 0, "a number has more than 10 bytes"},
        {"type 63", "heap:1 raw:0x3f", ERROR, 0, "unknown event type 63"},
    };

    PROPS_TRACE_JUDGE(rows);
}

TEST(futile_wake_ups_leave_the_trace_whole)
{
    static const struct props_trace_row rows[] = {
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

    PROPS_TRACE_JUDGE(rows);
}

TEST(events_of_one_number_keep_the_order_of_the_file)
{
    struct props_trace_script script;
    struct model_trace trace;

    props_trace_script(&script, "p0 heap:1@5 heap:2@5 p1 heap:3@4 heap:4@5 "
                                "p0 heap:5@5 heap:6@6 p2 heap:7@4");
    model_trace_init(&trace);
    assert_int_equal(model_trace_read(&trace, script.bytes, script.bytes_count),
                     OK);
    const uint64_t want[] = {3, 7, 1, 2, 4, 5, 6};
    assert_int_equal(model_trace_count(&trace), 7);
    for (uint32_t i = 0; i < 7; i++)
        assert_int_equal(model_trace_at(&trace, i)->arg, want[i]);
    assert_int_equal(trace.duplicate_seqs, 4);
    model_trace_release(&trace);
}

/* Read a script that must be good. */
static void
read_good(struct model_trace *trace, struct props_trace_script *script,
          const char *text)
{
    props_trace_script(script, text);
    model_trace_init(trace);
    if (model_trace_read(trace, script->bytes, script->bytes_count) != OK)
        fail_msg("%s: %s", text, trace->reason.text);
}

TEST(places_and_first_instructions_are_restored)
{
    struct props_trace_script script;
    struct model_trace trace;
    static const struct {
        uint8_t type;
        uint8_t track;
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
        {MODEL_TRACE_GO_START, MODEL_TRACE_ON_PROC, 0},
        {MODEL_TRACE_GO_BLOCK, MODEL_TRACE_ON_PROC, 0},
        {MODEL_TRACE_GO_UNBLOCK, MODEL_TRACE_ON_PROC, 0},
        {MODEL_TRACE_GO_START, MODEL_TRACE_ON_PROC, 0},
        {MODEL_TRACE_GO_BLOCK_NET, MODEL_TRACE_ON_PROC, 0},
        {MODEL_TRACE_GO_CREATE, MODEL_TRACE_ON_PROC, 7},
        {MODEL_TRACE_GO_START, MODEL_TRACE_ON_PROC, 7},
        {MODEL_TRACE_GO_UNBLOCK, MODEL_TRACE_ON_TIMERS, 0},
    };

    props_trace_script(&script, "p0 create:1 start:1 net unblock:1 start:1 "
                                "sysblock sysexit:1 gcstart "
                                "start:1 block unblock:1 start:1 net "
                                "create:2 start:2 unblock:1 timer:2");
    model_trace_init(&trace);
    assert_int_equal(model_trace_read(&trace, script.bytes, script.bytes_count),
                     OK);
    assert_int_equal(model_trace_count(&trace), sizeof want / sizeof *want);
    for (uint32_t i = 0; i < sizeof want / sizeof *want; i++) {
        const struct model_trace_event *event = model_trace_at(&trace, i);
        assert_int_equal(event->type, want[i].type);
        assert_int_equal(event->track, want[i].track);
        assert_int_equal(event->pc, want[i].pc);
    }
    model_trace_release(&trace);
    read_good(&trace, &script, "p0 gcstart freq:1");
    assert_int_equal(model_trace_at(&trace, 0)->track, MODEL_TRACE_ON_GC);
    assert_true(model_trace_span_ns(&trace, UINT64_MAX) == UINT64_MAX);
    model_trace_release(&trace);
}

TEST(the_last_stack_of_an_id_holds_and_empty_ones_say_nothing)
{
    struct props_trace_script script;
    struct model_trace trace;
    uint64_t pcs[MODEL_TRACE_FRAMES_MAX];

    read_good(&trace, &script,
              "heap:1 raw:0xc3 raw:3 raw:5 raw:1 raw:0x33 " /* 5: 33 */
              "raw:0xc3 raw:3 raw:0 raw:1 raw:0x44 "        /* 0: 44 */
              "raw:0xc3 raw:2 raw:6 raw:0 "                 /* 6: nothing */
              "raw:0xc3 raw:5 raw:5 raw:2 raw:0x81 raw:2 raw:3 " /* 5: 101 3 */
              "raw:0x43 raw:8 raw:1 raw:0x55 "                   /* 8: 55 */
              "raw:0xc3 raw:2 raw:8 raw:0"); /* 8: nothing */
    assert_int_equal(model_trace_stack(&trace, 5, pcs), 2);
    assert_int_equal(pcs[0], 0x101);
    assert_int_equal(pcs[1], 3);
    assert_int_equal(model_trace_stack(&trace, 0, pcs), 0);
    assert_int_equal(model_trace_stack(&trace, 6, pcs), 0);
    assert_int_equal(model_trace_stack(&trace, 7, pcs), 0);
    assert_int_equal(model_trace_stack(&trace, 8, pcs), 1);
    assert_int_equal(pcs[0], 0x55);
    assert_int_equal(trace.stack_records, 6);
    model_trace_release(&trace);
}
