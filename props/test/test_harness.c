/*
 * test_harness.c -- tests the judges: the right property notices each fault of
 * the library; a campaign reports every failure and reaches every goal; a
 * shrunk failure is the same failure.
 *
 * build: ldflags='$$(cat props/test/faulty_prof.wrap)'
 * with=props/test/faulty_prof.c cflags=-O2
 */
#include <glob.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "props/campaign/campaign.h"
#include "props/campaign/failure.h"
#include "props/test/faulty_prof.h"
#include "props/judge/replay.h"
#include "props/judge/run.h"
#include "common/test/unit_test.h"

enum {
    RUNS_TO_NOTICE = 3000 /* each fault is noticed in far fewer */
};

static const struct {
    const char *text;
    enum props_property property;
} faults[FAULTY_COUNT] = {
#define X(id, property, text) [FAULTY_##id] = {text, PROPS_##property},
#include "props/test/faulty_prof.def"
#undef X
};

static struct props_campaign
campaign_of(props_set requested, uint64_t seeds, uint32_t jobs)
{
    return (struct props_campaign){
        .rules = &prof_rules_exact,
        .requested = requested,
        .seed_first = 1,
        .seed_last = seeds,
        .jobs = jobs,
    };
}

static struct props_outcome
outcome_of(props_set requested, uint64_t seeds, uint32_t jobs)
{
    const struct props_campaign campaign = campaign_of(requested, seeds, jobs);
    struct props_outcome outcome;

    assert_true(props_campaign_run(&campaign, &outcome));
    return outcome;
}

TEST(a_library_that_reports_the_truth_is_believed)
{
    struct props_outcome outcome;

    faulty_prof_show(FAULTY_NONE, FAULTY_NONE);
    outcome = outcome_of(PROPS_ALL, RUNS_TO_NOTICE, 1);
    assert_int_equal(outcome.end, PROPS_END_PASSED);
    assert_int_equal(outcome.runs, RUNS_TO_NOTICE);
}

TEST(every_fault_is_noticed_by_the_property_that_watches_the_place)
{
    for (int i = 0; i < FAULTY_COUNT; i++) {
        struct props_outcome outcome;

        if (faults[i].property == PROPS_NONE)
            continue;
        faulty_prof_show((enum faulty_kind)i, FAULTY_NONE);
        outcome = outcome_of(PROPS_BIT(faults[i].property), RUNS_TO_NOTICE, 1);
        if (outcome.end != PROPS_END_BROKEN)
            fail_msg("%s does not notice that %s",
                     props_property_id(faults[i].property), faults[i].text);
    }
}

TEST(no_property_of_a_campaign_is_without_a_lie)
{
    props_set reported = 0;

    for (int i = 0; i < FAULTY_COUNT; i++) {
        if (faults[i].property != PROPS_NONE)
            reported |= PROPS_BIT(faults[i].property);
    }
    for (int i = 0; i < PROPS_COUNT; i++) {
        const char *id = props_property_id((enum props_property)i);

        /* The other properties have tests of their own. */
        if ((PROPS_OF_TRACES & PROPS_BIT(i)) == 0 &&
            strchr("BCDHL", id[0]) != NULL && (reported & PROPS_BIT(i)) == 0)
            fail_msg("no fault is shown to %s: faulty_prof.def has none", id);
    }
}

TEST(a_campaign_runs_every_seed_and_adds_up_what_its_jobs_met)
{
    struct props_outcome one;

    faulty_prof_show(FAULTY_NONE, FAULTY_NONE);
    one = outcome_of(PROPS_ALL, 999, 1);
    for (uint32_t jobs = 2; jobs <= 4; jobs++) {
        const struct props_outcome many = outcome_of(PROPS_ALL, 999, jobs);

        assert_int_equal(many.runs, 999);
        assert_int_equal(many.events, one.events);
        assert_int_equal(many.hash, one.hash);
        assert_memory_equal(&many.cover, &one.cover, sizeof one.cover);
    }
    assert_true(one.cover.hits[COVER_DRAINED] > 0);
}

TEST(every_goal_is_reached_by_a_campaign_long_enough)
{
    static const struct {
        uint32_t worlds;
        uint64_t runs;
    } rows[] = {{SIM_WORLDS_HEAPS, 20000},
                {SIM_WORLDS_TRACED, 2000},
                {SIM_WORLDS_BOTH, 2000}};
    struct props_coverage cover = {{0}};

    faulty_prof_show(FAULTY_NONE, FAULTY_NONE);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct props_campaign campaign =
            campaign_of(PROPS_ALL, rows[i].runs, 1);
        struct props_outcome outcome;

        campaign.worlds = rows[i].worlds;
        assert_true(props_campaign_run(&campaign, &outcome));
        assert_int_equal(outcome.end, PROPS_END_PASSED);
        props_coverage_add(&cover, &outcome.cover);
    }
    for (int i = 0; i < COVER_OF_LIBRARY; i++) {
        if (cover.hits[i] == 0)
            fail_msg("never reached: %s", props_cover_id((enum props_cover)i));
    }
}

