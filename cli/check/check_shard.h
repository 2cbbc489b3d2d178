/*
 * check_shard.h -- `profsim check --shard I/N --result FILE`: every N-th seed
 * from the I-th on. A shard alternates between the kinds of worlds, so a shard
 * that is stopped early has tried both.
 */
#ifndef CLI_CHECK_SHARD_H
#define CLI_CHECK_SHARD_H

#include "check_search.h"
#include "shard_result.h"

/* returns: the exit code */
enum cli_exit cli_check_shard(const struct cli_check_options *options,
                              struct cli_search *search);

/*
 * Write the options as words, except options that do not affect the result.
 *
 * out:     asked, words for a shell: "check H2 --rules exact --seeds 1..9"
 * returns: false if they are too long
 */
bool cli_check_asked(const struct cli_check_options *options,
                     char asked[CLI_ASKED_BYTES]);

/* returns: how many seeds of a part the shard has left; 0 if it is done, or
 *          if a failure of another part has ended the campaign */
uint64_t cli_check_left(const struct cli_check_options *options,
                        const struct cli_shard_result *result,
                        enum cli_part_kind kind);

/* returns: whether the shard has nothing left to do */
bool cli_check_is_done(const struct cli_check_options *options,
                       const struct cli_shard_result *result);

/* Convert the sums of a part to the outcome of a campaign. */
void cli_check_outcome(const struct cli_part *part,
                       struct props_outcome *outcome);

#endif
