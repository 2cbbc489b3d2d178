/*
 * graphs.h -- a heap in the formats of stack viewers: collapsed stacks,
 * speedscope, a flame graph. docs/profiles.md describes the files.
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

/*
 * Write peak.folded, heap.speedscope.json and peak.svg, exit.svg, allocs.svg:
 * flame graphs without scripts or references to other files.
 *
 * returns: false, and one line on standard error, at the first that fails
 */
bool cli_graphs_write(const char *folder, const struct cli_call_tree *tree,
                      const char *name);

#endif
