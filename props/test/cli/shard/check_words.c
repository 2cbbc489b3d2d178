/*
 * check_words.c -- tests of test_merge.c: random command lines of `profsim
 * check`, and what the manual says about each; and which seeds are left to a
 * shard, counted here one by one.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "check_options.h"
#include "check_shard.h"
#include "merge_case.h"
#include "property.h"
#include "unit_test.h"

enum { WORDS_MAX = 40, LINES = 1500, PROPERTIES = 5 };

static const char *const ids[PROPERTIES] = {"H2", "S1", "T1", "X1", "U1"};
static const enum props_property properties[PROPERTIES] = {
    PROPS_H2, PROPS_S1, PROPS_T1, PROPS_X1, PROPS_U1};

/* What a command line asks for. */
struct line {
    char words[WORDS_MAX][64];
    int count;
    bool is_wrong;
    bool named[PROPERTIES];
    bool has_seeds, has_time, pairs;
    bool open; /* the last seed is the largest there is */
    uint64_t first, last;
    uint32_t seconds, jobs, every; /* UINT32_MAX: not given */
    const char *rules, *save, *corpus, *result, *json, *junit;
    uint32_t shard, shards;
    int files;
};

__attribute__((format(printf, 2, 3))) static void
say(struct line *line, const char *format, ...)
{
    char *const word = line->words[line->count++];
    va_list values;

    va_start(values, format);
    vsnprintf(word, sizeof line->words[0], format, values);
    va_end(values);
}

static void
say_seeds(struct line *line)
{
    static const struct {
        const char *text;
        bool is_right, open;
        uint64_t first, last;
    } forms[] = {
        {"0..0", true, false, 0, 0},
        {"7..19", true, false, 7, 19},
        {"4294967296..4294967303", true, false, UINT64_C(1) << 32,
         (UINT64_C(1) << 32) + 7},
        {"18446744073709551613..18446744073709551613", true, false,
         UINT64_MAX - 2, UINT64_MAX - 2},
        {"0000000000000000000000000000003..4", true, false, 3, 4},
        {"5..", true, true, 5, UINT64_MAX - 1},
        {"9..18446744073709551614", true, true, 9, UINT64_MAX - 1},
        {"18446744073709551614..", true, true, UINT64_MAX - 1, UINT64_MAX - 1},
        {"00000000000000000000000000000003..4", false, false, 0, 0},
        {"8..7", false, false, 0, 0},
        {"18446744073709551615..", false, false, 0, 0},
        {"1..18446744073709551615", false, false, 0, 0},
        {"..9", false, false, 0, 0},
        {"7", false, false, 0, 0},
        {"1.9", false, false, 0, 0},
        {"1..9x", false, false, 0, 0},
    };
    const size_t count = sizeof forms / sizeof *forms;
    const size_t i = merge_below(merge_below(3) == 0 ? (uint32_t)count : 7);

    say(line, "--seeds=%s", forms[i].text);
    line->is_wrong |= !forms[i].is_right;
    line->has_seeds = true;
    line->open = forms[i].open;
    line->first = forms[i].first;
    line->last = forms[i].last;
}

static void
say_number(struct line *line, const char *name, uint32_t least, uint32_t most,
           uint32_t *value)
{
    const uint32_t values[] = {least, most, least + merge_below(5), most / 2};

    *value = values[merge_below(4)];
    if (merge_below(12) != 0) {
        say(line, "%s=%" PRIu32, name, *value);
        return;
    }
    line->is_wrong = true;
    if (merge_below(2) == 0)
        say(line, "%s=%" PRIu32, name, most + 1);
    else
        say(line, "%s=%" PRId64, name, (int64_t)least - 1);
}

/* A word, which may be empty: then it is wrong. */
static void
say_name(struct line *line, const char *option, const char *value,
         const char **name)
{
    const bool empty = merge_below(15) == 0;

    say(line, "%s=%s", option, empty ? "" : value);
    line->is_wrong |= empty;
    *name = value;
}

static void
say_rules(struct line *line)
{
    static const char *const names[] = {"exact", "go1.5", "go1.17", "go1.7x"};
    const uint32_t i = merge_below(merge_below(3) == 0 ? 4 : 3);

    say(line, "--rules=%s", names[i]);
    line->rules = names[i];
    line->is_wrong |= i == 3;
}

