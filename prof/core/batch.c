/*
 * batch.c -- many allocations in one call.
 *
 * A lookup in a large table waits for memory twice: for the slot's cache line,
 * then for the key and counter that the slot leads to. To overlap these waits,
 * events are taken eight at a time, in three passes. The first prefetches their
 * slots, the second prefetches keys and counters, and the third records each
 * event by prof_heap_alloc(). The first two passes only give hints: what they
 * prefetch may belong to another stack, or be out of date.
 */
#include "prof/core/assertion.h"
#include "prof/core/hash.h"
#include "prof/core/instance.h"
#include "prof/core/slot.h"
#include "prof/core/poison.h"

enum {
    TOGETHER = 8,  /* events; each has about 5 cache lines under way */
    LINE_WORDS = 8 /* of a cache line */
};

static inline const shared_u64 *
group_of(const struct table *table, uint64_t hash)
{
    return &table->slots[home(table, hash)];
}

/* returns: the hash of the event's key */
static inline uint64_t
fetch_slots(const struct table *table, const struct prof_heap_event *event)
{
    const uint32_t kept =
        event->depth < table->depth_max ? event->depth : table->depth_max;
    const uint64_t hash =
        prof_hash_stack(table->hash, event->stack, kept, event->size_bytes);

    __builtin_prefetch(group_of(table, hash));
    return hash;
}

/* Prefetch the key and counter of the first slot with the hash's tag. */
static inline void
fetch_entry(const struct prof_proc *proc, uint64_t hash, uint32_t depth)
{
    const struct table *table = &proc->prof->table;
    const shared_u64 *const group = group_of(table, hash);
    const uint32_t tagged = find_tagged(group, hash, table->tag_mask);
    const uintptr_t *key;
    uint64_t slot;

    if (tagged == 0)
        return;
    /* Relaxed: only a hint; the key is prefetched, not read. */
    slot = load_relaxed(first_tagged(group, tagged));
    key = &table->words[(uint32_t)slot] - KEY_WORDS;
    if (proc->allocs_hint != NULL)
        __builtin_prefetch(&proc->allocs_hint[row_of(table, slot)], 1);
    for (uint32_t at = 0; at < KEY_WORDS + depth && at <= HASH_BLOCK;
         at += LINE_WORDS)
        __builtin_prefetch(&key[at]);
}

static inline void
record_together(struct prof_proc *proc, const struct prof_heap_event *events,
                size_t count, prof_bucket *buckets)
{
    uint64_t hashes[TOGETHER];

    for (size_t i = 0; i < count; i++)
        hashes[i] = fetch_slots(&proc->prof->table, &events[i]);
    for (size_t i = 0; i < count; i++)
        fetch_entry(proc, hashes[i], events[i].depth);
    for (size_t i = 0; i < count; i++)
        buckets[i] = prof_heap_alloc(proc, events[i].stack, events[i].depth,
                                     events[i].size_bytes);
}

void
prof_heap_alloc_many(struct prof_proc *proc,
                     const struct prof_heap_event *events, size_t count,
                     prof_bucket *buckets)
{
    for (size_t at = 0; at < count; at += TOGETHER)
        record_together(proc, &events[at],
                        count - at < TOGETHER ? count - at : TOGETHER,
                        &buckets[at]);
}
