/* explore_options.c -- see explore_options.h. */
#include "explore_options.h"

#include <inttypes.h>
#include <stdio.h>

#include "complaint.h"
#include "explore.h"
#include "explore_words.h"
#include "report.h"
#include "unit_test.h"

static uint64_t numbers_state;

static uint32_t
below(uint32_t count)
{
    numbers_state =
        numbers_state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(numbers_state >> 33) % count;
}

static const struct number {
    const char *name;
    uint64_t least;
    uint64_t most;
} numbers[] = {{"--bound", 0, 1000},     {"--runs", 1, UINT64_MAX},
               {"--unroll", 1, 1000},    {"--spurious", 0, 1000},
               {"--jobs", 1, 256},       {"--time", 1, 1000000000},
               {"--seed", 0, UINT64_MAX}};

enum {
    BOUND,
    RUNS,
    UNROLL,
    SPURIOUS,
    JOBS,
    TIME,
    SEED,
    NUMBERS,
    LINE_WORDS = 32
};

static const char *const strategies[] = {"random", "pct", "urw", "stall"};

/* What a command line asks for. */
struct line {
    char words[LINE_WORDS][40];
    int count;
    bool is_wrong;
    bool has[NUMBERS];
    uint64_t values[NUMBERS];
    int strategy; /* -1: none */
    bool exhaustive, schedules, kernel, checkpoint, result, csv, mutants;
    bool replay, html, data;
    uint32_t shards; /* 0: none */
};

__attribute__((format(printf, 2, 3))) static void
say(struct line *line, const char *format, ...)
{
    va_list values;

    va_start(values, format);
    vsnprintf(line->words[line->count++], sizeof line->words[0], format,
              values);
    va_end(values);
}

static void
say_number(struct line *line, int i)
{
    const struct number *n = &numbers[i];
    const uint64_t values[] = {n->least, n->most, n->least + below(5),
                               n->most / 2};
    const bool is_out = below(12) == 0;

    line->has[i] = true;
    line->values[i] = values[below(4)];
    if (is_out) {
        line->is_wrong = true;
        if (n->most == UINT64_MAX)
            say(line, "%s=18446744073709551616", n->name);
        else
            say(line, "%s=%" PRIu64, n->name,
                n->least > 0 && below(2) == 0 ? n->least - 1 : n->most + 1);
    } else if (below(2) == 0) {
        say(line, "%s=%" PRIu64, n->name, line->values[i]);
    } else {
        say(line, "%s", n->name);
        say(line, "%" PRIu64, line->values[i]);
    }
}

static void
say_flag(struct line *line, const char *word, bool *flag)
{
    *flag = below(6) == 0;
    if (*flag)
        say(line, "%s", word);
}

static void
draw_line(struct line *line)
{
    const bool is_random = below(4) == 0;

    *line = (struct line){.strategy = -1};
    say(line, "explore");
    for (int i = 0; i < NUMBERS; i++) {
        if (below(4) == 0)
            say_number(line, i);
    }
    if (is_random) {
        line->strategy = (int)below(4);
        say(line, "--strategy=%s", strategies[line->strategy]);
    }
    say_flag(line, "--schedules", &line->schedules);
    if (!is_random)
        say_flag(line, "--exhaustive", &line->exhaustive);
    say_flag(line, "--checkpoint=c", &line->checkpoint);
    say_flag(line, "--result=r", &line->result);
    say_flag(line, "--mutants", &line->mutants);
    say_flag(line, "--csv", &line->csv);
    say_flag(line, "--replay=0,1", &line->replay);
    say_flag(line, "--html=h", &line->html);
    say_flag(line, "--data=d", &line->data);
    line->kernel = below(3) > 0;
    if (line->kernel)
        say(line, "flags");
    if (below(6) == 0) {
        line->shards = 1 + below(3);
        say(line, "--shard=1/%" PRIu32, line->shards);
    }
    /* What cannot be combined, in the words of the manual. */
    line->is_wrong |= line->csv && !line->mutants;
    line->is_wrong |= (line->checkpoint || line->result) && !line->kernel;
    line->is_wrong |=
        (line->replay || line->html || line->data) && !line->kernel;
    line->is_wrong |= line->shards > 0 && (line->mutants || line->replay);
    line->is_wrong |=
        is_random && (line->shards > 0 || line->result || line->checkpoint ||
                      (line->has[JOBS] && line->values[JOBS] > 1));
}

