/*
 * test_explore_report.c -- reports to the byte: fixtures/explore/reported/ has
 * the reports of the executions of reported.c, written by hand as text and
 * JSON.
 *
 * Two figures of a report are not compared exactly: how often runs with given
 * first choices fail is measured, so the curve is compared with the true
 * chances; how many runs shrinking took is not compared.
 */
#include "engine.h"
#include "made_runs.h"
#include "named_places.h"
#include "reported.h"
#include "sampled_report.h"
#include "slice_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit_test.h"

static const char curve_head[] =
    "\n  How likely it is once the first choices are given"
    " (500 random runs each):\n";

static uint32_t prefix_runs; /* runs of which the first choices are given */

struct report {
    char *text;
    char *data;
    struct sim_exhaust_result result;
};

static struct report
report_of(const struct sim_kernel *kernel)
{
    struct report r = {.text = NULL};
    size_t text_bytes;
    size_t data_bytes;
    FILE *text = open_memstream(&r.text, &text_bytes);
    FILE *data = open_memstream(&r.data, &data_bytes);

    assert_non_null(text);
    assert_non_null(data);
    sim_explore_exhaust(kernel, &(struct sim_exhaust_options){0}, &r.result);
    assert_int_equal(r.result.verdict, SIM_VERDICT_FAIL);
    sim_explore_report(text, data, kernel, &r.result);
    assert_int_equal(fclose(text), 0);
    assert_int_equal(fclose(data), 0);
    return r;
}

static void
release(struct report *r)
{
    free(r->text);
    free(r->data);
    free(r->result.choices);
}

/* ---- What a hand wrote ---- */

static char *
text_of(const char *path)
{
    FILE *file = fopen(path, "r");
    char *text = NULL;
    size_t bytes = 0;

    if (file == NULL || getdelim(&text, &bytes, '\0', file) < 0)
        fail_msg("cannot read %s", path);
    fclose(file);
    return text;
}

static void
check_text(const char *got, const char *name, const char *kind)
{
    char path[128];
    char *want;
    const char *at;

    snprintf(path, sizeof path, "fixtures/explore/reported/%s.%s", name, kind);
    want = text_of(path);
    at = want;
    for (uint32_t line = 1; *got != '\0' || *at != '\0'; line++) {
        const size_t have = strcspn(got, "\n");
        const size_t need = strcspn(at, "\n");

        if (have != need || memcmp(got, at, have) != 0)
            fail_msg("%s:%u: got\n%.*s\nwanted\n%.*s", path, (unsigned)line,
                     (int)have, got, (int)need, at);
        got += have + (got[have] != '\0');
        at += need + (at[need] != '\0');
    }
    free(want);
}

/* Compare "shrunk from 3 choices to 2 in 41 runs" without the 41. returns: that
 * number */
static uint32_t
cut_runs(char *text)
{
    char *in = strstr(text, "  shrunk from ");
    char *end;
    uint32_t runs;

    assert_non_null(in);
    in = strstr(in, " in ");
    assert_non_null(in);
    runs = (uint32_t)strtoul(in + 4, &end, 10);
    assert_true(strncmp(end, " runs", 5) == 0);
    memmove(in, end + 5, strlen(end + 5) + 1);
    return runs;
}

/* ---- Curves ---- */

struct chances {
    uint32_t least; /* in percent, while some choice is still open */
    uint32_t most;
};

/*
 * Check the points of the curve: in the text each has a mark for every 2.5
 * percent, and the JSON must have the same points.
 */
static void
check_curve(const char *text, const char *data, uint32_t count,
            struct chances chances)
{
    const uint32_t step = count / 24 + 1;
    char *want = NULL;
    size_t bytes;
    FILE *pairs = open_memstream(&want, &bytes);
    uint32_t points = 0;

