/* calendar.c -- dates. Local time is UTC, so that a run does not depend on the
 * machine. */
#include "explore/runtime/program.h"

#include <string.h>

#include "explore/runtime/explored.h"

struct tm *
explored_gmtime_r(const time_t *restrict seconds, struct tm *restrict date)
{
    struct engine *e = &sim_engine;

    if (sim_program_runs(e)) {
        sim_program_reads(e, seconds, sizeof *seconds, HERE);
        sim_program_writes(e, date, sizeof *date, HERE);
    }
    return gmtime_r(seconds, date);
}

struct tm *
explored_localtime_r(const time_t *restrict seconds, struct tm *restrict date)
{
    struct engine *e = &sim_engine;

    if (!sim_program_runs(e))
        return localtime_r(seconds, date);
    sim_program_reads(e, seconds, sizeof *seconds, HERE);
    sim_program_writes(e, date, sizeof *date, HERE);
    return gmtime_r(seconds, date);
}

size_t
explored_strftime(char *restrict text, size_t room, const char *restrict format,
                  const struct tm *restrict date)
{
    struct engine *e = &sim_engine;
    const size_t length = strftime(text, room, format, date);

    if (sim_program_runs(e)) {
        sim_program_reads(e, format, strlen(format) + 1, HERE);
        sim_program_reads(e, date, sizeof *date, HERE);
        sim_program_writes(e, text, length != 0 ? length + 1 : 0, HERE);
    }
    return length;
}
