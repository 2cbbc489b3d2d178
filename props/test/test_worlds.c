/*
 * test_worlds.c -- every small world: all orders of up to five events with two
 * objects, from four beginnings, judged as a campaign judges its random worlds.
 *
 * usage: test_worlds [6]     of up to so many events
 *
 * The generator makes collectors that mostly follow the rules. Here every event
 * that the world does not refuse may come at any time: a flush in the middle of
 * marking, two post-sweeps, a snapshot that only asks for the size.
 *
 * build: as=test_worlds
 * build: as=worlds_full args=6 when=long
 */
#include <assert.h>
#include <stdlib.h>

#include "common/choice.h"
#include "props/judge/run.h"
#include "common/test/unit_test.h"

enum {
    OBJECTS = 2,
    STEPS_MAX = 6,
    BEGINNING_MAX = 5,
    EVENTS_MAX = STEPS_MAX + BEGINNING_MAX
};

/* The steps that may come next; their objects follow from the state of the
 * world. */
enum step {
    ALLOC,
    DROP,
    FREE,
    MARK,
    TERMINATE,
    TERMINATE_STW,
    FLUSH,
    SWEEP,
    POST_SWEEP,
    SNAPSHOT,
    SIZING,
    STEPS
};

static const enum sim_event_kind kinds[STEPS] = {
    [ALLOC] = SIM_EV_ALLOC,
    [DROP] = SIM_EV_DROP,
    [FREE] = SIM_EV_FREE,
    [MARK] = SIM_EV_GC_MARK,
    [TERMINATE] = SIM_EV_GC_TERMINATE,
    [TERMINATE_STW] = SIM_EV_GC_TERMINATE_STW,
    [FLUSH] = SIM_EV_GC_FLUSH,
    [SWEEP] = SIM_EV_GC_SWEEP,
    [POST_SWEEP] = SIM_EV_GC_POST_SWEEP,
    [SNAPSHOT] = SIM_EV_SNAPSHOT_ALL,
    [SIZING] = SIM_EV_SNAPSHOT,
};

/* What a world has done before: from an empty world five events would not get
 * far. */
static const struct {
    uint32_t count;
    enum step steps[BEGINNING_MAX];
} beginnings[] = {
    {0, {ALLOC}},
    {4, {ALLOC, DROP, MARK, TERMINATE}},
    {5, {ALLOC, MARK, TERMINATE, FLUSH, MARK}},
    {5, {ALLOC, SNAPSHOT, DROP, MARK, TERMINATE}},
};

static uint32_t steps_most = 5;

/* How many worlds of a rule set were run, and which properties they broke. */
struct count {
    uint64_t worlds;
    uint64_t broken[PROPS_COUNT];
};

/* Take a step. returns: false if the world refused it, or a property broke */
static bool
take(struct props_run *run, enum step step, const char **refused)
{
    const struct sim_world *world = run->judge.world;
    struct sim_event event = {.kind = kinds[step]};

    if (step == ALLOC)
        event.object = sim_world_objects_count(world);
    else if (step == DROP || step == FREE)
        event.object = sim_world_find(world, SIM_LIVE, 0);
    else if (step == SWEEP)
        event.object = sim_world_find(world, SIM_DEAD, 0);
    event.size_bytes = step == ALLOC ? 16 : 0;
    event.room = step == SNAPSHOT ? SIM_ROOM_ENOUGH : 0;
    return props_run_event(run, &event, refused);
}

/* Run one world. returns: false if a step was refused */
static bool
run_world(struct props_run *run, const struct sim_config *config,
          struct sim_choices *choices, size_t beginning)
{
    const char *refused = NULL;
    bool holds = true;

    assert_null(props_run_begin(run, config, PROPS_ALL));
    for (uint32_t i = 0; i < beginnings[beginning].count && holds; i++) {
        holds = take(run, beginnings[beginning].steps[i], &refused);
        assert_null(refused);
    }
    for (uint32_t i = 0; i < steps_most && holds; i++) {
        const uint32_t step = sim_choose(choices, STEPS, SIM_OP, 1);

        holds = take(run, (enum step)step, &refused);
        if (refused != NULL)
            return false;
    }
    props_run_end(run);
    return true;
}

static void
run_all(struct count *count, const struct prof_rules *rules,
        uint32_t cycle_first, size_t beginning)
{
    static const uintptr_t frames[] = {0x401000};
    static const struct truth_stack stack = {frames, 1};
    const struct sim_limits limits = {
        .events_max = EVENTS_MAX,
        .objects_max = OBJECTS,
        .buckets_max = 1,
    };
    const struct sim_config config = {
        .rules = rules,
        .buckets_max = 1,
        .cycle_first = cycle_first,
        .procs = 1,
        .instruments = SIM_PROFILES,
        .stacks = &stack,
        .stacks_count = 1,
    };
    struct props_run *run = props_run_new(&limits);
    struct sim_choice list[STEPS_MAX];
    struct sim_choices choices;

    assert_non_null(run);
    sim_choices_init(&choices, list, steps_most);
    sim_choices_odometer(&choices);
    do {
        if (!run_world(run, &config, &choices, beginning))
            continue;
        count->worlds++;
        for (int p = 0; p < PROPS_COUNT; p++)
            count->broken[p] += (run->judge.breach.broken & PROPS_BIT(p)) != 0;
    } while (sim_choices_next(&choices));
    props_run_delete(run);
}

static struct count
count_of(const struct prof_rules *rules)
{
    /* Worlds that begin here have cycles on both sides of the wrap. */
    const uint32_t near_wrap = PROF_CYCLE_WRAP - 2;
    struct count count = {0};

    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        run_all(&count, rules, i % 2 == 0 ? near_wrap : 0, i);
    return count;
}

TEST(every_small_world_holds_under_every_good_rule_set)
{
    static const struct prof_rules *const rules[] = {
        &prof_rules_exact, &prof_rules_go1_5, &prof_rules_go1_10};

    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        const struct count count = count_of(rules[i]);

        assert_true(count.worlds > 10000);
        for (int p = 0; p < PROPS_COUNT; p++) {
            if (count.broken[p] != 0)
                fail_msg("%s: %llu of %llu worlds break %s", rules[i]->name,
                         (unsigned long long)count.broken[p],
                         (unsigned long long)count.worlds,
                         props_property_id((enum props_property)p));
        }
    }
}

TEST(small_worlds_show_what_a_late_rotation_breaks)
{
    const struct count count = count_of(&prof_rules_go1_6_late);

    assert_true(count.broken[PROPS_H1] > 0);
    assert_true(count.broken[PROPS_H2] > 0);
    assert_true(count.broken[PROPS_H5] > 0);
    assert_true(count.broken[PROPS_H9] > 0);
    assert_int_equal(count.broken[PROPS_H4], 0); /* late, not lost */
}

int
main(int argc, char **argv)
{
    if (argc > 1)
        steps_most = (uint32_t)strtoul(argv[1], NULL, 10);
    assert(steps_most > 0 && steps_most <= STEPS_MAX);
    return tests_run(NULL, NULL);
}