    assert_non_null(pairs);
    assert_true(strncmp(text, curve_head, sizeof curve_head - 1) == 0);
    text += sizeof curve_head - 1;
    fputs(",\n\"curve_runs\":500,\"curve\":[", pairs);
    for (uint32_t p = 0;; p = p + step < count ? p + step : count) {
        char line[128];
        uint32_t given;
        uint32_t percent;
        int length;

        assert_int_equal(sscanf(text, "%u %u%%", &given, &percent), 2);
        assert_int_equal(given, p);
        if (p < count || count == 0)
            assert_in_range(percent, chances.least, chances.most);
        else
            assert_int_equal(percent, 100);
        length = snprintf(line, sizeof line, "    %3u  %3u%%  ", p, percent);
        memset(&line[length], '#', percent * 2 / 5);
        strcpy(&line[length + (int)(percent * 2 / 5)], "\n");
        assert_true(strncmp(text, line, strlen(line)) == 0);
        text += strlen(line);
        fprintf(pairs, "%s[%u,%u]", points++ > 0 ? "," : "", p, percent);
        if (p == count)
            break;
    }
    assert_int_equal(prefix_runs, 500 * points);
    assert_string_equal(text, "");
    fputs("]", pairs);
    fclose(pairs);
    assert_string_equal(data, want);
    free(want);
}

static void
check_report(const struct sim_kernel *kernel, struct chances chances)
{
    struct report r = (prefix_runs = 0, report_of(kernel));
    char *curve = strstr(r.text, curve_head);
    char *curve_data = strstr(r.data, ",\n\"curve_runs\"");

    assert_non_null(curve);
    assert_non_null(curve_data);
    check_curve(curve, curve_data, r.result.choices_count, chances);
    *curve = '\0';
    *curve_data = '\0';
    assert_in_range(cut_runs(r.text), 1, 2000);
    check_text(r.text, kernel->name, "txt");
    check_text(r.data, kernel->name, "json");
    release(&r);
}

/* ---- Tests ---- */

TEST(each_kind_of_event_has_its_words)
{
    struct sim_kernel kernel = fixtures_reported[FIXTURES_EVENTS];

    kernel.context = calloc(16, sizeof(uint32_t)); /* it has no symbol */
    assert_non_null(kernel.context);
    check_report(&kernel, (struct chances){100, 100});
    free(kernel.context);
}

TEST(an_old_value_names_the_store_that_was_read_and_the_newest)
{
    check_report(&fixtures_reported[FIXTURES_OLD_STORE],
                 (struct chances){1, 60});
    check_report(&fixtures_reported[FIXTURES_OLD_VALUE],
                 (struct chances){1, 60});
}

TEST(a_store_names_the_one_that_it_comes_in_front_of)
{
    check_report(&fixtures_reported[FIXTURES_EARLY_STORE],
                 (struct chances){1, 60});
}

/* The failure needs eight choices to be 1: one run in 256. */
TEST(each_kind_of_choice_has_its_words)
{
    check_report(&fixtures_reported[FIXTURES_CHOICES], (struct chances){0, 60});
}

/* Only the last of 47 choices matters: one run in four fails. */
TEST(a_curve_of_many_choices_has_25_points)
{
    check_report(&fixtures_reported[FIXTURES_LAST_CHOICE],
                 (struct chances){15, 35});
}

TEST(a_deadlock_says_where_each_thread_is)
{
    check_report(&fixtures_reported[FIXTURES_DEADLOCK],
                 (struct chances){1, 100});
}

TEST(a_race_names_both_accesses_and_nothing_else)
{
    check_report(&fixtures_reported[FIXTURES_RACE], (struct chances){100, 100});
}

/* It matters who had the lock before, but not what that thread did
 * afterwards. */
TEST(what_a_failure_does_not_depend_on_is_left_out)
{
    check_report(&fixtures_reported[FIXTURES_LOCKED], (struct chances){20, 80});
}

/* Each of three threads depends on what the one before it did. */
TEST(what_a_failure_depends_on_is_followed_through_threads)
{
    check_report(&fixtures_reported[FIXTURES_CHAIN], (struct chances){1, 60});
}

/* ---- Which events a failure depends on ---- */

static const struct sim_run *answer; /* what runs do; NULL: as they should */

enum sim_end __real_sim_engine_run(struct sim_choices *choices,
                                   struct sim_run *run);
enum sim_end __wrap_sim_engine_run(struct sim_choices *choices,
                                   struct sim_run *run);

