/*
 * cpu.c -- ticks of the CPU profile: signal handlers put them into a ring,
 * prof_cpu_drain() takes them out.
 *
 *      cells     [ 5 ][ 5 ][ 6 ][ 7 ]      the sequence of each of 4 cells
 *                   ^    ^
 *                 tail  head              tick 4 is filled and not yet read;
 *                  4     5                the writer of tick 5 takes cell 1
 *
 * Invariants
 *   I1  Tick number p goes into cell p modulo `cells`. The cell's sequence is p
 *       if the writer of tick p may take it, p + 1 once that writer has filled
 *       it, and p + cells once it has been read.
 *   I2  Between taking a number (head) and filling the cell, only the writer
 *       touches the cell. No thread waits for it: the reader stops there and
 *       continues in a later drain.
 *   I3  state is RUNNING or 0, plus the number of handlers inside
 *       prof_cpu_tick(). A handler that comes in after RUNNING was cleared
 *       leaves at once; so when state is 0, no tick is being recorded.
 *   I4  ticks offered = ticks of all stacks + those in the ring + lost.
 *
 * Why a handler may interrupt another one at any point: it simply takes the
 * next number. Its loops are bounded; a tick that loses too many races counts
 * as lost.
 *
 * Concurrency: tick may run together with any call; a lock makes the others
 * exclude each other.
 */
#include "prof/pprof/cpu_fields.h"

#include <string.h>

#include "prof/core/assertion.h"
#include "prof/fork.h"
#include "prof/core/poison.h"

#define RUNNING (UINT64_C(1) << 32)

enum { RACES_MAX = 64 };

/* ---- ticking ---- */

/* Count this handler as inside (I3); false after too many lost races. */
static bool
come_in(struct prof_cpu *cpu, uint32_t ticks)
{
    uint64_t seen = load_relaxed(&cpu->state);

    for (int i = 0; i < RACES_MAX; i++) {
        if ((seen & RUNNING) == 0)
            return false;
        /* Release [pair: cpu-state]: before us is before the stop. */
        if (cas_release_acquire(&cpu->state, &seen, seen + 1))
            return true;
    }
    add_relaxed(&cpu->lost, ticks);
    return false;
}

static void
go_out(struct prof_cpu *cpu)
{
    uint64_t seen = load_relaxed(&cpu->state);

    /* Release [pair: cpu-state]: our tick is in the ring, or counted lost. */
    while (!cas_release_acquire(&cpu->state, &seen, seen - 1))
        PROF_ASSERT((seen & (RUNNING - 1)) > 0); /* I3 */
}

static inline struct tick *
cell_of(const struct prof_cpu *cpu, uint64_t number)
{
    return &cpu->ticks[number & ((UINT64_C(1) << cpu->ticks_log2) - 1)];
}

static inline uintptr_t *
pcs_of(const struct prof_cpu *cpu, uint64_t number)
{
    const uint64_t cell = number & ((UINT64_C(1) << cpu->ticks_log2) - 1);

    return &cpu->tick_pcs[cell * cpu->depth_max];
}

/* out: *number. returns: false if the ring is full, or too many races lost */
static bool
take_number(struct prof_cpu *cpu, uint64_t *number)
{
    uint64_t seen = load_relaxed(&cpu->head);

    for (int i = 0; i < RACES_MAX; i++) {
        /* Acquire [pair: cpu-sequence]: the reader has done with the cell. */
        const uint64_t sequence = load_acquire(&cell_of(cpu, seen)->sequence);

        if ((int64_t)(sequence - seen) < 0)
            return false;
        /*
         * Relaxed: it hands out numbers; the sequence publishes what they name.
         * It fails if the number is taken, so if the sequence is later, too.
         */
        if (cas_relaxed(&cpu->head, &seen, seen + 1)) {
            *number = seen;
            return true;
        }
    }
    return false;
}