static void
say_option(struct line *line, int which)
{
    switch (which) {
    case 0:
        say_seeds(line);
        return;
    case 1:
        line->has_time = true;
        say_number(line, "--time", 1, 1000000, &line->seconds);
        return;
    case 2:
        say_number(line, "--jobs", 1, PROPS_JOBS_MAX, &line->jobs);
        return;
    case 3:
        say_number(line, "--every", 0, 3600, &line->every);
        return;
    case 4:
        say_rules(line);
        return;
    case 5:
        say_name(line, "--save", "s", &line->save);
        return;
    case 6:
        say_name(line, "--corpus", "c", &line->corpus);
        return;
    case 7:
        say_name(line, "--result", "r", &line->result);
        return;
    case 8:
        line->shards = 1 + merge_below(3);
        line->shard = 1 + merge_below(line->shards);
        say(line, "--shard=%" PRIu32 "/%" PRIu32, line->shard, line->shards);
        return;
    case 9:
        line->pairs = true;
        say(line, "--pairs");
        return;
    case 10:
        say_name(line, "--json", "/tmp/check-words.json", &line->json);
        return;
    case 11:
        say_name(line, "--junit", "/tmp/check-words.xml", &line->junit);
        return;
    default:
        return;
    }
}

static void
draw_line(struct line *line)
{
    enum { OPTIONS = 12 };
    const uint32_t begin = merge_below(OPTIONS);
    bool shard;

    *line = (struct line){.seconds = 0, .jobs = UINT32_MAX, .every = 60};
    say(line, "check");
    for (uint32_t i = 0; i < OPTIONS; i++) {
        if (merge_below(6) == 0)
            say_option(line, (int)((begin + i) % OPTIONS));
        if (merge_below(25) == 0)
            say(line, "f%d.sim", line->files++);
        if (merge_below(16) == 0) {
            const uint32_t p = merge_below(PROPERTIES);

            say(line, "%s", ids[p]);
            line->named[p] = true;
        }
    }
    /* What cannot be combined, in the words of the manual. */
    shard = line->shards != 0 || line->result != NULL;
    line->is_wrong |= line->named[PROPERTIES - 1]; /* of subjects */
    line->is_wrong |= line->corpus != NULL && line->files > 0;
    line->is_wrong |= shard && (line->pairs || line->files > 0);
    line->is_wrong |=
        line->shards > 1 && (line->json != NULL || line->junit != NULL);
    line->is_wrong |= line->has_seeds && line->open && !line->has_time;
}

static bool
is_drawn(const struct line *line)
{
    return line->has_time && !line->has_seeds && line->files == 0;
}

/* What is written to a result: what the line asks for, without what does not
 * affect the result. */
static void
expect_asked(const struct line *line, const struct cli_check_options *o)
{
    char asked[CLI_ASKED_BYTES] = "";
    char want[CLI_ASKED_BYTES] = "check";
    size_t used = 5;

    for (int i = 0; i < PROPERTIES; i++) {
        if (line->named[i])
            used += (size_t)sprintf(&want[used], " %s", ids[i]);
    }
    used += (size_t)sprintf(&want[used], " --rules %s",
                            line->rules != NULL ? line->rules : "exact");
    if (!is_drawn(line)) {
        used += (size_t)sprintf(&want[used], " --seeds %" PRIu64 "..",
                                line->has_seeds ? line->first : 1);
        if (!line->has_seeds || line->last != UINT64_MAX - 1)
            used += (size_t)sprintf(&want[used], "%" PRIu64,
                                    line->has_seeds ? line->last : 100000);
    }
    if (line->has_time)
        sprintf(&want[used], " --time %" PRIu32, line->seconds);
    assert_true(cli_check_asked(o, asked));
    assert_string_equal(asked, want);
}

static void
expect_name(const char *found, const char *want)
{
    assert_int_equal(found != NULL, want != NULL);
    if (want != NULL)
        assert_string_equal(found, want);
}

static void
expect_options(const struct line *line, const struct cli_check_options *o,
               char **argv)
{
    const struct props_campaign *c = &o->campaign;
    props_set asked = 0;

    for (int i = 0; i < PROPERTIES; i++)
        asked |= line->named[i] ? PROPS_BIT(properties[i]) : 0;
    assert_int_equal(o->named, asked != 0);
    assert_int_equal(c->asked, asked != 0 ? asked : PROPS_ALL);
    assert_int_equal(o->drawn, is_drawn(line));
    if (is_drawn(line)) {
        assert_true(c->seed_first < UINT64_C(1) << 62);
        assert_int_equal(c->seed_last, UINT64_MAX - 1);
    } else {
        assert_int_equal(c->seed_first, line->has_seeds ? line->first : 1);
        assert_int_equal(c->seed_last, line->has_seeds ? line->last : 100000);
    }
    assert_int_equal(c->seconds, line->seconds);
    if (line->jobs != UINT32_MAX)
        assert_int_equal(c->jobs, line->jobs);
    assert_in_range(c->jobs, 1, PROPS_JOBS_MAX);
    assert_true(c->show_progress);
    assert_int_equal(o->every_seconds, line->every);
    assert_string_equal(c->rules->name,
                        line->rules != NULL ? line->rules : "exact");
    assert_null(c->subject);
    expect_name(o->save, line->save != NULL ? line->save : "profsim-failures");
    expect_name(o->corpus, line->corpus);
    expect_name(o->result, line->result);
    expect_name(o->report->json, line->json);
    expect_name(o->report->junit, line->junit);
    assert_int_equal(o->pairs, line->pairs);
    assert_int_equal(o->shard.index, line->shard);
    assert_int_equal(o->shard.count, line->shards);
    assert_int_equal(o->files_count, line->files);
    for (int i = 0; i < line->files; i++) {
        char want[16];

        snprintf(want, sizeof want, "f%d.sim", i);
        assert_string_equal(argv[i], want);
    }
}

