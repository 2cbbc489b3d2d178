/*
 * recording_story.h -- a small recording with one of everything, for tests.
 */
#ifndef PROPS_RECORDING_STORY_H
#define PROPS_RECORDING_STORY_H

#include "recfile.h"
#include "recording.h"

#define PROPS_STORY_COUNT 11u

extern const uint64_t props_recording_dropped[CLI_RECFILE_CAUSES];
extern const struct sim_recorded props_recording_story[PROPS_STORY_COUNT];

/* All tables: 3 frames, 4 stacks, 2 threads, depth limit 4, start at 77. */
void props_recording_story_tables(struct cli_recfile *file);

/* Tables, events and totals; in: block_bytes, see cli_recfile_init() */
void props_recording_story_write(struct cli_recfile *file, size_t block_bytes);

/* Read a recording that must be good; fails the test if it is not. */
struct sim_recording *props_recording_story_read(const uint8_t *bytes,
                                                 size_t count);

/* Walk all of a recording that passed: its numbers are in range then. */
void props_recording_story_walk(const struct sim_recording *recording);

#endif
