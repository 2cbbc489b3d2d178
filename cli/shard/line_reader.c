/* line_reader.c -- see line_reader.h. */
#include "line_reader.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "complaint.h"

bool
cli_reader_wrong(const struct cli_reader *r, const char *what)
{
    return cli_complain("%s:%" PRIu32 ": %s", r->path, r->line, what);
}

/* ---- Words ---- */

/* Go to the next line; its newline becomes a zero byte. */
bool
cli_reader_next(struct cli_reader *r)
{
    char *newline = memchr(r->next, '\n', (size_t)(r->end - r->next));

    r->line++;
    if (newline == NULL)
        return cli_reader_wrong(r, r->next == r->end ? "the file ends too soon"
                                                     : "the line is cut");
    if (memchr(r->next, '\0', (size_t)(newline - r->next)) != NULL)
        return cli_reader_wrong(r, "a zero byte");
    *newline = '\0';
    r->at = r->next;
    r->next = newline + 1;
    return true;
}

bool
cli_reader_begins(const struct cli_reader *r, const char *word)
{
    return strncmp(r->at, word, strlen(word)) == 0;
}

/* Take the word if the rest of the line begins with it. */
bool
cli_reader_skip(struct cli_reader *r, const char *word)
{
    if (!cli_reader_begins(r, word))
        return false;
    r->at += strlen(word);
    return true;
}

bool
cli_reader_number(struct cli_reader *r, uint64_t most, uint64_t *value)
{
    const size_t bytes = strspn(r->at, "0123456789");

    errno = 0;
    *value = strtoull(r->at, NULL, 10);
    if (bytes == 0 || errno != 0 || *value > most ||
        (bytes > 1 && *r->at == '0'))
        return false;
    r->at += bytes;
    return true;
}

/* Take the rest of the line, 16 hex digits. */
static bool
take_hash(struct cli_reader *r, uint64_t *value)
{
    *value = strtoull(r->at, NULL, 16);
    return strspn(r->at, "0123456789abcdef") == 16 && strlen(r->at) == 16;
}

char *
cli_reader_lines(struct cli_reader *r, size_t bytes)
{
    char *text;

    if (bytes > (size_t)(r->end - r->next) ||
        (bytes > 0 && r->next[bytes - 1] != '\n') ||
        memchr(r->next, '\0', bytes) != NULL) {
        cli_reader_wrong(r, "the text is not as long as this says");
        return NULL;
    }
    text = strndup(r->next, bytes);
    if (text == NULL) {
        cli_reader_wrong(r, "not enough memory");
        return NULL;
    }
    for (size_t i = 0; i < bytes; i++)
        r->line += r->next[i] == '\n';
    r->next += bytes;
    return text;
}

/* Take a whole line, "WORD NUMBER". */
bool
cli_reader_line_number(struct cli_reader *r, const char *word, uint64_t *value)
{
    return cli_reader_next(r) &&
           ((cli_reader_skip(r, word) &&
             cli_reader_number(r, UINT64_MAX, value) && *r->at == '\0') ||
            cli_reader_wrong(r, "not the line that belongs here"));
}

bool
cli_reader_line_hash(struct cli_reader *r, const char *word, uint64_t *value)
{
    return cli_reader_next(r) &&
           ((cli_reader_skip(r, word) && take_hash(r, value)) ||
            cli_reader_wrong(r, "not the line that belongs here"));
}

bool
cli_reader_line_shard(struct cli_reader *r, struct cli_shard *shard)
{
    uint64_t index;
    uint64_t count;

    if (!cli_reader_next(r))
        return false;
    if (!cli_reader_skip(r, "shard ") ||
        !cli_reader_number(r, CLI_SHARDS_MAX, &index) ||
        !cli_reader_skip(r, "/") ||
        !cli_reader_number(r, CLI_SHARDS_MAX, &count) || *r->at != '\0' ||
        index > count || (index == 0) != (count == 0))
        return cli_reader_wrong(r, "not a shard I/N");
    *shard = (struct cli_shard){(uint32_t)index, (uint32_t)count};
    return true;
}

/* Take a line "WORD TEXT", whose characters need no quotes in a shell. */
bool
cli_reader_line_text(struct cli_reader *r, const char *word, char *text,
                     size_t room)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789_+=:,./- ";

    if (!cli_reader_next(r))
        return false;
    if (!cli_reader_skip(r, word) || *r->at == '\0' ||
        strspn(r->at, plain) != strlen(r->at) || strlen(r->at) >= room)
        return cli_reader_wrong(r, "not the line that belongs here");
    snprintf(text, room, "%s", r->at);
    return true;
}

/* ---- The file ---- */

/* returns: the hash of everything before the last line. in: count, 1 or more */
static uint64_t
sum_of(const char *bytes, size_t count)
{
    const char *newline = memrchr(bytes, '\n', count - 1);

    return newline == NULL
               ? 0
               : (uint64_t)XXH3_64bits(bytes, (size_t)(newline + 1 - bytes));
}

bool
cli_reader_open(struct cli_reader *r, const char *path, const char *first)
{
    *r = (struct cli_reader){.path = path};
    if (!sim_input_read_regular(&r->input, path))
        return cli_complain("%s: %s", path, r->input.reason);
    r->next = (char *)r->input.bytes;
    r->end = r->next + r->input.bytes_count;
    if (r->input.kind != SIM_INPUT_RESULT) {
        cli_complain("%s: it is not the result of a shard", path);
    } else {
        r->sum = sum_of(r->next, r->input.bytes_count);
        if (cli_reader_next(r) &&
            (strcmp(r->at, first) == 0 ||
             cli_reader_wrong(r, "not the format that is wanted")))
            return true;
    }
    sim_input_free(&r->input);
    return false;
}

bool
cli_reader_first(const char *path, char *first, size_t room)
{
    struct sim_input input;
    size_t bytes = 0;

    if (!sim_input_read_regular(&input, path))
        return cli_complain("%s: %s", path, input.reason);
    while (bytes < input.bytes_count && bytes + 1 < room &&
           input.bytes[bytes] != '\n')
        bytes++;
    snprintf(first, room, "%.*s", (int)bytes, (const char *)input.bytes);
    sim_input_free(&input);
    return true;
}

void
cli_reader_close(struct cli_reader *r)
{
    sim_input_free(&r->input);
}

bool
cli_reader_end(struct cli_reader *r)
{
    uint64_t found;

    if (!cli_reader_skip(r, "end ") || !take_hash(r, &found) ||
        r->next != r->end)
        return cli_reader_wrong(r, "not the line that belongs here");
    return found == r->sum ||
           cli_reader_wrong(r, "the file is damaged: its sum differs");
}
