/* finding.c -- keep the worst of what a checker finds. */
#include "props/sampling/checker.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

/* How far a ratio is from 1; 2 and 1/2 are equally far. */
static double
distance(double deviation)
{
    return fabs(log1p(deviation));
}

bool
props_finding_is_worse(const struct props_finding *a,
                       const struct props_finding *b)
{
    if (!a->failed || !b->failed)
        return a->failed;
    if (a->deviation == 0 || b->deviation == 0)
        return a->deviation == 0 && b->deviation != 0;
    return distance(a->deviation) > distance(b->deviation);
}

void
props_finding_fail(struct props_finding *finding, const char *format, ...)
{
    va_list arguments;

    if (finding->failed && finding->deviation == 0)
        return;
    finding->failed = true;
    finding->deviation = 0;
    va_start(arguments, format);
    vsnprintf(finding->text, sizeof finding->text, format, arguments);
    va_end(arguments);
}

void
props_finding_deviates(struct props_finding *finding, double deviation,
                       const char *format, ...)
{
    va_list arguments;

    if (finding->failed &&
        (finding->deviation == 0 ||
         distance(deviation) <= distance(finding->deviation)))
        return;
    finding->failed = true;
    finding->deviation = deviation;
    va_start(arguments, format);
    vsnprintf(finding->text, sizeof finding->text, format, arguments);
    va_end(arguments);
}
