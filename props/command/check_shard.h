/*
 * check_shard.h -- `profsim check --shard I/N --result FILE`: every N-th seed
 * from the I-th on. A shard alternates between the kinds of worlds, so a shard
 * that is stopped early has tried both.
 *
 *      shard 2 of 3, of seeds 1..9:  2 5 8    of heaps, then of traces
 *
 * The sums of a part depend only on its seeds. So the sums of disjoint sets of
 * seeds add up, bit for bit, to what one process would have counted.
 */
#ifndef PROPS_COMMAND_CHECK_SHARD_H
#define PROPS_COMMAND_CHECK_SHARD_H

#include "props/command/check_search.h"
#include "common/shard/shard_file.h"

/* What one seed, or a checker, found. */
struct cli_shard_failure {
    uint64_t exit_code; /* CLI_OK: there is none */
    uint64_t property;  /* PROPS_NONE: the process ended */
};

/* The worlds of a campaign come in two kinds; each seed gives one of each. */
enum cli_part_kind { CLI_PART_HEAPS, CLI_PART_TRACES, CLI_PART_COUNT };

struct cli_part {
    uint64_t runs; /* seeds done: the shard's first and those a step apart */
    uint64_t events;
    uint64_t hash;
    struct props_coverage cover;
    struct cli_shard_failure failure; /* of the seed after those done */
};

/* What a shard has found so far. */
struct cli_check_found {
    struct cli_shard shard;
    uint64_t seed_first; /* of the shard */
    uint64_t seed_step;  /* not in its file */
    uint64_t elapsed_ms;
    uint64_t is_checked; /* the first shard has run the checks by enumeration */
    props_set checked;   /* those that hold */
    uint64_t cells[PROPS_COUNT];
    struct cli_shard_failure checker;
    struct cli_part parts[CLI_PART_COUNT];
};

/* returns: "heaps", "traces" */
const char *cli_part_name(enum cli_part_kind kind);

/* returns: the exit code */
enum cli_exit cli_check_shard(const struct cli_check_options *options,
                              struct cli_search *search, int argc,
                              char *const *argv);

/* Begin what a shard of the campaign finds: nothing yet. */
void cli_check_found_begin(struct cli_check_found *found,
                           const struct cli_check_options *options,
                           struct cli_shard shard);

/*
 * Read what the file of a shard holds.
 *
 * returns: false, after a complaint, if no shard of the campaign writes that
 */
bool cli_check_found_read(struct cli_check_found *found,
                          const struct cli_check_options *options,
                          struct cli_shard_file *file);

/* Pass it to the shard's file, or from it. */
void cli_check_found_pass(struct cli_shard_file *file,
                          struct cli_check_found *found);

/* returns: how many seeds of a part the shard has left; 0 if it is done, or
 *          if a failure of another part has ended the campaign */
uint64_t cli_check_left(const struct cli_check_options *options,
                        const struct cli_check_found *found,
                        enum cli_part_kind kind);

/* returns: whether the shard has nothing left to do */
bool cli_check_is_done(const struct cli_check_options *options,
                       const struct cli_check_found *found);

/* returns: the seed after those that the part has done */
uint64_t cli_check_next_seed(const struct cli_check_found *found,
                             enum cli_part_kind kind);

/* Convert the sums of a part to the outcome of a campaign. */
void cli_check_outcome(const struct cli_part *part,
                       struct props_outcome *outcome);

#endif
