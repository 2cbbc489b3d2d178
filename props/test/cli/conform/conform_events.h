/* conform_events.h -- random events of probes, and how they must be judged: by
 * a walk over all events for each block, size or alloc. */
#ifndef CONFORM_EVENTS_H
#define CONFORM_EVENTS_H

#include <stdint.h>

#include "conform/stream.h"

/* Append events. in: stream, in which cli_conform_stream_judge() finds them */
void conform_events_draw(struct stream *stream, uint64_t seed);

/* All judgements of the events, their verdicts and texts. */
void conform_events_expect(void);

#endif
