/*
 * shrink.c -- greedy passes over a choice list, to a fixpoint.
 *
 *      best:       1 3 7 0 1 5 25511 1 2 0       fails, and so is kept
 *      candidate:  1 3 0 0 1 5 25511 1 2 0       smaller: try it
 *
 * Invariants
 *   I1  best fails; candidates that are not strictly smaller are never run.
 *   I2  best has no trailing zeros.
 *   I3  a hash in the cache belongs to a candidate that ran and passed. A hash
 *       collision (2^-64) loses one step, never the failure.
 */
#include "common/shrink.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    CALLS_MAX_DEFAULT = 20000,
    CACHE_SLOTS = 4096,
    BLOCK_MAX = 8,
};

struct work {
    struct sim_shrink *shrink;
    struct sim_choice *best;
    uint32_t best_count;
    struct sim_choice *next; /* the candidate */
    uint32_t next_count;
    uint32_t *values; /* the candidate's, passed to the callback */
    uint64_t *cache;
    uint32_t room; /* of best and next: no list gets longer than the first */
};

static uint32_t
without_zeros(const struct sim_choice *list, uint32_t count)
{
    while (count > 0 && list[count - 1].value == 0)
        count--;
    return count;
}

static uint32_t
nonzero(const struct sim_choice *list, uint32_t count)
{
    uint32_t total = 0;

    for (uint32_t i = 0; i < count; i++)
        total += list[i].value != 0;
    return total;
}

static bool
smaller(const struct work *w, const struct sim_choice *a, uint32_t a_count,
        const struct sim_choice *b, uint32_t b_count)
{
    if (w->shrink->fewest_first) {
        const uint32_t a_nonzero = nonzero(a, a_count);
        const uint32_t b_nonzero = nonzero(b, b_count);

        if (a_nonzero != b_nonzero)
            return a_nonzero < b_nonzero;
    }
    if (a_count != b_count)
        return a_count < b_count;
    for (uint32_t i = 0; i < a_count; i++) {
        if (a[i].value != b[i].value)
            return a[i].value < b[i].value;
    }
    return false;
}

static uint64_t
values_hash(const uint32_t *values, uint32_t count)
{
    uint64_t hash = count + 1;

    for (uint32_t i = 0; i < count; i++)
        hash = sim_mix64(hash * 31 + values[i] + 1);
    return hash | 1; /* 0 marks an empty slot */
}

static void
keep(struct work *w, const struct sim_choice *list, uint32_t count)
{
    memmove(w->best, list, count * sizeof *list);
    w->best_count = count;
}

/* Make the candidate what the run really used of it: the list may be shorter,
 * and values may have been clamped. */
static void
accept(struct work *w)
{
    const struct sim_choices *ran = w->shrink->ran;

    w->shrink->accepted++;
    if (ran != NULL && !ran->overflowed) {
        const uint32_t count = without_zeros(ran->list, ran->count);

        if (count <= w->room &&
            !smaller(w, w->next, w->next_count, ran->list, count)) {
            keep(w, ran->list, count);
            return;
        }
    }
    keep(w, w->next, w->next_count);
}

static bool
run(struct work *w, uint32_t count)
{
    w->shrink->calls++;
    return w->shrink->still_fails(w->shrink->context, w->values, count);
}

/* Try the candidate; on success it is the new best. */
static bool
attempt(struct work *w)
{
    struct sim_shrink *s = w->shrink;
    uint64_t hash;
    uint64_t *slot;

    w->next_count = without_zeros(w->next, w->next_count);
    if (!smaller(w, w->next, w->next_count, w->best, w->best_count))
        return false;
    for (uint32_t i = 0; i < w->next_count; i++)
        w->values[i] = w->next[i].value;
    hash = values_hash(w->values, w->next_count);
    slot = &w->cache[hash % CACHE_SLOTS];
    if (*slot == hash) {
        s->calls_saved++;
        return false;
    }
    if (s->calls >= s->calls_max) {
        s->cut = true;
        return false;
    }
    if (run(w, w->next_count)) {
        accept(w);
        return true;
    }
    *slot = hash;
    return false;
}

