/* repeat.h -- the accesses of a run that is made twice (repeat.c,
 * repeat_access.c). */
#ifndef EXPLORE_ENGINE_REPEAT_H
#define EXPLORE_ENGINE_REPEAT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/choice.h"

enum { SIM_REPEAT_LOG_MAX = 1 << 16, SIM_REPEAT_CHOICES_MAX = 1 << 16 };

struct logged_access {
    uintptr_t site;
    uint64_t what; /* a hash of what was done */
};

struct repeat {
    struct logged_access list[SIM_REPEAT_LOG_MAX];
    uint32_t count;
    uint32_t at;
    bool comparing;
    bool cut; /* the first run was cut because of earlier ones */
    bool differs;
    struct logged_access found; /* where it differs */
    uint32_t values[SIM_REPEAT_CHOICES_MAX];
    struct sim_choice choice_list[SIM_REPEAT_CHOICES_MAX];
};

#endif
