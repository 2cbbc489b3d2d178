/* check_pairs.c -- see check_pairs.h. */
#include "check_pairs.h"

#include <stdio.h>

/* One line and one result for a pair that was missed, or met against reason. */
static void
add_wrong(struct cli_report *report, enum props_cover a, enum props_cover b,
          const char *reason)
{
    struct cli_result *result;
    char name[80];

    snprintf(name, sizeof name, "%s and %s", props_cover_id(a),
             props_cover_id(b));
    printf("%s in one run: %s%s\n",
           reason == NULL ? "never reached" : "reached", name,
           reason == NULL ? "" : ", which pairs.def says cannot be");
    result =
        cli_report_add(report, "pairs", name, CLI_VERDICT_INCOMPLETE);
    cli_result_text(report, &result->text, "%s in one run",
                    reason == NULL ? "never reached" : "reached");
}

bool
cli_check_pairs(struct cli_report *report, const struct props_pairs *met)
{
    uint32_t reached = 0;
    uint32_t excused = 0;
    uint32_t wrong = 0;

    for (uint32_t i = 0; i < COVER_OF_LIBRARY; i++) {
        for (uint32_t j = i + 1; j < COVER_OF_LIBRARY; j++) {
            const enum props_cover a = (enum props_cover)i;
            const enum props_cover b = (enum props_cover)j;
            const char *reason = props_pairs_reason(a, b);
            const bool is_met = props_pairs_met(met, a, b);

            reached += is_met;
            excused += !is_met && reason != NULL;
            if (is_met != (reason == NULL)) {
                add_wrong(report, a, b, reason);
                wrong++;
            }
        }
    }
    printf("pairs of coverage goals in one run: %u reached, %u cannot be; %u "
           "missed or reached against their reason\n",
           reached, excused, wrong);
    return wrong == 0;
}
