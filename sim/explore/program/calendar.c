/* calendar.c -- dates. Local time is UTC, so that a run does not depend on the
 * machine. */
#include "program.h"

#include <string.h>

#include "explored.h"

struct tm *
explored_gmtime_r(const time_t *restrict seconds, struct tm *restrict date)
{
    if (sim_program_runs()) {
        sim_program_reads(seconds, sizeof *seconds, HERE);
        sim_program_writes(date, sizeof *date, HERE);
    }
    return gmtime_r(seconds, date);
}

struct tm *
explored_localtime_r(const time_t *restrict seconds, struct tm *restrict date)
{
    if (!sim_program_runs())
        return localtime_r(seconds, date);
    sim_program_reads(seconds, sizeof *seconds, HERE);
    sim_program_writes(date, sizeof *date, HERE);
    return gmtime_r(seconds, date);
}

size_t
explored_strftime(char *restrict text, size_t room, const char *restrict format,
                  const struct tm *restrict date)
{
    const size_t length = strftime(text, room, format, date);

    if (sim_program_runs()) {
        sim_program_reads(format, strlen(format) + 1, HERE);
        sim_program_reads(date, sizeof *date, HERE);
        sim_program_writes(text, length != 0 ? length + 1 : 0, HERE);
    }
    return length;
}
