/* played_runs.c -- see played_runs.h. */
#include "played_runs.h"

#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "search.h"
#include "unit_test.h"

enum { RUNS = 60, GRAPHS = 6 };

/* One run for each answer to its only question. */
static const struct played {
    enum sim_end end;
    bool detour;
    bool bounded;
    uint64_t graph;
} * played;

enum sim_end __real_sim_engine_run(struct sim_choices *choices,
                                   struct sim_run *run);
enum sim_end __wrap_sim_engine_run(struct sim_choices *choices,
                                   struct sim_run *run);

enum sim_end
__wrap_sim_engine_run(struct sim_choices *choices, struct sim_run *run)
{
    const struct played *p;

    if (played == NULL)
        return __real_sim_engine_run(choices, run);
    p = &played[sim_choose(choices, RUNS, SIM_DATA, 0)];
    memset(run, 0, sizeof *run);
    run->end = p->end;
    run->bounded = p->bounded;
    run->graph[0] = run->graph[1] = p->graph;
    run->failure.kind = SIM_FAIL_CHECK;
    sim_engine.detour = p->detour;
    sim_engine.logged = false; /* it is not made again */
    return run->end;
}

static uint32_t told;

static void
tell(void *context, const struct sim_run *run)
{
    (void)context;
    (void)run;
    told++;
}

/* What the search should count. returns: how many runs it tells of */
static uint32_t
count_played(const struct played *list, bool pruning,
             struct sim_exhaust_result *want, enum sim_failure_kind *first)
{
    bool known[GRAPHS + 1] = {false};
    uint32_t tells = 0;

    memset(want, 0, sizeof *want);
    for (uint32_t i = 0; i < RUNS; i++) {
        const struct played *p = &list[i];
        bool fails = p->end == SIM_END_FAILED;

        want->runs++;
        want->bounded += p->bounded;
        want->rechecked += p->detour;
        if (p->detour) /* it may only end as runs before */
            fails = p->end != SIM_END_BLOCKED &&
                    !(p->end == SIM_END_COMPLETE && known[p->graph]) &&
                    !(p->end == SIM_END_FAILED && want->failures > 0);
        if (fails && want->failures++ == 0)
            *first = p->detour ? SIM_FAIL_PRUNING : SIM_FAIL_CHECK;
        if (p->detour || p->end == SIM_END_PRUNED ||
            (p->end == SIM_END_COMPLETE && pruning && known[p->graph]))
            continue;
        tells++;
        want->blocked += p->end == SIM_END_BLOCKED;
        if (p->end == SIM_END_COMPLETE) {
            known[p->graph] = true;
            want->graphs++;
            want->graphs_sum += p->graph;
        }
    }
    return tells;
}

static void
play(struct sim_rng *rng, bool pruning, bool detours)
{
    static const struct sim_kernel kernel = {.name = "played", .about = "any"};
    const struct sim_exhaust_options options = {
        .keep_going = true, .no_pruning = !pruning, .after_run = tell};
    struct played list[RUNS];
    struct sim_exhaust_result want;
    struct sim_exhaust_result result;
    struct sim_search search = {
        .kernel = &kernel, .options = &options, .result = &result};
    enum sim_failure_kind first = SIM_FAIL_NONE;
    uint32_t tells;

    for (uint32_t i = 0; i < RUNS; i++) {
        static const enum sim_end ends[] = {SIM_END_COMPLETE, SIM_END_COMPLETE,
                                            SIM_END_PRUNED, SIM_END_BLOCKED,
                                            SIM_END_FAILED};

        list[i] = (struct played){
            .end = ends[sim_rng_below(rng, i < 10 ? 4 : 5)],
            .detour = detours && sim_rng_below(rng, 3) == 0,
            .bounded = sim_rng_below(rng, 2) != 0,
            .graph = 1 + sim_rng_below(rng, GRAPHS),
        };
    }
    tells = count_played(list, pruning, &want, &first);
    memset(&result, 0, sizeof result);
    told = 0;
    sim_search_begin(&search);
    sim_search_load(&search, NULL, 0);
    played = list;
    assert_int_equal(sim_search_continue(&search), SIM_SEARCH_DONE);
    played = NULL;
    sim_engine.detour = false;
    sim_search_end(&search);
    assert_int_equal(told, tells);
    assert_int_equal(result.runs, want.runs);
    assert_int_equal(result.bounded, want.bounded);
    assert_int_equal(result.rechecked, want.rechecked);
    assert_int_equal(result.blocked, want.blocked);
    assert_int_equal(result.graphs, want.graphs);
    assert_int_equal(result.graphs_sum, want.graphs_sum);
    assert_int_equal(result.failures, want.failures);
    if (first != SIM_FAIL_NONE) {
        assert_int_equal(result.first_failure.end, SIM_END_FAILED);
        assert_int_equal(result.first_failure.failure.kind, first);
    }
    if (first == SIM_FAIL_PRUNING)
        assert_string_equal(
            result.first_failure.failure.text,
            "a run beyond a cut state ended in a graph not seen before");
    free(result.choices);
}

void
played_runs_count(void)
{
    struct sim_rng rng = {.state = 3};

    for (uint32_t i = 0; i < 40; i++)
        play(&rng, i % 2 != 0, i % 4 == 3); /* cut runs only when pruned */
}
