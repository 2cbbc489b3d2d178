/*
 * call_tree.c -- see call_tree.h.
 *
 *      main -- parse -- read_line       a node is found by its parent and the
 *           \- serve -- parse           number of its function's name
 */
#include "call_tree.h"

#include <stdlib.h>
#include <string.h>

#include "map.h"

struct cli_call_tree {
    struct cli_tree_node *nodes;
    uint32_t count;
    uint32_t room;
    struct cli_map children; /* parent and name -> node */
    struct cli_map name_of_hash;
    struct cli_map name_of_text; /* by the text's address, of one recording */
    const char **texts;          /* by name */
    uint32_t texts_count;
    uint32_t texts_room;
};

struct cli_call_tree *
cli_call_tree_new(void)
{
    struct cli_call_tree *tree = calloc(1, sizeof *tree);

    if (tree == NULL)
        return NULL;
    tree->room = 256;
    tree->texts_room = 256;
    tree->nodes = calloc(tree->room, sizeof *tree->nodes);
    tree->texts = calloc(tree->texts_room, sizeof *tree->texts);
    if (tree->nodes == NULL || tree->texts == NULL) {
        cli_call_tree_delete(tree);
        return NULL;
    }
    tree->nodes[0].function = "all";
    tree->count = 1;
    return tree;
}

void
cli_call_tree_delete(struct cli_call_tree *tree)
{
    if (tree == NULL)
        return;
    cli_map_release(&tree->children);
    cli_map_release(&tree->name_of_hash);
    cli_map_release(&tree->name_of_text);
    free(tree->texts);
    free(tree->nodes);
    free(tree);
}

/* ---- names ---- */

static bool
keep_text(struct cli_call_tree *tree, const char *text)
{
    if (tree->texts_count == tree->texts_room) {
        const uint32_t room = tree->texts_room * 2;
        const char **grown = realloc(tree->texts, room * sizeof *grown);

        if (grown == NULL)
            return false;
        tree->texts = grown;
        tree->texts_room = room;
    }
    tree->texts[tree->texts_count++] = text;
    return true;
}

/* returns: the number of a text, by its content; UINT32_MAX if memory ran
 *          out */
static uint32_t
name_by_text(struct cli_call_tree *tree, const char *text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (const char *at = text; *at != '\0'; at++)
        hash = (hash ^ (uint8_t)*at) * UINT64_C(0x100000001b3);
    for (hash |= 1;; hash += 2) {
        const uint64_t known = cli_map_get(&tree->name_of_hash, hash);

        if (known == CLI_MAP_NONE)
            break;
        if (strcmp(tree->texts[known], text) == 0)
            return (uint32_t)known;
    }
    if (!keep_text(tree, text) ||
        !cli_map_put(&tree->name_of_hash, hash, tree->texts_count - 1))
        return UINT32_MAX;
    return tree->texts_count - 1;
}

static uint32_t
name_of(struct cli_call_tree *tree, const char *text)
{
    const uint64_t address = (uint64_t)(uintptr_t)text;
    const uint64_t known = cli_map_get(&tree->name_of_text, address);
    uint32_t name;

    if (known != CLI_MAP_NONE)
        return (uint32_t)known;
    name = name_by_text(tree, text);
    if (name != UINT32_MAX && !cli_map_put(&tree->name_of_text, address, name))
        return UINT32_MAX;
    return name;
}

/* ---- nodes ---- */

static bool
grow(struct cli_call_tree *tree)
{
    const uint32_t room = tree->room * 2;
    struct cli_tree_node *nodes = realloc(tree->nodes, room * sizeof *nodes);

    if (nodes == NULL)
        return false;
    tree->nodes = nodes;
    tree->room = room;
    return true;
}

/* returns: the child of that name; 0 if there is no memory */
static uint32_t
child_of(struct cli_call_tree *tree, uint32_t parent, const char *function)
{
    const uint32_t name = name_of(tree, function);
    const uint64_t key = ((uint64_t)parent << 32 | name) + 1;
    const uint64_t known = cli_map_get(&tree->children, key);

    if (name == UINT32_MAX)
        return 0;
    if (known != CLI_MAP_NONE)
        return (uint32_t)known;
    if ((tree->count == tree->room && !grow(tree)) ||
        !cli_map_put(&tree->children, key, tree->count))
        return 0;
    tree->nodes[tree->count] =
        (struct cli_tree_node){.function = tree->texts[name],
                               .name = name,
                               .parent = parent,
                               .depth = tree->nodes[parent].depth + 1};
    return tree->count++;
}

/* returns: the node of a stack; 0 if there is no memory */
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
    for (uint32_t i = count; i > leaf; i--) {
        node = child_of(tree, node, stack_calls[i - 1]->function);
        if (node == 0)
            return 0;
    }
    return node;
}

static void
add(struct sim_heap_count *to, struct sim_heap_count count)
{
    to->objects += count.objects;
    to->bytes += count.bytes;
}

bool
cli_call_tree_add(struct cli_call_tree *tree, uint32_t column,
                  const struct cli_calls *calls,
                  const struct sim_recording *recording,
                  const struct sim_live_heap *heap, enum cli_measure measure)
{
    const uint32_t stacks = sim_recording_totals(recording)->stacks;

    cli_map_release(&tree->name_of_text); /* of another recording, perhaps */
    for (uint32_t i = 0; i < stacks; i++) {
        const struct sim_heap_count count =
            cli_measure_of(&heap->sites[i], measure);
        uint32_t node;

        if (count.objects == 0)
            continue;
        node = node_of(tree, calls, i);
        if (node == 0)
            return false;
        add(&tree->nodes[node].self[column], count);
    }
    return true;
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
static bool
sort_children(struct cli_call_tree *tree)
{
    struct order *orders = calloc(tree->count, sizeof *orders);

    if (orders == NULL)
        return false;
    for (uint32_t i = 1; i < tree->count; i++)
        orders[i - 1] = (struct order){tree->nodes[i].function, i};
    qsort(orders, tree->count - 1, sizeof *orders, compare_orders);
    for (uint32_t i = tree->count - 1; i > 0; i--) {
        struct cli_tree_node *node = &tree->nodes[orders[i - 1].node];

        node->next = tree->nodes[node->parent].first_child;
        tree->nodes[node->parent].first_child = orders[i - 1].node;
    }
    free(orders);
    return true;
}

bool
cli_call_tree_finish(struct cli_call_tree *tree)
{
    for (uint32_t i = 0; i < tree->count; i++)
        memcpy(tree->nodes[i].total, tree->nodes[i].self,
               sizeof tree->nodes[i].total);
    for (uint32_t i = tree->count - 1; i > 0; i--) {
        for (int column = 0; column < CLI_TREE_COLUMNS; column++)
            add(&tree->nodes[tree->nodes[i].parent].total[column],
                tree->nodes[i].total[column]);
    }
    return sort_children(tree);
}

const struct cli_tree_node *
cli_call_tree_nodes(const struct cli_call_tree *tree, uint32_t *count)
{
    *count = tree->count;
    return tree->nodes;
}

const char *const *
cli_call_tree_names(const struct cli_call_tree *tree, uint32_t *count)
{
    *count = tree->texts_count;
    return tree->texts;
}

uint32_t
cli_call_tree_next(const struct cli_call_tree *tree, uint32_t node)
{
    if (tree->nodes[node].first_child != 0)
        return tree->nodes[node].first_child;
    while (node != 0 && tree->nodes[node].next == 0)
        node = tree->nodes[node].parent;
    return node == 0 ? 0 : tree->nodes[node].next;
}
