/*
 * samples.c -- sampled blocks: recorded when they are allocated, known again
 * when they are freed.
 *
 *      free(p) --> filter[hash(p)] == 0: was not sampled      (nearly always)
 *                         |
 *                         v
 *                  table: address -> bucket, weight
 *
 * The filter counts the table's addresses by hash, a byte each; reading it
 * takes no lock. The table is open: an entry lies in the first free slot from
 * its home on, and removing one moves up what comes after it.
 */
#include <errno.h>

#include "prof/port.h"
#include "probes.h"
#include "profile.h"
#include "stack.h"

#define TABLE_LOG2  16u
#define TABLE_SLOTS (1u << TABLE_LOG2)
#define TABLE_FULL  (TABLE_SLOTS / 4 * 3)

struct entry {
    uintptr_t address; /* 0: free */
    prof_bucket bucket;
    bool is_probed; /* its allocation was seen by whoever watches the probes */
};

/* Of a resize; below these the bucket. */
#define TOKEN_TAKEN  (UINT64_C(1) << 63)
#define TOKEN_PROBED (UINT64_C(1) << 62)

static _Atomic uint8_t filter[1u << EMBED_FILTER_LOG2];
_Atomic uint8_t *const embed_filter = filter;
static struct entry table[TABLE_SLOTS]; /* guarded by lock */
static _Atomic uint64_t entries;        /* written under lock */
static struct prof_port_lock lock;

/* A count that has reached its end stays there: it only costs a look. */
static void
filter_add(uintptr_t address, int delta)
{
    _Atomic uint8_t *const at =
        &filter[embed_hash_of(address, EMBED_FILTER_LOG2)];
    const uint8_t seen = atomic_load_explicit(at, memory_order_relaxed);

    if (seen != UINT8_MAX)
        atomic_store_explicit(at, (uint8_t)(seen + delta),
                              memory_order_relaxed);
}

/* The slot of an address, or the free one where it belongs. */
static uint32_t
slot_of(uintptr_t address)
{
    uint32_t slot = embed_hash_of(address, TABLE_LOG2);

    while (table[slot].address != 0 && table[slot].address != address)
        slot = (slot + 1) % TABLE_SLOTS;
    return slot;
}

/* Close the gap: an entry behind it may have its home at it or before. */
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
        home = embed_hash_of(table[slot].address, TABLE_LOG2);
        if ((slot - home) % TABLE_SLOTS >= (slot - gap) % TABLE_SLOTS) {
            table[gap] = table[slot];
            gap = slot;
        }
    }
    table[gap].address = 0;
    atomic_fetch_sub_explicit(&entries, 1, memory_order_relaxed);
}

/* returns: false if the address is not that of a sampled block */
static bool
take_out(uintptr_t address, struct entry *entry)
{
    uint32_t slot;
    bool found;

    prof_port_lock_take(&lock);
    slot = slot_of(address);
    found = table[slot].address != 0;
    if (found) {
        *entry = table[slot];
        remove_locked(slot);
    }
    prof_port_lock_release(&lock);
    return found;
}

/*
 * out:     *before, the entry of a block whose free was not seen; its address
 *          is 0 if there is none
 * returns: false if there is no room
 */
static bool
put_in(const struct entry *entry, struct entry *before)
{
    uint32_t slot;
    bool fits;

    prof_port_lock_take(&lock);
    slot = slot_of(entry->address);
    *before = table[slot];
    fits = before->address != 0 ||
           atomic_load_explicit(&entries, memory_order_relaxed) < TABLE_FULL;
    if (fits) {
        table[slot] = *entry;
        if (before->address == 0) {
            filter_add(entry->address, 1);
            atomic_fetch_add_explicit(&entries, 1, memory_order_relaxed);
        }
    }
    prof_port_lock_release(&lock);
    return fits;
}

/* The resize failed: the block is as it was. */
static void
put_back(const struct entry *entry)
{
    struct entry before;

    if (!put_in(entry, &before))
        atomic_fetch_add_explicit(&profile.losses.untracked, 1,
                                  memory_order_relaxed);
}

static void
record_free(struct prof_proc *proc, const struct entry *entry)
{
    prof_heap_free_explicit(proc, entry->bucket);
    if (entry->is_probed && otel_memory_free_semaphore != 0)
        profile_probe_free(entry->address);
}

/* What the sample stands for: its bytes by their chance to be sampled. */
static uint64_t
weight_of(uint64_t bytes)
{
    const struct prof_heap_sum one = {1, (int64_t)bytes};

    return (uint64_t)prof_heap_unsample(&prof_rules_exact, one,
                                        prof_heap_rate(profile.prof))
        .bytes;
}

