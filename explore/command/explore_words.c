/* explore_words.c -- see explore_words.h. */
#include "explore/command/explore_words.h"

#include <string.h>

#include "common/command/complaint.h"
#include "explore/command/explore_command.h"
#include "explore/command/kernel_groups.h"
#include "common/nearest.h"
#include "common/command/options.h"
#include "common/report/report.h"

enum {
    EXHAUSTIVE = 1,
    SCHEDULES,
    BOUND,
    STRATEGY,
    RUNS,
    UNROLL,
    SPURIOUS,
    SEED,
    JOBS,
    TIME,
    CHECKPOINT,
    SHARD,
    RESULT,
    REPLAY,
    MUTANTS,
    CSV,
    LIST
};

static const struct cli_option table[] = {
    {EXHAUSTIVE, 0, "exhaustive", NULL,
     "every ordering, and no random runs in between"},
    {SCHEDULES, 0, "schedules", NULL,
     "every ordering by schedules, for comparison:\nequivalent orders are not "
     "merged, only states seen\nbefore are skipped"},
    {BOUND, 0, "bound", "N", "the same, with at most N preemptions"},
    {STRATEGY, 0, "strategy", "S",
     "random runs alone: random, pct, urw or stall"},
    {JOBS, 0, "jobs", "N", "in N processes (1)"},
    {TIME, 0, "time", "S", "at most S seconds for each kernel"},
    {CHECKPOINT, 0, "checkpoint", "FILE",
     "save the state of the search to FILE, and resume from\nit"},
    {SHARD, 0, "shard", CLI_SHARD_WORDS, CLI_SHARD_HELP},
    {RESULT, 0, "result", "FILE",
     "write the result to FILE, and resume from it, or from a\n"
     "checkpoint beside it; if FILE ends in /, it is a\n"
     "folder, and the file in it is named after the shard"},
    {RUNS, 0, "runs", "N", "at most N runs (random: 100000; else no limit)"},
    {UNROLL, 0, "unroll", "N",
     "of a wait loop that counts its rounds, explore N more\nrounds fully (1)"},
    {SPURIOUS, 0, "spurious", "N",
     "let up to N weak compare-exchanges and sleeps of a run\nend spuriously "
     "(0)"},
    {SEED, 0, "seed", "N", "seed of the random runs (1)"},
    {REPLAY, 0, "replay", "LIST", "one run, given its choices: 0,0,2"},
    {MUTANTS, 0, "mutants", NULL,
     "weaken each memory order by one step, and report which\nkernel notices"},
    {CSV, 0, "csv", NULL, "the mutants as a table"},
    {LIST, 0, "list", NULL, "the kernels"},
    CLI_PAGE_OPTIONS,
    CLI_REPORT_OPTIONS,
    {0},
};

const struct cli_syntax cli_explore_syntax = {
    .command = "explore",
    .words = "[KERNEL | FILE.c... | FILE.cc...] [OPTION...]\n"
             "                       [-- CFLAGS...]",
    .about =
        "Run small concurrent programs under every ordering that C11 "
        "allows: the main of\nyour own FILE.c, compiled with CFLAGS, or "
        "a kernel of profsim. Without options,\na fifth of the runs are "
        "random ones: they find some failures sooner. All kernels\ntake "
        "about a minute, --mutants about two.\n\nFor your own program, "
        "also:\n"
        "  --opt LEVEL          at -O0 .. -O3, -Os, -Og only (else at -O1, or "
        "as CFLAGS\n                       say, and if that holds at -O0, "
        "too)\n"
        "  --entry FUNCTION     explore that, not main\n"
        "  --gdb N              with --replay: stop in gdb before event "
        "N, with the stack\n                       of each thread\n",
    .options = table,
    .exits = CLI_EXIT_HELP,
};

/* ---- Words ---- */

static bool
strategy_of(const char *word, enum sim_strategy *strategy)
{
    struct sim_nearest nearest = {.wrong = word, .wrong_bytes = strlen(word)};

    for (uint32_t i = 0; i < SIM_STRATEGY_COUNT; i++) {
        *strategy = (enum sim_strategy)i;
        if (strcmp(word, sim_strategy_text(*strategy)) == 0)
            return true;
        sim_nearest_try(&nearest, sim_strategy_text(*strategy));
    }
    return cli_unknown("strategy", &nearest, "take random, pct, urw or stall");
}

