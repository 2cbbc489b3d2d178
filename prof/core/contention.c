/*
 * contention.c -- the block and mutex profiles: count and ticks per stack.
 *
 * A contention bucket has two sums in the columns of each processor (struct
 * wait). An event makes two plain additions, and a snapshot adds up the
 * processors' sums. Events are published at once and never cleared. Under
 * PROF_BLOCK_CORRECTED the count is a double, stored as its bits. Since sums of
 * doubles depend on the order of addition, all processors add to the count of
 * the first processor.
 *
 * What a block event of c ticks counts at a rate of R > c ticks; r is a random
 * number. (If c >= R, as always for R = 1, it counts once with its c ticks and
 * draws no number.)
 *
 *                   kept if             count           cycles
 *      PLAIN        r mod R <= c        1               c
 *      CORRECTED    r mod R <= c        R / c (double)  R
 *      EXACT        u < c               R / c, rounded  R
 *
 * EXACT draws u, uniform below R. It keeps the event with probability c/R and
 * then counts R ticks: c on average. The count R/c = q + m/c (q whole, m < c)
 * is rounded by the same u: up to q+1 if u < m, else down to q. Over the c
 * values of u that keep the event, the counts add up to cq + m = R: 1 on
 * average. If 64 draws gave no usable u (with a probability below
 * (R / 2^64)^64), the event counts once with its c ticks, which is unbiased,
 * too. So the work is bounded and the expectation exact.
 *
 * A mutex event at a fraction of 1/R. UNSCALED draws a random number r, and
 * keeps the event if r mod R is 0; it counts once. EXACT draws u uniform below
 * R, and keeps the event if u = 0; it counts R times. With R = 1 every event is
 * kept, and EXACT draws nothing.
 *
 * Invariants
 *   I1  A block event counts at least 1 tick, a mutex event at least 0, even if
 *       the clocks of two processors disagree (golang/go#8976).
 *   I2  An event reads the rate once; the same value decides and scales.
 *   I3  A record does not depend on a rate set later. UNSCALED records do not
 *       store their rate: the last one set applies to all (Go up to 1.19).
 */
#include <string.h>

#include "prof/core/assertion.h"
#include "prof/core/instance.h"
#include "prof/core/poison.h"

/* What an event adds to its bucket; nothing if `count` is 0. */
struct charge {
    uint64_t count; /* whole events */
    uint64_t cycles;
    double events; /* the same as count, under PROF_BLOCK_CORRECTED */
};

_Static_assert(sizeof(double) == sizeof(uint64_t), "a count is kept by bits");

/* ---- sampling ---- */

static inline struct charge
charge_as_is(int64_t cycles)
{
    return (struct charge){.count = 1, .cycles = (uint64_t)cycles, .events = 1};
}

/* r mod R <= c: all eras of Go have the "or equal" (golang/go#44192). */
static inline bool
go_keeps(struct rng *rng, int64_t cycles, int64_t rate)
{
    return (int64_t)(prof_rng_next(rng) % (uint64_t)rate) <= cycles;
}

static inline struct charge
block_exact(struct rng *rng, uint64_t cycles, uint64_t rate)
{
    uint64_t u;

    if (!prof_rng_below(rng, rate, &u))
        return charge_as_is((int64_t)cycles);
    if (u >= cycles)
        return (struct charge){0};
    return (struct charge){.count = rate / cycles + (u < rate % cycles),
                           .cycles = rate};
}

static inline struct charge
block_charge(struct prof_proc *proc, int64_t cycles, int64_t rate)
{
    struct rng *rng = &proc->rng;

    if (rate <= 0)
        return (struct charge){0};
    if (cycles >= rate)
        return charge_as_is(cycles);
    switch (proc->prof->rules.block) {
    case PROF_BLOCK_EXACT:
        break;
    case PROF_BLOCK_PLAIN:
        return go_keeps(rng, cycles, rate) ? charge_as_is(cycles)
                                           : (struct charge){0};
    case PROF_BLOCK_CORRECTED:
        if (!go_keeps(rng, cycles, rate))
            return (struct charge){0};
        return (struct charge){.count = 1,
                               .cycles = (uint64_t)rate,
                               .events = (double)rate / (double)cycles};
    }
    return block_exact(rng, (uint64_t)cycles, (uint64_t)rate);
}

