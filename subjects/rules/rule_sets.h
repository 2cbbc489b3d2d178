/* rule_sets.h -- declares the rule sets by name. */
#ifndef SUBJECTS_RULES_RULE_SETS_H
#define SUBJECTS_RULES_RULE_SETS_H

#include "subjects/rules/rule_set.h"

#define RULES(id)   extern const struct subjects_rules subjects_##id;
#define MISTAKE(id) extern const struct subjects_rules subjects_##id;
#include "subjects/rules/rule_sets.def"
#undef RULES
#undef MISTAKE

#endif
