/*
 * heap_bins.c -- a test of test_heap_command.c: a random heap over time, as the
 * page of a run shows it. Each bin, site and lock is added up here from the
 * events, moment by moment.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "heap_model.h"
#include "heap_random.h"
#include "heap_time.h"
#include "unit_test.h"

enum { EVENTS = MODEL_EVENTS + 1, SITES = MODEL_STACKS + 64 };

static struct heap_model model;
static struct sim_recorded events[EVENTS];
static uint32_t events_count;
static uint64_t duration_ticks;
static uint32_t site_of[MODEL_STACKS];
static uint32_t sites_count;

/* Which event made the object as it is now; 0: none has, or it is freed. */
static uint32_t made_by[EVENTS];

static bool
adds(const struct sim_recorded *event)
{
    return event->kind == SIM_RECORDED_ALLOC ||
           event->kind == SIM_RECORDED_RESIZE;
}

static struct sim_recording *
read_events(const char *path)
{
    struct sim_recording_error error;
    struct sim_recording_cursor cursor;
    struct sim_recording *recording;

    assert_true(sim_recording_open(&recording, path, &error));
    sim_recording_begin(recording, &cursor);
    for (events_count = 0;
         sim_recording_next(&cursor, &events[events_count + 1]); events_count++)
        assert_in_range(events_count, 0, EVENTS - 3);
    assert_in_range(events_count, 1, EVENTS - 2);
    duration_ticks = events[events_count].ticks;
    return recording;
}

/* Make an event's change. */
static void
apply(uint32_t number)
{
    const struct sim_recorded *event = &events[number];

    if (adds(event))
        made_by[event->object] = number;
    else if (event->kind == SIM_RECORDED_FREE)
        made_by[event->object] = 0;
}

/* ---- Sites ---- */

/* The most that each site ever has in use. */
static void
find_peaks(uint64_t *most)
{
    static uint64_t in_use[SITES];

    memset(in_use, 0, sizeof in_use);
    memset(most, 0, SITES * sizeof *most);
    memset(made_by, 0, sizeof made_by);
    for (uint32_t i = 1; i <= events_count; i++) {
        const uint32_t old =
            events[i].kind == SIM_RECORDED_FREE || adds(&events[i])
                ? made_by[events[i].object]
                : 0;

        if (old != 0)
            in_use[site_of[events[old].stack]] -= events[old].size_bytes;
        if (adds(&events[i])) {
            uint64_t *const now = &in_use[site_of[events[i].stack]];

            *now += events[i].size_bytes;
            if (*now > most[site_of[events[i].stack]])
                most[site_of[events[i].stack]] = *now;
        }
        apply(i);
    }
}

/* The sites with the highest peaks come first; of equal ones, the lower
 * number. out: place, of each site */
static void
expect_sites(const struct cli_heap_time *time, uint32_t *place)
{
    static uint64_t most[SITES];
    uint32_t shown = 0;

    find_peaks(most);
    for (uint32_t s = 0; s < sites_count; s++) {
        uint32_t before = 0;

        for (uint32_t t = 0; t < sites_count; t++)
            before += most[t] > most[s] || (most[t] == most[s] && t < s);
        place[s] =
            before < CLI_TIME_SITES && most[s] > 0 ? before : CLI_TIME_SITES;
        if (place[s] == CLI_TIME_SITES)
            continue;
        assert_int_equal(time->sites[before], s);
        shown++;
    }
    assert_int_equal(time->sites_count, shown);
}

/* ---- Bins ---- */

struct moment {
    struct cli_time_bin bin;
    uint64_t total;
};

/* Add up what is in use now. */
static void
take_moment(const uint32_t *place, uint64_t objects, struct moment *moment)
{
    double variance = 0;

    *moment = (struct moment){.total = 0};
    for (uint64_t i = 0; i < objects; i++) {
        const struct sim_recorded *by = &events[made_by[i]];
        const double size = (double)by->size_bytes;

        if (made_by[i] == 0)
            continue;
        moment->bin.objects++;
        moment->bin.bytes[place[site_of[by->stack]]] += by->size_bytes;
        moment->total += by->size_bytes;
        if (size > 0)
            variance += size * size / expm1(size / CLI_TIME_RATE_BYTES);
    }
    moment->bin.sigma_bytes = sqrt(variance);
}

static uint32_t
bin_of(uint64_t ticks)
{
    const double part = (double)ticks / ((double)duration_ticks + 1);
    const uint32_t bin = (uint32_t)(part * CLI_TIME_BINS);

    return bin < CLI_TIME_BINS ? bin : CLI_TIME_BINS - 1;
}

static void
expect_bin(const struct cli_time_bin *found, const struct moment *most,
           uint64_t allocs)
{
    assert_memory_equal(found->bytes, most->bin.bytes, sizeof found->bytes);
    assert_int_equal(found->objects, most->bin.objects);
    assert_int_equal(found->allocs, allocs);
    if (fabs(found->sigma_bytes - most->bin.sigma_bytes) >
        most->bin.sigma_bytes / 1e9 + 0.5)
        fail_msg("sigma %f, not %f", found->sigma_bytes, most->bin.sigma_bytes);
}

