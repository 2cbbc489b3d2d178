/*
 * test_live_heap.c -- the heap of a recording against brute force: for each
 * prefix of small random recordings, the objects in a plain list are counted
 * again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "live_heap.h"
#include "small_recording.h"
#include "rng.h"
#include "unit_test.h"

enum {
    EVENTS_MAX = 200,
    STACKS = 4, /* in the recording's tables */
    THREADS = 2,
    ROUNDS = 2000
};

/*
 * One random event. A free names the event of its allocation. A resize is an
 * allocation that ends another one.
 */
struct drawn {
    bool is_free;
    bool is_resize;
    uint32_t object; /* index of its allocation among the events */
    uint32_t thread;
    uint32_t stack;
    uint64_t size_bytes;
    uint64_t ticks;
};

struct drawing {
    struct drawn events[EVENTS_MAX];
    uint32_t count;
};

static struct sim_recording *
write_drawing(const struct drawing *drawing)
{
    static const uint64_t none_dropped[CLI_RECFILE_CAUSES];
    uint64_t number[EVENTS_MAX];
    uint64_t objects = 0;
    struct cli_recfile file;
    struct sim_recording *recording;

    cli_recfile_init(&file, 0);
    props_small_recording_tables(&file);
    for (uint32_t i = 0; i < drawing->count; i++) {
        const struct drawn *event = &drawing->events[i];

        if (event->is_free) {
            cli_recfile_free(&file, event->thread, event->ticks,
                             number[event->object]);
        } else if (event->is_resize) {
            number[i] = number[event->object];
            cli_recfile_resize(&file, event->thread, event->ticks, number[i],
                               event->size_bytes, event->stack);
        } else {
            number[i] = objects++;
            cli_recfile_alloc(&file, event->thread, event->ticks,
                              event->size_bytes, event->stack);
        }
    }
    cli_recfile_end(&file, none_dropped);
    recording = props_small_recording_read(file.bytes, file.bytes_count);
    cli_recfile_release(&file);
    return recording;
}

static bool
is_end(const struct drawn *event)
{
    return event->is_free || event->is_resize;
}

static bool
is_live(const struct drawing *drawing, uint32_t object, uint32_t events)
{
    if (drawing->events[object].is_free || object >= events)
        return false;
    for (uint32_t i = object + 1; i < events; i++) {
        if (is_end(&drawing->events[i]) && drawing->events[i].object == object)
            return false;
    }
    return true;
}

/* The objects to be counted; -1: any. */
struct wanted {
    int64_t stack;
    int64_t thread;
    int64_t class;
    bool live; /* only those live after `events` */
};

static struct sim_heap_count
count_objects(const struct drawing *drawing, uint32_t events,
              struct wanted wanted)
{
    struct sim_heap_count count = {0, 0};

    for (uint32_t i = 0; i < events; i++) {
        const struct drawn *event = &drawing->events[i];
        uint32_t class = 0;

        while (class < 64 && event->size_bytes >> class != 0)
            class ++;
        if (event->is_free || (wanted.live && !is_live(drawing, i, events)) ||
            (wanted.stack >= 0 && wanted.stack != event->stack) ||
            (wanted.thread >= 0 && wanted.thread != event->thread) ||
            (wanted.class >= 0 && wanted.class != class))
            continue;
        count.objects++;
        count.bytes += event->size_bytes;
    }
    return count;
}

static void
expect_count(struct sim_heap_count got, struct sim_heap_count want)
{
    assert_int_equal(got.objects, want.objects);
    assert_int_equal(got.bytes, want.bytes);
}

static void
expect_sums(const struct sim_heap_sums *got, const struct drawing *drawing,
            uint32_t peak, struct wanted wanted)
{
    expect_count(got->allocs, count_objects(drawing, drawing->count, wanted));
    expect_count(got->peak_allocs, count_objects(drawing, peak, wanted));
    wanted.live = true;
    expect_count(got->exit, count_objects(drawing, drawing->count, wanted));
    expect_count(got->peak, count_objects(drawing, peak, wanted));
}

/* returns: the number of events up to the first time at which most bytes are
 * live */
static uint32_t
find_peak(const struct drawing *drawing)
{
    const struct wanted live = {-1, -1, -1, true};
    uint64_t most = 0;
    uint32_t peak = 0;

    for (uint32_t i = 1; i <= drawing->count; i++) {
        const uint64_t bytes = count_objects(drawing, i, live).bytes;

        if (!drawing->events[i - 1].is_free && (peak == 0 || bytes > most)) {
            most = bytes;
            peak = i;
        }
    }
    return peak;
}

