/*
 * go_thresholds.c -- tests a rule set against a Go runtime: from the same
 * random number both must derive the same gap, which the rule set calls its
 * threshold (subjects/rules/rule_set.h).
 *
 * usage: go_thresholds RULES RATE <FILE. Each line of FILE is a random number
 * and the gap that Go derived from it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "subjects/rules/rule_set.h"

int
main(int argc, char **argv)
{
    const struct subjects_rules *rules =
        argc == 3 ? subjects_rules_find(argv[1]) : NULL;
    const uint64_t rate = argc == 3 ? strtoull(argv[2], NULL, 10) : 0;
    uint64_t number;
    uint64_t gap;
    uint64_t same = 0;

    if (rules == NULL || rate == 0) {
        fputs("usage: go_thresholds RULES RATE <numbers and gaps\n", stderr);
        return 1;
    }
    while (scanf("%" SCNu64 " %" SCNu64, &number, &gap) == 2) {
        const uint64_t ours = rules->threshold(rate, number);

        if (ours != gap) {
            printf("%s, rate %" PRIu64 ", number %" PRIu64 ": %" PRIu64
                   ", Go has %" PRIu64 "\n",
                   rules->name, rate, number, ours, gap);
            return 1;
        }
        same++;
    }
    printf("%s, rate %" PRIu64 ": %" PRIu64 " gaps, all the same\n",
           rules->name, rate, same);
    return same == 0;
}
