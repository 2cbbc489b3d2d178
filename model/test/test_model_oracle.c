/*
 * test_model_oracle.c -- the events that the oracle of traces demands of logs
 * written by hand.
 */
#include <stdio.h>
#include <string.h>

#include "model/trace/trace_oracle.h"
#include "common/test/unit_test.h"

enum { FACTS_MAX = 512, PROC = 1 };

/* Numbers of tasks are small; all others have more than 32 bits. */
#define TOP (UINT64_C(10) << 40)

static struct truth_entry facts[FACTS_MAX];
static struct truth_log truth = {.entries = facts, .entries_max = FACTS_MAX};

/* Append a fact of a task on processor 1. */
static struct truth_entry *
fact(enum truth_kind kind, uint32_t task, int64_t at_ticks)
{
    struct truth_entry *next = truth_next(&truth);

    assert_int_equal(truth.lost, 0);
    *next = (struct truth_entry){
        .kind = kind,
        .proc = PROC,
        .at_ticks = at_ticks,
        .stack = TRUTH_NO_STACK,
        .size_bytes = 9, /* is not told of facts that have no number */
        .task = task,
    };
    return next;
}

static void
create(uint32_t task)
{
    struct truth_entry *born = fact(TRUTH_CREATE, 0, 0);

    born->object = task;
    born->size_bytes = TOP + 100 + task;
    born->stack = task;
}

/* A session begins or ends: with the thread 77 of processor 1. */
static void
session(enum truth_kind kind, int64_t at_ticks, int64_t ns)
{
    struct truth_entry *edge = fact(kind, 1, at_ticks);

    edge->cycles = ns;
    edge->size_bytes = TOP + 77;
}

/* Four tasks: ready, in a system call, waiting, ended. */
static void
begin(void)
{
    truth.entries_count = 0;
    for (uint32_t task = 1; task <= 4; task++)
        create(task);
    (void)fact(TRUTH_SYSBLOCK, 2, 0);
    (void)fact(TRUTH_PARK, 3, 0);
    (void)fact(TRUTH_END, 4, 0);
}

static struct model_oracle *
read_log(uint64_t divisor, uint64_t late_ticks)
{
    struct model_oracle *oracle = model_oracle_new(truth.entries_count);

    assert_non_null(oracle);
    for (int round = 0; round < 2; round++) /* nothing is left of the first */
        model_oracle_read(oracle, &truth, divisor, late_ticks);
    return oracle;
}

/* A number without its upper part, which it must have if `top` is not 0. */
static long long
rest(uint64_t number, uint64_t top)
{
    return (long long)(number - top);
}

/* Check an event as text: its type, the task, the argument, the first
 * instruction, the stack; its time; the fact and the place in it. */
static void
expect_events(const struct model_oracle_session *got, uint64_t first,
              const char *const *want, uint32_t count)
{
    assert_int_equal(got->count, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct model_oracle_event *event = &got->events[i];
        char text[128];

        (void)snprintf(text, sizeof text,
                       "%s g%d %lld pc%lld s%d at %lld..%lld of %d.%d%s",
                       model_trace_type_name(event->type), (int)event->g,
                       rest(event->arg, event->arg > 64 ? TOP : 0),
                       rest(event->pc, event->pc > 64 ? TOP : 0),
                       (int)event->stack, rest((uint64_t)event->ticks, first),
                       rest((uint64_t)event->ticks_latest, first),
                       (int)model_oracle_fact(event), (int)event->rank % 4096,
                       event->is_gone ? " gone" : "");
        assert_string_equal(text, want[i]);
    }
}

TEST(a_session_begins_with_the_state_of_the_world)
{
    static const char *const want[] = {
        "GoCreate g0 1 pc101 s1 at 11..13 of 8.0",
        "GoCreate g0 2 pc102 s2 at 11..13 of 8.1",
        "GoInSyscall g2 2 pc0 s-1 at 11..13 of 8.2",
        "GoCreate g0 3 pc103 s3 at 11..13 of 8.3",
        "GoWaiting g3 3 pc0 s-1 at 11..13 of 8.4",
        "ProcStart g0 77 pc0 s-1 at 11..13 of 8.5",
        "GoStart g1 1 pc0 s-1 at 11..13 of 8.6",
        "GCStart g0 0 pc0 s-1 at 11..13 of 8.7",
        "GoSched g1 0 pc0 s-1 at 31..33 of 9.0",
    };
    struct model_oracle *oracle;
    const struct model_oracle_session *got;

    begin();
    (void)fact(TRUTH_MARK, 1, 50);
    session(TRUTH_TRACE_START, (int64_t)TOP + 100, (int64_t)TOP + 1000);
    session(TRUTH_TRACE_STOP, (int64_t)TOP + 300, (int64_t)TOP + 3000);
    oracle = read_log(10, 20);
    assert_int_equal(model_oracle_sessions(oracle), 1);
    got = model_oracle_session(oracle, 0);
    expect_events(got, TOP / 10, want, sizeof want / sizeof *want);
    assert_true(got->has_ended);
    assert_true(got->was_collecting);
    /* 180 to 220 ticks in 2000 ns, ten to a tick of the file */
    assert_int_equal(got->ticks_per_second_least, 9000000);
    assert_int_equal(got->ticks_per_second_most, 11000000);
    assert_int_equal(got->timers, 0);
    model_oracle_delete(oracle);
}