static void
expect_threads(const struct sim_live_heap *heap, const struct drawing *drawing,
               uint32_t peak)
{
    for (uint32_t i = 0; i < THREADS; i++) {
        const struct sim_heap_thread *thread = &heap->threads[i];
        struct sim_heap_count freed = {0, 0};

        for (uint32_t k = 0; k < drawing->count; k++) {
            const struct drawn *event = &drawing->events[k];

            if (!is_end(event) || event->thread != i)
                continue;
            freed.objects++;
            freed.bytes += drawing->events[event->object].size_bytes;
        }
        expect_count(thread->freed, freed);
        expect_count(thread->allocs,
                     count_objects(drawing, drawing->count,
                                   (struct wanted){-1, i, -1, false}));
        expect_count(thread->exit,
                     count_objects(drawing, drawing->count,
                                   (struct wanted){-1, i, -1, true}));
        expect_count(
            thread->peak,
            count_objects(drawing, peak, (struct wanted){-1, i, -1, true}));
    }
}

/* Check each part of the run by itself: what was live at any moment inside
 * it. */
static void
expect_spans(const struct sim_live_heap *heap, const struct drawing *drawing)
{
    const uint64_t length = heap->duration_ticks / SIM_HEAP_SPANS + 1;
    const struct wanted live = {-1, -1, -1, true};

    for (uint64_t i = 0; i < SIM_HEAP_SPANS; i++) {
        struct sim_heap_span want = {.most_bytes = 0};

        if (i * length > heap->duration_ticks)
            break; /* the run ended in the part before */
        for (uint32_t k = 0; k < drawing->count; k++) {
            const struct drawn *event = &drawing->events[k];
            const uint64_t bytes = count_objects(drawing, k + 1, live).bytes;

            if (event->ticks >= (i + 1) * length)
                break;
            want.last_bytes = bytes;
            if (event->ticks < i * length) {
                want.most_bytes = bytes; /* still live in this part */
                continue;
            }
            want.most_bytes = bytes > want.most_bytes ? bytes : want.most_bytes;
            if (event->is_free)
                continue;
            want.allocs.objects++;
            want.allocs.bytes += event->size_bytes;
        }
        expect_count(heap->spans[i].allocs, want.allocs);
        assert_int_equal(heap->spans[i].most_bytes, want.most_bytes);
        assert_int_equal(heap->spans[i].last_bytes, want.last_bytes);
    }
}

static void
expect_heap(const struct sim_live_heap *heap, const struct drawing *drawing)
{
    const uint32_t peak = find_peak(drawing);
    uint64_t pairs = 0;

    assert_int_equal(heap->peak_event, peak);
    assert_int_equal(heap->peak_ticks,
                     peak > 0 ? drawing->events[peak - 1].ticks : 0);
    expect_sums(&heap->total, drawing, peak,
                (struct wanted){-1, -1, -1, false});
    for (uint32_t i = 0; i < STACKS; i++)
        expect_sums(&heap->sites[i], drawing, peak,
                    (struct wanted){i, -1, -1, false});
    for (uint32_t i = 0; i < SIM_HEAP_CLASSES; i++)
        expect_sums(&heap->classes[i], drawing, peak,
                    (struct wanted){-1, -1, i, false});
    expect_threads(heap, drawing, peak);
    expect_spans(heap, drawing);
    for (uint32_t i = 0; i < drawing->count; i++) {
        bool is_new = !drawing->events[i].is_free;

        for (uint32_t k = 0; k < i; k++)
            is_new = is_new &&
                     (drawing->events[k].is_free ||
                      drawing->events[k].stack != drawing->events[i].stack ||
                      drawing->events[k].size_bytes !=
                          drawing->events[i].size_bytes);
        pairs += is_new;
    }
    assert_int_equal(heap->buckets_count, pairs);
}

/* Choose events at random: the heap mostly grows, mostly shrinks, or neither;
 * many sizes are equal. */
