/*
 * test_scenario_trip.c -- scenarios survive a round trip through text: those of
 * fixtures/ with their answers, and random worlds, which run as before. And no
 * set of instruments is blamed for what it does not answer.
 *
 * usage: test_scenario_trip FILE.sim...
 *
 * build: args=fixtures/scenarios/?*.sim
 */
#include <stdlib.h>
#include <string.h>

#include "props/judge/run.h"
#include "sim/scenario/scenario.h"
#include "common/test/unit_test.h"

static char **paths;
static int paths_count;

static char *
printed(const struct sim_scenario *s)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *file = open_memstream(&text, &bytes);

    assert_non_null(file);
    assert_true(sim_scenario_print(file, s));
    assert_int_equal(fclose(file), 0);
    return text;
}

/* Print the scenario, read it and print it again. returns: what was read */
static struct sim_scenario *
through_text(const struct sim_scenario *s)
{
    struct sim_error error = {{0}};
    char *once = printed(s);
    struct sim_scenario *again =
        sim_scenario_parse(once, strlen(once), "again", &error);
    char *twice;

    if (again == NULL)
        fail_msg("%s\n%s", error.text, once);
    twice = printed(again);
    assert_string_equal(once, twice);
    assert_string_equal(s->header, again->header);
    assert_int_equal(s->events_count, again->events_count);
    assert_int_equal(s->expects_count, again->expects_count);
    free(once);
    free(twice);
    return again;
}

static void
expect_answers(const struct sim_scenario *s)
{
    const struct sim_limits limits = sim_scenario_limits(s);
    struct sim_world *world = sim_world_new(&limits);
    struct sim_error error = {{0}};

    assert_non_null(world);
    assert_null(sim_world_reset(world, &s->config));
    for (uint32_t i = 0; i < s->events_count; i++) {
        const char *why = sim_world_apply(world, &s->events[i]);

        if (why != NULL)
            fail_msg("%s:%u: %s", s->name, s->event_lines[i], why);
        if (!sim_scenario_check_answer(s, i, sim_world_answer(world), &error))
            fail_msg("%s", error.text);
    }
    sim_world_delete(world);
}

TEST(every_fixture_says_what_it_pins_and_gets_its_answers_also_as_text)
{
    assert_in_range(paths_count, 12, 256);
    for (int i = 0; i < paths_count; i++) {
        struct sim_error error = {{0}};
        struct sim_scenario *s = sim_scenario_read(paths[i], &error);
        struct sim_scenario *again;

        if (s == NULL)
            fail_msg("%s", error.text);
        if (strncmp(s->header, "pins: ", 6) != 0 ||
            s->outcome == SIM_OUTCOME_UNSAID)
            fail_msg("%s does not say what it pins, or its outcome", paths[i]);
        expect_answers(s);
        again = through_text(s);
        expect_answers(again);
        sim_scenario_free(again);
        sim_scenario_free(s);
    }
}

/* ---- sets of instruments ---- */

/* returns: was the whole run judged? Some events need an instrument. */
static bool
expect_no_blame(const struct sim_scenario *s, uint32_t instruments)
{
    struct sim_config config = s->config;
    struct sim_limits limits = sim_scenario_limits(s);
    const char *refused = NULL;
    struct props_run *run;
    enum props_property broken;

    config.instruments = limits.instruments = instruments;
    run = props_run_new(&limits);
    assert_non_null(run);
    assert_null(props_run_begin(run, &config, PROPS_ALL));
    for (uint32_t i = 0; i < s->events_count && refused == NULL; i++)
        (void)props_run_event(run, &s->events[i], &refused);
    if (refused == NULL)
        (void)props_run_end(run);
    broken = run->judge.breach.property;
    if (broken != PROPS_NONE && (s->outcome != SIM_OUTCOME_BROKEN ||
                                 broken != props_property_find(s->property)))
        fail_msg("%s with instruments %x: %s: %s", s->name, instruments,
                 props_property_id(broken), run->judge.breach.text);
    props_run_delete(run);
    return refused == NULL;
}

TEST(no_set_of_instruments_is_blamed_for_what_it_does_not_answer)
{
    uint32_t judged = 0;

    for (int i = 0; i < paths_count; i++) {
        struct sim_error error = {{0}};
        struct sim_scenario *s = sim_scenario_read(paths[i], &error);
        const uint32_t able =
            SIM_ALL_INSTRUMENTS &
            (s->config.scheduled ? ~0U : ~(uint32_t)SIM_OF_TASKS);

        for (uint32_t set = 1; set <= SIM_ALL_INSTRUMENTS; set++)
            judged += (set & ~able) == 0 && expect_no_blame(s, set);
        sim_scenario_free(s);
    }
    assert_in_range(judged, 500, UINT32_MAX);
}

