/* played_stop.h -- calls of sim_engine_stop() without a run. */
#ifndef PLAYED_STOP_H
#define PLAYED_STOP_H

#include "engine.h"

/* How the last run was stopped. */
extern enum sim_end played_stop;

/* returns: did it stop the run? */
bool played_stops(void (*what)(void));

/* Is played_stops() at work? */
bool playing(void);

#endif
