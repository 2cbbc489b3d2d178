/* explore_shard.h -- `profsim explore KERNEL --shard I/N --result FILE`. */
#ifndef CLI_EXPLORE_SHARD_H
#define CLI_EXPLORE_SHARD_H

#include "explore_words.h"

/*
 * Before the search: find its files, and read what other shards have learned.
 *
 * out:     w->result, w->checkpoint
 * returns: false, after a complaint
 */
bool cli_explore_shard_begin(struct cli_explore_words *w);

/*
 * After the search: write the result, if the search is finished.
 *
 * in:      exit_code, of the search
 * returns: the exit code
 */
enum cli_exit cli_explore_shard_end(const struct cli_explore_words *w,
                                    const struct sim_exhaust_result *r,
                                    uint64_t spent_ms, enum cli_exit exit_code);

#endif