/* The processor's next allocation is one to record. */
static void
record_alloc(struct prof_proc *proc, void *address, uint64_t bytes,
             const void *frame)
{
    struct embed_stack *const stack = embed_stack_borrow();
    struct entry entry = {.address = (uintptr_t)address,
                          .is_probed = otel_memory_alloc_semaphore != 0};
    struct entry before;

    embed_stack_take(stack, frame, &profile_thread.stack);
    entry.bucket = prof_heap_alloc(proc, stack->pcs, stack->depth, bytes);
    embed_stack_return(stack);
    if (entry.bucket == PROF_BUCKET_NONE)
        return; /* counted by libprof */
    if (!put_in(&entry, &before)) {
        /* In the totals, but not in use: nobody would know its free. */
        prof_heap_free_explicit(proc, entry.bucket);
        atomic_fetch_add_explicit(&profile.losses.untracked, 1,
                                  memory_order_relaxed);
        return;
    }
    if (before.address != 0) {
        record_free(proc, &before);
        atomic_fetch_add_explicit(&profile.losses.unseen, 1,
                                  memory_order_relaxed);
    }
    if (entry.is_probed)
        profile_probe_alloc(entry.address, bytes, weight_of(bytes));
    profile_agent_start(); /* a forked child's, once it does something */
}

/*
 * An allocation that was not skipped: a thread's first, each of a thread
 * without a processor, and what may be a sample. One that failed is asked for,
 * too: the chance of the next one must not depend on how large it was.
 */
static void
ask(void *address, size_t bytes, const void *frame)
{
    struct profile_thread *const thread = &profile_thread;
    struct prof_proc *proc;
    uint32_t index;

    if (thread->proc == NULL && !thread->is_surplus)
        profile_thread_begin();
    profile_until_give();
    proc = thread->proc != NULL ? thread->proc : profile_proc_borrow(&index);
    if (prof_heap_sample(proc, bytes) && address != NULL)
        record_alloc(proc, address, bytes, frame);
    if (thread->proc == NULL)
        profile_proc_return(index);
    else
        embed_until_bytes = prof_heap_until_take(proc);
}

static void
on_alloc(void *address, size_t bytes, const void *frame)
{
    const int saved_errno = errno;

    if (embed_inside)
        return;
    if (!profile_begin()) {
        atomic_fetch_add_explicit(&profile.losses.early, 1,
                                  memory_order_relaxed);
        return;
    }
    embed_inside = true;
    ask(address, bytes, frame);
    embed_inside = false;
    errno = saved_errno;
}

/* Record the free of an entry that is no longer in the table. context: inside
 */
static void
close_entry(const struct entry *entry)
{
    struct prof_proc *const own = profile_thread.proc;
    uint32_t index;

    if (own != NULL) {
        record_free(own, entry);
        return;
    }
    record_free(profile_proc_borrow(&index), entry);
    profile_proc_return(index);
}

static __attribute__((noinline)) void
on_free_slowly(uintptr_t address)
{
    const int saved_errno = errno;
    struct entry entry;

    embed_inside = true;
    if (take_out(address, &entry))
        close_entry(&entry);
    embed_inside = false;
    errno = saved_errno;
}

void
embed_on_alloc(void *address, struct embed_request request, const void *frame)
{
    on_alloc(address, request.bytes, frame);
}

void
embed_on_free(void *address)
{
    if (!embed_inside)
        on_free_slowly((uintptr_t)address);
}

/* Taken out first: once the block has moved, its address may be another's. */
uint64_t
embed_on_resize(void *old)
{
    const int saved_errno = errno;
    struct entry entry;
    bool found;

    if (!embed_may_be_told(old) || embed_inside)
        return 0;
    embed_inside = true;
    found = take_out((uintptr_t)old, &entry);
    embed_inside = false;
    errno = saved_errno;
    return found ? TOKEN_TAKEN | (entry.is_probed ? TOKEN_PROBED : 0) |
                       entry.bucket
                 : 0;
}

/* A block that was resized is a new allocation of its whole size. */
void
embed_on_resized(uint64_t token, void *old, void *address, size_t bytes,
                 const void *frame)
{
    const struct entry entry = {.address = (uintptr_t)old,
                                .bucket = (prof_bucket)token,
                                .is_probed = (token & TOKEN_PROBED) != 0};
    const int saved_errno = errno;

    if (token != 0) {
        embed_inside = true;
        if (address == NULL && bytes != 0)
            put_back(&entry);
        else
            close_entry(&entry);
        embed_inside = false;
        errno = saved_errno;
    }
    if (!embed_skips(bytes))
        on_alloc(address, bytes, frame);
}

void
embed_on_early(void)
{
    atomic_fetch_add_explicit(&profile.losses.early, 1, memory_order_relaxed);
}

uint64_t
profile_samples_live(void)
{
    return atomic_load_explicit(&entries, memory_order_relaxed);
}

/* Unless the fork is made in a handler that interrupted this very code. */
void
profile_samples_before_fork(void)
{
    if (!embed_inside)
        prof_port_lock_take(&lock);
}

void
profile_samples_after_fork(void)
{
    if (!embed_inside)
        prof_port_lock_release(&lock);
}
