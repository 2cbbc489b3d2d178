/*
 * line_reader.h -- reads a small untrusted text file line by line; each
 * complaint names the file and the line.
 */
#ifndef CLI_LINE_READER_H
#define CLI_LINE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "input.h"
#include "shard.h"

struct cli_reader {
    const char *path;
    const char *at;  /* the rest of the line, which ends by a zero byte */
    const char *end; /* of the file */
    char *next;      /* the line after it */
    uint32_t line;
    uint64_t sum; /* of all lines but the last */
    struct sim_input input;
};

/*
 * Read a regular file. The first line must be `first`, the last "end SUM".
 *
 * out:     *reader, to be closed, if true
 * returns: false, after a complaint
 */
bool cli_reader_open(struct cli_reader *reader, const char *path,
                     const char *first);

/*
 * Read the first line of a regular file, or as much of it as there is room for.
 *
 * returns: false, after a complaint
 */
bool cli_reader_first(const char *path, char *first, size_t room);

void cli_reader_close(struct cli_reader *reader);

/* Check that the current line is the last one, with the right sum. */
bool cli_reader_end(struct cli_reader *reader);

/* Complain about the current line. returns: false */
bool cli_reader_wrong(const struct cli_reader *reader, const char *what);

/* Go to the next line. returns: false, after a complaint, if there is none */
bool cli_reader_next(struct cli_reader *reader);

/* returns: does the rest of the line begin with this text? */
bool cli_reader_begins(const struct cli_reader *reader, const char *word);

/* Take the word if the rest of the line begins with it. */
bool cli_reader_skip(struct cli_reader *reader, const char *word);

/* Take a decimal number. returns: false if there is none, or a larger one */
bool cli_reader_number(struct cli_reader *reader, uint64_t most,
                       uint64_t *value);

/* Take the next line, "WORD NUMBER". returns: false, after a complaint */
bool cli_reader_line_number(struct cli_reader *reader, const char *word,
                            uint64_t *value);

/* The same, of a number of 16 hex digits. */
bool cli_reader_line_hash(struct cli_reader *reader, const char *word,
                          uint64_t *value);

/*
 * Take the next `bytes` bytes after the current line. They must be whole lines,
 * but may contain any characters.
 *
 * returns: a copy, malloc'd; NULL after a complaint
 */
char *cli_reader_lines(struct cli_reader *reader, size_t bytes);

/* Take the next line, "shard I/N"; 0/0 means no shard. */
bool cli_reader_line_shard(struct cli_reader *reader, struct cli_shard *shard);

/* Take the next line, "WORD TEXT", whose text a shell reads without quotes. */
bool cli_reader_line_text(struct cli_reader *reader, const char *word,
                          char *text, size_t room);

#endif
