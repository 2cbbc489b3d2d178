/* drawn_searches.h -- a command line of `profsim explore`, drawn, and what its
 * searches find: they are simulated. */
#ifndef DRAWN_SEARCHES_H
#define DRAWN_SEARCHES_H

#include "registry.h"

enum { SEARCHES_MAX = 160, SEARCHES_LOOPS = 2 };

/* How a run ends that is replayed. */
enum replayed { PASSES, MISALIGNED, UNUSED, FAILS, REPLAYED_COUNT };

/* A search, and what it finds. */
struct search {
    const struct sim_kernel_entry *entry;
    struct sim_exhaust_result found; /* without choices */
    uint64_t took_us;
    uint32_t choices; /* how many */
    bool tells;       /* how far it is */
    enum replayed replayed;
};

/* What the command line asks for. */
struct asked {
    const struct sim_kernel_entry *kernel; /* NULL: all */
    bool random, exhaustive, schedules;
    enum sim_strategy strategy;
    bool bounded;
    uint32_t bound, unroll, spurious, jobs;
    uint64_t seed, runs, time_s;
    uint32_t shard, shards; /* shards 0: no --shard */
    bool result, html, data, terminal;
    bool in_folder;     /* the result gets a name */
    bool whole;         /* another shard found that there is no split */
    const char *replay; /* a list of choices, or NULL */
};

extern struct search searches[SEARCHES_MAX];
extern uint32_t searches_count;
extern struct asked asked;

/* Draw a command line, and a search of one kernel or of each. in: seed, its
 * number; folder, for the files */
void searches_draw(uint64_t seed, bool all, const char *folder);

/* From now on the searches of this process are simulated. */
void searches_simulate(void);

/* returns: are there random runs in between? */
bool searches_mixed(void);

/* returns: the path of a file; of the last four calls */
const char *searches_path(const char *name);

/* returns: a choice of a failure */
uint32_t searches_choice(uint32_t i);

#endif
