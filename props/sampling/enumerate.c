/*
 * enumerate.c -- S2, S3, S4, S5: for every pair of a length and a rate, offer
 * one event for each remainder that a random number can have modulo the rate.
 * The sums must equal the closed forms exactly.
 *
 * For large rates that is too much. There the random numbers are taken in
 * blocks of `rate`: in each block the rules keep the first few numbers and no
 * other. Bisection finds where these end, and the ends of the block are
 * checked. Exact rules have too many blocks for that; for them the test counts
 * how many numbers lead to each outcome, which must be equally many, and which
 * outcomes are kept.
 */
#include "props/sampling/checker.h"

#include <inttypes.h>
#include <stdlib.h>

#include "props/sampling/sampling_fixture.h"
#include "model/heap/sampling.h"

enum { RATES = 64, LENGTHS = 64 };

static struct model_sums
sums_of(const struct props_fixture *fixture, enum prof_contention kind,
        struct model_draws draws, uint64_t cycles, uint64_t rate)
{
    return kind == PROF_BLOCK
               ? model_block_sums(fixture->era, draws, cycles, rate)
               : model_mutex_sums(fixture->era, draws, cycles, rate);
}

/* returns: the factor by which a reader must multiply a mutex record by these
 * rules */
static uint64_t
reader_factor(const struct prof_rules *rules, enum prof_contention kind,
              uint64_t rate)
{
    return kind == PROF_MUTEX && rules->mutex == PROF_MUTEX_UNSCALED ? rate : 1;
}

/* ---- small rates: all numbers ---- */

/* The count that go1.17 shows of `kept` events: a sum of doubles, cut off. */
static uint64_t
count_in_doubles(const struct model_sums *sums, enum prof_contention kind)
{
    const double each = (double)(uint64_t)(sums->count_top / sums->kept) /
                        (double)(uint64_t)sums->count_bottom;
    double sum = 0;

    for (model_u128 i = 0; i < sums->kept; i++)
        sum += each;
    return sum < 1 && kind == PROF_BLOCK ? 1 : (uint64_t)sum;
}

static void
compare_cell(const struct props_question *question,
             struct props_fixture *fixture, enum prof_contention kind,
             uint64_t cycles, uint64_t rate, struct props_finding *finding)
{
    const struct model_draws draws = {props_fixture_first(fixture), rate};
    const struct model_sums sums = sums_of(fixture, kind, draws, cycles, rate);
    const struct prof_contention_record got = props_fixture_read(fixture, kind);
    uint64_t count = (uint64_t)(sums.count_top / sums.count_bottom);

    finding->cells++;
    if (question->unbiased) {
        const uint64_t factor = reader_factor(question->rules, kind, rate);
        const double c = (double)cycles * (double)rate;
        const double by_count = (double)(got.count * factor) / (double)rate - 1;
        const double by_time =
            cycles == 0 ? 0 : (double)(got.cycles * factor) / c - 1;

        if (got.count * factor != rate || got.cycles * factor != cycles * rate)
            props_finding_deviates(
                finding, by_time != 0 ? by_time : by_count,
                "%s events of %" PRIu64 " ticks at a rate of %" PRIu64
                " count %+.4g %% events and %+.4g %% ticks too many",
                props_fixture_kind(kind), cycles, rate, 100 * by_count,
                100 * by_time);
        return;
    }
    if (fixture->era == MODEL_GO_1_17 && sums.kept > 0)
        count = count_in_doubles(&sums, kind);
    if (got.count != count || got.cycles != (uint64_t)sums.cycles)
        props_finding_fail(finding,
                           "%s events of %" PRIu64 " ticks, each remainder of "
                           "rate %" PRIu64 " once: %" PRIu64
                           " events of %" PRIu64 " ticks, expected %" PRIu64
                           " of %" PRIu64,
                           props_fixture_kind(kind), cycles, rate, got.count,
                           got.cycles, count, (uint64_t)sums.cycles);
}

/* Offer one event of a cell for each remainder. */
static void
enumerate_cell(const struct props_question *question, enum prof_contention kind,
               uint64_t cycles, uint64_t rate, struct props_finding *finding)
{
    struct props_fixture fixture;

    if (!props_fixture_begin(&fixture, question->rules)) {
        props_finding_fail(finding, "not enough memory");
    } else {
        props_fixture_set_rate(&fixture, kind, (int64_t)rate);
        for (uint64_t u = 0; u < rate; u++)
            (void)props_fixture_event(&fixture, kind,
                                      props_fixture_number(&fixture, u, rate),
                                      (int64_t)cycles);
        compare_cell(question, &fixture, kind, cycles, rate, finding);
    }
    props_fixture_end(&fixture);
}

