/*
 * test_tracer_threads.c -- the tracer with real threads: some emit on
 * processors, one emits on no processor without end, and a reader sleeps.
 *
 * The clock is a counter that advances with every reading. So the ticks in the
 * file show in which order it was read; they must rise with sequence numbers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

#include "aligned_block.h"
#include "prof/prof.h"
#include "prof/trace.h"
#include "trace_reader.h"
#include "trace_readers.h"
#include "unit_test.h"

enum {
    PROCS = 3,
    SESSIONS = 6,
    EVENTS = 2000, /* for each processor in a session */
    SHARED_STACKS = 8,
    HANDOFFS = 2000,
};

struct stage {
    struct prof_trace *trace;
    void *block;
    _Atomic uint64_t ticks;
    _Atomic int outside_ends; /* the thread outside all processors may end */
    uint64_t outside;         /* its events; read after its join */
    uint8_t *bytes;           /* what the reader has read */
    size_t bytes_count;
    size_t bytes_room;
};

static uint64_t
tick(void *context)
{
    struct stage *stage = context;

    return atomic_fetch_add(&stage->ticks, 1);
}

static uint64_t
no_time(void *context)
{
    struct stage *stage = context;

    return atomic_load(&stage->ticks);
}

static void
open_stage(struct stage *stage, const struct prof_trace_config *shape,
           const struct prof_trace_clock *clock)
{
    struct prof_trace_config config = *shape;
    size_t bytes;

    memset(stage, 0, sizeof *stage);
    config.clock = *clock;
    config.clock.context = stage;
    bytes = prof_trace_bytes_needed(&config);
    assert_int_not_equal(bytes, 0);
    stage->block = props_block(bytes, 0);
    stage->bytes_room = 1 << 22;
    stage->bytes = malloc(stage->bytes_room);
    assert_non_null(stage->bytes);
    assert_int_equal(
        prof_trace_init(&stage->trace, &config, stage->block, bytes), PROF_OK);
}

static void
close_stage(struct stage *stage)
{
    free(stage->bytes);
    free(stage->block);
}

static bool
one_task(void *context, struct prof_trace_task *task)
{
    int *given = context;

    *task = (struct prof_trace_task){.id = 1};
    return (*given)++ == 0;
}

static void
start(struct stage *stage)
{
    int given = 0;
    const struct prof_trace_world world = {
        .task = 1, .next = one_task, .context = &given};

    assert_int_equal(prof_trace_start(stage->trace, &world), PROF_OK);
}

/* ---- the stress ---- */

struct processor {
    struct stage *stage;
    uint32_t proc;
};

static void *
run_processor(void *context)
{
    const struct processor *me = context;

    for (uint64_t i = 0; i < EVENTS; i++) {
        const uintptr_t stack[] = {1 + i % SHARED_STACKS, 99};
        const uint64_t task = (uint64_t)me->proc << 32 | (i + 1);

        if (i % 4 == 0)
            prof_trace_emit(me->stage->trace, me->proc, PROF_EV_GOMAXPROCS,
                            &task, stack, 2);
        else
            prof_trace_emit(me->stage->trace, me->proc, PROF_EV_HEAP_ALLOC,
                            &task, NULL, 0);
    }
    return NULL;
}

/* Emit all the time, also while tracing starts and stops. */
static void *
run_outside(void *context)
{
    struct stage *stage = context;

    while (atomic_load(&stage->outside_ends) == 0) {
        const uint64_t number = ++stage->outside;
        const uintptr_t stack[] = {1000 + number};

        prof_trace_emit(stage->trace, PROF_TRACE_NO_PROC, PROF_EV_GOMAXPROCS,
                        &number, stack, 1);
        (void)prof_trace_stamp(stage->trace);
        sched_yield();
    }
    return NULL;
}

/* Read one session; sleep while there is nothing to read. */
static void *
run_reader(void *context)
{
    struct stage *stage = context;
    const uint8_t *bytes;
    size_t count;
    enum prof_status status = PROF_OK;

    while (status != PROF_ERR_END) {
        status = prof_trace_read(stage->trace, &bytes, &count);
        if (status == PROF_ERR_AGAIN &&
            prof_trace_wait(stage->trace) != PROF_OK)
            abort();
        if (status != PROF_OK)
            continue;
        if (count > stage->bytes_room - stage->bytes_count)
            abort();
        memcpy(stage->bytes + stage->bytes_count, bytes, count);
        stage->bytes_count += count;
    }
    return NULL;
}

/* Check that what was read is a trace, and that no thread's events have a
 * gap. */
