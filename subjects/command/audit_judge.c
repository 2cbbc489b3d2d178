/* audit_judge.c -- `profsim audit --judge`: is a rule set right? */
#include <inttypes.h>
#include <stdio.h>

#include "subjects/command/audit_command.h"
#include "subjects/verdict.h"

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

static enum cli_exit
judge(const struct subjects_rules *rules, uint64_t rate)
{
    struct subjects_verdict verdict;

    subjects_verdict_make(&verdict, rules, rate);
    for (size_t i = 0; i < verdict.count; i++)
        print_fault(rules, rate, &verdict.faults[i]);
    if (verdict.count == 0)
        printf("%s: holds; %zu figures within %.0f %%, R = %" PRIu64 "\n",
               rules->name, verdict.tried, SUBJECTS_TOLERANCE * 100, rate);
    else
        printf("%s: not right; the first of %zu faults at figure %zu\n",
               rules->name, verdict.count, verdict.tried);
    return verdict.count == 0 ? CLI_OK : CLI_BROKEN;
}

enum cli_exit
cli_audit_judge(const struct subjects_rules *const *rules, size_t count,
                uint64_t rate)
{
    enum cli_exit code = CLI_OK;

    for (size_t i = 0; i < count; i++) {
        code = cli_exit_worse(code, judge(rules[i], rate));
        (void)fflush(stdout);
    }
    return code;
}