/* Make the candidate a copy of best. */
static void
fresh(struct work *w)
{
    memcpy(w->next, w->best, w->best_count * sizeof *w->best);
    w->next_count = w->best_count;
}

static void
zero_kinds(struct work *w)
{
    static const enum sim_kind order[] = {SIM_FAULT, SIM_STALE, SIM_CLOCK,
                                          SIM_SCHED, SIM_SWARM, SIM_DATA,
                                          SIM_OP,    SIM_FLOW};

    for (uint32_t k = 0; k < sizeof order / sizeof order[0]; k++) {
        fresh(w);
        for (uint32_t i = 0; i < w->next_count; i++) {
            if (w->next[i].kind == (uint16_t)order[k])
                w->next[i].value = 0;
        }
        attempt(w);
    }
}

/* Remove [at, at + block) from the candidate. */
static void
cut_block(struct work *w, uint32_t at, uint32_t block)
{
    fresh(w);
    memmove(&w->next[at], &w->next[at + block],
            (w->next_count - at - block) * sizeof *w->next);
    w->next_count -= block;
}

static void
delete_blocks_of(struct work *w, uint32_t block)
{
    uint32_t at = w->best_count;

    while (at > 0) {
        at--;
        if (at + block > w->best_count)
            continue;
        cut_block(w, at, block);
        if (attempt(w))
            continue;
        /* The answer before may be the number of the items deleted, or announce
         * one. */
        if (at > 0 && w->best[at - 1].value > 0) {
            cut_block(w, at, block);
            w->next[at - 1].value--;
            attempt(w);
        }
    }
}

static void
delete_blocks(struct work *w)
{
    uint32_t block = BLOCK_MAX;

    while (block < w->best_count / 2)
        block *= 2;
    for (; block > BLOCK_MAX; block /= 2)
        delete_blocks_of(w, block);
    for (; block > 0; block--)
        delete_blocks_of(w, block);
}

static void
zero_blocks(struct work *w)
{
    for (uint32_t block = BLOCK_MAX; block > 0; block--) {
        for (uint32_t at = w->best_count; at-- > 0;) {
            if (at + block > w->best_count)
                continue;
            fresh(w);
            for (uint32_t i = at; i < at + block; i++)
                w->next[i].value = 0;
            attempt(w);
        }
    }
}

static bool
attempt_value(struct work *w, uint32_t at, uint32_t value)
{
    fresh(w);
    w->next[at].value = value;
    return attempt(w);
}

/* Lower one value: try 0, then search for the lowest failing one by bisection.
 */
static void
lower(struct work *w, uint32_t at)
{
    uint32_t low = 0; /* passes, or was tried */

    if (w->best[at].value == 0 || attempt_value(w, at, 0))
        return;
    while (at < w->best_count && w->best[at].value > low + 1) {
        const uint32_t high = w->best[at].value;
        const uint32_t middle = low + (high - low) / 2;

        if (!attempt_value(w, at, middle))
            low = middle;
        else if (at >= w->best_count || w->best[at].value >= high)
            return;
    }
}

static void
lower_each(struct work *w)
{
    for (uint32_t at = w->best_count; at-- > 0;) {
        if (at < w->best_count)
            lower(w, at);
    }
}

/* Exchange two answers of one kind if that makes the list smaller. */
static void
swap_pairs(struct work *w)
{
    for (uint32_t gap = 1; gap <= BLOCK_MAX; gap++) {
        for (uint32_t at = 0; at + gap < w->best_count; at++) {
            struct sim_choice *a;
            struct sim_choice *b;
            uint32_t value;

            fresh(w);
            a = &w->next[at];
            b = &w->next[at + gap];
            if (a->kind != b->kind || a->value <= b->value)
                continue;
            value = a->value;
            a->value = b->value;
            b->value = value;
            attempt(w);
        }
    }
}

