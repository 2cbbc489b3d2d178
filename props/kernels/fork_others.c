/*
 * fork_others.c -- kernels like those of fork.c, with a thread inside a call on
 * a tracer, a CPU profile or a registry.
 */
#include <stdalign.h>
#include <string.h>

#include "props/kernels/kernels.h"
#include "prof/cpu.h"
#include "prof/fork.h"
#include "prof/registry.h"
#include "props/kernels/traced.h"

/* ---- A tracer ---- */

/* One event for each buffer that the child may use. */
enum { EVENTS_OF_CHILD = 4 };

static void
child_of_trace(void)
{
    struct session_file file = {.count = 0};

    prof_trace_after_fork_child(session_trace);
    sim_explore_check(!prof_trace_is_on(session_trace) &&
                          session_read(&file) == PROF_ERR_OFF,
                      "the parent's session goes on in the child");
    sim_explore_check(session_start() == PROF_OK,
                      "the child cannot start a session");
    session_emit(1);
    session_emit(PROF_TRACE_NO_PROC);
    session_emit_full(0);
    session_emit(0);
    session_end(&file);
    sim_explore_check(traced_look(&file) == EVENTS_OF_CHILD &&
                          prof_trace_drops(session_trace).no_buffer == 0,
                      "the child has lost an event, or a buffer");
    sim_explore_check(traced_events.at[0].sequence >> 32 == 0,
                      "numbers do not begin with the first session");
}

static void
fork_trace(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    sim_explore_fork(child_of_trace);
}

static void
by_stamps(void *context)
{
    (void)context;
    traced_file.count = 0;
    session_make(PROF_TRACE_ORDER_STAMPS);
}

static void
by_clock(void *context)
{
    (void)context;
    traced_file.count = 0;
    session_make(PROF_TRACE_ORDER_CLOCK);
}

/* Use the whole tracer: events on and off processors, a reader, a stop, a
 * start. */
static void
trace_all(void *context, uint32_t thread)
{
    const uintptr_t stack[] = {0x1000};

    sim_explore_check(session_start() == PROF_OK, "it is off");
    session_emit_full(thread);
    session_emit(PROF_TRACE_NO_PROC);
    prof_trace_emit(session_trace, thread, PROF_EV_GO_SCHED, NULL, stack, 1);
    (void)!session_read(&traced_file);
    (void)prof_trace_stamp(session_trace);
    traced_stop_and_start(context, thread);
}

const struct sim_kernel props_kernel_fork_trace = {
    .name = "fork-trace",
    .about =
        "after a fork inside a call of the tracer the child's tracer works",
    .setup = by_stamps,
    .threads = {{"tracer", trace_all, fork_trace}},
    .threads_count = 1,
};

const struct sim_kernel props_kernel_fork_clock = {
    .name = "fork-clock",
    .about = "after a fork inside a call of a tracer that orders by the clock "
             "the child's tracer works",
    .setup = by_clock,
    .threads = {{"tracer", trace_all, fork_trace}},
    .threads_count = 1,
};

static void
on_by_stamps(void *context)
{
    (void)context;
    traced_new(PROF_TRACE_ORDER_STAMPS);
}

static void
trace_and_stop(void *context, uint32_t thread)
{
    (void)context;
    session_emit_full(thread);
    sim_explore_check(session_stop() == PROF_OK, "it is on");
}

static void
wait_for_events(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    while (session_read(&traced_file) == PROF_OK)
        continue;
    (void)!prof_trace_wait(session_trace);
}

const struct sim_kernel props_kernel_fork_reader = {
    .name = "fork-reader",
    .about = "after a fork while the reader sleeps the child's tracer works",
    .setup = on_by_stamps,
    .threads = {{"tracer", trace_and_stop, fork_trace},
                {"reader", wait_for_events, NULL}},
    .threads_count = 2,
};

/* ---- A CPU profile ---- */

static alignas(PROF_BLOCK_ALIGN) unsigned char block[1 << 13];
static struct prof_cpu *cpu;

static void
new_cpu(void *context)
{
    const struct prof_cpu_config config = {
        .ticks_max = 2, .stacks_max = 4, .depth_max = 1};

    (void)context;
    memset(block, 0, sizeof block);
    if (prof_cpu_init(&cpu, &config, block, sizeof block) != PROF_OK ||
        prof_cpu_start(cpu, PROF_CPU_HZ) != PROF_OK)
        sim_explore_fail("the profile does not start");
}

static void
tick(uintptr_t pc)
{
    prof_cpu_tick(cpu, &pc, 1, NULL);
}

