/* rules.c -- the list of rule sets, and what an absent field means. */
#include "subjects/rules/rule_set.h"

#include <string.h>

#include "subjects/rules/rule_sets.h"

const struct subjects_rules *const subjects_rules_all[] = {
#define RULES(id) &subjects_##id,
#define MISTAKE(id)
#include "subjects/rules/rule_sets.def"
#undef RULES
#undef MISTAKE
    NULL,
};

const struct subjects_rules *const subjects_rules_mistakes[] = {
#define RULES(id)
#define MISTAKE(id) &subjects_##id,
#include "subjects/rules/rule_sets.def"
#undef RULES
#undef MISTAKE
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
