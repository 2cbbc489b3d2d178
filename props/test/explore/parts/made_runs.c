/*
 * made_runs.c -- see made_runs.h.
 *
 * A function of the answers stands for the explored program, so each report is
 * known to the byte.
 */
#include "made_runs.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "failing_run.h"
#include "unit_test.h"

void (*made_run)(struct sim_choices *choices, struct sim_run *run);

static uint64_t runs; /* made so far */

static const struct sim_failure failure = {
    .kind = SIM_FAIL_CHECK, .site = 7, .other_site = 8, .text = "it fails"};

static void
nothing(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
}

static const struct sim_kernel kernel = {
    .name = "made",
    .about = "nothing runs",
    .threads = {{.name = "one", .body = nothing},
                {.name = "two", .body = nothing}},
    .threads_count = 2};

/* A failing list of `count` answers, of which the last is 1; or all are. */
static struct sim_exhaust_result
failing(uint32_t count, bool all)
{
    struct sim_exhaust_result r = {
        .choices = calloc(count, sizeof *r.choices),
        .choices_count = count,
        .options = {.strategy = SIM_STRATEGY_PCT, .reduced = true},
        .first_failure = {.end = SIM_END_FAILED, .failure = failure}};

    assert_non_null(r.choices);
    for (uint32_t i = 0; i < count; i++)
        r.choices[i] = (struct sim_choice){
            .bound = 2, .value = all || i == count - 1, .kind = SIM_FAULT};
    runs = 0;
    return r;
}

static uint32_t
ask(struct sim_choices *choices)
{
    return sim_choose(choices, 2, SIM_FAULT, 0);
}

/* ---- Shrinking ---- */

enum { KIND, SITE, OTHER_SITE, TEXT, END, WAYS };

static int way; /* in which the other failure differs */

static void
fail_in_two_ways(struct sim_choices *choices, struct sim_run *run)
{
    const uint32_t a = ask(choices);
    const uint32_t b = ask(choices);

    runs++;
    *run = (struct sim_run){.end = SIM_END_COMPLETE};
    if (a == 0)
        return;
    run->end = SIM_END_FAILED;
    run->failure = failure;
    if (b != 0)
        return;
    run->end = way == END ? SIM_END_COMPLETE : SIM_END_FAILED;
    run->failure.kind = way == KIND ? SIM_FAIL_RACE : SIM_FAIL_CHECK;
    run->failure.site += way == SITE;
    run->failure.other_site += way == OTHER_SITE;
    run->failure.text[0] = way == TEXT ? 'I' : 'i';
}

TEST(a_list_that_fails_in_another_way_is_no_smaller_one)
{
    made_run = fail_in_two_ways;
    for (way = 0; way <= WAYS; way++) {
        struct sim_exhaust_result r = failing(2, true);
        uint64_t made;

        made = sim_explore_shrink(&kernel, &r);
        assert_int_equal(made, runs);
        assert_int_equal(r.choices_count, way == WAYS ? 1 : 2);
        assert_true(r.fewest_known);
        free(r.choices);
    }
    made_run = NULL;
}

static void
never_fail(struct sim_choices *choices, struct sim_run *run)
{
    (void)choices;
    runs++;
    *run = (struct sim_run){.end = SIM_END_COMPLETE};
}

TEST(a_list_that_does_not_fail_again_is_kept)
{
    struct sim_exhaust_result r = failing(3, true);

    made_run = never_fail;
    assert_int_equal(sim_explore_shrink(&kernel, &r), 1);
    assert_int_equal(runs, 1);
    assert_int_equal(r.choices_count, 3);
    assert_int_equal(r.first_failure.end, SIM_END_FAILED);
    assert_false(r.fewest_known);
    free(r.choices);
    made_run = NULL;
}

static uint32_t length; /* of the list that has one answer but 0 */

static void
fail_late_too(struct sim_choices *choices, struct sim_run *run)
{
    const uint32_t a = ask(choices);
    const uint32_t b = ask(choices);
    uint32_t last = 0;

    runs++;
    assert_int_equal(choices->count_max, 1 << 16); /* as many as may be found */
    assert_true(malloc_usable_size(choices->list) >=
                choices->count_max * sizeof *choices->list);
    for (uint32_t i = 2; a + b == 0 && i < length; i++)
        last = ask(choices);
    *run = (struct sim_run){.end = SIM_END_COMPLETE};
    if (a + b == 2 || last == 1) {
        run->end = SIM_END_FAILED;
        run->failure = failure;
    }
}

