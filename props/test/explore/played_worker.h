/*
 * played_worker.h -- processes that play the workers of a search (worker.h).
 * They search a small tree, note what they have searched in shared memory, and
 * do what they are asked.
 */
#ifndef PROPS_PLAYED_WORKER_H
#define PROPS_PLAYED_WORKER_H

#include "worker.h"

/* A tree of questions with 2 to 4 answers. */
enum { PLAYED_DEPTH = 5, PLAYED_LISTS = 1 << (2 * PLAYED_DEPTH) };

enum played_says {
    PLAYED_SEARCHES,
    PLAYED_HAS_LEARNED,
    PLAYED_HAS_FAILED,
    PLAYED_HAS_NO_CHOICES, /* it has failed without, and what it says is long */
    PLAYED_IS_OVER,        /* all say so at once */
    PLAYED_ENDS,
    PLAYED_ENDS_IDLE,  /* before it has a part */
    PLAYED_ENDS_PAUSED /* when it has shown its part */
};

struct played {
    uint32_t learned; /* what is said of reduced, and whole << 1 */
    _Atomic uint32_t visits[PLAYED_LISTS]; /* of each list */
    _Atomic uint32_t begun;                /* parts */
    _Atomic uint32_t unasked; /* had the whole tree, was asked for nothing */
    _Atomic uint32_t shared;  /* was asked to share */
    uint32_t forks;           /* so many calls of fork() */
    uint32_t forks_fail_from; /* all calls from this one on */
    uint32_t interrupts;      /* so many calls of waitpid() end early */
    bool alone;               /* there is one worker */
    _Atomic uint32_t crowded; /* had other files open than its parent, and its
                                 own socket */
    _Atomic uint32_t said;    /* by how many that it is over */
    _Atomic bool heard;       /* the parent hears them now */
    void *_Atomic shared_memory;
    uint32_t files;            /* open when it began, of the first ones */
    _Atomic uint32_t outlived; /* went on after the end of the search */
};

/* Shared with the processes; NULL: workers are real. */
extern struct played *played;

/* Workers that start from now on are played. in: what they do with a part */
void played_open(enum played_says what);

/* returns: how many of the first files are open */
uint32_t played_files(void);

void played_sleep(uint32_t us);

/* Wait until a process has ended, if they end while they pause. */
void played_await_end(void);

/* returns: the list's number, below PLAYED_LISTS */
uint32_t played_number(const struct sim_step *path);

/* Go to the first list that begins with the first `base` answers. */
void played_begin(struct sim_step *path, uint32_t base);

/* Go to the next of these. returns: false if there is none */
bool played_next(struct sim_step *path, uint32_t base);

/* returns: how many lists were searched; waits a while for so many */
uint64_t played_visits(uint64_t wanted);

/* Is each list either below a part that is left, taken or not, or searched, and
 * were so many searched? */
bool played_is_whole(const struct sim_frontier *f, uint64_t runs);

/* A worker counts each list once as a run, twice as a graph and so on. Are
 * these the sums? */
bool played_sums_up(const struct sim_exhaust_result *r, uint64_t lists);

#endif
