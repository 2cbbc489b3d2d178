/*
 * test_tracer_whitebox.c -- the tracer from the inside, one thread: which lock
 * is held when, how a clock reading is converted, where an event no longer
 * fits, and what a cut leaves. White box; locks are replaced at link time.
 */
#include <stdlib.h>
#include <string.h>

#include "aligned_block.h"
#include "trace_buffer.h"
#include "tracer.h"
#include "unit_test.h"

enum { PROCS = 2, PLACE_BITS = 2, STAMP_LANE = PROCS + 1, BUFFERS = 8 };

static struct prof_trace *trace;
static uint64_t clock_now;
static void (*before_reading)(void); /* done once, as by another processor */
static bool is_outside; /* writing needs the lock of the outside lane */

/* ---- the locks ---- */

void __wrap_prof_port_lock_take(struct prof_port_lock *lock);
void __wrap_prof_port_lock_release(struct prof_port_lock *lock);

/* With one thread no lock is ever found taken. */
void
__wrap_prof_port_lock_take(struct prof_port_lock *lock)
{
    assert_true(prof_port_lock_try(lock));
}

void
__wrap_prof_port_lock_release(struct prof_port_lock *lock)
{
    assert_int_not_equal(lock->word, 0);
    lock->word = 0;
}

_Noreturn void __wrap_prof_port_panic(const char *file, int line,
                                      const char *condition);

_Noreturn void
__wrap_prof_port_panic(const char *file, int line, const char *condition)
{
    mock_assert(false, condition, file, line);
    abort();
}

static void
assert_no_lock_is_held(void)
{
    assert_int_equal(trace->events_lock.word, 0);
    assert_int_equal(trace->lock.word, 0);
    assert_int_equal(trace->reader_lock.word, 0);
    assert_int_equal(load_relaxed(&trace->stamp) & 1, 0);
}

/* ---- the tracer ---- */

static uint64_t
read_clock(void *context)
{
    void (*const first)(void) = before_reading;

    (void)context;
    if (is_outside)
        assert_int_not_equal(trace->events_lock.word, 0);
    before_reading = NULL;
    if (first != NULL)
        first();
    return clock_now;
}

static void
open_with(enum prof_trace_order order, bool has_counter, uint32_t tick_divisor)
{
    const struct prof_trace_config config = {
        .procs_max = PROCS,
        .buffers_max = BUFFERS,
        .buffer_bytes = 512,
        .stacks_max = 8,
        .tick_divisor = tick_divisor,
        .order = order,
        .clock = {has_counter ? NULL : read_clock, read_clock, NULL}};
    const size_t bytes = prof_trace_bytes_needed(&config);
    void *block = props_block(bytes, 0);

    assert_int_equal(prof_trace_init(&trace, &config, block, bytes), PROF_OK);
    clock_now = 5000000000;
    is_outside = false;
}

static bool
no_task(void *context, struct prof_trace_task *task)
{
    (void)context;
    (void)task;
    return false;
}

static void
start(void)
{
    is_outside = true; /* start and stop hold the lock */
    assert_int_equal(
        prof_trace_start(trace, &(struct prof_trace_world){.next = no_task}),
        PROF_OK);
    is_outside = false;
}

static void
stop(void)
{
    is_outside = true;
    assert_int_equal(prof_trace_stop(trace, 0, NULL, 0), PROF_OK);
    is_outside = false;
}

static void
emit(uint32_t proc, uint64_t number)
{
    is_outside = proc == PROF_TRACE_NO_PROC;
    prof_trace_emit(trace, proc, PROF_EV_HEAP_ALLOC, &number, NULL, 0);
    is_outside = false;
}

static void
return_to(uint32_t proc, struct prof_trace_stamp left)
{
    is_outside = proc == PROF_TRACE_NO_PROC;
    prof_trace_sysexit(trace, proc, 1, left);
    is_outside = false;
}

static void
read_to_the_end(void)
{
    const uint8_t *bytes;
    size_t count;
    enum prof_status status;

    while ((status = prof_trace_read(trace, &bytes, &count)) == PROF_OK)
        assert_no_lock_is_held();
    assert_int_equal(status, PROF_ERR_END);
}

static void
tell_a_session(void)
{
    struct prof_trace_stamp left;

    prof_trace_timer_task(trace, 5);
    assert_no_lock_is_held();
    start();
    assert_no_lock_is_held();
    for (uint32_t proc = 0; proc < PROCS; proc++)
        emit(proc, proc);
    emit(PROF_TRACE_NO_PROC, 7);
    assert_no_lock_is_held();
    left = prof_trace_stamp(trace);
    assert_no_lock_is_held();
    return_to(1, left);
    return_to(PROF_TRACE_NO_PROC, left);
    return_to(PROF_TRACE_NO_PROC, (struct prof_trace_stamp){0});
    assert_no_lock_is_held();
    prof_trace_proc_free(trace, 1);
    assert_no_lock_is_held();
    assert_int_equal(
        prof_trace_start(trace, &(struct prof_trace_world){.next = no_task}),
        PROF_ERR_BUSY);
    assert_no_lock_is_held();
    stop();
    assert_no_lock_is_held();
    assert_int_equal(prof_trace_stop(trace, 0, NULL, 0), PROF_ERR_OFF);
    assert_no_lock_is_held();
    assert_int_equal(prof_trace_wait(trace), PROF_OK);
    assert_no_lock_is_held();
    read_to_the_end();
    assert_no_lock_is_held();
}

