/*
 * block_table.c -- see block_table.h. Open addressing: an entry lies in the
 * first free slot from its home on, and removing one moves up what comes after
 * it.
 *
 * The lock's word names the thread that holds it. So a handler that forks knows
 * whether it interrupted the holder, and a thread that forks can take the lock
 * before the fork and still use the table.
 */
#include "record/sampler/block_table.h"

#include <sched.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "prof/port.h"
#include "record/preload/filter.h"

enum { SPINS = 100, YIELDS = 100, NAP_NS = 50000 };

_Atomic uint8_t embed_filter[1u << EMBED_FILTER_LOG2];

static struct table_entry table[TABLE_SLOTS]; /* guarded by the lock */
static _Atomic uint64_t entries;              /* written under the lock */
static _Atomic uintptr_t holder;              /* 0: no thread */
static bool is_held_for_fork;                 /* guarded by the lock */

static _Thread_local char own_name __attribute__((tls_model("initial-exec")));

/* A thread of higher priority must sleep for the holder to run. */
static void
wait_a_little(uint32_t waits)
{
    const struct timespec nap = {.tv_nsec = NAP_NS};

    if (waits < SPINS)
        prof_port_spin_pause();
    else if (waits < SPINS + YIELDS)
        sched_yield();
    else /* nanosleep() is a point of cancellation */
        (void)syscall(SYS_nanosleep, &nap, NULL);
}

/* returns: false if the thread holds the lock already */
static bool
lock_take(void)
{
    const uintptr_t own = (uintptr_t)&own_name;

    for (uint32_t waits = 0;; waits++) {
        uintptr_t seen = 0;

        if (atomic_compare_exchange_strong_explicit(&holder, &seen, own,
                                                    memory_order_acquire,
                                                    memory_order_relaxed))
            return true;
        if (seen == own)
            return false;
        wait_a_little(waits);
    }
}

static void
lock_release(bool taken)
{
    if (taken)
        atomic_store_explicit(&holder, 0, memory_order_release);
}

/* A count that has reached its maximum stays there. This only costs needless
 * look-ups. */
static void
filter_add(uintptr_t address, int delta)
{
    _Atomic uint8_t *const at = embed_filter_at((const void *)address);
    const uint8_t seen = atomic_load_explicit(at, memory_order_relaxed);

    if (seen != UINT8_MAX)
        atomic_store_explicit(at, (uint8_t)(seen + delta),
                              memory_order_relaxed);
}

/* returns: the slot of an address, or the free slot where it belongs */
static uint32_t
slot_of(uintptr_t address)
{
    uint32_t slot = table_home_of(address);

    while (table[slot].address != 0 && table[slot].address != address)
        slot = (slot + 1) % TABLE_SLOTS;
    return slot;
}

/* Remove the entry at `gap`: move up a later entry whose home is at the gap or
 * before it, and so on. */
static void
remove_locked(uint32_t gap)
{
    uint32_t slot = gap;

    filter_add(table[gap].address, -1);
    for (;;) {
        uint32_t home;

        slot = (slot + 1) % TABLE_SLOTS;
        if (table[slot].address == 0)
            break;
        home = table_home_of(table[slot].address);
        if ((slot - home) % TABLE_SLOTS >= (slot - gap) % TABLE_SLOTS) {
            table[gap] = table[slot];
            gap = slot;
        }
    }
    table[gap].address = 0;
    atomic_fetch_sub_explicit(&entries, 1, memory_order_relaxed);
}

bool
table_take_out(uintptr_t address, struct table_entry *entry)
{
    const bool taken = lock_take();
    const uint32_t slot = slot_of(address);
    const bool found = table[slot].address != 0;

    if (found) {
        *entry = table[slot];
        remove_locked(slot);
    }
    lock_release(taken);
    return found;
}

bool
table_put_in(const struct table_entry *entry, struct table_entry *before)
{
    const bool taken = lock_take();
    const uint32_t slot = slot_of(entry->address);
    bool fits;

    *before = table[slot];
    fits = before->address != 0 || table_count() < TABLE_FULL;
    if (fits) {
        table[slot] = *entry;
        if (before->address == 0) {
            filter_add(entry->address, 1);
            atomic_fetch_add_explicit(&entries, 1, memory_order_relaxed);
        }
    }
    lock_release(taken);
    return fits;
}

uint64_t
table_count(void)
{
    return atomic_load_explicit(&entries, memory_order_relaxed);
}

void
table_before_fork(void)
{
    if (lock_take())
        is_held_for_fork = true;
}

/* In the child, the thread that forked is the only one, and keeps its name. */
void
table_after_fork(void)
{
    if (atomic_load_explicit(&holder, memory_order_relaxed) !=
            (uintptr_t)&own_name ||
        !is_held_for_fork)
        return;
    is_held_for_fork = false;
    lock_release(true);
}
