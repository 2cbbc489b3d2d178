/*
 * proto.h -- writes protobuf messages.
 *
 *      struct cli_proto line = {.count = 0}, location = {.count = 0};
 *
 *      cli_proto_number(&line, 2, 17);
 *      cli_proto_message(&location, 4, &line);
 *
 * If there is no memory, the process ends with one line.
 */
#ifndef COMMON_PROTO_H
#define COMMON_PROTO_H

#include <stddef.h>
#include <stdint.h>

/* A message. All zero: empty. To be freed, unless it was put into another
 * message. */
struct cli_proto {
    uint8_t *at;
    size_t count; /* bytes */
    size_t room;
};

/* Put bytes as they are. */
void cli_proto_put(struct cli_proto *to, const void *from, size_t count);
void cli_proto_varint(struct cli_proto *to, uint64_t value);

/* Put a field. A number that is 0 is left out; a value is not. */
void cli_proto_value(struct cli_proto *to, uint32_t field, uint64_t value);
void cli_proto_number(struct cli_proto *to, uint32_t field, uint64_t value);
void cli_proto_fixed(struct cli_proto *to, uint32_t field, uint64_t value);
void cli_proto_bytes(struct cli_proto *to, uint32_t field, const void *from,
                     size_t count);
/* Put a text; bytes that are not UTF-8 are escaped, as \xff. */
void cli_proto_text(struct cli_proto *to, uint32_t field, const char *text);

/* Put a message as a field, and empty it. */
void cli_proto_message(struct cli_proto *to, uint32_t field,
                       struct cli_proto *message);

/*
 * Begin and end a message as a field, in one buffer: below 2^28 bytes. Its
 * length is known only at the end, so it takes four bytes, padded with
 * continuation bits, which any reader of varints accepts.
 *
 * returns: where the message begins, for cli_proto_end()
 */
size_t cli_proto_begin(struct cli_proto *to, uint32_t field);
void cli_proto_end(struct cli_proto *to, size_t start);

#endif
