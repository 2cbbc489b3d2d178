/* scenario_case.h -- a scenario from a text, for tests. */
#ifndef SCENARIO_CASE_H
#define SCENARIO_CASE_H

#include <string.h>

#include "scenario.h"
#include "unit_test.h"

#define FIRST "profsim scenario 2\n"

/* Read a scenario, or fail the test. returns: the scenario, for
 * sim_scenario_free() */
static inline struct sim_scenario *
read_good(const char *text)
{
    struct sim_error error = {{0}};
    struct sim_scenario *s =
        sim_scenario_parse(text, strlen(text), "x.sim", &error);

    if (s == NULL)
        fail_msg("refused: %s", error.text);
    return s;
}

#endif
