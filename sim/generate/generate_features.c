/* generate_features.c -- the features of a world, and the works that follow. */
#include "choice_labels.h"

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

static void
add_work(struct sim_generator *g, enum sim_work work, uint32_t weight, bool has)
{
    for (uint32_t i = 0; has && i < weight; i++)
        g->works[g->works_count++] = (uint8_t)work;
}

/* What this run does not have is not among the answers. */
void
sim_list_works(struct sim_generator *g)
{
    const struct sim_features *f = &g->features;

    g->works_count = 0;
    add_work(g, WORK_REST, 1, true);
    add_work(g, WORK_ALLOC, 2, true);
    add_work(g, WORK_DROP, 1, true);
    add_work(g, WORK_FREE, 1, true);
    add_work(g, WORK_EXIT, 1, f->task_exit && !g->config.scheduled);
    add_work(g, WORK_BLOCK, 1, f->contention);
    add_work(g, WORK_MUTEX, 1, f->contention);
    add_work(g, WORK_LOCK, 10, f->locks);
    add_work(g, WORK_RATE, 1, f->sampling);
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
