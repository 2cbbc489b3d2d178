/*
 * record.h -- `profsim record`: run a command under the recorder.
 */
#ifndef RECORD_COMMAND_RECORD_H
#define RECORD_COMMAND_RECORD_H

#include "common/command/exit.h"

/*
 * in:      argv[0] is "record"
 * returns: the command's exit code. If a signal ended the command, the same
 *          signal ends this process. CLI_RECORD, with a line on stderr, if the
 *          recording cannot be written or, with --strict, was not;
 *          CLI_NOT_EXECUTABLE, CLI_NOT_FOUND if no
 *          command was run
 */
enum cli_exit cli_record(int argc, char **argv);

/* What recordings hold: of one program, and of two beside each other. */
enum cli_exit cli_show(int argc, char **argv);
enum cli_exit cli_diff(int argc, char **argv);

#endif
