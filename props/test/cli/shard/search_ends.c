/*
 * search_ends.c -- tests of test_merge.c: what `profsim check` says at the end
 * of a search, of random numbers of runs and goals met; which worlds its parts
 * run; and how it prints a command into little room.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <sys/resource.h>
#include <unistd.h>

#include "audit_command.h"
#include "build_program.h"
#include "check.h"
#include "check_search.h"
#include "command.h"
#include "conform.h"
#include "corpus.h"
#include "generate.h"
#include "list_command.h"
#include "merge.h"
#include "merge_case.h"
#include "mutants.h"
#include "rows.h"
#include "subject_file.h"
#include "unit_test.h"

enum { LONG = 20000, TEXT_BYTES = 1 << 15, CASES = SANITIZED ? 40 : 120 };

/* ---- The end of a search ---- */

static struct drawn {
    struct cli_check_options options;
    struct cli_search search;
    bool fails; /* the search has failed */
} drawn;

static bool
is_in(props_set set, int property)
{
    return (set & PROPS_BIT(property)) != 0;
}

static uint64_t
met(int property, bool traced)
{
    const struct props_outcome *outcome =
        traced ? &drawn.search.traces : &drawn.search.heaps;

    return outcome->cover
        .hits[props_property_cover((enum props_property)property)];
}

static void
draw_outcome(struct props_outcome *outcome, uint32_t rarity)
{
    static const uint64_t runs[] = {0, 1, LONG - 1, LONG, LONG + 1};

    outcome->runs = runs[merge_below(5)];
    outcome->events = outcome->runs * 10 + merge_below(9);
    for (int i = 0; i < COVER_COUNT && outcome->runs > 0; i++)
        outcome->cover.hits[i] =
            merge_below(rarity) > 0 ? 1 + merge_below(4) : 0;
}

static void
draw(uint64_t seed)
{
    static const uint32_t rarities[] = {2, 40, 1000000};

    merge_seed(seed);
    memset(&drawn, 0, sizeof drawn);
    drawn.options.campaign.rules = prof_rules_all[merge_below(3)];
    drawn.options.campaign.asked = PROPS_ALL;
    drawn.options.campaign.seed_first = 5;
    drawn.options.campaign.seed_last = 90;
    drawn.options.campaign.seconds = merge_below(2) * 7;
    if (merge_below(2) > 0) {
        drawn.options.named = true;
        drawn.options.campaign.asked = 0;
        for (uint32_t left = 1 + merge_below(4); left > 0; left--)
            drawn.options.campaign.asked |=
                PROPS_BIT(merge_below(PROPS_U1 - 1));
    }
    draw_outcome(&drawn.search.heaps, rarities[merge_below(3)]);
    draw_outcome(&drawn.search.traces, rarities[merge_below(3)]);
    drawn.fails = merge_below(4) == 0;
    drawn.search.heaps_done = !drawn.fails || merge_below(2) > 0;
    drawn.search.traces_done = !drawn.fails;
    drawn.search.missing = merge_below(4) == 0;
    for (int i = 0; i < PROPS_COUNT; i++) {
        if (!props_checker_exists((enum props_property)i) ||
            !is_in(drawn.options.campaign.asked, i) || merge_below(3) == 0)
            continue;
        drawn.search.checked |= PROPS_BIT(i);
        drawn.search.cells[i] = 1 + merge_below(99);
    }
    if (drawn.fails && drawn.search.heaps_done)
        drawn.search.reported = PROPS_BIT(merge_below(PROPS_U1 - 1));
}

static enum cli_exit
end_search(int argc, char **argv)
{
    struct cli_report report;
    enum cli_exit exit_code;

    cli_report_begin(&report, argc, argv);
    drawn.options.report = &report;
    exit_code = cli_search_end(&drawn.options, &drawn.search,
                               drawn.fails ? CLI_BROKEN : CLI_OK);
    for (size_t i = 0; i < report.results_count; i++) {
        const struct cli_result *r = report.results[i];

        printf("%s, %s: %s", r->subject, r->name, cli_verdict_word(r->verdict));
        for (uint32_t k = 0; k < r->counts_count; k++)
            printf(", %s %" PRIu64, r->counts[k].name, r->counts[k].value);
        if (r->has_seeds)
            printf(", seeds %" PRIu64 " %" PRIu64, r->seed_first, r->seed_last);
        putchar('\n');
    }
    return cli_report_drop(&report, exit_code);
}

