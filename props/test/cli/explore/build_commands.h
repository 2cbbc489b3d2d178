/*
 * build_commands.h -- tests of test_mutants_table.c: which commands
 * `profsim explore FILE.c` runs, and which functions it refuses to link.
 */
#ifndef PROPS_BUILD_COMMANDS_H
#define PROPS_BUILD_COMMANDS_H

/* in: folder, for files */
void commands_of_builds(const char *folder);
void functions_that_are_foreign(const char *folder);

#endif
