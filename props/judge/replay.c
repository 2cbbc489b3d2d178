/* replay.c -- run a scenario and compare it with what it expects. */
#include "props/judge/replay.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "props/judge/run.h"

/* A million events take less than a second. A run of 60 s counts as endless. */
#define HANG_SECONDS 60

/* Apply all events; stop at a breach, a refusal or a failed expectation. */
static void
apply_all(struct props_run *run, const struct sim_scenario *scenario,
          struct props_replay *replay, uint32_t break_before)
{
    struct sim_error *error = &replay->error;

    for (uint32_t i = 0; i < scenario->events_count; i++) {
        const char *refused;
        bool holds;

        if (i + 1 == break_before)
            raise(SIGTRAP);
        holds = props_run_event(run, &scenario->events[i], &refused);
        if (refused != NULL) {
            snprintf(error->text, sizeof error->text, "%.120s:%u: %s: %.100s",
                     scenario->name, (unsigned)scenario->event_lines[i],
                     sim_event_word(scenario->events[i].kind), refused);
            replay->refused = true;
            return;
        }
        if (!sim_scenario_check_answer(
                scenario, i, sim_world_answer(run->judge.world), error) ||
            !holds)
            return;
    }
    props_run_end(run);
}

static void
check_outcome(struct props_replay *replay, const struct sim_scenario *scenario)
{
    const enum props_property got = replay->breach.property;
    enum props_property expected = PROPS_NONE;

    if (scenario->outcome == SIM_OUTCOME_BROKEN)
        expected = props_property_find(scenario->property);
    replay->as_expected = replay->error.text[0] == '\0' && got == expected;
    if (replay->error.text[0] != '\0' || replay->as_expected)
        return;
    if (expected != PROPS_NONE)
        snprintf(replay->error.text, sizeof replay->error.text,
                 "%.120s:%u: expected %s to be broken, but %s is",
                 scenario->name, (unsigned)scenario->outcome_line,
                 scenario->property,
                 got == PROPS_NONE ? "nothing" : props_property_id(got));
}

/* A file that expects what no property forbids is wrong, whatever it breaks. */
static bool
refuse_outcome(struct props_replay *replay, const struct sim_scenario *scenario)
{
    if (scenario->outcome != SIM_OUTCOME_BROKEN ||
        props_property_find(scenario->property) != PROPS_NONE)
        return false;
    memset(replay, 0, sizeof *replay);
    replay->breach.property = PROPS_NONE;
    replay->refused = true;
    snprintf(replay->error.text, sizeof replay->error.text,
             "%.120s:%u: there is no property '%s'; 'profsim list' names them",
             scenario->name, (unsigned)scenario->outcome_line,
             scenario->property);
    return true;
}

static void
run_here(struct props_replay *replay, struct props_run *run,
         const struct sim_scenario *scenario, props_set requested,
         uint32_t break_before)
{
    const char *why = props_run_begin(run, &scenario->config, requested);

    if (why == NULL) {
        apply_all(run, scenario, replay, break_before);
        replay->breach = run->judge.breach;
    } else {
        snprintf(replay->error.text, sizeof replay->error.text,
                 "%.120s: %.100s", scenario->name, why);
        replay->refused = true;
    }
    check_outcome(replay, scenario);
}

/* Run it in a child, which writes its result to shared memory. */
static bool
run_there(struct props_replay *shared, struct props_run *run,
          const struct sim_scenario *scenario, props_set requested)
{
    pid_t pid;
    int status;

    fflush(NULL); /* so that no buffered text is written twice */
    pid = fork();
    if (pid == 0) {
        alarm(HANG_SECONDS);
        run_here(shared, run, scenario, requested, 0);
        _exit(0);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        return false;
    shared->crashed = !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    shared->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    shared->as_expected &= !shared->crashed;
    return true;
}

/* Judge once, in a child. returns: as props_replay_run() */
static bool
run_once(struct props_replay *replay, const struct sim_scenario *scenario,
         props_set requested)
{
    const struct sim_limits limits = sim_scenario_limits(scenario);
    struct props_run *run;
    struct props_replay *shared;
    bool done = false;

    run = props_run_new(&limits);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (run != NULL && shared != MAP_FAILED) {
        shared->breach.property = PROPS_NONE;
        done = run_there(shared, run, scenario, requested);
        *replay = *shared;
    }
    if (shared != MAP_FAILED)
        munmap(shared, sizeof *shared);
    props_run_delete(run);
    return done;
}

bool
props_replay_run(struct props_replay *replay,
                 const struct sim_scenario *scenario, props_set requested)
{
    struct props_replay again;
    props_set expected;

    if (refuse_outcome(replay, scenario))
        return true;
    if (!run_once(replay, scenario, requested))
        return false;
    if (scenario->outcome != SIM_OUTCOME_BROKEN || replay->as_expected)
        return true;
    expected = PROPS_BIT(props_property_find(scenario->property)) & requested;
    if (expected == 0 || expected == requested)
        return true;
    if (!run_once(&again, scenario, expected))
        return false;
    if (again.as_expected)
        *replay = again;
    return true;
}

props_set
props_replay_requested(const struct sim_scenario *scenario, props_set requested)
{
    struct props_replay replay;
    props_set alone;

    if (scenario->outcome != SIM_OUTCOME_BROKEN ||
        !props_replay_run(&replay, scenario, requested) || !replay.as_expected)
        return requested;
    /* When L1 is not judged, the run lacks the three collections at its end. */
    alone = PROPS_BIT(replay.breach.property);
    return run_once(&replay, scenario, alone) && replay.as_expected ? alone
                                                                    : requested;
}

bool
props_replay_here(struct props_replay *replay,
                  const struct sim_scenario *scenario, props_set requested,
                  const struct props_replay_way *way)
{
    const struct sim_limits limits = sim_scenario_limits(scenario);
    struct props_run *run;

    if (refuse_outcome(replay, scenario))
        return true;
    run = props_run_new(&limits);
    if (run == NULL)
        return false;
    memset(replay, 0, sizeof *replay);
    replay->breach.property = PROPS_NONE;
    run_here(replay, run, scenario, requested, way->break_before);
    props_run_delete(run);
    return true;
}
