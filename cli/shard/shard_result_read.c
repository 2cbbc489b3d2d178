/* shard_result_read.c -- a result from a file, line by line (shard_result.h).
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "complaint.h"
#include "line_reader.h"
#include "shard_result.h"

struct reader {
    struct cli_reader lines;
    struct cli_shard_result *result;
};

static bool
property(struct reader *r, enum props_property *value)
{
    char id[16];
    const size_t bytes = strcspn(r->lines.at, " ");

    snprintf(id, sizeof id, "%.*s", (int)bytes, r->lines.at);
    *value = props_property_find(id);
    r->lines.at += bytes;
    return *value != PROPS_NONE || strcmp(id, "none") == 0;
}

/* ---- Parts ---- */

/* Read a failure, which begins at the current line. */
static bool
take_failure(struct reader *r, struct cli_shard_failure *failure)
{
    uint64_t code;
    uint64_t bytes;

    if (!cli_reader_skip(&r->lines, "failure ") ||
        !property(r, &failure->property) ||
        !cli_reader_skip(&r->lines, " seed ") ||
        !cli_reader_number(&r->lines, UINT64_MAX, &failure->seed) ||
        !cli_reader_skip(&r->lines, " exit ") ||
        !cli_reader_number(&r->lines, CLI_NONDETERMINISM, &code) ||
        code < CLI_BROKEN || !cli_reader_skip(&r->lines, " scenario ") ||
        !cli_reader_number(&r->lines, CLI_SCENARIO_BYTES - 1, &bytes) ||
        *r->lines.at != '\0')
        return cli_reader_wrong(&r->lines, "not a valid failure");
    failure->exit_code = (enum cli_exit)code;
    if (bytes == 0)
        return true;
    failure->scenario = cli_reader_lines(&r->lines, bytes);
    return failure->scenario != NULL;
}

static bool
take_seeds(struct reader *r, struct cli_part *part)
{
    const uint64_t before = r->result->seed_step;
    uint64_t last;
    uint64_t step;

    if (!cli_reader_skip(&r->lines, "seeds ") ||
        !cli_reader_number(&r->lines, UINT64_MAX, &part->seed_first) ||
        !cli_reader_skip(&r->lines, "..") ||
        !cli_reader_number(&r->lines, UINT64_MAX - 1, &last) ||
        !cli_reader_skip(&r->lines, " step ") ||
        !cli_reader_number(&r->lines, CLI_SHARDS_MAX, &step) ||
        *r->lines.at != '\0' || step == 0 || last < part->seed_first ||
        (last - part->seed_first) % step != 0 ||
        (before != 0 && before != step))
        return cli_reader_wrong(&r->lines, "not a range of seeds");
    r->result->seed_step = step;
    if (!cli_reader_line_number(&r->lines, "runs ", &part->runs))
        return false;
    if (part->runs != (last - part->seed_first) / step + 1)
        return cli_reader_wrong(&r->lines, "not as many runs as seeds");
    return cli_reader_line_number(&r->lines, "events ", &part->events) &&
           cli_reader_line_hash(&r->lines, "hash ", &part->hash) &&
           cli_reader_next(&r->lines);
}

/* Read a goal; goals come in the order of cover.def. in, out: *from, the first
 * that may come */
static bool
take_goal(struct reader *r, struct cli_part *part, int *from)
{
    const char *id = r->lines.at + strlen("goal ");
    const size_t bytes = strcspn(id, " ");

    while (*from < COVER_COUNT &&
           (strlen(props_cover_id((enum props_cover) * from)) != bytes ||
            memcmp(props_cover_id((enum props_cover) * from), id, bytes) != 0))
        ++*from;
    if (*from == COVER_COUNT)
        return cli_reader_wrong(&r->lines, "no coverage goal, or not in order");
    r->lines.at = id + bytes;
    if (!cli_reader_skip(&r->lines, " ") ||
        !cli_reader_number(&r->lines, UINT64_MAX, &part->cover.hits[*from]) ||
        *r->lines.at != '\0')
        return cli_reader_wrong(&r->lines, "not a number of hits");
    ++*from;
    return cli_reader_next(&r->lines);
}

