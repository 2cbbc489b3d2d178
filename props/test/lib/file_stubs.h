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
    CALL_OPEN,   /* openat() of what is written in place */
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
    int refused_after; /* calls that are let through first */
    int refused_times; /* that are left */
    size_t write_max;  /* bytes that a write takes */
    int errno_before;  /* of a write that takes nothing; 0: not set */
    int start_flags;   /* of the last open(), where a path begins */
    int created_flags; /* of the last temporary file */
    mode_t created_mode;
    int opened_flags; /* of the last thing written in place */
    int descriptors;  /* opened and not closed */
    ino_t synced[4];  /* files, in their order */
    size_t syncs;
    size_t syncs_before_mode; /* the file had got its mode */
    size_t syncs_before_name; /* the file had got its name */
    size_t unlinks;
    size_t fixed_names; /* so many temporary names are the same */
    const char *status; /* is read instead of the process's; NULL: that */
    const char *root;   /* is opened instead of "/"; NULL: that */
    const char *swap;   /* is opened instead of what is written in place */
    uid_t euid;         /* of the process, if not 0 */
};

extern struct stubs stubs;
extern struct prof_file file;
extern char folder[]; /* a new one, of the group of tests */
extern char path[];   /* a file in it */

/* Let a call fail, so often, with such an errno. */
void refuse(enum call call, int error, int times);

/* Fixtures: of a group, of a test. A test ends with nothing open or left. */
int make_folder(void **state);
int remove_folder(void **state);
int begin(void **state);
int end(void **state);

/* returns: the path of a name in the folder, in one of four buffers in turn */
const char *in_folder(const char *name);

/* Write text to the file that was begun. */
enum prof_status put(const char *text);

/* Write a file at once, which must work. */
void write_text(const char *name, const char *text);

void assert_holds(const char *name, const char *want);

/* Make a file without the library. */
void make_text(const char *name, const char *text);

/* returns: how a file or link is, which must be there */
struct stat like(const char *name);

/* Let the folder be one that all may write to, or only we. */
void share_folder(bool sticky);

/* Let a thing be another user's, as root may; or let us be another user. */
void give_away(const char *name);

/* A file cannot be begun there, which is known early. */
void assert_refused(const char *name, int error, const char *reason);

/* Write to a name; the file is at the place, and is removed. */
void assert_writes(const char *name, const char *place);

/* Make a pipe at `path`. returns: a descriptor that reads it */
int make_pipe(void);

#endif
