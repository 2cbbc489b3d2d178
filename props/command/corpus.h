/*
 * corpus.h -- a folder through which fuzzers and campaigns on different
 * machines exchange inputs and failures (docs/scale.md). A file is named by its
 * content: the XXH3 hash as 32 hex digits, and a suffix.
 *
 *      local folder  --> shared folder     files it lacks, named by their hash
 *                    <-- files whose name is their hash
 *
 * Anybody may write to the shared folder. So only regular files of at most
 * CLI_CORPUS_BYTES are read, links are not followed, and a file whose name is
 * not the hash of its content is ignored. Received files are judged again like
 * any other inputs. A file appears whole (it is written, synced, then renamed),
 * and no file is removed.
 */
#ifndef PROPS_COMMAND_CORPUS_H
#define PROPS_COMMAND_CORPUS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/command/exit.h"

enum {
    CLI_CORPUS_BYTES = 1 << 20,
    CLI_CORPUS_TAKEN_BYTES = 1 << 28 /* at a time */
};

struct cli_corpus_counts {
    uint32_t known; /* of the local files */
    uint32_t sent;
    uint32_t taken;
    uint32_t ignored; /* in the shared folder */
};

/*
 * Exchange the files whose names end in `end`. The folders are made if they do
 * not exist.
 *
 * out:     *counts
 * returns: false, and a complaint
 */
bool cli_corpus_exchange(const char *shared, const char *local, const char *end,
                         struct cli_corpus_counts *counts);

/* `profsim corpus SHARED LOCAL` */
enum cli_exit cli_corpus(int argc, char **argv);

#endif