static void
enumerate(const struct props_question *question, enum prof_contention kind,
          uint64_t least_cycles, struct props_finding *finding)
{
    for (uint64_t rate = 1; rate <= RATES; rate++) {
        for (uint64_t cycles = least_cycles; cycles <= LENGTHS; cycles++)
            enumerate_cell(question, kind, cycles, rate, finding);
    }
}

/* ---- large rates: the borders ---- */

struct border {
    struct props_fixture *fixture;
    enum prof_contention kind;
    int64_t cycles;
    uint32_t draws; /* numbers that the last event drew */
};

/* returns: the events and ticks that one event adds if it draws this number */
static struct prof_contention_record
added_by(struct border *border, uint64_t drawn)
{
    const struct prof_contention_record before =
        props_fixture_read(border->fixture, border->kind);
    struct prof_contention_record after;

    border->draws = props_fixture_event(border->fixture, border->kind, drawn,
                                        border->cycles);
    after = props_fixture_read(border->fixture, border->kind);
    after.count -= before.count;
    after.cycles -= before.cycles;
    return after;
}

static bool
kept(struct border *border, uint64_t drawn)
{
    return added_by(border, drawn).cycles != 0;
}

/* returns: how many numbers of a block are kept, from `first` on; the block has
 * `length` */
static uint64_t
kept_in_block(struct border *border, uint64_t first, uint64_t length)
{
    uint64_t low = 0; /* all numbers below are kept */
    uint64_t high = length;

    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;

        if (kept(border, first + middle))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Count the numbers of a narrow generator that are kept. */
static model_u128
kept_in_all(struct border *border, struct model_draws draws, uint64_t rate)
{
    const model_u128 end = draws.first + draws.count;
    model_u128 sum = 0;
    model_u128 block = 0;

    while (block < end) {
        const model_u128 first = block < draws.first ? draws.first : block;
        const model_u128 next = block + rate < end ? block + rate : end;

        sum += kept_in_block(border, (uint64_t)first, (uint64_t)(next - first));
        block = next;
    }
    return sum;
}

static void
compare_width(const struct props_question *question, struct border *border,
              uint64_t rate, struct props_finding *finding)
{
    const struct model_draws draws = model_era_draws(border->fixture->era);
    const uint64_t cycles = (uint64_t)border->cycles;
    const struct model_sums sums =
        sums_of(border->fixture, border->kind, draws, cycles, rate);
    const model_u128 got = kept_in_all(border, draws, rate);
    const struct model_factors factors = model_factors_of(&sums, cycles);
    const double deviation =
        factors.cycles *
            (double)reader_factor(question->rules, border->kind, rate) -
        1;

    if (got != sums.kept)
        props_finding_fail(finding,
                           "%s events of %" PRIu64
                           " ticks at a rate of %" PRIu64 ": %" PRIu64
                           " numbers are kept, expected %" PRIu64,
                           props_fixture_kind(border->kind), cycles, rate,
                           (uint64_t)got, (uint64_t)sums.kept);
    if (question->unbiased && deviation != 0)
        props_finding_deviates(
            finding, deviation,
            "%s events of %" PRIu64 " ticks at a rate of %" PRIu64
            " count %.4g times their ticks",
            props_fixture_kind(border->kind), cycles, rate, deviation + 1);
}

/* returns: the first number that leads to outcome u of `rate`, by exact
 * rules */
static uint64_t
first_of(uint64_t u, uint64_t rate)
{
    return (uint64_t)((((model_u128)u << 64) + rate - 1) / rate);
}

/* Equally many numbers, apart from rejected ones, must lead to each outcome. */
static void
check_outcome(struct border *border, uint64_t u, uint64_t rate,
              struct props_finding *finding)
{
    const uint64_t first = first_of(u, rate);
    /* The last outcome ends at 2^64, which wraps to 0; the difference is
     * right. */
    const uint64_t length = first_of(u + 1, rate) - first;
    const uint64_t want = (uint64_t)(((model_u128)1 << 64) / rate);
    uint64_t useful = length;

    for (uint64_t i = 0; i < 3 && i < length; i++) {
        (void)added_by(border, i < 2 ? first + i : first + length - 1);
        useful -= border->draws > 1;
    }
    finding->cells++;
    if (useful != want)
        props_finding_fail(finding,
                           "outcome %" PRIu64 " of rate %" PRIu64
                           " is led to by %" PRIu64
                           " numbers, expected %" PRIu64,
                           u, rate, useful, want);
}

/* Check what outcome u adds: events and ticks, or nothing. */
static void
check_added(struct border *border, uint64_t u, uint64_t rate,
            struct props_finding *finding)
{
    const bool block = border->kind == PROF_BLOCK;
    const uint64_t wanted = block ? (uint64_t)border->cycles : 1;
    const struct prof_contention_record got =
        added_by(border, props_fixture_number(border->fixture, u, rate));
    uint64_t count = 0;

    if (u < wanted) /* of u, u + wanted, ... so many are below the rate */
        count = (rate - u + wanted - 1) / wanted;
    finding->cells++;
    if (got.count != count || (block && got.cycles != (u < wanted ? rate : 0)))
        props_finding_fail(
            finding,
            "outcome %" PRIu64 " of %" PRIu64 ", for events of %" PRId64
            " ticks: %" PRIu64 " events of %" PRIu64 " ticks, expected %" PRIu64
            " events",
            u, rate, border->cycles, got.count, got.cycles, count);
}

/*
 * Under the exact rules the outcomes that are kept come first; bisection finds
 * how many. Outcomes at each border, and some between, are checked one by one.
 */
static void
check_exact_width(struct border *border, uint64_t rate,
                  struct props_finding *finding)
{
    const uint64_t wanted =
        border->kind == PROF_BLOCK ? (uint64_t)border->cycles : 1;
    const uint64_t rest = rate % wanted;
    const uint64_t picks[] = {0,          1,        rest - 1,   rest,
                              wanted - 1, wanted,   wanted + 1, rate / 3,
                              rate / 2,   rate - 2, rate - 1};
    uint64_t low = 0; /* all outcomes below are kept */
    uint64_t high = rate;

    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;

        if (kept(border, props_fixture_number(border->fixture, middle, rate)))
            low = middle + 1;
        else
            high = middle;
    }
    if (low != wanted)
        props_finding_fail(finding,
                           "%" PRIu64 " of %" PRIu64
                           " outcomes are kept, expected %" PRIu64,
                           low, rate, wanted);
    for (size_t i = 0; i < sizeof picks / sizeof *picks; i++) {
        if (picks[i] >= rate)
            continue;
        check_outcome(border, picks[i], rate, finding);
        check_added(border, picks[i], rate, finding);
    }
}

