/*
 * path.h -- finds the way to a file that will be written, past links that
 * others may have planted.
 */
#ifndef PROF_PORT_PATH_H
#define PROF_PORT_PATH_H

#include <sys/stat.h>

#include "prof/file.h"

struct prof_path {
    char name[PROF_FILE_NAME_MAX + 1];
    int folder; /* that holds the name, opened O_PATH; the caller closes it */
    bool is_there;
    struct stat there;  /* what the name stands for: no folder, no link */
    const char *reason; /* why it failed; NULL: errno says it all */
};

/*
 * Follow a path to its last name, which need not exist.
 *
 * out:     *found; on failure nothing is open
 * returns: 0; an errno, EISDIR if the path names a folder
 */
int prof_path_find(struct prof_path *found, const char *path);

/*
 * in:      folder, status of the folder; thing, status of a file in it
 * returns: true if only the caller or root can have put the thing there
 */
bool prof_path_trusts(const struct stat *folder, const struct stat *thing);

#endif
