/* trace_command.h -- `profsim trace`: reads "go 1.5 trace" files. */
#ifndef MODEL_COMMAND_TRACE_COMMAND_H
#define MODEL_COMMAND_TRACE_COMMAND_H

#include "common/command/exit.h"

/*
 * Run one verb over files.
 *
 *      trace check FILE...     one line per file: PATH: ok N events, or
 *                              PATH: time-order: REASON, PATH: error: REASON
 *      trace dump FILE...      the events and stacks as text
 *      trace stat FILE...      counts and times
 *      trace convert --to chrome|perfetto FILE -o OUT
 *
 * in:      argv[0], "trace"; argv[1], the verb
 * returns: the exit code: 0 if every file is ok and everything was written,
 *          else 1. Results go to stdout, complaints to stderr, one line each;
 *          OUT appears whole or not at all.
 */
enum cli_exit cli_trace(int argc, char **argv);

#endif
