/*
 * file_case.h -- for the tests of prof/file.h: a folder for each test, and what
 * is in it.
 */
#ifndef PROF_TEST_FILE_CASE_H
#define PROF_TEST_FILE_CASE_H

#include <stdbool.h>
#include <sys/stat.h>

#include "prof/file.h"

enum { ANOTHER_USER = 54321 };

extern struct prof_file file;
extern char folder[]; /* of the running test */
extern char path[];   /* of a file in it, which is not there at first */

/* The set-up and teardown of a test. It must leave no temporary file and no
 * open descriptor. */
int file_case_begin(void **state);
int file_case_end(void **state);

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

/* returns: the mode of a file, without its type */
mode_t mode_of(const char *name);

/* A file cannot be begun there, and prof_file_check() says so in advance. */
void assert_refused(const char *name, int error, const char *reason);

/* Write to a name. The file must appear at `place`; then remove it. */
void assert_writes(const char *name, const char *place);

/* Make a pipe at `path`. returns: a descriptor that reads it */
int make_pipe(void);

#endif
