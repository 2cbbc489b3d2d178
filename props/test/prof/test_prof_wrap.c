/*
 * test_prof_wrap.c -- the heap profile through all cycle numbers and beyond the
 * wrap (H6).
 *
 * The test counts cycles in 64 bits, so its n never wraps. After the flush of
 * cycle n, the allocations of cycles up to n - 2 and the frees of cycles up to
 * n - 1 must be published; the test computes them as sums, without a modulo.
 *
 * Under a sanitizer the test begins ten cycles before the wrap.
 */
#include "prof/prof.h"
#include "sanitized.h"
#include "test_prof_make.h"
#include "unit_test.h"

#define WRAP  100663296U /* written out, to check the header's */
#define AFTER 64U
#define NEAR  40U

/* The state of the test, and the sums it expects. */
struct drive {
    struct prof *prof;
    prof_bucket bucket;
    uint64_t allocs;      /* made so far */
    uint64_t frees;       /* made so far */
    uint64_t allocs_last; /* made by the end of the last cycle */
    uint64_t allocs_due;  /* made by the end of the cycle before that: published
                           * now */
    uint64_t compared;
};

/*
 * A wrong wrap, or a cycle stored in too few bits, would show at the wrap, or
 * at a power of two from 2^23 on; all these are multiples of 2^23.
 */
static bool
is_near_an_edge(uint64_t n)
{
    return (n + NEAR) % (1U << 23) <= NEAR + AFTER;
}

/* How many events cycle n has: one far from an edge every 4099 cycles, else
 * none; more near an edge. */
static uint32_t
events_of(uint64_t n)
{
    if (is_near_an_edge(n))
        return (uint32_t)(n * 7 % 5);
    return n % 4099 == 0; /* 4099 is prime, so each slot gets events */
}

static void
record_cycle(struct drive *drive, uint64_t n)
{
    static const uintptr_t frame = 0x401000;
    struct prof_proc *proc = prof_proc_at(drive->prof, 0);
    const uint32_t events = events_of(n);

    for (uint32_t i = 0; i < events; i++) {
        drive->bucket = prof_heap_alloc(proc, &frame, 1, 8);
        drive->allocs++;
    }
    /* Free objects that the last mark found dead: allocated at least two cycles
     * ago. */
    for (uint32_t i = 0; i < events && drive->frees < drive->allocs_due; i++) {
        prof_heap_free(proc, drive->bucket);
        drive->frees++;
    }
}

/* Update the expected sums at the end of a cycle. */
static void
count_cycle(struct drive *drive)
{
    drive->allocs_due = drive->allocs_last;
    drive->allocs_last = drive->allocs;
}

static void
see(void *context, const struct prof_heap_record *record)
{
    struct prof_heap_record *seen = context;

    *seen = *record;
}

static void
compare(struct drive *drive, uint64_t n)
{
    struct prof_heap_record seen = {0};
    const struct prof_heap_phase phase = prof_heap_phase(drive->prof);

    prof_heap_iterate(drive->prof, see, &seen);
    if (seen.allocs != drive->allocs_due || seen.frees != drive->frees)
        fail_msg("cycle %llu: %llu allocs, not %llu; %llu frees, not %llu",
                 (unsigned long long)n, (unsigned long long)seen.allocs,
                 (unsigned long long)drive->allocs_due,
                 (unsigned long long)seen.frees,
                 (unsigned long long)drive->frees);
    assert_int_equal(phase.cycle, n < WRAP ? n : n - WRAP);
    assert_true(phase.flushed);
    drive->compared++;
}

TEST(every_cycle_number_is_driven_through)
{
    const uint32_t first = SANITIZED ? WRAP - 10 : 0;
    const struct prof_config config = {.buckets_max = 1, .cycle_first = first};
    struct drive drive = {.prof = props_prof_make(&config)};

    for (uint64_t n = first; n < (uint64_t)WRAP + AFTER; n++) {
        const bool is_busy = is_near_an_edge(n) || events_of(n) > 0;

        if (is_busy)
            record_cycle(&drive, n);
        if (prof_heap_next_cycle(drive.prof) != PROF_OK ||
            prof_heap_flush(drive.prof) != PROF_OK)
            fail_msg("cycle %llu is refused", (unsigned long long)n);
        count_cycle(&drive);
        if (is_busy)
            compare(&drive, n + 1);
    }
    assert_true(drive.compared >= AFTER);
    if (!SANITIZED)
        assert_true(drive.frees > WRAP / 4099 / 2); /* the test made events */
    props_prof_drop(drive.prof);
}

/* Start in each phase of the ring; snapshots and post_sweeps go across the
 * wrap. */
TEST(a_collection_across_the_wrap_shows_as_any_other)
{
    static const uintptr_t frame = 0x401000;

    assert_int_equal(PROF_CYCLE_WRAP, WRAP);
    for (uint32_t below = 1; below <= 12; below++) {
        const struct prof_config config = {.buckets_max = 1,
                                           .cycle_first = WRAP - below};
        struct prof *prof = props_prof_make(&config);
        struct prof_proc *proc = prof_proc_at(prof, 0);

        /* In each cycle one object is allocated, is found dead, is swept, and
         * shows at once. */
        for (uint64_t n = 0; n < 24; n++) {
            struct prof_heap_record record = {0};
            const prof_bucket bucket = prof_heap_alloc(proc, &frame, 1, 8);
            size_t count;

            assert_int_equal(prof_heap_next_cycle(prof), PROF_OK);
            assert_int_equal(prof_heap_flush(prof), PROF_OK);
            prof_heap_free(proc, bucket);
            assert_int_equal(prof_heap_post_sweep(prof), PROF_OK);
            assert_int_equal(
                prof_heap_snapshot(prof, PROF_SELECT_ALL, &record, 1, &count),
                PROF_OK);
            assert_int_equal(record.allocs, n + 1);
            assert_int_equal(record.frees, n + 1);
        }
        props_prof_drop(prof);
    }
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
