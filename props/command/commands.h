/* commands.h -- the commands of profsim and what they share. */
#ifndef PROPS_COMMAND_COMMANDS_H
#define PROPS_COMMAND_COMMANDS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/command/complaint.h"
#include "common/command/exit.h"
#include "common/input.h"
#include "prof/rules.h"
#include "props/property.h"

enum cli_exit cli_bias(int argc, char **argv);
enum cli_exit cli_check(int argc, char **argv);
enum cli_exit cli_explain(int argc, char **argv);
enum cli_exit cli_list(int argc, char **argv);
enum cli_exit cli_replay(int argc, char **argv);
enum cli_exit cli_run(int argc, char **argv);
enum cli_exit cli_shrink(int argc, char **argv);

/* Add a property to a set, by its id. Complains if no property has that id. */
bool cli_property(const char *word, props_set *set);

/* returns: the rule set; NULL, and a complaint, if none has that name */
const struct prof_rules *cli_rules(const char *name);

#endif
