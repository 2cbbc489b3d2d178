/*
 * samples.c -- records sampled blocks when they are allocated, and recognises
 * them when they are freed.
 */
#include <errno.h>

#include "record/sampler/probes.h"
#include "record/sampler/profiler.h"
#include "record/preload/stack.h"
#include "record/sampler/block_table.h"
#include "record/preload/filter.h"

/* Flags of a resize's token; the bits below hold the bucket. */
#define TOKEN_TAKEN  (UINT64_C(1) << 63)
#define TOKEN_PROBED (UINT64_C(1) << 62)

/* While sampling is off, a thread checks whether it is on again whenever it has
 * allocated this many bytes. */
#define OFF_BYTES 65536

/* Undo what was recorded of a resize that failed: the block is as it was. */
static void
put_back(const struct table_entry *entry)
{
    struct table_entry before;

    if (!table_put_in(entry, &before))
        atomic_fetch_add_explicit(&profile.losses.untracked, 1,
                                  memory_order_relaxed);
}

static void
record_free(struct prof_proc *proc, const struct table_entry *entry)
{
    prof_heap_free_explicit(proc, entry->bucket);
    if (entry->is_probed && otel_memory_free_semaphore != 0)
        profile_probe_free(entry->address);
}

/* returns: the bytes that a sample stands for: its own, divided by the chance
 * that a block of this size is sampled */
static uint64_t
weight_of(uint64_t bytes)
{
    const struct prof_heap_sum one = {1, (int64_t)bytes};

    return (uint64_t)prof_heap_unsample(&prof_rules_exact, one,
                                        prof_heap_rate(profile.prof))
        .bytes;
}

/* Record an allocation that prof_heap_sample() has chosen. */
static void
record_alloc(struct prof_proc *proc, void *address, uint64_t bytes,
             const void *frame)
{
    struct embed_stack *const stack = embed_stack_borrow();
    struct table_entry entry = {.address = (uintptr_t)address,
                                .is_probed = otel_memory_alloc_semaphore != 0};
    struct table_entry before;

    embed_stack_take(stack, frame, &profile_thread.stack);
    entry.bucket = prof_heap_alloc(proc, stack->pcs, stack->depth, bytes);
    embed_stack_return(stack);
    if (entry.bucket == PROF_BUCKET_NONE)
        return; /* counted by libprof */
    if (!table_put_in(&entry, &before)) {
        /* Counted as allocated, but not as in use: its free could not be
         * recognised. */
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
    if (atomic_load_explicit(&profile.is_idle_child, memory_order_relaxed))
        atomic_store(&profile.is_idle_child, false);
    profile_agent_start(); /* in a forked child: its first sample */
}

/*
 * Handle an allocation that was not skipped: the first of a thread, any of a
 * thread without a processor, and any that may be sampled. A failed allocation
 * counts, too: the chance that the next one is sampled must not depend on the
 * size of the failed one.
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
    thread->is_off =
        embed_until_bytes == 0 && prof_heap_rate(profile.prof) <= 0;
    if (thread->is_off)
        embed_until_bytes = OFF_BYTES;
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
close_entry(const struct table_entry *entry)
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
    struct table_entry entry;

    embed_inside = true;
    if (table_take_out(address, &entry))
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

/* Take the block out of the table first: once it has moved, its address may
 * belong to another block. */
uint64_t
embed_on_resize(void *old)
{
    const int saved_errno = errno;
    struct table_entry entry;
    bool found;

    if (!embed_may_record(old) || embed_inside)
        return 0;
    embed_inside = true;
    found = table_take_out((uintptr_t)old, &entry);
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
    const struct table_entry entry = {.address = (uintptr_t)old,
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