TEST(the_lowest_failing_seed_is_found_whatever_the_number_of_jobs)
{
    uint64_t seed;

    faulty_prof_show(FAULTY_OF_A_HOLDER, FAULTY_NONE);
    seed = outcome_of(PROPS_BIT(PROPS_C2), RUNS_TO_NOTICE, 1).seed;
    assert_true(seed > 1);
    for (uint32_t jobs = 2; jobs <= 5; jobs++) {
        const struct props_outcome outcome =
            outcome_of(PROPS_BIT(PROPS_C2), RUNS_TO_NOTICE, jobs);

        assert_int_equal(outcome.end, PROPS_END_BROKEN);
        assert_int_equal(outcome.seed, seed);
    }
}

TEST(a_run_that_ends_its_process_is_reported_as_such)
{
    uint64_t seed;

    faulty_prof_show(FAULTY_ABORT, FAULTY_NONE);
    seed = outcome_of(PROPS_ALL, RUNS_TO_NOTICE, 1).seed;
    for (uint32_t jobs = 1; jobs <= 3; jobs++) {
        const struct props_outcome outcome =
            outcome_of(PROPS_ALL, RUNS_TO_NOTICE, jobs);

        assert_int_equal(outcome.end, PROPS_END_CRASHED);
        assert_int_equal(outcome.signal, SIGABRT);
        assert_int_equal(outcome.seed, seed);
    }
}

/* Return the property that a seed breaks, or PROPS_NONE. */
static enum props_property
property_of_seed(uint64_t seed, props_set *broken)
{
    static struct sim_choice list[PROPS_CHOICES_MAX];
    struct props_run *run = props_run_new(&sim_generator_limits);
    struct sim_choices choices;
    enum props_property property;

    assert_non_null(run);
    sim_choices_init(&choices, list, PROPS_CHOICES_MAX);
    sim_choices_random(&choices, seed);
    props_run_choices(run, &choices, &prof_rules_exact, SIM_WORLDS_HEAPS,
                      PROPS_ALL);
    property = run->judge.breach.property;
    *broken = run->judge.breach.broken;
    props_run_delete(run);
    return property;
}

TEST(a_failure_has_the_name_of_the_first_property_it_breaks)
{
    uint32_t several = 0;

    faulty_prof_show(FAULTY_NEGATIVE, FAULTY_REVERSED);
    for (uint64_t seed = 1; seed <= 100; seed++) {
        props_set broken;
        const enum props_property property = property_of_seed(seed, &broken);

        if (property == PROPS_NONE)
            continue;
        assert_true((broken & PROPS_BIT(property)) != 0);
        assert_int_equal(broken & (PROPS_BIT(property) - 1), 0);
        several += broken != PROPS_BIT(property);
    }
    assert_true(several > 0);
}

/* ---- shrinking ---- */

/* Do the events without event `without` break the property? */
static bool
list_breaks(struct props_run *run, const struct sim_scenario *scenario,
            uint32_t without, enum props_property property)
{
    const char *refused = NULL;
    bool holds = true;

    if (props_run_begin(run, &scenario->config, PROPS_ALL) != NULL)
        return false;
    for (uint32_t i = 0; i < scenario->events_count && holds; i++) {
        if (i == without)
            continue;
        holds = props_run_event(run, &scenario->events[i], &refused);
        if (refused != NULL)
            return false; /* these events are not possible */
    }
    if (holds)
        props_run_end(run);
    return run->judge.breach.property == property;
}

static void
judge_shrunk(const struct props_failure *failure, enum props_property property)
{
    struct props_run *run = props_run_new(&sim_generator_limits);
    struct props_replay replay;
    struct sim_scenario *scenario;
    struct sim_error error;

    assert_non_null(run);
    assert_int_equal(failure->breach.property, property);
    assert_false(failure->unstable);
    assert_non_null(failure->text);
    scenario = sim_scenario_parse(failure->text, strlen(failure->text),
                                  "shrunk.sim", &error);
    assert_non_null(scenario);
    assert_true(list_breaks(run, scenario, UINT32_MAX, property));
    for (uint32_t i = 0; i < scenario->events_count; i++) {
        if (list_breaks(run, scenario, i, property))
            fail_msg("event %u of a shrunk scenario is not needed", i + 1);
    }
    props_run_delete(run);
    assert_true(props_replay_run(&replay, scenario, PROPS_ALL));
    assert_int_equal(replay.breach.property, property);
    assert_true(replay.as_expected);

    faulty_prof_show(FAULTY_NONE, FAULTY_NONE);
    assert_true(props_replay_run(&replay, scenario, PROPS_ALL));
    assert_int_equal(replay.breach.property, PROPS_NONE);
    assert_false(replay.as_expected);
    sim_scenario_free(scenario);
}

