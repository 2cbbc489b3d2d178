/*
 * small_recording.h -- a small recording with one of everything, for tests.
 */
#ifndef PROPS_SMALL_RECORDING_H
#define PROPS_SMALL_RECORDING_H

#include "recfile.h"
#include "recording.h"

#define PROPS_SMALL_COUNT 11u

extern const uint64_t props_recording_dropped[CLI_RECFILE_CAUSES];
extern const struct sim_recorded props_small_recording[PROPS_SMALL_COUNT];

/* Write all tables: 3 frames, 4 stacks, 2 threads, depth limit 4, start at
 * 77. */
void props_small_recording_tables(struct cli_recfile *file);

/* Write tables, events and totals. in: block_bytes, see cli_recfile_init() */
void props_small_recording_write(struct cli_recfile *file, size_t block_bytes);

/* Read a recording that must be good; fails the test if it is not. */
struct sim_recording *props_small_recording_read(const uint8_t *bytes,
                                                 size_t count);

/* Read every event of a recording; each number must be in range. */
void props_small_recording_walk(const struct sim_recording *recording);

#endif
