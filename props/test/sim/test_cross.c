/*
 * test_cross.c -- what instruments say of one world agrees, and each check
 * notices when one of them says something else.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cross.h"
#include "cross_without.h"
#include "instrument_debug.h"
#include "instrument_tasks.h"
#include "instrument_threads.h"
#include "instrument_trace.h"

#define EVERYTHING SIM_ALL_INSTRUMENTS

static const uintptr_t leaf[] = {0x401000, 0x401010};
static const uintptr_t deep[] = {0x402000, 0x402010, 0x402020};
static const uintptr_t other[] = {0x403000};
static const struct truth_stack stacks[] = {{leaf, 2}, {deep, 3}, {other, 1}};

enum { LEAF, DEEP, OTHER };
#define NOWHERE TRUTH_NO_STACK

static const struct sim_limits limits = {
    .events_max = 256,
    .objects_max = 64,
    .buckets_max = 32,
    .frames_max = 1024,
    .instruments = EVERYTHING,
};

static struct sim_world *world;
static struct sim_config config;
static struct props_coverage coverage;
static struct cross cross;
static struct model_trace trace;
static props_set broken;
static char text[384];

static void
note(void *context, enum props_property property, const char *why)
{
    (void)context;
    if (broken == 0)
        snprintf(text, sizeof text, "%s: %s", props_property_id(property), why);
    broken |= PROPS_BIT(property);
}

static int
set_up(void **state)
{
    (void)state;
    config = (struct sim_config){
        .buckets_max = 32,
        .depth_max = 32,
        .frames_max = 1024,
        .procs = 2,
        .stacks = stacks,
        .stacks_count = 3,
        .scheduled = true,
        .instruments = EVERYTHING,
        .trace = {.buffers = 16,
                  .buffer_bytes = 4096,
                  .tick_divisor = 16,
                  .stacks_room = 64,
                  .ticks_per_us = 1000},
    };
    world = sim_world_new(&limits);
    assert_non_null(world);
    memset(&cross, 0, sizeof cross);
    memset(&coverage, 0, sizeof coverage);
    cross.world = world;
    cross.cover = &coverage;
    cross.breach = note;
    assert_true(cross_init(&cross));
    model_trace_init(&trace);
    broken = 0;
    text[0] = '\0';
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    cross_release(&cross);
    model_trace_release(&trace);
    sim_world_delete(world);
    return 0;
}

/* ---- the script ---- */

static struct sim_event script[256];
static uint32_t script_count;

static void
apply(struct sim_event event)
{
    const char *why;

    if (event.delay_ticks == 0)
        event.delay_ticks = 1000;
    if (strchr(sim_event_arguments(event.kind), 'r') != NULL && event.room == 0)
        event.room = SIM_ROOM_ENOUGH;
    why = sim_world_apply(world, &event);
    if (why != NULL)
        fail_msg("%s: %s", sim_event_word(event.kind), why);
    cross_event(&cross, &event);
    script[script_count++] = event;
}