/* Ticks times R, the largest number of ticks if that is too much. */
static uint64_t
scaled(int64_t cycles, int64_t rate)
{
    int64_t product;

    return (uint64_t)(__builtin_mul_overflow(cycles, rate, &product) ? INT64_MAX
                                                                     : product);
}

static struct charge
mutex_charge(struct prof_proc *proc, int64_t cycles, int64_t rate)
{
    struct rng *rng = &proc->rng;
    const enum prof_mutex_rule rule = proc->prof->rules.mutex;
    uint64_t u;

    if (rule == PROF_MUTEX_ABSENT) {
        add_relaxed(&proc->prof->no_mutex, 1);
        return (struct charge){0};
    }
    if (rate <= 0)
        return (struct charge){0};
    if (rule == PROF_MUTEX_UNSCALED)
        return prof_rng_next(rng) % (uint64_t)rate == 0 ? charge_as_is(cycles)
                                                        : (struct charge){0};
    if (rate == 1 || !prof_rng_below(rng, (uint64_t)rate, &u))
        return charge_as_is(cycles);
    if (u != 0)
        return (struct charge){0};
    return (struct charge){.count = (uint64_t)rate,
                           .cycles = scaled(cycles, rate),
                           .events = (double)rate};
}

/* ---- recording ---- */

static inline enum bucket_kind
bucket_kind_of(enum prof_contention kind)
{
    return kind == PROF_BLOCK ? KIND_BLOCK : KIND_MUTEX;
}

