/*
 * record_case.h -- `profsim record` around a shell script, without the
 * recorder: a library that changes nothing stands for it, and a spool made by
 * hand for what it logs.
 */
#ifndef RECORD_CASE_H
#define RECORD_CASE_H

#include "captured.h"
#include "spool_case.h"

enum { RECORD_WORDS = 8 };

/* A call of `profsim record`. */
struct record_case {
    const char *options[RECORD_WORDS]; /* ends with NULL */
    const char *script;                /* $1: a file with a spool */
    const char *library;               /* NULL: one that is there */
    const char *preloaded;             /* by LD_PRELOAD; NULL: nothing */
    uint64_t file_bytes;               /* no file can be larger; 0: it can */
};

/* Run it; the spool holds one allocation. The output is `out`, and the folder
 * of temporary files the test's own. */
struct captured record_run(const struct record_case *one);

/* In a script: log the spool. */
#define RECORD_SAVE "cp \"$1\" \"$PROFSIM_SPOOL/0000001000-x\";"

/* Run it: it ends so and says `text`. The recording is there or not, and the
 * folder of logs is gone. */
void record_expect(const struct record_case *one, int exit_code, int signal,
                   bool is_there, const char *text);

/* Write the spool that spool_case.h has made. */
void record_write_spool(const char *path);

/* returns: the path of a library that changes nothing */
const char *record_library(void);

/* Is a folder that a recording would use still there? */
bool record_left_folder(void);

/* In a damaged log the record of an executed program reaches past the end: it
 * names nothing. */
void record_check_cut(void);

/* Signals while a command runs, and after it; to be run in a child. */
void record_check_signals(void);

/* Convert the logs of three processes, of which some still run (bits): their
 * logs are saved, too, but not removed. */
void record_check_running(uint32_t running);

#endif
