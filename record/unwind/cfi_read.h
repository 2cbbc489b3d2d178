/*
 * cfi_read.h -- reads numbers in DWARF's encodings, within bounds.
 *
 * Past the end every number is 0 and `bad` is set, so a reader may check `bad`
 * once, after several numbers.
 */
#ifndef RECORD_UNWIND_CFI_READ_H
#define RECORD_UNWIND_CFI_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct cfi_reader {
    const uint8_t *at;
    const uint8_t *end;
    bool bad;
};

static inline bool
cfi_take(struct cfi_reader *reader, void *to, size_t bytes)
{
    if (reader->bad || (size_t)(reader->end - reader->at) < bytes) {
        reader->bad = true;
        memset(to, 0, bytes);
        return false;
    }
    memcpy(to, reader->at, bytes);
    reader->at += bytes;
    return true;
}

static inline uint8_t
cfi_u8(struct cfi_reader *reader)
{
    uint8_t value;

    cfi_take(reader, &value, sizeof value);
    return value;
}

static inline uint16_t
cfi_u16(struct cfi_reader *reader)
{
    uint16_t value;

    cfi_take(reader, &value, sizeof value);
    return value;
}

static inline uint32_t
cfi_u32(struct cfi_reader *reader)
{
    uint32_t value;

    cfi_take(reader, &value, sizeof value);
    return value;
}

static inline uint64_t
cfi_u64(struct cfi_reader *reader)
{
    uint64_t value;

    cfi_take(reader, &value, sizeof value);
    return value;
}

static inline uint64_t
cfi_leb(struct cfi_reader *reader, bool is_signed)
{
    uint64_t value = 0;

    for (uint32_t shift = 0; shift < 64; shift += 7) {
        const uint8_t byte = cfi_u8(reader);

        value |= (uint64_t)(byte & 0x7f) << shift;
        if ((byte & 0x80) != 0)
            continue;
        if (is_signed && (byte & 0x40) != 0 && shift + 7 < 64)
            value |= ~UINT64_C(0) << (shift + 7);
        return value;
    }
    reader->bad = true;
    return 0;
}

static inline uint64_t
cfi_uleb(struct cfi_reader *reader)
{
    return cfi_leb(reader, false);
}

static inline int64_t
cfi_sleb(struct cfi_reader *reader)
{
    return (int64_t)cfi_leb(reader, true);
}

/* returns: the bytes skipped over, NULL if there are not that many */
static inline const uint8_t *
cfi_skip(struct cfi_reader *reader, uint64_t bytes)
{
    const uint8_t *from = reader->at;

    if (reader->bad || (uint64_t)(reader->end - reader->at) < bytes) {
        reader->bad = true;
        return NULL;
    }
    reader->at += bytes;
    return from;
}

#endif
