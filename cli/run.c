/* run.c -- `profsim run`: a scenario, with its expectations. */
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "replay.h"

static enum cli_exit
run_scenario(const char *path)
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
        return (enum cli_exit)cli_usage("%s: not enough memory", path);
    if (replay.as_expected) {
        printf("%s: ok%s%s\n", path,
               replay.breach.property == PROPS_NONE ? "" : ": breaks ",
               replay.breach.property == PROPS_NONE
                   ? ""
                   : props_property_id(replay.breach.property));
        return CLI_OK;
    }
    if (replay.error.text[0] != '\0')
        printf("%s\n", replay.error.text);
    if (replay.breach.property != PROPS_NONE)
        printf("%s: %s broken: %s\n", path,
               props_property_id(replay.breach.property), replay.breach.text);
    return CLI_BROKEN;
}

int
cli_run(int argc, char **argv)
{
    enum cli_exit worst = CLI_OK;

    if (argc < 2 || argv[1][0] == '-') {
        fputs("usage: profsim run FILE.sim...\n", argc < 2 ? stderr : stdout);
        return argc < 2 ? CLI_USAGE : CLI_OK;
    }
    for (int i = 1; i < argc; i++) {
        const enum cli_exit this_one = run_scenario(argv[i]);

        if (worst == CLI_OK || this_one == CLI_USAGE)
            worst = this_one;
    }
    return worst;
}
