/* check_pairs.h -- which two coverage goals one run of a campaign has met. */
#ifndef CLI_CHECK_PAIRS_H
#define CLI_CHECK_PAIRS_H

#include <stdbool.h>

#include "pairs.h"
#include "report.h"

/*
 * Print how many pairs were met in one run, and each that was missed without a
 * reason, or met though pairs.def has a reason why it cannot be.
 *
 * returns: false if there is one
 */
bool cli_check_pairs(struct cli_report *report, const struct props_pairs *met);

#endif