TEST(a_list_with_fewer_answers_may_be_twice_as_long_and_64_more)
{
    mallopt(M_MMAP_THRESHOLD, 1 << 24); /* or a block has the rest of a page */
    made_run = fail_late_too;
    for (length = 67; length < 71; length++) {
        struct sim_exhaust_result r = failing(2, true);
        uint64_t made;

        made = sim_explore_shrink(&kernel, &r);
        assert_int_equal(made, runs);
        assert_int_equal(r.choices_count, length <= 68 ? length : 2);
        assert_int_equal(r.choices[0].value, length > 68);
        assert_int_equal(r.choices[r.choices_count - 1].value, 1);
        free(r.choices);
    }
    made_run = NULL;
}

/* ---- Whole reports ---- */

enum { ANSWERS = 24 };

static uint32_t events;     /* in the trace */
static bool alone;          /* the second thread fails by its first event */
static uint64_t runs_shown; /* made before the run that is shown */
static uint32_t given;      /* of the random runs */
static uint32_t nth;        /* of these runs */

/* Of 500 random runs with so many answers given, how many fail? */
static uint32_t
failing_of(uint32_t answers)
{
    return answers == 0 ? 4 : answers == 2 ? 5 : answers == 4 ? 499 : 500;
}

static void
trace_events(void)
{
    if (runs_shown == 0)
        runs_shown = runs - 1;
    sim_engine.trace_count = events;
    for (uint32_t i = 0; i < events; i++)
        sim_engine.trace[i] = (struct trace_event){.op = SIM_OP_FENCE,
                                                   .thread = alone && i == 0,
                                                   .order = __ATOMIC_RELEASE,
                                                   .from = TRACE_MAX,
                                                   .newest = TRACE_MAX,
                                                   .before = TRACE_MAX,
                                                   .choice = ANSWERS};
}

/* A run of chosen events creates only the threads that it needs. */
static void
set_threads(const struct sim_choices *choices)
{
    sim_engine.threads_count = sim_script_runs ? 1 : 2;
    sim_engine.threads[0].finished = sim_script_runs;
    sim_engine.threads[0].next_site = 0;
    sim_engine.threads[1].finished = !sim_script_runs;
    assert_int_equal(sim_engine.options.strategy, SIM_STRATEGY_RANDOM);
    assert_int_equal(sim_engine.options.reduced, !sim_script_runs);
    if (sim_script_runs)
        assert_int_equal(choices->given_count, 0);
    else if (choices->backend == SIM_PREFIX)
        assert_null(sim_engine.trace);
}

static void
fail_by_the_last(struct sim_choices *choices, struct sim_run *run)
{
    uint32_t last = 0;

    runs++;
    for (uint32_t i = 0; i < ANSWERS; i++)
        last = ask(choices);
    set_threads(choices);
    *run = (struct sim_run){.end = SIM_END_FAILED, .failure = failure};
    run->failure.thread = alone;
    run->failure.other_site = alone ? 0 : 8;
    if (sim_engine.trace != NULL)
        trace_events();
    if (choices->backend == SIM_PREFIX) {
        nth = choices->given_count == given ? nth + 1 : 0;
        given = choices->given_count;
        last = nth < failing_of(given);
    }
    if (sim_script_runs || last == 1)
        return;
    if (choices->backend == SIM_PREFIX && nth % 2 == 0)
        run->failure.kind = SIM_FAIL_RACE;
    else
        run->end = SIM_END_COMPLETE;
}

static const char shown_end[] =
    "  thread 1 (two) has ended\n"
    "\n  What it takes (each set to 0 alone, does it pass?):\n"
    "    choice 23, a fault (1 of 2), before event 0: necessary\n"
    "\n  How likely it is once the first choices are given (500 random runs "
    "each):\n"
    "      0    0%  \n"
    "      2    1%  \n"
    "      4   99%  #######################################\n";

