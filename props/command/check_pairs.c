/* check_pairs.c -- see check_pairs.h. */
#include "props/command/check_pairs.h"

#include <stdio.h>

/* Print and report a pair that was missed, or that was met although pairs.def
 * says that it cannot be. */
static void
add_wrong(struct cli_report *report, enum props_cover a, enum props_cover b,
          bool is_met)
{
    const char *what = is_met ? "reached, though pairs.def says it cannot be"
                              : "never reached in one run";
    struct cli_result *result;
    char name[80];

    snprintf(name, sizeof name, "%s and %s", props_cover_id(a),
             props_cover_id(b));
    printf("%s: %s\n", name, what);
    result = cli_report_add(report, "pairs", name, CLI_VERDICT_INCOMPLETE);
    cli_result_text(report, &result->text, "%s", what);
}

bool
cli_check_pairs(struct cli_report *report, const struct props_pairs *met)
{
    const struct props_pairs_sums known = props_pairs_known();
    uint32_t reached = 0;
    uint32_t wrong = 0;

    for (uint32_t i = 0; i < COVER_OF_LIBRARY; i++) {
        for (uint32_t j = i + 1; j < COVER_OF_LIBRARY; j++) {
            const enum props_cover a = (enum props_cover)i;
            const enum props_cover b = (enum props_cover)j;
            const struct props_pairs_unmet *row = props_pairs_find(a, b);
            const bool is_met = props_pairs_met(met, a, b);

            reached += is_met;
            if (is_met ? row != NULL && !row->possible : row == NULL) {
                add_wrong(report, a, b, is_met);
                wrong++;
            } else if (is_met && row != NULL) {
                printf("%s and %s: reached now, so pairs.def need not name "
                       "them\n",
                       props_cover_id(a), props_cover_id(b));
            }
        }
    }
    printf(
        "pairs of coverage goals in one run: %u reached of %u; %u cannot be, "
        "%u are not yet\n",
        reached, known.met + known.impossible + known.possible,
        known.impossible, known.possible);
    return wrong == 0;
}
