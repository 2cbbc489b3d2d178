/*
 * test_trace_rules.c -- what goroutines and processors may do in a trace.
 *
 * For each rule of docs/trace-format.md that a trace can break there is a
 * script that breaks this rule only, and a script that keeps it.
 */
#include <stdio.h>
#include <string.h>

#include "model/trace/trace_reader.h"
#include "common/test/trace_script.h"
#include "common/test/unit_test.h"

#define OK    MODEL_TRACE_OK
#define ERROR MODEL_TRACE_ERROR

struct row {
    const char *why;
    const char *script; /* for props_trace_script() */
    enum model_trace_verdict verdict;
    uint32_t events;    /* how many, if the verdict is ok */
    const char *reason; /* otherwise: a part of the reason */
};

static void
judge(const struct row *row)
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

#define JUDGE(rows)                                            \
    for (size_t i = 0; i < sizeof(rows) / sizeof *(rows); i++) \
    judge(&(rows)[i])

TEST(possible_events_are_accepted)
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

    JUDGE(rows);
}

/* Processors, goroutines, threads, times and values have up to 64 bits. */
TEST(numbers_of_a_trace_are_of_64_bits)
{
    struct props_trace_script script;
    struct model_trace trace;
    const uint64_t top = UINT64_C(1) << 40;
    const struct model_trace_event *event;

    props_trace_script(&script,
                       "p0x10000000003 heap:1@0x10000000001+0x10000000000 "
                       "create:0x10000000005@0x10000000002 "
                       "start:0x10000000005@0x10000000003 "
                       "p1 heap:2@0x10000000004 "
                       "p0x10000000003 syscall@0x10000000005 "
                       "sysblock@0x10000000006 "
                       "sysexit:0x10000000005@0x10000000007+0x20000000000");
    model_trace_init(&trace);
    assert_int_equal(model_trace_read(&trace, script.bytes, script.bytes_count),
                     OK);
    assert_int_equal(model_trace_count(&trace), 7);
    for (uint32_t i = 0; i < 7; i++) {
        event = model_trace_at(&trace, i);
        assert_int_equal(event->seq, top + 1 + i);
        assert_int_equal(event->g, i < 2 || i == 3 ? 0 : top + 5);
        assert_int_equal(model_trace_proc_id(&trace, event->proc),
                         i == 3 ? 1 : top + 3);
        assert_int_equal(event->ticks - trace.first_ticks, i < 6 ? 0 : 2 * top);
    }
    assert_int_equal(model_trace_at(&trace, 1)->arg, top + 5);
    model_trace_release(&trace);
}

TEST(each_rule_of_processors_and_phases_can_be_broken)
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
        {"a large processor stops under a large goroutine",
         "p0x500000003 procstart:1 create:0x600000007 start:0x600000007 "
         "procstop",
         ERROR, 0, "p 21474836483 runs g 25769803783 during ProcStop"},
        {"a large goroutine does what it cannot",
         "p3 create:0x600000007 end:0x600000007@9 start:0x600000007@20", ERROR,
         0, "g 0 cannot do"},
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

    JUDGE(rows);
}

TEST(each_rule_of_goroutines_can_be_broken)
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
         "p0 start:1@9 heap:5@1 p1 create:1@5", ERROR, 0, "g 1 exists already"},
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
        {"created by one that ended", "p0 create:1 start:1 create:2@9 end@3",
         ERROR, 0, "g 1 is not running at GoCreate"},
        {"created by one that was stopped",
         "p0 create:1 start:1 create:2@9 stop@3", ERROR, 0,
         "g 1 is not running at GoCreate"},
        {"created by one that runs elsewhere",
         "p0 create:1 start:1 create:2@9 sched@3 p1 start:1@4", ERROR, 0,
         "p 0 runs g 0, not g 1, at GoCreate"},
    };

    JUDGE(rows);
}

TEST(what_a_running_goroutine_does_takes_one_that_runs_there)
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

    for (size_t word = 0; word < sizeof words / sizeof *words; word++) {
        for (size_t i = 0; i < sizeof frames / sizeof *frames; i++) {
            char script[128];
            (void)snprintf(script, sizeof script, "%s%s%s", frames[i].before,
                           words[word], frames[i].after);
            const struct row row = {script, script, ERROR, 0, frames[i].reason};
            judge(&row);
        }
    }
}
