/*
 * graphs.h -- a heap as collapsed stacks, which viewers of flame graphs read.
 */
#ifndef RECORD_REPORT_GRAPHS_H
#define RECORD_REPORT_GRAPHS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "record/report/call_tree.h"

/* Write lines `root;caller;leaf BYTES`, sorted. */
void cli_graphs_folded(FILE *file, const struct cli_call_tree *tree,
                       enum cli_measure measure);

/* Write peak.folded. returns: false, and one line on standard error */
bool cli_graphs_write(const char *folder, const struct cli_call_tree *tree);

#endif
