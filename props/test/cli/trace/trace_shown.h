/*
 * trace_shown.h -- what a viewer shows of a converted trace, item by item, read
 * from either format by readers of its own, and what it should show.
 */
#ifndef PROPS_TRACE_SHOWN_H
#define PROPS_TRACE_SHOWN_H

#include <stddef.h>
#include <stdint.h>

#include "trace_reader.h"

/*
 * Return the items that a viewer should show, one a line: kind, track, time in
 * nanoseconds, name; a counter's value, or the event that the item is made
 * from:
 *
 *     B P 0|20|g 5|GoStart g=5 arg=5 seq=3 offset=40 stack=0x1 0x2
 *
 * returns: the lines, to be freed
 */
char *trace_shown_wanted(const struct model_trace *trace);
char *trace_shown_chrome(const char *json);
char *trace_shown_perfetto(const uint8_t *bytes, size_t bytes_count);

#endif
