/* rule_sets.h -- declares the rule sets by name. */
#ifndef SUBJECTS_RULE_SETS_H
#define SUBJECTS_RULE_SETS_H

#include "rules.h"

#define RULES(id)   extern const struct subjects_rules subjects_##id;
#define MISTAKE(id) extern const struct subjects_rules subjects_##id;
#include "rule_sets.def"
#undef RULES
#undef MISTAKE

#endif