TEST(each_fact_of_a_session_is_an_event)
{
    static const char *const want[] = {
        "ProcStart g0 77 pc0 s-1 at 101..101 of 0.0 gone",
        "GoStart g0 0 pc0 s-1 at 101..101 of 0.1 gone",
        "GoCreate g0 1 pc101 s1 at 1..1 of 1.0 gone",
        "FutileWakeup g1 0 pc0 s-1 at 103..103 of 2.0 gone",
        "GoBlock g1 0 pc0 s-1 at 104..104 of 3.0 gone",
        "GoUnblock g0 1 pc0 s-1 at 105..105 of 4.0 gone",
        "HeapAlloc g1 500 pc0 s-1 at 106..106 of 5.0 gone",
        "GCStart g0 0 pc0 s-1 at 107..107 of 6.0 gone",
        "GCDone g0 0 pc0 s-1 at 108..108 of 7.0 gone",
        "ProcStop g1 0 pc0 s-1 at 109..109 of 8.0",
        "GoSched g1 0 pc0 s-1 at 113..113 of 11.0",
    };
    struct model_oracle *oracle;
    const struct model_oracle_session *got;

    truth.entries_count = 0;
    session(TRUTH_TRACE_START, 100, 0);
    facts[0].task = 0; /* of which nothing was said before */
    create(1);
    (void)fact(TRUTH_FUTILE, 1, 102);
    (void)fact(TRUTH_PARK, 1, 103);
    fact(TRUTH_WAKE, 0, 104)->object = 1;
    fact(TRUTH_HEAP, 1, 105)->size_bytes = TOP + 500;
    (void)fact(TRUTH_MARK, 1, 106);
    (void)fact(TRUTH_TERMINATE, 1, 107);
    fact(TRUTH_PROC_STOP, 1, 108)->proc = TRUTH_NO_PROC;
    (void)fact(TRUTH_PROC_GONE, 0, 109);
    fact(TRUTH_TIMERS, 0, 111)->object = 1;
    session(TRUTH_TRACE_STOP, 112, 1);
    oracle = read_log(1, 0);
    got = model_oracle_session(oracle, 0);
    expect_events(got, 0, want, sizeof want / sizeof *want);
    assert_false(got->was_collecting);
    assert_int_equal(got->futile, 1);
    assert_int_equal(got->outside, 1);
    assert_int_equal(got->gone, 1);
    assert_int_equal(got->timers, 1);
    model_oracle_delete(oracle);
}

/* A task that comes back has left its system call in the session, or before. */
TEST(who_comes_back_did_so_when_the_thread_returned)
{
    static const char *const rows[] = {
        "GoSysExit g2 2 pc0 s-1 at 51..53 of 8.0",
        "GoSysExit g2 2 pc0 s-1 at 61..63 of 9.0",
    };

    for (int before = 0; before < 2; before++) {
        struct model_oracle *oracle;
        struct model_oracle_session got;

        begin();
        if (before)
            fact(TRUTH_LEFT, 2, (int64_t)TOP + 500)->proc = TRUTH_NO_PROC;
        session(TRUTH_TRACE_START, 100, 0);
        if (!before)
            fact(TRUTH_LEFT, 2, (int64_t)TOP + 500)->proc = TRUTH_NO_PROC;
        (void)fact(TRUTH_BACK, 2, (int64_t)TOP + 600);
        oracle = read_log(10, 20);
        got = *model_oracle_session(oracle, 0);
        assert_int_equal(got.count, 8);
        assert_int_equal(got.returns, !before);
        assert_int_equal(got.returns_late, before);
        assert_false(got.has_ended);
        got.events += 7;
        got.count = 1;
        expect_events(&got, TOP / 10, &rows[before], 1);
        model_oracle_delete(oracle);
    }
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
