/*
 * file_stubs.h -- replaces the system calls of prof/file.h at link time (--wrap
 * for each): notes their arguments, and lets a chosen one fail.
 */
#ifndef PROPS_FILE_STUBS_H
#define PROPS_FILE_STUBS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "prof/file.h"

enum call {
    NO_CALL,
    CALL_CREATE, /* openat() of the temporary file */
    CALL_OPEN,   /* openat() of a file written in place */
    CALL_FOLDER, /* openat() of the folder, to sync it */
    CALL_STATUS, /* open() of the process's status ... */
    CALL_READ,   /* and its read() */
    CALL_WRITE,
    CALL_FSTAT,
    CALL_FSTATAT,
    CALL_FSYNC,
    CALL_FCHMOD,
    CALL_FCHOWN,
    CALL_CLOSE,
    CALL_RENAME,
    CALL_RANDOM
};

struct stubs {
    int refused_after; /* calls that succeed before the first failure */
    int refused_times; /* failures that are still to come */
    size_t write_max;  /* bytes that a write takes */
    int errno_before;  /* set before a write that returns 0; 0: not set */
    int start_flags;   /* of the last open() with which a path begins */
    int created_flags; /* of the last temporary file */
    mode_t created_mode;
    int opened_flags; /* of the last file written in place */
    int descriptors;  /* opened and not closed */
    ino_t synced[4];  /* inodes, in the order in which they were synced */
    size_t syncs;
    size_t syncs_before_mode; /* syncs before the file had its mode */
    size_t syncs_before_name; /* syncs before the file had its name */
    size_t unlinks;
    size_t fixed_names; /* how many temporary names are to be the same */
    const char *status; /* read instead of the process's status; NULL: not */
    const char *root;   /* opened instead of "/"; NULL: not */
    const char *swap;   /* opened instead of a file written in place */
    uid_t euid;         /* of the process, if not 0 */
};

extern struct stubs stubs;
extern struct prof_file file;
extern char folder[]; /* the temporary folder of a group of tests */
extern char path[];   /* a file in it */

/* Let a call fail `times` times with errno `error`. */
void refuse(enum call call, int error, int times);

/* The set-up of a group, and that of a test. A test must leave nothing open or
 * behind. */
int make_folder(void **state);
int remove_folder(void **state);
int begin(void **state);
int end(void **state);

/* Return the path of a name in the folder, in one of four buffers in turn. */
const char *in_folder(const char *name);

/* Write text to the file that is being written. */
enum prof_status put(const char *text);

/* Write a whole file; this must succeed. */
void write_text(const char *name, const char *text);

void assert_holds(const char *name, const char *want);

/* Make a file without the library. */
void make_text(const char *name, const char *text);

/* Return the status of a file or link, which must exist. */
struct stat like(const char *name);

/* Let everybody write to the folder (sticky or not), as to /tmp. */
void share_folder(bool sticky);

/* Give a file to another user, if we are root; otherwise pretend to be another
 * user ourselves. */
void give_away(const char *name);

/* A file cannot be begun there, and prof_file_check() says so in advance. */
void assert_refused(const char *name, int error, const char *reason);

/* Write to a name. The file must appear at `place`; then remove it. */
void assert_writes(const char *name, const char *place);

/* Make a pipe at `path`. returns: a descriptor that reads it */
int make_pipe(void);

#endif
