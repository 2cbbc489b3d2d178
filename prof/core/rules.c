/* rules.c -- the presets of rules.h. */
#include "prof/rules.h"

#include <stddef.h>

#include "prof/core/poison.h"

const struct prof_rules prof_rules_exact = {
    .name = "exact",
    .heap = PROF_HEAP_RING,
    .explicit_free = PROF_EXPLICIT_RECENT,
    .sizing_consumes_first = false,
    .random = PROF_RANDOM_64,
    .block = PROF_BLOCK_EXACT,
    .mutex = PROF_MUTEX_EXACT,
    .waiters = PROF_WAITERS_FIRST,
    .sampler = PROF_SAMPLER_EXACT,
};

const struct prof_rules prof_rules_go1_5 = {
    .name = "go1.5",
    .heap = PROF_HEAP_STAGES,
    .rotate = PROF_ROTATE_STOPPED,
    .explicit_free = PROF_EXPLICIT_RECENT,
    .sizing_consumes_first = true,
    .random = PROF_RANDOM_LFSR31,
    .block = PROF_BLOCK_PLAIN,
    .mutex = PROF_MUTEX_ABSENT,
    .waiters = PROF_WAITERS_FIRST,
    .sampler = PROF_SAMPLER_UNIFORM,
    .sampler_keeps_large = true,
    .rate_overflow_is_off = true,
};

const struct prof_rules prof_rules_go1_6_late = {
    .name = "go1.6-late",
    .heap = PROF_HEAP_STAGES,
    .rotate = PROF_ROTATE_RESTARTED,
    .explicit_free = PROF_EXPLICIT_RECENT,
    .sizing_consumes_first = true,
    .random = PROF_RANDOM_LFSR31,
    .block = PROF_BLOCK_PLAIN,
    .mutex = PROF_MUTEX_ABSENT,
    .waiters = PROF_WAITERS_FIRST,
    .sampler = PROF_SAMPLER_UNIFORM,
    .sampler_keeps_large = true,
    .rate_overflow_is_off = true,
};

const struct prof_rules prof_rules_go1_10 = {
    .name = "go1.10",
    .heap = PROF_HEAP_RING,
    .explicit_free = PROF_EXPLICIT_DROPPED,
    .sizing_consumes_first = true,
    .random = PROF_RANDOM_XORSHIFT32,
    .block = PROF_BLOCK_PLAIN,
    .mutex = PROF_MUTEX_UNSCALED,
    .waiters = PROF_WAITERS_FIRST,
    .sampler = PROF_SAMPLER_EXPONENTIAL,
    .sampler_keeps_large = true,
    .rate_overflow_is_off = true,
};

const struct prof_rules prof_rules_go1_17 = {
    .name = "go1.17",
    .heap = PROF_HEAP_RING,
    .explicit_free = PROF_EXPLICIT_DROPPED,
    .sizing_consumes_first = true,
    .random = PROF_RANDOM_XORSHIFT32,
    .block = PROF_BLOCK_CORRECTED,
    .mutex = PROF_MUTEX_UNSCALED,
    .waiters = PROF_WAITERS_FIRST,
    .sampler = PROF_SAMPLER_EXPONENTIAL,
    .sampler_keeps_large = false,
    .rate_overflow_is_off = true,
};

const struct prof_rules *const prof_rules_all[] = {
    &prof_rules_exact,  &prof_rules_go1_5,  &prof_rules_go1_6_late,
    &prof_rules_go1_10, &prof_rules_go1_17, NULL,
};

static bool
same_text(const char *a, const char *b)
{
    while (*a != '\0' && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

const struct prof_rules *
prof_rules_find(const char *name)
{
    for (size_t i = 0; prof_rules_all[i] != NULL; i++) {
        if (same_text(prof_rules_all[i]->name, name))
            return prof_rules_all[i];
    }
    return NULL;
}