/* in: shown, of the events; left_out */
static char *
wanted(uint32_t shown, uint32_t left_out)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    assert_non_null(out);
    fprintf(out,
            "made: nothing runs\n"
            "  broken: it fails (check)\n"
            "  by thread %u (%s) at an unknown place\n"
            "%s"
            "  preemptions: 0, stale reads: 0, choices:",
            alone ? 1U : 0U, alone ? "two" : "one",
            alone ? "" : "  against an unknown place\n");
    for (uint32_t i = 0; i < ANSWERS; i++)
        fputs(i == ANSWERS - 1 ? " 1\n" : " 0", out);
    fprintf(out,
            "  shrunk from 24 choices to 24 in %u runs; nothing with fewer "
            "surprises fails\n\n     %-30s%-30s\n",
            (unsigned)runs_shown, "0: one", "1: two");
    for (uint32_t i = 0; i < shown; i++)
        fprintf(out, "%3u  %s%-*s  an unknown place\n", i,
                alone ? "                              " : "", alone ? 30 : 60,
                "fence (rel)");
    if (left_out > 0)
        fprintf(out,
                "     (%u more events, which the failure does not depend "
                "on)\n",
                (unsigned)left_out);
    if (shown + left_out == TRACE_MAX)
        fputs("     (the rest of the run is not shown)\n", out);
    fprintf(out, "\n  thread 0 (one) is at %s\n%s",
            alone ? "its beginning" : "an unknown place", shown_end);
    for (uint32_t p = 6; p <= ANSWERS; p += 2)
        fprintf(out,
                "    %3u  100%%  ########################################\n",
                (unsigned)p);
    assert_int_equal(fclose(out), 0);
    return text;
}

static void
check_report(uint32_t count, uint32_t left_out)
{
    struct sim_exhaust_result r = failing(ANSWERS, false);
    char *text = NULL;
    char *data = NULL;
    char *want;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    FILE *data_out = open_memstream(&data, &bytes);

    assert_non_null(out);
    assert_non_null(data_out);
    made_run = fail_by_the_last;
    r.first_failure.failure.thread = alone;
    r.first_failure.failure.other_site = alone ? 0 : 8;
    events = count;
    runs_shown = 0;
    given = ANSWERS + 1;
    sim_explore_report(out, data_out, &kernel, &r);
    assert_int_equal(fclose(out), 0);
    assert_int_equal(fclose(data_out), 0);
    want = wanted(count - left_out, left_out);
    assert_string_equal(text, want);
    assert_non_null(strstr(data, "fault (1 of 2)\",\"event\":0,"));
    free(want);
    free(text);
    free(data);
    free(r.choices);
    made_run = NULL;
}

/* The second has no event of the first, and nothing is left of either. */
TEST(a_report_shows_up_to_4096_events)
{
    size_t before = 0;

    check_report(TRACE_MAX, 0);
    for (uint32_t i = 0; i < 40; i++) {
        check_report(1, 0);
        if (i == 20)
            before = mallinfo2().uordblks;
    }
    assert_int_equal(mallinfo2().uordblks, before);
}

TEST(a_thread_has_a_column_even_if_nothing_depends_on_it)
{
    alone = true;
    check_report(3, 2);
    check_report(TRACE_MAX, TRACE_MAX - 1);
    alone = false;
}

/* ---- Texts ---- */

/* ... of which the last one's name is all others' name, too. */
TEST(places_without_a_name_have_numbers_up_to_64)
{
    struct report_locations locations = {.count = 0};
    char text[LOCATION_BYTES];

    for (uint32_t pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < 70; i++) {
            char want[LOCATION_BYTES];

            snprintf(want, sizeof want, "place%u", i < 64 ? i : 64);
            sim_report_location(&locations, text,
                                ((uintptr_t)1 << 40) + 8 * (uintptr_t)i);
            assert_string_equal(text, want);
        }
    }
    sim_report_location(&locations, text, 0);
    assert_string_equal(text, "");
}

static void
check_value(const struct replay *replay, uint64_t value, const char *want)
{
    struct report_locations locations = {.count = 0};
    char text[LOCATION_BYTES];

    sim_report_value(replay, &locations, text, value);
    assert_string_equal(text, want);
}

/* The last event is none of the run's. */
TEST(a_value_less_than_a_megabyte_from_an_access_is_a_pointer)
{
    const uint64_t megabyte = 1 << 20;
    const uint64_t first = (uint64_t)1 << 40;
    const uint64_t second = (uint64_t)1 << 41;
    const struct trace_event trace[] = {{.address = first},
                                        {.address = 0},
                                        {.address = second},
                                        {.address = (uintptr_t)1 << 42}};
    static struct replay replay;

    replay.trace = trace;
    replay.trace_count = 3;
    check_value(&replay, megabyte - 1, "1048575");
    check_value(&replay, megabyte, "0x100000");
    check_value(&replay, first - megabyte - 1, "0xffffefffff");
    check_value(&replay, first - megabyte, "place0");
    check_value(&replay, first + megabyte - 1, "place0");
    check_value(&replay, first + megabyte, "0x10000100000");
    check_value(&replay, second, "place0");
    check_value(&replay, (uint64_t)1 << 42, "0x40000000000");
    check_value(&replay, UINT64_MAX, "0xffffffffffffffff");
}

