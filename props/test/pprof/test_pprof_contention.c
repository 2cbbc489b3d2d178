/*
 * test_pprof_contention.c -- a contention profile shows, on average, the time
 * that was really waited (P1). Tested for each rule set that promises this and
 * for each form of the file, which is read as its usual readers do. The file is
 * compared with the waits themselves, not with the library's own period.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sampling_fixture.h"
#include "pprof_case.h"
#include "prof/registry.h"
#include "prof/text.h"
#include "unit_test.h"

enum { RATES = 64 };

/* What a reader learns from a file. */
struct meaning {
    uint64_t events;
    uint64_t ticks; /* 1 tick is 1 ns */
};

struct bench {
    struct props_fixture fixture;
    struct prof_registry *registry;
    void *block;
};

static struct case_run run;

/* The rule sets whose mutex files are right on average. */
static const struct prof_rules *const rules_with_mutex[] = {
    &prof_rules_exact, &prof_rules_go1_10, &prof_rules_go1_17};

static void
bench_begin(struct bench *bench, const struct prof_rules *rules)
{
    struct prof_registry_config config = {.lost = CASE_LOST};
    size_t bytes;

    assert_true(props_fixture_begin(&bench->fixture, rules));
    config.sources.prof = bench->fixture.prof;
    bytes = prof_registry_bytes_needed(&config);
    bytes = (bytes + PROF_BLOCK_ALIGN - 1) / PROF_BLOCK_ALIGN;
    bench->block = aligned_alloc(PROF_BLOCK_ALIGN, bytes * PROF_BLOCK_ALIGN);
    assert_non_null(bench->block);
    assert_int_equal(prof_registry_init(&bench->registry, &config, bench->block,
                                        bytes * PROF_BLOCK_ALIGN),
                     PROF_OK);
}

static void
bench_end(struct bench *bench)
{
    free(bench->block);
    props_fixture_end(&bench->fixture);
}

static enum prof_status
write_profile(const struct bench *bench, enum prof_contention kind, int debug)
{
    case_begin(&run);
    return prof_profile_write(
        prof_registry_find(bench->registry, props_fixture_kind(kind)),
        &run.output, debug);
}

static struct meaning
read_proto(const struct bench *bench, enum prof_contention kind)
{
    struct meaning meaning = {0};

    case_read(&run, write_profile(bench, kind, 0));
    for (size_t i = 0; i < run.profile.samples_count; i++) {
        meaning.events += (uint64_t)run.profile.samples[i].values[0];
        meaning.ticks += (uint64_t)run.profile.samples[i].values[1];
    }
    case_end(&run);
    return meaning;
}

/* Read the text as pprof does: a period above 0 multiplies both columns. */
static struct meaning
read_text(const struct bench *bench, enum prof_contention kind)
{
    struct meaning meaning = {0};
    uint64_t period = 1;
    const char *line = case_text(&run, write_profile(bench, kind, 1));

    while (line != NULL) {
        uint64_t ticks;
        uint64_t events;

        (void)sscanf(line, "sampling period=%" SCNu64, &period);
        if (sscanf(line, "%" SCNu64 " %" SCNu64 " @", &ticks, &events) == 2) {
            meaning.events += events;
            meaning.ticks += ticks;
        }
        line = strchr(line, '\n');
        line = line != NULL ? line + 1 : NULL;
    }
    if (period > 0) {
        meaning.events *= period;
        meaning.ticks *= period;
    }
    return meaning;
}

static void
assert_means(const struct bench *bench, enum prof_contention kind,
             struct meaning want)
{
    const struct meaning proto = read_proto(bench, kind);
    const struct meaning text = read_text(bench, kind);

    if (proto.events != want.events || proto.ticks != want.ticks ||
        text.events != want.events || text.ticks != want.ticks)
        fail_msg("%s: %" PRIu64 " waits of %" PRIu64 " ticks in all; "
                 "profile.proto says %" PRIu64 " of %" PRIu64
                 ", the text %" PRIu64 " of %" PRIu64,
                 props_fixture_kind(kind), want.events, want.ticks,
                 proto.events, proto.ticks, text.events, text.ticks);
}

/* ---- enumeration ---- */

/* Record one event with each of the `rate` outcomes: the sum is `rate` times
 * the average. */
static void
feed_each_outcome(struct bench *bench, enum prof_contention kind, uint64_t rate,
                  uint64_t cycles)
{
    for (uint64_t u = 0; u < rate; u++)
        (void)props_fixture_event(
            &bench->fixture, kind,
            props_fixture_number(&bench->fixture, u, rate), (int64_t)cycles);
}

static void
enumerate(const struct prof_rules *rules, enum prof_contention kind,
          uint64_t rate, uint64_t cycles)
{
    struct bench bench;

    bench_begin(&bench, rules);
    props_fixture_set_rate(&bench.fixture, kind, (int64_t)rate);
    feed_each_outcome(&bench, kind, rate, cycles);
    assert_means(&bench, kind, (struct meaning){rate, rate * cycles});
    bench_end(&bench);
}

TEST(a_mutex_file_means_what_was_waited_whatever_the_fraction)
{
    static const uint64_t lengths[] = {0, 1, 50, 1000003};

    for (size_t i = 0; i < 3; i++) {
        for (uint64_t rate = 1; rate <= RATES; rate++)
            enumerate(rules_with_mutex[i], PROF_MUTEX, rate, lengths[rate % 4]);
    }
}

TEST(an_exact_block_file_means_what_was_waited_whatever_the_rate)
{
    for (uint64_t rate = 1; rate <= RATES; rate++) {
        for (uint64_t cycles = 1; cycles <= 2 * rate; cycles += 7)
            enumerate(&prof_rules_exact, PROF_BLOCK, rate, cycles);
    }
}

/* As Go's test TestMutexProfileRateAdjust. */
TEST(turning_it_off_changes_nothing_of_what_a_file_means)
{
    for (size_t i = 0; i < 3; i++) {
        struct bench bench;
        const struct meaning want = {10, 500};

        bench_begin(&bench, rules_with_mutex[i]);
        props_fixture_set_rate(&bench.fixture, PROF_MUTEX, 10);
        feed_each_outcome(&bench, PROF_MUTEX, 10, 50);
        assert_int_equal(prof_mutex_fraction_set(bench.fixture.prof, 0), 10);
        assert_means(&bench, PROF_MUTEX, want);
        assert_int_equal(prof_mutex_fraction_set(bench.fixture.prof, -1), 0);
        assert_int_equal(prof_mutex_fraction_set(bench.fixture.prof, 0), 0);
        assert_means(&bench, PROF_MUTEX, want);
        assert_int_equal(prof_mutex_fraction_set(bench.fixture.prof, 10), 0);
        assert_means(&bench, PROF_MUTEX, want);
        bench_end(&bench);
    }
}
