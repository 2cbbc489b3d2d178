/* small_recording.h -- the tables of a small recording, for tests. */
#ifndef PROPS_SMALL_RECORDING_H
#define PROPS_SMALL_RECORDING_H

#include "recfile.h"

/* Write all tables: 3 frames, 4 stacks, 2 threads, depth limit 4, start at
 * 77. */
void props_small_recording_tables(struct cli_recfile *file);

#endif
