/*
 * cpu.c -- kernels: signal handlers record ticks of the CPU profile, while
 * other threads record, drain, stop and start.
 *
 * The fields of a tick are plain variables. So if a cell is read before it is
 * complete, the race detector reports it.
 */
#include <stdalign.h>
#include <string.h>

#include "explore/engine/explore.h"
#include "props/kernels/kernels.h"
#include "prof/cpu.h"
#include "prof/pprof.h"

enum { TRIES_MAX = 3 };

static alignas(PROF_BLOCK_ALIGN) unsigned char block[1 << 12];
static struct prof_cpu *cpu;

static void
setup(void *context)
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
tick(void *context, uint32_t thread)
{
    const uintptr_t stack = 0x1000 + thread;

    (void)context;
    prof_cpu_tick(cpu, &stack, 1, NULL);
}

static void
tick_twice(void *context, uint32_t thread)
{
    tick(context, thread);
    tick(context, thread);
}

static void
drain(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    prof_cpu_drain(cpu);
}

/* returns: the ticks of the profile, which has been stopped */
static uint64_t
total(uint64_t *lost)
{
    struct prof_cpu_totals totals;

    sim_explore_check(prof_cpu_stop(cpu) == PROF_OK, "busy, though nobody is");
    totals = prof_cpu_totals(cpu);
    *lost = totals.lost;
    return totals.recorded + totals.lost;
}

/* ---- a handler interrupts another one anywhere ---- */

static void
one_or_two(void *context)
{
    uint64_t lost;
    const uint64_t ticks = total(&lost);

    (void)context;
    sim_explore_check((ticks == 1 || ticks == 2) && lost == 0,
                      "a tick is lost though there was room");
}

const struct sim_kernel props_kernel_cpu_signal = {
    .name = "cpu-signal",
    .about = "a tick recorded inside another one is not torn, even while a "
             "reader drains",
    .setup = setup,
    .finish = one_or_two,
    .threads = {{"program", tick, tick}, {"reader", drain, NULL}},
    .threads_count = 2,
};

/* ---- more ticks than cells ---- */

static void
four(void *context)
{
    uint64_t lost;

    (void)context;
    sim_explore_check(total(&lost) == 4 && lost == 2,
                      "a tick is neither in the profile nor counted as lost");
}

const struct sim_kernel props_kernel_cpu_full = {
    .name = "cpu-full",
    .about = "ticks that find no free cell are counted as lost, and the others "
             "are not torn",
    .setup = setup,
    .finish = four,
    .threads = {{"first", tick_twice, NULL}, {"second", tick_twice, NULL}},
    .threads_count = 2,
};

/* ---- the same with a drain, which counts the ticks that found no cell ---- */

static void
no_cell_left(void *context)
{
    setup(context);
    tick_twice(context, 0);
}

static void
four_in_all(void *context)
{
    uint64_t lost;

    (void)context;
    sim_explore_check(total(&lost) == 4 && lost <= 2,
                      "a tick is neither in the profile nor counted as lost");
}

const struct sim_kernel props_kernel_cpu_lost = {
    .name = "cpu-lost",
    .about = "ticks that find no free cell are all counted, even while a drain "
             "counts them",
    .setup = no_cell_left,
    .finish = four_in_all,
    .threads = {{"program", tick_twice, NULL}, {"reader", drain, NULL}},
    .threads_count = 2,
};

/* ---- a stop while ticks are recorded ---- */

static uint64_t ticks_at_stop;
static bool stopped;

static void
not_stopped(void *context)
{
    setup(context);
    stopped = false;
}

static void
drain_and_stop(void *context, uint32_t thread)
{
    uint64_t lost;

    drain(context, thread);
    for (int i = 0; i < TRIES_MAX; i++) {
        if (prof_cpu_stop(cpu) == PROF_OK) {
            stopped = true;
            ticks_at_stop = total(&lost);
            return;
        }
    }
}

static void
tick_thrice(void *context, uint32_t thread)
{
    tick_twice(context, thread);
    tick(context, thread);
}

static void
no_more_ticks(void *context)
{
    uint64_t lost;
    const uint64_t ticks = total(&lost);

    (void)context;
    sim_explore_check(ticks <= 3, "a tick is counted twice");
    sim_explore_check(!stopped || ticks == ticks_at_stop,
                      "a profile that has stopped grows");
}