static void
profile_all(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    tick(0x1000);
    prof_cpu_drain(cpu);
    tick(0x2000);
    tick(0x3000);
    tick(0x4000); /* the ring is full */
    (void)!prof_cpu_stop(cpu);
    (void)!prof_cpu_start(cpu, PROF_CPU_HZ);
}

static void
child_of_cpu(void)
{
    struct prof_cpu_totals totals;

    prof_cpu_after_fork_child(cpu);
    prof_cpu_drain(cpu);
    totals = prof_cpu_totals(cpu);
    sim_explore_check(totals.recorded == 0 && totals.lost == 0,
                      "the child has ticks of the parent");
    tick(0x5000);
    sim_explore_check(prof_cpu_start(cpu, PROF_CPU_HZ) == PROF_OK,
                      "the child cannot start a profile");
    tick(0x5000);
    tick(0x5000);
    sim_explore_check(prof_cpu_stop(cpu) == PROF_OK, "busy, though nobody is");
    totals = prof_cpu_totals(cpu);
    sim_explore_check(totals.recorded == 2 && totals.lost == 0,
                      "a tick of the child is lost");
}

static void
fork_cpu(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    sim_explore_fork(child_of_cpu);
}

const struct sim_kernel props_kernel_fork_cpu = {
    .name = "fork-cpu",
    .about = "after a fork inside a tick, drain, stop or start the child can "
             "record and loses no tick",
    .setup = new_cpu,
    .threads = {{"ticking", profile_all, fork_cpu}},
    .threads_count = 1,
};

/* ---- A registry ---- */

enum { ENTRIES = 2, PROFILES = 9 };

static struct prof_registry *registry;
static struct prof_profile *profile;

static void
new_registry(void *context)
{
    const struct prof_registry_config config = {
        .profiles_max = 2, .entries_max = ENTRIES, .depth_max = 1};

    (void)context;
    memset(block, 0, sizeof block);
    if (prof_registry_init(&registry, &config, block, sizeof block) !=
            PROF_OK ||
        prof_registry_new(registry, "own", &profile) != PROF_OK ||
        prof_profile_add(profile, "a", 1, NULL, 0) != PROF_OK)
        sim_explore_fail("the registry does not fit its block");
}

static enum prof_status
add(const char *key)
{
    const uintptr_t stack[] = {0x1000};

    return prof_profile_add(profile, key, 1, stack, 1);
}

static void
keep_books(void *context, uint32_t thread)
{
    struct prof_profile *made;

    (void)context;
    (void)thread;
    (void)!prof_registry_new(registry, "new", &made);
    (void)!add("b");
    (void)!prof_profile_remove(profile, "b", 1);
}

/* returns: was there such an entry, now removed? */
static bool
has_closed(const char *key)
{
    size_t before;
    size_t after;

    (void)!prof_profile_count(profile, &before);
    (void)!prof_profile_remove(profile, key, 1);
    (void)!prof_profile_count(profile, &after);
    sim_explore_check(after == before || after + 1 == before,
                      "entries are counted wrongly");
    return after + 1 == before;
}

static void
child_of_registry(void)
{
    struct prof_profile *made;
    size_t open = 0;

    prof_registry_after_fork_child(registry);
    sim_explore_check(has_closed("a"), "an entry from before is lost");
    has_closed("b");
    sim_explore_check(prof_profile_count(profile, &open) == PROF_OK &&
                          open == 0,
                      "an entry is open that has no key");
    sim_explore_check(add("c") == PROF_OK && add("b") == PROF_OK &&
                          add("d") == PROF_ERR_MEMORY,
                      "an entry is neither free nor open, or both");
    sim_explore_check(has_closed("b") && has_closed("c"),
                      "an entry of the child is lost");
    if (prof_registry_find(registry, "new") == NULL)
        sim_explore_check(prof_registry_new(registry, "new", &made) == PROF_OK,
                          "a profile that is not there has its name taken");
    sim_explore_check(
        prof_registry_find(registry, "new") != NULL &&
            prof_profile_remove(prof_registry_find(registry, "new"), "x", 1) ==
                PROF_OK,
        "a profile is there by half");
}

static void
fork_registry(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    sim_explore_fork(child_of_registry);
}

const struct sim_kernel props_kernel_fork_registry = {
    .name = "fork-registry",
    .about = "after a fork inside a call of the registry each entry of the "
             "child is in use or free",
    .setup = new_registry,
    .threads = {{"keeper", keep_books, fork_registry}},
    .threads_count = 1,
};
