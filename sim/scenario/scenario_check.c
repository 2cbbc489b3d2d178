/*
 * scenario_check.c -- compares a result with its `expect` lines.
 *
 * A stack is compared as the library must store it: its leaf frames, up to the
 * configured depth.
 */
#include "sim/scenario/scenario.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "sim/scenario/scenario_store.h"

struct check {
    const struct sim_scenario *s;
    const struct sim_answer *answer;
    const struct sim_expect *expect;
    struct sim_error *error;
};

static bool __attribute__((format(printf, 2, 3)))
differs(const struct check *c, const char *format, ...)
{
    char *text = c->error->text;
    const size_t room = sizeof c->error->text;
    va_list arguments;
    int used;

    used = snprintf(text, room, "%.120s:%" PRIu32 ": ", c->s->name,
                    c->expect->line);
    va_start(arguments, format);
    (void)vsnprintf(text + used, room - (size_t)used, format, arguments);
    va_end(arguments);
    return false;
}

static bool
is_contention(const struct check *c)
{
    return c->answer->kind == SIM_EV_BLOCK_SNAPSHOT ||
           c->answer->kind == SIM_EV_MUTEX_SNAPSHOT;
}

static bool
same_stack(const struct check *c, uint32_t stack, const uintptr_t *frames,
           uint32_t depth)
{
    const struct truth_stack *known = &c->s->stacks[stack];
    const uint32_t kept = known->depth < c->s->config.depth_max
                              ? known->depth
                              : c->s->config.depth_max;

    return depth == kept && (depth == 0 || memcmp(frames, known->frames,
                                                  depth * sizeof *frames) == 0);
}

/* Is bucket `at` of the listing one with this stack (and size)? */
static bool
is_bucket(const struct check *c, size_t at, uint32_t stack, uint64_t size_bytes)
{
    if (is_contention(c)) {
        const struct prof_contention_record *r = &c->answer->contention[at];

        return same_stack(c, stack, r->stack, r->depth);
    }
    return c->answer->heap[at].size_bytes == size_bytes &&
           same_stack(c, stack, c->answer->heap[at].stack,
                      c->answer->heap[at].depth);
}

/* The one bucket of the listing that the expectation is about. */
static bool
find_bucket(const struct check *c, size_t *at)
{
    const struct sim_expect *e = c->expect;
    const char *name = c->s->stack_names[e->stack];
    size_t found = 0;

    for (size_t i = 0; i < c->answer->count; i++) {
        if (is_bucket(c, i, e->stack, e->size_bytes)) {
            *at = i;
            found++;
        }
    }
    if (found == 1)
        return true;
    if (is_contention(c))
        return differs(c, "expected %s listed once, found it %zu times", name,
                       found);
    return differs(
        c, "expected %s of %" PRIu64 " bytes listed once, found it %zu times",
        name, e->size_bytes, found);
}

static bool
check_heap(const struct check *c)
{
    const struct sim_expect *e = c->expect;
    const struct prof_heap_record *r;
    size_t at = 0;

    if (!find_bucket(c, &at))
        return false;
    r = &c->answer->heap[at];
    if (r->allocs == e->first && r->frees == e->second)
        return true;
    return differs(c,
                   "expected %s %" PRIu64 " %" PRIu64 "/%" PRIu64
                   ", found %" PRIu64 "/%" PRIu64,
                   c->s->stack_names[e->stack], e->size_bytes, e->first,
                   e->second, r->allocs, r->frees);
}

static bool
check_contention(const struct check *c)
{
    const struct sim_expect *e = c->expect;
    const struct prof_contention_record *r;
    size_t at = 0;

    if (!find_bucket(c, &at))
        return false;
    r = &c->answer->contention[at];
    if (r->count == e->first && r->cycles == e->second)
        return true;
    return differs(c,
                   "expected %s %" PRIu64 " events %" PRIu64
                   " cycles, found %" PRIu64 " events %" PRIu64 " cycles",
                   c->s->stack_names[e->stack], e->first, e->second, r->count,
                   r->cycles);
}

static bool
check_order(const struct check *c)
{
    const struct sim_expect *e = c->expect;

    if (c->answer->count != e->second)
        return differs(c, "expected %" PRIu64 " listed, found %zu", e->second,
                       c->answer->count);
    for (size_t i = 0; i < c->answer->count; i++) {
        const struct sim_listed *listed = &c->s->listed[e->first + i];

        if (!is_bucket(c, i, listed->stack, listed->size_bytes))
            return differs(c, "expected %s in place %zu, found another bucket",
                           c->s->stack_names[listed->stack], i + 1);
    }
    return true;
}

static bool
check_one(const struct check *c)
{
    const size_t count = c->answer->count;
    const enum prof_status status = c->answer->status;

    switch (c->expect->kind) {
    case SIM_EXPECT_COUNT:
        return count == c->expect->first
                   ? true
                   : differs(c, "expected count %" PRIu64 ", found %zu",
                             c->expect->first, count);
    case SIM_EXPECT_SHORT:
        return status == PROF_ERR_SHORT
                   ? true
                   : differs(c, "expected a buffer too short, found '%s'",
                             prof_status_text(status));
    case SIM_EXPECT_NOTHING:
    case SIM_EXPECT_HEAP:
    case SIM_EXPECT_CONTENTION:
    case SIM_EXPECT_ORDER:
        break;
    }
    if (status != PROF_OK)
        return differs(c, "expected a listing, found '%s'",
                       prof_status_text(status));
    if (c->expect->kind == SIM_EXPECT_HEAP)
        return check_heap(c);
    if (c->expect->kind == SIM_EXPECT_CONTENTION)
        return check_contention(c);
    if (c->expect->kind == SIM_EXPECT_ORDER)
        return check_order(c);
    return count == 0 ? true
                      : differs(c, "expected nothing, found %zu listed", count);
}

/* The first expectation of an event or a later one; they are sorted (I4). */
static uint32_t
expects_from(const struct sim_scenario *scenario, uint32_t event)
{
    uint32_t low = 0;
    uint32_t high = scenario->expects_count;

    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;

        if (scenario->expects[middle].event < event)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool
sim_scenario_check_answer(const struct sim_scenario *scenario, uint32_t event,
                          const struct sim_answer *answer,
                          struct sim_error *error)
{
    struct check c = {.s = scenario, .answer = answer, .error = error};

    for (uint32_t i = expects_from(scenario, event);
         i < scenario->expects_count && scenario->expects[i].event == event;
         i++) {
        c.expect = &scenario->expects[i];
        if (answer->kind != scenario->events[event].kind)
            return differs(&c, "expected an answer to '%s', found none",
                           sim_event_word(scenario->events[event].kind));
        if (!check_one(&c))
            return false;
    }
    return true;
}
