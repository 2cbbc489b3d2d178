/*
 * page_buckets.c -- a part of shown_scenarios.c: the buckets of a failure's
 * page, event by event. The library's world and the oracle's have different
 * events here, so each number has one place that it can come from.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "buckets.h"
#include "bucket_worlds.h"
#include "merge_case.h"
#include "run.h"
#include "unit_test.h"

enum { CASES = SANITIZED ? 10 : 60, TEXT_BYTES = 1 << 16 };

static char texts[2][TEXT_BYTES];

/* ---- What the page must say ---- */

/* A bucket of the page: its numbers in the two worlds; or WORLD_BUCKETS. */
static struct paired {
    uint32_t in[2];
    char printed[256];
} paired[2 * WORLD_BUCKETS];
static uint32_t paired_count;

static const struct world_bucket *
counted_in(const struct world_after *side, const struct paired *pair, int world)
{
    return pair->in[world] == WORLD_BUCKETS ? NULL
                                            : &side->buckets[pair->in[world]];
}

/* The first stack that is the bucket's, or that is so when it is cut. */
static uint32_t
stack_of(const struct world_bucket *bucket)
{
    uint32_t i = 0;

    while (i < WORLD_STACKS && strcmp(world_stacks[i], bucket->frames) != 0)
        i++;
    for (uint32_t cut = 0; i == WORLD_STACKS && cut < WORLD_STACKS; cut++) {
        if (strncmp(world_stacks[cut], bucket->frames, WORLD_KEPT) == 0)
            i = cut;
    }
    assert_in_range(i, 0, WORLD_STACKS - 1);
    return i;
}

static void
tell_new(FILE *to, const struct world_bucket *bucket, bool is_first)
{
    static const char *const names[] = {"heap", "block", "mutex"};

    fprintf(to,
            "%s{\"kind\":\"%s\",\"stack\":\"s%" PRIu32
            "\",\"depth\":%zu,\"size\":%" PRIu64 "}",
            is_first ? ",\"buckets\":[" : ",", names[bucket->kind],
            stack_of(bucket), strlen(bucket->frames), bucket->size_bytes);
}

static void
add_pair(FILE *to, uint32_t library, uint32_t oracle,
         const struct world_bucket *bucket, bool *is_first)
{
    paired[paired_count++] = (struct paired){{library, oracle}, ""};
    tell_new(to, bucket, *is_first);
    *is_first = false;
}

/* Each bucket that is new in the oracle is that of the library that is equal
 * and came no later. */
static void
tell_buckets(FILE *to, uint32_t event)
{
    const struct world_after *library = &world_after[0][event];
    const struct world_after *oracle = &world_after[1][event];
    const uint32_t rows = event > 0 ? world_after[0][event - 1].count : 0;
    const uint32_t models = event > 0 ? world_after[1][event - 1].count : 0;
    bool is_first = true;

    for (uint32_t i = rows; i < library->count; i++)
        add_pair(to, i, WORLD_BUCKETS, &library->buckets[i], &is_first);
    for (uint32_t m = models; m < oracle->count; m++) {
        const struct world_bucket *bucket = &oracle->buckets[m];
        uint32_t p = 0;

        for (; p < paired_count; p++) {
            const struct world_bucket *row = counted_in(library, &paired[p], 0);

            if (row != NULL && row->kind == bucket->kind &&
                row->size_bytes == bucket->size_bytes &&
                strcmp(row->frames, bucket->frames) == 0)
                break;
        }
        if (p < paired_count)
            paired[p].in[1] = m;
        else
            add_pair(to, WORLD_BUCKETS, m, bucket, &is_first);
    }
    fputs(is_first ? ",\"rows\":[" : "],\"rows\":[", to);
}

static void
tell_rows(FILE *to, uint32_t event)
{
    const char *comma = "";

    for (uint32_t p = 0; p < paired_count; p++) {
        char row[256];
        int length = snprintf(row, sizeof row, "[%" PRIu32, p);

        for (int world = 0; world < 2; world++) {
            const struct world_bucket *bucket =
                counted_in(&world_after[world][event], &paired[p], world);

            for (uint32_t k = 0; k < 2; k++)
                length += sprintf(&row[length], ",%" PRIu64,
                                  bucket != NULL ? bucket->shown[k] : 0);
        }
        for (uint32_t k = 0; k < 6; k++) {
            const struct world_bucket *bucket =
                counted_in(&world_after[0][event], &paired[p], 0);

            length += sprintf(&row[length], ",%" PRIu64,
                              bucket != NULL ? bucket->slots[k / 2][k % 2] : 0);
        }
        if (strcmp(row, paired[p].printed) == 0)
            continue;
        fprintf(to, "%s%s]", comma, row);
        memcpy(paired[p].printed, row, sizeof row);
        comma = ",";
    }
    fputc(']', to);
}

static void
tell_numbers(FILE *to, const struct world_bucket *bucket)
{
    if (bucket != NULL)
        fprintf(to, ",%" PRIu64 ",%" PRIu64, bucket->shown[0],
                bucket->shown[1]);
    else
        fputs(",null,null", to);
}

/* What a snapshot shows, beside what it must show: a library without faults
 * would have published that. */
