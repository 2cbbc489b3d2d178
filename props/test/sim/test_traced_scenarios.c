/*
 * test_traced_scenarios.c -- traced worlds as text: a printed world is read
 * back unchanged, the fixtures have the outcomes that they name, and an error
 * in a text is reported with its line.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <unistd.h>

#include "folder.h"
#include "instrument_trace.h"
#include "run.h"
#include "scenario.h"
#include "unit_test.h"

#define FIXTURES "fixtures/scenarios/"

static struct sim_choice list[8192];
static char path[64];

static int
a_folder(void **state)
{
    (void)state;
    return folder_with(path, sizeof path, "a.sim");
}

static int
no_folder(void **state)
{
    unlink(path);
    return folder_remove(state);
}

static void
write_text(const char *text)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static struct sim_scenario *
build(const struct props_run *run)
{
    struct sim_error error;
    struct sim_scenario *scenario = sim_scenario_build(
        &(struct sim_scenario_source){
            .config = &run->generator.config,
            .events = run->events,
            .events_count = run->events_count,
            .header = "a line\nand another\n",
        },
        &error);

    if (scenario == NULL)
        fail_msg("%s", error.text);
    return scenario;
}

static void
write_scenario(const struct sim_scenario *scenario)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_true(sim_scenario_print(file, scenario));
    assert_int_equal(fclose(file), 0);
}

/* returns: the hash of its text */
static uint64_t
run_all(struct props_run *run, const struct sim_scenario *scenario)
{
    const char *refused =
        props_run_begin(run, &scenario->config, PROPS_OF_TRACES);

    for (uint32_t i = 0; i < scenario->events_count && refused == NULL; i++)
        (void)props_run_event(run, &scenario->events[i], &refused);
    if (refused != NULL)
        fail_msg("%s: event %u: %s", scenario->name, run->events_count + 1,
                 refused);
    if (!props_run_end(run))
        fail_msg("%s: %s", scenario->name, run->judge.breach.text);
    return run->hash;
}

TEST(a_world_that_was_printed_runs_as_before)
{
    struct props_run *run = props_run_new(&sim_generator_limits_all);
    struct sim_choices choices;

    assert_non_null(run);
    sim_choices_init(&choices, list, sizeof list / sizeof *list);
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct sim_error error;
        struct sim_scenario *built;
        struct sim_scenario *read;
        uint64_t hash;

        sim_choices_random(&choices, seed);
        assert_true(props_run_choices(run, &choices, &prof_rules_exact,
                                      SIM_WORLDS_TRACED | SIM_WORLDS_BOTH,
                                      PROPS_OF_TRACES));
        built = build(run);
        write_scenario(built);
        read = sim_scenario_read(path, &error);
        if (read == NULL)
            fail_msg("%s", error.text);
        hash = run_all(run, built);
        assert_int_equal(read->events_count, run->events_count);
        assert_true(hash == run_all(run, read));
        sim_scenario_free(built);
        sim_scenario_free(read);
    }
    props_run_delete(run);
}

TEST(the_fixtures_end_as_they_say)
{
    static const struct {
        const char *name;
        uint32_t sessions;
        uint32_t types;                   /* at least, in the first trace */
        enum model_trace_verdict verdict; /* of the first trace */
    } rows[] = {
        {FIXTURES "late-return-across-sessions.sim", 2, 8, MODEL_TRACE_OK},
        {FIXTURES "every-event.sim", 1, 29, MODEL_TRACE_OK},
        {FIXTURES "return-before-the-clock-wraps.sim", 1, 5, MODEL_TRACE_OK},
        /* The processors' clocks are years apart. */
        {FIXTURES "reader-stalls.sim", 1, 5, MODEL_TRACE_TIME_ORDER},
        /* Events that a processor wrote after the cut are not in the trace. */
        {FIXTURES "cut-by-the-clock.sim", 1, 5, MODEL_TRACE_OK},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct sim_error error;
        struct sim_scenario *scenario = sim_scenario_read(rows[i].name, &error);
        const struct sim_session *session;
        struct sim_limits limits;
        struct props_run *run;
        uint64_t types = 0;

        if (scenario == NULL)
            fail_msg("%s", error.text);
        limits = sim_scenario_limits(scenario);
        run = props_run_new(&limits);
        assert_non_null(run);
        run_all(run, scenario);
        assert_int_equal(sim_sessions(run->judge.world), rows[i].sessions);
        session = sim_session(run->judge.world, 0);
        assert_int_equal(model_trace_read(&run->trace.trace, session->bytes,
                                          session->bytes_count),
                         rows[i].verdict);
        for (uint32_t j = 0; j < run->trace.trace.events_count; j++)
            types |= UINT64_C(1) << run->trace.trace.events[j].type;
        assert_true((uint32_t)__builtin_popcountll(types) >= rows[i].types);
        props_run_delete(run);
        sim_scenario_free(scenario);
    }
}

TEST(wrong_text_is_refused_with_its_line)
{
#define FIRST "profsim scenario 2\nscheduled\n"
    static const struct {
        const char *text;
        const char *want;
    } rows[] = {
        {"profsim schedule 1\n", ":1: not a scenario"},
        {FIRST "clock 8 offset=1\n", ":3: processor '8' is not"},
        {FIRST "buffers 129\n", ":3: buffers '129' is not"},
        {FIRST "ticks-per-us 0\n", ":3: ticks-per-us '0' is not"},
        {FIRST "instruments trase\n", "unknown instrument 'trase'; did you "
                                      "mean 'trace'?"},
        {FIRST "instruments\n", ":3: the value is missing"},
        {FIRST "p9: end\n", ":3: 'p9:' is not a task or a processor"},
        {FIRST "t1: end\n", "'end' is done by a processor: write p1:"},
        {FIRST "p1: exit\n", "'exit' is done by a task: write t1:"},
        {FIRST "p0: run 1\n", ":3: '1' is not a task"},
        {FIRST "p0: yield s1\n", ":3: unknown stack 's1'"},
        {FIRST "p0: end t1\n", ":3: unexpected 't1'"},
        {FIRST "two-readers 2\n", ":3: unexpected '2'"},
        {"profsim scenario 2\np0: end\n", "say 'scheduled' before"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct sim_error error = {""};
        struct sim_scenario *scenario;

        write_text(rows[i].text);
        scenario = sim_scenario_read(path, &error);
        if (scenario != NULL || strstr(error.text, rows[i].want) == NULL)
            fail_msg("row %zu: '%s', not '%s'", i, error.text, rows[i].want);
    }
}

int
main(void)
{
    return tests_run(a_folder, no_folder);
}
