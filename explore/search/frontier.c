/*
 * frontier.c -- see frontier.h.
 */
#include "explore/search/frontier.h"

#include <stdlib.h>
#include <string.h>

#include "explore/engine/need.h"

#define NONE UINT32_MAX

/* A question on the path to parts, with its latest part's answer. */
struct sim_node {
    uint32_t parent; /* NONE: the first */
    uint32_t answer; /* the one to the parent's question that leads here */
    uint32_t depth;
    uint32_t open; /* answers below which something is left */
    uint32_t done; /* answers below which everything is searched */
    uint8_t used;  /* not a bool: a file may have any byte */
    struct sim_step step;
};

struct sim_part {
    uint32_t node;   /* NONE: the part is the whole tree */
    uint32_t answer; /* of its question */
    uint8_t used;
    uint8_t taken; /* a process works at it */
};

static void *
room_for(void *list, uint32_t count, uint32_t *room, size_t bytes)
{
    if (count < *room)
        return list;
    *room = *room != 0 ? *room * 2 : 64;
    list = sim_need(realloc(list, *room * bytes));
    return list;
}

static uint32_t
new_part(struct sim_frontier *f, uint32_t node, uint32_t answer)
{
    uint32_t i = 0;

    while (i < f->parts_count && f->parts[i].used)
        i++;
    if (i == f->parts_count)
        f->parts = room_for(f->parts, f->parts_count++, &f->parts_room,
                            sizeof *f->parts);
    f->parts[i] =
        (struct sim_part){.node = node, .answer = answer, .used = true};
    return i;
}

static uint32_t
new_node(struct sim_frontier *f)
{
    uint32_t i = 0;

    while (i < f->nodes_count && f->nodes[i].used)
        i++;
    if (i == f->nodes_count)
        f->nodes = room_for(f->nodes, f->nodes_count++, &f->nodes_room,
                            sizeof *f->nodes);
    return i;
}

void
sim_frontier_begin(struct sim_frontier *f)
{
    memset(f, 0, sizeof *f);
    new_part(f, NONE, 0);
}

void
sim_frontier_free(struct sim_frontier *f)
{
    free(f->nodes);
    free(f->parts);
    memset(f, 0, sizeof *f);
}

static void *
copy_of(const void *list, size_t bytes)
{
    void *copy = sim_need(malloc(bytes + 1));

    if (bytes > 0)
        memcpy(copy, list, bytes);
    return copy;
}

void
sim_frontier_copy(struct sim_frontier *to, const struct sim_frontier *f)
{
    *to = *f;
    to->nodes_room = f->nodes_count;
    to->parts_room = f->parts_count;
    to->nodes = copy_of(f->nodes, f->nodes_count * sizeof *f->nodes);
    to->parts = copy_of(f->parts, f->parts_count * sizeof *f->parts);
}

static uint32_t
depth_of(const struct sim_frontier *f, uint32_t node)
{
    return node == NONE ? 0 : f->nodes[node].depth + 1;
}

uint32_t
sim_frontier_depth(const struct sim_frontier *f, uint32_t part)
{
    return depth_of(f, f->parts[part].node);
}

/* An untaken part, or the open answer of a question, that is least deep. */
uint32_t
sim_frontier_take(struct sim_frontier *f)
{
    uint32_t best = NONE;
    uint32_t best_depth = NONE;
    uint32_t node = NONE;

    for (uint32_t i = 0; i < f->parts_count; i++) {
        const struct sim_part *p = &f->parts[i];

        if (p->used && !p->taken && depth_of(f, p->node) < best_depth) {
            best = i;
            best_depth = depth_of(f, p->node);
        }
    }
    for (uint32_t i = 0; i < f->nodes_count; i++) {
        const struct sim_node *n = &f->nodes[i];

        if (n->used && n->depth + 1 < best_depth &&
            sim_question_has_next(&n->step.question, &n->step.choice)) {
            node = i;
            best_depth = n->depth + 1;
        }
    }
    if (node != NONE) {
        struct sim_node *n = &f->nodes[node];

        sim_question_next(&n->step.question, &n->step.choice);
        n->open++;
        best = new_part(f, node, n->step.choice.value);
    }
    if (best == NONE)
        return SIM_NO_PART;
    f->parts[best].taken = true;
    return best;
}

void
sim_frontier_path(const struct sim_frontier *f, uint32_t part,
                  struct sim_step *steps)
{
    uint32_t answer = f->parts[part].answer;

    for (uint32_t i = f->parts[part].node; i != NONE; i = f->nodes[i].parent) {
        const struct sim_node *n = &f->nodes[i];

        steps[n->depth] = n->step;
        steps[n->depth].choice.value = answer;
        answer = n->answer;
    }
}

