/* mutants.h -- what became of the mutants of each line of the library. */
#ifndef CLI_MUTANTS_H
#define CLI_MUTANTS_H

#include "exit.h"

/*
 * Print a table that `make mutants FULL=1` has written, file by file.
 *
 * returns: an exit code of command.h
 */
enum cli_exit cli_mutants_of_lines(const char *path);

#endif