static void
check_line(uint64_t seed)
{
    struct cli_report report = {.failed = false};
    struct cli_check_options options;
    enum cli_exit exit_code = CLI_OK;
    char *argv[WORDS_MAX + 1] = {NULL};
    struct line line;
    bool taken;

    merge_seed(seed);
    draw_line(&line);
    for (int i = 0; i < line.count; i++)
        argv[i] = line.words[i];
    taken = cli_check_options(&options, &report, line.count, argv, &exit_code);
    if (taken == line.is_wrong) {
        for (int i = 0; i < line.count; i++)
            print_message("%s ", line.words[i]);
        fail_msg("%s", taken ? "was taken" : "was refused");
    }
    if (!taken) {
        assert_int_equal(exit_code, CLI_USAGE);
        return;
    }
    expect_options(&line, &options, argv);
    expect_asked(&line, &options);
}

void
merge_check_words(void)
{
    for (uint64_t seed = 1; seed <= LINES; seed++)
        check_line(seed);
    merge_check_lines();
}

/* ---- What is left ---- */

static void
expect_left(void)
{
    struct cli_check_options o = {
        .campaign = {.seed_first = merge_below(2) == 0 ? merge_below(50)
                                                       : UINT64_MAX - 60,
                     .seconds = merge_below(3) == 0 ? 5 : 0}};
    static struct cli_shard_result r;
    static const uint64_t spent[] = {0, 4999, 5000, UINT64_C(1) << 33};
    const bool heaps = merge_below(4) > 0;
    const bool traces = !heaps || merge_below(3) > 0;
    uint64_t left[CLI_PART_COUNT] = {0};
    uint64_t seeds = 0;
    bool failed = false;
    bool done;

    memset(&r, 0, sizeof r);
    o.campaign.seed_last = o.campaign.seed_first + merge_below(50);
    o.campaign.asked =
        (heaps ? PROPS_BIT(PROPS_H2) : 0) | (traces ? PROPS_BIT(PROPS_T1) : 0);
    r.shard.count = 1 + merge_below(7);
    r.shard.index = 1 + merge_below(r.shard.count);
    r.seed_step = r.shard.count;
    r.is_checked = merge_below(4) > 0;
    r.spent_ms = spent[merge_below(4)];
    r.checker.exit_code = merge_below(8) == 0 ? CLI_BROKEN : CLI_OK;
    for (uint64_t i = 0; i <= o.campaign.seed_last - o.campaign.seed_first; i++)
        seeds += i % r.shard.count == r.shard.index - 1;
    for (int kind = 0; kind < CLI_PART_COUNT; kind++) {
        const bool wanted = kind == CLI_PART_HEAPS ? heaps : traces;
        struct cli_part *part = &r.parts[kind];

        part->runs = wanted ? merge_below((uint32_t)seeds + 1) : 0;
        if (merge_below(3) == 0 && wanted)
            part->runs = seeds;
        if (part->runs < seeds && wanted && merge_below(6) == 0)
            part->failure.exit_code = CLI_CRASH;
        failed |= part->failure.exit_code != CLI_OK;
        left[kind] = failed || !wanted ? 0 : seeds - part->runs;
        assert_int_equal(cli_check_left(&o, &r, (enum cli_part_kind)kind),
                         left[kind]);
    }
    done = r.checker.exit_code != CLI_OK || (left[0] == 0 && left[1] == 0) ||
           (o.campaign.seconds != 0 && r.spent_ms >= 5000);
    if (r.shard.index == 1 && !r.is_checked)
        done = false;
    assert_int_equal(cli_check_is_done(&o, &r), done);
}

/* A failure of the first part ends the second, too. */
void
merge_check_left(void)
{
    for (uint64_t seed = 1; seed <= LINES; seed++) {
        merge_seed(seed);
        expect_left();
    }
}
