/* judge_marks.c -- what an event has met, read off the truth log. */
#include "instrument_heap.h"
#include "judge_internal.h"
#include "locks.h"

static void
hit_if(struct props_judge *judge, bool met, enum props_mark mark)
{
    judge->marks->hits[mark] += met; /* nobody could foretell a branch */
}

static void
mark_stack(struct props_judge *judge, const struct truth_entry *entry)
{
    const struct sim_config *config = sim_world_config(judge->world);
    const struct truth_stack *stack = &config->stacks[entry->stack];

    hit_if(judge, stack->depth > config->depth_max, MARK_STACK_CUT);
    hit_if(judge, stack->depth == 0, MARK_STACK_EMPTY);
    hit_if(judge, entry->kind == TRUTH_ALLOC && entry->size_bytes == 0,
           MARK_SIZE_ZERO);
    hit_if(judge, entry->kind == TRUTH_BLOCK && entry->cycles < 1,
           MARK_CONTENTION_CLAMPED);
}

/* An event under a rate that may leave it out. */
static void
mark_rates(struct props_judge *judge, bool block)
{
    const struct model_contention *c = model_heap_contention(judge->model);

    if (block)
        hit_if(judge, c->block_rate_ticks > 1, MARK_BLOCK_SAMPLED);
    else
        hit_if(judge, c->mutex_fraction > 1, MARK_MUTEX_SAMPLED);
}

/* Few have sizes from which on a product may not fit. */
static bool
is_huge(const struct prof_heap_record *r)
{
    return (r->size_bytes >> 32) != 0 && r->allocs > UINT64_MAX / r->size_bytes;
}

static void
mark_snapshot(struct props_judge *judge, const struct truth_entry *entry)
{
    const struct sim_gc *gc = sim_world_gc(judge->world);
    const struct sim_answer *answer = sim_world_answer(judge->world);
    const struct model_answer expected = model_heap_answer(judge->model);

    hit_if(judge, gc->marking, MARK_SNAPSHOT_WHILE_MARKING);
    hit_if(judge, gc->unflushed, MARK_SNAPSHOT_BEFORE_FLUSH);
    hit_if(judge, gc->dead > 0, MARK_SNAPSHOT_WHILE_SWEEPING);
    hit_if(judge, gc->post_swept, MARK_SNAPSHOT_AFTER_POST_SWEEP);
    hit_if(judge, entry->room == 0, MARK_SIZING_CALL);
    hit_if(judge, entry->room > 0 && !expected.fits, MARK_SHORT_BUFFER);
    hit_if(judge, expected.first && expected.fits && expected.count > 0,
           MARK_FIRST_SNAPSHOT);
    for (size_t i = 0; answer->status == PROF_OK && i < answer->count; i++)
        hit_if(judge, is_huge(&answer->heap[i]), MARK_FAULT_HUGE_SIZES);
    hit_if(judge,
           answer->status == PROF_OK && answer->count > 0 &&
               prof_heap_inuse_objects(&answer->heap[0]) > 0,
           MARK_SNAPSHOT_NOT_EMPTY);
}

/* The waiter's processor and the one that lets it go read different times. */
static bool
clocks_differ(const struct props_judge *judge, const struct truth_entry *entry)
{
    const struct sim_config *config = sim_world_config(judge->world);
    const uint64_t now_ticks = sim_world_now_ticks(judge->world);

    return sim_clock_read(&config->clocks[entry->proc], now_ticks) !=
           sim_clock_read(&config->clocks[entry->task % config->procs],
                          now_ticks);
}

/* A collection went on. Does a processor stand still? */
static void
mark_stall(struct props_judge *judge)
{
    hit_if(judge, sim_world_stall_ticks(judge->world) > 0, MARK_FAULT_STALL);
}

/* Clocks as far apart as 2^62 ticks make any wait long; these do not. */
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
mark_contention(struct props_judge *judge)
{
    const bool near = clocks_are_near(judge);
    const struct sim_answer *answer = sim_world_answer(judge->world);

    hit_if(judge, answer->count > 0, MARK_CONTENTION_READ);
    for (size_t i = 0; answer->status == PROF_OK && i < answer->count; i++)
        hit_if(judge,
               near && (answer->contention[i].cycles > INT64_MAX ||
                        answer->contention[i].count > UINT32_MAX),
               MARK_FAULT_HUGE_WAITS);
}

