/* scenario_read.c -- a scenario from a file: any file, pipes included. */
#include "sim/scenario/scenario.h"

#include "common/input.h"

struct sim_scenario *
sim_scenario_read(const char *path, struct sim_error *error)
{
    struct sim_scenario *scenario = NULL;
    struct sim_input input;

    if (sim_input_read(&input, path))
        scenario = sim_scenario_parse((const char *)input.bytes,
                                      input.bytes_count, path, error);
    else
        (void)snprintf(error->text, sizeof error->text, "%.120s: %s", path,
                       input.reason);
    sim_input_free(&input);
    return scenario;
}
