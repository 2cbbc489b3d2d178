/*
 * checker.h -- checks of the properties that random worlds cannot judge, by
 * enumeration or measurement: S1 to S5, and U1, U2 and W3 of subjects.
 */
#ifndef PROPS_SAMPLING_CHECKER_H
#define PROPS_SAMPLING_CHECKER_H

#include <stdbool.h>

#include "prof/rules.h"
#include "props/property.h"

/* What a checker has found. */
struct props_finding {
    enum props_property property;
    uint64_t cells;   /* combinations that were tried */
    double deviation; /* relative error of the worst mean, if `unbiased` */
    bool failed;
    bool unjudged;  /* nothing failed, but not everything could be judged */
    int signal;     /* failed: the signal that ended the subject; 0: none */
    char text[512]; /* the first cell that failed, or the worst one */
};

struct props_question {
    const struct prof_rules *rules;
    const struct subject *subject; /* for U1, U2, W3; NULL: the library */
    bool unbiased;                 /* compare with the truth */
};

/*
 * Run the checker of a property.
 *
 * out:     *finding, if true is returned
 * returns: false if the property has no checker and is judged in campaigns only
 */
bool props_checker_run(enum props_property property,
                       const struct props_question *question,
                       struct props_finding *finding);

/* Is there a checker for it? */
bool props_checker_exists(enum props_property property);

/* returns: is a worse than b? A broken rule is worse than a wrong mean, and of
 * two means the one is worse whose ratio to the truth is further from 1 */
bool props_finding_is_worse(const struct props_finding *a,
                            const struct props_finding *b);

/* For the checkers only: note a failure; the text of the first one is kept. */
void props_finding_fail(struct props_finding *finding, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Note a mean that deviates from the truth by `deviation`; the worst is
 * kept. */
void props_finding_deviates(struct props_finding *finding, double deviation,
                            const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The checkers. in/out: *finding, to which they add their results */
void props_check_heap_sampler(const struct props_question *question,
                              struct props_finding *finding);
void props_check_block(const struct props_question *question,
                       struct props_finding *finding);
void props_check_mutex(const struct props_question *question,
                       struct props_finding *finding);
void props_check_rate_change(const struct props_question *question,
                             struct props_finding *finding);
void props_check_subject_long(const struct props_question *question,
                              struct props_finding *finding);
void props_check_subject_first(const struct props_question *question,
                               struct props_finding *finding);
void props_check_subject_waits(const struct props_question *question,
                               struct props_finding *finding);
void props_check_draws(const struct props_question *question,
                       struct props_finding *finding);

#endif