/* Did each kind of worlds that ran do so often enough to meet every goal? */
static bool
was_long(void)
{
    const uint64_t runs[] = {drawn.search.heaps.runs, drawn.search.traces.runs};

    if (runs[0] + runs[1] == 0)
        return false;
    return (runs[0] == 0 || runs[0] >= LONG) &&
           (runs[1] == 0 || runs[1] >= LONG);
}

/* What is printed if nothing failed. returns: is the search complete? */
static bool
expect_verdict(FILE *to)
{
    const struct cli_search *s = &drawn.search;
    bool complete = true;
    int unmet = 0;

    for (int i = 0; i < COVER_OF_LIBRARY; i++) {
        if (was_long() && drawn.options.campaign.asked == PROPS_ALL &&
            s->heaps.cover.hits[i] + s->traces.cover.hits[i] == 0 &&
            props_cover_can((enum props_cover)i,
                            drawn.options.campaign.rules)) {
            fprintf(to, "never reached: %s (%s)\n",
                    props_cover_id((enum props_cover)i),
                    props_cover_text((enum props_cover)i));
            complete = false;
        }
    }
    for (int i = 0; i < PROPS_COUNT; i++) {
        if (!is_in(drawn.options.campaign.asked, i) ||
            met(i, false) + met(i, true) > 0 ||
            props_checker_exists((enum props_property)i))
            continue;
        fprintf(to, "%s%s",
                unmet++ == 0
                    ? "every property that was tried holds; not tried: "
                    : ", ",
                props_property_id((enum props_property)i));
    }
    fputs(unmet == 0 ? "every property holds\n" : "\n", to);
    return complete && (unmet == 0 || (!drawn.options.named && !was_long()));
}

static const char *
verdict_of(int property, bool traced)
{
    const bool done =
        traced ? drawn.search.traces_done : drawn.search.heaps_done;

    if (is_in(drawn.search.checked, property))
        return "holds";
    if (!done)
        return "stopped";
    if (met(property, traced) > 0)
        return drawn.search.missing ? "incomplete" : "holds";
    return drawn.options.named || was_long() ? "incomplete" : "not-tried";
}

static void
expect_results(FILE *to)
{
    for (int i = 0; i < COVER_OF_LIBRARY && !drawn.fails; i++) {
        if (was_long() && drawn.options.campaign.asked == PROPS_ALL &&
            drawn.search.heaps.cover.hits[i] +
                    drawn.search.traces.cover.hits[i] ==
                0 &&
            props_cover_can((enum props_cover)i, drawn.options.campaign.rules))
            fprintf(to, "coverage, %s: incomplete\n",
                    props_cover_id((enum props_cover)i));
    }
    for (int i = 0; i < PROPS_COUNT; i++) {
        const bool traced = is_in(PROPS_OF_TRACES, i);
        const struct props_outcome *o =
            traced ? &drawn.search.traces : &drawn.search.heaps;

        if (!is_in(drawn.options.campaign.asked & ~drawn.search.reported, i))
            continue;
        fprintf(to, "%s%s, %s: %s", traced ? "" : "rules ",
                traced ? "traces" : drawn.options.campaign.rules->name,
                props_property_id((enum props_property)i),
                verdict_of(i, traced));
        if (is_in(drawn.search.checked, i))
            fprintf(to, ", cells %" PRIu64, drawn.search.cells[i]);
        if (traced ? drawn.search.traces_done : drawn.search.heaps_done) {
            fprintf(to,
                    ", runs %" PRIu64 ", events %" PRIu64 ", tried %" PRIu64,
                    o->runs, o->events, met(i, traced));
            if (drawn.options.campaign.seconds == 0)
                fputs(", seeds 5 90", to);
        }
        fputc('\n', to);
    }
}

void
merge_search_ends(void)
{
    static char text[TEXT_BYTES];
    char word[] = "check";
    char *words[] = {word, NULL};

    for (uint64_t seed = 1; seed <= CASES; seed++) {
        FILE *to = fmemopen(text, sizeof text, "w");
        struct captured said;
        bool complete = true;

        draw(seed);
        assert_non_null(to);
        if (!drawn.fails)
            complete = expect_verdict(to);
        expect_results(to);
        assert_int_equal(fclose(to), 0);
        assert_true(captured_run(&said, end_search, words, -1, 60));
        assert_string_equal(said.text, text);
        merge_expect_exit(&said, drawn.fails ? 2 : complete ? 0 : 6);
        captured_free(&said);
    }
}