/* Merge two context switches into the later one: drop this one, move its
 * value. */
static void
merge_switches(struct work *w)
{
    for (uint32_t at = 0; at < w->best_count; at++) {
        uint32_t moved = 0;

        if (w->best[at].kind != SIM_SCHED || w->best[at].value == 0)
            continue;
        for (uint32_t to = at + 1; to < w->best_count && moved < BLOCK_MAX;
             to++) {
            if (w->best[to].kind != SIM_SCHED)
                continue;
            moved++;
            fresh(w);
            w->next[to].value = w->next[at].value;
            w->next[at].value = 0;
            if (attempt(w))
                break;
        }
    }
}

/* Move weight from one answer to the next: 500 501 becomes 0 1001. */
static void
redistribute(struct work *w)
{
    for (uint32_t gap = 1; gap <= 3; gap++) {
        for (uint32_t at = 0; at + gap < w->best_count; at++) {
            uint32_t step = w->best[at].value;

            for (; step > 0; step /= 2) {
                if (at + gap >= w->best_count || w->best[at].value < step)
                    break;
                fresh(w);
                w->next[at].value -= step;
                w->next[at + gap].value += step;
                attempt(w);
            }
        }
    }
}

static bool
work_init(struct work *w, struct sim_shrink *shrink, struct sim_choice *best,
          uint32_t count)
{
    const uint32_t room = count > 0 ? count : 1;

    *w = (struct work){.shrink = shrink, .best = best, .room = count};
    w->best_count = without_zeros(best, count);
    w->next = calloc(room, sizeof *w->next);
    w->values = calloc(room, sizeof *w->values);
    w->cache = calloc(CACHE_SLOTS, sizeof *w->cache);
    if (shrink->calls_max == 0)
        shrink->calls_max = CALLS_MAX_DEFAULT;
    return w->next != NULL && w->values != NULL && w->cache != NULL;
}

static void
work_close(struct work *w)
{
    free(w->next);
    free(w->values);
    free(w->cache);
}

static bool
best_fails(struct work *w)
{
    for (uint32_t i = 0; i < w->best_count; i++)
        w->values[i] = w->best[i].value;
    return run(w, w->best_count);
}

static void
passes(struct work *w)
{
    uint64_t before;

    do {
        before = w->shrink->accepted;
        zero_kinds(w);
        delete_blocks(w);
        zero_blocks(w);
        lower_each(w);
        swap_pairs(w);
        merge_switches(w);
        redistribute(w);
    } while (w->shrink->accepted != before && !w->shrink->cut);
}

uint32_t
sim_shrink(struct sim_shrink *shrink, struct sim_choice *list, uint32_t count)
{
    struct work w;

    shrink->calls = 0;
    shrink->calls_saved = 0;
    shrink->accepted = 0;
    shrink->cut = false;
    shrink->unstable = true;
    if (work_init(&w, shrink, list, count) && best_fails(&w)) {
        passes(&w);
        count = w.best_count;
        shrink->unstable = !best_fails(&w) || !best_fails(&w);
    }
    work_close(&w);
    return count;
}

uint32_t
sim_shrink_necessary(struct sim_shrink *shrink, const struct sim_choice *list,
                     uint32_t count, bool *necessary)
{
    uint32_t *values = calloc(count > 0 ? count : 1, sizeof *values);
    uint32_t total = 0;

    assert(values != NULL);
    for (uint32_t i = 0; i < count; i++)
        values[i] = list[i].value;
    for (uint32_t i = 0; i < count; i++) {
        necessary[i] = false;
        if (values[i] == 0)
            continue;
        values[i] = 0;
        shrink->calls++;
        necessary[i] = !shrink->still_fails(shrink->context, values, count);
        values[i] = list[i].value;
        total += necessary[i];
    }
    free(values);
    return total;
}
