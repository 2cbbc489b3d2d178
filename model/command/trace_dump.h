/* trace_dump.h -- a trace as text, one event per line. */
#ifndef MODEL_COMMAND_TRACE_DUMP_H
#define MODEL_COMMAND_TRACE_DUMP_H

#include <stdio.h>

#include "model/trace/trace_reader.h"

/*
 * Write the events in order, then the stacks that they refer to.
 *
 *      SEQ TICKS offset=0x.. p=P g=G NAME [what it takes] [stack=ID]
 *      stack ID: 0xPC 0xPC ...
 *
 * P is "timers", "network", "syscalls" or "gc" for events of no processor. SEQ
 * and TICKS are as in the file. A rejected trace is written up to the error.
 *
 * returns: false without memory
 */
bool model_trace_dump(const struct model_trace *trace, FILE *to);

#endif
