/*
 * graphs.h -- a heap in the formats of stack viewers: collapsed stacks,
 * speedscope, a flame graph. docs/profiles.md describes the files.
 */
#ifndef CLI_GRAPHS_H
#define CLI_GRAPHS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "call_tree.h"

/*
 * These write to a stream, and return false if there was no memory for a name.
 */

/* Write lines `root;caller;leaf BYTES`, sorted. */
bool cli_graphs_folded(FILE *file, const struct cli_call_tree *tree,
                       enum cli_measure measure);

/* in: name, of what was recorded; columns are the measures */
bool cli_graphs_speedscope(FILE *file, const struct cli_call_tree *tree,
                           const char *name);

/* Write one SVG file without scripts or references to other files. */
bool cli_graphs_flames(FILE *file, const struct cli_call_tree *tree,
                       enum cli_measure measure, const char *name);

/*
 * Write peak.folded, heap.speedscope.json and peak.svg, exit.svg, allocs.svg.
 *
 * returns: false, and one line on standard error, at the first that fails
 */
bool cli_graphs_write(const char *folder, const struct cli_call_tree *tree,
                      const char *name);

#endif
