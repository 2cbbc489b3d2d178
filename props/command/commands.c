/* commands.c -- words on the command line. */
#include "props/command/commands.h"

#include <string.h>

#include "common/nearest.h"

bool
cli_property(const char *word, props_set *set)
{
    const enum props_property property = props_property_find(word);
    struct sim_nearest nearest = {.wrong = word, .wrong_bytes = strlen(word)};

    if (property != PROPS_NONE) {
        *set |= PROPS_BIT(property);
        return true;
    }
    for (int i = 0; i < PROPS_COUNT; i++)
        sim_nearest_try(&nearest, props_property_id((enum props_property)i));
    return cli_unknown("property", &nearest, "'profsim list' names them");
}

const struct prof_rules *
cli_rules(const char *name)
{
    const struct prof_rules *rules = prof_rules_find(name);
    struct sim_nearest nearest = {.wrong = name, .wrong_bytes = strlen(name)};

    for (size_t i = 0; prof_rules_all[i] != NULL; i++)
        sim_nearest_try(&nearest, prof_rules_all[i]->name);
    if (rules == NULL)
        cli_unknown("rule set", &nearest, "'profsim list' names them");
    return rules;
}
