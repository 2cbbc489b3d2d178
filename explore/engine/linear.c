/*
 * linear.c -- the search of linear.h.
 *
 *      entries, by time:   call0 call1 return0 call2 return1 return2
 *
 * An entry is a call or a return. The search walks from the front: each call it
 * meets may be linearized next. The return of an operation that is not yet
 * linearized ends the walk, because everything behind it comes later in every
 * linearization.
 */
#include "explore/engine/linear.h"

#include <stdlib.h>
#include <string.h>

#include "explore/engine/explore.h"
#include "common/rng.h"
#include "explore/search/visited.h"

struct entry {
    uint32_t operation;
    bool is_return;
    uint64_t time;
    uint32_t previous; /* list of what is left; entry 0 is the head */
    uint32_t next;
};

struct frame {
    uint32_t entry;                        /* the call linearized here */
    uint8_t state[SIM_LINEAR_STATE_BYTES]; /* before it */
};

struct search {
    const struct sim_linear_model *model;
    const struct sim_operation *operations[SIM_HISTORY_MAX];
    uint32_t must; /* operations that returned */
    uint64_t done; /* a bit per linearized operation */
    uint32_t done_must;
    struct entry entries[2 * SIM_HISTORY_MAX + 1];
    uint32_t entries_count;
    uint32_t return_of[SIM_HISTORY_MAX]; /* entry; 0: pending */
    uint8_t state[SIM_LINEAR_STATE_BYTES];
    struct frame stack[SIM_HISTORY_MAX];
    uint32_t depth;
    struct sim_visited tried;
};

void
sim_history_init(struct sim_history *history)
{
    history->count = 0;
    history->overflowed = false;
}

uint32_t
sim_history_call(struct sim_history *history, uint32_t kind, uint64_t key,
                 uint64_t argument)
{
    const uint64_t time = sim_explore_mark();
    const uint32_t number = history->count;

    if (number == SIM_HISTORY_MAX) {
        history->overflowed = true;
        return number;
    }
    history->count++;
    history->operations[number] = (struct sim_operation){
        .thread = sim_explore_thread(),
        .kind = kind,
        .key = key,
        .argument = argument,
        .call_time = time,
        .return_time = UINT64_MAX,
        .pending = true,
    };
    return number;
}

void
sim_history_return(struct sim_history *history, uint32_t operation,
                   uint64_t result)
{
    const uint64_t time = sim_explore_mark();
    struct sim_operation *o;

    if (operation == SIM_HISTORY_MAX)
        return;
    o = &history->operations[operation];
    o->result = result;
    o->return_time = time;
    o->pending = false;
}

/* ---- The list ---- */

/* Insert by time; a call before a return of the same time. */
static void
entry_add(struct search *s, uint32_t operation, bool is_return, uint64_t time)
{
    uint32_t at = ++s->entries_count;

    /* The head, of time 0 and no return, ends this. */
    while (s->entries[at - 1].time > time ||
           (s->entries[at - 1].time == time && s->entries[at - 1].is_return &&
            !is_return)) {
        s->entries[at] = s->entries[at - 1];
        at--;
    }
    s->entries[at] = (struct entry){
        .operation = operation, .is_return = is_return, .time = time};
}

static void
entries_link(struct search *s)
{
    for (uint32_t i = 0; i <= s->entries_count; i++) {
        s->entries[i].previous = i == 0 ? s->entries_count : i - 1;
        s->entries[i].next = i == s->entries_count ? 0 : i + 1;
        if (s->entries[i].is_return)
            s->return_of[s->entries[i].operation] = i;
    }
}

static void
lift(struct search *s, uint32_t i)
{
    s->entries[s->entries[i].previous].next = s->entries[i].next;
    s->entries[s->entries[i].next].previous = s->entries[i].previous;
}

static void
unlift(struct search *s, uint32_t i)
{
    s->entries[s->entries[i].previous].next = i;
    s->entries[s->entries[i].next].previous = i;
}

/* ---- The search ---- */

/* returns: true if this set of operations with this state is new */
static bool
remember(struct search *s, uint64_t done, const uint8_t *state)
{
    uint64_t key[2] = {done, done}; /* one half is the set, one a hash */

    for (size_t i = 0; i < s->model->state_bytes; i++)
        key[0] = sim_mix64(key[0] ^ state[i]);
    return !sim_visited_insert(&s->tried, key);
}

static bool
linearize(struct search *s, uint32_t call)
{
    const uint32_t operation = s->entries[call].operation;
    struct frame *frame = &s->stack[s->depth];
    const uint64_t done = s->done | (uint64_t)1 << operation;

    frame->entry = call;
    memcpy(frame->state, s->state, s->model->state_bytes);
    if (!s->model->step(s->state, s->operations[operation]) ||
        !remember(s, done, s->state)) {
        memcpy(s->state, frame->state, s->model->state_bytes);
        return false;
    }
    s->done = done;
    s->done_must += !s->operations[operation]->pending;
    s->depth++;
    lift(s, call);
    if (s->return_of[operation] != 0)
        lift(s, s->return_of[operation]);
    return true;
}

/* Undo the last linearized operation. returns: the entry to continue with */
static uint32_t
back(struct search *s)
{
    const struct frame *frame = &s->stack[--s->depth];
    const uint32_t operation = s->entries[frame->entry].operation;

    if (s->return_of[operation] != 0)
        unlift(s, s->return_of[operation]);
    unlift(s, frame->entry);
    s->done &= ~((uint64_t)1 << operation);
    s->done_must -= !s->operations[operation]->pending;
    memcpy(s->state, frame->state, s->model->state_bytes);
    return s->entries[frame->entry].next;
}

static bool
search(struct search *s)
{
    uint32_t at = s->entries[0].next;

    while (s->done_must < s->must) {
        if (at != 0 && !s->entries[at].is_return) {
            at = linearize(s, at) ? s->entries[0].next : s->entries[at].next;
            continue;
        }
        if (s->depth == 0)
            return false;
        at = back(s);
    }
    return true;
}

bool
sim_linear_check(const struct sim_linear_model *model,
                 const struct sim_history *history)
{
    static struct search s;
    bool ok;

    if (model->state_bytes > SIM_LINEAR_STATE_BYTES)
        abort();
    memset(&s, 0, sizeof s);
    s.model = model;
    for (uint32_t i = 0; i < history->count; i++) {
        const struct sim_operation *o = &history->operations[i];

        s.operations[i] = o;
        entry_add(&s, i, false, o->call_time);
        if (!o->pending) {
            entry_add(&s, i, true, o->return_time);
            s.must++;
        }
    }
    entries_link(&s);
    sim_visited_init(&s.tried, UINT64_MAX);
    ok = search(&s);
    sim_visited_close(&s.tried);
    return ok;
}
