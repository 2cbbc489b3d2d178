/* reduce.h -- what operations report to the search graph by graph
 * (reduce.c). */
#ifndef EXPLORE_SEARCH_REDUCE_H
#define EXPLORE_SEARCH_REDUCE_H

#include <stdbool.h>

#include "explore/engine/vector_clock.h"

struct engine;

/* The operations on a location or an object, which are ordered. */
struct chain {
    uint32_t last;       /* operation on it: entry index + 1 */
    struct clock causal; /* what the last change depends on */
};

/* What an operation does to its chain. */
enum sim_operation {
    SIM_LOAD,   /* of a location; the store read may be an old one */
    SIM_STORE,  /* to a location */
    SIM_CHANGE, /* reads and writes, so it is ordered with all others */
    SIM_LOOK,   /* changes nothing this time: a compare-exchange that fails, a
                 * read of an object; commutes with other looks */
};

/* reduce.c */
#define SIM_STAYED (UINT32_MAX - 1)
void sim_reduce_begin(struct engine *e);
uint32_t sim_reduce_pick(struct engine *e, bool can_continue);
void sim_reduce_enter(struct engine *e);
uint32_t sim_reduce_read(struct engine *e, struct chain *chain,
                         uint32_t sources, uint64_t futile);
void sim_reduce_did(struct engine *e, struct chain *chain,
                    enum sim_operation operation, const struct clock *source);
void sim_reduce_offer(struct engine *e, struct chain *chain, bool look);

/* ---- Answers that are given (answer.c) ---- */

/*
 * Does the question have the answer?
 *
 * in:      at, its index
 *          allowed, threads that it may wait for, a bit each
 *          may_stay, whether it may stay blocked
 */
bool sim_answer_fits(struct engine *e, uint32_t at, uint32_t answer,
                     uint32_t sources, uint8_t allowed, bool may_stay);

/* End the run: the answer at this index is none of its question's. */
_Noreturn void sim_answer_refuse(struct engine *e, uint32_t at);

/* No thread can run: refuse an answer if it is to blame. */
void sim_answer_stuck(struct engine *e);

/* After a run: refuse a wait for a thread that was never created. */
void sim_answer_end(struct engine *e);

/* After a run: count the threads that wait for one which has done nothing on
 * the object since. */
uint32_t sim_answer_idle(struct engine *e);

/* ---- Objects: locks, what threads sleep on (order.c) ---- */

struct order {
    struct chain chain;
    struct clock looks; /* what operations that changed nothing depend on */
};

/* The questions about an operation's position among the others. */
struct requested {
    uint32_t question;
    uint32_t offered;
    bool needs; /* it waits until the object admits it */
    bool shuts; /* no operation that needs admission can come right before */
};

/* May the operation come right after the one just done? NULL: always. */
typedef bool sim_can_take(void *context);

/*
 * Before the running thread's next operation on the object: wait until it is
 * this operation's turn.
 *
 * in:      looks: is it known to change nothing?
 *          can_take: may the operation come right after the one just done?
 *          NULL: always
 */
void sim_order_ask(struct engine *e, struct order *order, bool looks,
                   sim_can_take *can_take, void *context);

/* The requested operation is done, and others can see it. */
void sim_order_done(struct engine *e, struct order *order, bool changed);

/* The same in two steps, for an operation on two objects. */
void sim_order_record(struct engine *e, struct order *order,
                      struct requested requested, bool changed);
void sim_order_offer(struct engine *e, struct order *order, bool changed);

/* ---- Offers (offer.c) ---- */

/* An operation that others may wait for. */
struct offer {
    struct chain *chain;
    uint32_t stamp; /* of its event */
    bool changed;
};

/* The running thread has done the operation. */
void sim_offer_later(struct engine *e, struct chain *chain, bool changed);

/* ---- What the engine calls at its events (order.c) ---- */

struct sim_graphs {
    /* The running thread reaches its next operation: threads that wait for
     * what it has done go on. */
    void (*settle)(struct engine *e);
    /* With barriers: an operation's turn among them, before and after it. */
    void (*ask_turn)(struct engine *e);
    void (*record_turn)(struct engine *e);
};

extern const struct sim_graphs sim_graphs;

void sim_offer_settle(struct engine *e);

/* This search cannot handle the operation: it restarts by schedules. */
void sim_reduce_refuse(struct engine *e);

#endif
