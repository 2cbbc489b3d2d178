/*
 * varint.h -- variable-length numbers, as in profile.proto and execution
 * traces: groups of 7 bits, lowest first, one per byte. If the top bit of a
 * byte is set, another byte follows.
 *
 * A number below 2^56 is spread into its 7-bit groups within one word, and the
 * whole word is stored. A loop over the bytes would be slower: its length is
 * hard to predict, and a mispredicted branch costs more than the bytes.
 */
#ifndef PROF_CORE_VARINT_H
#define PROF_CORE_VARINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { VARINT_MAX = 10 };

/* in: value, not 0; returns: 1 .. VARINT_MAX; 9/64 approximates 1/7 */
static inline size_t
varint_bytes(uint64_t value)
{
    return (size_t)(9 * (63 - __builtin_clzll(value)) + 73) / 64;
}

/*
 * returns: the groups of 7 bits, each in a byte. in: value < 2^56
 *
 * Each step moves the upper half of a field up, by adding the difference.
 */
static inline uint64_t
varint_groups(uint64_t value)
{
    value += (value & 0xfffffff0000000) * 15;
    value += (value & 0x0fffc0000fffc000) * 3;
    return value + (value & 0x3f803f803f803f80);
}

/* Has a number at most four groups? Nearly all have. */
static inline bool
varint_is_short(uint64_t value)
{
    return value < UINT64_C(1) << 28;
}

/* in: value, short */
static inline unsigned char *
put_short_varint(unsigned char *at, uint32_t value)
{
    uint32_t word;
    size_t bytes;

    if (value < 0x80) { /* the same events every time, so predictable */
        *at = (unsigned char)value;
        return at + 1;
    }
    bytes = varint_bytes(value);
    word = value + (value & 0xfffc000) * 3;
    word += word & 0x3f803f80;
    word |= 0x80808080 >> (40 - 8 * bytes);
    memcpy(at, &word, sizeof word);
    return at + bytes;
}

/* in: value, not short */
static inline unsigned char *
put_long_varint(unsigned char *at, uint64_t value)
{
    const size_t bytes = varint_bytes(value);
    uint64_t word;

    if (bytes > 8) {
        for (; value >= 0x80; value >>= 7)
            *at++ = (unsigned char)(value | 0x80);
        *at++ = (unsigned char)value;
        return at;
    }
    word = varint_groups(value) | 0x8080808080808080 >> (72 - 8 * bytes);
    memcpy(at, &word, sizeof word);
    return at + bytes;
}

/* in: at, room for VARINT_MAX bytes, whatever the value */
static inline unsigned char *
put_varint(unsigned char *at, uint64_t value)
{
    return __builtin_expect(varint_is_short(value), 1)
               ? put_short_varint(at, (uint32_t)value)
               : put_long_varint(at, value);
}

#endif