static void
draw(struct drawing *drawing, struct sim_rng *rng)
{
    static const uint64_t sizes[] = {0, 1, 2, 3, 8, 64, 1000};
    const uint32_t frees = 20 + sim_rng_below(rng, 60); /* percent */
    uint64_t ticks = 0;

    drawing->count = sim_rng_below(rng, 40);
    for (uint32_t i = 0; i < drawing->count; i++) {
        struct drawn *event = &drawing->events[i];

        ticks += sim_rng_below(rng, 8) == 0 ? sim_rng_below(rng, 100)
                                            : sim_rng_below(rng, 2);
        *event = (struct drawn){.thread = sim_rng_below(rng, THREADS),
                                .stack = sim_rng_below(rng, STACKS),
                                .size_bytes = sizes[sim_rng_below(rng, 7)],
                                .ticks = ticks};
        for (uint32_t tries = 0; i > 0 && tries < 8; tries++) {
            const uint32_t object = sim_rng_below(rng, i);

            if (sim_rng_below(rng, 100) >= frees ||
                !is_live(drawing, object, i))
                continue;
            event->is_resize = sim_rng_below(rng, 3) == 0;
            event->is_free = !event->is_resize;
            event->object = object;
            break;
        }
    }
}

TEST(every_moment_counts_as_brute_force_counts_it)
{
    static struct drawing drawing;
    struct sim_rng rng = {.state = 13};
    uint32_t late_peaks = 0;

    (void)state;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct sim_recording *recording;
        struct sim_live_heap heap;

        draw(&drawing, &rng);
        recording = write_drawing(&drawing);
        assert_true(sim_live_heap_open(&heap, recording, NULL));
        expect_heap(&heap, &drawing);
        late_peaks += heap.peak_event > 1 && heap.total.exit.bytes == 0;
        sim_live_heap_close(&heap);
        sim_recording_close(recording);
    }
    assert_true(late_peaks > ROUNDS / 100);
}

/* There are more objects than a chunk has, and more buckets than a table has at
 * first. */
TEST(a_heap_of_many_objects_is_counted_too)
{
    static const uint64_t none_dropped[CLI_RECFILE_CAUSES];
    enum { OBJECTS = 20000, KEPT_EVERY = 100 };
    struct cli_recfile file;
    struct sim_recording *recording;
    struct sim_live_heap heap;
    uint64_t kept_bytes = 0;
    uint64_t all_bytes = 0;

    cli_recfile_init(&file, 0);
    props_small_recording_tables(&file);
    for (uint64_t i = 0; i < OBJECTS; i++) {
        cli_recfile_alloc(&file, 0, i, i / STACKS, i % STACKS);
        all_bytes += i / STACKS;
    }
    for (uint64_t i = OBJECTS; i-- > 0;) {
        if (i % KEPT_EVERY == 0)
            kept_bytes += i / STACKS;
        else
            cli_recfile_free(&file, 1, OBJECTS, i);
    }
    cli_recfile_end(&file, none_dropped);
    recording = props_small_recording_read(file.bytes, file.bytes_count);
    assert_true(sim_live_heap_open(&heap, recording, NULL));
    assert_int_equal(heap.buckets_count, OBJECTS);
    assert_int_equal(heap.peak_event, OBJECTS);
    assert_int_equal(heap.total.peak.bytes, all_bytes);
    assert_int_equal(heap.total.peak.objects, OBJECTS);
    assert_int_equal(heap.total.exit.objects, OBJECTS / KEPT_EVERY);
    assert_int_equal(heap.threads[1].freed.objects,
                     OBJECTS - OBJECTS / KEPT_EVERY);
    for (uint64_t i = 0; i < OBJECTS; i++)
        assert_int_equal(heap.buckets[i].peak_allocs, 1);
    assert_int_equal(heap.total.exit.bytes, kept_bytes);
    sim_live_heap_close(&heap);
    sim_recording_close(recording);
    cli_recfile_release(&file);
}

TEST(sites_are_apart_however_many_there_are)
{
    static const uint64_t none_dropped[CLI_RECFILE_CAUSES];
    static const struct cli_recfile_about about = {.ticks_per_second = 1,
                                                   .depth_max = 1};
    static const uint32_t no_frame;
    enum { MANY = 50000 };
    struct cli_recfile file;
    struct sim_recording *recording;
    struct sim_live_heap heap;

    cli_recfile_init(&file, 0);
    cli_recfile_about(&file, &about);
    for (uint32_t i = 0; i < MANY; i++)
        cli_recfile_stack(&file, &no_frame, 0);
    cli_recfile_thread(&file, 1, "");
    for (uint32_t i = 0; i < 2 * MANY; i++)
        cli_recfile_alloc(&file, 0, 0, 8, i % MANY);
    cli_recfile_end(&file, none_dropped);
    recording = props_small_recording_read(file.bytes, file.bytes_count);
    assert_true(sim_live_heap_open(&heap, recording, NULL));
    assert_int_equal(heap.buckets_count, MANY);
    for (uint32_t i = 0; i < MANY; i++)
        expect_count(heap.sites[i].exit, (struct sim_heap_count){2, 16});
    sim_live_heap_close(&heap);
    sim_recording_close(recording);
    cli_recfile_release(&file);
}

