/* audit_judge.c -- `profsim audit --judge`: is a rule set right? */
#include <inttypes.h>
#include <stdio.h>

#include "audit_command.h"
#include "verdict.h"

static void
print_fault(const struct subjects_rules *rules, uint64_t rate,
            const struct subjects_fault *fault)
{
    printf("%s: %s broken: %s: %" PRIu64 " bytes are shown %.4f times",
           rules->name, fault->property, fault->what, fault->size_bytes,
           fault->figure);
    if (fault->count > 1) {
        printf(" (");
        for (size_t i = 0; i < fault->count; i++)
            printf("%s%" PRIu64, i > 0 ? "," : "", fault->sizes[i]);
        printf(" in turn)");
    }
    printf("; R = %" PRIu64 "\n", rate);
}

enum cli_exit
cli_audit_judge(const struct subjects_rules *const *rules, size_t count,
                uint64_t rate)
{
    enum cli_exit code = CLI_OK;

    for (size_t i = 0; i < count; i++) {
        struct subjects_verdict verdict;

        subjects_verdict_make(&verdict, rules[i], rate);
        for (size_t j = 0; j < verdict.count; j++)
            print_fault(rules[i], rate, &verdict.faults[j]);
        if (verdict.count == 0)
            printf("%s: holds; %zu figures within %.0f %%, R = %" PRIu64 "\n",
                   rules[i]->name, verdict.tried, SUBJECTS_TOLERANCE * 100,
                   rate);
        else
            printf("%s: not right; the first of %zu faults at figure %zu\n",
                   rules[i]->name, verdict.count, verdict.tried);
        code = verdict.count == 0 ? code : CLI_BROKEN;
        (void)fflush(stdout);
    }
    return code;
}