void
prof_cpu_ticks(struct prof_cpu *cpu, const uintptr_t *stack, uint32_t depth,
               const struct prof_label_set *labels, uint32_t count)
{
    const uint32_t kept = depth < cpu->depth_max ? depth : cpu->depth_max;
    uint64_t number;

    if (count == 0 || !come_in(cpu, count))
        return;
    if (take_number(cpu, &number)) {
        struct tick *tick = cell_of(cpu, number);

        tick->labels = labels;
        tick->depth = kept;
        tick->count = count;
        if (kept > 0)
            memcpy(pcs_of(cpu, number), stack, kept * sizeof *stack);
        /* Release [pair: cpu-sequence]: the tick before its sequence. */
        store_release(&tick->sequence, number + 1);
    } else {
        add_relaxed(&cpu->lost, count);
    }
    go_out(cpu);
}

void
prof_cpu_tick(struct prof_cpu *cpu, const uintptr_t *stack, uint32_t depth,
              const struct prof_label_set *labels)
{
    prof_cpu_ticks(cpu, stack, depth, labels, 1);
}

/* ---- draining ---- */

static void
drain_locked(struct prof_cpu *cpu)
{
    const uint64_t cells = UINT64_C(1) << cpu->ticks_log2;
    uint64_t lost;

    for (uint64_t left = cells; left > 0; left--) {
        struct tick *tick = cell_of(cpu, cpu->tail);

        /* Acquire [pair: cpu-sequence]: the tick that its writer filled in. */
        if (load_acquire(&tick->sequence) != cpu->tail + 1)
            break;
        prof_cpu_count(cpu, pcs_of(cpu, cpu->tail), tick->depth, tick->labels,
                       tick->count);
        /* Release [pair: cpu-sequence]: we have read before it is written
         * again. */
        store_release(&tick->sequence, cpu->tail + cells);
        cpu->tail++;
    }
    /* Relaxed: a number of its own. */
    lost = swap_relaxed(&cpu->lost, 0);
    if (lost > 0)
        prof_cpu_count_lost(cpu, lost);
}

void
prof_cpu_drain(struct prof_cpu *cpu)
{
    prof_port_lock_take(&cpu->lock);
    drain_locked(cpu);
    prof_port_lock_release(&cpu->lock);
}

/* ---- start and stop ---- */

enum prof_status
prof_cpu_start(struct prof_cpu *cpu, uint32_t hz)
{
    enum prof_status status = PROF_OK;
    uint64_t seen;

    if (hz < 1 || hz > 1000000)
        return PROF_ERR_CONFIG;
    prof_port_lock_take(&cpu->lock);
    /* Acquire [pair: cpu-state]: see what handlers did before leaving. */
    seen = load_acquire(&cpu->state);
    if ((seen & RUNNING) != 0) {
        status = PROF_ERR_ACTIVE;
    } else if (seen != 0) {
        status = PROF_ERR_BUSY;
    } else {
        drain_locked(cpu);
        prof_cpu_forget(cpu);
        cpu->hz = hz;
        /* Release [pair: cpu-state]: an empty profile before its first tick. */
        store_release(&cpu->state, RUNNING);
    }
    prof_port_lock_release(&cpu->lock);
    return status;
}

/* returns: the number of handlers that are still inside */
static uint64_t
stop_running(struct prof_cpu *cpu)
{
    uint64_t seen = load_relaxed(&cpu->state);

    /* Release [pair: cpu-state]: handlers that enter later find it stopped. */
    while (!cas_release_acquire(&cpu->state, &seen, seen & ~RUNNING))
        continue;
    /* Acquire [pair: cpu-state]: see what handlers did before leaving. */
    return load_acquire(&cpu->state);
}

enum prof_status
prof_cpu_stop(struct prof_cpu *cpu)
{
    enum prof_status status;

    prof_port_lock_take(&cpu->lock);
    status = stop_running(cpu) == 0 ? PROF_OK : PROF_ERR_BUSY;
    drain_locked(cpu);
    prof_port_lock_release(&cpu->lock);
    return status;
}

/* ---- a fork ---- */

/*
 * A handler whose thread is gone would hold its cell for ever, and the fork may
 * have interrupted a drain that was linking a stack. So the ring and the stacks
 * are reset without being read.
 */
void
prof_cpu_after_fork_child(struct prof_cpu *cpu)
{
    prof_port_lock_reset(&cpu->lock);
    store_relaxed(&cpu->state, 0); /* as above */
    store_relaxed(&cpu->lost, 0);
    prof_cpu_empty_ring(cpu);
    prof_cpu_forget(cpu);
}
