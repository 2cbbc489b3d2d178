/* told_results.c -- runs that are replayed and results that are replaced, of
 * told_searches.h. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "captured.h"
#include "explore/drawn_searches.h"
#include "explore/told_model.h"
#include "explore/told_searches.h"
#include "explore_result.h"
#include "unit_test.h"

/* ---- One run ---- */

/* A list, how many numbers it has (0: it is none), and their sum. */
static const struct list {
    const char *text; /* NULL: `count` ones */
    uint32_t count;
    uint64_t sum;
} lists[] = {{"0", 1, 0},
             {"g3,0,2", 3, 5},
             {"4294967295,1", 2, UINT64_C(4294967296)},
             {"4294967296", 0, 0},
             {"010,19", 2, 29},
             {"g", 0, 0},
             {"", 0, 0},
             {"1,", 0, 0},
             {",1", 0, 0},
             {"1,,2", 0, 0},
             {"gg1", 0, 0},
             {"-1", 0, 0},
             {"1,+1", 0, 0},
             {" 1", 0, 0},
             {"1 2", 0, 0},
             {"1,:", 0, 0},
             {"0x1", 0, 0},
             {"9,8;7", 0, 0},
             {NULL, 65535, 65535},
             {NULL, 65536, 65536},
             {NULL, 65537, 0}};

static void
tell_replay(FILE *to, const struct list *list)
{
    const struct search *s = &searches[0];
    const char *name = s->entry->name;

    if (list->sum == 0 && strcmp(asked.replay, "0") != 0) {
        fprintf(to,
                "profsim: --replay takes up to 65536 numbers with commas, not "
                "'%.40s'\n",
                asked.replay);
        return;
    }
    fprintf(to, "%s: %" PRIu32 " choices, %" PRIu64 "\n",
            s->entry->make()->about, list->count, list->sum);
    if (s->replayed == MISALIGNED)
        fprintf(to,
                "profsim: --replay: the list does not match the choices that "
                "%s makes: choice 0 cannot be %lu; have it or the options "
                "changed?\n",
                name,
                list->text == NULL
                    ? 1
                    : strtoul(&list->text[*list->text == 'g'], NULL, 10));
    if (s->replayed == UNUSED)
        fprintf(to,
                "profsim: --replay: the list does not match the choices that "
                "%s makes; have it or the options changed?\n",
                name);
    if (s->replayed == PASSES)
        fprintf(to, "%s: the run passes\n", name);
    if (s->replayed != FAILS)
        return;
    fprintf(to, "report of %s\n\n  replay: ", s->entry->make()->about);
    told_replay(to, s);
    fputs("\n\n", to);
}

static enum cli_exit
replay_exit(const struct list *list)
{
    const struct search *s = &searches[0];

    if (list->sum == 0 && strcmp(asked.replay, "0") != 0)
        return CLI_USAGE;
    if (s->replayed == FAILS)
        return cli_verdict_exit(told_verdict(s));
    return s->replayed == PASSES ? CLI_OK : CLI_USAGE;
}

static void
expect_replayed(const struct list *list)
{
    struct captured said;
    char *wanted = NULL;
    size_t bytes;
    FILE *to = open_memstream(&wanted, &bytes);

    assert_non_null(to);
    told_say();
    tell_replay(to, list);
    assert_int_equal(fclose(to), 0);
    told_run(&said);
    assert_string_equal(said.text, wanted);
    assert_int_equal(said.exit_code, replay_exit(list));
    captured_free(&said);
    free(wanted);
    if (replay_exit(list) != CLI_USAGE && searches[0].replayed == FAILS) {
        told_expect_report();
        return;
    }
    wanted = told_file(searches_path("json"));
    assert_int_equal(strstr(wanted,
                            "\"verdict\": \"sampled\",\n      \"text\": "
                            "\"one run, by its choices\"") != NULL,
                     replay_exit(list) == CLI_OK);
    free(wanted);
}

void
told_replays(const char *folder)
{
    static char ones[2 * 65537];
    const size_t count = sizeof lists / sizeof *lists;

    memset(ones, '1', sizeof ones);
    for (size_t i = 0; i < 3 * count; i++) {
        const struct list *list = &lists[i % count];
        struct search *s = &searches[0];

        searches_draw(1000 + i, false, folder);
        for (uint32_t k = 1; list->text == NULL && k <= list->count; k++)
            ones[2 * k - 1] = k == list->count ? '\0' : ',';
        asked.replay = list->text != NULL ? list->text : ones;
        asked.result = asked.html = asked.data = false;
        asked.schedules = asked.exhaustive = !asked.random;
        asked.shards = 0;
        asked.jobs = 0;
        s->replayed = (enum replayed)(i / 2 % REPLAYED_COUNT);
        s->choices %= 5;
        s->found.runs = 1;
        s->found.failures = 1;
        s->found.verdict = SIM_VERDICT_FAIL;
        s->found.graphs = s->found.states = 0;
        s->found.found_by_sampling = false;
        s->found.difference[0] = s->found.trouble[0] = '\0';
        s->found.options.strategy = asked.strategy;
        s->found.options.bounded = asked.bounded;
        s->found.options.preemptions_max = asked.bound;
        s->found.options.reduced = asked.replay[0] == 'g';
        expect_replayed(list);
    }
}

