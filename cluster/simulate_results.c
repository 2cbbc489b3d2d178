/*
 * simulate_results.c -- makes many results of one campaign up from a real one,
 * to measure how long `profsim merge` takes for them.
 * usage: simulate_results RESULT FOLDER    (RESULT: of shard 1 of N)
 */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

#include "shard_result.h"

int
main(int argc, char **argv)
{
    static struct cli_shard_result result;
    char path[PATH_MAX];

    if (argc != 3 || cli_shard_result_read(&result, argv[1]) != CLI_SHARD_READ)
        return 1;
    for (uint32_t i = 1; i <= result.shard.count; i++) {
        const char *reason;

        result.shard.index = i;
        result.is_checked = i == 1;
        result.checked = i == 1 ? result.checked : 0;
        for (int k = 0; k < CLI_PART_COUNT; k++) {
            result.parts[k].seed_first = i;
            result.parts[k].hash += i;
            for (int goal = 0; goal < COVER_COUNT; goal++) /* all are met */
                result.parts[k].cover.hits[goal] = 1000000;
        }
        snprintf(path, sizeof path, "%s/%" PRIu32 ".result", argv[2], i);
        reason = cli_shard_result_write(&result, path);
        if (reason != NULL) {
            fprintf(stderr, "%s: %s\n", path, reason);
            return 1;
        }
    }
    return 0;
}
