/* cross_lines.c -- reads the lines of allocations, frees and collections. */
#include "props/cross/cross_lines.h"

#include <stdlib.h>
#include <string.h>

#include "model/trace/trace_map.h"

/* The rest of the text. */
struct rest {
    const char *at;
    const char *end;
};

static bool
take_word(struct rest *rest, const char *word)
{
    const size_t bytes = strlen(word);

    if ((size_t)(rest->end - rest->at) < bytes ||
        memcmp(rest->at, word, bytes) != 0)
        return false;
    rest->at += bytes;
    return true;
}

static bool
take_number(struct rest *rest, uint64_t base, uint64_t *number)
{
    static const char digits[] = "0123456789abcdef";
    const char *const from = rest->at;

    *number = 0;
    for (; rest->at < rest->end; rest->at++) {
        const char *digit = memchr(digits, *rest->at, base);

        if (digit == NULL)
            break;
        *number = *number * base + (uint64_t)(digit - digits);
    }
    return rest->at > from;
}

static void
take_line(struct rest *rest)
{
    const char *end = memchr(rest->at, '\n', (size_t)(rest->end - rest->at));

    rest->at = end != NULL ? end + 1 : rest->end;
}

static struct cross_line *
add_line(struct cross_lines *lines, enum cross_line_kind kind)
{
    struct cross_line *all =
        model_trace_grow(lines->all, lines->count, &lines->room, sizeof *all);

    if (all == NULL)
        return NULL;
    lines->all = all;
    all[lines->count] = (struct cross_line){.kind = kind};
    return &all[lines->count++];
}

static bool
add_frame(struct cross_lines *lines, uint64_t pc)
{
    uint64_t *frames = model_trace_grow(lines->frames, lines->frames_count,
                                        &lines->frames_room, sizeof *frames);

    if (frames == NULL)
        return false;
    lines->frames = frames;
    frames[lines->frames_count++] = pc;
    return true;
}

/* Read `?(...)` and, below it, a distance from 0; address 0 has none. */
static bool
take_frame(struct rest *rest, uint64_t *pc)
{
    *pc = 0;
    return take_word(rest, "?(...)\n\t?:0") &&
           (!take_word(rest, " +0x") || take_number(rest, 16, pc)) &&
           take_word(rest, "\n");
}

/* Read the task below the line, up to the empty line. */
static bool
take_task(struct cross_lines *lines, struct cross_line *line, struct rest *rest)
{
    uint64_t pc;

    if (!take_word(rest, "goroutine ") || !take_number(rest, 10, &line->g))
        return false;
    take_line(rest);
    line->frames_at = lines->frames_count;
    while (rest->at < rest->end && *rest->at == '?') {
        if (!take_frame(rest, &pc) || !add_frame(lines, pc))
            return false;
        line->depth++;
    }
    while (rest->at < rest->end && *rest->at != '\n')
        take_line(rest); /* the task that created it */
    return take_word(rest, "\n");
}

static bool
take_event(struct cross_lines *lines, struct rest *rest)
{
    struct cross_line *line;

    if (take_word(rest, "tracegc()\n")) {
        while (rest->at < rest->end && !take_word(rest, "end tracegc\n\n"))
            take_line(rest);
        return add_line(lines, CROSS_LINE_GC) != NULL;
    }
    if (take_word(rest, "tracealloc(0x"))
        line = add_line(lines, CROSS_LINE_ALLOC);
    else if (take_word(rest, "tracefree(0x"))
        line = add_line(lines, CROSS_LINE_FREE);
    else
        return false;
    return line != NULL && take_number(rest, 16, &line->address) &&
           take_word(rest, ", 0x") &&
           take_number(rest, 16, &line->size_bytes) && take_word(rest, ")\n") &&
           take_task(lines, line, rest);
}

bool
cross_lines_read(struct cross_lines *lines, const char *text,
                 size_t bytes_count)
{
    struct rest rest = {text, text + bytes_count};

    lines->count = 0;
    lines->frames_count = 0;
    while (rest.at < rest.end) {
        if (!take_event(lines, &rest))
            return false;
    }
    return true;
}

void
cross_lines_release(struct cross_lines *lines)
{
    free(lines->all);
    free(lines->frames);
    memset(lines, 0, sizeof *lines);
}