static bool
take_kernel(struct cli_explore_words *w, const char *word)
{
    if (w->kernel != NULL)
        return cli_complain("one kernel at a time: '%s' or '%s'?", w->kernel,
                            word);
    w->kernel = word;
    return true;
}

static bool
take_small(const char *value, const char *name, uint64_t least, uint32_t *to)
{
    uint64_t number;

    if (!cli_number(name, value, least, 1000, &number))
        return false;
    *to = (uint32_t)number;
    return true;
}

static bool
take_bound(struct cli_explore_words *w, const char *value)
{
    w->run.bounded = true;
    w->bound_given = true;
    w->portfolio = false;
    return take_small(value, "--bound", 0, &w->run.preemptions_max);
}

/* returns: false, after a complaint, if the value is wrong */
static bool
take(struct cli_explore_words *w, int id, const char *value)
{
    switch (id) {
    case BOUND:
        return take_bound(w, value);
    case STRATEGY:
        w->exhaustive = w->portfolio = false;
        return strategy_of(value, &w->run.strategy);
    case RUNS:
        return cli_number("--runs", value, 1, UINT64_MAX, &w->runs);
    case UNROLL:
        return take_small(value, "--unroll", 1, &w->run.unroll);
    case SPURIOUS:
        return take_small(value, "--spurious", 0, &w->run.spurious_max);
    case SEED:
        return cli_number("--seed", value, 0, UINT64_MAX, &w->seed);
    case JOBS:
        return cli_number("--jobs", value, 1, 256, &w->jobs);
    case TIME:
        return cli_number("--time", value, 1, 1000000000, &w->time_s);
    case CHECKPOINT:
        w->checkpoint = value;
        return true;
    case SHARD:
        return cli_shard_parse(&w->shard, value);
    case RESULT:
        return cli_result_take(&w->result, value);
    case REPLAY:
        w->replay = value;
        return true;
    case CLI_OPTIONS_WORD:
        return take_kernel(w, value);
    case CLI_PAGE_HTML:
    case CLI_PAGE_DATA:
        return cli_page_take(&w->pages, id, value);
    case CLI_REPORT_JSON:
    case CLI_REPORT_JUNIT:
        return cli_report_take(w->report, id, value);
    default:
        w->exhaustive |= id == EXHAUSTIVE;
        w->portfolio &= id != EXHAUSTIVE && id != SCHEDULES;
        w->schedules |= id == SCHEDULES;
        w->mutants |= id == MUTANTS;
        w->csv |= id == CSV;
        w->list |= id == LIST;
        return true;
    }
}

bool
cli_explore_parse(struct cli_explore_words *w, int argc, char **argv,
                  enum cli_exit *exit_code)
{
    struct cli_options options;
    int id;

    *exit_code = CLI_USAGE;
    cli_options_begin(&options, &cli_explore_syntax, argc, argv);
    while ((id = cli_options_next(&options)) != CLI_OPTIONS_END) {
        if (!take(w, id, options.value))
            return false;
    }
    *exit_code = options.exit_code;
    if (options.ended)
        return false;
    if (w->kernel == NULL)
        w->kernel = cli_only_kernel();
    if (w->replay != NULL && w->kernel == NULL)
        return cli_complain("--replay needs a kernel");
    if (cli_page_wanted(&w->pages) && w->kernel == NULL)
        return cli_complain("--html and --data need a kernel");
    if (w->csv && !w->mutants)
        return cli_complain("--csv is for --mutants");
    if (w->checkpoint != NULL && w->kernel == NULL)
        return cli_complain("--checkpoint needs a kernel");
    if (w->result != NULL && w->kernel == NULL && !w->mutants)
        return cli_complain("--result needs a kernel");
    if ((w->shard.count != 0 || w->result != NULL) && w->replay != NULL)
        return cli_complain("--shard and --result do not go with --replay");
    if (!w->exhaustive && (w->shard.count != 0 || w->result != NULL))
        return cli_complain("--shard and --result are for exhaustive search, "
                            "not for --strategy");
    if (!w->exhaustive && (w->checkpoint != NULL || w->jobs > 1))
        return cli_complain("--jobs and --checkpoint are for exhaustive "
                            "search, not for --strategy");
    return true;
}
