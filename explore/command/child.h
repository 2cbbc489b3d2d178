/* child.h -- runs a command, and hands on the signals that end this one. */
#ifndef EXPLORE_COMMAND_CHILD_H
#define EXPLORE_COMMAND_CHILD_H

/*
 * Run a command and wait for it, and for what it leaves behind. SIGTERM and
 * SIGHUP are handed on, and no command runs after one; what a terminal sends is
 * left to the command.
 *
 * in:      command, its words, and NULL
 * returns: its status as of waitpid(), or -1 if it could not be started
 */
int cli_child_run(char **command);

#endif
