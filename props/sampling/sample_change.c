/*
 * sample_change.c -- S4: a change of rate leaves recorded events alone. S5:
 * random numbers are drawn exactly when the rules need them.
 */
#include "props/sampling/checker.h"

#include <inttypes.h>

#include "props/sampling/sampling_fixture.h"

static const int64_t rates[] = {
    1, 2, 7, 64, 1000, 1 << 20, INT64_C(1) << 40, INT64_MAX, 0, -1};
static const int64_t lengths[] = {
    INT64_MIN, -1, 0, 1, 6, 7, 63, 64, 999, 1 << 20, INT64_C(1) << 40};

enum {
    RATES = sizeof rates / sizeof *rates,
    LENGTHS = sizeof lengths / sizeof *lengths,
    EVENTS = 64
};

/* ---- S4 ---- */

/* Return a random number. */
static uint64_t
number_at(const struct props_fixture *fixture, uint64_t i)
{
    if (fixture->era == MODEL_EXACT)
        return i << 58 | 12345;
    return props_fixture_first(fixture) + i;
}

/* Return what EVENTS events add to a profile that already has other events. */
static struct prof_contention_record
added(struct props_fixture *fixture, enum prof_contention kind, int64_t rate)
{
    const struct prof_contention_record before =
        props_fixture_read(fixture, kind);
    struct prof_contention_record after;

    props_fixture_set_rate(fixture, kind, rate);
    for (uint64_t i = 0; i < EVENTS; i++)
        (void)props_fixture_event(fixture, kind, number_at(fixture, i),
                                  (int64_t)(1 + i % 7));
    after = props_fixture_read(fixture, kind);
    after.count -= before.count;
    after.cycles -= before.cycles;
    return after;
}

static bool
same(const struct prof_contention_record *a,
     const struct prof_contention_record *b)
{
    return a->count == b->count && a->cycles == b->cycles;
}

/* Record at one rate, then change it: both the old events and new ones must be
 * right. */
static void
check_change(const struct props_question *question, enum prof_contention kind,
             int64_t from, int64_t to, struct props_finding *finding)
{
    const bool by_reader =
        kind == PROF_MUTEX && question->rules->mutex == PROF_MUTEX_UNSCALED;
    struct props_fixture one;
    struct props_fixture both;

    finding->cells++;
    if (!props_fixture_begin(&one, question->rules) ||
        !props_fixture_begin(&both, question->rules)) {
        props_finding_fail(finding, "not enough memory");
    } else {
        const struct prof_contention_record first = added(&both, kind, from);
        struct prof_contention_record kept;
        struct prof_contention_record alone;
        struct prof_contention_record later;

        props_fixture_set_rate(&both, kind, to);
        kept = props_fixture_read(&both, kind);
        later = added(&both, kind, to);
        alone = added(&one, kind, to);
        if (!same(&first, &kept))
            props_finding_fail(finding,
                               "%s: %" PRIu64 " events recorded at a rate of "
                               "%" PRId64 " are %" PRIu64 " after it became "
                               "%" PRId64,
                               props_fixture_kind(kind), first.count, from,
                               kept.count, to);
        /* Counts are doubles that are cut off when shown, so only ticks can be
         * compared. */
        if (later.cycles != alone.cycles ||
            (both.era != MODEL_GO_1_17 && later.count != alone.count))
            props_finding_fail(finding,
                               "%s: after a rate of %" PRId64
                               " events at %" PRId64
                               " count otherwise than alone",
                               props_fixture_kind(kind), from, to);
        if (question->unbiased && by_reader && from > 0 && to > 0 &&
            from != to && from <= 64 && to <= 64 && first.count > 0)
            props_finding_deviates(
                finding, (double)to / (double)from - 1,
                "a reader takes mutex events of a fraction of %" PRId64
                " for %.4g times as many after it became %" PRId64,
                from, (double)to / (double)from, to);
    }
    props_fixture_end(&one);
    props_fixture_end(&both);
}

/* Record five allocations of 8 bytes at a rate. returns: false if that is not
 * possible */
static bool
sample_five(struct props_fixture *fixture, int64_t rate)
{
    const uintptr_t stack[] = {0x401000};
    int recorded = 0;

    prof_heap_rate_set(fixture->prof, rate);
    /* At the larger rate one in 512 is sampled, so 200,000 give more than 5. */
    for (int i = 0; i < 200000 && recorded < 5; i++) {
        if (prof_heap_sample(fixture->proc, 8)) {
            (void)prof_heap_alloc(fixture->proc, stack, 1, 8);
            recorded++;
        }
    }
    return recorded == 5;
}

