/*
 * explore_result.h -- what a shard of an exhaustive search has found, as a file
 * (docs/scale.md). It is written when the shard ends; until then the state is
 * in its checkpoint.
 */
#ifndef CLI_EXPLORE_RESULT_H
#define CLI_EXPLORE_RESULT_H

#include <stdbool.h>
#include <stdint.h>

#include "exit.h"
#include "registry.h"
#include "program_id.h"
#include "shard.h"

#define CLI_EXPLORED_FIRST "profsim result 1 explore"

enum { CLI_EXPLORED_WORDS = 512, CLI_EXPLORED_LIST = 1 << 16 };

struct cli_explored {
    char version[32];
    char program[CLI_PROGRAM_ID_BYTES];
    char asked[CLI_EXPLORED_WORDS]; /* "explore KERNEL" and the options */
    struct cli_shard shard;
    uint64_t spent_ms;
    uint64_t depth; /* how many choices decide which shard has a list; 0: the
                       search is not split, and the first shard does all of
                       it */
    uint64_t loops[SIM_LOOPS_MAX]; /* loads in wait loops, ascending */
    uint64_t loops_count;
    uint64_t runs;
    uint64_t graphs;
    uint64_t graphs_sum;
    uint64_t bounded;
    enum cli_exit exit_code;
    char *choices; /* of a failure, "0,0,2"; malloc'd; NULL: there is none */
};

/* returns: NULL, or why the file was not changed */
const char *cli_explored_write(const struct cli_explored *explored,
                               const char *path);

/*
 * Read a file that anybody may have written.
 *
 * out:     *explored, to be freed
 * returns: false, after a complaint
 */
bool cli_explored_read(struct cli_explored *explored, const char *path);
void cli_explored_free(struct cli_explored *explored);

/*
 * Take over the wait loops that other shards have found, from their results in
 * the same folder: wait loops change the lists of choices, and all shards must
 * search the same lists.
 *
 * returns: true if another shard found that the search cannot be split
 */
bool cli_explored_learn(const struct cli_explored *mine, const char *path);

#endif
