/*
 * pprof_tabs.c -- columns, by the rules of Go's tabwriter, cell by cell.
 *
 * A cell is as wide as the widest cell in its column. A column extends up and
 * down from a line, as long as each line has a cell there that ends in a tab.
 */
#include "model/pprof/pprof_reader.h"

#include <string.h>

struct line {
    const char *at;
    const char *end;
};

/* returns: the line that begins at `at` */
static struct line
line_at(const char *at, const char *end)
{
    const char *stop = memchr(at, '\n', (size_t)(end - at));

    return (struct line){at, stop != NULL ? stop : end};
}

/* Cell number `column` of a line, if a tab ends it; else `at` is NULL. */
static struct line
cell_of(struct line line, size_t column)
{
    for (;; column--) {
        const char *tab = memchr(line.at, '\t', (size_t)(line.end - line.at));

        if (tab == NULL)
            return (struct line){NULL, NULL};
        if (column == 0)
            return (struct line){line.at, tab};
        line.at = tab + 1;
    }
}

static size_t
width_of(struct line cell)
{
    size_t width = 0;

    for (const char *c = cell.at; c < cell.end; c++)
        width += ((unsigned char)*c & 0xc0) != 0x80;
    return width;
}

/* The widest cell of the column around the line that begins at `from`. */
static size_t
widest(const char *text, const char *end, const char *from, size_t column)
{
    const char *first = from;
    size_t most = 0;

    while (first > text) {
        const char *above = first - 1;

        while (above > text && above[-1] != '\n')
            above--;
        if (cell_of(line_at(above, end), column).at == NULL)
            break;
        first = above;
    }
    for (const char *at = first; at < end;) {
        const struct line line = line_at(at, end);
        const struct line cell = cell_of(line, column);

        if (cell.at == NULL)
            break;
        if (width_of(cell) > most)
            most = width_of(cell);
        at = line.end + 1;
    }
    return most;
}

size_t
model_tabs(char *to, size_t to_max, const char *text, size_t text_bytes)
{
    const char *const end = text + text_bytes;
    size_t used = 0;

    for (const char *at = text; at < end;) {
        const struct line line = line_at(at, end);
        const char *rest = line.at;
        struct line cell;
        size_t left;

        for (size_t column = 0; (cell = cell_of(line, column)).at != NULL;
             column++) {
            const size_t bytes = (size_t)(cell.end - cell.at);
            const size_t stops =
                (widest(text, end, line.at, column) + 1 + 7) / 8;
            const size_t tabs = (stops * 8 - width_of(cell) + 7) / 8;

            if (used + bytes + tabs > to_max)
                return 0;
            memcpy(&to[used], cell.at, bytes);
            memset(&to[used + bytes], '\t', tabs);
            used += bytes + tabs;
            rest = cell.end + 1;
        }
        left = (size_t)(line.end - rest);
        if (used + left + 1 > to_max)
            return 0;
        memcpy(&to[used], rest, left);
        used += left;
        if (line.end < end)
            to[used++] = '\n';
        at = line.end + 1;
    }
    return used;
}
