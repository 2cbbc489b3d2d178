/*
 * path.h -- opens the folder of a file that will be written, and refuses links
 * that other users may have planted.
 */
#ifndef PROF_PORT_PATH_H
#define PROF_PORT_PATH_H

#include <sys/stat.h>

#include "prof/file.h"

struct prof_path {
    char name[PROF_FILE_NAME_MAX + 1];
    int folder; /* holds the name; opened O_PATH, the caller closes it */
    bool is_there;
    struct stat there;  /* what has the name: neither a folder nor a link */
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
 * in:      folder, stat of the folder; thing, stat of a file in it
 * returns: true if only the caller or root can have put the thing there
 */
bool prof_path_trusts(const struct stat *folder, const struct stat *thing);

#endif
