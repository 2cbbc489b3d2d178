/* cross_fixture.c -- see cross_fixture.h. */
#include "props/test/cross_fixture.h"

#include <stdio.h>
#include <string.h>

#include "sim/instruments/instrument_trace.h"
#include "props/judge/trace_judge.h"

const uintptr_t leaf[] = {0x401000, 0x401010};
const uintptr_t deep[] = {0x402000, 0x402010, 0x402020};
const uintptr_t other[] = {0x403000};
static const struct truth_stack stacks[] = {{leaf, 2}, {deep, 3}, {other, 1}};

const struct sim_limits limits = {
    .events_max = 256,
    .objects_max = 64,
    .buckets_max = 32,
    .frames_max = 1024,
    .instruments = SIM_ALL_INSTRUMENTS,
};

struct sim_world *world;
struct sim_config config;
struct props_coverage coverage;
struct cross cross;
struct model_trace trace;
props_set broken;
static char text[384];

static void
note(void *context, enum props_property property, const char *why)
{
    (void)context;
    if (broken == 0)
        snprintf(text, sizeof text, "%s: %s", props_property_id(property), why);
    broken |= PROPS_BIT(property);
}

int
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
        .instruments = SIM_ALL_INSTRUMENTS,
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
    model_trace_init(&trace);
    broken = 0;
    text[0] = '\0';
    return 0;
}

int
tear_down(void **state)
{
    (void)state;
    cross_release(&cross);
    model_trace_release(&trace);
    sim_world_delete(world);
    return 0;
}

/* ---- the script ---- */

struct sim_event script[256];
uint32_t script_count;

void
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

void
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

void
collect(uint32_t proc)
{
    P(proc, GC_MARK, LEAF, .lock = 0);
    P(proc, GC_TERMINATE, NOWHERE, .lock = 0);
    P(proc, GC_FLUSH, NOWHERE, .lock = 0);
}

void
begin_trace(void)
{
    P(0, TRACE_START, LEAF, .lock = 0);
    P(1, PROC_START, NOWHERE, .lock = 0);
    P(1, RUN, NOWHERE, .object = 2);
}

void
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

void
judge(void)
{
    static uint32_t order[1024];
    const struct sim_session *session = sim_session(world, 0);

    assert_true(session->has_ended);
    if (model_trace_read(&trace, session->bytes, session->bytes_count) !=
        MODEL_TRACE_OK)
        fail_msg("%s", trace.reason.text);
    assert_true(trace.events_count <= sizeof order / sizeof *order);
    trace_judge_sort(&trace, order);
    cross.order = order;
    cross_session(&cross, 0, &trace);
}

void
assert_holds(void)
{
    if (broken != 0)
        fail_msg("%s", text);
}

bool
only(enum props_property property)
{
    if (broken == PROPS_BIT(property))
        return true;
    print_error("%s\n", text);
    return false;
}