static void
judge(struct stage *stage, bool has_drops)
{
    uint64_t last[PROCS] = {0};
    struct model_trace trace;
    uint64_t outside = 0;
    int64_t ticks = 0;

    model_trace_init(&trace);
    if (model_trace_read(&trace, stage->bytes, stage->bytes_count) !=
        MODEL_TRACE_OK)
        fail_msg("not accepted: %s", trace.reason.text);
    assert_int_equal(trace.duplicate_seqs, 0);
    for (uint32_t i = 0; i < model_trace_count(&trace); i++) {
        const struct model_trace_event *event = model_trace_at(&trace, i);
        const int64_t proc = model_trace_proc_id(&trace, event->proc);

        assert_true(event->ticks > ticks);
        ticks = event->ticks;
        if (event->type != MODEL_TRACE_HEAP_ALLOC &&
            event->type != MODEL_TRACE_GOMAXPROCS)
            continue;
        if (proc == -1) {
            uint64_t pc = 0;

            assert_true(outside == 0 || event->arg == outside + 1);
            outside = event->arg;
            assert_int_equal(model_trace_stack(&trace, event->stack, &pc), 1);
            assert_int_equal(pc, 1000 + outside);
            continue;
        }
        assert_in_range(proc, 0, PROCS - 1);
        assert_int_equal(event->arg, (uint64_t)proc << 32 | (last[proc] + 1));
        last[proc]++;
    }
    for (int p = 0; p < PROCS && !has_drops; p++)
        assert_int_equal(last[p], EVENTS);
    model_trace_release(&trace);
}

static void
run_session(struct stage *stage)
{
    struct processor processors[PROCS];
    pthread_t threads[PROCS];
    pthread_t reader;
    bool has_drops;

    stage->bytes_count = 0;
    start(stage);
    assert_int_equal(pthread_create(&reader, NULL, run_reader, stage), 0);
    for (uint32_t p = 0; p < PROCS; p++) {
        processors[p] = (struct processor){stage, p};
        assert_int_equal(
            pthread_create(&threads[p], NULL, run_processor, &processors[p]),
            0);
    }
    for (uint32_t p = 0; p < PROCS; p++)
        assert_int_equal(pthread_join(threads[p], NULL), 0);
    assert_int_equal(prof_trace_stop(stage->trace, 0, NULL, 0), PROF_OK);
    assert_int_equal(pthread_join(reader, NULL), 0);
    has_drops = prof_trace_drops(stage->trace).no_buffer > 0;
    judge(stage, has_drops);
}

static void
run_sessions(const struct prof_trace_config *config)
{
    const struct prof_trace_clock clock = {tick, no_time, NULL};
    struct stage stage;
    pthread_t outside;

    open_stage(&stage, config, &clock);
    assert_int_equal(pthread_create(&outside, NULL, run_outside, &stage), 0);
    for (int i = 0; i < SESSIONS; i++)
        run_session(&stage);
    atomic_store(&stage.outside_ends, 1);
    assert_int_equal(pthread_join(outside, NULL), 0);
    close_stage(&stage);
}

/* Tested in both orders of events. */
static void
run_orders(uint32_t buffers_max, uint32_t buffer_bytes)
{
    struct prof_trace_config config = {
        .procs_max = PROCS,
        .buffers_max = buffers_max,
        .buffer_bytes = buffer_bytes,
        .stacks_max = 1 << 17,
        .frames_max = 1 << 19,
        .tick_divisor = 1,
    };

    run_sessions(&config);
    config.order = PROF_TRACE_ORDER_CLOCK;
    run_sessions(&config);
}

TEST(threads_and_sessions_lose_nothing_with_room_for_all)
{
    run_orders(2000, 512);
}

TEST(threads_and_sessions_leave_no_gap_with_little_room)
{
    run_orders(PROCS + 4, 128);
}

/* ---- the processors' counter ---- */

/* Two processors in turn block and wake task 2. */
struct relay {
    struct prof_trace *trace;
    _Atomic int baton; /* handoffs so far; if odd, the task is ready */
};

static void
await(struct relay *relay, int value)
{
    while (atomic_load(&relay->baton) != value)
        sched_yield();
}

static void *
run_relay(void *context)
{
    struct relay *relay = context;
    const uint64_t task = 2;

    prof_trace_emit(relay->trace, 1, PROF_EV_PROC_START, &task, NULL, 0);
    for (int i = 0; i < HANDOFFS; i++) {
        await(relay, 2 * i + 1);
        prof_trace_emit(relay->trace, 1, PROF_EV_GO_START, &task, NULL, 0);
        prof_trace_emit(relay->trace, 1, PROF_EV_GO_BLOCK, NULL, NULL, 0);
        atomic_store(&relay->baton, 2 * i + 2);
    }
    return NULL;
}

static bool
first_runs_second_waits(void *context, struct prof_trace_task *task)
{
    uint64_t *given = context;

    *task = (struct prof_trace_task){.id = ++*given,
                                     .state = *given == 2 ? PROF_TASK_WAITING
                                                          : PROF_TASK_RUNNABLE};
    return *given <= 2;
}

/* Do the counters of all processors show the same time? */
static bool
counters_agree(void)
{
    FILE *file = fopen("/proc/cpuinfo", "r");
    char line[8192];
    bool agree = false;

    assert_non_null(file);
    while (!agree && fgets(line, sizeof line, file) != NULL)
        agree = strstr(line, " constant_tsc") && strstr(line, " nonstop_tsc");
    fclose(file);
    return agree;
}

