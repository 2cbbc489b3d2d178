/* search_control.c -- see search_control.h. */
#include "explore/search/search_control.h"

#include <string.h>

enum {
    LOOK_US = 200000,
    ALONE_MS = 50, /* a search that ends by then needs no other process */
    SAVE_MS = 5000,
    SAVE_SHARE = 20 /* writing the file takes at most a 20th of the time */
};

static uint64_t
save_every_us(const struct sim_control *c)
{
    const uint32_t requested = c->options->checkpoint_ms;

    return UINT64_C(1000) * (requested != 0 ? requested : SAVE_MS);
}

void
sim_control_begin(struct sim_control *c, struct sim_search *s)
{
    memset(c, 0, sizeof *c);
    c->options = s->options;
    c->result = s->result;
    c->search = s;
    c->part = SIM_NO_PART;
    c->begun_us = sim_control_now_us();
    c->look_us = c->begun_us + UINT64_C(1000) * (s->options->alone_ms != 0
                                                     ? s->options->alone_ms
                                                     : ALONE_MS);
    c->save_us = c->begun_us + save_every_us(c);
    sim_frontier_begin(&c->frontier);
    sim_estimate_begin(&c->estimate);
}

void
sim_control_look(struct sim_control *c, uint64_t runs, uint64_t graphs,
                 double share)
{
    const uint64_t now = sim_control_now_us();
    const uint64_t end = c->options->time_ms != 0
                             ? c->begun_us + c->options->time_ms * 1000
                             : UINT64_MAX;
    struct sim_progress progress = {
        .runs = runs, .graphs = graphs, .share = share};

    c->late |= now >= end;
    if (now < c->look_us)
        return;
    c->hand_out = true;
    c->look_us = now + LOOK_US;
    if (c->look_us > end && end > now)
        c->look_us = end;
    sim_estimate_add(&c->estimate, (double)runs, share);
    if (c->options->progress == NULL)
        return;
    progress.left = sim_estimate_left(&c->estimate, &progress.left_error);
    progress.took_ms = (now - c->begun_us + c->elapsed_us) / 1000;
    c->options->progress(c->options->progress_context, &progress);
}

bool
sim_control_file_is_due(const struct sim_control *c)
{
    return c->options->checkpoint != NULL && sim_control_now_us() >= c->save_us;
}

void
sim_control_saved(struct sim_control *c, uint64_t begun_us)
{
    const uint64_t now = sim_control_now_us();
    const uint64_t pause_us = (now - begun_us) * SAVE_SHARE;

    c->save_us =
        now + (pause_us > save_every_us(c) ? pause_us : save_every_us(c));
}