/* An event of a processor or of a task, at a stack; a microsecond later. */
#define P(at, what, where, ...) \
    apply((struct sim_event){   \
        .kind = SIM_EV_##what, .proc = (at), .stack = (where), __VA_ARGS__})
#define T(who, what, where, ...) \
    apply((struct sim_event){    \
        .kind = SIM_EV_##what, .task = (who), .stack = (where), __VA_ARGS__})

static void
begin_tasks(void)
{
    assert_null(sim_world_reset(world, &config));
    script_count = 0;
    cross_begin(&cross);
    P(0, PROC_START, NOWHERE, .lock = 0);
    P(0, CREATE, LEAF, .lock = 0);
    P(0, RUN, NOWHERE, .object = 1);
    P(0, CREATE, DEEP, .lock = 0);
    P(1, PROC_START, NOWHERE, .lock = 0);
    P(1, CREATE, OTHER, .lock = 0); /* 3, of the runtime */
    P(1, RUN, NOWHERE, .object = 2);
}

/* A collection, from one processor. */
static void
collect(uint32_t proc)
{
    P(proc, GC_MARK, LEAF, .lock = 0);
    P(proc, GC_TERMINATE, NOWHERE, .lock = 0);
    P(proc, GC_FLUSH, NOWHERE, .lock = 0);
}

static void
begin_trace(void)
{
    P(0, TRACE_START, LEAF, .lock = 0);
    P(1, PROC_START, NOWHERE, .lock = 0);
    P(1, RUN, NOWHERE, .object = 2);
}

/* Everything there is to compare, once. */
static void
run_all(void)
{
    begin_tasks();
    begin_trace();
    P(0, CPU_START, NOWHERE, .size_bytes = 10000);
    T(1, LOCK, LEAF, .lock = 0);
    T(2, ALLOC, DEEP, .object = 0, .size_bytes = 64);
    T(2, LOCK, DEEP, .lock = 0); /* waits */
    T(1, ALLOC, LEAF, .object = 1, .size_bytes = 16);
    T(1, UNLOCK, OTHER, .lock = 0, .delay_ticks = 5000000);
    P(1, RUN, NOWHERE, .object = 2);
    collect(0);
    T(1, ALLOC, LEAF, .object = 2, .size_bytes = 16);
    collect(1);
    T(2, DROP, NOWHERE, .object = 0);
    T(1, ALLOC, LEAF, .object = 3, .size_bytes = 16);
    collect(1);
    P(0, SNAPSHOT_ALL, NOWHERE, .lock = 0);
    P(0, SWEEP_START, LEAF, .lock = 0);
    P(0, GC_SWEEP, NOWHERE, .object = 0);
    P(0, SWEEP_DONE, NOWHERE, .lock = 0);
    P(1, SYSCALL, OTHER, .lock = 0);
    P(0, CREATE, DEEP, .lock = 0); /* 4 */
    P(0, GOROUTINES, OTHER, .lock = 0);
    P(1, PROC_START, NOWHERE, .lock = 0);
    P(1, RUN, NOWHERE, .object = 4, .delay_ticks = 3000000);
    P(1, GC_POST_SWEEP, NOWHERE, .lock = 0);
    P(1, SNAPSHOT_ALL, NOWHERE, .lock = 0);
    P(1, STOP, DEEP, .lock = 0);
    P(0, GOROUTINES, LEAF, .lock = 0);
    P(0, CPU_STOP, NOWHERE, .lock = 0);
    P(0, TRACE_STOP, LEAF, .lock = 0);
    P(0, READ, NOWHERE, .lock = 0);
}

static void
judge(void)
{
    const struct sim_session *session = sim_session(world, 0);

    assert_true(session->has_ended);
    if (model_trace_read(&trace, session->bytes, session->bytes_count) !=
        MODEL_TRACE_OK)
        fail_msg("%s", trace.reason.text);
    cross_session(&cross, 0, &trace);
}

static void
assert_holds(void)
{
    if (broken != 0)
        fail_msg("%s", text);
}

/* returns: only this property is broken */
static bool
only(enum props_property property)
{
    if (broken == PROPS_BIT(property))
        return true;
    print_error("%s\n", text);
    return false;
}

/* ---- the tests ---- */

static void
what_the_instruments_say_agrees(void **state)
{
    static const enum props_cover met[] = {
        COVER_CROSS_BLOCK,    COVER_CROSS_MUTEX,      COVER_CROSS_HEAP_ALLOC,
        COVER_CROSS_SNAPSHOT, COVER_CROSS_GOROUTINES, COVER_CROSS_ALLOCATOR,
        COVER_CROSS_CPU,
    };

    (void)state;
    run_all();
    judge();
    assert_holds();
    for (size_t i = 0; i < sizeof met / sizeof *met; i++) {
        if (coverage.hits[met[i]] == 0)
            fail_msg("%s", props_cover_text(met[i]));
    }
}

static void
a_wait_that_is_longer_in_the_profile_is_noticed(void **state)
{
    (void)state;
    run_all();
    assert_int_equal(cross.sessions[0].end[PROF_BLOCK].count, 1);
    assert_int_equal(cross.sessions[0].end[PROF_BLOCK].sites[0].cycles,
                     5001000);
    cross.sessions[0].end[PROF_BLOCK].sites[0].cycles += 16;
    judge();
    assert_true(only(PROPS_X1));
}

static void
a_release_that_the_mutex_profile_lacks_is_noticed(void **state)
{
    (void)state;
    run_all();
    assert_int_equal(cross.sessions[0].end[PROF_MUTEX].count, 1);
    cross.sessions[0].end[PROF_MUTEX].sites[0].count--;
    judge();
    assert_true(only(PROPS_X1));
}

static void
a_wait_at_another_stack_is_noticed(void **state)
{
    (void)state;
    run_all();
    cross.sessions[0].end[PROF_BLOCK].sites[0].depth--;
    judge();
    assert_true(only(PROPS_X1));
}

static void
a_snapshot_with_one_allocation_more_is_noticed(void **state)
{
    (void)state;
    run_all();
    cross.snapshots[0].allocs += 2;
    judge();
    assert_true(only(PROPS_X2));
}

static void
a_line_too_few_is_noticed(void **state)
{
    (void)state;
    run_all();
    cross.sessions[0].lines_end--;
    judge();
    assert_true((broken & PROPS_BIT(PROPS_X2)) != 0);
}

static void
a_task_that_the_goroutine_profile_lacks_is_noticed(void **state)
{
    (void)state;
    run_all();
    cross.readings[0].count--;
    judge();
    assert_true(only(PROPS_X3));
}

static void
a_task_in_another_state_is_noticed(void **state)
{
    (void)state;
    run_all();
    cross.readings[0].listed[1].state = "chan send";
    judge();
    assert_true(only(PROPS_X3));
}

static void
a_task_at_another_place_is_noticed(void **state)
{
    (void)state;
    run_all();
    cross.readings[0].listed[0].depth--;
    judge();
    assert_true(only(PROPS_X3));
}

static void
an_allocation_of_another_task_is_noticed(void **state)
{
    const struct sim_debug_text said = {0};

    (void)said;
    (void)state;
    run_all();
    assert_true(cross_lines_read(&cross.lines, sim_debug_text(world).bytes,
                                 sim_debug_text(world).bytes_count));
    for (uint32_t i = 0; i < cross.lines.count; i++) {
        if (cross.lines.all[i].kind == CROSS_LINE_ALLOC)
            cross.lines.all[i].g ^= 3;
    }
    judge();
    assert_true(only(PROPS_X4));
}

static void
objects_that_nobody_allocated_are_noticed(void **state)
{
    (void)state;
    run_all();
    assert_true(cross_lines_read(&cross.lines, sim_debug_text(world).bytes,
                                 sim_debug_text(world).bytes_count));
    for (uint32_t i = 0; i < cross.lines.frames_count; i++)
        cross.lines.frames[i] ^= 1;
    judge();
    assert_true(only(PROPS_X4));
}

static void
ticks_of_another_task_are_noticed(void **state)
{
    (void)state;
    run_all();
    /* The label's value is in the strings of the profile. */
    for (size_t i = 0; i + 2 < cross.sessions[0].cpu_bytes; i++) {
        uint8_t *at = &cross.sessions[0].cpu[i];

        if (at[0] == 0x32 && at[1] == 1 && at[2] == '1')
            at[2] = '2';
        else if (at[0] == 0x32 && at[1] == 1 && at[2] == '2')
            at[2] = '1';
    }
    judge();
    assert_true(only(PROPS_X5));
}

static void
without_one_the_others_say_the_same(void **state)
{
    struct cross_without without = {.limits = limits};

    (void)state;
    run_all();
    for (int i = 0; i < SIM_INSTRUMENT_COUNT; i++) {
        if (!cross_without_try(&without, &config, script, script_count,
                               (enum sim_instrument_id)i))
            fail_msg("%s", without.difference);
    }
    cross_without_release(&without);
}

#define WITH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        WITH(what_the_instruments_say_agrees),
        WITH(a_wait_that_is_longer_in_the_profile_is_noticed),
        WITH(a_release_that_the_mutex_profile_lacks_is_noticed),
        WITH(a_wait_at_another_stack_is_noticed),
        WITH(a_snapshot_with_one_allocation_more_is_noticed),
        WITH(a_line_too_few_is_noticed),
        WITH(a_task_that_the_goroutine_profile_lacks_is_noticed),
        WITH(a_task_in_another_state_is_noticed),
        WITH(a_task_at_another_place_is_noticed),
        WITH(an_allocation_of_another_task_is_noticed),
        WITH(objects_that_nobody_allocated_are_noticed),
        WITH(ticks_of_another_task_are_noticed),
        WITH(without_one_the_others_say_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
