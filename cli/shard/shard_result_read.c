/* shard_result_read.c -- a result from a file, line by line (shard_result.h).
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "complaint.h"
#include "input.h"
#include "shard_result.h"

struct reader {
    const char *path;
    const char *at;  /* the rest of the line, which ends by a zero byte */
    const char *end; /* of the file */
    char *next;      /* the line after it; behind `end` after the last */
    uint32_t line;
    struct cli_shard_result *result;
};

static bool
wrong(const struct reader *r, const char *what)
{
    return cli_complain("%s:%" PRIu32 ": %s", r->path, r->line, what);
}

/* ---- Words ---- */

/* Go to the next line; its newline becomes a zero byte. */
static bool
next_line(struct reader *r)
{
    char *newline = memchr(r->next, '\n', (size_t)(r->end - r->next));

    r->line++;
    if (newline == NULL)
        return wrong(r, r->next == r->end ? "the file ends too soon"
                                          : "the line is cut");
    if (memchr(r->next, '\0', (size_t)(newline - r->next)) != NULL)
        return wrong(r, "a zero byte");
    *newline = '\0';
    r->at = r->next;
    r->next = newline + 1;
    return true;
}

static bool
begins(const struct reader *r, const char *word)
{
    return strncmp(r->at, word, strlen(word)) == 0;
}

/* Take the word if it stands there. */
static bool
skip(struct reader *r, const char *word)
{
    if (!begins(r, word))
        return false;
    r->at += strlen(word);
    return true;
}

static bool
number(struct reader *r, int base, uint64_t most, uint64_t *value)
{
    const char *digits = base == 16 ? "0123456789abcdef" : "0123456789";
    const size_t bytes = strspn(r->at, digits);
    char *end;

    errno = 0;
    *value = strtoull(r->at, &end, base);
    if (bytes == 0 || errno != 0 || *value > most ||
        (base == 16 && bytes != 16) ||
        (bytes > 1 && base == 10 && *r->at == '0'))
        return false;
    r->at += bytes;
    return true;
}

/* A whole line, "WORD NUMBER". */
static bool
line_number(struct reader *r, const char *word, int base, uint64_t *value)
{
    return next_line(r) &&
           ((skip(r, word) && number(r, base, UINT64_MAX, value) &&
             *r->at == '\0') ||
            wrong(r, "not the line that belongs here"));
}

/* "WORD TEXT" of letters that need no quotes. */
static bool
line_text(struct reader *r, const char *word, char *text, size_t room)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789_+=:,./- ";

    if (!next_line(r))
        return false;
    if (!skip(r, word) || *r->at == '\0' ||
        strspn(r->at, plain) != strlen(r->at) || strlen(r->at) >= room)
        return wrong(r, "not the line that belongs here");
    snprintf(text, room, "%s", r->at);
    return true;
}

static bool
property(struct reader *r, enum props_property *value)
{
    char id[16];
    const size_t bytes = strcspn(r->at, " ");

    if (bytes >= sizeof id)
        return false;
    snprintf(id, sizeof id, "%.*s", (int)bytes, r->at);
    *value = props_property_find(id);
    r->at += bytes;
    return *value != PROPS_NONE || strcmp(id, "none") == 0;
}

/* ---- Parts ---- */

/* The present line begins a failure. */
static bool
take_failure(struct reader *r, struct cli_shard_failure *failure)
{
    uint64_t code;
    uint64_t bytes;

    if (!skip(r, "failure ") || !property(r, &failure->property) ||
        !skip(r, " seed ") || !number(r, 10, UINT64_MAX, &failure->seed) ||
        !skip(r, " exit ") || !number(r, 10, CLI_NONDETERMINISM, &code) ||
        code < CLI_BROKEN || !skip(r, " scenario ") ||
        !number(r, 10, CLI_SCENARIO_BYTES - 1, &bytes) || *r->at != '\0')
        return wrong(r, "not a failure");
    failure->exit_code = (enum cli_exit)code;
    if (bytes == 0)
        return true;
    if (bytes > (size_t)(r->end - r->next) || r->next[bytes - 1] != '\n' ||
        memchr(r->next, '\0', bytes) != NULL)
        return wrong(r, "the scenario is not as long as this says");
    failure->scenario = strndup(r->next, bytes);
    if (failure->scenario == NULL)
        return wrong(r, "not enough memory");
    for (uint64_t i = 0; i < bytes; i++)
        r->line += r->next[i] == '\n';
    r->next += bytes;
    return true;
}

static bool
take_seeds(struct reader *r, struct cli_part *part)
{
    const uint64_t before = r->result->seed_step;
    uint64_t last;
    uint64_t step;

    if (!skip(r, "seeds ") ||
        !number(r, 10, UINT64_MAX - 1, &part->seed_first) || !skip(r, "..") ||
        !number(r, 10, UINT64_MAX - 1, &last) || !skip(r, " step ") ||
        !number(r, 10, CLI_SHARDS_MAX, &step) || *r->at != '\0' || step == 0 ||
        last < part->seed_first || (last - part->seed_first) % step != 0 ||
        (before != 0 && before != step))
        return wrong(r, "not a range of seeds");
    r->result->seed_step = step;
    if (!line_number(r, "runs ", 10, &part->runs))
        return false;
    if (part->runs != (last - part->seed_first) / step + 1)
        return wrong(r, "not as many runs as seeds");
    return line_number(r, "events ", 10, &part->events) &&
           line_number(r, "hash ", 16, &part->hash) && next_line(r);
}

