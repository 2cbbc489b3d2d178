/*
 * mappings.c -- the executable mappings in the text of /proc/PID/maps.
 *
 *      00400000-0040b000 r-xp 0000d000 fd:01 12345   /bin/cat
 *      start    limit    perm offset   dev   inode   file
 *
 * As in Go, these lines are skipped: malformed ones, mappings that are not
 * executable, and anonymous mappings (no file and inode 0). " (deleted)" is not
 * part of a file's name.
 */
#include <string.h>

#include "prof/pprof/out.h"
#include "prof/core/poison.h"
#include "prof/symbol.h"

struct span {
    char *at;
    size_t bytes;
};

static bool
is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* A newline ends every line, and is not a blank. */
static void
skip_blanks(struct span *line)
{
    while (is_blank(*line->at)) {
        line->at++;
        line->bytes--;
    }
}

/* Take the next field off the front of a line. */
static struct span
take_field(struct span *line)
{
    struct span field;

    skip_blanks(line);
    field = (struct span){.at = line->at};
    while (line->bytes > 0 && !is_blank(*line->at)) {
        line->at++;
        line->bytes--;
        field.bytes++;
    }
    return field;
}

/* in: *value, 0 */
static bool
parse_hex(struct span text, uint64_t *value)
{
    if (text.bytes == 0 || text.bytes > 16)
        return false;
    for (size_t i = 0; i < text.bytes; i++) {
        const char c = text.at[i];
        const int digit = c >= '0' && c <= '9'   ? c - '0'
                          : c >= 'a' && c <= 'f' ? c - 'a' + 10
                          : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                 : -1;

        if (digit < 0)
            return false;
        *value = *value << 4 | (uint64_t)digit;
    }
    return true;
}

static bool
parse_range(struct span text, struct prof_mapping *mapping)
{
    char *const dash = memchr(text.at, '-', text.bytes);
    size_t first;

    if (dash == NULL)
        return false;
    first = (size_t)(dash - text.at);
    return parse_hex((struct span){text.at, first}, &mapping->start) &&
           parse_hex((struct span){dash + 1, text.bytes - first - 1},
                     &mapping->limit);
}

/* The rest of a line is the file's name, which may contain blanks. */
static struct span
take_file(struct span line)
{
    static const char deleted[] = " (deleted)";
    const size_t deleted_bytes = sizeof deleted - 1;

    skip_blanks(&line);
    if (line.bytes >= deleted_bytes &&
        memcmp(&line.at[line.bytes - deleted_bytes], deleted, deleted_bytes) ==
            0)
        line.bytes -= deleted_bytes;
    return line;
}

/* out: *mapping, *file. returns: false if the line is to be skipped */
static bool
parse_line(struct span line, struct prof_mapping *mapping, struct span *file)
{
    const struct span range = take_field(&line);
    const struct span permissions = take_field(&line);
    const struct span offset = take_field(&line);
    const struct span device = take_field(&line);
    const struct span inode = take_field(&line);

    memset(mapping, 0, sizeof *mapping);
    if (device.bytes == 0 || inode.bytes == 0 || permissions.bytes < 4 ||
        permissions.at[2] != 'x' || !parse_range(range, mapping) ||
        !parse_hex(offset, &mapping->offset))
        return false;
    *file = take_file(line);
    return file->bytes > 0 || inode.bytes != 1 || inode.at[0] != '0';
}

enum prof_status
prof_mappings_parse(struct prof_mapping *mappings, size_t mappings_max,
                    size_t *count, char *text, size_t text_bytes)
{
    char *line = text;
    char *end;

    *count = 0;
    /* A last line without a newline may be incomplete, so it is not used. */
    while ((end = memchr(line, '\n', text_bytes)) != NULL) {
        const struct span whole = {line, (size_t)(end - line)};
        struct prof_mapping mapping;
        struct span file;

        line += whole.bytes + 1;
        text_bytes -= whole.bytes + 1;
        if (!parse_line(whole, &mapping, &file))
            continue;
        file.at[file.bytes] = '\0'; /* overwrites the newline at most */
        mapping.file = file.at;
        if (*count < mappings_max)
            mappings[*count] = mapping;
        ++*count;
    }
    return *count <= mappings_max ? PROF_OK : PROF_ERR_SHORT;
}
