/* audit_command.h -- `profsim audit`. */
#ifndef CLI_AUDIT_COMMAND_H
#define CLI_AUDIT_COMMAND_H

#include "exit.h"

enum cli_exit cli_audit(int argc, char **argv);

#endif
