/* judge_cover.c -- which coverage goals an event has reached, by the truth log.
 */
#include "sim/instruments/instrument_heap.h"
#include "props/judge/judge_internal.h"
#include "sim/world/locks.h"

static void
hit_if(struct props_judge *judge, bool met, enum props_cover goal)
{
    judge->cover->hits[goal] += met; /* without a branch */
}

static void
cover_stack(struct props_judge *judge, const struct truth_entry *entry)
{
    const struct sim_config *config = sim_world_config(judge->world);
    const struct truth_stack *stack = &config->stacks[entry->stack];

    hit_if(judge, stack->depth > config->depth_max, COVER_STACK_CUT);
    hit_if(judge, stack->depth == 0, COVER_STACK_EMPTY);
    hit_if(judge, entry->kind == TRUTH_ALLOC && entry->size_bytes == 0,
           COVER_SIZE_ZERO);
    hit_if(judge, entry->kind == TRUTH_BLOCK && entry->cycles < 1,
           COVER_CONTENTION_CLAMPED);
}

/* An event at a rate at which it may be left out. */
static void
cover_rates(struct props_judge *judge, bool block)
{
    const struct model_contention *c = model_heap_contention(judge->model);

    if (block)
        hit_if(judge, c->block_rate_ticks > 1, COVER_BLOCK_SAMPLED);
    else
        hit_if(judge, c->mutex_fraction > 1, COVER_MUTEX_SAMPLED);
}

/* Is the product too large? Most sizes are so small that the first test
 * decides. */
static bool
is_huge(const struct prof_heap_record *r)
{
    return (r->size_bytes >> 32) != 0 && r->allocs > UINT64_MAX / r->size_bytes;
}

static void
cover_snapshot(struct props_judge *judge, const struct truth_entry *entry)
{
    const struct sim_gc *gc = sim_world_gc(judge->world);
    const struct sim_answer *answer = sim_world_answer(judge->world);
    const struct model_answer expected = model_heap_answer(judge->model);

    hit_if(judge, gc->marking, COVER_SNAPSHOT_WHILE_MARKING);
    hit_if(judge, gc->unflushed, COVER_SNAPSHOT_BEFORE_FLUSH);
    hit_if(judge, gc->dead > 0, COVER_SNAPSHOT_WHILE_SWEEPING);
    hit_if(judge, gc->post_swept, COVER_SNAPSHOT_AFTER_POST_SWEEP);
    hit_if(judge, entry->room == 0, COVER_SIZING_CALL);
    hit_if(judge, entry->room > 0 && !expected.fits, COVER_SHORT_BUFFER);
    hit_if(judge, expected.first && expected.fits && expected.count > 0,
           COVER_FIRST_SNAPSHOT);
    for (size_t i = 0; answer->status == PROF_OK && i < answer->count; i++)
        hit_if(judge, is_huge(&answer->heap[i]), COVER_FAULT_HUGE_SIZES);
    hit_if(judge,
           answer->status == PROF_OK && answer->count > 0 &&
               prof_heap_inuse_objects(&answer->heap[0]) > 0,
           COVER_SNAPSHOT_NOT_EMPTY);
}

/* Does the waiter's processor read another time than the one that ends the
 * wait? */
static bool
clocks_differ(const struct props_judge *judge, const struct truth_entry *entry)
{
    const struct sim_config *config = sim_world_config(judge->world);
    const uint64_t now_ticks = sim_world_now_ticks(judge->world);

    return sim_clock_read(&config->clocks[entry->proc], now_ticks) !=
           sim_clock_read(&config->clocks[entry->task % config->procs],
                          now_ticks);
}

/* Called when a collection advances. Is a processor stalled? */
static void
cover_stall(struct props_judge *judge)
{
    hit_if(judge, sim_world_stall_ticks(judge->world) > 0, COVER_FAULT_STALL);
}

/* Waits in ticks are meaningful only if no clocks are 2^60 ticks or more
 * apart. */
static bool
clocks_are_near(const struct props_judge *judge)
{
    const struct sim_config *config = sim_world_config(judge->world);
    const int64_t far_ticks = INT64_C(1) << 60;

    for (uint32_t i = 0; i < config->procs; i++) {
        if (config->clocks[i].offset_ticks >= far_ticks ||
            config->clocks[i].offset_ticks <= -far_ticks)
            return false;
    }
    return true;
}

