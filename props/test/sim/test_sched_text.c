/*
 * test_sched_text.c -- schedules as text: what is printed reads back as the
 * same world, the fixtures end as they say, and wrong text gets its line.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <unistd.h>

#include "sched_run.h"
#include "sched_text.h"

#define FIXTURES "fixtures/schedules/"

static struct sim_choice list[8192];
static char folder[] = "/tmp/profsim-schedule-XXXXXX";
static char path[64];

static int
a_folder(void **state)
{
    (void)state;
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(path, sizeof path, "%s/a.sim", folder);
    return 0;
}

static int
no_folder(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

static void
write_text(const char *text)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void
a_world_that_was_printed_runs_as_before(void **state)
{
    struct sched_run *run = sched_run_new(SIM_SCHEDULE_EVENTS_MAX);
    struct sim_choices choices;

    (void)state;
    assert_non_null(run);
    sim_choices_init(&choices, list, sizeof list / sizeof *list);
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct sim_error error;
        struct sim_schedule *schedule;
        const char *refused;
        uint64_t hash;
        FILE *file = fopen(path, "w");

        assert_non_null(file);
        sim_choices_random(&choices, seed);
        assert_true(sched_run_choices(run, &choices, PROPS_OF_TRACES));
        hash = run->hash;
        assert_true(
            sim_schedule_print(file, &(struct sim_schedule_source){
                                         .config = &run->generator.config,
                                         .events = run->trail->events,
                                         .events_count = run->trail->count,
                                         .header = "a line\nand another\n",
                                     }));
        assert_int_equal(fclose(file), 0);
        schedule = sim_schedule_read(path, &error);
        if (schedule == NULL)
            fail_msg("%s", error.text);
        assert_int_equal(schedule->events_count, run->trail->count);
        assert_true(sched_run_events(run, &schedule->config, schedule->events,
                                     schedule->events_count, PROPS_OF_TRACES,
                                     &refused));
        assert_null(refused);
        /* Stacks got other numbers in the log, and none else differs. */
        assert_true(hash == run->hash ||
                    schedule->config.stacks_count <
                        run->generator.config.stacks_count);
        sim_schedule_free(schedule);
    }
    sched_run_delete(run);
}

static void
the_fixtures_end_as_they_say(void **state)
{
    static const struct {
        const char *name;
        uint32_t sessions;
        uint32_t types; /* different ones in the first trace, at least */
        enum model_trace_verdict verdict; /* of the first trace */
    } rows[] = {
        {FIXTURES "late-return-across-sessions.sim", 2, 8, MODEL_TRACE_OK},
        {FIXTURES "every-event.sim", 1, 29, MODEL_TRACE_OK},
        {FIXTURES "return-before-the-clock-wraps.sim", 1, 5, MODEL_TRACE_OK},
        /* Its clocks are years apart. */
        {FIXTURES "stalls.sim", 1, 5, MODEL_TRACE_TIME_ORDER},
        /* What a processor wrote after the cut is not there. */
        {FIXTURES "cut-by-the-clock.sim", 1, 5, MODEL_TRACE_OK},
    };
    struct sched_run *run = sched_run_new(SIM_SCHEDULE_EVENTS_MAX);

    (void)state;
    assert_non_null(run);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct sim_error error;
        struct sim_schedule *schedule = sim_schedule_read(rows[i].name, &error);
        const struct sim_sched_session *session;
        const char *refused;
        uint64_t types = 0;

        if (schedule == NULL)
            fail_msg("%s", error.text);
        if (!sched_run_events(run, &schedule->config, schedule->events,
                              schedule->events_count, PROPS_OF_TRACES,
                              &refused))
            fail_msg("%s: %s", rows[i].name, run->judge.breach.text);
        if (refused != NULL)
            fail_msg("%s: event %u: %s", rows[i].name, run->trail->count + 1,
                     refused);
        assert_int_equal(sim_sched_world_sessions(run->world),
                         rows[i].sessions);
        session = sim_sched_world_session(run->world, 0);
        assert_int_equal(model_trace_read(&run->judge.trace, session->bytes,
                                          session->bytes_count),
                         rows[i].verdict);
        for (uint32_t j = 0; j < run->judge.trace.events_count; j++)
            types |= UINT64_C(1) << run->judge.trace.events[j].type;
        assert_true((uint32_t)__builtin_popcountll(types) >= rows[i].types);
        sim_schedule_free(schedule);
    }
    sched_run_delete(run);
}

static void
wrong_text_is_refused_with_its_line(void **state)
{
#define FIRST "profsim schedule 1\n"
    static const struct {
        const char *text;
        const char *want;
    } rows[] = {
        {"", "the file is empty"},
        {"profsim scenario 1\n", ":1: a schedule begins"},
        {"profsim schedule 10\n", ":1: a schedule begins"},
        {FIRST "procs 9\n", ":2: not a number in range: '9'"},
        {FIRST "\nprocs x\n", ":3: not a number in range: 'x'"},
        {FIRST "clock 8\n", ":2: not a number in range: '8'"},
        {FIRST "clock 1 offset=x\n", ":2: not an offset: 'offset=x'"},
        {FIRST "clock 1 drift=5\n", "neither offset= nor drift=..ppm"},
        {FIRST "clock 1 drift=xppm\n", ":2: not a drift"},
        {FIRST "stack 1a = 0x1\n", ":2: not a name: '1a'"},
        {FIRST "stack a 0x1\n", ":2: a stack needs '='"},
        {FIRST "stack a = 12\n", ":2: not an address: '12'"},
        {FIRST "stack a = 0x1\nstack a = 0x1\n", ":3: there is a stack 'a'"},
        {FIRST "jump\n", ":2: neither a directive nor an event: 'jump'"},
        {FIRST "p0: jump\n", ":2: unknown event 'jump'"},
        {FIRST "p9: end\n", ":2: not a number in range: 'p9'"},
        {FIRST "@+x p0: end\n", ":2: not a number in range: '@+x'"},
        {FIRST "p0: run 1\n", ":2: not a number in range: '1'"},
        {FIRST "p0: yield s1\n", ":2: there is no stack 's1'"},
        {FIRST "p0: end t1\n", ":2: too many arguments"},
        {FIRST "p0: end\nprocs 1\n", ":3: a directive after the first event"},
        {FIRST "expect bad\n", ":2: neither 'ok' nor 'property'"},
        {FIRST "expect property T3\n", ":2: it is: expect property"},
        {FIRST "expect ok then\n", ":2: too many words: 'then'"},
        {FIRST "expect property T3 broken so\n", ":2: too many words: 'so'"},
        {FIRST "two-readers 2\n", ":2: too many words: '2'"},
        {FIRST "p0: end\rp0: end\n", ":2: not a text file: byte 0x0d"},
        {FIRST "# \x1b[2J\n", ":2: not a text file: byte 0x1b"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct sim_error error = {""};
        struct sim_schedule *schedule;

        write_text(rows[i].text);
        schedule = sim_schedule_read(path, &error);
        if (schedule != NULL || strstr(error.text, rows[i].want) == NULL)
            fail_msg("row %zu: '%s', not '%s'", i, error.text, rows[i].want);
    }
    assert_null(sim_schedule_read("no/such/file", &(struct sim_error){""}));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_world_that_was_printed_runs_as_before),
        cmocka_unit_test(the_fixtures_end_as_they_say),
        cmocka_unit_test(wrong_text_is_refused_with_its_line),
    };

    return cmocka_run_group_tests(tests, a_folder, no_folder);
}
