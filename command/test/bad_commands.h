/* bad_commands.h -- commands that misbehave on purpose, which hostile.c must
 * notice. */
#ifndef COMMAND_TEST_BAD_COMMANDS_H
#define COMMAND_TEST_BAD_COMMANDS_H

#include "common/command/exit.h"

enum cli_exit bad_accepts(int argc, char **argv); /* accepts any file */
enum cli_exit bad_prints(int argc, char **argv);  /* an escape sequence */
enum cli_exit bad_crashes(int argc, char **argv);
enum cli_exit bad_grows(int argc, char **argv); /* takes 256 MiB of memory */

#endif
