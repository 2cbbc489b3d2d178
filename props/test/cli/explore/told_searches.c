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

char *
told_file(const char *path)
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

void
told_expect_report(void)
{
    char *found = told_file(searches_path("json"));
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
    char *html = told_file(searches_path("html"));
    char *data = told_file(searches_path("data"));
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
void
told_expect_explored(void)
{
    const struct search *s = &searches[0];
    const enum cli_exit exit_code = cli_verdict_exit(told_verdict(s));
    const char *path =
        searches_path(asked.in_folder ? "shard-1-of-2.result" : "result");
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

void
told_say(void)
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
    if (asked.seed != 1)
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
        say("--result=%s", searches_path(asked.in_folder ? "" : "result"));
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
void
told_run(struct captured *said)
{
    char *argv[WORDS_MAX + 1] = {NULL};

    for (int i = 0; i < words_count; i++)
        argv[i] = words[i];
    if (asked.replay != NULL) /* it may be long */
        argv[words_count] = (char *)(uintptr_t)asked.replay;
    assert_true(captured_run(said, explore, argv, -1, SECONDS));
}

/* Run the command, which says what the model says. */
void
told_expect(void)
{
    struct captured said;
    char *wanted = NULL;
    size_t bytes;
    FILE *to = open_memstream(&wanted, &bytes);
    enum cli_exit exit_code;

    assert_non_null(to);
    told_say();
    exit_code = told_all(to);
    assert_int_equal(fclose(to), 0);
    told_run(&said);
    assert_string_equal(said.text, wanted);
    assert_int_equal(said.exit_code, exit_code);
    captured_free(&said);
    free(wanted);
}

/* Of all kernels, every second passes; of those one is explored to a bound, or
 * was tried by random runs. */
static void
expect_totals(bool random, uint32_t counted)
{
    asked = (struct asked){.random = random, .seed = 1};
    for (uint32_t i = 0; i < searches_count; i++) {
        struct search *s = &searches[i];

        s->found = (struct sim_exhaust_result){.verdict = SIM_VERDICT_EMPTY};
        if (random || (i % 2 == 0 && s->entry->bounded))
            s->found = (struct sim_exhaust_result){.verdict = SIM_VERDICT_FAIL,
                                                   .failures = 1};
        else if (i % 2 == 0)
            s->found.verdict = SIM_VERDICT_PASS;
        if (i < 2 * counted && i % 2 == 0) {
            s->found = (struct sim_exhaust_result){
                .verdict = random ? SIM_VERDICT_UNFINISHED : SIM_VERDICT_PASS,
                .bounded = 1};
            s->choices = 0;
        }
    }
    told_expect();
    told_expect_report();
}

void
told_searches(const char *folder)
{
    for (uint64_t seed = 1; seed <= CASES; seed++) {
        searches_draw(seed, false, folder);
        told_expect();
        told_expect_report();
        expect_pages();
        told_expect_explored();
    }
    searches_draw(1, true, folder);
    for (int i = 0; i < 4; i++)
        expect_totals(i / 2 == 1, (uint32_t)i % 2);
}
