/*
 * prof/file.h -- writing a file so that it appears whole or not at all.
 *
 * The bytes go to a temporary file in the folder of the wanted name. It has a
 * random name and mode 0600, and did not exist before. At the end it is synced
 * and renamed, and the folder is synced, so a reader sees the old file or the
 * new one, never a part.
 *
 * What happens depends on what the name already refers to:
 *
 *   nothing          a new file, of mode 0666 less the umask
 *   a regular file   replaced; the new file takes over its mode and group, not
 *                    its owner, its ACL or its other names
 *   a symbolic link  followed, as are links to folders in the path; the file
 *                    that it names is replaced, the link stays
 *   a pipe, device   written to, never replaced. /dev/stdout, /dev/stderr and
 *                    /dev/fd/N are the caller's own descriptors
 *   a folder, socket an error
 *
 * In a shared folder such as /tmp, other users may create names that lead
 * elsewhere. So in a folder that others can write to, or that belongs to
 * another user, links and pipes are used only if they belong to the caller or
 * to root, and have no second hard link. If an old file belongs to neither, the
 * new one does not take over a wider mode from it. The folder is looked up once
 * and held open to the end.
 */
#ifndef PROF_FILE_H
#define PROF_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "prof/sink.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

#define PROF_PATH_MAX      4096
#define PROF_FILE_NAME_MAX 255

struct prof_file {
    int descriptor;     /* the bytes go here; -1: none */
    int folder;         /* of the final name; -1: written in place */
    int error;          /* errno of the first failure; 0: none */
    const char *reason; /* for prof_file_reason(); NULL: errno says it all */
    bool is_private;
    bool is_quick;       /* set by prof_file_be_quick() */
    uint64_t old_device; /* of the regular file that was there; */
    uint64_t old_number; /* 0: there was none */
    char name[PROF_FILE_NAME_MAX + 1];
    char temporary[32]; /* in the same folder; "": written in place */
};

/*
 * Begin to write the file `path`.
 *
 * out:     *file; on failure file->error says why, and nothing need be undone
 * returns: PROF_OK, PROF_ERR_SINK
 */
PROF_NODISCARD enum prof_status prof_file_begin(struct prof_file *file,
                                                const char *path);

/* The same, but a new file has mode 0600, whatever the mode of the old one. */
PROF_NODISCARD enum prof_status prof_file_begin_private(struct prof_file *file,
                                                        const char *path);

/*
 * Do not wait for the disk at the end. A reader still finds the old file or the
 * whole new one; but if the machine fails soon after, there may be neither.
 *
 * in: file, begun
 */
void prof_file_be_quick(struct prof_file *file);

/* returns: a sink that writes to the file; interrupted writes are continued */
struct prof_sink prof_file_sink(struct prof_file *file);

/*
 * End the file.
 *
 * in:      status, of what was written; unless PROF_OK the file is discarded
 * returns: status; PROF_ERR_SINK if the file could not be made durable or moved
 *          to its name; what had that name before is then unchanged
 */
PROF_NODISCARD enum prof_status prof_file_end(struct prof_file *file,
                                              enum prof_status status);

/*
 * Remove the unfinished file, because the process is about to end.
 *
 * in:      file, begun; all zero is fine, too
 * context: signal handlers
 */
void prof_file_abandon(const struct prof_file *file);

/*
 * Would this file replace the file `input`?
 *
 * in:      file, begun or checked; input, a path
 * returns: true if both are the same regular file, by device and number
 */
bool prof_file_is(const struct prof_file *file, const char *input);

/*
 * Could `path` be written? Call this before long work whose result goes there.
 *
 * out:     *file, for prof_file_reason(); nothing is open
 * returns: PROF_OK, PROF_ERR_SINK
 */
PROF_NODISCARD enum prof_status prof_file_check(struct prof_file *file,
                                                const char *path);

/*
 * Make the folder `path`, unless it is there.
 *
 * out, returns: as prof_file_check()
 */
PROF_NODISCARD enum prof_status prof_file_folder(struct prof_file *file,
                                                 const char *path);

/* returns: why a call failed, for people; valid until the next strerror() */
const char *prof_file_reason(const struct prof_file *file);

/*
 * A sink that writes to an open descriptor, for anything but a regular file.
 *
 * in:      file, with a descriptor set by the caller and all else zero. Do not
 *          call prof_file_end(): the descriptor stays the caller's
 */
struct prof_sink prof_descriptor_sink(struct prof_file *file);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
