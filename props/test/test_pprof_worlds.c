/*
 * test_pprof_worlds.c -- in random worlds, a profile that is read back equals
 * the snapshot from which it was written (P1).
 *
 * The snapshot itself is judged elsewhere. Here no record may be missing or
 * listed twice, and every frame, size and value must be the one that the
 * library returned; sampled values are scaled independently, by libm.
 */
#include <math.h>
#include <stdlib.h>

#include "common/choice.h"
#include "sim/generate/generate.h"
#include "prof/test/pprof/pprof_case.h"
#include "prof/text.h"
#include "props/judge/run.h"
#include "common/test/unit_test.h"

enum { SEEDS = 400, CHOICES_MAX = 1 << 20, RECORDS_MAX = 1 << 14 };

static struct case_run run;
static struct prof_heap_record heap[RECORDS_MAX];
static struct prof_contention_record waits[RECORDS_MAX];
static size_t records_seen;
static size_t sampled_seen;

/* ---- Comparing ---- */

static void
assert_stack(const struct model_pprof_sample *sample, const uintptr_t *stack,
             uint32_t depth)
{
    if (depth == 0) {
        assert_int_equal(sample->locations_count, 1);
        assert_int_equal(
            model_pprof_location(&run.profile, sample->locations[0])->address,
            CASE_LOST - 1);
        return;
    }
    assert_int_equal(sample->locations_count, depth);
    for (uint32_t i = 0; i < depth; i++) {
        const uint64_t address =
            model_pprof_location(&run.profile, sample->locations[i])->address;

        assert_int_equal(address, stack[i] == 0 ? 0 : stack[i] - 1);
    }
}

/* Compare with the value scaled directly; an integer may be cut or rounded. */
static void
assert_scaled(int64_t got, int64_t recorded, const struct prof_heap_record *of)
{
    double share;
    double want;

    /* Beyond 2^40 bytes counts may wrap, and cannot be estimated. */
    if (of->size_bytes >> 40 != 0)
        return;
    if (of->size_bytes == 0 || recorded == 0) {
        assert_int_equal(got, 0);
        return;
    }
    if (of->rate_bytes <= 1) {
        assert_int_equal(got, recorded);
        return;
    }
    /* Go's rules subtract from 1, which loses digits if few bytes are
     * sampled. */
    share = (double)of->size_bytes / (double)of->rate_bytes;
    want = (double)recorded / -expm1(-share);
    /* An estimate that does not fit into int64 is the largest or smallest
     * one. */
    want = fmax(-0x1p63, fmin(want, 0x1p63));
    assert_true(fabs((double)got - want) <=
                1 + fabs(want) * (1e-12 + 0x1p-51 / share));
    sampled_seen++;
}

static void
compare_heap(struct prof *prof, const struct prof_rules *rules)
{
    size_t count;

    assert_int_equal(
        prof_heap_snapshot(prof, PROF_SELECT_ALL, heap, RECORDS_MAX, &count),
        PROF_OK);
    case_begin(&run);
    run.output.symbols.find = NULL;
    run.output.rules = rules;
    case_read(&run, prof_pprof_heap(&run.output, heap, count,
                                    prof_heap_rate(prof), PROF_VIEW_INUSE));
    assert_int_equal(run.profile.samples_count, count);
    for (size_t i = 0; i < count; i++) {
        const struct model_pprof_sample *sample = &run.profile.samples[i];
        const struct prof_heap_record *record = &heap[i];

        assert_stack(sample, record->stack, record->depth);
        assert_scaled(sample->values[0], (int64_t)record->allocs, record);
        assert_scaled(sample->values[1], (int64_t)prof_heap_alloc_bytes(record),
                      record);
        assert_scaled(sample->values[2], prof_heap_inuse_objects(record),
                      record);
        assert_scaled(sample->values[3], prof_heap_inuse_bytes(record), record);
        if (sample->labels_count > 0)
            assert_int_equal(sample->labels[0].number, record->size_bytes);
    }
    records_seen += count;
    case_end(&run);
}

/* The number that a file shows for `number` events: the nearest int64. */
static uint64_t
times(uint64_t number, uint64_t period)
{
    int64_t product;

    if (!__builtin_mul_overflow((int64_t)number, (int64_t)period, &product))
        return (uint64_t)product;
    return (uint64_t)((int64_t)number < 0 ? INT64_MIN : INT64_MAX);
}

static void
compare_contention(struct prof *prof, enum prof_contention kind)
{
    const uint64_t period = kind == PROF_MUTEX ? prof_mutex_period(prof) : 1;
    uint64_t events = 0;
    uint64_t ticks = 0;
    size_t count;

    assert_int_equal(
        prof_contention_snapshot(prof, kind, waits, RECORDS_MAX, &count),
        PROF_OK);
    case_begin(&run);
    run.output.symbols.find = NULL;
    case_read(&run, prof_pprof_contention(&run.output, waits, count, 1000000000,
                                          period));
    assert_int_equal(run.profile.samples_count, count);
    for (size_t i = 0; i < count; i++) {
        events += times(waits[i].count, period) -
                  (uint64_t)run.profile.samples[i].values[0];
        ticks += times(waits[i].cycles, period) -
                 (uint64_t)run.profile.samples[i].values[1];
        if (i > 0)
            assert_true(run.profile.samples[i].values[1] <=
                        run.profile.samples[i - 1].values[1]);
    }
    assert_int_equal(events, 0);
    assert_int_equal(ticks, 0);
    records_seen += count;
    case_end(&run);
}

/* ---- Worlds ---- */

static void
compare_worlds(const struct prof_rules *rules)
{
    struct sim_choice *list = calloc(CHOICES_MAX, sizeof *list);
    struct props_run *world = props_run_new(&sim_generator_limits);
    struct sim_choices choices;

    assert_non_null(list);
    assert_non_null(world);
    sim_choices_init(&choices, list, CHOICES_MAX);
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct prof *prof;

        sim_choices_random(&choices, seed);
        if (!props_run_choices(world, &choices, rules, SIM_WORLDS_HEAPS,
                               PROPS_ALL))
            fail_msg("seed %llu: %s", (unsigned long long)seed,
                     world->judge.breach.text);
        prof = sim_world_prof(world->judge.world);
        compare_heap(prof, rules);
        compare_contention(prof, PROF_BLOCK);
        compare_contention(prof, PROF_MUTEX);
    }
    props_run_delete(world);
    free(list);
}

TEST(profiles_of_generated_worlds_read_back_as_their_snapshots)
{
    records_seen = 0;
    sampled_seen = 0;
    compare_worlds(&prof_rules_exact);
    /* Records were compared, and some of them were scaled. */
    assert_true(records_seen > SEEDS);
    print_message("%zu records, %zu values scaled\n", records_seen,
                  sampled_seen);
}

TEST(so_do_those_of_worlds_under_older_rules)
{
    compare_worlds(&prof_rules_go1_5);
    compare_worlds(&prof_rules_go1_10);
    compare_worlds(&prof_rules_go1_17);
}
