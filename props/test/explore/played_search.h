/* played_search.h -- searches by processes that are played (played_worker.h).
 */
#ifndef PROPS_PLAYED_SEARCH_H
#define PROPS_PLAYED_SEARCH_H

#include "control.h"
#include "played_worker.h"

struct played_search {
    struct sim_exhaust_options options;
    struct sim_exhaust_result result;
    struct sim_search search;
    struct sim_control control;
};

void played_search_begin(struct played_search *p, enum played_says what);

/* Nothing of its workers is left: no process, no memory, no file. */
void played_search_end(struct played_search *p);

/* Workers have failed: the first failure is kept, and none goes on. */
void played_search_fails(void);

/* All workers say at once that the search is over. */
void played_search_is_over(void);

/* Only some processes start, or none. */
void played_search_starts(void);

#endif