TEST(every_lock_is_taken_before_it_is_given_back)
{
    for (int order = 0; order < 2; order++) {
        open_with((enum prof_trace_order)order, false, 1);
        tell_a_session();
        tell_a_session();
        free(trace);
    }
}

/* A wrong processor number would overwrite what lies behind the processors. */
TEST(a_processor_that_there_is_not_ends_the_process)
{
    open_with(PROF_TRACE_ORDER_STAMPS, false, 1);
    start();
    expect_assert_failure(emit(PROCS, 1));
    expect_assert_failure(emit(PROF_TRACE_NO_PROC - 1, 1));
    free(trace);
}

/* ---- the clock ---- */

/* If the clock stands still or goes back, a reading becomes the last one plus
 * 1. */
TEST(a_reading_that_is_not_later_is_the_one_before_plus_1)
{
    uint64_t before;
    uint64_t sequence;

    open_with(PROF_TRACE_ORDER_CLOCK, false, 1);
    start();
    clock_now += 1000;
    for (uint64_t back = 0; back < 3; back++) {
        emit(1, 1);
        emit(PROF_TRACE_NO_PROC, 1);
        before = trace->procs[1].last_clock;
        sequence = prof_trace_stamp(trace).sequence;
        clock_now -= back;
        emit(1, 1);
        emit(PROF_TRACE_NO_PROC, 1);
        assert_int_equal(trace->procs[1].last_clock, before + 1);
        assert_int_equal(trace->outside.last_clock, before + 1);
        assert_int_equal(prof_trace_stamp(trace).sequence, sequence + 1);
    }
    free(trace);
}

/* The numbers of moments have a lane of their own, and count from the start. */
TEST(numbers_of_moments_have_their_lane_and_begin_low)
{
    struct prof_trace_stamp moment;

    open_with(PROF_TRACE_ORDER_CLOCK, false, 1);
    start();
    clock_now += 1000;
    moment = prof_trace_stamp(trace);
    assert_int_equal(prof_trace_clock_moment(trace, moment.sequence),
                     1000 << PLACE_BITS | STAMP_LANE);
    free(trace);
}

/* Try each lane as the last that read the clock, and each distance by which the
 * clock then goes back. */
TEST(a_session_begins_where_the_one_before_was_last)
{
    static const uint64_t steps_back[] = {0, 1, 2, 1000};
    enum { LANES = PROCS + 2 };

    for (uint32_t i = 0; i < LANES * 4; i++) {
        const uint32_t lane = i % LANES;
        uint64_t latest;

        open_with(PROF_TRACE_ORDER_CLOCK, false, 1);
        start();
        clock_now += 100000;
        latest = clock_now;
        if (lane == STAMP_LANE)
            (void)prof_trace_stamp(trace);
        else
            emit(lane < PROCS ? lane : PROF_TRACE_NO_PROC, 1);
        clock_now -= 50000;
        stop();
        latest += lane == 0; /* stop emits an event there, one tick later */
        clock_now = latest - steps_back[i / LANES];
        read_to_the_end();
        start();
        /* The first number of the first buffer, and the last readings of all
         * other lanes. */
        assert_true(trace->procs[0].buffer->last_sequence >> PLACE_BITS >=
                    latest - trace->clock_first);
        assert_true(trace->procs[0].last_clock > latest);
        assert_int_equal(trace->procs[1].last_clock,
                         trace->procs[0].last_clock);
        assert_int_equal(trace->outside.last_clock, trace->procs[0].last_clock);
        assert_true(trace->sequence_first > trace->procs[0].last_clock);
        free(trace);
    }
}

/* The stacks of the last session are forgotten at the start. */
TEST(a_session_begins_without_stacks)
{
    open_with(PROF_TRACE_ORDER_CLOCK, false, 1);
    start();
    for (uint64_t i = 0; i <= trace->stacks.slots_mask; i++)
        assert_int_equal(load_relaxed(&trace->stacks.slots[i]), 0);
    free(trace);
}

/* Events take the short way only if the clock is the processor's own counter
 * and the divisor a power of two. */
TEST(events_go_the_short_way_by_the_counter_alone)
{
    static const struct {
        enum prof_trace_order order;
        bool has_counter;
        uint32_t tick_divisor;
        enum trace_way way;
    } rows[] = {
        {PROF_TRACE_ORDER_STAMPS, true, 64, WAY_ANY},
        {PROF_TRACE_ORDER_CLOCK, false, 64, WAY_ANY},
        {PROF_TRACE_ORDER_CLOCK, true, 3, WAY_ANY},
        {PROF_TRACE_ORDER_CLOCK, true, 1, WAY_CYCLES},
        {PROF_TRACE_ORDER_CLOCK, true, 64, WAY_CYCLES},
        {PROF_TRACE_ORDER_CLOCK, true, 1U << 31, WAY_CYCLES},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        open_with(rows[i].order, rows[i].has_counter, rows[i].tick_divisor);
        assert_int_equal(load_relaxed(&trace->on), WAY_NONE);
        start();
        assert_int_equal(load_relaxed(&trace->on), rows[i].way);
        free(trace);
    }
}

