/*
 * contention.c -- the oracle of contention.h, from docs/sampling.md.
 *
 *   go1.5, go1.10  an event of c ticks, below the rate R, is kept if the random
 *                  number modulo R is at most c; it counts once, with c ticks
 *   go1.17         kept likewise; a kept event counts R/c times, with R ticks
 *   exact          the random number is 0 .. R-1, all equally likely; 0 .. c-1
 *                  keep the event, with R ticks. The counts of these c numbers
 *                  add up to R, and differ by at most 1
 */
#include "model/heap/contention.h"

#include "model/model_assert.h"

__extension__ typedef unsigned __int128 u128;

#define TWO_64 ((u128)1 << 64)

/* ---- generators ---- */

static uint64_t
scramble(uint64_t z)
{
    z ^= z >> 30;
    z *= 0xbf58476d1ce4e5b9U;
    z ^= z >> 27;
    z *= 0x94d049bb133111ebU;
    return z ^ z >> 31;
}

uint64_t
model_seeded(enum model_era era, uint64_t seed)
{
    const uint64_t state = scramble(seed + 0x9e3779b97f4a7c15U);

    if (era == MODEL_GO_1_5)
        return state % 0x80000000U == 0 ? 1 : state % 0x80000000U;
    return era != MODEL_EXACT && state == 0 ? 1 : state;
}

/* Multiply by x in GF(2)[x], modulo a polynomial of degree 31. */
static uint64_t
draw_31(uint64_t *state)
{
    const uint64_t twice = *state * 2;

    *state = *state < 0x40000000U ? twice : twice ^ 0x88888eefU;
    return *state;
}

static uint64_t
draw_32(uint64_t *state)
{
    const uint64_t mask = 0xffffffffU;
    const uint64_t kept = *state >> 32;
    uint64_t x = *state & mask;

    x = (x ^ x << 17) & mask;
    x = x ^ (x >> 7) ^ kept ^ (kept >> 16);
    *state = x << 32 | kept;
    return (x + kept) & mask;
}

uint64_t
model_draw(enum model_era era, uint64_t *state)
{
    if (era == MODEL_GO_1_5)
        return draw_31(state);
    if (era != MODEL_EXACT)
        return draw_32(state);
    *state += 0x9e3779b97f4a7c15U;
    return scramble(*state);
}

/* ---- rates ---- */

void
model_contention_reset(struct model_contention *model, enum model_era era,
                       uint64_t seed, uint64_t ticks_per_second)
{
    *model = (struct model_contention){
        .era = era,
        .block_rate_ticks = 1,
        .mutex_fraction = 1,
        .ticks_per_second = ticks_per_second,
    };
    for (uint32_t i = 0; i < MODEL_PROCS_MAX; i++)
        model->states[i] =
            model_seeded(era, seed + (uint64_t)i * 0xd1342543de82ef95U);
}

static void
note_rate(struct model_contention *model, int64_t rate)
{
    model->sampled |= rate > 1;
    model->changed |= model->any;
}

/* A rate above 1, in ticks; not less than 1. */
static int64_t
ticks_of(const struct model_contention *model, int64_t rate_ns)
{
    if (model->era == MODEL_EXACT) {
        const u128 ticks = (u128)rate_ns * model->ticks_per_second / 1000000000;

        if (ticks > INT64_MAX)
            return INT64_MAX;
        return ticks == 0 ? 1 : (int64_t)ticks;
    } else {
        const double ticks =
            (double)rate_ns * (double)model->ticks_per_second / 1e9;

        if (ticks >= 9223372036854775808.0)
            return INT64_MIN;
        return ticks < 1 ? 1 : (int64_t)ticks;
    }
}

void
model_contention_block_rate(struct model_contention *model, int64_t rate_ns)
{
    if (rate_ns > 1)
        model->block_rate_ticks = ticks_of(model, rate_ns);
    else
        model->block_rate_ticks = rate_ns == 1;
    note_rate(model, model->block_rate_ticks);
}

