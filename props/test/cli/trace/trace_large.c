/* trace_large.c -- see trace_large.h. */
#include "trace_large.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "trace_script.h"
#include "unit_test.h"

void
trace_large_write(const char *path)
{
    static struct props_trace_script script;
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    memset(&script, 0, sizeof script);
    props_trace_script(&script, "p0 create:1 start:1 end");
    fwrite(script.bytes, 1, script.bytes_count, file);
    for (uint32_t i = 1; i <= TRACE_LARGE_STACKS; i++) {
        const uint8_t record[] = {0xc3,
                                  5,
                                  (uint8_t)(0x80 | (i & 0x7f)),
                                  (uint8_t)(0x80 | (i >> 7 & 0x7f)),
                                  (uint8_t)(i >> 14),
                                  1,
                                  9};

        fwrite(record, 1, sizeof record, file);
    }
    assert_int_equal(fclose(file), 0);
}