static void
mark_entry(struct props_judge *judge, const struct truth_entry *entry)
{
    const struct sim_gc *gc = sim_world_gc(judge->world);

    switch ((int)entry->kind) {
    case TRUTH_ALLOC:
        hit_if(judge, gc->marking, MARK_ALLOC_WHILE_MARKING);
        hit_if(judge,
               prof_heap_rate(sim_world_prof(judge->world)) > 1 &&
                   sim_heap_bucket(judge->world, entry->object) ==
                       PROF_BUCKET_NONE,
               MARK_HEAP_SAMPLED);
        mark_stack(judge, entry);
        break;
    case TRUTH_BLOCK:
    case TRUTH_MUTEX:
        mark_stack(judge, entry);
        mark_rates(judge, entry->kind == TRUTH_BLOCK);
        break;
    case TRUTH_WAIT:
        hit_if(judge, true, MARK_LOCK_WAITED);
        break;
    case TRUTH_RELEASED:
        hit_if(judge, true, MARK_LOCK_RELEASED);
        hit_if(judge, entry->flag, MARK_LOCK_QUEUE);
        hit_if(judge, clocks_differ(judge, entry), MARK_FAULT_CLOCKS_APART);
        mark_rates(judge, false);
        break;
    case TRUTH_WOKEN:
        mark_stack(judge, entry);
        mark_rates(judge, true);
        break;
    case TRUTH_CLOCK_JUMP:
        hit_if(judge, sim_world_locks(judge->world)->waiters_count > 0,
               MARK_CLOCK_JUMPED);
        hit_if(judge, entry->cycles > 0, MARK_FAULT_CLOCK_AHEAD);
        hit_if(judge, entry->cycles < 0, MARK_FAULT_CLOCK_BACK);
        break;
    case TRUTH_CLOCK_FREEZE:
        hit_if(judge, sim_world_locks(judge->world)->waiters_count > 0,
               MARK_FAULT_CLOCK_FREEZE);
        break;
    case TRUTH_BLOCK_RATE:
    case TRUTH_MUTEX_FRACTION:
    case TRUTH_HEAP_RATE:
        judge->sampled |= entry->kind == TRUTH_HEAP_RATE;
        hit_if(judge, model_heap_contention(judge->model)->any,
               MARK_RATE_CHANGED);
        break;
    case TRUTH_FREE_EXPLICIT:
        hit_if(judge, true, MARK_EXPLICIT_FREE);
        break;
    case TRUTH_SWEEP:
        hit_if(judge, gc->unflushed && !gc->marking, MARK_SWEEP_BEFORE_FLUSH);
        hit_if(judge, gc->post_swept, MARK_FAULT_LATE_FREE);
        hit_if(judge,
               !judge->sampled &&
                   sim_heap_bucket(judge->world, entry->object) ==
                       PROF_BUCKET_NONE,
               MARK_FREE_OF_DROPPED);
        break;
    case TRUTH_TERMINATE:
        mark_stall(judge);
        hit_if(judge, entry->flag, MARK_STW_SWEEP);
        break;
    case TRUTH_POST_SWEEP:
        hit_if(judge, gc->unflushed, MARK_FAULT_EARLY_POST_SWEEP);
        hit_if(judge, gc->marking, MARK_POST_SWEEP_WHILE_MARKING);
        break;
    case TRUTH_MARK:
        mark_stall(judge);
        hit_if(judge, gc->unflushed, MARK_FAULT_MISSING_FLUSH);
        break;
    case TRUTH_NEXT_CYCLE:
        hit_if(judge, judge_near_wrap(judge), MARK_WRAP_CROSSED);
        break;
    case TRUTH_SNAPSHOT:
        mark_snapshot(judge, entry);
        break;
    case TRUTH_BLOCK_SNAPSHOT:
    case TRUTH_MUTEX_SNAPSHOT:
        mark_contention(judge);
        break;
    case TRUTH_FLUSH:
        mark_stall(judge);
        break;
    default:
        break;
    }
}

/* Go's 64-bit hash of a short stack, before its last mixing. */
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
    const uint32_t short_depth = 2; /* what is generated */

    return a->depth == short_depth && b->depth == short_depth &&
           a->frames != b->frames && a->frames[0] != b->frames[0] &&
           hash_of(a) == hash_of(b);
}

/* Buckets that only part of the key tells apart. */
static void
mark_buckets(struct props_judge *judge)
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
               MARK_FAULT_HASH_COLLISION);
        if (b[i].frames == b[count - 1].frames) {
            hit_if(judge, b[i].kind != b[count - 1].kind,
                   MARK_SAME_STACK_OTHER_KIND);
            hit_if(judge, b[i].size_bytes != b[count - 1].size_bytes,
                   MARK_SAME_STACK_OTHER_SIZE);
        }
    }
}

void
judge_marks(struct props_judge *judge)
{
    const struct truth_log *truth = judge->truth;
    const struct model_drops drops = model_heap_drops(judge->model);

    for (uint32_t i = judge->truths_seen; i < truth->entries_count; i++) {
        const struct truth_entry *entry = &truth->entries[i];

        if (entry->proc == TRUTH_NO_PROC)
            continue; /* nor is it about the heap */
        hit_if(judge, entry->at_ticks < judge->last_ticks[entry->proc],
               MARK_CLOCK_BACKWARDS);
        judge->last_ticks[entry->proc] = entry->at_ticks;
        mark_entry(judge, entry);
    }
    hit_if(judge, drops.no_bucket > 0, MARK_BUCKETS_FULL);
    hit_if(judge, drops.no_frames > 0, MARK_FRAMES_FULL);
    if (truth->entries_count > judge->truths_seen &&
        truth->entries[truth->entries_count - 1].kind == TRUTH_SNAPSHOT)
        mark_buckets(judge);
}
