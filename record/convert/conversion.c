/* conversion.c -- reports why a conversion failed. */
#include "record/convert/conversion.h"

#include <stdio.h>

bool
cli_conversion_fail(struct cli_conversion *convert, const char *reason)
{
    snprintf(convert->error, convert->error_bytes, "%s", reason);
    return false;
}

bool
cli_conversion_damaged(struct cli_conversion *convert, uint64_t offset,
                       const char *what)
{
    snprintf(convert->error, convert->error_bytes,
             "the log is damaged at offset %llu: %s",
             (unsigned long long)offset, what);
    return false;
}