/* ---- random worlds ---- */

static const char *
name_some(void *context, uintptr_t frame)
{
    static const char *const names[] = {
        NULL, "main", "std::vector<int> f#", "9lives", "a@0x5", "-"};

    (void)context;
    return names[frame / 16 % 6];
}

/* returns: the hash of its text */
static uint64_t
hash_of(struct props_run *run, const struct sim_scenario *s)
{
    const char *refused = props_run_begin(run, &s->config, PROPS_ALL);

    for (uint32_t i = 0; i < s->events_count && refused == NULL; i++)
        (void)props_run_event(run, &s->events[i], &refused);
    if (refused != NULL)
        fail_msg("event %u: %s", run->events_count + 1, refused);
    if (!props_run_end(run))
        fail_msg("%s", run->judge.breach.text);
    return run->hash;
}

static void
expect_trips(uint32_t worlds, const struct sim_limits *limits)
{
    static struct sim_choice list[8192];
    struct props_run *run = props_run_new(limits);
    struct sim_choices choices;

    assert_non_null(run);
    sim_choices_init(&choices, list, sizeof list / sizeof *list);
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct sim_error error;
        struct sim_scenario *built;
        struct sim_scenario *read;

        sim_choices_random(&choices, seed);
        assert_true(props_run_choices(run, &choices, &prof_rules_exact, worlds,
                                      PROPS_ALL));
        built = sim_scenario_build(
            &(struct sim_scenario_source){
                .config = &run->generator.config,
                .events = run->events,
                .events_count = run->events_count,
                .header = "found by seed\n\n  7 \n",
                .outcome = SIM_OUTCOME_BROKEN,
                .property = "H2",
                .frame_name = seed % 2 == 0 ? name_some : NULL,
            },
            &error);
        if (built == NULL)
            fail_msg("%s", error.text);
        read = through_text(built);
        assert_true(hash_of(run, built) == hash_of(run, read));
        sim_scenario_free(built);
        sim_scenario_free(read);
    }
    props_run_delete(run);
}

TEST(a_world_that_was_printed_runs_as_before)
{
    expect_trips(SIM_WORLDS_HEAPS, &sim_generator_limits);
    expect_trips(SIM_WORLDS_TRACED | SIM_WORLDS_BOTH,
                 &sim_generator_limits_all);
}

TEST(what_is_built_closes_up_and_is_named)
{
    const uintptr_t frames[] = {0x30, 0x20, 0x10};
    const struct truth_stack stacks[] = {
        {frames, 1}, {frames, 2}, {NULL, 0}, {frames, 3}};
    const struct sim_config config = {
        .buckets_max = 9, .stacks = stacks, .stacks_count = 4};
    const struct sim_event events[] = {
        {.kind = SIM_EV_ALLOC, .object = 7, .stack = 3, .size_bytes = 8},
        {.kind = SIM_EV_MUTEX, .object = 9, .stack = 1, .cycles = -1},
        {.kind = SIM_EV_ALLOC, .object = 2, .stack = 3, .task = 5},
        {.kind = SIM_EV_DROP, .object = 2, .delay_ticks = 4},
        {.kind = SIM_EV_SNAPSHOT, .room = SIM_ROOM_ENOUGH},
    };
    struct sim_scenario_source source = {
        .config = &config, .events = events, .events_count = 5};
    struct sim_error error = {{0}};
    struct sim_scenario *s = sim_scenario_build(&source, &error);
    char *text;

    assert_non_null(s);
    text = printed(s);
    assert_string_equal(text,
                        "profsim scenario 2\n\nbuckets 9\n"
                        "stack s1 = 0x10>0x20>0x30\nstack s2 = 0x20>0x30\n\n"
                        "alloc o1 s1 8\nmutex s2 -1\nt5: alloc o2 s1 0\n"
                        "@+4 drop o2\nsnapshot\n");
    free(text);
    sim_scenario_free(s);
    source.events += 3;
    source.events_count = 1;
    assert_null(sim_scenario_build(&source, &error));
    assert_string_equal(error.text, "built:0: object 2 was never allocated");
}

int
main(int argc, char **argv)
{
    paths = argv + 1;
    paths_count = argc - 1;
    return tests_run(NULL, NULL);
}
