/*
 * build_parts.h -- tests of test_mutants_table.c: what `profsim explore FILE.c`
 * refuses in assembly and in objects, how signals end it, and what it lacks.
 */
#ifndef PROPS_BUILD_PARTS_H
#define PROPS_BUILD_PARTS_H

#include <stddef.h>

/* in: folder, for files */
void assembly_that_is_refused(const char *folder);
void objects_that_are_refused(const char *folder);
void builds_that_a_signal_ends(const char *folder);
void builds_without_tools(const char *folder);

/* For these tests: the folder, a path in it (four are kept), a file that may be
 * run, and how many entries a folder has. */
void build_folder(const char *folder);
const char *build_path(const char *name);
void build_put_file(const char *name, const void *bytes, size_t count);
int build_count(const char *path);

#endif