/* A bin shows its first moment with the most bytes, from what the bin before
 * leaves on. */
static void
expect_bins(const struct cli_heap_time *time, const uint32_t *place,
            uint64_t objects)
{
    uint32_t next = 1;

    memset(made_by, 0, sizeof made_by);
    for (uint32_t b = 0; b < CLI_TIME_BINS; b++) {
        struct moment most;
        uint64_t allocs = 0;

        take_moment(place, objects, &most);
        if (b > bin_of(duration_ticks))
            most = (struct moment){.total = 0};
        for (; next <= events_count && bin_of(events[next].ticks) == b;
             next++) {
            struct moment now;

            apply(next);
            if (!adds(&events[next]))
                continue;
            allocs++;
            take_moment(place, objects, &now);
            if (now.total > most.total)
                most = now;
        }
        expect_bin(&time->bins[b], &most, allocs);
    }
    assert_int_equal(next, events_count + 1);
}

/* ---- Locks ---- */

static void
expect_locks(const struct cli_heap_time *time, uint64_t locks)
{
    uint64_t seen = 0;

    for (uint64_t lock = 0; lock < locks; lock++) {
        struct cli_time_lock want = {.lock = lock};
        uint64_t i = 0;

        for (uint32_t e = 1; e <= events_count; e++) {
            if (events[e].kind != SIM_RECORDED_WAIT || events[e].lock != lock)
                continue;
            want.waits++;
            want.ticks += events[e].wait_ticks;
            if (events[e].wait_ticks >= want.longest_ticks) {
                want.longest_ticks = events[e].wait_ticks;
                want.longest_stack = events[e].stack;
            }
        }
        if (want.waits == 0)
            continue;
        while (i < time->locks_count && time->locks[i].lock != lock)
            i++;
        assert_in_range(i, 0, time->locks_count - 1);
        assert_int_equal(time->locks[i].waits, want.waits);
        assert_int_equal(time->locks[i].ticks, want.ticks);
        assert_int_equal(time->locks[i].longest_ticks, want.longest_ticks);
        assert_int_equal(time->locks[i].longest_stack, want.longest_stack);
        seen++;
    }
    assert_int_equal(time->locks_count, seen);
    for (uint64_t i = 1; i < seen; i++) {
        const struct cli_time_lock *a = &time->locks[i - 1];
        const struct cli_time_lock *b = &time->locks[i];

        assert_true(a->ticks > b->ticks ||
                    (a->ticks == b->ticks &&
                     (a->waits > b->waits ||
                      (a->waits == b->waits && a->lock < b->lock))));
    }
}

/* ---- All of it ---- */

/* Times of which a bin has one at most, or those near the largest; sizes of
 * which many are equal; and few locks, with waits of equal length. */
static void
change(uint32_t number)
{
    static const struct {
        uint64_t lock;
        uint64_t waited;
    } waits[] = {{1, 6}, {2, 3}, {2, 3}, {3, 2}, {3, 2},
                 {3, 2}, {4, 0}, {5, 6}, {6, 1}};
    uint32_t wait = 0;
    bool is_first = true;

    for (uint32_t i = 0; i < model.events_count; i++) {
        struct model_event *event = &model.events[i];

        if (number == 1 || number == 4)
            event->ticks = i / (number == 1 ? 1 : 3) + 4;
        else if (number == 2)
            event->ticks = (uint64_t)(i + 1) << 51;
        event->lock = 0; /* for which no thread waits */
        if (event->kind == MODEL_WAIT) {
            event->lock = waits[wait].lock;
            event->waited = waits[wait].waited;
            wait += wait + 1 < sizeof waits / sizeof *waits;
        }
        if (number == 5 && event->stack % 3 == 0) {
            event->bytes = is_first; /* the most at one site */
            is_first = false;
        }
        if (number < 3 && event->bytes > 0) {
            event->bytes = 8 + event->bytes % 2 * 8;
            event->usable_bytes = model.has_usable ? 17 : 0;
        }
    }
}

void
heap_random_bins(void)
{
    static const uint32_t stacks[] = {3, 12, 13, 40, 200, 5};
    static const uint32_t sites[] = {1, 11, 12, 25, 150, 3};
    static struct cli_heap_time time;
    static uint32_t place[SITES];

    for (uint32_t i = 0; i < sizeof stacks / sizeof *stacks; i++) {
        struct sim_recording *recording;

        heap_model_make(&model, 70 + i, stacks[i]);
        change(i);
        heap_model_write(&model, "bins.rec");
        recording = read_events("bins.rec");
        /* Sites beyond those of any stack are never shown. */
        sites_count = sites[i] + (i % 2) * 48;
        for (uint32_t s = 0; s < stacks[i]; s++)
            site_of[s] = (s * 7 + i) % sites[i];
        cli_heap_time_open(&time, recording, site_of, sites_count);
        expect_sites(&time, place);
        expect_bins(&time, place, sim_recording_totals(recording)->allocs);
        expect_locks(&time, sim_recording_totals(recording)->locks);
        cli_heap_time_close(&time);
        sim_recording_close(recording);
        assert_int_equal(unlink("bins.rec"), 0);
    }
}
