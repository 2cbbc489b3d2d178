/*
 * explore_shard.h -- `profsim explore ... --shard I/N --result FILE`: a shard
 * of an exhaustive search. The file is written when the shard ends; until then
 * the state is in its checkpoint.
 */
#ifndef EXPLORE_COMMAND_EXPLORE_SHARD_H
#define EXPLORE_COMMAND_EXPLORE_SHARD_H

#include "explore/command/explore_words.h"
#include "common/shard/shard_file.h"

/* What a shard has found. */
struct cli_explored {
    uint64_t elapsed_ms;
    uint64_t depth; /* how many choices decide which shard has a list; 0: the
                       search is not split, and the first shard does all of
                       it */
    uint64_t loops[SIM_LOOPS_MAX]; /* loads in wait loops, ascending */
    uint64_t loops_count;
    uint64_t runs;
    uint64_t graphs;
    uint64_t graphs_sum;
    uint64_t bounded;
    uint64_t exit_code;
    char *choices;  /* of a failure, "0,0,2"; malloc'd; NULL: there is none */
    char *strategy; /* that found it; malloc'd; NULL: the search itself */
    uint64_t bound; /* under which it was found: its preemptions + 1, or 0 */
};

/*
 * Before the search: find its files, and take over the wait loops that other
 * shards have found, from their results in the same folder. Wait loops change
 * the lists of choices, and all shards must search the same lists.
 *
 * in:      argv, the words that were typed
 * out:     w->checkpoint, w->shards_whole
 * returns: false, after a complaint
 */
bool cli_explore_shard_begin(struct cli_explore_words *w, int argc,
                             char *const *argv);

/*
 * After the search: write the result, if the search is finished.
 *
 * in:      exit_code, of the search
 * returns: the exit code
 */
enum cli_exit cli_explore_shard_end(const struct cli_explore_words *w,
                                    const struct sim_exhaust_result *r,
                                    uint64_t elapsed_ms,
                                    enum cli_exit exit_code);

/*
 * As cli_shard_begin(), for a shard of `profsim explore`.
 *
 * in:      w, with the shard and the value of --result
 */
bool cli_explore_shard_file(struct cli_shard_file *mine,
                            const struct cli_explore_words *w, int argc,
                            char *const *argv, char *path, size_t room);

/*
 * Read what the file of a shard holds.
 *
 * out:     *e, to be freed
 * returns: false, after a complaint
 */
bool cli_explored_read(struct cli_explored *e, struct cli_shard_file *file);

void cli_explored_free(struct cli_explored *e);

#endif
