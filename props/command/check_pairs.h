/* check_pairs.h -- which two coverage goals one run of a campaign has reached.
 */
#ifndef PROPS_COMMAND_CHECK_PAIRS_H
#define PROPS_COMMAND_CHECK_PAIRS_H

#include <stdbool.h>

#include "props/pairs.h"
#include "common/report/report.h"

/*
 * Print how many pairs were reached in one run, and each pair for which
 * pairs.def is wrong.
 *
 * returns: false if a pair was missed that other runs reach, or one was reached
 *          that should be impossible
 */
bool cli_check_pairs(struct cli_report *report, const struct props_pairs *met);

#endif
