/*
 * shard.h -- splits a campaign into N parts that run in separate processes, on
 * any number of machines. `--shard I/N` picks a part; so do the variables that
 * a job scheduler sets for each task.
 */
#ifndef CLI_SHARD_H
#define CLI_SHARD_H

#include <stdbool.h>
#include <stdint.h>

enum { CLI_SHARDS_MAX = 65536 };

struct cli_shard {
    uint32_t index; /* 1 .. count; 0: no --shard */
    uint32_t count;
};

#define CLI_SHARD_WORDS "I/N"
#define CLI_SHARD_HELP                                    \
    "the I-th of N shards; 'auto' or 'auto/N': the one\n" \
    "that the scheduler's variables name (docs/scale.md)"
#define CLI_RESULT_HELP                                        \
    "write the result to FILE every minute and at the end,\n"  \
    "and resume from it; if FILE ends in /, it is a folder,\n" \
    "and the file in it is named after the shard"

/*
 * Read the value of --shard: "3/7", "auto" or "auto/7".
 *
 * `auto` reads the variables of one scheduler: SLURM_ARRAY_TASK_ID with _COUNT,
 * _MIN and _STEP; CI_NODE_INDEX of CI_NODE_TOTAL; only if N is given also
 * JOB_COMPLETION_INDEX, which counts from 0, and PARALLEL_SEQ.
 *
 * out:     *shard
 * returns: false, and a complaint
 */
bool cli_shard_parse(struct cli_shard *shard, const char *text);

#endif
