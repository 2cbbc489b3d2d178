/*
 * images.h -- the process images that a recorder logged: a folder with one
 * spool each, and the recordings made from them.
 */
#ifndef RECORD_SYMBOLS_IMAGES_H
#define RECORD_SYMBOLS_IMAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/command/exit.h"
#include "record/convert/recfile.h"

#define CLI_IMAGES_DEFAULT 32

struct cli_image {
    char name[256]; /* of its spool; names sort by start */
    uint32_t process;
    uint32_t parent;
    uint64_t events; /* allocations, waits and releases */
    uint64_t bytes;  /* asked for in all */
    char command[256];
    size_t number; /* of its file: 1 output, 2 output.2; 0: not kept */
    uint64_t dropped[CLI_RECFILE_CAUSES]; /* if it was saved */
    bool is_chosen;
    bool is_running; /* a process still logs into it */
    bool is_saved;
    bool is_done; /* it was saved, or need not be */
};

struct cli_images {
    const char *verb; /* in messages: "record" */
    const char *folder;
    struct cli_image *items; /* by start */
    size_t count;
};

/*
 * Read a folder. Files that are not spools are left alone.
 *
 * out:     *images, to be released also on failure
 * in:      verb and folder, valid as long as *images
 * returns: false, reported on stderr, if it cannot be read
 */
bool cli_images_read(struct cli_images *images, const char *verb,
                     const char *folder);
void cli_images_release(struct cli_images *images);

/*
 * Make recordings of the images that requested the most bytes. Print a list of
 * them, and what each lacks. The largest becomes `output`, the others output.2,
 * ... by start.
 *
 * in:      most, images to keep, at least 1
 * returns: false, reported on stderr, if there is none or one was not written
 */
bool cli_images_save(struct cli_images *images, const char *output,
                     size_t most);

/*
 * Remove the spools that were saved, and the folder if it is then empty. Print
 * which spools are left and how to save them.
 */
void cli_images_remove(const struct cli_images *images);

/* `profsim recover`: save the images of a recorder that was ended. */
enum cli_exit cli_recover(int argc, char **argv);

#endif
