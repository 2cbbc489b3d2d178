/* drawn_searches.c -- see drawn_searches.h. A simulated search checks what it
 * is asked for, and finds what was drawn. */
#include "explore/drawn_searches.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "drawn.h"
#include "explore/drawn_orders.h"
#include "kernels.h"
#include "textbook.h"
#include "unit_test.h"

struct search searches[SEARCHES_MAX];
uint32_t searches_count;
struct asked asked;

static const char *folder;
static uint64_t now_ns; /* 0: nothing is simulated */
static uint32_t searched;

static bool
one_in(uint32_t count)
{
    return draw(count) == 0;
}

static uint64_t
large(void)
{
    return one_in(2) ? draw(5) : draw(UINT64_C(1) << 40);
}

bool
searches_mixed(void)
{
    return !asked.random && !asked.exhaustive && !asked.schedules &&
           !asked.bounded;
}

static void
draw_asked(void)
{
    asked = (struct asked){.random = one_in(4), .seed = 1};
    asked.schedules = one_in(4);
    asked.bounded = one_in(3);
    asked.bound = (uint32_t)draw(4);
    asked.unroll = one_in(3) ? 1 + (uint32_t)draw(3) : 0;
    asked.spurious = one_in(3) ? 1 + (uint32_t)draw(3) : 0;
    asked.seed = one_in(2) ? large() : 1;
    asked.runs = one_in(3) ? 1 + large() : 0;
    asked.time_s = one_in(3) ? 1 + draw(99) : 0;
    asked.terminal = one_in(3);
    if (asked.random) {
        asked.strategy = (enum sim_strategy)draw(SIM_STRATEGY_COUNT);
    } else {
        asked.exhaustive = one_in(3);
        asked.jobs = one_in(3) ? 1 + (uint32_t)draw(256) : 0;
        asked.shards = one_in(3) ? 1 + (uint32_t)draw(3) : 0;
        asked.shard = asked.shards > 0 ? 1 + (uint32_t)draw(asked.shards) : 0;
    }
}

static void
draw_text(char *text, const char *what)
{
    snprintf(text, SIM_FAILURE_TEXT_BYTES, "%s %u", what, (unsigned)draw(1000));
}

static void
draw_failure(struct search *s)
{
    struct sim_exhaust_result *f = &s->found;

    f->failures = 1 + draw(3);
    f->first_failure.failure.kind =
        (enum sim_failure_kind)draw(SIM_FAIL_KIND_COUNT);
    draw_text(f->first_failure.failure.text, "thread");
    s->choices = one_in(12) ? 32768 : (uint32_t)draw(5);
    f->found_by_sampling = searches_mixed() && one_in(2);
    f->options.strategy = asked.random
                              ? asked.strategy
                              : (enum sim_strategy)draw(SIM_STRATEGY_COUNT);
    f->options.bounded = one_in(3);
    f->options.preemptions_max = (uint32_t)draw(5);
    f->options.reduced = one_in(2);
}

static void
draw_search(struct search *s, const struct sim_kernel_entry *entry)
{
    struct sim_exhaust_result *f = &s->found;

    memset(s, 0, sizeof *s);
    s->entry = entry;
    s->took_us = one_in(2) ? draw(2000) : draw(UINT64_C(1) << 33);
    s->tells = one_in(3);
    f->runs = large();
    f->graphs = large();
    f->graphs_sum = large();
    f->states = large();
    f->bounded = one_in(3) ? draw(3) : 0;
    f->shard_depth = (uint32_t)draw(3);
    f->verdict = asked.random ? SIM_VERDICT_UNFINISHED
                              : (enum sim_verdict)draw(SIM_VERDICT_REFUSED + 1);
    if (f->verdict == SIM_VERDICT_FAIL || (asked.random && one_in(2))) {
        f->verdict = SIM_VERDICT_FAIL;
        draw_failure(s);
    }
    if (f->verdict == SIM_VERDICT_NONDETERMINISTIC)
        draw_text(f->difference, "differs");
    if (f->verdict == SIM_VERDICT_REFUSED || one_in(5))
        draw_text(f->trouble, "trouble");
}

