/* line_writer.c -- see line_writer.h. */
#include "line_writer.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "output.h"

const char *
cli_lines_write(const char *path, void (*print)(FILE *file, const void *value),
                const void *value)
{
    const struct props_output output = {.path = path};
    const char *reason = "not enough memory";
    char *bytes = NULL;
    size_t count = 0;
    FILE *file = open_memstream(&bytes, &count);
    bool whole;

    if (file == NULL)
        return reason;
    print(file, value);
    if (fflush(file) == 0)
        fprintf(file, "end %016" PRIx64 "\n",
                (uint64_t)XXH3_64bits(bytes, count));
    whole = ferror(file) == 0;
    whole &= fclose(file) == 0;
    if (whole)
        reason = props_output_write(&output, bytes, count);
    free(bytes);
    return reason;
}