/* ---- The parts of a search ---- */

void
merge_parts(void)
{
    static const struct {
        props_set asked;
        bool heaps, traces;
        uint32_t worlds; /* of the second part */
    } parts[] = {
        {PROPS_ALL, true, true, SIM_WORLDS_BOTH | SIM_WORLDS_TRACED},
        {PROPS_BIT(PROPS_H1), true, false, SIM_WORLDS_BOTH | SIM_WORLDS_TRACED},
        {PROPS_BIT(PROPS_T1), false, true, SIM_WORLDS_TRACED},
        {PROPS_BIT(PROPS_X1), false, true, SIM_WORLDS_BOTH},
        {PROPS_BIT(PROPS_X1) | PROPS_BIT(PROPS_T1), false, true,
         SIM_WORLDS_BOTH | SIM_WORLDS_TRACED},
        {PROPS_BIT(PROPS_H1) | PROPS_BIT(PROPS_T1), true, true,
         SIM_WORLDS_BOTH | SIM_WORLDS_TRACED},
    };

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        for (uint32_t seconds = 0; seconds < 4; seconds++) {
            const bool both = parts[i].heaps && parts[i].traces;
            const struct cli_check_options options = {
                .campaign = {.asked = parts[i].asked, .seconds = seconds}};
            struct props_campaign part;

            assert_int_equal(cli_check_part(&options, CLI_PART_HEAPS, &part),
                             parts[i].heaps);
            assert_int_equal(part.worlds, 0);
            /* The two share the time, and a second is not cut to none. */
            assert_int_equal(part.seconds,
                             both ? seconds / 2 + seconds % 2 : seconds);
            assert_int_equal(cli_check_part(&options, CLI_PART_TRACES, &part),
                             parts[i].traces);
            assert_int_equal(part.worlds, parts[i].worlds);
        }
    }
}

/* ---- A command in little room ---- */

void
merge_short_commands(void)
{
    static const char one[] = "profsim check --subject 'a b'";
    static const char two[] = "profsim check --subject 'a b' 'c d'";

    for (size_t room = 2; room < sizeof two + 4; room++) {
        char text[sizeof two + 8];
        const size_t of_one = room < sizeof one ? room - 1 : sizeof one - 1;
        const size_t of_two = room < sizeof two ? room - 1 : sizeof two - 1;

        memset(text, '#', sizeof text);
        cli_subject_command(text, room, "check", "a b");
        assert_memory_equal(text, one, of_one);
        assert_int_equal(text[of_one], '\0');
        for (size_t i = room; i < sizeof text; i++)
            assert_int_equal(text[i], '#');
        if (room <= sizeof one)
            continue;
        cli_subject_command_on(text, room, "check", "a b", "c d");
        assert_memory_equal(text, two, of_two);
        assert_int_equal(text[of_two], '\0');
        for (size_t i = room; i < sizeof text; i++)
            assert_int_equal(text[i], '#');
    }
}

/* ---- The audit of live profilers ---- */

/* The tests are not in the folder of the command, so there is no script. */
void
merge_live_audit(void)
{
    char words[2][8] = {"audit", "--live"};
    char *argv[] = {words[0], words[1], NULL};
    struct captured said;

    assert_true(captured_run(&said, cli_audit, argv, -1, 60));
    merge_expect_exit(&said, 1);
    merge_expect(&said, true, "--live works in the source tree alone");
    captured_free(&said);
}

/* ---- What is shown of a snapshot ---- */

/* Two sizes of one stack, stacks of the same depth, and one that is the
 * beginning of another. */
void
merge_explained(void)
{
    static const char scenario[] =
        "profsim scenario 2\nrules exact\nbuckets 64\n"
        "stack s1 = 0x401010>0x401000\n"
        "stack s2 = 0x401020>0x401000\n"
        "stack s3 = 0x401000\nstack s4 = 0x401030\n\n"
        "alloc o1 s1 16\nalloc o2 s1 32\n"
        "alloc o3 s2 16\nalloc o4 s3 16\n"
        "alloc o5 s1 16\nalloc o6 s4 16\ngc-mark\ngc-terminate\n"
        "gc-flush\ngc-mark\ngc-terminate\n"
        "gc-flush\nsnapshot-all\n";
    char word[] = "explain";
    char path[64];
    char *argv[] = {word, path, NULL};
    struct captured said;
    FILE *file;

    snprintf(path, sizeof path, "%s/a.sim", merge_folder());
    file = fopen(path, "w");
    assert_non_null(file);
    fputs(scenario, file);
    assert_int_equal(fclose(file), 0);
    assert_true(captured_run(&said, cli_explain, argv, -1, 60));
    merge_expect_exit(&said, 0);
    merge_expect(&said, true,
                 "  13   snapshot-all\n"
                 "          5 buckets: ok\n"
                 "          s1 16 bytes: 2 allocated, 0 freed\n"
                 "          s1 32 bytes: 1 allocated, 0 freed\n"
                 "          s2 16 bytes: 1 allocated, 0 freed\n"
                 "          s3 16 bytes: 1 allocated, 0 freed\n"
                 "          s4 16 bytes: 1 allocated, 0 freed\n"
                 "          cycle");
    merge_expect(&said, false, "without it the failure disappears");
    captured_free(&said);
    assert_int_equal(remove(path), 0);
}