static void
tell_snapshot(FILE *to, uint32_t event, struct model_heap *model)
{
    const char *comma = "";
    uint32_t k;
    const bool known = model_heap_at(model, &k);

    fprintf(to, ",\"snapshot\":{\"all\":%s,\"status\":\"%s\"",
            strstr(world_events[0][event], "-all") != NULL ? "true" : "false",
            prof_status_text(world_after[0][event].fits ? PROF_OK
                                                        : PROF_ERR_SHORT));
    if (known)
        fprintf(to, ",\"termination\":%" PRIu32, k);
    fputs(",\"rows\":[", to);
    for (uint32_t p = 0; p < paired_count; p++) {
        const struct world_bucket *row =
            counted_in(&world_after[0][event], &paired[p], 0);
        const struct world_bucket *other =
            counted_in(&world_after[1][event], &paired[p], 1);

        if ((row != NULL ? row : other)->kind != WORLD_HEAP)
            continue;
        fprintf(to, "%s[%" PRIu32, comma, p);
        tell_numbers(to, row != NULL && row->listed ? row : NULL);
        tell_numbers(to, known ? other : NULL);
        fputc(']', to);
        comma = ",";
    }
    fputs("]}", to);
}

/* ---- All of it ---- */

static void
write_text(int world)
{
    FILE *file = fmemopen(texts[world], sizeof texts[world], "w");

    assert_non_null(file);
    world_write(world, file);
    assert_int_equal(fclose(file), 0);
}

static struct props_run *
begin(struct sim_scenario *scenario)
{
    const struct sim_limits limits = sim_scenario_limits(scenario);
    struct props_run *run = props_run_new(&limits);

    assert_non_null(run);
    assert_null(props_run_begin(run, &scenario->config, PROPS_ALL));
    return run;
}

static void
expect_event(struct cli_buckets *buckets, const struct props_judge *judge,
             uint32_t event)
{
    static char said[TEXT_BYTES];
    static char wanted[TEXT_BYTES];
    FILE *file = fmemopen(said, sizeof said, "w");

    assert_non_null(file);
    cli_buckets_changes(file, buckets, judge);
    cli_buckets_snapshot(file, buckets, judge);
    assert_int_equal(fclose(file), 0);
    file = fmemopen(wanted, sizeof wanted, "w");
    assert_non_null(file);
    tell_buckets(file, event);
    tell_rows(file, event);
    if (strstr(world_events[0][event], "snapshot") != NULL)
        tell_snapshot(file, event, judge->model);
    assert_int_equal(fclose(file), 0);
    if (strcmp(said, wanted) != 0)
        fail_msg("event %u:\n%s\ninstead of:\n%s\n%s\nof the oracle:\n%s",
                 (unsigned)event + 1, said, wanted, texts[0], texts[1]);
}

static void
expect_case(void)
{
    struct sim_scenario *scenarios[2];
    struct props_run *runs[2];
    struct props_judge judge;
    struct cli_buckets *buckets;
    struct sim_error error;

    for (int s = 0; s < 2; s++) {
        write_text(s);
        scenarios[s] =
            sim_scenario_parse(texts[s], strlen(texts[s]), "a.sim", &error);
        if (scenarios[s] == NULL)
            fail_msg("%s\n%s", error.text, texts[s]);
        runs[s] = begin(scenarios[s]);
    }
    judge = runs[0]->judge;
    judge.model = runs[1]->judge.model;
    buckets = cli_buckets_open(scenarios[0]);
    assert_non_null(buckets);
    paired_count = 0;
    for (uint32_t i = 0; i < WORLD_EVENTS; i++) {
        for (int s = 0; s < 2; s++) {
            const char *why;

            if (!props_run_event(runs[s], &scenarios[s]->events[i], &why))
                fail_msg("event %u: %s\n%s", (unsigned)i + 1,
                         why != NULL ? why : runs[s]->judge.breach.text,
                         texts[s]);
        }
        expect_event(buckets, &judge, i);
    }
    cli_buckets_close(buckets);
    for (int s = 0; s < 2; s++) {
        props_run_delete(runs[s]);
        sim_scenario_free(scenarios[s]);
    }
}

/* Beyond the limit, buckets are left out. */
static void
expect_limit(void)
{
    static char text[TEXT_BYTES * 4];
    char *said = NULL;
    size_t bytes = 0;
    FILE *file = fmemopen(text, sizeof text, "w");
    struct sim_scenario *scenario;
    struct sim_error error;
    struct props_run *run;
    struct cli_buckets *buckets;
    uint32_t count = 0;

    assert_non_null(file);
    fputs("profsim scenario 2\nbuckets 8192\nstack s = main\n", file);
    for (int i = 0; i < CLI_BUCKETS_MAX + 3; i++)
        fprintf(file, "alloc o%d s %d\n", i, i);
    assert_int_equal(fclose(file), 0);
    scenario = sim_scenario_parse(text, strlen(text), "a.sim", &error);
    assert_non_null(scenario);
    run = begin(scenario);
    buckets = cli_buckets_open(scenario);
    assert_non_null(buckets);
    for (uint32_t i = 0; i < scenario->events_count; i++) {
        const char *why;

        assert_true(props_run_event(run, &scenario->events[i], &why));
    }
    file = open_memstream(&said, &bytes);
    assert_non_null(file);
    cli_buckets_changes(file, buckets, &run->judge);
    assert_int_equal(fclose(file), 0);
    for (const char *at = said; (at = strstr(at, "{\"kind\"")) != NULL; at++)
        count++;
    assert_int_equal(count, CLI_BUCKETS_MAX);
    assert_non_null(strstr(said, ",[4095,0,0,0,0,0,0,0,0,1,0]]"));
    free(said);
    cli_buckets_close(buckets);
    props_run_delete(run);
    sim_scenario_free(scenario);
}

void
merge_page_buckets(void)
{
    for (uint32_t i = 0; i < CASES; i++) {
        worlds_draw(i);
        expect_case();
    }
    expect_limit();
}
