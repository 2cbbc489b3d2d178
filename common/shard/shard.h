/*
 * shard.h -- splits a command into N parts that run in separate processes, on
 * any number of machines. `--shard I/N` picks a part; so do the variables that
 * a job scheduler sets for each task. `--result FILE` is where its result is
 * written (shard_file.h).
 */
#ifndef COMMON_SHARD_SHARD_H
#define COMMON_SHARD_SHARD_H

#include <stdbool.h>
#include <stddef.h>
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

/* Take the value of --result. returns: false, and a complaint, if it is empty
 */
bool cli_result_take(const char **to, const char *value);

/*
 * Find the path of a result. `given` names a file or, if it ends in a slash, a
 * folder, which is made if needed. The file in the folder is named after the
 * shard: DIR/shard-3-of-7.result.
 *
 * out:     path
 * returns: false, and a complaint
 */
bool cli_result_path(const char *given, struct cli_shard shard, char *path,
                     size_t room);

#endif
