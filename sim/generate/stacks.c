/*
 * stacks.c -- call stacks that are easily mistaken for each other.
 *
 * Most mistakes of a hash table of stacks show only between stacks that share
 * something: all frames but the last, the frames below a depth limit, the low
 * halves of the frames, or the hash. So each stack of a world may be built on
 * the previous one. Go's 64-bit hash mixes in the frames one by one with a
 * function f: the stack (a) has the hash f(a), and (a, b) has f(f(a) + b),
 * before a common last step. So these pairs of stacks have the same hash:
 *
 *      (a, b)  and  (a', b + f(a) - f(a'))
 *      (a)     and  (a, a - f(a))             one begins with the other
 */
#include <string.h>

#include "sim/generate/choice_labels.h"

static uint64_t
mixed(uint64_t frame)
{
    const uint64_t h = frame + (frame << 10);

    return h ^ (h >> 6);
}

static uintptr_t
own_frame(uint32_t index, uint32_t depth)
{
    return 0x401000 + 0x1000 * (uintptr_t)index + 16 * (uintptr_t)depth;
}

enum { LONGER, COLLIDING, COLLIDING_LONGER, HIGH_HALF };

/* Build stack `index` on the one before, if that stack allows it. */
static void
build_on(struct truth_stack *stack, uintptr_t *frames, uint32_t index,
         uint32_t shape)
{
    const struct truth_stack *before = stack - 1;
    const uintptr_t *other = before->frames;
    const uint32_t depth = before->depth;

    if (shape == LONGER && depth < SIM_FRAMES_MAX) {
        memcpy(frames, other, depth * sizeof *frames);
        frames[depth] = own_frame(index, depth);
        stack->depth = depth + 1;
    } else if (shape == COLLIDING && depth == 2) {
        frames[0] = other[0] + 16;
        frames[1] = other[1] + mixed(other[0]) - mixed(frames[0]);
        stack->depth = 2;
    } else if (shape == COLLIDING_LONGER && depth == 1) {
        frames[0] = other[0];
        frames[1] = other[0] - mixed(other[0]);
        stack->depth = 2;
    } else if (shape == HIGH_HALF && depth > 0) {
        memcpy(frames, other, depth * sizeof *frames);
        frames[0] += UINT64_C(1) << 32; /* looks equal to 32-bit hashes */
        stack->depth = depth;
    }
}

void
sim_draw_stack(struct sim_generator *g, uint32_t index)
{
    enum { PLAIN, TWO, DEEP, EMPTY, BUILT, SHAPES = BUILT + 4 };
    static const uint32_t depths[] = {4, 9, 33, SIM_FRAMES_MAX};
    uintptr_t *frames = g->frames[index];
    struct truth_stack *stack = &g->stacks[index];
    uint32_t shape = ask(g, SHAPES, SIM_SWARM, LABEL_STACK_SHAPE);

    if (sim_fault_strikes(&g->faults, SIM_FAULT_HASH_COLLISION)) {
        g->config.hash = PROF_HASH_GO_64;
        shape = index == 0 || stack[-1].depth != 2
                    ? TWO
                    : (uint32_t)BUILT + COLLIDING;
    }
    stack->frames = frames;
    stack->depth = shape == EMPTY ? 0 : shape == TWO ? 2 : 1;
    if (shape == DEEP)
        stack->depth = depths[ask(g, sizeof depths / sizeof *depths, SIM_SWARM,
                                  LABEL_STACK_DEPTH)];
    for (uint32_t i = 0; i < stack->depth; i++)
        frames[i] = own_frame(index, i);
    if (shape >= BUILT && index > 0)
        build_on(stack, frames, index, shape - BUILT);
}
