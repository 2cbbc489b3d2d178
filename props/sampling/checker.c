/* checker.c -- the registry of checkers. */
#include "checker.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
    enum props_property property;
    void (*run)(const struct props_question *question,
                struct props_finding *finding);
} checkers[] = {
    {PROPS_S1, props_check_heap_sampler},  {PROPS_S2, props_check_block},
    {PROPS_S3, props_check_mutex},         {PROPS_S4, props_check_rate_change},
    {PROPS_S5, props_check_draws},         {PROPS_U1, props_check_subject_long},
    {PROPS_U2, props_check_subject_first},
};

enum { CHECKERS = sizeof checkers / sizeof *checkers };

bool
props_checker_exists(enum props_property property)
{
    for (size_t i = 0; i < CHECKERS; i++) {
        if (checkers[i].property == property)
            return true;
    }
    return false;
}

bool
props_checker_run(enum props_property property,
                  const struct props_question *question,
                  struct props_finding *finding)
{
    memset(finding, 0, sizeof *finding);
    finding->property = property;
    if (property >= PROPS_U1 && question->subject == NULL)
        return false;
    for (size_t i = 0; i < CHECKERS; i++) {
        if (checkers[i].property == property) {
            checkers[i].run(question, finding);
            return true;
        }
    }
    return false;
}

/* How far a mean is off, the same for twice and for half. */
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
