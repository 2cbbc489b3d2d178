/*
 * slice.c -- the events that a failure can depend on.
 *
 * It goes backwards from the failure, and keeps the earlier events of the
 * failing thread. For each event kept it also keeps those that the event
 * depends on, with everything that their threads did before them: the store
 * that was read, the newer store that was not, the previous operation on the
 * lock, the creation of the thread, the end of a joined thread. Events at a
 * location that only one thread touches, or that no thread writes, are the same
 * in every run, and are left out.
 */
#include "explore/engine/engine.h"

#include <string.h>

struct slice {
    const struct trace_event *trace;
    uint32_t count;
    uint32_t until[SIM_THREADS_MAX]; /* events of a thread below this index */
    bool grew;
    bool stuck; /* deadlock: a lock that a thread waits for is no event */
};

static bool
writes(const struct trace_event *v)
{
    return v->op != SIM_OP_LOAD && !(v->op == SIM_OP_CAS && !v->ok);
}

/* A lock, a condition, a word to sleep on, and so on. */
static bool
is_lock(const struct trace_event *v)
{
    return v->address != 0 && v->op != SIM_OP_LOAD && v->op != SIM_OP_STORE &&
           v->op != SIM_OP_RMW && v->op != SIM_OP_CAS;
}

/* Could another thread's events change what this one does? */
static bool
is_shared(const struct slice *s, uint32_t index)
{
    const struct trace_event *v = &s->trace[index];
    bool written = false;
    bool others = false;

    if (v->address == 0 || (s->stuck && is_lock(v)))
        return true;
    for (uint32_t i = 0; i < s->count && !(written && others); i++) {
        if (s->trace[i].address != v->address)
            continue;
        written |= writes(&s->trace[i]);
        others |= s->trace[i].thread != v->thread;
    }
    return written && others;
}

static void
need(struct slice *s, uint32_t index)
{
    const uint32_t thread = index < s->count ? s->trace[index].thread : 0;

    if (index >= s->count || s->until[thread] > index)
        return;
    s->until[thread] = index + 1;
    s->grew = true;
}

/* The event's thread needs its creation, if that is in the trace. */
static void
need_creation(struct slice *s, uint32_t thread)
{
    for (uint32_t i = 0; i < s->count; i++) {
        if (s->trace[i].op == SIM_OP_THREAD && s->trace[i].value == thread &&
            s->trace[i].thread != thread)
            need(s, i);
    }
}

/* A join depends on everything that the joined thread did. */
static void
need_joined(struct slice *s, uint32_t index)
{
    const struct trace_event *v = &s->trace[index];

    for (uint32_t i = index; i-- > 0;) {
        if (s->trace[i].thread == v->value) {
            need(s, i);
            return;
        }
    }
}

static void
need_before(struct slice *s, uint32_t index)
{
    const struct trace_event *v = &s->trace[index];

    if (v->op == SIM_OP_THREAD && strcmp(v->what, "join") == 0)
        need_joined(s, index);
    need(s, v->from);
    need(s, v->before);
    if (v->behind > 0)
        need(s, v->newest);
    if (!is_lock(v))
        return;
    for (uint32_t i = index; i-- > 0;) {
        if (s->trace[i].address == v->address) {
            need(s, i);
            return;
        }
    }
}

/* Which threads' last events matter? */
static void
begin(struct slice *s, const struct sim_failure *failure)
{
    const bool all = s->stuck || failure->site == 0 ||
                     failure->other_site != 0 || failure->kind == SIM_FAIL_RACE;

    for (uint32_t i = 0; i < s->count; i++) {
        if (all || s->trace[i].thread == failure->thread)
            need(s, i);
    }
}

/* out: runs, the events needed, with those before them in their threads */
static uint32_t
find_needed(const struct trace_event *trace, uint32_t count,
            const struct sim_failure *failure, bool *needed, bool *runs)
{
    struct slice s = {.trace = trace,
                      .count = count,
                      .stuck = failure->kind == SIM_FAIL_DEADLOCK ||
                               failure->kind == SIM_FAIL_LIVELOCK};
    uint32_t kept = 0;

    begin(&s, failure);
    do {
        s.grew = false;
        for (uint32_t t = 0; t < SIM_THREADS_MAX; t++) {
            if (s.until[t] > 0)
                need_creation(&s, t);
        }
        for (uint32_t i = 0; i < count; i++) {
            if (i < s.until[trace[i].thread] && is_shared(&s, i))
                need_before(&s, i);
        }
    } while (s.grew);
    for (uint32_t i = 0; i < count; i++) {
        runs[i] = i < s.until[trace[i].thread];
        needed[i] = runs[i] && is_shared(&s, i);
        kept += needed[i];
    }
    return kept;
}

/* Does a run of those events alone fail in the same way? */
static bool
fails(struct engine *e, const struct trace_event *trace, uint32_t count,
      const bool *runs, const struct sim_failure *failure,
      struct sim_choices *choices)
{
    static struct trace_event events[TRACE_MAX];
    const bool reduced = e->options.reduced;
    struct sim_run run;

    sim_choices_replay(choices, NULL, 0);
    e->options.reduced = false;
    e->trace = events;
    sim_script_begin(e, trace, count, runs, failure->thread);
    sim_engine_run(e, choices, &run);
    sim_script_end(e);
    e->trace = NULL;
    e->options.reduced = reduced;
    return run.end == SIM_END_FAILED && run.failure.kind == failure->kind &&
           run.failure.site == failure->site &&
           strcmp(run.failure.text, failure->text) == 0;
}

uint32_t
sim_slice(struct engine *e, const struct trace_event *trace, uint32_t count,
          const struct sim_failure *failure, struct sim_choices *choices,
          bool *needed)
{
    static bool runs[TRACE_MAX];
    const uint32_t kept = find_needed(trace, count, failure, needed, runs);

    if (kept == count || fails(e, trace, count, runs, failure, choices))
        return kept;
    memset(needed, true, count * sizeof *needed);
    return count;
}
