/* checker.c -- the registry of checkers. */
#include "props/sampling/checker.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
    enum props_property property;
    void (*run)(const struct props_question *question,
                struct props_finding *finding);
} checkers[] = {
    {PROPS_S1, props_check_heap_sampler},
    {PROPS_S2, props_check_block},
    {PROPS_S3, props_check_mutex},
    {PROPS_S4, props_check_rate_change},
    {PROPS_S5, props_check_draws},
    {PROPS_U1, props_check_subject_long},
    {PROPS_U2, props_check_subject_first},
    {PROPS_W3, props_check_subject_waits},
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
