/*
 * conform_command.h -- tests of test_mutants_table.c: what `profsim conform`
 * runs, prints and reports.
 */
#ifndef PROPS_CONFORM_COMMAND_H
#define PROPS_CONFORM_COMMAND_H

/* in: folder, for files */
void conform_of_libraries(const char *folder);
void conform_of_a_command(const char *folder);
void conform_of_wrong_words(const char *folder);

#endif
