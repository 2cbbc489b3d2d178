/*
 * report.c -- prints a failure for a human reader.
 *
 * The list is shrunk first. Then the run is traced and drawn, with time going
 * down and one column per thread. For a load that did not return the newest
 * store, the report names both stores. Two measurements show what matters:
 * which choices cannot be set to 0, and how likely the failure is once the
 * first p choices are fixed, for each p.
 */
#include "explore/report/failing_run.h"

#include <stdlib.h>
#include <string.h>

#include "explore/engine/need.h"
#include "common/shrink.h"

enum {
    CHOICES_MAX = 1 << 16,
    COLUMN_WIDTH = 30,
    FEWEST_CALLS_MAX = 200000,
    TRIES_MAX = 4 * CURVE_RUNS,
    SILENT_MS = 100, /* a run that hangs is made again and again */
};

static bool
same_failure(const struct sim_failure *a, const struct sim_failure *b)
{
    return a->kind == b->kind && a->site == b->site &&
           a->other_site == b->other_site && strcmp(a->text, b->text) == 0;
}

static void
replay_begin(struct engine *e, struct replay *replay,
             const struct sim_kernel *kernel,
             const struct sim_exhaust_result *result)
{
    struct sim_run_options options = result->options;

    options.strategy = SIM_STRATEGY_RANDOM;
    if (options.silent_ms == 0)
        options.silent_ms = SILENT_MS;
    replay->result = result;
    replay->curve_count = 0;
    replay->stays = replay->surprises = replay->idle = UINT32_MAX;
    replay->list = sim_need(malloc(CHOICES_MAX * sizeof *replay->list));
    sim_engine_begin(e, kernel, &options);
    sim_choices_init(&replay->choices, replay->list, CHOICES_MAX);
}

static bool
still_fails(void *context, const uint32_t *values, uint32_t count)
{
    struct engine *e = &sim_engine;
    struct replay *r = context;

    if (sim_engine_is_late(e))
        return false;
    sim_choices_replay(&r->choices, values, count);
    sim_engine_run(e, &r->choices, &r->run);
    return r->run.end == SIM_END_FAILED &&
           same_failure(&r->run.failure, &r->result->first_failure.failure);
}

/* Make the run of a list, however little time is left. */
static void
repeat(struct engine *e, struct replay *replay, const uint32_t *values,
       uint32_t count)
{
    const uint64_t end_us = e->end_us;

    e->end_us = 0;
    still_fails(replay, values, count);
    e->end_us = end_us;
}

static uint32_t
surprises(const uint32_t *values, uint32_t count)
{
    uint32_t total = 0;

    for (uint32_t i = 0; i < count; i++)
        total += values[i] != 0;
    return total;
}

/* In how many answers does a thread stay blocked? */
static uint32_t
stays(const struct replay *r)
{
    uint32_t total = 0;

    for (uint32_t i = 0; i < r->choices.count; i++) {
        const struct sim_choice *c = &r->choices.list[i];

        total += sim_report_waits(r->result, c) && c->value + 1 == c->bound;
    }
    return total;
}

/*
 * For the shrinker: as still_fails(), but only for lists that a search could
 * make. It lets a thread stay blocked only in a wait loop, which the run does
 * not show; so no list may do so more often than the one found. And of two
 * lists with equally many surprises, prefer the one whose threads wait for
 * those that come. A wait for any other thread has the same effect, and a lower
 * number, but would name a thread that has nothing to do with the failure.
 */
static bool
fails_as_well(void *context, const uint32_t *values, uint32_t count)
{
    struct engine *e = &sim_engine;
    struct replay *r = context;
    const uint32_t found = surprises(values, count);
    uint32_t stayed;
    uint32_t idle;

    if (!still_fails(r, values, count))
        return false;
    stayed = stays(r);
    idle = sim_answer_idle(e);
    if (stayed > r->stays || (found >= r->surprises && idle > r->idle))
        return false;
    r->stays = stayed;
    r->surprises = found;
    r->idle = idle;
    return true;
}

static void
repeat_result(struct engine *e, struct replay *replay,
              const struct sim_exhaust_result *result)
{
    uint32_t *values =
        sim_need(calloc(result->choices_count + 1, sizeof *values));

    for (uint32_t i = 0; i < result->choices_count; i++)
        values[i] = result->choices[i].value;
    repeat(e, replay, values, result->choices_count);
    free(values);
}

