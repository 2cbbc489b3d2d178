/* json.c -- see json.h. */
#include "common/json.h"

#include <stdint.h>
#include <string.h>

#include "common/escape.h"

/* A byte that a JSON string cannot show as it is. */
static void
put_control(FILE *file, uint8_t byte)
{
    if (byte == '\n')
        fputs("\\n", file);
    else if (byte == '\t')
        fputs("\\t", file);
    else if (byte == '\r')
        fputs("\\r", file);
    else
        fprintf(file, "\\\\x%02x", byte);
}

static void
put_printable(FILE *file, const char *text, size_t bytes)
{
    if (*text == '<')
        fputs("\\u003c", file);
    else if (*text == '"' || *text == '\\')
        fprintf(file, "\\%c", *text);
    else
        fwrite(text, 1, bytes, file);
}

void
sim_json_string(FILE *file, const char *text)
{
    size_t left;

    if (text == NULL) {
        fputs("null", file);
        return;
    }
    fputc('"', file);
    for (left = strlen(text); left > 0;) {
        const size_t bytes = sim_escape_printable(text, left);
        const size_t taken = bytes > 0 ? bytes : 1;

        if (bytes > 0)
            put_printable(file, text, bytes);
        else
            put_control(file, (uint8_t)*text);
        text += taken;
        left -= taken;
    }
    fputc('"', file);
}