static double
double_of(uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Add to a count that is a double. A row starts as zero bits, which is 0.0. */
static void
add_events(shared_u64 *count, double events)
{
    uint64_t seen = load_relaxed(count);
    uint64_t bits;

    do {
        const double sum = double_of(seen) + events;

        memcpy(&bits, &sum, sizeof bits);
        /* Relaxed: the count orders nothing else. */
    } while (!cas_relaxed(count, &seen, bits));
}

static inline bool
counts_are_doubles(const struct prof *prof)
{
    return prof->rules.block == PROF_BLOCK_CORRECTED;
}

/* Add a kept event. Not inlined: events left out need no stack frame. */
static __attribute__((noinline)) void
record(struct prof_proc *proc, enum bucket_kind kind, const uintptr_t *stack,
       uint32_t depth, struct charge charge)
{
    struct prof *prof = proc->prof;
    const uint32_t row = prof_table_intern(&prof->table, kind, stack, depth, 0);
    struct wait *wait;

    if (row == 0)
        return;
    wait = &proc->columns.waits[row];
    if (counts_are_doubles(prof))
        add_events(&prof->procs[0].columns.waits[row].count, charge.events);
    else
        add_owned(&wait->count, charge.count);
    add_owned(&wait->cycles, charge.cycles);
}

/*
 * Record a block event or leave it out. Not inlined, like record(), because it
 * needs registers. Its arguments are in the registers in which
 * prof_contention_event() has them, except the one that a multiplication uses.
 *
 * in:      rate, the current one
 */
static __attribute__((noinline)) void
decide_block(struct prof_proc *proc, const uintptr_t *stack, int64_t rate,
             uint32_t depth, int64_t cycles)
{
    const int64_t clamped = cycles < 1 ? 1 : cycles; /* I1 */
    const struct charge charge = block_charge(proc, clamped, rate);

    if (charge.count != 0)
        record(proc, KIND_BLOCK, stack, depth, charge);
}

static __attribute__((noinline)) void
decide_mutex(struct prof_proc *proc, const uintptr_t *stack, int64_t rate,
             uint32_t depth, int64_t cycles)
{
    const int64_t clamped = cycles < 0 ? 0 : cycles; /* I1 */
    const struct charge charge = mutex_charge(proc, clamped, rate);

    if (charge.count != 0)
        record(proc, KIND_MUTEX, stack, depth, charge);
}

/*
 * Does the next random number leave out a block event under EXACT? Most events
 * are left out, and for them this check needs no saved register. It returns
 * true only if the event is certainly left out, and then advances the state.
 * Otherwise the state is unchanged, and block_exact() draws the number again
 * and decides.
 */
static inline bool
is_left_out(struct rng *rng, int64_t cycles, int64_t rate)
{
    struct rng ahead = *rng;
    uint64_t u;

    /* u is below the rate, so events as long as the rate are not left out. */
    if (rate <= 0 ||
        prof_rng_try_below(&ahead, (uint64_t)rate, &u) < (uint64_t)rate ||
        u == 0 || (int64_t)u < cycles) /* u < 1: I1 */
        return false;
    rng->state = ahead.state;
    return true;
}

void
prof_contention_event(struct prof_proc *proc, enum prof_contention kind,
                      const uintptr_t *stack, uint32_t depth, int64_t cycles)
{
    const struct prof *prof = proc->prof;
    int64_t rate;

    /* Relaxed: any rate that was set will do, but only one (I2). */
    if (kind == PROF_BLOCK) {
        rate = (int64_t)load_relaxed(&prof->block_rate_ticks);
        if (prof->rules.block != PROF_BLOCK_EXACT ||
            !is_left_out(&proc->rng, cycles, rate))
            decide_block(proc, stack, rate, depth, cycles);
    } else {
        rate = (int64_t)load_relaxed(&prof->mutex_fraction);
        decide_mutex(proc, stack, rate, depth, cycles);
    }
}

/* ---- rates ---- */

/* Convert ns as Go does: in doubles; what does not fit becomes INT64_MIN. */
static int64_t
ticks_by_double(int64_t ns, uint64_t ticks_per_second)
{
    const double ticks = (double)ns * (double)ticks_per_second / 1e9;

    return ticks >= 0x1p63 ? INT64_MIN : (int64_t)ticks;
}

/* Convert ns to ticks, rounded down; INT64_MAX if the result does not fit. */
static int64_t
ticks_exactly(uint64_t ns, uint64_t ticks_per_second)
{
    const uint64_t second_ns = 1000000000;
    uint64_t ticks;

    if (__builtin_mul_overflow(ns / second_ns, ticks_per_second, &ticks) ||
        __builtin_add_overflow(
            ticks, ns % second_ns * ticks_per_second / second_ns, &ticks) ||
        ticks > INT64_MAX)
        return INT64_MAX;
    return (int64_t)ticks;
}

void
prof_block_rate_set(struct prof *prof, int64_t rate_ns)
{
    int64_t ticks = rate_ns <= 0 ? 0 : 1;

    if (rate_ns > 1) {
        ticks = prof->rules.rate_overflow_is_off
                    ? ticks_by_double(rate_ns, prof->ticks_per_second)
                    : ticks_exactly((uint64_t)rate_ns, prof->ticks_per_second);
        if (ticks == 0)
            ticks = 1;
    }
    /* Relaxed: an event meets the old rate or the new one. */
    store_relaxed(&prof->block_rate_ticks, (uint64_t)ticks);
}

int64_t
prof_block_rate_ticks(const struct prof *prof)
{
    return (int64_t)load_relaxed(&prof->block_rate_ticks);
}

/* The fraction that prof->mutex_fraction holds; if profiling is off, the last
 * one. */
static uint64_t
fraction_kept(uint64_t word)
{
    return (int64_t)word < 0 ? 0 - word : word;
}

int64_t
prof_mutex_fraction_set(struct prof *prof, int64_t fraction)
{
    /* Relaxed, both: as in prof_block_rate_set(). */
    uint64_t seen = load_relaxed(&prof->mutex_fraction);
    uint64_t word;

    do
        word = fraction > 0 ? (uint64_t)fraction : 0 - fraction_kept(seen);
    while (fraction >= 0 && !cas_relaxed(&prof->mutex_fraction, &seen, word));
    return (int64_t)seen > 0 ? (int64_t)seen : 0;
}

uint64_t
prof_mutex_period(const struct prof *prof)
{
    if (prof->rules.mutex != PROF_MUTEX_UNSCALED)
        return 1;
    return fraction_kept(load_relaxed(&prof->mutex_fraction));
}

int64_t
prof_mutex_cycles(const struct prof *prof, int64_t first_cycles,
                  int64_t last_cycles, uint32_t others)
{
    const int64_t first = first_cycles < 0 ? 0 : first_cycles;
    const int64_t last = last_cycles < 0 ? 0 : last_cycles;
    int64_t sum;

    if (prof->rules.waiters == PROF_WAITERS_FIRST)
        return first_cycles;
    if (__builtin_mul_overflow(first / 2 + last / 2 + (first & last & 1),
                               (int64_t)others, &sum) ||
        __builtin_add_overflow(sum, first, &sum))
        return INT64_MAX;
    return sum;
}

/* ---- reading ---- */

/* A row's bucket; entry is NULL if it is not of this kind. */
static struct bucket
contention_bucket(const struct prof *prof, enum prof_contention kind,
                  uint32_t row)
{
    struct bucket bucket = prof_table_bucket(&prof->table, row);

    if (bucket.entry != NULL && bucket.entry->kind != bucket_kind_of(kind))
        bucket.entry = NULL;
    return bucket;
}

/* The sum over all processors. */
static struct prof_contention_record
sum_of_waits(const struct prof *prof, uint32_t row)
{
    struct prof_contention_record sum = {0};

    for (uint32_t i = 0; i < prof->procs_count; i++) {
        const struct wait *wait = &prof->procs[i].columns.waits[row];

        sum.count += load_relaxed(&wait->count);
        sum.cycles += load_relaxed(&wait->cycles);
    }
    return sum;
}

/* The count that a snapshot shows: a double is cut to an integer, and for a
 * block event is at least 1. */
static uint64_t
shown_count(const struct prof *prof, enum prof_contention kind, uint64_t bits)
{
    double events;
    uint64_t count;

    if (!counts_are_doubles(prof))
        return bits;
    events = double_of(bits);
    if (events >= 0x1p63)
        return UINT64_C(1) << 63; /* as Go's conversion does on amd64 */
    count = (uint64_t)events;
    return count == 0 && kind == PROF_BLOCK ? 1 : count;
}

enum prof_status
prof_contention_snapshot(struct prof *prof, enum prof_contention kind,
                         struct prof_contention_record *records,
                         size_t records_max, size_t *count)
{
    const uint32_t rows = prof_table_rows(&prof->table);
    size_t listed = 0;

    *count = 0;
    if (rows > records_max) { /* else there is room for whatever there is */
        for (uint32_t row = rows; row > 0; row--)
            *count += contention_bucket(prof, kind, row).entry != NULL;
    }
    if (*count > records_max)
        return PROF_ERR_SHORT;
    for (uint32_t row = rows; row > 0; row--) {
        const struct bucket bucket = contention_bucket(prof, kind, row);

        if (bucket.entry == NULL)
            continue;
        if (++listed > records_max)
            continue; /* a bucket that was added after the count above */
        records[listed - 1] = sum_of_waits(prof, row);
        records[listed - 1].count =
            shown_count(prof, kind, records[listed - 1].count);
        records[listed - 1].stack = bucket.frames;
        records[listed - 1].depth = bucket.entry->depth;
    }
    *count = listed;
    return listed > records_max ? PROF_ERR_SHORT : PROF_OK;
}