uint64_t
sim_explore_shrink(const struct sim_kernel *kernel,
                   struct sim_exhaust_result *result)
{
    struct engine *e = &sim_engine;
    struct replay replay;
    struct sim_shrink shrink = {.still_fails = fails_as_well,
                                .context = &replay,
                                .ran = &replay.choices};

    /* A list with fewer non-zero answers may be longer than the one found. */
    const uint32_t list_max = result->choices_count * 2 + 64;
    uint64_t calls;

    result->choices =
        sim_need(realloc(result->choices, list_max * sizeof *result->choices));
    replay_begin(e, &replay, kernel, result);
    result->choices_count =
        sim_shrink(&shrink, result->choices, result->choices_count);
    calls = shrink.calls;
    if (!shrink.unstable) {
        result->choices_count =
            sim_shrink_fewest(&shrink, result->choices, result->choices_count,
                              list_max, FEWEST_CALLS_MAX);
        calls = shrink.calls;
        result->fewest_known = shrink.fewest_known;
        result->choices_count =
            sim_shrink(&shrink, result->choices, result->choices_count);
        calls += shrink.calls;
        repeat_result(e, &replay, result);
        result->first_failure = replay.run;
    }
    free(replay.list);
    return calls;
}

/* ---- The diagram ---- */

static void
print_header(struct engine *e, FILE *out, const struct sim_kernel *kernel)
{
    fprintf(out, "\n     ");
    for (uint32_t t = 0; t < e->threads_count; t++) {
        char title[COLUMN_WIDTH];

        snprintf(title, sizeof title, "%u: %s", (unsigned)t,
                 sim_thread_name(e, kernel, t));
        fprintf(out, "%-*s", COLUMN_WIDTH, title);
    }
    fputc('\n', out);
}

static void
print_event(struct engine *e, FILE *out, struct report_locations *locations,
            const struct replay *replay, uint32_t index)
{
    const struct trace_event *v = &replay->trace[index];
    char text[128];
    char site[64];

    text[0] = '\0';
    sim_report_event(replay, locations, text, sizeof text, v);
    snprintf(site, sizeof site, "%s", sim_site_text(v->site));
    fprintf(out, "%3u  %*s%-*s  %s\n", (unsigned)index,
            (int)(v->thread * COLUMN_WIDTH), "",
            (int)((e->threads_count - v->thread) * COLUMN_WIDTH), text, site);
    if (v->before != TRACE_MAX)
        fprintf(out, "     %*s^ in front of event %u in modification order\n",
                (int)(v->thread * COLUMN_WIDTH), "", (unsigned)v->before);
    if (v->behind == 0)
        return;
    fprintf(out, "     %*s^ stale: ", (int)(v->thread * COLUMN_WIDTH), "");
    if (v->from < index)
        fprintf(out, "the store of event %u", (unsigned)v->from);
    else
        fprintf(out, "the value before the run");
    fprintf(out, ", %u behind event %u\n", (unsigned)v->behind,
            (unsigned)v->newest);
}

static void
print_access(struct engine *e, FILE *out, uint32_t thread, const char *access,
             const char *where, uintptr_t site)
{
    char text[64];

    snprintf(text, sizeof text, "%s of %s", access, where);
    fprintf(out, "  *  %*s%-*s  %s\n", (int)(thread * COLUMN_WIDTH), "",
            (int)((e->threads_count - thread) * COLUMN_WIDTH), text,
            sim_site_text(site));
}

/* Plain accesses are no events, so print the two of a race below them. */
static void
print_race(struct engine *e, FILE *out, struct report_locations *locations,
           const struct sim_failure *failure)
{
    char where[LOCATION_BYTES];

    if (failure->kind != SIM_FAIL_RACE || e->race.access == NULL)
        return;
    sim_report_location(locations, where, e->race.address);
    print_access(e, out, e->race.other, e->race.other_access, where,
                 failure->other_site);
    print_access(e, out, failure->thread, e->race.access, where, failure->site);
    fprintf(out, "     (*: the accesses that race; nothing orders them)\n");
}

