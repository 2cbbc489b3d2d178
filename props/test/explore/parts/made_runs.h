/* made_runs.h -- tests of reports whose runs are made up. */
#ifndef PROPS_MADE_RUNS_H
#define PROPS_MADE_RUNS_H

#include "engine.h"

/* What runs do; NULL: as they should. */
extern void (*made_run)(struct sim_choices *choices, struct sim_run *run);

/* returns: how many failed */
int made_runs_tests(void);

#endif