static void
cover_contention(struct props_judge *judge, const struct truth_entry *entry)
{
    const bool near = clocks_are_near(judge);
    const struct sim_answer *answer = sim_world_answer(judge->world);

    (void)entry;
    hit_if(judge, answer->count > 0, COVER_CONTENTION_READ);
    for (size_t i = 0; answer->status == PROF_OK && i < answer->count; i++)
        hit_if(judge,
               near && (answer->contention[i].cycles > INT64_MAX ||
                        answer->contention[i].count > UINT32_MAX),
               COVER_FAULT_HUGE_WAITS);
}

static bool
is_bucketless(const struct props_judge *judge, const struct truth_entry *entry)
{
    return sim_heap_bucket(judge->world, entry->object) == PROF_BUCKET_NONE;
}

static bool
somebody_waits(const struct props_judge *judge)
{
    return sim_world_locks(judge->world)->waiters_count > 0;
}

/* ---- What each kind of entry meets ---- */

static void
cover_alloc(struct props_judge *judge, const struct truth_entry *entry)
{
    hit_if(judge, sim_world_gc(judge->world)->marking,
           COVER_ALLOC_WHILE_MARKING);
    hit_if(judge,
           prof_heap_rate(sim_world_prof(judge->world)) > 1 &&
               is_bucketless(judge, entry),
           COVER_HEAP_SAMPLED);
    cover_stack(judge, entry);
}

/* A wait whose stack and length are known. */
static void
cover_block(struct props_judge *judge, const struct truth_entry *entry)
{
    cover_stack(judge, entry);
    cover_rates(judge, true);
}

static void
cover_mutex(struct props_judge *judge, const struct truth_entry *entry)
{
    cover_stack(judge, entry);
    cover_rates(judge, false);
}

static void
cover_wait(struct props_judge *judge, const struct truth_entry *entry)
{
    (void)entry;
    hit_if(judge, true, COVER_LOCK_WAITED);
}

static void
cover_released(struct props_judge *judge, const struct truth_entry *entry)
{
    hit_if(judge, true, COVER_LOCK_RELEASED);
    hit_if(judge, entry->flag, COVER_LOCK_QUEUE);
    hit_if(judge, clocks_differ(judge, entry), COVER_FAULT_CLOCKS_APART);
    cover_rates(judge, false);
}

static void
cover_clock_jump(struct props_judge *judge, const struct truth_entry *entry)
{
    hit_if(judge, somebody_waits(judge), COVER_CLOCK_JUMPED);
    hit_if(judge, entry->cycles > 0, COVER_FAULT_CLOCK_AHEAD);
    hit_if(judge, entry->cycles < 0, COVER_FAULT_CLOCK_BACK);
}

static void
cover_clock_freeze(struct props_judge *judge, const struct truth_entry *entry)
{
    (void)entry;
    hit_if(judge, somebody_waits(judge), COVER_FAULT_CLOCK_FREEZE);
}

static void
cover_rate(struct props_judge *judge, const struct truth_entry *entry)
{
    judge->sampled |= entry->kind == TRUTH_HEAP_RATE;
    hit_if(judge, model_heap_contention(judge->model)->any, COVER_RATE_CHANGED);
}

static void
cover_free(struct props_judge *judge, const struct truth_entry *entry)
{
    (void)entry;
    hit_if(judge, true, COVER_EXPLICIT_FREE);
}

static void
cover_sweep(struct props_judge *judge, const struct truth_entry *entry)
{
    const struct sim_gc *gc = sim_world_gc(judge->world);

    hit_if(judge, gc->unflushed && !gc->marking, COVER_SWEEP_BEFORE_FLUSH);
    hit_if(judge, gc->post_swept, COVER_FAULT_LATE_FREE);
    hit_if(judge, !judge->sampled && is_bucketless(judge, entry),
           COVER_FREE_OF_DROPPED);
}

static void
cover_terminate(struct props_judge *judge, const struct truth_entry *entry)
{
    cover_stall(judge);
    hit_if(judge, entry->flag, COVER_STW_SWEEP);
}

static void
cover_post_sweep(struct props_judge *judge, const struct truth_entry *entry)
{
    const struct sim_gc *gc = sim_world_gc(judge->world);

    (void)entry;
    hit_if(judge, gc->unflushed, COVER_FAULT_EARLY_POST_SWEEP);
    hit_if(judge, gc->marking, COVER_POST_SWEEP_WHILE_MARKING);
}

static void
cover_mark(struct props_judge *judge, const struct truth_entry *entry)
{
    (void)entry;
    cover_stall(judge);
    hit_if(judge, sim_world_gc(judge->world)->unflushed,
           COVER_FAULT_MISSING_FLUSH);
}