/* Goals come in the order of cover.def. in: from, the first it may be */
static bool
take_goal(struct reader *r, struct cli_part *part, int *from)
{
    const char *id = r->at + strlen("goal ");
    const size_t bytes = strcspn(id, " ");

    while (*from < COVER_COUNT &&
           (strlen(props_cover_id((enum props_cover) * from)) != bytes ||
            memcmp(props_cover_id((enum props_cover) * from), id, bytes) != 0))
        ++*from;
    if (*from == COVER_COUNT)
        return wrong(r, "no coverage goal, or not in order");
    r->at = id + bytes;
    if (!skip(r, " ") || !number(r, 10, UINT64_MAX, &part->cover.hits[*from]) ||
        *r->at != '\0')
        return wrong(r, "not a number of hits");
    ++*from;
    return next_line(r);
}

/* The present line names the part; on return it is the one behind it. */
static bool
take_part(struct reader *r, enum cli_part_kind kind)
{
    struct cli_part *part = &r->result->parts[kind];
    int goal = 0;

    if (!begins(r, "part ") ||
        strcmp(r->at + strlen("part "), cli_part_name(kind)) != 0)
        return true;
    if (!next_line(r) || (begins(r, "seeds ") && !take_seeds(r, part)))
        return false;
    while (begins(r, "goal ")) {
        if (!take_goal(r, part, &goal))
            return false;
    }
    if (begins(r, "failure "))
        return take_failure(r, &part->failure) && next_line(r);
    return part->runs > 0 || wrong(r, "a part without seeds");
}

/* ---- The file ---- */

static bool
take_shard(struct reader *r)
{
    struct cli_shard *shard = &r->result->shard;
    uint64_t index;
    uint64_t count;

    if (!next_line(r))
        return false;
    if (!skip(r, "shard ") || !number(r, 10, CLI_SHARDS_MAX, &index) ||
        !skip(r, "/") || !number(r, 10, CLI_SHARDS_MAX, &count) ||
        *r->at != '\0' || index == 0 || index > count)
        return wrong(r, "not a shard I/N");
    *shard = (struct cli_shard){(uint32_t)index, (uint32_t)count};
    if (!next_line(r))
        return false;
    return (skip(r, "spent ") &&
            number(r, 10, UINT64_MAX / 2, &r->result->spent_ms) &&
            strcmp(r->at, " ms") == 0) ||
           wrong(r, "not the time spent");
}

static bool
take_checkers(struct reader *r)
{
    struct cli_shard_result *result = r->result;

    if (!next_line(r))
        return false;
    result->is_checked = strcmp(r->at, "enumerated") == 0;
    if (!result->is_checked)
        return true;
    if (!next_line(r))
        return false;
    while (skip(r, "holds ")) {
        enum props_property which;
        uint64_t cells;

        if (!property(r, &which) || which == PROPS_NONE ||
            !skip(r, " cells ") || !number(r, 10, UINT64_MAX, &cells) ||
            *r->at != '\0')
            return wrong(r, "not what was enumerated");
        result->checked |= PROPS_BIT(which);
        result->cells[which] = cells;
        if (!next_line(r))
            return false;
    }
    return !begins(r, "failure ") ||
           (take_failure(r, &result->checker) && next_line(r));
}

/* in: begin, of the file; the present line ends it */
static bool
take_end(struct reader *r, uint64_t sum)
{
    uint64_t found;

    if (!skip(r, "end ") || !number(r, 16, UINT64_MAX, &found) ||
        *r->at != '\0' || r->next != r->end)
        return wrong(r, "not the line that belongs here");
    return found == sum || wrong(r, "the file is damaged: its sum differs");
}

static bool
take_all(struct reader *r, uint64_t sum)
{
    struct cli_shard_result *result = r->result;

    if (!next_line(r))
        return false;
    if (strcmp(r->at, "profsim result 1") != 0)
        return wrong(r, "no result of this version of the format");
    return line_text(r, "version ", result->version, sizeof result->version) &&
           line_text(r, "program ", result->program, sizeof result->program) &&
           line_text(r, "asked ", result->asked, sizeof result->asked) &&
           take_shard(r) && take_checkers(r) && take_part(r, CLI_PART_HEAPS) &&
           take_part(r, CLI_PART_TRACES) && take_end(r, sum);
}

/* The hash of what stands before the last line. */
static uint64_t
sum_of(const char *bytes, size_t count)
{
    while (count > 1 && bytes[count - 2] != '\n')
        count--;
    return (uint64_t)XXH3_64bits(bytes, count > 0 ? count - 1 : 0);
}

enum cli_shard_read
cli_shard_result_read(struct cli_shard_result *result, const char *path)
{
    struct reader reader = {.path = path, .result = result};
    struct sim_input input;
    bool good;

    memset(result, 0, sizeof *result);
    if (access(path, F_OK) != 0 && errno == ENOENT)
        return CLI_SHARD_NONE;
    if (!sim_input_read_regular(&input, path)) {
        cli_complain("%s: %s", path, input.reason);
        return CLI_SHARD_WRONG;
    }
    reader.next = (char *)input.bytes;
    reader.end = reader.next + input.bytes_count;
    if (input.kind != SIM_INPUT_RESULT)
        good = cli_complain("%s: no result of a shard", path);
    else
        good = take_all(&reader, sum_of(reader.next, input.bytes_count));
    sim_input_free(&input);
    if (!good)
        cli_shard_result_free(result);
    return good ? CLI_SHARD_READ : CLI_SHARD_WRONG;
}
