/*
 * search_control.h -- controls a search: its parts, its time limit, its
 * checkpoint file.
 */
#ifndef EXPLORE_SEARCH_SEARCH_CONTROL_H
#define EXPLORE_SEARCH_SEARCH_CONTROL_H

#include <time.h>

#include "explore/search/estimate.h"
#include "explore/search/search.h"

struct engine;

struct sim_control {
    const struct sim_exhaust_options *options;
    struct sim_exhaust_result *result;
    struct sim_search *search;
    struct sim_frontier frontier;
    struct sim_estimate estimate;
    uint32_t part; /* this process's; SIM_NO_PART: none */
    uint64_t begun_us;
    uint64_t elapsed_us; /* by the searches that wrote the file */
    uint64_t look_us;    /* when to check again, at the earliest */
    uint64_t save_us;    /* when the file is due */
    bool hand_out;       /* it has taken long enough to start other processes */
    bool late;           /* its time is over */
    bool is_idle;        /* a shard of a search that is not split */
};

static inline uint64_t
sim_control_now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

void sim_control_begin(struct sim_control *c, struct sim_search *s);

/*
 * Called regularly: report how far the search is.
 *
 * in:      runs and graphs so far, share of the tree
 * out:     c->late
 */
void sim_control_look(struct sim_control *c, uint64_t runs, uint64_t graphs,
                      double share);

bool sim_control_file_is_due(const struct sim_control *c);

/* Note that the file has just been written. */
void sim_control_saved(struct sim_control *c, uint64_t begun_us);

/* ---- checkpoint.c ---- */

/*
 * Write the file, in whole or not at all.
 *
 * in:      f, what is left; no worker may be searching
 * returns: false, with c->result->trouble, if it could not be written
 */
bool sim_checkpoint_save(struct engine *e, struct sim_control *c,
                         const struct sim_frontier *f);

/*
 * Continue from the file, if there is one.
 *
 * returns: false, with c->result->trouble, if it cannot be used
 */
bool sim_checkpoint_load(struct engine *e, struct sim_control *c);

/* ---- jobs.c ---- */

/* Search the rest in options->jobs processes. returns: as
 * sim_search_continue() */
enum sim_search_end sim_jobs_run(struct engine *e, struct sim_control *c);

#endif