const struct sim_kernel props_kernel_cpu_stop = {
    .name = "cpu-stop",
    .about = "cells are reused once read, and after a stop no tick is added",
    .setup = not_stopped,
    .finish = no_more_ticks,
    .threads = {{"program", tick_thrice, NULL},
                {"control", drain_and_stop, NULL}},
    .threads_count = 2,
};

/* ---- a stop and a start while a tick is recorded ---- */

static bool came_before; /* the tick was over before the first profile ended */

static void
one_profile(void *context)
{
    setup(context);
    came_before = false;
}

static void
restart(void *context, uint32_t thread)
{
    const bool was_busy = prof_cpu_stop(cpu) == PROF_ERR_BUSY;

    (void)context;
    (void)thread;
    if (prof_cpu_start(cpu, PROF_CPU_HZ) == PROF_OK)
        came_before = was_busy;
    else
        sim_explore_check(was_busy, "busy, though the profile had stopped");
}

static void
in_one_profile(void *context)
{
    uint64_t lost;
    const uint64_t ticks = total(&lost);

    (void)context;
    sim_explore_check(ticks <= 1, "a tick is in two profiles");
    sim_explore_check(!came_before || ticks == 0,
                      "a tick of the profile before is in this one");
}

const struct sim_kernel props_kernel_cpu_restart = {
    .name = "cpu-restart",
    .about =
        "a tick during a restart belongs to the old profile or to the new one",
    .setup = one_profile,
    .finish = in_one_profile,
    .threads = {{"program", tick, NULL}, {"control", restart, NULL}},
    .threads_count = 2,
};

/* ---- Loading and writing wait for the end of a profile ---- */

enum { LOADED_TICKS = 7, SCRATCH_BYTES = 1 << 17, FILE_BYTES_MAX = 1024 };

static bool loaded;

static void
one_tick(void *context)
{
    setup(context);
    tick(context, 0);
    loaded = false;
}

static void
stop(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    sim_explore_check(prof_cpu_stop(cpu) == PROF_OK, "no handler is inside");
}

static enum prof_status
write_profile(void)
{
    static alignas(PROF_BLOCK_ALIGN) unsigned char scratch[SCRATCH_BYTES];
    static unsigned char file[FILE_BYTES_MAX];
    struct prof_memory memory = {.bytes = file, .bytes_max = sizeof file};
    const struct prof_output output = {.sink = prof_memory_sink(&memory),
                                       .scratch = scratch,
                                       .scratch_bytes = sizeof scratch};

    return prof_cpu_write(cpu, &output, 0);
}

static void
load_and_write(void *context, uint32_t thread)
{
    /* A header of three words, then a record of LOADED_TICKS ticks with one
     * frame. */
    static const uint64_t words[] = {3,     0, PROF_CPU_HZ, 4, 0, LOADED_TICKS,
                                     0x2000};
    const bool was_active = write_profile() == PROF_ERR_ACTIVE;
    const enum prof_status status =
        prof_cpu_load(cpu, words, sizeof words / sizeof *words, NULL, 0);

    (void)context;
    (void)thread;
    loaded = status == PROF_OK;
    sim_explore_check(loaded || (status == PROF_ERR_ACTIVE && was_active),
                      "a profile that has stopped takes no words");
    sim_explore_check(!loaded || write_profile() == PROF_OK,
                      "a profile that was loaded is not written");
}

static void
one_or_the_other(void *context)
{
    const struct prof_cpu_totals totals = prof_cpu_totals(cpu);

    (void)context;
    sim_explore_check(totals.recorded == (loaded ? LOADED_TICKS : 1) &&
                          totals.lost == 0,
                      "words that were refused are in the profile");
    sim_explore_check(write_profile() == PROF_OK, "it has stopped");
}

const struct sim_kernel props_kernel_cpu_load = {
    .name = "cpu-load",
    .about =
        "a profile can be loaded or written only once profiling has stopped",
    .setup = one_tick,
    .finish = one_or_the_other,
    .threads = {{"control", stop, NULL}, {"loader", load_and_write, NULL}},
    .threads_count = 2,
};
