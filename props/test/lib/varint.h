/* varint.h -- reads a varint from protobuf bytes, for tests. */
#ifndef PROPS_VARINT_H
#define PROPS_VARINT_H

#include "unit_test.h"

/* in/out: *at, up to `end`. A varint that is too long or cut off fails the
 * test. */
static inline uint64_t
varint_take(const uint8_t **at, const uint8_t *end)
{
    uint64_t value = 0;

    for (int shift = 0; shift < 64; shift += 7) {
        assert_true(*at < end);
        value |= (uint64_t)(**at & 0x7f) << shift;
        if ((*(*at)++ & 0x80) == 0)
            return value;
    }
    fail();
    return 0;
}

#endif
