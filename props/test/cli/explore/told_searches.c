/* told_searches.c -- see told_searches.h. Searches are simulated; what the
 * command prints and writes is that of a model. */
#include "explore/told_searches.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "captured.h"
#include "explore/drawn_searches.h"
#include "explore/told_model.h"
#include "explore_result.h"
#include "prof/version.h"
#include "unit_test.h"

enum { CASES = 150, SECONDS = 60, WORDS_MAX = 20 };

/* Declared as in cli/explore/explore.h, whose name is also that of the
 * explorer's header. */
enum cli_exit cli_explore(int argc, char **argv);

/* ---- Files ---- */

static char *
read_file(const char *path)
{
    FILE *file = fopen(path, "r");
    char *text = NULL;
    size_t room = 0;

    if (file == NULL)
        return NULL;
    if (getdelim(&text, &room, EOF, file) < 0)
        fail_msg("%s is empty", path);
    fclose(file);
    assert_int_equal(unlink(path), 0);
    return text;
}

static void
expect_report(void)
{
    char *found = read_file(searches_path("json"));
    char *wanted = NULL;
    size_t bytes;
    FILE *to = open_memstream(&wanted, &bytes);

    assert_non_null(found);
    assert_non_null(to);
    for (uint32_t i = 0; i < searches_count; i++) {
        fputs(i > 0 ? ",\n" : "  \"results\": [\n", to);
        told_result(to, &searches[i]);
    }
    fputs("\n  ]\n}\n", to);
    assert_int_equal(fclose(to), 0);
    assert_non_null(strstr(found, "  \"results\""));
    assert_string_equal(strstr(found, "  \"results\""), wanted);
    free(found);
    free(wanted);
}

/* A page is of a failure alone. */
static void
expect_pages(void)
{
    const struct search *s = &searches[0];
    const bool fails = s->found.failures > 0;
    char *html = read_file(searches_path("html"));
    char *data = read_file(searches_path("data"));
    char *wanted = NULL;
    size_t bytes;
    FILE *to = open_memstream(&wanted, &bytes);

    assert_non_null(to);
    fprintf(to,
            "{\"format\":\"profsim failure\",\"version\":1,\"profsim\":\"%s\","
            "\n\"runs\":%" PRIu64 ",\n\"command\":\"",
            PROF_VERSION, s->found.runs);
    told_replay(to, s);
    fputs("\"}\n", to);
    assert_int_equal(fclose(to), 0);
    assert_int_equal(html != NULL, asked.html && fails);
    assert_int_equal(data != NULL, asked.data && fails);
    if (html != NULL)
        assert_non_null(strstr(html, wanted));
    if (data != NULL)
        assert_string_equal(data, wanted);
    free(html);
    free(data);
    free(wanted);
}

/* What the execution graphs depend on, as words. */
static void
expect_asked(const struct cli_explored *e)
{
    char text[200];
    int bytes = snprintf(text, sizeof text, "explore %s", asked.kernel->name);

    if (asked.bounded)
        bytes += snprintf(&text[bytes], 20, " --bound %" PRIu32, asked.bound);
    if (asked.unroll > 0)
        bytes += snprintf(&text[bytes], 20, " --unroll %" PRIu32, asked.unroll);
    if (asked.spurious > 0)
        snprintf(&text[bytes], 20, " --spurious %" PRIu32, asked.spurious);
    assert_string_equal(e->asked, text);
}

/* A finished search has a result; a list that is too long is left out. */
static void
expect_explored(void)
{
    const struct search *s = &searches[0];
    const enum cli_exit exit_code = cli_verdict_exit(told_verdict(s));
    const char *path = searches_path("result");
    struct cli_explored e;
    char *wanted = NULL;
    size_t bytes;
    FILE *to = open_memstream(&wanted, &bytes);

    assert_non_null(to);
    told_choices(to, s);
    assert_int_equal(fclose(to), 0);
    if (!asked.result || exit_code == CLI_USAGE ||
        exit_code == CLI_INCOMPLETE) {
        assert_int_not_equal(access(path, F_OK), 0);
        free(wanted);
        return;
    }
    assert_true(cli_explored_read(&e, path));
    assert_int_equal(unlink(path), 0);
    assert_string_equal(e.version, PROF_VERSION);
    expect_asked(&e);
    assert_int_equal(e.shard.index, asked.shard);
    assert_int_equal(e.shard.count, asked.shards);
    assert_int_equal(e.spent_ms, s->took_us / 1000);
    assert_int_equal(e.depth, s->found.shard_depth);
    assert_int_equal(e.loops_count, SEARCHES_LOOPS);
    for (uint64_t i = 0; i < e.loops_count; i++)
        assert_int_equal(e.loops[i], i + 1);
    assert_int_equal(e.runs, s->found.runs);
    assert_int_equal(e.graphs, s->found.graphs);
    assert_int_equal(e.graphs_sum, s->found.graphs_sum);
    assert_int_equal(e.bounded, s->found.bounded);
    assert_int_equal(e.exit_code, exit_code);
    assert_int_equal(e.choices != NULL,
                     s->found.failures > 0 && bytes < CLI_EXPLORED_LIST);
    if (e.choices != NULL)
        assert_string_equal(e.choices, wanted);
    cli_explored_free(&e);
    free(wanted);
}

