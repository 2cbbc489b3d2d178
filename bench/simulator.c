/*
 * simulator.c -- events per second of the simulator on one core: worlds
 * generated and applied without a judge; the same events again without the
 * generator; and whole runs judged by every property, of heaps and of worlds
 * that carry every instrument.
 */
#include <stdlib.h>

#include "bench/bench.h"
#include "props/judge/run.h"

enum { RUNS = 400, CHOICES_MAX = 8192 };

struct simulator {
    struct sim_choices choices;
    struct sim_choice list[CHOICES_MAX];
    struct sim_generator generator;
    struct sim_world *world;
    struct props_run *run;
    struct props_run *all; /* with room for all instruments */
};

static double
a_second(uint64_t events, uint64_t begun_ns)
{
    return (double)events * 1e3 / (double)(bench_cpu_ns() - begun_ns);
}

static double
generated_once(void *context, uint32_t round)
{
    struct simulator *s = context;
    const uint64_t begun_ns = bench_cpu_ns();
    uint64_t events = 0;

    (void)round;
    for (uint64_t seed = 1; seed <= RUNS; seed++) {
        struct sim_event event;

        sim_choices_random(&s->choices, seed);
        sim_generator_begin(&s->generator, &s->choices, &prof_rules_exact,
                            SIM_WORLDS_HEAPS);
        if (sim_world_reset(s->world, &s->generator.config) != NULL)
            return -1;
        while (sim_generator_next(&s->generator, s->world, &event) &&
               sim_world_apply(s->world, &event) == NULL)
            events++;
    }
    return a_second(events, begun_ns);
}

static double
judged(struct simulator *s, struct props_run *run, uint32_t worlds)
{
    const uint64_t begun_ns = bench_cpu_ns();
    uint64_t events = 0;

    for (uint64_t seed = 1; seed <= RUNS; seed++) {
        sim_choices_random(&s->choices, seed);
        if (!props_run_choices(run, &s->choices, &prof_rules_exact, worlds,
                               PROPS_ALL))
            return -1;
        events += run->events_count;
    }
    return a_second(events, begun_ns);
}

static double
judged_once(void *context, uint32_t round)
{
    struct simulator *s = context;

    (void)round;
    return judged(s, s->run, SIM_WORLDS_HEAPS);
}

static double
all_judged_once(void *context, uint32_t round)
{
    struct simulator *s = context;

    (void)round;
    return judged(s, s->all, SIM_WORLDS_BOTH);
}

/* Run long worlds of this kind, so that the beginning of a run costs little. */
static double
applied_once(void *context, uint32_t round)
{
    static struct sim_event events[SIM_EVENTS_MAX];
    struct simulator *s = context;
    uint64_t elapsed_ns = 0;
    uint64_t applied = 0;

    (void)round;
    for (uint64_t seed = 1; seed <= RUNS; seed++) {
        uint32_t count = 0;
        uint64_t begun_ns;

        sim_choices_random(&s->choices, seed);
        sim_generator_begin(&s->generator, &s->choices, &prof_rules_exact,
                            SIM_WORLDS_HEAPS);
        if (sim_world_reset(s->world, &s->generator.config) != NULL)
            return -1;
        while (count < SIM_EVENTS_MAX &&
               sim_generator_next(&s->generator, s->world, &events[count]) &&
               sim_world_apply(s->world, &events[count]) == NULL)
            count++;
        begun_ns = bench_cpu_ns();
        if (sim_world_reset(s->world, &s->generator.config) != NULL)
            return -1;
        for (uint32_t i = 0; i < count; i++)
            (void)sim_world_apply(s->world, &events[i]);
        elapsed_ns += bench_cpu_ns() - begun_ns;
        applied += count;
    }
    return (double)applied * 1e3 / (double)elapsed_ns;
}

int
main(void)
{
    static struct simulator s;
    struct bench bench;
    static const struct {
        const char *name;
        double (*once)(void *context, uint32_t round);
        double goal;
    } rows[] = {
        {"events-applied", applied_once, 10},
        {"events-generated", generated_once, 0},
        {"events-judged", judged_once, 3},
        {"all-instruments", all_judged_once, 0},
    };

    bench_begin(&bench, "simulator", sizeof rows / sizeof *rows);
    sim_choices_init(&s.choices, s.list, CHOICES_MAX);
    s.world = sim_world_new(&sim_generator_limits);
    s.run = props_run_new(&sim_generator_limits);
    s.all = props_run_new(&sim_generator_limits_all);
    if (s.world == NULL || s.run == NULL || s.all == NULL)
        exit(1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct bench_entrant ours = {"profsim", rows[i].once, &s};
        const struct bench_row row = {.operation = rows[i].name,
                                      .unit = "M/s",
                                      .goal_at_least = rows[i].goal,
                                      .more_is_better = true};

        bench_compare(&bench, &row, &ours, 1);
    }
    props_run_delete(s.run);
    props_run_delete(s.all);
    sim_world_delete(s.world);
    return bench_end(&bench);
}
