/*
 * replay.c -- `profsim replay` and `profsim shrink`: scenario files again.
 */
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "failure.h"
#include "options.h"
#include "replay.h"
#include "sched_text.h"
#include "schedule.h"

static enum cli_exit
replay_file(const char *path)
{
    struct sim_error error;
    struct props_replay replay;
    struct sim_scenario *scenario = sim_scenario_read(path, &error);
    bool done;

    if (scenario == NULL) {
        fprintf(stderr, "profsim: %s\n", error.text);
        return CLI_USAGE;
    }
    done = props_replay_run(&replay, scenario, PROPS_ALL);
    sim_scenario_free(scenario);
    if (!done)
        return cli_usage("%s: not enough memory", path);
    if (replay.crashed)
        return cli_crash(path, replay.signal);
    if (replay.refused)
        return cli_usage("%s", replay.error.text);
    if (replay.breach.property != PROPS_NONE) {
        printf("%s: %s broken: %s\n  event %u: %s\n", path,
               props_property_id(replay.breach.property),
               props_property_sentence(replay.breach.property),
               (unsigned)replay.breach.event + 1, replay.breach.text);
        return cli_exit_of(replay.breach.property);
    }
    if (replay.error.text[0] != '\0') {
        printf("%s\n", replay.error.text);
        return CLI_BROKEN;
    }
    printf("%s: every property holds\n", path);
    return CLI_OK;
}

static const struct cli_syntax replay_syntax = {
    .command = "replay",
    .words = "FILE.sim...",
    .about = "Run scenarios and schedules, and say what they break, if "
             "anything.\n",
    .exits = CLI_EXIT_HELP,
};

enum cli_exit
cli_replay(int argc, char **argv)
{
    enum cli_exit worst = CLI_OK;
    struct cli_options words;
    int count;

    cli_options_begin(&words, &replay_syntax, argc, argv);
    if (!cli_options_words(&words, &count))
        return words.exit_code;
    if (count == 0)
        return cli_options_missing(&words, "a FILE");
    for (int i = 1; i <= count; i++) {
        const enum cli_exit this_one = sim_schedule_is(argv[i])
                                           ? cli_schedule_replay(argv[i])
                                           : replay_file(argv[i]);

        worst = cli_exit_worse(worst, this_one);
    }
    return worst;
}

static const struct cli_syntax shrink_syntax = {
    .command = "shrink",
    .words = "FILE.sim > SMALLER.sim",
    .about = "Leave out every event that the failure does not need.\n",
};

enum cli_exit
cli_shrink(int argc, char **argv)
{
    struct sim_error error;
    struct props_failure failure;
    struct sim_scenario *scenario;
    char command[512];
    enum cli_exit exit_code = CLI_OK;
    struct cli_options words;
    int count;
    bool done;

    cli_options_begin(&words, &shrink_syntax, argc, argv);
    if (!cli_options_words(&words, &count))
        return words.exit_code;
    if (count == 0)
        return cli_options_missing(&words, "a FILE");
    if (count > 1)
        return cli_usage("shrink: takes one file; '%s' is one more", argv[2]);
    scenario = sim_scenario_read(argv[1], &error);
    if (scenario == NULL) {
        fprintf(stderr, "profsim: %s\n", error.text);
        return CLI_USAGE;
    }
    snprintf(command, sizeof command, "profsim shrink %.400s", argv[1]);
    done = props_failure_of_scenario(&failure, scenario, PROPS_ALL, command);
    sim_scenario_free(scenario);
    if (!done)
        return cli_usage("%s: not enough memory", argv[1]);
    if (failure.runs == 0)
        return cli_usage("%s: breaks nothing, so there is nothing to shrink",
                         argv[1]);
    if (failure.text == NULL)
        exit_code = cli_usage("%s", failure.error.text);
    else if (fputs(failure.text, stdout) < 0 || fflush(stdout) != 0)
        exit_code = cli_usage("cannot write the scenario");
    props_failure_free(&failure);
    return exit_code;
}
