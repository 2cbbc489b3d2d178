/* futile.h -- reads that lead round a wait loop; see futile.c. */
#ifndef EXPLORE_SEARCH_FUTILE_H
#define EXPLORE_SEARCH_FUTILE_H

#include <stdbool.h>
#include <stdint.h>

struct engine;

struct location;

void sim_futile_forget(struct engine *e);

/*
 * Name the running thread's next read, by its place in the code, the state of
 * the code and the address.
 *
 * returns: 0 if it is in no known wait loop
 */
uint64_t sim_futile_name(struct engine *e, const struct location *l);

bool sim_futile_knows(struct engine *e, uint64_t name, uint64_t value);

/* returns: true if that is new */
bool sim_futile_learn(struct engine *e, uint64_t name, uint64_t value);

/*
 * Mark the running thread's last read as futile: it led once round its wait
 * loop. Ends the run if there are other answers to try.
 */
void sim_futile_mark(struct engine *e);

/*
 * When no thread can run, let a blocked thread read the newest value and go
 * round its loop.
 *
 * returns: the thread, or SIM_THREADS_MAX
 */
uint32_t sim_futile_release(struct engine *e);

/* wait.c: the sites of wait loops; a new one changes the lists */
void sim_wait_learn(struct engine *e, uintptr_t site);
uint32_t sim_wait_sites(struct engine *e, const uintptr_t **sites);

#endif
