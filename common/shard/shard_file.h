/*
 * shard_file.h -- what a shard has found, as a file: `--result` writes it, the
 * same shard resumes from it, and `profsim merge` adds it to the others.
 *
 *      profsim result 2
 *      build 0.2.0 b1bcf898f777e55590873e83e5cb2def
 *      shard 3/7
 *      word explore                the command, without what concerns only
 *      word lock.c                 this shard
 *      word --
 *      word -DFIXED
 *      runs 429                    numbers and texts of the command
 *      choices g0,1
 *      end 0123456789abcdef        XXH3 hash of all lines above
 *
 * A line is a name and a text, in which line ends and backslashes are escaped.
 * Each command has one function that passes its values to a file or from it, so
 * both have the same names. A file appears whole, and is read as hostile.
 */
#ifndef COMMON_SHARD_SHARD_FILE_H
#define COMMON_SHARD_SHARD_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "common/input.h"
#include "common/shard/shard.h"

enum { CLI_BUILD_BYTES = 64 };

struct cli_shard_line {
    const char *name;
    char *text;
};

struct cli_shard_file {
    const char *path;
    char build[CLI_BUILD_BYTES]; /* the version, and a hash of the program */
    struct cli_shard shard;
    char **words; /* of the command; NULL at the end */

    FILE *out; /* of a file that is written; else NULL */
    char *out_bytes;
    size_t out_count;

    struct sim_input input; /* of a file that is read */
    struct cli_shard_line *lines;
    uint32_t lines_count;
    uint32_t at; /* where the next line is expected */
    bool wrong;  /* the file was complained of */
};

/*
 * Begin the description of this process's shard.
 *
 * in:      shard; count 0 is shard 1 of 1
 *          argv, the command; the options in `dropped`, a list with NULL at its
 *          end, and those that say where output goes, are left out of its words
 *          given, the value of --result; NULL: no file
 *          path, room for the path of the file
 * out:     *mine, to be closed
 * returns: false, and a complaint
 */
bool cli_shard_begin(struct cli_shard_file *mine, struct cli_shard shard,
                     int argc, char *const *argv, const char *const *dropped,
                     const char *given, char *path, size_t room);

/* Identify this program by its bytes: two builds of the same sources by the
 * same compiler are equal. returns: false, and a complaint */
bool cli_shard_build(char build[CLI_BUILD_BYTES]);

/*
 * Find the file of this shard from which it may resume.
 *
 * out:     *found, to be closed, if *exists
 * returns: false, and a complaint, if there is a file that is of another
 *          command, shard or build, or damaged
 */
bool cli_shard_resume(const struct cli_shard_file *mine,
                      struct cli_shard_file *found, bool *exists);

/*
 * Begin to write the file of `mine`, and end it, whole or not at all. Between
 * the two, values are passed to it.
 *
 * returns: false, and a complaint
 */
void cli_shard_write(struct cli_shard_file *mine);
bool cli_shard_written(struct cli_shard_file *mine);

/*
 * Read a file that anybody may have written.
 *
 * out:     *file, to be closed, also if false
 * returns: false, and a complaint
 */
bool cli_shard_read(struct cli_shard_file *file, const char *path);
void cli_shard_close(struct cli_shard_file *file);

/* Pass a number of the name to or from a file: if it has none, the number is 0
 * and the file is wrong. */
void cli_shard_pass(struct cli_shard_file *file, uint64_t *value,
                    const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Pass a text. in, out: *text, malloc'd if it is read; NULL: there is none */
void cli_shard_pass_text(struct cli_shard_file *file, char **text,
                         const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Complain of the file, once, unless the claim holds. returns: whether the file
 * is right so far */
bool cli_shard_claims(struct cli_shard_file *file, bool holds,
                      const char *claim);

/* returns: NULL, or in what b is of another search than a: build, command or
 *          number of shards */
const char *cli_shard_difference(const struct cli_shard_file *a,
                                 const struct cli_shard_file *b);

/* returns: false, and a complaint, if there is a difference */
bool cli_shard_fits(const struct cli_shard_file *a,
                    const struct cli_shard_file *b);

/*
 * Find the results in a folder, sorted by name.
 *
 * out:     *paths[0 .. returned), to be freed, and their array
 * returns: how many; -1, with errno, if the folder cannot be read
 */
int cli_shard_list(const char *folder, char ***paths);
void cli_shard_list_free(char **paths, int count);

#endif