/* ---- Words ---- */

static const struct {
    const char *name;
    enum cli_exit (*run)(int argc, char **argv);
} commands[] = {
    {"run", cli_run},
    {"check", cli_check},
    {"merge", cli_merge},
    {"corpus", cli_corpus},
    {"shard", cli_list_shard},
    {"conform", cli_conform},
    {"bias", cli_bias},
    {"audit", cli_audit},
    {"explore", cli_explore_any},
    {"mutants", cli_mutants},
    {"replay", cli_replay},
    {"explain", cli_explain},
    {"shrink", cli_shrink},
};

static void
expect_words(size_t which, const char *word, int exit_code, const char *begin)
{
    char words[2][64];
    char *argv[] = {words[0], words[1], NULL};
    struct captured said;
    char wanted[128];

    snprintf(words[0], sizeof words[0], "%s", commands[which].name);
    snprintf(words[1], sizeof words[1], "%s", word);
    snprintf(wanted, sizeof wanted, "%s%s", begin,
             exit_code == 0 ? commands[which].name : "");
    assert_true(captured_run(&said, commands[which].run, argv, -1, 60));
    merge_expect_exit(&said, exit_code);
    if (strncmp(said.text, wanted, strlen(wanted)) != 0 ||
        strstr(&said.text[1], "profsim: ") != NULL)
        fail_msg("%s %s:\n%s", words[0], word, said.text);
    captured_free(&said);
}

void
merge_helps(void)
{
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        expect_words(i, "--help", 0, "usage: profsim ");
        expect_words(i, "--sneeze", 1, "profsim: ");
    }
    expect_words(3, "one", 1, "profsim: corpus: needs SHARED and LOCAL; ");
}

/* ---- Lists ---- */

static enum cli_exit
shard_with_few_files(int argc, char **argv)
{
    const struct rlimit few = {16, 16};

    return setrlimit(RLIMIT_NOFILE, &few) == 0 ? cli_list_shard(argc, argv)
                                               : CLI_CRASH;
}

/* Items 0 to 39, of which the command `test bad != ITEM` fails at one. */
void
merge_lists(void)
{
    enum { ITEMS = 40 };
    static const int bad[] = {0, 1, 20, ITEMS - 1};
    char result[64];
    char path[128];
    char bad_item[16];
    char words[3][16] = {"test", "!=", "shard"};
    char *argv[] = {words[2],
                    (char[]){"--asked"},
                    (char[]){"make mutants"},
                    (char[]){"--result"},
                    result,
                    words[0],
                    bad_item,
                    words[1],
                    NULL};

    snprintf(result, sizeof result, "%s/", merge_folder());
    snprintf(path, sizeof path, "%sshard-1-of-1.result", result);
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        FILE *const input = tmpfile();
        struct captured said;
        struct cli_rows rows;

        assert_non_null(input);
        for (int i = 0; i < ITEMS; i++)
            fprintf(input, "i%d\n", i);
        assert_int_equal(fflush(input), 0);
        rewind(input);
        snprintf(bad_item, sizeof bad_item, "i%d", bad[k]);
        assert_true(
            captured_run(&said, shard_with_few_files, argv, fileno(input), 60));
        merge_expect_exit(&said, 2);
        merge_expect(&said, true, "make mutants: 40 of 40 rows");
        assert_true(cli_rows_read(&rows, path));
        for (int i = 0; i < ITEMS; i++)
            assert_int_equal(rows.rows[i].exit_code, i == bad[k] ? 2 : 0);
        cli_rows_free(&rows);
        captured_free(&said);
        assert_int_equal(unlink(path), 0);
        fclose(input);
    }
}
