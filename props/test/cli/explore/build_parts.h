/*
 * build_parts.h -- tests of test_mutants_table.c: what `profsim explore FILE.c`
 * refuses in assembly and in objects, and how signals end it.
 */
#ifndef PROPS_BUILD_PARTS_H
#define PROPS_BUILD_PARTS_H

/* in: folder, for files */
void assembly_that_is_refused(const char *folder);
void objects_that_are_refused(const char *folder);
void builds_that_a_signal_ends(const char *folder);

#endif
