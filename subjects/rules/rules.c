/* rules.c -- the list of rule sets, and what an absent field means. */
#include "rules.h"

#include <string.h>

#include "rule_sets.h"

const struct subjects_rules *const subjects_rules_all[] = {
    &subjects_exact,      &subjects_min_variance, &subjects_go1_5,
    &subjects_go1_10,     &subjects_go1_17,       &subjects_go1_23,
    &subjects_go1_24,     &subjects_jemalloc,     &subjects_tcmalloc,
    &subjects_gperftools, &subjects_heapprofd,    &subjects_seastar,
    &subjects_v8_nodes,   &subjects_v8_samples,   &subjects_jep331,
    &subjects_jfr,        &subjects_statmemprof,  &subjects_libdatadog,
    &subjects_otel,       &subjects_uniform2r,    &subjects_count_and_force,
    &subjects_since_last, &subjects_max_rate,     NULL,
};

const struct subjects_rules *const subjects_rules_mistakes[] = {
    &subjects_site_mean,
    &subjects_wrapping_weight,
    &subjects_own_size,
    &subjects_after_refill,
    &subjects_raw_live,
    &subjects_buffer_size,
    NULL,
};

static const struct subjects_rules *
find_in(const struct subjects_rules *const *list, const char *name)
{
    while (*list != NULL && strcmp((*list)->name, name) != 0)
        list++;
    return *list;
}

const struct subjects_rules *
subjects_rules_find(const char *name)
{
    const struct subjects_rules *found = find_in(subjects_rules_all, name);

    return found != NULL ? found : find_in(subjects_rules_mistakes, name);
}

uint64_t
subjects_counted(const struct subjects_rules *rules, uint64_t size_bytes,
                 uint64_t alignment_bytes)
{
    return rules->counted == NULL ? size_bytes
                                  : rules->counted(size_bytes, alignment_bytes);
}

uint64_t
subjects_ticks(const struct subjects_rules *rules, uint64_t rate,
               uint64_t size_bytes)
{
    return rules->ticks == NULL ? size_bytes : rules->ticks(rate, size_bytes);
}

bool
subjects_always(const struct subjects_rules *rules, uint64_t rate,
                uint64_t size_bytes)
{
    return rules->always != NULL && rules->always(rate, size_bytes);
}
