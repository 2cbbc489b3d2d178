/*
 * choice.c -- the choice list and its back ends.
 *
 *      list:  [b3 v1] [b2 v0] [b5 v4] ...        b = bound, v = answer
 *
 * Invariants
 *   I1  list[i].value < list[i].bound, and list[i].bound >= 2.
 *   I2  the list holds every answer of the run, except those to bounds of 1:
 *       replaying its values (SIM_REPLAY) gives the same run.
 *   I3  ODOMETER: list[0..fixed_count) is copied from the previous run's list;
 *       only its last value differs from that run's.
 */
#include "common/choice.h"

#include <assert.h>
#include <string.h>

static void
begin(struct sim_choices *choices, enum sim_backend backend)
{
    choices->backend = backend;
    choices->fraction_outcomes = UINT64_MAX; /* none is left */
    choices->given = NULL;
    choices->bytes = NULL;
    choices->given_count = 0;
    choices->given_used = 0;
    choices->count = 0;
    choices->fixed_count = 0;
    choices->overflowed = false;
    choices->misaligned = false;
    choices->drawn_max = backend == SIM_RANDOM ? choices->count_max : 0;
}

void
sim_choices_init(struct sim_choices *choices, struct sim_choice *list,
                 uint32_t list_max)
{
    memset(choices, 0, sizeof *choices);
    choices->list = list;
    choices->count_max = list_max;
    begin(choices, SIM_RANDOM);
}

void
sim_choices_random(struct sim_choices *choices, uint64_t seed)
{
    begin(choices, SIM_RANDOM);
    choices->rng.state = sim_mix64(seed);
}

void
sim_choices_replay(struct sim_choices *choices, const uint32_t *values,
                   uint32_t values_count)
{
    begin(choices, SIM_REPLAY);
    choices->given = values;
    choices->given_count = values_count;
}

void
sim_choices_prefix(struct sim_choices *choices, const uint32_t *values,
                   uint32_t values_count, uint64_t seed)
{
    begin(choices, SIM_PREFIX);
    choices->given = values;
    choices->given_count = values_count;
    choices->rng.state = sim_mix64(seed);
}

void
sim_choices_bytes(struct sim_choices *choices, const uint8_t *bytes,
                  uint32_t bytes_count)
{
    begin(choices, SIM_BYTES);
    choices->bytes = bytes;
    choices->given_count = bytes_count;
}

void
sim_choices_odometer(struct sim_choices *choices)
{
    begin(choices, SIM_ODOMETER);
    choices->nondeterministic = false;
}

void
sim_choices_carry(struct sim_choices *choices, uint32_t count)
{
    begin(choices, SIM_ODOMETER);
    choices->fixed_count = count;
}

bool
sim_choices_next(struct sim_choices *choices)
{
    /* A run that ended early has a shorter list, so this skips what it cut. */
    uint32_t count = choices->count;

    assert(choices->backend == SIM_ODOMETER);
    while (count > 0) {
        struct sim_choice *last = &choices->list[count - 1];

        if (last->value + 1 < last->bound) {
            last->value++;
            begin(choices, SIM_ODOMETER);
            choices->fixed_count = count;
            return true;
        }
        count--;
    }
    return false;
}

static uint32_t
next_byte(struct sim_choices *choices)
{
    if (choices->given_used == choices->given_count)
        return 0;
    return choices->bytes[choices->given_used++];
}

/* Take as few bytes as the bound needs, so that mutations stay local. */
static uint32_t
from_bytes(struct sim_choices *choices, uint32_t bound)
{
    uint32_t value = next_byte(choices);

    if (bound > 1U << 8)
        value |= next_byte(choices) << 8;
    if (bound > 1U << 16)
        value |= next_byte(choices) << 16;
    if (bound > 1U << 24)
        value |= next_byte(choices) << 24;
    return value % bound;
}

void
sim_choices_refuse(struct sim_choices *choices, uint32_t index)
{
    if (!choices->misaligned)
        choices->misaligned_at = index;
    choices->misaligned = true;
}

static uint32_t
from_given(struct sim_choices *choices, uint32_t bound)
{
    const uint32_t value = choices->given[choices->given_used++];

    if (value < bound)
        return value;
    sim_choices_refuse(choices, choices->count);
    return bound - 1;
}

/* The carried answer, after a check that the question is the same (I3). */
static uint32_t
from_odometer(struct sim_choices *choices, uint32_t bound, enum sim_kind kind,
              uint16_t label)
{
    const uint32_t index = choices->count;
    const struct sim_choice *carried;

    if (index >= choices->fixed_count)
        return 0;
    carried = &choices->list[index];
    if (carried->bound == bound && carried->kind == (uint16_t)kind &&
        carried->label == label)
        return carried->value;
    if (!choices->nondeterministic)
        choices->first_difference = index;
    choices->nondeterministic = true;
    return 0;
}

static void
record(struct sim_choices *choices, uint32_t bound, enum sim_kind kind,
       uint16_t label, uint32_t value)
{
    choices->list[choices->count++] = (struct sim_choice){
        .bound = bound,
        .value = value,
        .kind = (uint16_t)kind,
        .label = label,
    };
}

uint32_t
sim_choose_guided(struct sim_choices *choices, uint32_t bound,
                  enum sim_kind kind, uint16_t label, uint32_t wish)
{
    uint32_t value = 0;

    assert(bound > 0);
    if (bound == 1)
        return 0;
    if (choices->count == choices->count_max) {
        choices->overflowed = true;
        return 0;
    }
    switch (choices->backend) {
    case SIM_RANDOM:
        value = wish;
        break;
    case SIM_REPLAY:
        if (choices->given_used < choices->given_count)
            value = from_given(choices, bound);
        break;
    case SIM_PREFIX:
        value = choices->given_used < choices->given_count
                    ? from_given(choices, bound)
                    : wish;
        break;
    case SIM_BYTES:
        value = from_bytes(choices, bound);
        break;
    case SIM_ODOMETER:
        value = from_odometer(choices, bound, kind, label);
        break;
    }
    record(choices, bound, kind, label, value);
    return value;
}

void
sim_choices_refresh_apart(struct sim_choices *choices)
{
    sim_choices_refresh(choices);
}

uint32_t
sim_choices_wish(struct sim_choices *choices, uint32_t bound)
{
    if (choices->backend == SIM_RANDOM || choices->backend == SIM_PREFIX)
        return sim_choices_draw(choices, bound);
    return 0;
}

uint32_t
sim_choose_otherwise(struct sim_choices *choices, uint32_t bound,
                     enum sim_kind kind, uint16_t label)
{
    return sim_choose_guided(choices, bound, kind, label,
                             sim_choices_wish(choices, bound));
}

uint64_t
sim_choices_hash(const struct sim_choices *choices)
{
    uint64_t hash = 0;

    for (uint32_t i = 0; i < choices->count; i++) {
        const struct sim_choice *c = &choices->list[i];

        hash = sim_mix64(hash ^ c->value ^ (uint64_t)c->bound << 32);
        hash = sim_mix64(hash ^ c->kind ^ (uint64_t)c->label << 16);
    }
    return hash;
}
