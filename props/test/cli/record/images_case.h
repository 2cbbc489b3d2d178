/*
 * images_case.h -- the processes that a program was, as spools made by hand,
 * and which of them a model keeps, under which names.
 */
#ifndef PROPS_IMAGES_CASE_H
#define PROPS_IMAGES_CASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "captured.h"
#include "recfile.h"

enum { IMAGES_MOST = 24 };

/* Of the image at its place by start. */
struct made {
    uint64_t bytes;
    uint64_t events;
    bool is_damaged;
    uint64_t executes_at; /* ticks; 0: nothing */
    uint32_t process;     /* 0: 100 and its place */
};

struct images_case {
    struct made made[IMAGES_MOST];
    size_t count;
    size_t kept; /* at most */
};

/* A call that fails while images are saved. */
enum images_refuse {
    IMAGES_REFUSE_NONE,
    IMAGES_REFUSE_FORK,
    IMAGES_REFUSE_PIPE,
    IMAGES_REFUSE_FIRST_MEMORY,
    IMAGES_REFUSE_SECOND_MEMORY
};
extern enum images_refuse images_refuse;

/* What the recorder has counted as lost in each of the images, by cause. */
extern uint64_t images_dropped[CLI_RECFILE_CAUSES];

/* returns: the path of a spool in the test's folder */
const char *images_spool_name(size_t place);

/* in: argv, the folder of the spools and the recording */
enum cli_exit images_save(int argc, char **argv);

/* Write the spools, and save them. */
struct captured images_run(const struct images_case *one);

/* returns: how often `part` is in `text` */
size_t images_count_of(const char *text, const char *part);

/* Of the last images_run(). */
void images_expect_saved(const struct captured *said);
void images_expect_left(const struct captured *said);

/* Read the recording of an image, and remove it. */
void images_expect_file(size_t place, bool is_there);

/* All of these. */
void images_expect_all(const struct images_case *one);

#endif