/* ---- the rooms ---- */

/* Whatever its numbers, an event is written into a buffer only if the largest
 * event would fit. */
TEST(an_event_goes_where_the_largest_has_room)
{
    for (int way = 0; way < 3; way++) {
        for (uint32_t left = EVENT_BYTES_MAX - 2; left < EVENT_BYTES_MAX + 2;
             left++) {
            struct trace_buffer *buffer;

            open_with(way == 0 ? PROF_TRACE_ORDER_STAMPS
                               : PROF_TRACE_ORDER_CLOCK,
                      way == 2, 1);
            start();
            emit(1, 1);
            buffer = trace->procs[1].buffer;
            buffer->used_bytes = buffer->limit_bytes - left;
            emit(1, 1);
            assert_int_equal(trace->procs[1].buffer == buffer,
                             left >= EVENT_BYTES_MAX);
            assert_int_equal(trace->full.head == buffer,
                             left < EVENT_BYTES_MAX);
            free(trace);
        }
    }
}

/* ---- the cut ---- */

/* The length of a buffer's header: a byte for its kind, and three numbers. */
static uint32_t
batch_bytes(const struct trace_buffer *buffer)
{
    uint32_t at = 1;

    for (int numbers = 0; numbers < 3; at++)
        numbers += (buffer->bytes[at] & 0x80) == 0;
    return at;
}

/* The cut may be at any place, among events with and without a length, short
 * and long ones. */
TEST(a_cut_leaves_the_events_before_it)
{
    enum { EVENTS = 6 };

    for (uint32_t kept = 0; kept <= EVENTS; kept++) {
        struct trace_buffer *buffer = NULL;
        uint32_t used_bytes = 0;

        open_with(PROF_TRACE_ORDER_CLOCK, false, 1);
        start();
        for (uint32_t i = 0; i < EVENTS; i++) {
            if (i == 1 && kept == 0)
                used_bytes = batch_bytes(buffer);
            clock_now += i % 2 == 0 ? 1 : 300;
            if (i % 3 == 2)
                return_to(1, (struct prof_trace_stamp){
                                 trace->sequence_first + UINT32_MAX, i});
            else
                emit(1, i % 3 == 0 ? i : UINT64_MAX);
            buffer = trace->procs[1].buffer;
            if (i + 1 == kept)
                used_bytes = buffer->used_bytes;
            /* Set the cut to the number of the first event that is too late. */
            if (i == kept)
                trace->cut_before =
                    (trace->procs[1].last_clock - trace->clock_first)
                        << PLACE_BITS |
                    1;
            if (kept == EVENTS)
                trace->cut_before = UINT64_MAX;
        }
        assert_int_equal(prof_trace_cut(trace, buffer), kept > 0);
        assert_int_equal(buffer->used_bytes, used_bytes);
        assert_int_equal(prof_trace_drops(trace).no_buffer, EVENTS - kept);
        free(trace);
    }
}

static void
fill_all_buffers_and_go_on(void)
{
    for (uint64_t i = 0; prof_trace_drops(trace).no_buffer == 0; i++) {
        assert_true(i < 10000);
        emit(0, UINT64_MAX);
        clock_now += 10;
    }
}

/* A processor took the buffer, and the trace ended before its first event. */
TEST(a_buffer_of_which_nothing_is_left_is_empty_again)
{
    struct trace_buffer *buffer;
    size_t empty = 0;

    open_with(PROF_TRACE_ORDER_CLOCK, false, 1);
    start();
    before_reading = fill_all_buffers_and_go_on;
    emit(1, 1);
    buffer = trace->procs[1].buffer;
    assert_non_null(buffer);
    stop();
    read_to_the_end();
    for (const struct trace_buffer *at = trace->empty; at != NULL;
         at = at->next)
        empty++;
    assert_int_equal(empty, BUFFERS);
    assert_int_equal(prof_trace_drops(trace).no_buffer,
                     3); /* and stop's event */
    free(trace);
}

TEST(a_number_has_a_byte_for_each_7_bits)
{
    for (uint32_t bits = 1; bits <= 64; bits++) {
        const struct trace_buffer *buffer;
        uint32_t before;

        open_with(PROF_TRACE_ORDER_STAMPS, false, 1);
        start();
        emit(1, 0);
        buffer = trace->procs[1].buffer;
        before = buffer->used_bytes;
        emit(1, UINT64_MAX >> (64 - bits));
        /* A byte for the kind, one for the next number, one for the same tick,
         * and the argument. */
        assert_int_equal(buffer->used_bytes - before, 3 + (bits + 6) / 7);
        free(trace);
    }
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
