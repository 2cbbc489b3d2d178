/* complaint.c -- see complaint.h. */
#include "common/command/complaint.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/escape.h"
#include "common/nearest.h"

static char last[1024];

static void
print(const char *format, va_list arguments)
{
    vsnprintf(last, sizeof last, format, arguments);
    fputs("profsim: ", stderr);
    sim_escape_line(stderr, "%s", last);
}

const char *
cli_complaint_last(void)
{
    return last;
}

enum cli_exit
cli_usage(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    print(format, arguments);
    va_end(arguments);
    return CLI_USAGE;
}

enum cli_exit
cli_output_end(enum cli_exit exit_code)
{
    if (fflush(stdout) == 0 && ferror(stdout) == 0)
        return exit_code;
    return cli_usage("cannot write the output: %s", strerror(errno));
}

void *
cli_need(void *memory)
{
    if (memory == NULL)
        exit((int)cli_usage("not enough memory"));
    return memory;
}

bool
cli_complain(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    print(format, arguments);
    va_end(arguments);
    return false;
}

bool
cli_unknown(const char *what, const struct sim_nearest *nearest,
            const char *hint)
{
    if (nearest->best != NULL)
        return cli_complain("there is no %s '%s'; did you mean '%s'?", what,
                            nearest->wrong, nearest->best);
    return cli_complain("there is no %s '%s'; %s", what, nearest->wrong, hint);
}

bool
cli_number(const char *name, const char *text, uint64_t least, uint64_t most,
           uint64_t *value)
{
    char *end;

    errno = 0;
    *value = strtoull(text, &end, 10);
    if (*text >= '0' && *text <= '9' && *end == '\0' && errno == 0 &&
        *value >= least && *value <= most)
        return true;
    return cli_complain("%s takes a whole number from %" PRIu64 " to %" PRIu64
                        ", not '%s'",
                        name, least, most, text);
}

bool
cli_bytes(const char *name, const char *text, uint64_t least, uint64_t most,
          uint64_t *bytes)
{
    static const char units[] = "kmg";
    const char *unit = NULL;
    unsigned shift = 0;
    char *end;

    errno = 0;
    *bytes = strtoull(text, &end, 10);
    if (*end != '\0')
        unit = strchr(units, *end | 32);
    if (unit != NULL) {
        shift = 10 * (unsigned)(unit - units + 1);
        end++;
    }
    if (*text >= '0' && *text <= '9' && *end == '\0' && errno == 0 &&
        *bytes <= UINT64_MAX >> shift) {
        *bytes <<= shift;
        if (*bytes >= least && *bytes <= most)
            return true;
    }
    return cli_complain("%s takes bytes from %" PRIu64 " to %" PRIu64
                        " (k, m and g are allowed), not '%s'",
                        name, least, most, text);
}