static void
print_diagram(struct engine *e, FILE *out, const struct sim_kernel *kernel,
              const struct replay *replay)
{
    struct report_locations locations = {.count = 0};

    print_header(e, out, kernel);
    for (uint32_t i = 0; i < replay->trace_count; i++) {
        if (replay->needed[i])
            print_event(e, out, &locations, replay, i);
    }
    if (replay->kept < replay->trace_count)
        fprintf(out,
                "     (%u more events, which the failure does not depend on)\n",
                (unsigned)(replay->trace_count - replay->kept));
    if (replay->trace_count == TRACE_MAX)
        fprintf(out, "     (the rest of the run is not shown)\n");
    print_race(e, out, &locations, &replay->result->first_failure.failure);
}

/* The place of a thread when the run fails. A plain access is not announced, so
 * it is known only from the failure. */
static uintptr_t
position(struct engine *e, uint32_t thread, const struct sim_failure *failure)
{
    const uintptr_t next = e->threads[thread].run.next_site;
    const bool is_plain = next == 0 || failure->kind == SIM_FAIL_RACE;

    return is_plain && thread == failure->thread ? failure->site : next;
}

/* Print where each thread is when the run fails. */
static void
print_positions(struct engine *e, FILE *out, const struct sim_kernel *kernel,
                const struct sim_failure *failure)
{
    fputc('\n', out);
    for (uint32_t t = 0; t < e->threads_count; t++) {
        const struct thread *thread = &e->threads[t];

        fprintf(out, "  thread %u (%s) ", (unsigned)t,
                sim_thread_name(e, kernel, t));
        if (thread->run.finished)
            fprintf(out, "has ended\n");
        else if (position(e, t, failure) == 0)
            fprintf(out, "is at its beginning\n");
        else
            fprintf(out, "is at %s\n", sim_site_text(position(e, t, failure)));
    }
}

/* ---- Which choices matter ---- */

static void
print_necessary(FILE *out, struct replay *replay, const uint32_t *values)
{
    const struct sim_exhaust_result *result = replay->result;
    struct sim_shrink shrink = {.still_fails = still_fails, .context = replay};
    bool *necessary =
        sim_need(calloc(result->choices_count + 1, sizeof *necessary));
    uint32_t event = 0;

    replay->necessary = necessary;
    sim_shrink_necessary(&shrink, result->choices, result->choices_count,
                         necessary);
    if (surprises(values, result->choices_count) > 0)
        fprintf(out,
                "\n  What it takes (each set to 0 alone, does it pass?):\n");
    for (uint32_t i = 0; i < result->choices_count; i++) {
        const struct sim_choice *c = &result->choices[i];
        char text[CHOICE_BYTES];

        if (c->value == 0)
            continue;
        while (event < replay->trace_count && replay->trace[event].choice <= i)
            event++;
        sim_report_choice(result, c, text, sizeof text);
        fprintf(out, "    choice %u, %s, ", (unsigned)i, text);
        if (event < replay->trace_count)
            fprintf(out, "before event %u: ", (unsigned)event);
        else
            fprintf(out, "after the last event: ");
        fprintf(out, "%s\n", necessary[i] ? "necessary" : "not necessary");
    }
}

/*
 * Make random runs that begin with these choices. One that is given up, because
 * a thread waits for what another run provides, is no run of the program.
 *
 * out:     *ended, how many came to their end
 * returns: how many of these fail
 */
static uint32_t
failures_after(struct engine *e, struct replay *replay, const uint32_t *values,
               uint32_t count, uint32_t *ended)
{
    uint32_t failures = 0;

    *ended = 0;
    for (uint32_t i = 0; i < TRIES_MAX && *ended < CURVE_RUNS; i++) {
        if (sim_engine_is_late(e))
            break;
        sim_choices_prefix(&replay->choices, values, count, i + 1);
        sim_engine_run(e, &replay->choices, &replay->run);
        *ended += replay->run.end == SIM_END_FAILED ||
                  replay->run.end == SIM_END_COMPLETE;
        failures += replay->run.end == SIM_END_FAILED &&
                    replay->run.failure.kind ==
                        replay->result->first_failure.failure.kind;
    }
    return failures;
}

