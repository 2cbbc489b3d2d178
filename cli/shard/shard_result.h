/*
 * shard_result.h -- what a shard has found so far, as a file (docs/scale.md).
 *
 *      shard --> result --> file --> result --> the same shard, gone on
 *                                           --> profsim merge
 *
 * The sums of a part depend only on its seeds. So the sums of disjoint sets of
 * seeds add up, bit for bit, to what one process would have counted.
 */
#ifndef CLI_SHARD_RESULT_H
#define CLI_SHARD_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cover.h"
#include "exit.h"
#include "program_id.h"
#include "property.h"
#include "shard.h"

enum {
    CLI_ASKED_BYTES = 512,
    CLI_SCENARIO_BYTES = 1 << 16, /* of a failure; longer ones are left out */
};

/* What one seed, or a checker, found. */
struct cli_shard_failure {
    enum cli_exit exit_code;      /* CLI_OK: there is none */
    enum props_property property; /* PROPS_NONE: the process ended */
    uint64_t seed;
    char *scenario; /* malloc'd; NULL: none that shows it again */
};

/* The worlds of a campaign come in two kinds; each seed gives one of each. */
enum cli_part_kind { CLI_PART_HEAPS, CLI_PART_TRACES, CLI_PART_COUNT };

struct cli_part {
    uint64_t seed_first; /* the first one done, else the first to do */
    uint64_t runs;       /* seeds done: seed_first and those a step apart */
    uint64_t events;
    uint64_t hash;
    struct props_coverage cover;
    struct cli_shard_failure failure; /* of the seed after those done */
};

struct cli_shard_result {
    char version[32];
    char program[CLI_PROGRAM_ID_BYTES];
    char asked[CLI_ASKED_BYTES]; /* the command's words without the shard */
    struct cli_shard shard;
    uint64_t seed_step;
    uint64_t spent_ms;
    bool is_checked;   /* the first shard has run the checks by enumeration */
    props_set checked; /* those that hold */
    uint64_t cells[PROPS_COUNT];
    struct cli_shard_failure checker;
    struct cli_part parts[CLI_PART_COUNT];
};

/* returns: "heaps", "traces" */
const char *cli_part_name(enum cli_part_kind kind);

/* Fill in which build this program is. in: asked, shorter than CLI_ASKED_BYTES.
 * returns: false, and a complaint */
bool cli_shard_result_begin(struct cli_shard_result *result, const char *asked,
                            struct cli_shard shard);
void cli_shard_result_free(struct cli_shard_result *result);

/*
 * Write the file, whole or not at all.
 *
 * returns: NULL, or why the file was not changed
 */
const char *cli_shard_result_write(const struct cli_shard_result *result,
                                   const char *path);

enum cli_shard_read { CLI_SHARD_READ, CLI_SHARD_NONE, CLI_SHARD_WRONG };

/*
 * Read a file that anybody may have written.
 *
 * out:     *result, to be freed, if CLI_SHARD_READ
 * returns: CLI_SHARD_NONE if there is no such file; CLI_SHARD_WRONG after a
 *          complaint with the line
 */
enum cli_shard_read cli_shard_result_read(struct cli_shard_result *result,
                                          const char *path);

/*
 * Check that both results belong to one campaign.
 *
 * in:      path, of b
 * returns: false, and a complaint, if the version, the build or what was asked
 *          differs
 */
bool cli_shard_result_fits(const struct cli_shard_result *a,
                           const struct cli_shard_result *b, const char *path);

#endif