static void
draw_searches(bool all)
{
    const struct sim_kernel_entry *const groups[] = {fixtures_textbook,
                                                     props_kernels};

    searches_count = 0;
    for (int g = 0; g < 2; g++) {
        for (const struct sim_kernel_entry *e = groups[g]; e->name != NULL;
             e++) {
            assert_in_range(searches_count, 0, SEARCHES_MAX - 1);
            draw_search(&searches[searches_count++], e);
        }
    }
    if (all)
        return;
    searches[0] = searches[draw(searches_count)];
    searches_count = 1;
    asked.kernel = searches[0].entry;
    asked.result = !asked.random && one_in(4);
    asked.html = one_in(4);
    asked.data = one_in(3);
}

const char *
searches_path(const char *name)
{
    static char paths[4][128];
    static int next;
    char *path = paths[next++ % 4];

    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

uint32_t
searches_choice(uint32_t i)
{
    return i * 7 % 10;
}

void
searches_draw(uint64_t seed, bool all, const char *in)
{
    folder = in;
    drawn = seed;
    draw_asked();
    draw_searches(all);
}

void
searches_simulate(void)
{
    searched = 0;
    now_ns = UINT64_C(1999999000) + (uint64_t)searches_count;
}

/* ---- The simulated search ---- */

enum sim_verdict
__real_sim_explore_exhaust(const struct sim_kernel *kernel,
                           const struct sim_exhaust_options *options,
                           struct sim_exhaust_result *result);
enum sim_verdict
__wrap_sim_explore_exhaust(const struct sim_kernel *kernel,
                           const struct sim_exhaust_options *options,
                           struct sim_exhaust_result *result);
enum sim_verdict
__real_sim_explore_sample(const struct sim_kernel *kernel,
                          const struct sim_sample_options *options,
                          struct sim_exhaust_result *result);
enum sim_verdict
__wrap_sim_explore_sample(const struct sim_kernel *kernel,
                          const struct sim_sample_options *options,
                          struct sim_exhaust_result *result);
void __real_sim_explore_report(FILE *out, FILE *data,
                               const struct sim_kernel *kernel,
                               struct sim_exhaust_result *result);
void __wrap_sim_explore_report(FILE *out, FILE *data,
                               const struct sim_kernel *kernel,
                               struct sim_exhaust_result *result);
enum sim_end __real_sim_explore_run(const struct sim_kernel *kernel,
                                    const struct sim_run_options *options,
                                    struct sim_choices *choices,
                                    struct sim_run *run);
enum sim_end __wrap_sim_explore_run(const struct sim_kernel *kernel,
                                    const struct sim_run_options *options,
                                    struct sim_choices *choices,
                                    struct sim_run *run);
int __real_isatty(int file);
int __wrap_isatty(int file);
int __real_clock_gettime(clockid_t id, struct timespec *now);
int __wrap_clock_gettime(clockid_t id, struct timespec *now);

int
__wrap_isatty(int file)
{
    return now_ns != 0 ? asked.terminal : __real_isatty(file);
}

int
__wrap_clock_gettime(clockid_t id, struct timespec *now)
{
    if (now_ns == 0 || id != CLOCK_MONOTONIC)
        return __real_clock_gettime(id, now);
    *now = (struct timespec){(time_t)(now_ns / 1000000000),
                             (long)(now_ns % 1000000000)};
    return 0;
}

/* Print what was not asked for so: the test compares what is printed. */
static void
expect(const char *what, uint64_t found, uint64_t wanted)
{
    if (found != wanted)
        printf("%s is %" PRIu64 ", not %" PRIu64 "\n", what, found, wanted);
}

static void
expect_run(const struct sim_run_options *run, const struct search *s)
{
    const bool bounded = asked.bounded || (s->entry->bounded && !asked.random);

    expect("bounded", run->bounded, bounded);
    if (bounded)
        expect("bound", run->preemptions_max,
               asked.bounded ? asked.bound : s->entry->preemptions_max);
    expect("unroll", run->unroll, asked.unroll);
    expect("spurious", run->spurious_max, asked.spurious);
    expect("strategy", (uint64_t)run->strategy, (uint64_t)asked.strategy);
}

/* Go to the next search, and give its result. */
static enum sim_verdict
find(const struct search *s, const struct sim_kernel *kernel,
     struct sim_exhaust_result *result)
{
    if (strcmp(kernel->about, s->entry->make()->about) != 0)
        printf("another kernel than %s\n", s->entry->name);
    *result = s->found;
    if (s->found.failures > 0) {
        result->choices_count = s->choices;
        result->choices = calloc(s->choices + 1, sizeof *result->choices);
        for (uint32_t i = 0; result->choices != NULL && i < s->choices; i++)
            result->choices[i].value = searches_choice(i);
    }
    now_ns += s->took_us * 1000;
    searched++;
    return result->verdict;
}

enum sim_verdict
__wrap_sim_explore_exhaust(const struct sim_kernel *kernel,
                           const struct sim_exhaust_options *options,
                           struct sim_exhaust_result *result)
{
    const struct search *s = &searches[searched];

    if (orders_search(kernel, options, result))
        return result->verdict;
    if (now_ns == 0)
        return __real_sim_explore_exhaust(kernel, options, result);
    expect_run(&options->run, s);
    expect("random", 0, asked.random);
    expect("runs", options->runs_max, asked.runs);
    expect("recheck", options->recheck_of_100, 1);
    expect("portfolio", options->portfolio, searches_mixed());
    expect("schedules", options->by_schedules, asked.schedules);
    /* Each shard makes other random runs. */
    expect("seed", options->seed,
           asked.seed + (uint64_t)asked.shard * (UINT64_C(1) << 32));
    expect("jobs", options->jobs, asked.jobs);
    expect("time", options->time_ms, asked.time_s * 1000);
    expect("shard", options->shard, asked.shard);
    expect("shards", options->shards, asked.shards);
    expect("whole", options->shards_whole, asked.whole);
    expect("checkpoint", options->checkpoint != NULL, asked.result);
    if (asked.result &&
        strcmp(options->checkpoint,
               searches_path(asked.in_folder ? "/shard-1-of-2.result.checkpoint"
                                             : "result.checkpoint")) != 0)
        printf("checkpoint %s\n", options->checkpoint);
    if (s->tells)
        options->progress(
            options->progress_context,
            &(struct sim_progress){.runs = s->found.runs, .took_ms = 60000});
    for (uint32_t i = 1; i <= SEARCHES_LOOPS; i++)
        sim_explore_learn_loop(i);
    return find(s, kernel, result);
}

enum sim_verdict
__wrap_sim_explore_sample(const struct sim_kernel *kernel,
                          const struct sim_sample_options *options,
                          struct sim_exhaust_result *result)
{
    const uint64_t most = asked.time_s > 0 ? UINT64_MAX : 100000;

    if (now_ns == 0)
        return __real_sim_explore_sample(kernel, options, result);
    expect_run(&options->run, &searches[searched]);
    expect("random", 1, asked.random);
    expect("runs", options->runs, asked.runs > 0 ? asked.runs : most);
    expect("seed", options->seed, asked.seed);
    expect("time", options->time_ms, asked.time_s * 1000);
    return find(&searches[searched], kernel, result);
}

enum sim_end
__wrap_sim_explore_run(const struct sim_kernel *kernel,
                       const struct sim_run_options *options,
                       struct sim_choices *choices, struct sim_run *run)
{
    const struct search *s = &searches[0];
    uint64_t sum = 0;

    if (now_ns == 0)
        return __real_sim_explore_run(kernel, options, choices, run);
    expect("backend", (uint64_t)choices->backend, SIM_REPLAY);
    expect("room", choices->count_max, 65536);
    expect("waiters", options->drop_waiters, !asked.random);
    expect("reduced", options->reduced, asked.replay[0] == 'g');
    expect("bounded", options->bounded, asked.bounded);
    expect("bound", options->preemptions_max, asked.bounded ? asked.bound : 0);
    expect("unroll", options->unroll, asked.unroll);
    expect("spurious", options->spurious_max, asked.spurious);
    for (uint32_t i = 0; i < choices->given_count; i++)
        sum += choices->given[i];
    printf("%s: %" PRIu32 " choices, %" PRIu64 "\n", kernel->about,
           choices->given_count, sum);
    choices->misaligned = s->replayed == MISALIGNED;
    choices->misaligned_at = 0;
    choices->given_used = choices->given_count - (s->replayed == UNUSED);
    choices->count = s->choices;
    for (uint32_t i = 0; i < s->choices; i++)
        choices->list[i].value = searches_choice(i);
    *run = s->found.first_failure;
    return s->replayed == FAILS ? SIM_END_FAILED : SIM_END_COMPLETE;
}

void
__wrap_sim_explore_report(FILE *out, FILE *data,
                          const struct sim_kernel *kernel,
                          struct sim_exhaust_result *result)
{
    if (now_ns == 0) {
        __real_sim_explore_report(out, data, kernel, result);
        return;
    }
    fprintf(out, "report of %s\n", kernel->about);
    if (data != NULL)
        fprintf(data, "\"runs\":%" PRIu64, result->runs);
}
