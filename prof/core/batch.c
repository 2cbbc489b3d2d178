/*
 * batch.c -- many allocations in one call, for a recorder that empties its
 * buffer or a replay.
 *
 * A lookup in a large table waits twice: for the line of its slot, then for the
 * key and counter that the slot leads to. Consecutive lookups would wait one
 * after the other. So a few events are processed in three passes: the first
 * prefetches their slots, the second what these lead to, and the third records
 * each by prof_heap_alloc(). The first two passes change nothing and decide
 * nothing: what they prefetch may belong to another stack, or already be out of
 * date.
 */
#include "check.h"
#include "hash.h"
#include "instance.h"
#include "slot.h"
#include "poison.h"

enum {
    TOGETHER = 8,  /* events; some 5 lines each are under way */
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

/* Fetch what the first slot with the hash's tag leads to. */
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
    /* Relaxed: a hint, nothing that it leads to is read. */
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
