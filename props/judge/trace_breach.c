/* trace_breach.c -- note what is wrong with a trace. */
#include "props/judge/trace_judge.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

void
trace_judge_breach(struct trace_judge *judge, enum props_property property,
                   const char *format, ...)
{
    va_list arguments;
    int used;

    if ((judge->requested & PROPS_BIT(property)) == 0)
        return;
    judge->breach.broken |= PROPS_BIT(property);
    if (judge->breach.property != PROPS_NONE)
        return;
    judge->breach.property = property;
    judge->breach.event = judge->session;
    used = snprintf(judge->breach.text, sizeof judge->breach.text,
                    "session %" PRIu32 ": ", judge->session + 1);
    va_start(arguments, format);
    vsnprintf(judge->breach.text + used,
              sizeof judge->breach.text - (size_t)used, format, arguments);
    va_end(arguments);
}
