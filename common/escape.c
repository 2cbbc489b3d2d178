/* escape.c -- see escape.h. */
#include "common/escape.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Is the character invisible, or does it move the text that follows it? */
static bool
is_invisible(uint32_t character)
{
    static const struct {
        uint32_t first, last;
    } ranges[] = {
        {0x80, 0x9f},     {0xad, 0xad},     {0x61c, 0x61c},
        {0x200b, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f},
        {0xfff9, 0xfffb}, {0xfffe, 0xffff}, {0xe0000, 0xe007f},
    };

    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        if (character >= ranges[i].first && character <= ranges[i].last)
            return true;
    }
    return false;
}

/* Length of a well-formed UTF-8 character (table 3-7 of Unicode), else 0. */
static size_t
multibyte(const uint8_t *bytes, size_t count, uint32_t *decoded)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const size_t length = bytes[0] < 0xc2   ? 0
                          : bytes[0] < 0xe0 ? 2
                          : bytes[0] < 0xf0 ? 3
                          : bytes[0] < 0xf5 ? 4
                                            : 0;
    uint32_t character;

    if (length == 0 || length > count)
        return 0;
    character = bytes[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((bytes[i] & 0xc0) != 0x80)
            return 0;
        character = character << 6 | (bytes[i] & 0x3fu);
    }
    if (character < least[length] || character > 0x10ffff ||
        (character >= 0xd800 && character <= 0xdfff))
        return 0;
    *decoded = character;
    return length;
}

size_t
sim_escape_utf8(const char *text, size_t bytes)
{
    uint32_t character;

    if (bytes > 0 && (uint8_t)text[0] < 0x80)
        return 1;
    return bytes > 0 ? multibyte((const uint8_t *)text, bytes, &character) : 0;
}

size_t
sim_escape_printable(const char *text, size_t bytes)
{
    const uint8_t first = bytes > 0 ? (uint8_t)text[0] : 0;
    uint32_t character = 0;
    size_t length;

    if (first >= 0x80) {
        length = multibyte((const uint8_t *)text, bytes, &character);
        return is_invisible(character) ? 0 : length;
    }
    return first >= ' ' && first != 0x7f;
}

static void
put_escaped(FILE *file, uint8_t byte)
{
    if (byte == '\n')
        fputs("\\n", file);
    else if (byte == '\t')
        fputs("\\t", file);
    else if (byte == '\r')
        fputs("\\r", file);
    else
        fprintf(file, "\\x%02x", byte);
}

void
sim_escape_text(FILE *file, const char *text)
{
    size_t left = strlen(text);

    while (left > 0) {
        size_t good = 0;
        size_t length;

        while ((length = sim_escape_printable(text + good, left - good)) > 0)
            good += length;
        fwrite(text, 1, good, file);
        text += good;
        left -= good;
        if (left > 0) {
            put_escaped(file, (uint8_t)*text++);
            left--;
        }
    }
}

void
sim_escape_line_of(FILE *file, const char *format, va_list arguments)
{
    char line[1024];
    char *whole = line;
    va_list again;
    int length;

    va_copy(again, arguments);
    length = vsnprintf(line, sizeof line, format, arguments);
    if (length >= (int)sizeof line && (whole = malloc((size_t)length + 1)))
        vsnprintf(whole, (size_t)length + 1, format, again);
    va_end(again);
    /* Without memory for the whole of a long line, print its beginning. */
    sim_escape_text(file, length < 0 ? format : whole != NULL ? whole : line);
    fputc('\n', file);
    if (whole != line)
        free(whole);
}

void
sim_escape_line(FILE *file, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    sim_escape_line_of(file, format, arguments);
    va_end(arguments);
}
