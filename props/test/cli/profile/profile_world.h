/*
 * profile_world.h -- a run of `profsim profile` around a shell script, without
 * the profiler: a library that changes nothing stands for it, and files made by
 * hand for what it writes. All of them are in FOLDER/out.
 */
#ifndef PROPS_PROFILE_WORLD_H
#define PROPS_PROFILE_WORLD_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "captured.h"

enum { PROFILE_WORDS = 12, PROFILE_TEXT = 1 << 14 };

/* How it is run, unless these are zero. */
struct profile_special {
    const char *library;
    const char *output;
    bool is_another_user; /* one who may not write everywhere */
    bool is_closed;       /* without standard input, and few other files */
    bool is_unread;       /* nobody reads its messages */
    size_t read_bytes;    /* most that are read at a time */
    uint32_t reads;       /* that succeed; 0: all */
    int read_end; /* of the file, errno, if the next one fails; 0: the end */
    int signal_at_read;
    uint32_t refused;  /* request for memory */
    size_t file_bytes; /* no file can be larger; 0: it can */
};
extern struct profile_special profile_special;

/* Run it with the folder `out`, in other words, unless another is special. in:
 * script, NULL: no command */
struct captured profile_run(const char *folder, const char *const *options,
                            const char *script);

/* Check how it ended and what it said. */
void profile_expect(struct captured said, int exit_code, int signal,
                    const char *text);

enum profile_made {
    PROFILE,
    EMPTY,
    ONE,
    DAMAGED,
    LINK,
    PIPE,
    LARGE,
    FOLDER,
    NONE
};

struct profile_file {
    const char *name;
    enum profile_made made;
    uint64_t seed;
    const char *saved; /* as NAME, with the ending .pb.gz; NULL: it is not */
};

/* out: path, PATH_MAX bytes */
void profile_path(char *path, const char *folder, const char *name,
                  const char *end);
void profile_make_folder(const char *folder);
void profile_make(const char *folder, const struct profile_file *file);

/* Remove what must be there. */
void profile_remove(const char *folder, const char *name);

/* Each of its files says what the process wrote; remove them. in: shown, the
 * type that is shown first */
void profile_expect_saved(const char *folder, const struct profile_file *file,
                          const char *name, bool otlp, const char *shown);

bool profile_is_heap(const struct profile_file *file);

/* Print what the command says of the first of the largest heaps. */
void profile_print_largest(FILE *to, const char *folder,
                           const struct profile_file *files, size_t count);

#endif