/* The last object of a chunk outlives all others in it. */
TEST(an_object_is_known_until_it_is_freed)
{
    static const uint64_t none_dropped[CLI_RECFILE_CAUSES];
    enum { OBJECTS = 3 * 4096, LATE = 4095 };
    struct cli_recfile file;
    struct sim_recording *recording;
    struct sim_live_heap heap;

    cli_recfile_init(&file, 0);
    props_small_recording_tables(&file);
    for (uint64_t i = 0; i < OBJECTS; i++)
        cli_recfile_alloc(&file, 0, i, i == LATE ? 7 : 1, 1);
    for (uint64_t i = 0; i < OBJECTS; i++) {
        if (i != LATE)
            cli_recfile_free(&file, 0, OBJECTS, i);
    }
    cli_recfile_free(&file, 1, OBJECTS, LATE);
    cli_recfile_end(&file, none_dropped);
    recording = props_small_recording_read(file.bytes, file.bytes_count);
    assert_true(sim_live_heap_open(&heap, recording, NULL));
    expect_count(heap.threads[1].freed, (struct sim_heap_count){1, 7});
    expect_count(heap.total.exit, (struct sim_heap_count){0, 0});
    sim_live_heap_close(&heap);
    sim_recording_close(recording);
    cli_recfile_release(&file);
}

TEST(a_recording_without_allocations_has_no_peak)
{
    const struct drawing drawing = {.count = 0};
    struct sim_recording *recording = write_drawing(&drawing);
    struct sim_live_heap heap;

    assert_true(sim_live_heap_open(&heap, recording, NULL));
    assert_int_equal(heap.peak_event, 0);
    assert_int_equal(heap.total.peak.bytes, 0);
    assert_int_equal(heap.buckets_count, 0);
    sim_live_heap_close(&heap);
    sim_recording_close(recording);
}

TEST(size_classes_are_powers_of_two)
{
    assert_int_equal(sim_heap_class(0), 0);
    assert_int_equal(sim_heap_class(1), 1);
    assert_int_equal(sim_heap_class(2), 2);
    assert_int_equal(sim_heap_class(3), 2);
    assert_int_equal(sim_heap_class(4), 3);
    assert_int_equal(sim_heap_class(UINT64_MAX), SIM_HEAP_CLASSES - 1);
}

/* Objects of 100 bytes (104 usable), 50 (56 usable), and 20, which are freed.
 * The 100 bytes grow to 200 (208 usable), which is the peak; then the heap
 * shrinks. */
TEST(usable_bytes_are_those_at_the_peak)
{
    static const uint64_t none_dropped[CLI_RECFILE_CAUSES];

    for (uint64_t known = 0; known <= 56; known += 56) {
        const struct cli_recfile_request first = {.usable_bytes = 104};
        const struct cli_recfile_request second = {.usable_bytes = known};
        struct sim_recording *recording;
        struct cli_recfile file;
        struct sim_live_heap heap;

        cli_recfile_init(&file, 0);
        props_small_recording_tables(&file);
        cli_recfile_alloc_as(&file, 0, 1, 100, &first, 0);
        cli_recfile_alloc_as(&file, 0, 2, 50, &second, 0);
        cli_recfile_alloc_as(&file, 0, 2, 20, &first, 0);
        cli_recfile_free(&file, 0, 2, 2);
        cli_recfile_resize_usable(&file, 0, 3, 0, 200, 208, 0);
        cli_recfile_free(&file, 0, 4, 1);
        cli_recfile_alloc_as(&file, 0, 5, 40, &first, 0);
        cli_recfile_end(&file, none_dropped);
        recording = props_small_recording_read(file.bytes, file.bytes_count);
        cli_recfile_release(&file);
        assert_true(sim_live_heap_open(&heap, recording, NULL));
        assert_int_equal(heap.total.peak.bytes, 250);
        assert_int_equal(heap.has_usable, known != 0);
        if (heap.has_usable)
            assert_int_equal(heap.peak_usable_bytes, 264);
        sim_live_heap_close(&heap);
        sim_recording_close(recording);
    }
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