static void
expect_words(const struct line *line, const struct cli_explore_words *w)
{
    const bool is_random = line->strategy >= 0;
    const uint64_t found[NUMBERS] = {w->run.preemptions_max,
                                     w->runs,
                                     w->run.unroll,
                                     w->run.spurious_max,
                                     w->jobs,
                                     w->time_s,
                                     w->seed};

    for (int i = 0; i < NUMBERS; i++)
        assert_int_equal(found[i], line->has[i] ? line->values[i] : i == SEED);
    assert_int_equal(w->bound_given, line->has[BOUND]);
    assert_int_equal(w->run.bounded, line->has[BOUND]);
    assert_int_equal(w->exhaustive, !is_random);
    assert_int_equal(w->schedules, line->schedules);
    /* Random runs in between: unless every ordering was asked for. */
    assert_int_equal(w->portfolio, !is_random && !line->exhaustive &&
                                       !line->schedules && !line->has[BOUND]);
    if (is_random)
        assert_string_equal(sim_strategy_text(w->run.strategy),
                            strategies[line->strategy]);
    assert_int_equal(w->kernel != NULL, line->kernel);
    assert_int_equal(w->checkpoint != NULL, line->checkpoint);
    assert_int_equal(w->result != NULL, line->result);
    assert_int_equal(w->replay != NULL, line->replay);
    assert_int_equal(w->pages.html != NULL, line->html);
    assert_int_equal(w->pages.data != NULL, line->data);
    assert_false(w->list);
    assert_int_equal(w->mutants, line->mutants);
    assert_int_equal(w->csv, line->csv);
    assert_int_equal(w->shard.count, line->shards);
}

static void
try_line(uint64_t seed)
{
    struct cli_explore_words w = {
        .exhaustive = true, .portfolio = true, .seed = 1};
    struct cli_report report = {.failed = false};
    char *argv[LINE_WORDS + 1] = {NULL};
    enum cli_exit exit_code = CLI_OK;
    struct line line;
    bool taken;

    numbers_state = seed;
    draw_line(&line);
    for (int i = 0; i < line.count; i++)
        argv[i] = line.words[i];
    w.report = &report;
    taken = cli_explore_parse(&w, line.count, argv, &exit_code);
    if (taken == line.is_wrong) {
        for (int i = 0; i < line.count; i++)
            print_message("%s ", argv[i]);
        fail_msg("%s", taken ? "was taken" : "was refused");
    }
    if (taken)
        expect_words(&line, &w);
    else
        assert_int_equal(exit_code, CLI_USAGE);
}

/* Parse one or two words. out: *w */
static bool
takes(const char *const *two, struct cli_explore_words *w)
{
    static struct cli_report report;
    enum cli_exit exit_code = CLI_OK;
    char words[3][40] = {"explore"};
    char *argv[] = {words[0], words[1], two[1] != NULL ? words[2] : NULL, NULL};

    snprintf(words[1], sizeof words[1], "%s", two[0]);
    snprintf(words[2], sizeof words[2], "%s", two[1] != NULL ? two[1] : "");
    *w = (struct cli_explore_words){
        .exhaustive = true, .portfolio = true, .seed = 1, .report = &report};
    return cli_explore_parse(w, two[1] != NULL ? 3 : 2, argv, &exit_code);
}

static void
expect_refused(void)
{
    static const char together[] = "--jobs and --checkpoint are for exhaustive "
                                   "search, not for --strategy";
    static const char *const rows[][3] = {
        {"flags", "seqlock", "one kernel at a time: 'flags' or 'seqlock'?"},
        {"--strategy=randon", NULL,
         "there is no strategy 'randon'; did you mean 'random'?"},
        {"--strategy=stal", NULL,
         "there is no strategy 'stal'; did you mean 'stall'?"},
        {"--strategy=?", NULL,
         "there is no strategy '?'; take random, pct, urw or stall"},
        {"--strategy=exhaustive", NULL,
         "there is no strategy 'exhaustive'; take random, pct, urw or stall"},
        {"--strategy=pct", "--jobs=2", together},
    };
    struct cli_explore_words w;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_false(takes(rows[i], &w));
        assert_string_equal(cli_complaint_last(), rows[i][2]);
    }
}

/* Of --exhaustive and --strategy the last counts. */
static void
expect_last(void)
{
    static const char *const rows[][2] = {{"--strategy=pct", "--exhaustive"},
                                          {"--exhaustive", "--strategy=pct"},
                                          {"--strategy=pct", "--jobs=1"}};
    struct cli_explore_words w;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_true(takes(rows[i], &w));
        assert_int_equal(w.exhaustive, i == 0);
        assert_false(w.portfolio);
    }
}

void
explore_options(uint64_t lines)
{
    for (uint64_t seed = 1; seed <= lines; seed++)
        try_line(seed);
    expect_refused();
    expect_last();
}
