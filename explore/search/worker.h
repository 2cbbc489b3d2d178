/* worker.h -- one process of a search by several; see jobs.c. */
#ifndef EXPLORE_SEARCH_WORKER_H
#define EXPLORE_SEARCH_WORKER_H

#include <stdatomic.h>
#include <stddef.h>

#include "explore/search/search.h"

struct engine;

enum { SIM_JOBS_MAX = 256, SIM_SHARE_ONE = 1 << 30 };

enum sim_request {
    SIM_REQUEST_NONE,
    SIM_REQUEST_SHARE, /* give some of the part away */
    SIM_REQUEST_SHOW,  /* report your position, and pause */
    SIM_REQUEST_STOP   /* give all of it back */
};

enum sim_count {
    SIM_COUNT_RUNS,
    SIM_COUNT_GRAPHS,
    SIM_COUNT_GRAPHS_SUM,
    SIM_COUNT_BLOCKED,
    SIM_COUNT_BOUNDED,
    SIM_COUNT_FAILURES,
    SIM_COUNT_SAMPLED,
    SIM_COUNT_COUNT
};

/* What a worker reports without a message. */
struct sim_slot {
    _Atomic uint32_t request; /* enum sim_request */
    _Atomic uint32_t
        share; /* share of its part done, in units of 1 / SIM_SHARE_ONE */
    _Atomic uint64_t counts[SIM_COUNT_COUNT];
    char line[64]; /* keeps slots in different cache lines */
};

/* In memory that all processes share. */
struct sim_shared {
    _Atomic int64_t runs_left;
    struct sim_slot slots[SIM_JOBS_MAX];
};

enum sim_message_type {
    SIM_MESSAGE_PART,   /* steps: search below this path */
    SIM_MESSAGE_GO_ON,  /* after SHOWN */
    SIM_MESSAGE_SHARED, /* steps, learned: other answers of steps are given away
                         */
    SIM_MESSAGE_SHOWN,  /* steps, learned: its position */
    SIM_MESSAGE_GIVEN,  /* steps, learned: the position where it stopped */
    SIM_MESSAGE_DONE,   /* no steps; learned */
    SIM_MESSAGE_FAILED, /* struct sim_failed, choices */
    SIM_MESSAGE_OVER,   /* text: a difference between two runs, or nothing */
    SIM_MESSAGE_AGAIN /* sites of wait loops; can it be reduced, is it whole <<
                         1, threads << 2, bytes to clear << 8 */
};

struct sim_message {
    uint32_t type;
    uint32_t count; /* of steps or choices */
    uint64_t bytes;
    uint8_t *data;
};

struct sim_failed {
    struct sim_run run;
    struct sim_run_options options;
    bool by_sampling;
};

/* returns: false if the other side has ended */
bool sim_message_send(int fd, enum sim_message_type type, uint32_t count,
                      const void *data, size_t bytes);
bool sim_message_receive(int fd, struct sim_message *m);
void sim_message_free(struct sim_message *m);

/* Search the parts that come over the socket, until it is closed. */
_Noreturn void sim_worker_main(struct engine *e, struct sim_search *s, int fd,
                               struct sim_shared *shared, uint32_t number);

#endif