enum sim_end
__wrap_sim_engine_run(struct sim_choices *choices, struct sim_run *run)
{
    prefix_runs += choices->backend == SIM_PREFIX;
    if (made_run != NULL) {
        made_run(choices, run);
        return run->end;
    }
    if (answer == NULL)
        return __real_sim_engine_run(choices, run);
    *run = *answer;
    return run->end;
}

enum { EVENTS = 24 };

static uint32_t
draw(uint32_t bound)
{
    static uint64_t state = 7;

    state = state * 6364136223846793005U + 1442695040888963407U;
    return (uint32_t)(state >> 33) % bound;
}

/* An event before `at`, or none. */
static uint32_t
draw_event(uint32_t at)
{
    return at == 0 || draw(3) == 0 ? TRACE_MAX : draw(at);
}

static void
draw_trace(struct trace_event *trace, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        trace[i] = (struct trace_event){
            .op =
                draw(4) == 0 ? SIM_OP_THREAD : (enum sim_op)draw(SIM_OP_COUNT),
            .thread = draw(SIM_THREADS_MAX),
            .ok = draw(2) != 0,
            .value = draw(SIM_THREADS_MAX),
            .address = 64 * draw(5),
            .from = draw_event(i),
            .newest = draw_event(i),
            .behind = draw(3) == 0,
            .before = draw_event(i),
            .what = draw(2) == 0 ? "create" : "join",
        };
    }
}

static struct sim_failure
draw_failure(void)
{
    static const enum sim_failure_kind kinds[] = {
        SIM_FAIL_RACE, SIM_FAIL_DEADLOCK, SIM_FAIL_LIVELOCK};
    const uint32_t kind = draw(8);

    return (struct sim_failure){.kind = kind < 3 ? kinds[kind] : SIM_FAIL_CHECK,
                                .thread = draw(SIM_THREADS_MAX),
                                .site = draw(8) != 0,
                                .other_site = draw(8) == 0,
                                .text = "it fails"};
}

static void
check_slice(const struct trace_event *trace, uint32_t count)
{
    static bool want[TRACE_MAX];
    static bool needed[TRACE_MAX];
    const struct sim_failure failure = draw_failure();
    uint32_t kept = slice_model(trace, count, &failure, want);
    struct sim_run run = {.end = SIM_END_FAILED, .failure = failure};
    struct sim_choice list[4];
    struct sim_choices choices;
    const uint32_t other = draw(8);

    run.end = other == 1 ? SIM_END_COMPLETE : run.end;
    run.failure.kind += other == 2;
    run.failure.site += other == 3;
    run.failure.text[0] = other == 4 ? 'I' : 'i';
    if (kept < count && other >= 1 && other <= 4) {
        kept = count; /* the run does not fail, or in another way */
        memset(want, true, sizeof want);
    }
    memset(needed, other > 5, sizeof needed);
    sim_choices_init(&choices, list, 4);
    answer = &run;
    assert_int_equal(sim_slice(trace, count, &failure, &choices, needed), kept);
    answer = NULL;
    assert_memory_equal(needed, want, count * sizeof *want);
}

TEST(a_slice_has_what_a_failure_depends_on_and_no_more)
{
    static struct trace_event trace[TRACE_MAX];

    for (uint32_t i = 0; i < 10000; i++) {
        const uint32_t count = 1 + draw(EVENTS);

        draw_trace(trace, count);
        check_slice(trace, count);
    }
    draw_trace(trace, TRACE_MAX); /* as many as there may be */
    check_slice(trace, TRACE_MAX);
}

/* ---- Failures of random runs ---- */

TEST(a_failure_of_random_runs_is_shown_as_its_shrunk_list_runs)
{
    for (uint32_t i = FIXTURES_OLD_STORE; i < FIXTURES_REPORTED_COUNT; i++) {
        sampled_report_check(&fixtures_reported[i], 0, i);
        sampled_report_check(&fixtures_reported[i], 70, i + 100);
    }
}

int
main(void)
{
    /* The first needs a process that has named no place. */
    return named_places_tests() + tests_run(NULL, NULL) + made_runs_tests();
}