TEST(what_follows_on_another_processor_is_later_by_the_counter)
{
    const struct prof_trace_config config = {.procs_max = 2,
                                             .buffers_max = 64,
                                             .buffer_bytes = 8192,
                                             .tick_divisor = 1,
                                             .order = PROF_TRACE_ORDER_CLOCK};
    const uint64_t task = 2;
    uint64_t given = 0;
    const struct prof_trace_world world = {.thread = 7,
                                           .task = 1,
                                           .next = first_runs_second_waits,
                                           .context = &given};
    struct stage stage;
    struct relay relay = {0};
    pthread_t second;

    if (!counters_agree())
        skip();
    open_stage(&stage, &config, &(struct prof_trace_clock){0});
    relay.trace = stage.trace;
    assert_int_equal(prof_trace_start(stage.trace, &world), PROF_OK);
    assert_int_equal(pthread_create(&second, NULL, run_relay, &relay), 0);
    for (int i = 0; i < HANDOFFS; i++) {
        await(&relay, 2 * i);
        prof_trace_emit(stage.trace, 0, PROF_EV_GO_UNBLOCK, &task, NULL, 0);
        atomic_store(&relay.baton, 2 * i + 1);
    }
    assert_int_equal(pthread_join(second, NULL), 0);
    assert_int_equal(prof_trace_stop(stage.trace, 0, NULL, 0), PROF_OK);
    (void)run_reader(&stage);
    judge(&stage, true);
    close_stage(&stage);
}

TEST(a_second_reader_is_refused_and_the_first_is_woken_by_the_end)
{
    const char *why = trace_readers_try();

    if (why != NULL)
        fail_msg("%s", why);
}

/* ---- a stop that waits ---- */

enum { STOPS = 40 };

struct slow_reader {
    struct prof_trace *trace;
    _Atomic uint64_t bytes; /* read so far */
    _Atomic int ends;       /* sessions read to their end */
    _Atomic int may_signal; /* the main thread may get signals */
    pthread_t main;
};

/* Sleeps before each read, so that a thread that waits for the reader falls
 * asleep; and sends it signals. */
static void *
read_slowly(void *context)
{
    struct slow_reader *reader = context;
    const struct timespec nap = {.tv_nsec = 200000};
    const uint8_t *bytes;
    size_t count;

    while (atomic_load(&reader->ends) < STOPS) {
        enum prof_status status;

        nanosleep(&nap, NULL);
        if (atomic_load(&reader->may_signal) != 0)
            pthread_kill(reader->main, SIGUSR1);
        status = prof_trace_read(reader->trace, &bytes, &count);
        if (status == PROF_OK)
            atomic_fetch_add(&reader->bytes, count);
        else if (status == PROF_ERR_AGAIN)
            (void)!prof_trace_wait(reader->trace);
        else if (status == PROF_ERR_END)
            atomic_fetch_add(&reader->ends, 1);
    }
    return NULL;
}

static void
do_nothing(int number)
{
    (void)number;
}

static void *
wait_for_the_end(void *trace)
{
    return prof_trace_stop_wait(trace) == PROF_OK ? trace : NULL;
}

/* Two threads wait, one of them under signals. The next session may start at
 * once. */
TEST(who_waits_for_the_reader_goes_on_when_all_was_read)
{
    const struct prof_trace_config config = {
        .procs_max = 1, .buffers_max = 16, .buffer_bytes = 512};
    const struct sigaction action = {.sa_handler = do_nothing};
    struct sigaction before;
    struct slow_reader reader = {.main = pthread_self()};
    struct stage stage;
    pthread_t thread, other;
    uint64_t bytes = 0;
    void *result;

    open_stage(&stage, &config,
               &(struct prof_trace_clock){tick, no_time, NULL});
    reader.trace = stage.trace;
    assert_int_equal(sigaction(SIGUSR1, &action, &before), 0);
    assert_int_equal(prof_trace_stop_wait(stage.trace), PROF_OK);
    assert_int_equal(pthread_create(&thread, NULL, read_slowly, &reader), 0);
    for (int i = 0; i < STOPS; i++) {
        start(&stage); /* accepted: the last session was read to its end */
        assert_int_equal(prof_trace_stop_wait(stage.trace), PROF_ERR_BUSY);
        for (uint64_t j = 0; j < 20; j++)
            prof_trace_emit(stage.trace, 0, PROF_EV_HEAP_ALLOC, &j, NULL, 0);
        assert_int_equal(prof_trace_stop(stage.trace, 0, NULL, 0), PROF_OK);
        assert_int_equal(
            pthread_create(&other, NULL, wait_for_the_end, stage.trace), 0);
        atomic_store(&reader.may_signal, 1);
        assert_int_equal(prof_trace_stop_wait(stage.trace), PROF_OK);
        atomic_store(&reader.may_signal, 0);
        bytes = atomic_load(&reader.bytes);
        assert_int_equal(pthread_join(other, &result), 0);
        assert_ptr_equal(result, stage.trace);
    }
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(atomic_load(&reader.bytes), bytes);
    assert_int_equal(sigaction(SIGUSR1, &before, NULL), 0);
    close_stage(&stage);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
