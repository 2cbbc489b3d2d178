/*
 * build_commands.h -- tests of test_mutants_table.c: which commands
 * `profsim explore FILE.c` runs, and which functions it refuses to link.
 */
#ifndef PROPS_BUILD_COMMANDS_H
#define PROPS_BUILD_COMMANDS_H

#include <elf.h>
#include <stdint.h>

/* in: folder, for files */
void commands_of_builds(const char *folder);
void functions_that_are_foreign(const char *folder);

/* Write the head of an object file. in: sections, the offset of their table; of
 * `count` the last holds their names */
void build_object_head(Elf64_Ehdr *head, Elf64_Off sections, uint16_t count);

#endif