/* The five must be shown with the rate at which they were sampled. */
static void
check_heap_records(const struct props_question *question,
                   struct props_fixture *fixture, const int64_t sampled_at[2],
                   struct props_finding *finding)
{
    struct prof_heap_record records[4];
    const bool exact = fixture->era == MODEL_EXACT;
    size_t count;

    if (prof_heap_snapshot(fixture->prof, PROF_SELECT_ALL, records, 4,
                           &count) != PROF_OK ||
        count != (exact ? 2 : 1)) {
        props_finding_fail(finding, "heap records of two rates: %zu listed",
                           count);
        return;
    }
    for (size_t i = 0; i < count; i++) { /* the newest first */
        const int64_t reported = records[i].rate_bytes;

        if (records[i].allocs != (exact ? 5 : 10) ||
            reported != sampled_at[1 - i])
            props_finding_fail(finding,
                               "%" PRIu64 " allocations are told to be sampled "
                               "at %" PRId64 ", expected %" PRId64,
                               records[i].allocs, reported, sampled_at[1 - i]);
    }
    if (!exact && question->unbiased)
        props_finding_deviates(
            finding, (double)sampled_at[1] / (double)sampled_at[0] - 1,
            "a reader takes allocations sampled at %" PRId64
            " bytes for some sampled at %" PRId64,
            sampled_at[0], sampled_at[1]);
}

static void
check_heap_change(const struct props_question *question,
                  struct props_finding *finding)
{
    static const int64_t sampled_at[2] = {64, 4096};
    struct props_fixture fixture;

    finding->cells++;
    if (!props_fixture_begin(&fixture, question->rules))
        props_finding_fail(finding, "not enough memory");
    else if (!sample_five(&fixture, sampled_at[0]) ||
             !sample_five(&fixture, sampled_at[1]))
        props_finding_fail(finding, "200,000 allocations, not five sampled");
    else
        check_heap_records(question, &fixture, sampled_at, finding);
    props_fixture_end(&fixture);
}

void
props_check_rate_change(const struct props_question *question,
                        struct props_finding *finding)
{
    check_heap_change(question, finding);
    for (int from = 0; from < RATES; from++) {
        for (int to = 0; to < RATES; to++) {
            check_change(question, PROF_BLOCK, rates[from], rates[to], finding);
            if (rates[from] >= 0 && rates[to] >= 0) /* < 0: reads */
                check_change(question, PROF_MUTEX, rates[from], rates[to],
                             finding);
        }
    }
}

/* ---- S5 ---- */

/* returns: how many numbers an event must draw if the first is not rejected */
static uint32_t
draws_due(const struct props_fixture *fixture, enum prof_contention kind,
          int64_t cycles, int64_t rate)
{
    if (kind == PROF_BLOCK)
        return rate > 1 && (cycles < 1 ? 1 : cycles) < rate;
    if (fixture->era == MODEL_GO_1_5)
        return 0;
    return fixture->era == MODEL_EXACT ? rate > 1 : rate > 0;
}

static void
check_draws(struct props_fixture *fixture, enum prof_contention kind,
            int64_t rate, struct props_finding *finding)
{
    int64_t effective = rate;

    props_fixture_set_rate(fixture, kind, rate);
    if (kind == PROF_BLOCK)
        effective = prof_block_rate_ticks(fixture->prof);
    else if (rate < 0) /* a negative rate reads, and changes nothing */
        effective = prof_mutex_fraction_set(fixture->prof, -1);
    for (int i = 0; i < LENGTHS; i++) {
        const uint32_t due = draws_due(fixture, kind, lengths[i], effective);
        /* Number 5 is not rejected at any rate. */
        const uint32_t got = props_fixture_event(fixture, kind, 5, lengths[i]);

        finding->cells++;
        if (got != due)
            props_finding_fail(finding,
                               "a %s event of %" PRId64 " ticks at a rate of "
                               "%" PRId64 " takes %" PRIu32
                               " random numbers, expected %" PRIu32,
                               props_fixture_kind(kind), lengths[i], effective,
                               got, due);
    }
}

void
props_check_draws(const struct props_question *question,
                  struct props_finding *finding)
{
    struct props_fixture fixture;

    if (!props_fixture_begin(&fixture, question->rules)) {
        props_finding_fail(finding, "not enough memory");
    } else {
        for (int i = 0; i < RATES; i++) {
            check_draws(&fixture, PROF_BLOCK, rates[i], finding);
            check_draws(&fixture, PROF_MUTEX, rates[i], finding);
        }
    }
    props_fixture_end(&fixture);
}