void
sim_frontier_split(struct sim_frontier *f, uint32_t part,
                   const struct sim_step *steps, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t at = new_node(f);
        struct sim_part *p = &f->parts[part];

        f->nodes[at] = (struct sim_node){
            .parent = p->node,
            .answer = p->answer,
            .depth = depth_of(f, p->node),
            .open = 1,
            .done = sim_question_passed(&steps[i].question, &steps[i].choice),
            .used = true,
            .step = steps[i],
        };
        p->node = at;
        p->answer = steps[i].choice.value;
    }
}

void
sim_frontier_enable(struct sim_frontier *f, uint32_t part,
                    const uint8_t *enabled, uint32_t count)
{
    for (uint32_t i = f->parts[part].node; i != NONE; i = f->nodes[i].parent) {
        if (f->nodes[i].depth < count)
            f->nodes[i].step.question.enabled |= enabled[f->nodes[i].depth];
    }
}

void
sim_frontier_done(struct sim_frontier *f, uint32_t part)
{
    uint32_t i = f->parts[part].node;

    f->parts[part].used = false;
    while (i != NONE) {
        struct sim_node *n = &f->nodes[i];

        n->open--;
        n->done++;
        if (n->open > 0 ||
            sim_question_has_next(&n->step.question, &n->step.choice))
            return;
        n->used = false;
        i = n->parent;
    }
}

void
sim_frontier_return(struct sim_frontier *f, uint32_t part)
{
    f->parts[part].taken = false;
}

bool
sim_frontier_is_empty(const struct sim_frontier *f)
{
    for (uint32_t i = 0; i < f->parts_count; i++) {
        if (f->parts[i].used)
            return false;
    }
    for (uint32_t i = 0; i < f->nodes_count; i++) {
        if (f->nodes[i].used)
            return false;
    }
    return true;
}

/* How much of the tree lies below one answer of the node's question. */
static double
weight_of(const struct sim_frontier *f, uint32_t node)
{
    double weight = 1;

    for (; node != NONE; node = f->nodes[node].parent)
        weight /= sim_question_answers(&f->nodes[node].step.question,
                                       &f->nodes[node].step.choice);
    return weight;
}

double
sim_frontier_share(const struct sim_frontier *f, const double *done)
{
    double sum = 0;

    if (sim_frontier_is_empty(f))
        return 1;
    for (uint32_t i = 0; i < f->nodes_count; i++) {
        if (f->nodes[i].used)
            sum += weight_of(f, i) * f->nodes[i].done;
    }
    for (uint32_t i = 0; done != NULL && i < f->parts_count; i++) {
        if (f->parts[i].used && f->parts[i].taken)
            sum += weight_of(f, f->parts[i].node) * done[i];
    }
    return sum < 1 ? sum : 1;
}

/* ---- In a file ---- */

bool
sim_frontier_write(const struct sim_frontier *f,
                   bool (*put)(void *file, const void *data, size_t bytes),
                   void *file)
{
    const uint32_t counts[2] = {f->nodes_count, f->parts_count};

    return put(file, counts, sizeof counts) &&
           put(file, f->nodes, f->nodes_count * sizeof *f->nodes) &&
           put(file, f->parts, f->parts_count * sizeof *f->parts);
}

static bool
is_sound(const struct sim_frontier *f)
{
    for (uint32_t i = 0; i < f->nodes_count; i++) {
        const struct sim_node *n = &f->nodes[i];

        if (n->used && n->parent != NONE &&
            (n->parent >= f->nodes_count || !f->nodes[n->parent].used ||
             f->nodes[n->parent].depth + 1 != n->depth))
            return false;
        if (n->used && n->parent == NONE && n->depth != 0)
            return false;
    }
    for (uint32_t i = 0; i < f->parts_count; i++) {
        const struct sim_part *p = &f->parts[i];

        if (p->used && p->node != NONE &&
            (p->node >= f->nodes_count || !f->nodes[p->node].used))
            return false;
    }
    return true;
}

bool
sim_frontier_read(struct sim_frontier *f,
                  bool (*get)(void *file, void *data, size_t bytes), void *file)
{
    uint32_t counts[2];

    memset(f, 0, sizeof *f);
    if (!get(file, counts, sizeof counts) || counts[0] > 1 << 24 ||
        counts[1] > 1 << 24)
        return false;
    f->nodes_count = f->nodes_room = counts[0];
    f->parts_count = f->parts_room = counts[1];
    f->nodes = calloc(counts[0] + 1, sizeof *f->nodes);
    f->parts = calloc(counts[1] + 1, sizeof *f->parts);
    if (f->nodes != NULL && f->parts != NULL &&
        get(file, f->nodes, counts[0] * sizeof *f->nodes) &&
        get(file, f->parts, counts[1] * sizeof *f->parts) && is_sound(f)) {
        for (uint32_t i = 0; i < f->parts_count; i++)
            f->parts[i].taken = false;
        return true;
    }
    sim_frontier_free(f);
    return false;
}
