/* sampled_report.c -- see sampled_report.h. */
#include "sampled_report.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "unit_test.h"

/* Replay the list. out: trace */
static struct sim_run
run_of(const struct sim_kernel *kernel, const struct sim_exhaust_result *r,
       struct trace_event *trace)
{
    static struct sim_choice list[1024];
    uint32_t values[1024];
    struct sim_choices choices;
    struct sim_run run;

    assert_in_range(r->choices_count, 0, 1023);
    for (uint32_t i = 0; i < r->choices_count; i++)
        values[i] = r->choices[i].value;
    sim_engine_begin(kernel, &r->options);
    sim_choices_init(&choices, list, 1024);
    sim_choices_replay(&choices, values, r->choices_count);
    sim_engine.trace = trace;
    sim_engine_run(&choices, &run);
    sim_engine.trace = NULL;
    return run;
}

/* How many loads have read an old value? */
static uint32_t
stale_reads(const struct sim_exhaust_result *r)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < r->choices_count; i++)
        count += r->choices[i].kind == SIM_STALE && r->choices[i].value != 0 &&
                 (r->choices[i].label & SIM_LABEL_STORE) == 0;
    return count;
}

/* Each choice that is not 0 stands before the first event after it. */
static void
check_before(const char *text, const struct sim_exhaust_result *r,
             const struct trace_event *trace)
{
    const char *head = strstr(text, "  What it takes");
    const char *line = head;
    uint32_t shown = 0;
    uint32_t at = 0;

    for (uint32_t i = 0; i < r->choices_count; i++) {
        char want[64];
        uint32_t number;
        const char *end;

        if (r->choices[i].value == 0)
            continue;
        assert_non_null(line);
        line = strstr(line, "\n    choice ");
        assert_non_null(line++);
        shown++;
        assert_int_equal(sscanf(line, "    choice %u,", &number), 1);
        assert_int_equal(number, i);
        while (at < sim_engine.trace_count && trace[at].choice <= i)
            at++;
        if (at < sim_engine.trace_count)
            snprintf(want, sizeof want, ", before event %u: ", (unsigned)at);
        else
            snprintf(want, sizeof want, ", after the last event: ");
        end = strstr(line, want);
        assert_true(end != NULL && end < strchr(line, '\n'));
    }
    assert_int_equal(head != NULL, shown > 0);
}

static size_t
allocated(void)
{
    const struct mallinfo2 info = mallinfo2();

    return info.uordblks + info.hblkhd;
}

void
sampled_report_check(const struct sim_kernel *kernel, uint32_t silent_ms,
                     uint64_t seed)
{
    static struct trace_event trace[TRACE_MAX];
    const struct sim_sample_options options = {
        .run = {.silent_ms = silent_ms}, .runs = 2000, .seed = seed};
    struct sim_exhaust_result r;
    struct sim_run run;
    static uint32_t calls;
    const size_t before = allocated();
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    assert_non_null(out);
    sim_explore_sample(kernel, &options, &r);
    assert_int_equal(r.verdict, SIM_VERDICT_FAIL);
    sim_explore_report(out, NULL, kernel, &r);
    assert_int_equal(fclose(out), 0);
    assert_int_equal(sim_engine.options.silent_ms,
                     silent_ms != 0 ? silent_ms : 100);
    run = run_of(kernel, &r, trace);
    assert_int_equal(run.end, SIM_END_FAILED);
    assert_int_equal(run.switches, r.first_failure.switches);
    assert_int_equal(run.stale, r.first_failure.stale);
    assert_int_equal(run.stale, stale_reads(&r));
    check_before(text, &r, trace);
    free(text);
    free(r.choices);
    if (calls++ > 3) /* libdw has read what it needs */
        assert_true(allocated() <
                    before + (1 << 19)); /* a list has a megabyte */
}
