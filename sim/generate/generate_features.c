/* generate_features.c -- the features of a world, and the works that follow. */
#include "sim/generate/choice_labels.h"

static bool
draw_feature(struct sim_generator *g, uint32_t one_in)
{
    return ask(g, one_in, SIM_SWARM, LABEL_FEATURE) == 1;
}

void
sim_draw_features(struct sim_generator *g)
{
    struct sim_features *f = &g->features;

    f->explicit_free = draw_feature(g, 2);
    f->task_exit = draw_feature(g, 3);
    f->contention = draw_feature(g, 3);
    f->stw_sweep = draw_feature(g, 3);
    f->post_sweep = draw_feature(g, 2);
    f->late_flush = draw_feature(g, 2);
    f->short_rooms = draw_feature(g, 2);
    f->odd_sizes = draw_feature(g, 3);
    f->sizes =
        (enum sim_sizes)ask(g, SIM_SIZES_ONE + 1, SIM_SWARM, LABEL_SIZES);
    f->lifetimes =
        (enum sim_lifetimes)ask(g, SIM_DIE_ANY + 1, SIM_SWARM, LABEL_LIFETIMES);
    f->sampling = draw_feature(g, 3);
    f->locks = draw_feature(g, 3);
    g->config.waiters_all = f->locks && draw_feature(g, 2);
    if (f->sampling)
        g->config.seed = ask(g, 256, SIM_SWARM, LABEL_SEED);
}

enum {
    WORKS_COUNT = 0
#define X(id, weight, has) +(weight)
#include "sim/generate/work.def"
#undef X
};
_Static_assert((int)WORKS_COUNT <= (int)SIM_WORKS_MAX, "no room for all works");

static void
add_work(struct sim_generator *g, enum sim_work work, uint32_t weight, bool has)
{
    for (uint32_t i = 0; has && i < weight; i++)
        g->works[g->works_count++] = (uint8_t)work;
}

/* List what a task of this run may do: each work is an answer. */
void
sim_list_works(struct sim_generator *g)
{
    g->works_count = 0;
#define X(id, weight, has) add_work(g, id, weight, has);
#include "sim/generate/work.def"
#undef X
}

void
sim_draw_library(struct sim_generator *g)
{
    static const uint32_t depths[] = {32, 4, 8, 1, 2};
    struct sim_config *c = &g->config;

    c->instruments |= SIM_PROFILES;
    c->hash = (enum prof_hash)ask(g, PROF_HASH_COUNT, SIM_SWARM, LABEL_HASH);
    c->depth_max =
        depths[ask(g, sizeof depths / sizeof *depths, SIM_SWARM, LABEL_DEPTH)];
}
