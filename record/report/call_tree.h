/*
 * call_tree.h -- the stacks of one or two recordings merged from the root, for
 * graphs, collapsed stacks and comparisons.
 *
 * Two calls are equal if their functions are equal. Addresses and lines are
 * ignored, because they differ from build to build and from run to run. At the
 * leaf, malloc and its relatives are left out.
 */
#ifndef RECORD_REPORT_CALL_TREE_H
#define RECORD_REPORT_CALL_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "record/report/calls.h"
#include "record/report/heap_report.h"
#include "record/report/live_heap.h"

/* A node has a count in each column. The columns are the measures (in use at
 * the peak, never freed, allocated) or, in a comparison, the two runs. */
enum { CLI_TREE_COLUMNS = 3 };

struct cli_tree_node {
    const char *function;
    uint32_t name;        /* its number among the names */
    uint32_t parent;      /* 0 is the root, its own parent */
    uint32_t first_child; /* 0: none; children are sorted by name */
    uint32_t next;        /* the parent's next child; 0: none */
    struct sim_heap_count self[CLI_TREE_COLUMNS];
    struct sim_heap_count total[CLI_TREE_COLUMNS]; /* with all below */
};

struct cli_call_tree; /* opaque */

/* returns: a tree that has only a root */
struct cli_call_tree *cli_call_tree_new(void);
void cli_call_tree_delete(struct cli_call_tree *tree);

/* Add a recording's counts, by one measure, to a column. */
void cli_call_tree_add(struct cli_call_tree *tree, uint32_t column,
                       const struct cli_calls *calls,
                       const struct sim_recording *recording,
                       const struct sim_live_heap *heap,
                       enum cli_measure measure);

/* Sort children and sum up; call it once, before reading the tree. */
void cli_call_tree_finish(struct cli_call_tree *tree);

/* returns: the nodes; parents come before their children; [0] is the root */
const struct cli_tree_node *
cli_call_tree_nodes(const struct cli_call_tree *tree, uint32_t *count);

/* returns: the names, each once */
const char *const *cli_call_tree_names(const struct cli_call_tree *tree,
                                       uint32_t *count);

/* returns: the node after this one, depth first; 0 after the last */
uint32_t cli_call_tree_next(const struct cli_call_tree *tree, uint32_t node);

#endif
