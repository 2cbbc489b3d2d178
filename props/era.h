/* era.h -- which formulas of the model a rule set of the library follows. */
#ifndef PROPS_ERA_H
#define PROPS_ERA_H

#include "model/heap/contention.h"
#include "prof/rules.h"

static inline enum model_era
props_era_of(const struct prof_rules *rules)
{
    if (rules->mutex == PROF_MUTEX_ABSENT)
        return MODEL_GO_1_5;
    if (rules->block == PROF_BLOCK_EXACT)
        return MODEL_EXACT;
    return rules->block == PROF_BLOCK_PLAIN ? MODEL_GO_1_10 : MODEL_GO_1_17;
}

#endif