/* Read a part, which the current line names. Ends at the line after the
 * part. */
static bool
take_part(struct reader *r, enum cli_part_kind kind)
{
    struct cli_part *part = &r->result->parts[kind];
    int goal = 0;

    if (!cli_reader_begins(&r->lines, "part ") ||
        strcmp(r->lines.at + strlen("part "), cli_part_name(kind)) != 0)
        return true;
    if (!cli_reader_next(&r->lines) ||
        (cli_reader_begins(&r->lines, "seeds ") && !take_seeds(r, part)))
        return false;
    while (cli_reader_begins(&r->lines, "goal ")) {
        if (!take_goal(r, part, &goal))
            return false;
    }
    if (cli_reader_begins(&r->lines, "failure "))
        return take_failure(r, &part->failure) && cli_reader_next(&r->lines);
    return part->runs > 0 ||
           cli_reader_wrong(&r->lines, "a part without seeds");
}

/* ---- The file ---- */

static bool
take_shard(struct reader *r)
{
    if (!cli_reader_line_shard(&r->lines, &r->result->shard))
        return false;
    if (r->result->shard.count == 0)
        return cli_reader_wrong(&r->lines, "not a shard I/N");
    if (!cli_reader_next(&r->lines))
        return false;
    return (cli_reader_skip(&r->lines, "spent ") &&
            cli_reader_number(&r->lines, UINT64_MAX / 2,
                              &r->result->spent_ms) &&
            strcmp(r->lines.at, " ms") == 0) ||
           cli_reader_wrong(&r->lines, "not the time spent");
}

static bool
take_checkers(struct reader *r)
{
    struct cli_shard_result *result = r->result;

    if (!cli_reader_next(&r->lines))
        return false;
    result->is_checked = strcmp(r->lines.at, "enumerated") == 0;
    if (!result->is_checked)
        return true;
    if (!cli_reader_next(&r->lines))
        return false;
    while (cli_reader_skip(&r->lines, "holds ")) {
        enum props_property which;
        uint64_t cells;

        if (!property(r, &which) || which == PROPS_NONE ||
            !cli_reader_skip(&r->lines, " cells ") ||
            !cli_reader_number(&r->lines, UINT64_MAX, &cells) ||
            *r->lines.at != '\0')
            return cli_reader_wrong(&r->lines, "not what was enumerated");
        result->checked |= PROPS_BIT(which);
        result->cells[which] = cells;
        if (!cli_reader_next(&r->lines))
            return false;
    }
    return !cli_reader_begins(&r->lines, "failure ") ||
           (take_failure(r, &result->checker) && cli_reader_next(&r->lines));
}

static bool
take_all(struct reader *r)
{
    struct cli_shard_result *result = r->result;

    return cli_reader_line_text(&r->lines, "version ", result->version,
                                sizeof result->version) &&
           cli_reader_line_text(&r->lines, "program ", result->program,
                                sizeof result->program) &&
           cli_reader_line_text(&r->lines, "asked ", result->asked,
                                sizeof result->asked) &&
           take_shard(r) && take_checkers(r) && take_part(r, CLI_PART_HEAPS) &&
           take_part(r, CLI_PART_TRACES) && cli_reader_end(&r->lines);
}

enum cli_shard_read
cli_shard_result_read(struct cli_shard_result *result, const char *path)
{
    struct reader reader = {.result = result};
    struct stat like;
    bool good;

    memset(result, 0, sizeof *result);
    if (lstat(path, &like) != 0 && errno == ENOENT)
        return CLI_SHARD_NONE;
    if (!cli_reader_open(&reader.lines, path, "profsim result 1"))
        return CLI_SHARD_WRONG;
    good = take_all(&reader);
    cli_reader_close(&reader.lines);
    if (!good)
        cli_shard_result_free(result);
    return good ? CLI_SHARD_READ : CLI_SHARD_WRONG;
}
