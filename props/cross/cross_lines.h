/*
 * cross_lines.h -- reads the lines that a runtime prints of each allocation,
 * free and collection.
 */
#ifndef PROPS_CROSS_CROSS_LINES_H
#define PROPS_CROSS_CROSS_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cross_line_kind {
    CROSS_LINE_ALLOC,
    CROSS_LINE_FREE,
    CROSS_LINE_GC /* a collection begins */
};

struct cross_line {
    enum cross_line_kind kind;
    uint64_t address;
    uint64_t size_bytes;
    uint64_t g;         /* the task that did it; 0 for a collection */
    uint32_t frames_at; /* an allocation's frames in cross_lines.frames */
    uint32_t depth;
};

struct cross_lines {
    struct cross_line *all;
    uint32_t count;
    uint32_t room;
    uint64_t *frames; /* return addresses */
    uint32_t frames_count;
    uint32_t frames_room;
};

/*
 * Read a text in which no address has a name.
 *
 * out:     *lines, to be released even on failure
 * returns: false if it is not such a text, or memory ran out
 */
bool cross_lines_read(struct cross_lines *lines, const char *text,
                      size_t bytes_count);
void cross_lines_release(struct cross_lines *lines);

#endif
