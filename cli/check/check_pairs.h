/* check_pairs.h -- which two coverage goals one run of a campaign has met. */
#ifndef CLI_CHECK_PAIRS_H
#define CLI_CHECK_PAIRS_H

#include <stdbool.h>

#include "pairs.h"
#include "report.h"

/*
 * Print how many pairs were met in one run, and each pair for which pairs.def
 * is wrong.
 *
 * returns: false if a pair was missed that other runs meet, or one was met that
 *          cannot be
 */
bool cli_check_pairs(struct cli_report *report, const struct props_pairs *met);

#endif