static void
print_curve(struct engine *e, FILE *out, struct replay *replay)
{
    const struct sim_exhaust_result *result = replay->result;
    const uint32_t count = result->choices_count;
    const uint32_t step = count / CURVE_POINTS_MAX + 1;
    uint32_t *values = sim_need(calloc(count + 1, sizeof *values));

    for (uint32_t i = 0; i < count; i++)
        values[i] = result->choices[i].value;
    fprintf(out,
            "\n  How likely it is once the first choices are given"
            " (%d random runs each):\n",
            CURVE_RUNS);
    for (uint32_t p = 0;; p = p + step < count ? p + step : count) {
        uint32_t ended;
        const uint32_t failures = failures_after(e, replay, values, p, &ended);
        const uint32_t percent = ended > 0 ? failures * 100 / ended : 0;

        if (sim_engine_is_late(e)) {
            fprintf(out, "    not measured further: the time is over\n");
            break;
        }
        if (ended > 0) {
            replay->curve[replay->curve_count][0] = p;
            replay->curve[replay->curve_count++][1] = percent;
            fprintf(out, "    %3u  %3u%%  %.*s\n", (unsigned)p,
                    (unsigned)percent, (int)(percent * 40 / 100),
                    "########################################");
        } else {
            fprintf(out, "    %3u  none came to its end\n", (unsigned)p);
        }
        if (p == count)
            break;
    }
    free(values);
}

/* ---- All of it ---- */

static void
print_summary(struct engine *e, FILE *out, const struct sim_kernel *kernel,
              const struct sim_exhaust_result *result)
{
    const struct sim_run *run = &result->first_failure;
    const struct sim_failure *f = &run->failure;

    fprintf(out, "%s: %s\n", kernel->name, kernel->about);
    fprintf(out, "  %s: %s (%s)\n",
            f->kind == SIM_FAIL_LIMIT ? "not finished" : "broken", f->text,
            sim_failure_kind_text(f->kind));
    if (f->site != 0)
        fprintf(out, "  by thread %u (%s) at %s\n", (unsigned)f->thread,
                sim_thread_name(e, kernel, f->thread), sim_site_text(f->site));
    else
        fprintf(out, "  seen when no thread was running\n");
    if (f->other_site != 0)
        fprintf(out, "  against %s\n", sim_site_text(f->other_site));
    fprintf(out, "  preemptions: %u, stale reads: %u, choices:",
            (unsigned)run->switches, (unsigned)run->stale);
    for (uint32_t i = 0; i < result->choices_count; i++)
        fprintf(out, " %u", (unsigned)result->choices[i].value);
    fputc('\n', out);
}

void
sim_explore_report(FILE *out, FILE *data, const struct sim_kernel *kernel,
                   struct sim_exhaust_result *result)
{
    struct engine *e = &sim_engine;
    static struct trace_event trace[TRACE_MAX];
    const uint32_t count_before = result->choices_count;
    const uint64_t runs = sim_explore_shrink(kernel, result);
    static struct replay replay;
    uint64_t end_us;
    uint32_t *values =
        sim_need(calloc(result->choices_count + 1, sizeof *values));

    for (uint32_t i = 0; i < result->choices_count; i++)
        values[i] = result->choices[i].value;
    print_summary(e, out, kernel, result);
    fprintf(out, "  shrunk from %u choices to %u in %llu runs%s\n",
            (unsigned)count_before, (unsigned)result->choices_count,
            (unsigned long long)runs,
            result->fewest_known ? "; nothing with fewer surprises fails" : "");
    replay_begin(e, &replay, kernel, result);
    e->trace = trace;
    repeat(e, &replay, values, result->choices_count);
    e->trace = NULL;
    replay.trace = trace;
    replay.trace_count = e->state.trace_count;
    replay.kept =
        sim_slice(e, trace, replay.trace_count, &result->first_failure.failure,
                  &replay.choices, replay.needed);
    repeat(e, &replay, values, result->choices_count); /* for its end */
    print_diagram(e, out, kernel, &replay);
    print_positions(e, out, kernel, &result->first_failure.failure);
    end_us = e->end_us;
    e->end_us = 0; /* a few runs */
    print_necessary(out, &replay, values);
    e->end_us = end_us;
    if (result->first_failure.failure.kind != SIM_FAIL_LIMIT) /* not hangs */
        print_curve(e, out, &replay);
    if (data != NULL) {
        repeat(e, &replay, values, result->choices_count); /* its threads */
        sim_report_data(e, data, kernel, &replay);
    }
    free(replay.necessary);
    free(values);
    free(replay.list);
}
