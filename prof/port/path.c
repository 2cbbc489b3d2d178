/*
 * path.c -- see path.h.
 *
 * The path is walked name by name: each name is opened in the folder before it,
 * without letting the kernel follow links. So each file that is checked is the
 * one that is used, and every link on the way is checked by itself. The
 * kernel's fs.protected_symlinks checks less: only the last name, and only in
 * sticky folders.
 */
#include "prof/port/path.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { LINKS_MAX = 40 };

struct walk {
    struct prof_path *found;
    int links;
    char rest[PROF_PATH_MAX]; /* of the path, not walked yet */
};

static bool
is_of_us(uid_t owner)
{
    return owner == 0 || owner == geteuid();
}

/*
 * In a folder to which others can write, a file with a second name is not
 * trusted: any user may have made that name if fs.protected_hardlinks is off. A
 * device may have any owner, since only root makes devices.
 */
bool
prof_path_trusts(const struct stat *folder, const struct stat *thing)
{
    const bool is_device = S_ISCHR(thing->st_mode) || S_ISBLK(thing->st_mode);

    if (is_of_us(folder->st_uid) &&
        (folder->st_mode & (S_IWGRP | S_IWOTH)) == 0)
        return true;
    return (is_device || is_of_us(thing->st_uid)) && thing->st_nlink == 1;
}

static int
enter(struct prof_path *found, int folder)
{
    if (found->folder >= 0)
        close(found->folder);
    found->folder = folder;
    return folder < 0 ? errno : 0;
}

/* Begin at the root, or at the current folder. */
static int
start(struct walk *walk)
{
    return enter(walk->found, open(walk->rest[0] == '/' ? "/" : ".",
                                   O_PATH | O_DIRECTORY | O_CLOEXEC));
}

/* Put the target of a link in front of the rest of the path. returns: 0 or an
 * errno */
static int
follow(struct walk *walk, int link, const struct stat *like, const char *tail)
{
    struct prof_path *found = walk->found;
    char target[PROF_PATH_MAX];
    const size_t tail_bytes = strlen(tail) + 1;
    struct stat folder;
    ssize_t bytes;

    if (++walk->links > LINKS_MAX)
        return ELOOP;
    if (fstat(found->folder, &folder) != 0)
        return errno;
    if (!prof_path_trusts(&folder, like)) {
        found->reason = "a link that another user may have planted";
        return EACCES;
    }
    bytes = readlinkat(link, "", target, sizeof target);
    if (bytes < 0 || (size_t)bytes + tail_bytes > sizeof walk->rest)
        return bytes < 0 ? errno : ENAMETOOLONG;
    memmove(&walk->rest[bytes], tail, tail_bytes);
    memcpy(walk->rest, target, (size_t)bytes);
    return walk->rest[0] == '/' ? start(walk) : 0;
}

/*
 * Continue from a thing that was opened without following it, and close it.
 *
 * in:      tail, the path after it
 * out:     *over, true if the walk ends here
 */
static int
pass(struct walk *walk, int thing, const char *tail, bool *over)
{
    struct prof_path *found = walk->found;
    int error = fstat(thing, &found->there) == 0 ? 0 : errno;

    if (error == 0 && S_ISDIR(found->there.st_mode)) {
        memmove(walk->rest, tail, strlen(tail) + 1);
        return enter(found, thing);
    }
    if (error == 0 && S_ISLNK(found->there.st_mode))
        error = follow(walk, thing, &found->there, tail);
    else if (error == 0 && *tail != '\0')
        error = ENOTDIR;
    else
        *over = found->is_there = error == 0;
    close(thing);
    return error;
}

/* Walk one name. */
static int
step(struct walk *walk, bool *over)
{
    struct prof_path *found = walk->found;
    const char *const name = walk->rest + strspn(walk->rest, "/");
    const size_t bytes = strcspn(name, "/");
    int thing;

    if (bytes == 0)
        return EISDIR;
    if (bytes > PROF_FILE_NAME_MAX)
        return ENAMETOOLONG;
    memcpy(found->name, name, bytes);
    found->name[bytes] = '\0';
    thing = openat(found->folder, found->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (thing >= 0)
        return pass(walk, thing, name + bytes, over);
    *over = errno == ENOENT && name[bytes] == '\0';
    return *over ? 0 : errno;
}

int
prof_path_find(struct prof_path *found, const char *path)
{
    struct walk walk = {.found = found};
    const size_t bytes = strlen(path) + 1;
    bool over = false;
    int error;

    *found = (struct prof_path){.folder = -1};
    if (bytes == 1)
        return ENOENT;
    if (bytes > sizeof walk.rest)
        return ENAMETOOLONG;
    memcpy(walk.rest, path, bytes);
    error = start(&walk);
    while (error == 0 && !over)
        error = step(&walk, &over);
    if (error != 0 && found->folder >= 0)
        close(found->folder);
    return error;
}
