/*
 * test_faults.c -- faults of worlds: each one happens; shrinking removes it
 * from a failure that does not need it, and keeps it in one that does; and it
 * is over at the end of the run.
 *
 * build: cflags=-O2
 */
#include <stdlib.h>
#include <string.h>

#include "props/campaign/campaign.h"
#include "props/judge/faults.h"
#include "props/judge/run.h"
#include "common/shrink.h"
#include "common/test/unit_test.h"

enum { SEEDS_MAX = 4000, SHRINK_CALLS = 4000 };

static struct sim_choice list[PROPS_CHOICES_MAX];
static struct sim_choice failing[PROPS_CHOICES_MAX];

/* A planted failure: the run fails if it reaches these goals. */
struct plant {
    struct props_run *run;
    uint32_t worlds;
    struct sim_choices choices;
    struct props_coverage met; /* in the last run */
    enum props_cover wanted;
    enum props_cover other; /* also required, at first */
};

static void
run_plant(struct plant *plant)
{
    memset(&plant->run->cover, 0, sizeof plant->run->cover);
    assert_true(props_run_choices(plant->run, &plant->choices,
                                  &prof_rules_exact, plant->worlds, 0));
    plant->met = plant->run->cover;
}

static bool
still_fails(void *context, const uint32_t *values, uint32_t count)
{
    struct plant *plant = context;

    sim_choices_replay(&plant->choices, values, count);
    run_plant(plant);
    return plant->met.hits[plant->wanted] > 0;
}

/* Find the first seed whose run reaches both goals. */
static uint32_t
find(struct plant *plant)
{
    for (uint64_t seed = 1; seed <= SEEDS_MAX; seed++) {
        sim_choices_random(&plant->choices, seed);
        run_plant(plant);
        if (plant->met.hits[plant->wanted] > 0 &&
            plant->met.hits[plant->other] > 0) {
            memcpy(failing, list, plant->choices.count * sizeof *list);
            return plant->choices.count;
        }
    }
    fail_msg("no run of %d meets %s and %s", SEEDS_MAX,
             props_cover_id(plant->wanted), props_cover_id(plant->other));
    return 0;
}

static void
shrink(struct plant *plant)
{
    struct sim_shrink shrink = {
        .still_fails = still_fails,
        .context = plant,
        .ran = &plant->choices,
        .calls_max = SHRINK_CALLS,
    };
    uint32_t values[PROPS_CHOICES_MAX];
    const uint32_t count = sim_shrink(&shrink, failing, find(plant));

    assert_false(shrink.unstable);
    for (uint32_t i = 0; i < count; i++)
        values[i] = failing[i].value;
    assert_true(still_fails(plant, values, count));
}

/* For each fault of this kind of world, plant a failure that needs it and one
 * that does not. */
static void
shrink_each(struct plant *plant, char world, enum props_cover plain)
{
    sim_choices_init(&plant->choices, list, PROPS_CHOICES_MAX);
    for (int i = 0; i < SIM_FAULT_COUNT; i++) {
        const enum sim_fault fault = (enum sim_fault)i;
        const enum props_cover goal = props_fault_cover(fault);

        if (strchr(sim_fault_worlds(fault), world) == NULL)
            continue;
        plant->wanted = plain;
        plant->other = goal;
        shrink(plant);
        if (plant->met.hits[goal] != 0)
            fail_msg("%s is not needed, and stays", sim_fault_name(fault));
        plant->wanted = goal;
        plant->other = plain;
        shrink(plant);
        assert_true(plant->met.hits[goal] > 0);
    }
}

TEST(a_fault_of_heaps_goes_when_it_is_not_needed)
{
    struct plant plant = {.run = props_run_new(&sim_generator_limits),
                          .worlds = SIM_WORLDS_HEAPS};

    assert_non_null(plant.run);
    shrink_each(&plant, 'h', COVER_SNAPSHOT_NOT_EMPTY);
    props_run_delete(plant.run);
}

TEST(a_fault_of_traces_goes_when_it_is_not_needed)
{
    struct plant plant = {.run = props_run_new(&sim_generator_limits_all),
                          .worlds = SIM_WORLDS_TRACED};

    assert_non_null(plant.run);
    shrink_each(&plant, 't', COVER_TRACE_SESSION);
    props_run_delete(plant.run);
}

TEST(a_run_without_faults_meets_none)
{
    struct plant plant = {.run = props_run_new(&sim_generator_limits),
                          .worlds = SIM_WORLDS_HEAPS};
    const uint32_t none = 0;

    assert_non_null(plant.run);
    sim_choices_init(&plant.choices, list, PROPS_CHOICES_MAX);
    sim_choices_replay(&plant.choices, &none, 1);
    run_plant(&plant);
    assert_int_equal(plant.run->generator.faults.on, 0);
    props_run_delete(plant.run);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