static void
cover_next_cycle(struct props_judge *judge, const struct truth_entry *entry)
{
    (void)entry;
    hit_if(judge, judge_near_wrap(judge), COVER_WRAP_CROSSED);
}

static void
cover_flush(struct props_judge *judge, const struct truth_entry *entry)
{
    (void)entry;
    cover_stall(judge);
}

typedef void cover_entry(struct props_judge *judge,
                         const struct truth_entry *entry);

static cover_entry *const covers[TRUTH_KIND_COUNT] = {
    [TRUTH_ALLOC] = cover_alloc,
    [TRUTH_BLOCK] = cover_block,
    [TRUTH_MUTEX] = cover_mutex,
    [TRUTH_WAIT] = cover_wait,
    [TRUTH_RELEASED] = cover_released,
    [TRUTH_WOKEN] = cover_block,
    [TRUTH_CLOCK_JUMP] = cover_clock_jump,
    [TRUTH_CLOCK_FREEZE] = cover_clock_freeze,
    [TRUTH_BLOCK_RATE] = cover_rate,
    [TRUTH_MUTEX_FRACTION] = cover_rate,
    [TRUTH_HEAP_RATE] = cover_rate,
    [TRUTH_FREE_EXPLICIT] = cover_free,
    [TRUTH_SWEEP] = cover_sweep,
    [TRUTH_TERMINATE] = cover_terminate,
    [TRUTH_POST_SWEEP] = cover_post_sweep,
    [TRUTH_MARK] = cover_mark,
    [TRUTH_NEXT_CYCLE] = cover_next_cycle,
    [TRUTH_SNAPSHOT] = cover_snapshot,
    [TRUTH_BLOCK_SNAPSHOT] = cover_contention,
    [TRUTH_MUTEX_SNAPSHOT] = cover_contention,
    [TRUTH_FLUSH] = cover_flush,
};

/* Go's 64-bit hash of a short stack, before its final mixing. */
static uint64_t
hash_of(const struct model_bucket *bucket)
{
    uint64_t h = 0;

    for (uint32_t i = 0; i < bucket->depth; i++) {
        h += bucket->frames[i];
        h += h << 10;
        h ^= h >> 6;
    }
    return h;
}

static bool
collide(const struct model_bucket *a, const struct model_bucket *b)
{
    const uint32_t short_depth = 2; /* as deep as stacks are generated */

    return a->depth == short_depth && b->depth == short_depth &&
           a->frames != b->frames && a->frames[0] != b->frames[0] &&
           hash_of(a) == hash_of(b);
}

/* Look for buckets that differ in only a part of the key. */
static void
cover_buckets(struct props_judge *judge)
{
    uint32_t count;
    const struct model_bucket *b = model_heap_buckets(judge->model, &count);

    if (count < 2 || count == judge->buckets_marked)
        return;
    judge->buckets_marked = count;
    for (uint32_t i = 0; i + 1 < count; i++) {
        hit_if(judge,
               sim_world_config(judge->world)->hash == PROF_HASH_GO_64 &&
                   collide(&b[i], &b[count - 1]),
               COVER_FAULT_HASH_COLLISION);
        if (b[i].frames == b[count - 1].frames) {
            hit_if(judge, b[i].kind != b[count - 1].kind,
                   COVER_SAME_STACK_OTHER_KIND);
            hit_if(judge, b[i].size_bytes != b[count - 1].size_bytes,
                   COVER_SAME_STACK_OTHER_SIZE);
        }
    }
}

void
judge_cover(struct props_judge *judge)
{
    const struct truth_log *truth = judge->truth;
    const struct model_drops drops = model_heap_drops(judge->model);

    for (uint32_t i = judge->truths_seen; i < truth->entries_count; i++) {
        const struct truth_entry *entry = &truth->entries[i];

        if (entry->proc == TRUTH_NO_PROC)
            continue; /* not about the heap, either */
        hit_if(judge, entry->at_ticks < judge->last_ticks[entry->proc],
               COVER_CLOCK_BACKWARDS);
        judge->last_ticks[entry->proc] = entry->at_ticks;
        if (covers[entry->kind] != NULL && !judge->limits.unheard[entry->kind])
            covers[entry->kind](judge, entry);
    }
    hit_if(judge, drops.no_bucket > 0, COVER_BUCKETS_FULL);
    hit_if(judge, drops.no_frames > 0, COVER_FRAMES_FULL);
    if (truth->entries_count > judge->truths_seen &&
        truth->entries[truth->entries_count - 1].kind == TRUTH_SNAPSHOT)
        cover_buckets(judge);
}