/* ---- Older results ---- */

/* The command is refused, and no file is changed. */
static void
expect_refused(const char *text)
{
    const char *path = searches_path("result");
    const bool is_there = access(path, F_OK) == 0;
    struct cli_explored before = {.runs = 0};
    struct cli_explored after = {.runs = 0};
    struct captured said;

    if (is_there)
        assert_true(cli_explored_read(&before, path));
    told_say();
    told_run(&said);
    assert_non_null(strstr(said.text, text));
    assert_string_equal(strchr(said.text, '\n'), "\n"); /* one line */
    assert_int_equal(said.exit_code, CLI_USAGE);
    captured_free(&said);
    assert_int_equal(access(path, F_OK) == 0, is_there);
    if (is_there)
        assert_true(cli_explored_read(&after, path));
    assert_memory_equal(&before, &after, sizeof before);
    (void)unlink(searches_path("json")); /* an unknown kernel has a report */
}

/* Whatever it is, a file that is no result stays. */
static void
expect_no_result(void)
{
    const char *path = searches_path("result");
    FILE *file = fopen(path, "w");
    struct captured said;
    char *text;

    assert_non_null(file);
    fputs("a diary\n", file);
    assert_int_equal(fclose(file), 0);
    told_say();
    told_run(&said);
    assert_int_equal(said.exit_code, CLI_USAGE);
    captured_free(&said);
    text = told_file(path);
    assert_string_equal(text, "a diary\n");
    free(text);
}

/* Results of every kind are written, and named after their shard in a folder.
 */
static void
expect_kinds(void)
{
    struct search *s = &searches[0];
    const struct sim_exhaust_result passed = s->found;
    const struct asked first = asked;

    for (int i = 0; i < 6; i++) {
        asked.bounded = i == 0;
        asked.unroll = asked.spurious = i == 0 ? 2 : 0;
        asked.bound = 7;
        asked.in_folder = i == 1;
        asked.shard = asked.shards = i == 2 ? 1 : 2;
        s->found.failures = i > 2;
        s->found.verdict = i > 2 ? SIM_VERDICT_FAIL : SIM_VERDICT_PASS;
        s->found.first_failure.failure.kind = SIM_FAIL_RACE;
        /* The longest list is one byte too long with a g. */
        s->choices = i > 3 ? 32768 : 3;
        s->found.options.reduced = i != 4;
        asked.shard = 1;
        told_expect();
        told_expect_report();
        told_expect_explored();
        s->found = passed;
        asked = first;
    }
}

/* The name of a kernel is part of the result. */
static void
expect_long_names(void)
{
    for (int bytes = 128; bytes < 130; bytes++) {
        struct sim_kernel_entry named = *searches[0].entry;
        char name[160];

        memset(name, 'x', sizeof name);
        name[bytes] = '\0';
        named.name = name;
        asked.kernel = &named;
        expect_refused(bytes == 128 ? "profsim: there is no kernel "
                                    : "profsim: --result: the name is too "
                                      "long\n");
    }
}

void
replaced_results(const char *folder)
{
    static const char another[] = "it is the result of another search, shard "
                                  "or build; write another file\n";
    struct cli_explored older;
    struct asked first;

    searches_draw(1, false, folder);
    asked = (struct asked){.kernel = searches[0].entry,
                           .seed = 1,
                           .shard = 1,
                           .shards = 2,
                           .result = true};
    first = asked;
    searches[0].found = (struct sim_exhaust_result){.runs = 5, .graphs = 3};
    for (int i = 0; i < 2; i++) { /* the second replaces the first */
        searches[0].found.runs += 2;
        told_expect();
        free(told_file(searches_path("json")));
    }
    assert_true(cli_explored_read(&older, searches_path("result")));
    assert_int_equal(older.runs, 9);
    for (int i = 0; i < 5; i++) {
        asked.bounded = i == 0;
        asked.unroll = i == 1;
        asked.spurious = i == 2;
        asked.shard = i == 3 ? 2 : 1;
        asked.shards = i == 4 ? 3 : 2;
        expect_refused(another);
    }
    asked = first;
    for (int i = 0; i < 2; i++) {
        struct cli_explored other = older;
        char *first_letter = i == 0 ? other.version : other.program;

        *first_letter = *first_letter == '1' ? '2' : '1';
        assert_null(cli_explored_write(&other, searches_path("result")));
        expect_refused(another);
    }
    assert_int_equal(unlink(searches_path("result")), 0);
    /* Another shard has found that the search cannot be split. */
    older.depth = 0;
    older.shard.index = 2;
    for (int i = 0; i < 2; i++) { /* but a hidden file is no result */
        const char *name = i == 0 ? ".other.result" : "other.result";

        assert_null(cli_explored_write(&older, searches_path(name)));
        asked.whole = i == 1;
        told_expect();
    }
    assert_int_equal(unlink(searches_path(".other.result")), 0);
    told_expect_report();
    told_expect_explored();
    assert_int_equal(unlink(searches_path("other.result")), 0);
    asked = first;
    expect_no_result();
    expect_kinds();
    expect_long_names();
}