void
model_contention_mutex_fraction(struct model_contention *model,
                                int64_t fraction)
{
    if (fraction < 0)
        return;
    model->mutex_fraction = fraction;
    note_rate(model, fraction);
}

/* ---- events ---- */

static struct model_charge
once(int64_t cycles)
{
    return (struct model_charge){
        .kept = true, .count = 1, .events = 1.0, .cycles = (uint64_t)cycles};
}

bool
model_draw_below(uint64_t *state, uint64_t limit, uint64_t *value)
{
    for (int i = 0; i < 64; i++) {
        const u128 product = (u128)model_draw(MODEL_EXACT, state) * limit;

        *value = (uint64_t)(product / TWO_64);
        if (product % TWO_64 >= TWO_64 % limit)
            return true;
    }
    return false;
}

static struct model_charge
block_exactly(uint64_t *state, uint64_t cycles, uint64_t rate)
{
    struct model_charge charge = {.kept = true, .cycles = rate};
    uint64_t residue;

    if (!model_draw_below(state, rate, &residue))
        return once((int64_t)cycles);
    if (residue >= cycles)
        return (struct model_charge){0};
    /* How many of the numbers residue, residue + cycles, ... are below rate. */
    charge.count = (rate - residue + cycles - 1) / cycles;
    return charge;
}

struct model_charge
model_contention_block(struct model_contention *model, uint32_t proc,
                       int64_t cycles)
{
    const int64_t rate = model->block_rate_ticks;
    uint64_t *state = &model->states[proc];
    struct model_charge charge;

    MODEL_ASSERT(proc < MODEL_PROCS_MAX);
    model->any = true;
    if (cycles <= 0)
        cycles = 1;
    if (rate <= 0)
        return (struct model_charge){0};
    if (rate <= cycles)
        return once(cycles);
    if (model->era == MODEL_EXACT)
        return block_exactly(state, (uint64_t)cycles, (uint64_t)rate);
    if ((int64_t)(model_draw(model->era, state) % (uint64_t)rate) > cycles)
        return (struct model_charge){0};
    charge = once(cycles);
    if (model->era == MODEL_GO_1_17) {
        charge.events = (double)rate / (double)cycles;
        charge.cycles = (uint64_t)rate;
    }
    return charge;
}

struct model_charge
model_contention_mutex(struct model_contention *model, uint32_t proc,
                       int64_t cycles)
{
    const int64_t fraction = model->mutex_fraction;
    uint64_t *state = &model->states[proc];
    struct model_charge charge;
    uint64_t residue;

    MODEL_ASSERT(proc < MODEL_PROCS_MAX);
    model->any = true;
    if (cycles < 0)
        cycles = 0;
    if (model->era == MODEL_GO_1_5) {
        model->no_mutex++;
        return (struct model_charge){0};
    }
    if (fraction <= 0)
        return (struct model_charge){0};
    charge = once(cycles);
    if (model->era != MODEL_EXACT) {
        charge.kept = model_draw(model->era, state) % (uint64_t)fraction == 0;
        return charge;
    }
    if (fraction == 1 || !model_draw_below(state, (uint64_t)fraction, &residue))
        return charge;
    charge.kept = residue == 0;
    charge.count = (uint64_t)fraction;
    charge.cycles = (u128)fraction * (u128)cycles > INT64_MAX
                        ? INT64_MAX
                        : (uint64_t)fraction * (uint64_t)cycles;
    return charge;
}

uint64_t
model_contention_count(const struct model_contention *model, bool block,
                       const struct model_charge *charge, uint64_t count,
                       double *events)
{
    if (model->era != MODEL_GO_1_17)
        return count + charge->count;
    *events += charge->events;
    if (*events >= 9223372036854775808.0)
        return UINT64_C(1) << 63;
    count = (uint64_t)*events;
    return count == 0 && block ? 1 : count;
}
