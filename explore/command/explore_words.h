/* explore_words.h -- the arguments of `profsim explore`. */
#ifndef EXPLORE_COMMAND_EXPLORE_WORDS_H
#define EXPLORE_COMMAND_EXPLORE_WORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/command/exit.h"
#include "common/page/page.h"
#include "explore/engine/kernel_entry.h"
#include "common/shard/shard.h"

struct cli_report;

struct cli_explore_words {
    const char *kernel; /* NULL: all */
    bool exhaustive;
    bool schedules; /* every ordering, not reduced */
    bool portfolio; /* with random runs in between */
    bool mutants;
    bool list;
    bool csv;
    const char *replay;
    uint64_t runs; /* 0: all, or RUNS_RANDOM */
    uint64_t seed;
    uint64_t jobs;
    uint64_t time_s; /* 0: no limit */
    const char *checkpoint;
    struct cli_shard shard; /* count 0: no --shard */
    bool shards_whole;      /* no split: the first shard does all */
    const char *result;     /* NULL: none is written */
    struct sim_run_options run;
    bool bound_given;
    struct cli_page_paths pages;
    struct cli_report *report;
};

/* returns: false if there is nothing more to do; then *exit_code is set */
bool cli_explore_parse(struct cli_explore_words *w, int argc, char **argv,
                       enum cli_exit *exit_code);

#endif
