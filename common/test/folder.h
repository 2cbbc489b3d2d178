/*
 * folder.h -- a temporary folder for a test program: the group's setup makes
 * it, the group's teardown removes it.
 */
#ifndef COMMON_TEST_FOLDER_H
#define COMMON_TEST_FOLDER_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[] = "/tmp/profsim-test-XXXXXX";

/* Make the path of a file in the folder. out: path */
static inline void
folder_path(char *path, size_t bytes, const char *name)
{
    snprintf(path, bytes, "%s/%s", folder, name);
}

/* A setup. returns: 0, or -1 */
static inline int
folder_make(void **state)
{
    (void)state;
    return mkdtemp(folder) != NULL ? 0 : -1;
}

/* Make the folder. out: path, that of a file in it. returns: 0, or -1 */
static inline int
folder_with(char *path, size_t bytes, const char *name)
{
    const int status = folder_make(NULL);

    folder_path(path, bytes, name);
    return status;
}

/* A teardown that fails if something is left in the folder. */
static inline int
folder_remove(void **state)
{
    (void)state;
    return rmdir(folder);
}

/* A teardown that also removes all that is in the folder. */
static inline int
folder_clear(void **state)
{
    char command[64];

    (void)state;
    snprintf(command, sizeof command, "rm -rf -- %s", folder);
    return system(command);
}

#endif