TEST(an_event_says_what_its_call_did)
{
    static const char *const texts[SIM_OP_COUNT][2] = {
        [SIM_OP_LOAD] = {"place0 is place1 (acq)", "place0 is place1 (acq)"},
        [SIM_OP_STORE] = {"place0 = place1 (acq)", "place0 = place1 (acq)"},
        [SIM_OP_RMW] = {"place0 place1 -> place2 (acq)",
                        "place0 place1 -> place2 (acq)"},
        [SIM_OP_CAS] = {"place0 cas fails: place1 (acq)",
                        "place0 cas place1 -> place2 (acq)"},
        [SIM_OP_FENCE] = {"fence (acq)", "fence (acq)"},
        [SIM_OP_LOCK] = {"try fails: place0", "lock place0"},
        [SIM_OP_UNLOCK] = {"unlock place0", "unlock place0"},
        [SIM_OP_BARRIER] = {"barrier on all threads", "barrier on all threads"},
        [SIM_OP_CALL] = {"post place0 fails", "post place0"},
        [SIM_OP_WAIT] = {"no sleep on place0", "sleep on place0"},
        [SIM_OP_WAKE] = {"wake place0", "wake place0"},
        [SIM_OP_MARK] = {"", ""},
    };
    static struct replay replay;
    struct trace_event v = {.order = __ATOMIC_ACQUIRE,
                            .what = "post",
                            .address = (uintptr_t)1 << 40,
                            .value = ((uint64_t)1 << 40) + 8,
                            .written = ((uint64_t)1 << 40) + 16};

    replay.trace = &v;
    replay.trace_count = 1;
    for (int op = 0; op < 2 * SIM_OP_COUNT; op++) {
        struct report_locations locations = {.count = 0};
        char text[128] = "";

        v.op = (enum sim_op)(op / 2);
        v.ok = op % 2 == 1;
        if (v.op == SIM_OP_THREAD)
            continue;
        sim_report_event(&replay, &locations, text, sizeof text, &v);
        assert_string_equal(text, texts[v.op][v.ok]);
    }
    v.op = SIM_OP_THREAD;
    v.what = "join";
    v.value = 5;
    for (size_t room = 14; room == 14 || room == 2; room -= 12) {
        struct report_locations locations = {.count = 0};
        char text[128];

        sim_report_event(&replay, &locations, text, room, &v);
        assert_string_equal(text, room == 14 ? "join thread 5" : "j");
    }
}

/* The highest answers to a load are threads to wait for. */
TEST(an_answer_may_be_a_thread_to_wait_for)
{
    struct sim_exhaust_result r = {.options = {.reduced = true}};
    struct sim_choice c = {.bound = 11, .kind = SIM_STALE, .label = 3};
    char text[CHOICE_BYTES];

    for (c.value = 0; c.value < 11; c.value++) {
        char want[CHOICE_BYTES];

        if (c.value < 2)
            snprintf(want, sizeof want, "a stale read (%u of 2)", c.value);
        else if (c.value < 10)
            snprintf(want, sizeof want, "thread 3 waits for thread %u",
                     c.value - 2);
        else
            snprintf(want, sizeof want, "thread 3 stays blocked");
        sim_report_choice(&r, &c, text, sizeof text);
        assert_string_equal(text, want);
    }
    c.value = 10;
    r.options.reduced = false;
    sim_report_choice(&r, &c, text, sizeof text);
    assert_string_equal(text, "a stale read (10 of 11)");
    r.options.reduced = true;
    c.label = SIM_LABEL_STORE;
    sim_report_choice(&r, &c, text, sizeof text);
    assert_string_equal(text, "an early store (10 of 11)");
    c = (struct sim_choice){.bound = 11, .value = 10, .kind = SIM_SCHED};
    sim_report_choice(&r, &c, text, sizeof text);
    assert_string_equal(text, "another thread (10 of 11)");
}

int
made_runs_tests(void)
{
    return tests_run(NULL, NULL);
}
