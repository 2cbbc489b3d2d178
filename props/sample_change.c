/*
 * sample_change.c -- S4 and S5: what a change of rate leaves alone, and exactly
 * when a random number is taken.
 */
#include "checker.h"

#include <inttypes.h>

#include "lab.h"

static const int64_t rates[] = {
    1, 2, 7, 64, 1000, 1 << 20, INT64_C(1) << 40, INT64_MAX, 0, -1};
static const int64_t lengths[] = {
    INT64_MIN, -1, 0, 1, 6, 7, 63, 64, 999, 1 << 20, INT64_C(1) << 40};

enum {
    RATES = sizeof rates / sizeof *rates,
    LENGTHS = sizeof lengths / sizeof *lengths,
    EVENTS = 64
};

static const char *
name_of(enum prof_contention kind)
{
    return kind == PROF_BLOCK ? "block" : "mutex";
}

static void
set_rate(struct props_lab *lab, enum prof_contention kind, int64_t rate)
{
    if (kind == PROF_BLOCK)
        prof_block_rate_set(lab->prof, rate);
    else
        (void)prof_mutex_fraction_set(lab->prof, rate);
}

/* ------------------------------------------------------------------------- S4
 */

/* Some number, of all that there are. */
static uint64_t
number_at(const struct props_lab *lab, uint64_t i)
{
    if (lab->era == MODEL_EXACT)
        return i << 58 | 12345;
    return props_lab_first(lab) + i;
}

/* What EVENTS events add to a profile that holds something else already. */
static struct prof_contention_record
added(struct props_lab *lab, enum prof_contention kind, int64_t rate)
{
    const struct prof_contention_record before = props_lab_read(lab, kind);
    struct prof_contention_record after;

    set_rate(lab, kind, rate);
    for (uint64_t i = 0; i < EVENTS; i++)
        (void)props_lab_event(lab, kind, number_at(lab, i),
                              (int64_t)(1 + i % 7));
    after = props_lab_read(lab, kind);
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

/* Record under one rate, change it: what is there, and what comes, is right. */
static void
check_change(const struct props_question *question, enum prof_contention kind,
             int64_t from, int64_t to, struct props_finding *finding)
{
    const bool by_reader =
        kind == PROF_MUTEX && question->rules->mutex == PROF_MUTEX_UNSCALED;
    struct props_lab one;
    struct props_lab both;

    finding->cells++;
    if (!props_lab_begin(&one, question->rules) ||
        !props_lab_begin(&both, question->rules)) {
        props_finding_fail(finding, "not enough memory");
    } else {
        const struct prof_contention_record first = added(&both, kind, from);
        struct prof_contention_record kept;
        struct prof_contention_record alone;
        struct prof_contention_record later;

        set_rate(&both, kind, to);
        kept = props_lab_read(&both, kind);
        later = added(&both, kind, to);
        alone = added(&one, kind, to);
        if (!same(&first, &kept))
            props_finding_fail(finding,
                               "%s: %" PRIu64 " events recorded at a rate of "
                               "%" PRId64 " are %" PRIu64 " after it became "
                               "%" PRId64,
                               name_of(kind), first.count, from, kept.count,
                               to);
        /* Counts in doubles are cut when shown, so only ticks compare. */
        if (later.cycles != alone.cycles ||
            (both.era != MODEL_GO_1_17 && later.count != alone.count))
            props_finding_fail(finding,
                               "%s: after a rate of %" PRId64
                               " events at %" PRId64
                               " count otherwise than alone",
                               name_of(kind), from, to);
        if (question->unbiased && by_reader && from > 0 && to > 0 &&
            from != to && from <= 64 && to <= 64 && first.count > 0)
            props_finding_deviates(
                finding, (double)to / (double)from - 1,
                "a reader takes mutex events of a fraction of %" PRId64
                " for %.4g times as many after it became %" PRId64,
                from, (double)to / (double)from, to);
    }
    props_lab_end(&one);
    props_lab_end(&both);
}

void
props_check_rate_change(const struct props_question *question,
                        struct props_finding *finding)
{
    for (int from = 0; from < RATES; from++) {
        for (int to = 0; to < RATES; to++) {
            check_change(question, PROF_BLOCK, rates[from], rates[to], finding);
            if (rates[from] >= 0 && rates[to] >= 0) /* less only reads */
                check_change(question, PROF_MUTEX, rates[from], rates[to],
                             finding);
        }
    }
}

/* ------------------------------------------------------------------------- S5
 */

/* How many numbers an event must take, if the first is of use. */
static uint32_t
draws_due(const struct props_lab *lab, enum prof_contention kind,
          int64_t cycles, int64_t rate)
{
    if (kind == PROF_BLOCK)
        return rate > 1 && (cycles < 1 ? 1 : cycles) < rate;
    if (lab->era == MODEL_GO_1_5)
        return 0;
    return lab->era == MODEL_EXACT ? rate > 1 : rate > 0;
}

static void
check_draws(struct props_lab *lab, enum prof_contention kind, int64_t rate,
            struct props_finding *finding)
{
    int64_t effective = rate;

    set_rate(lab, kind, rate);
    if (kind == PROF_BLOCK)
        effective = prof_block_rate_ticks(lab->prof);
    else if (rate < 0) /* reads, and changes nothing */
        effective = prof_mutex_fraction_set(lab->prof, -1);
    for (int i = 0; i < LENGTHS; i++) {
        const uint32_t due = draws_due(lab, kind, lengths[i], effective);
        /* 5 is of use whatever the rate. */
        const uint32_t got = props_lab_event(lab, kind, 5, lengths[i]);

        finding->cells++;
        if (got != due)
            props_finding_fail(finding,
                               "a %s event of %" PRId64 " ticks at a rate of "
                               "%" PRId64 " takes %" PRIu32
                               " random numbers, expected %" PRIu32,
                               name_of(kind), lengths[i], effective, got, due);
    }
}

void
props_check_draws(const struct props_question *question,
                  struct props_finding *finding)
{
    struct props_lab lab;

    if (!props_lab_begin(&lab, question->rules)) {
        props_finding_fail(finding, "not enough memory");
    } else {
        for (int i = 0; i < RATES; i++) {
            check_draws(&lab, PROF_BLOCK, rates[i], finding);
            check_draws(&lab, PROF_MUTEX, rates[i], finding);
        }
    }
    props_lab_end(&lab);
}
