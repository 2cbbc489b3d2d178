/* proto.c -- see proto.h. */
#include "common/proto.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/command/complaint.h"
#include "common/escape.h"

enum { WIRE_VARINT = 0, WIRE_FIXED = 1, WIRE_BYTES = 2, LENGTH_BYTES = 4 };

void
cli_proto_put(struct cli_proto *to, const void *from, size_t count)
{
    if (to->room - to->count < count) {
        to->room = (to->count + count) * 2 + 64;
        to->at = cli_need(realloc(to->at, to->room));
    }
    if (count > 0)
        memcpy(to->at + to->count, from, count);
    to->count += count;
}

void
cli_proto_varint(struct cli_proto *to, uint64_t value)
{
    uint8_t bytes[10];
    size_t count = 0;

    for (; value >= 0x80; value >>= 7)
        bytes[count++] = (uint8_t)(value | 0x80);
    bytes[count++] = (uint8_t)value;
    cli_proto_put(to, bytes, count);
}

static void
put_tag(struct cli_proto *to, uint32_t field, uint32_t wire)
{
    cli_proto_varint(to, (uint64_t)field << 3 | wire);
}

void
cli_proto_value(struct cli_proto *to, uint32_t field, uint64_t value)
{
    put_tag(to, field, WIRE_VARINT);
    cli_proto_varint(to, value);
}

void
cli_proto_number(struct cli_proto *to, uint32_t field, uint64_t value)
{
    if (value != 0)
        cli_proto_value(to, field, value);
}

void
cli_proto_fixed(struct cli_proto *to, uint32_t field, uint64_t value)
{
    uint8_t bytes[8];

    if (value == 0)
        return;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(value >> 8 * i);
    put_tag(to, field, WIRE_FIXED);
    cli_proto_put(to, bytes, sizeof bytes);
}

void
cli_proto_bytes(struct cli_proto *to, uint32_t field, const void *from,
                size_t count)
{
    put_tag(to, field, WIRE_BYTES);
    cli_proto_varint(to, count);
    cli_proto_put(to, from, count);
}

void
cli_proto_text(struct cli_proto *to, uint32_t field, const char *text)
{
    const size_t bytes = strlen(text);
    struct cli_proto escaped = {.count = 0};
    size_t character;

    for (size_t i = 0; i < bytes; i += character) {
        character = sim_escape_utf8(text + i, bytes - i);
        if (character > 0) {
            cli_proto_put(&escaped, text + i, character);
        } else {
            char hex[5];

            snprintf(hex, sizeof hex, "\\x%02x", (uint8_t)text[i]);
            cli_proto_put(&escaped, hex, 4);
            character = 1;
        }
    }
    cli_proto_message(to, field, &escaped);
}

void
cli_proto_message(struct cli_proto *to, uint32_t field,
                  struct cli_proto *message)
{
    cli_proto_bytes(to, field, message->at, message->count);
    free(message->at);
    *message = (struct cli_proto){.count = 0};
}

size_t
cli_proto_begin(struct cli_proto *to, uint32_t field)
{
    put_tag(to, field, WIRE_BYTES);
    cli_proto_put(to, "\0\0\0", LENGTH_BYTES);
    return to->count;
}

void
cli_proto_end(struct cli_proto *to, size_t start)
{
    size_t length = to->count - start;

    for (size_t i = LENGTH_BYTES; i > 0; i--) {
        to->at[start - i] = (uint8_t)((length & 0x7f) | (i > 1 ? 0x80 : 0));
        length >>= 7;
    }
}
