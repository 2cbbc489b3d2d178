/* check_saved.h -- replays failures that earlier searches saved. */
#ifndef PROPS_COMMAND_CHECK_SAVED_H
#define PROPS_COMMAND_CHECK_SAVED_H

#include "props/command/check_options.h"

/* returns: CLI_OK if none fails; else the exit code of the first that does */
enum cli_exit cli_check_saved(const struct cli_check_options *options);

#endif
