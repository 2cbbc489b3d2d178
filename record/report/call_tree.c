/*
 * call_tree.c -- see call_tree.h.
 *
 *      main -- parse -- read_line       a node is found by its parent and the
 *           \- serve -- parse           number of its function's name
 */
#include "record/report/call_tree.h"

#include <stdlib.h>
#include <string.h>

#include "common/command/complaint.h"
#include "record/convert/items.h"
#include "record/symbols/map.h"

struct cli_call_tree {
    struct cli_items nodes;  /* struct cli_tree_node */
    struct cli_map children; /* parent and name -> node */
    struct cli_strings names;
};

static struct cli_tree_node *
node_at(const struct cli_call_tree *tree, uint32_t node)
{
    return (struct cli_tree_node *)tree->nodes.items + node;
}

/* returns: the number of the new node */
static uint32_t
add_node(struct cli_call_tree *tree, struct cli_tree_node node)
{
    *(struct cli_tree_node *)cli_items_add(&tree->nodes, sizeof node) = node;
    return (uint32_t)tree->nodes.count - 1;
}

struct cli_call_tree *
cli_call_tree_new(void)
{
    struct cli_call_tree *const tree = cli_need(calloc(1, sizeof *tree));

    add_node(tree, (struct cli_tree_node){.function = "all"});
    return tree;
}

void
cli_call_tree_delete(struct cli_call_tree *tree)
{
    if (tree == NULL)
        return;
    cli_map_release(&tree->children);
    cli_strings_release(&tree->names);
    free(tree->nodes.items);
    free(tree);
}

static uint32_t
child_of(struct cli_call_tree *tree, uint32_t parent, const char *function)
{
    const uint32_t name = (uint32_t)cli_strings_number(&tree->names, function);
    const uint64_t key = ((uint64_t)parent << 32 | name) + 1;
    const uint64_t known = cli_map_get(&tree->children, key);

    if (known != CLI_MAP_NONE)
        return (uint32_t)known;
    cli_map_put(&tree->children, key, tree->nodes.count);
    return add_node(tree,
                    (struct cli_tree_node){.function = tree->names.texts[name],
                                           .name = name,
                                           .parent = parent});
}

static uint32_t
node_of(struct cli_call_tree *tree, const struct cli_calls *calls,
        uint32_t stack)
{
    const struct cli_call *stack_calls[CLI_CALLS_MAX];
    const uint32_t count = cli_calls_of(calls, stack, stack_calls);
    uint32_t leaf = 0;
    uint32_t node = 0;

    while (leaf + 1 < count && !stack_calls[leaf]->is_telling)
        leaf++;
    if (count == 0)
        return child_of(tree, 0, "(no stack)");
    for (uint32_t i = count; i > leaf; i--)
        node = child_of(tree, node, stack_calls[i - 1]->function);
    return node;
}

static void
add(struct sim_heap_count *to, struct sim_heap_count count)
{
    to->objects += count.objects;
    to->bytes += count.bytes;
}

void
cli_call_tree_add(struct cli_call_tree *tree, uint32_t column,
                  const struct cli_calls *calls,
                  const struct sim_recording *recording,
                  const struct sim_live_heap *heap, enum cli_measure measure)
{
    const uint32_t stacks = sim_recording_totals(recording)->stacks;

    for (uint32_t i = 0; i < stacks; i++) {
        const struct sim_heap_count count =
            cli_measure_of(&heap->sites[i], measure);

        if (count.objects > 0)
            add(&node_at(tree, node_of(tree, calls, i))->self[column], count);
    }
}

/* ---- the finish ---- */

struct order {
    const char *function;
    uint32_t node;
};

static int
compare_orders(const void *a, const void *b)
{
    const struct order *x = a;
    const struct order *y = b;

    return strcmp(x->function, y->function);
}

/* Children are put in front: from the last name to the first. */
static void
sort_children(struct cli_call_tree *tree)
{
    const uint32_t count = (uint32_t)tree->nodes.count;
    struct order *orders = cli_need(calloc(count, sizeof *orders));

    for (uint32_t i = 1; i < count; i++)
        orders[i - 1] = (struct order){node_at(tree, i)->function, i};
    qsort(orders, count - 1, sizeof *orders, compare_orders);
    for (uint32_t i = count - 1; i > 0; i--) {
        struct cli_tree_node *node = node_at(tree, orders[i - 1].node);
        struct cli_tree_node *parent = node_at(tree, node->parent);

        node->next = parent->first_child;
        parent->first_child = orders[i - 1].node;
    }
    free(orders);
}

void
cli_call_tree_finish(struct cli_call_tree *tree)
{
    const uint32_t count = (uint32_t)tree->nodes.count;

    for (uint32_t i = 0; i < count; i++)
        memcpy(node_at(tree, i)->total, node_at(tree, i)->self,
               sizeof node_at(tree, i)->total);
    for (uint32_t i = count - 1; i > 0; i--) {
        const struct cli_tree_node *const node = node_at(tree, i);

        for (int column = 0; column < CLI_TREE_COLUMNS; column++)
            add(&node_at(tree, node->parent)->total[column],
                node->total[column]);
    }
    sort_children(tree);
}

const struct cli_tree_node *
cli_call_tree_nodes(const struct cli_call_tree *tree, uint32_t *count)
{
    *count = (uint32_t)tree->nodes.count;
    return tree->nodes.items;
}

const char *const *
cli_call_tree_names(const struct cli_call_tree *tree, uint32_t *count)
{
    *count = (uint32_t)tree->names.count;
    return (const char *const *)tree->names.texts;
}

uint32_t
cli_call_tree_next(const struct cli_call_tree *tree, uint32_t node)
{
    if (node_at(tree, node)->first_child != 0)
        return node_at(tree, node)->first_child;
    while (node != 0 && node_at(tree, node)->next == 0)
        node = node_at(tree, node)->parent;
    return node == 0 ? 0 : node_at(tree, node)->next;
}