/* ---- Commands ---- */

static char words[WORDS_MAX][200];
static int words_count;

static void __attribute__((format(printf, 1, 2))) say(const char *format, ...)
{
    va_list values;

    assert_in_range(words_count, 0, WORDS_MAX - 1);
    va_start(values, format);
    vsnprintf(words[words_count++], sizeof words[0], format, values);
    va_end(values);
}

static void
say_asked(void)
{
    words_count = 0;
    say("explore");
    if (asked.kernel != NULL)
        say("%s", asked.kernel->name);
    if (asked.random)
        say("--strategy=%s", sim_strategy_text(asked.strategy));
    if (asked.exhaustive)
        say("--exhaustive");
    if (asked.schedules)
        say("--schedules");
    if (asked.bounded)
        say("--bound=%" PRIu32, asked.bound);
    if (asked.unroll > 0)
        say("--unroll=%" PRIu32, asked.unroll);
    if (asked.spurious > 0)
        say("--spurious=%" PRIu32, asked.spurious);
    say("--seed=%" PRIu64, asked.seed);
    if (asked.runs > 0)
        say("--runs=%" PRIu64, asked.runs);
    if (asked.time_s > 0)
        say("--time=%" PRIu64, asked.time_s);
    if (asked.jobs > 0)
        say("--jobs=%" PRIu32, asked.jobs);
    if (asked.shards > 0)
        say("--shard=%" PRIu32 "/%" PRIu32, asked.shard, asked.shards);
    if (asked.result)
        say("--result=%s", searches_path("result"));
    if (asked.html)
        say("--html=%s", searches_path("html"));
    if (asked.data)
        say("--data=%s", searches_path("data"));
    say("--json=%s", searches_path("json"));
    if (asked.replay != NULL)
        say("--replay");
}

static enum cli_exit
explore(int argc, char **argv)
{
    searches_simulate();
    return cli_explore(argc, argv);
}

/* out: *said, to be freed */
static void
run(struct captured *said)
{
    char *argv[WORDS_MAX + 1] = {NULL};

    for (int i = 0; i < words_count; i++)
        argv[i] = words[i];
    if (asked.replay != NULL) /* it may be long */
        argv[words_count] = (char *)(uintptr_t)asked.replay;
    assert_true(captured_run(said, explore, argv, -1, SECONDS));
}

/* Run the command, which says what the model says. */
static void
expect_told(void)
{
    struct captured said;
    char *wanted = NULL;
    size_t bytes;
    FILE *to = open_memstream(&wanted, &bytes);
    enum cli_exit exit_code;

    assert_non_null(to);
    say_asked();
    exit_code = told_all(to);
    assert_int_equal(fclose(to), 0);
    run(&said);
    assert_string_equal(said.text, wanted);
    assert_int_equal(said.exit_code, exit_code);
    captured_free(&said);
    free(wanted);
}

void
told_searches(const char *folder)
{
    for (uint64_t seed = 1; seed <= CASES; seed++) {
        searches_draw(seed, seed % 60 == 0, folder);
        expect_told();
        expect_report();
        expect_pages();
        expect_explored();
    }
}

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
    if (s->replayed == MISALIGNED || s->replayed == UNUSED)
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
    say_asked();
    tell_replay(to, list);
    assert_int_equal(fclose(to), 0);
    run(&said);
    assert_string_equal(said.text, wanted);
    assert_int_equal(said.exit_code, replay_exit(list));
    captured_free(&said);
    free(wanted);
    if (replay_exit(list) != CLI_USAGE && searches[0].replayed == FAILS) {
        expect_report();
        return;
    }
    wanted = read_file(searches_path("json"));
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
    say_asked();
    run(&said);
    assert_non_null(strstr(said.text, text));
    assert_int_equal(said.exit_code, CLI_USAGE);
    captured_free(&said);
    assert_int_equal(access(path, F_OK) == 0, is_there);
    if (is_there)
        assert_true(cli_explored_read(&after, path));
    assert_memory_equal(&before, &after, sizeof before);
    (void)unlink(searches_path("json")); /* an unknown kernel has a report */
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
        expect_told();
        free(read_file(searches_path("json")));
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
    assert_null(cli_explored_write(&older, searches_path("other.result")));
    asked.whole = true;
    expect_told();
    expect_report();
    expect_explored();
    assert_int_equal(unlink(searches_path("other.result")), 0);
    asked = first;
    expect_long_names();
}