static void
check_width(const struct props_question *question, enum prof_contention kind,
            uint64_t cycles, uint64_t rate, struct props_finding *finding)
{
    struct props_fixture fixture;

    finding->cells++;
    if (!props_fixture_begin(&fixture, question->rules)) {
        props_finding_fail(finding, "not enough memory");
    } else {
        struct border border = {&fixture, kind, (int64_t)cycles, 0};

        props_fixture_set_rate(&fixture, kind, (int64_t)rate);
        if (kind == PROF_BLOCK &&
            prof_block_rate_ticks(fixture.prof) != (int64_t)rate)
            props_finding_fail(finding, "the rate %" PRIu64 " became %" PRId64,
                               rate, prof_block_rate_ticks(fixture.prof));
        else if (fixture.era == MODEL_EXACT)
            check_exact_width(&border, rate, finding);
        else
            compare_width(question, &border, rate, finding);
    }
    props_fixture_end(&fixture);
}

static void
check_widths(const struct props_question *question, enum prof_contention kind,
             struct props_finding *finding)
{
    static const uint64_t rates[] = {
        (UINT64_C(1) << 28) + 1, UINT64_C(1) << 31, UINT64_C(3000000000),
        UINT64_C(1) << 32,       UINT64_C(1) << 34, UINT64_C(1) << 40,
    };
    static const uint64_t lengths[] = {1, 2, 9, 1000, 1000000, 100000007};

    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        for (size_t j = 0; j < sizeof lengths / sizeof *lengths; j++)
            check_width(question, kind, lengths[j], rates[i], finding);
        if (kind == PROF_BLOCK)
            check_width(question, kind, rates[i] - 1, rates[i], finding);
    }
}

void
props_check_block(const struct props_question *question,
                  struct props_finding *finding)
{
    enumerate(question, PROF_BLOCK, 1, finding);
    check_widths(question, PROF_BLOCK, finding);
}

void
props_check_mutex(const struct props_question *question,
                  struct props_finding *finding)
{
    if (question->rules->mutex == PROF_MUTEX_ABSENT && question->unbiased)
        return; /* there is nothing to check */
    enumerate(question, PROF_MUTEX, 0, finding);
    if (question->rules->mutex != PROF_MUTEX_ABSENT)
        check_widths(question, PROF_MUTEX, finding);
}