TEST(a_failure_shrinks_to_one_of_the_same_property)
{
    /* In each pair the second fault is met more easily: shrinking must not slip
     * into its failure. */
    static const enum faulty_kind pairs[][2] = {
        {FAULTY_REVERSED, FAULTY_UNFLUSHED},
        {FAULTY_SHORT_COUNT, FAULTY_NEGATIVE},
        {FAULTY_EXTRA, FAULTY_COUNT_OF_WAITS},
        {FAULTY_LENGTH_OF_WAITS, FAULTY_STRANGER},
    };
    const struct props_campaign campaign = campaign_of(PROPS_ALL, 1, 1);

    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        enum props_property property = PROPS_NONE;
        struct props_failure failure;
        uint64_t seed = 0;
        props_set broken;

        faulty_prof_show(pairs[i][0], pairs[i][1]);
        while (property != faults[pairs[i][0]].property &&
               seed < RUNS_TO_NOTICE)
            property = property_of_seed(++seed, &broken);
        assert_int_equal(property, faults[pairs[i][0]].property);
        assert_true(props_failure_of_seed(&failure, &campaign, seed, "a test"));
        judge_shrunk(&failure, property);
        props_failure_free(&failure);
    }
}

TEST(a_replay_finds_the_property_that_its_file_names)
{
    static const char text[] = "profsim scenario 2\n"
                               "stack s = main\n"
                               "alloc a s 8\n"
                               "alloc b s 16\n"
                               "snapshot-all\n"
                               "expect property %s broken\n";
    const enum faulty_kind kinds[] = {FAULTY_REVERSED, FAULTY_TOTAL_ALLOCS};

    faulty_prof_show(kinds[0], kinds[1]);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const enum props_property property = faults[kinds[i]].property;
        struct props_replay replay;
        struct sim_error error;
        struct sim_scenario *scenario;
        char file[256];

        snprintf(file, sizeof file, text, props_property_id(property));
        scenario = sim_scenario_parse(file, strlen(file), "both.sim", &error);
        assert_non_null(scenario);
        assert_true(props_replay_run(&replay, scenario, PROPS_ALL));
        assert_int_equal(replay.breach.property, property);
        assert_true(replay.as_expected);
        assert_true(props_replay_requested(scenario, PROPS_ALL) ==
                    PROPS_BIT(property));
        sim_scenario_free(scenario);
    }
    faulty_prof_show(FAULTY_NONE, FAULTY_NONE);
}

TEST(a_failure_that_does_not_come_again_is_called_unstable)
{
    const struct props_campaign campaign =
        campaign_of(PROPS_BIT(PROPS_H1), 1, 1);
    struct props_failure failure;

    faulty_prof_show(FAULTY_NONE, FAULTY_NONE); /* it does not fail again */
    assert_true(props_failure_of_seed(&failure, &campaign, 1, "a test"));
    assert_true(failure.unstable);
    assert_int_equal(failure.breach.property, PROPS_D1);
    props_failure_free(&failure);
}

/* ---- the world ---- */

TEST(a_scenario_that_ends_its_process_does_not_end_ours)
{
    static const char text[] = "profsim scenario 2\n"
                               "stack s = main\n"
                               "alloc a s 8\n"
                               "alloc b s 16\n"
                               "snapshot\n";
    struct props_replay replay;
    struct sim_error error;
    struct sim_scenario *scenario =
        sim_scenario_parse(text, sizeof text - 1, "two.sim", &error);

    assert_non_null(scenario);
    faulty_prof_show(FAULTY_ABORT, FAULTY_NONE);
    assert_true(props_replay_run(&replay, scenario, PROPS_ALL));
    assert_true(replay.crashed);
    assert_int_equal(replay.signal, SIGABRT);
    assert_false(replay.as_expected);
    faulty_prof_show(FAULTY_NONE, FAULTY_NONE);
    assert_true(props_replay_run(&replay, scenario, PROPS_ALL));
    assert_false(replay.crashed);
    assert_true(replay.as_expected);
    sim_scenario_free(scenario);
}

TEST(every_scenario_of_the_fixtures_ends_as_it_says)
{
    glob_t files;

    faulty_prof_show(FAULTY_NONE, FAULTY_NONE);
    assert_int_equal(glob("fixtures/scenarios/*.sim", 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        struct props_replay replay;
        struct sim_error error;
        struct sim_scenario *scenario =
            sim_scenario_read(files.gl_pathv[i], &error);

        assert_non_null(scenario);
        assert_true(props_replay_run(&replay, scenario, PROPS_ALL));
        if (!replay.as_expected)
            fail_msg("%s: %s", files.gl_pathv[i], replay.error.text);
        sim_scenario_free(scenario);
    }
    globfree(&files);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
