/*
 * test_model_bucket.c -- the oracle's buckets: identity, order, dropped events,
 * what a snapshot lists, and the contention profiles.
 */
#include <stdarg.h>
#include <stddef.h>
#include "bucket.h"
#include "waits.h"
#include "log_builder.h"
#include "unit_test.h"

#define ROOM TRUTH_ROOM_ENOUGH

static struct log_builder builder;

static int
a_ring(void **state)
{
    (void)state;
    props_log_begin(&builder, MODEL_RING);
    return 0;
}

static int
the_end(void **state)
{
    (void)state;
    props_log_end(&builder);
    return 0;
}

static void
wait_ended(enum truth_kind kind, char stack, int64_t cycles)
{
    props_log_tell(&builder, &(struct truth_entry){
                                 .kind = kind,
                                 .stack = (uint32_t)(stack - 'A'),
                                 .cycles = cycles,
                             });
}

static struct model_answer
read_with_room(enum truth_kind kind, uint32_t room)
{
    props_log_tell(&builder, &(struct truth_entry){.kind = kind, .room = room});
    return model_heap_answer(builder.model);
}

static const struct model_bucket *
buckets(uint32_t count_wanted)
{
    uint32_t count;
    const struct model_bucket *all = model_heap_buckets(builder.model, &count);

    assert_int_equal(count, count_wanted);
    return all;
}

TEST_WITH(a_ring, the_end, a_bucket_is_one_kind_one_size_and_one_stack)
{
    const struct model_bucket *b;

    props_log_alloc(&builder, 'B', 8);
    props_log_alloc(&builder, 'A', 8);
    props_log_alloc(&builder, 'B', 16);
    wait_ended(TRUTH_BLOCK, 'B', 5);
    wait_ended(TRUTH_MUTEX, 'B', 5);
    props_log_alloc(&builder, 'B', 8);
    props_log_alloc(&builder, 'B', 0);
    wait_ended(TRUTH_BLOCK, 'B', 6);

    b = buckets(6); /* in order of birth */
    assert_int_equal(b[0].frames[0], 'B');
    assert_int_equal(b[0].size_bytes, 8);
    assert_int_equal(b[0].allocs_pending, 2);
    assert_int_equal(b[1].frames[0], 'A');
    assert_int_equal(b[1].depth, LOG_DEPTH);
    assert_int_equal(b[2].size_bytes, 16);
    assert_int_equal(b[3].kind, MODEL_BLOCK);
    assert_int_equal(b[3].allocs, 2);
    assert_int_equal(b[4].kind, MODEL_MUTEX);
    assert_int_equal(b[5].size_bytes, 0);
    assert_int_equal(b[5].kind, MODEL_HEAP);
}

TEST_WITH(a_ring, the_end, a_stack_is_cut_at_the_root)
{
    const struct model_bucket *b;

    builder.frames[2][0] = 'A';
    builder.frames[2][2] = 7;
    builder.limits.depth_max = 2;
    props_log_again(&builder);
    props_log_alloc(&builder, 'A', 8);
    props_log_alloc(&builder, 'B', 8);
    props_log_alloc(&builder, 'C', 8); /* differs from A in frame 3 only */
    b = buckets(2);
    assert_int_equal(b[0].depth, 2);
    assert_int_equal(b[0].allocs_pending, 2);

    builder.limits.depth_max = 3;
    props_log_again(&builder);
    props_log_alloc(&builder, 'A', 8);
    props_log_alloc(&builder, 'C', 8);
    buckets(2);
}

TEST_WITH(a_ring, the_end, an_empty_stack_is_a_bucket_too)
{
    builder.limits.frames_max = 0;
    builder.stacks[0].depth = 0;
    props_log_again(&builder);
    props_log_alloc(&builder, 'A', 8);
    assert_int_equal(buckets(1)[0].depth, 0);
    assert_int_equal(model_heap_drops(builder.model).no_frames, 0);
}

TEST_WITH(a_ring, the_end, stacks_equal_frame_by_frame_share_a_bucket)
{
    builder.frames[1][0] = 'A'; /* B is a copy of A under another number */
    props_log_again(&builder);
    props_log_alloc(&builder, 'A', 8);
    props_log_alloc(&builder, 'B', 8);
    assert_int_equal(buckets(1)[0].allocs_pending, 2);
}

TEST_WITH(a_ring, the_end, a_shorter_stack_is_another_one)
{
    builder.frames[1][0] = 'A';
    builder.stacks[1].depth = 2;
    props_log_again(&builder);
    props_log_alloc(&builder, 'A', 8);
    props_log_alloc(&builder, 'B', 8);
    buckets(2);
}

TEST_WITH(a_ring, the_end, a_new_stack_finds_all_buckets_taken)
{
    struct model_drops drops;

    builder.limits.buckets_max = 2;
    builder.limits.frames_max = 2 * LOG_DEPTH; /* both limits are short */
    props_log_again(&builder);
    props_log_alloc(&builder, 'A', 8);
    wait_ended(TRUTH_MUTEX, 'A', 1); /* kinds share the limit */
    props_log_alloc(&builder, 'B', 8);
    props_log_alloc(&builder, 'B', 8);
    wait_ended(TRUTH_BLOCK, 'A', 1);
    props_log_alloc(&builder, 'A', 8); /* a known bucket: still counted */
    wait_ended(TRUTH_MUTEX, 'A', 1);
    drops = model_heap_drops(builder.model);
    assert_int_equal(drops.no_bucket, 3);
    assert_int_equal(drops.no_frames, 0);
    assert_int_equal(buckets(2)[0].allocs_pending, 2);
    assert_int_equal(buckets(2)[1].allocs, 2);
}

TEST_WITH(a_ring, the_end, a_new_stack_finds_too_few_frames_left)
{
    struct model_drops drops;

    builder.limits.buckets_max = 3;
    builder.limits.frames_max = 2 * LOG_DEPTH - 1;
    builder.stacks[2].depth = 2; /* C and D fit where B does not */
    builder.stacks[3].depth = 0;
    props_log_again(&builder);
    props_log_alloc(&builder, 'A', 8);
    props_log_alloc(&builder, 'B', 8); /* no frames */
    props_log_alloc(&builder, 'C', 8);
    props_log_alloc(&builder, 'B', 8); /* no frames */
    props_log_alloc(&builder, 'D', 8);
    props_log_alloc(&builder, 'B', 8); /* now there is no bucket either */
    drops = model_heap_drops(builder.model);
    assert_int_equal(drops.no_frames, 2);
    assert_int_equal(drops.no_bucket, 1);
    buckets(3);
}

TEST_WITH(a_ring, the_end, an_object_that_was_dropped_is_freed_nowhere)
{
    struct model_drops drops;
    uint32_t first;
    uint32_t second;

    builder.limits.buckets_max = 0;
    builder.limits.explicit_free_dropped = true;
    props_log_again(&builder);
    first = props_log_alloc(&builder, 'A', 8);
    second = props_log_alloc(&builder, 'A', 8);
    props_log_object(&builder, TRUTH_FREE_EXPLICIT, first);
    props_log_object(&builder, TRUTH_DEAD, second);
    props_log_gc(&builder);
    props_log_call(&builder, TRUTH_POST_SWEEP); /* early, nothing waits */
    props_log_snapshot(&builder, true, ROOM);
    assert_string_equal(props_log_heap(&builder), "k=1: ");
    props_log_object(&builder, TRUTH_SWEEP, second);
    drops = model_heap_drops(builder.model);
    assert_int_equal(drops.no_bucket, 2);
    assert_int_equal(drops.no_free_path, 0);
    buckets(0);
}

TEST_WITH(a_ring, the_end, a_snapshot_lists_what_is_in_use_by_bytes)
{
    uint32_t gone;

    gone = props_log_alloc(&builder, 'A', 8);
    props_log_object(&builder, TRUTH_FREE_EXPLICIT, gone);
    props_log_alloc(&builder, 'B', 0); /* an object of no bytes */
    props_log_alloc(&builder, 'C', 8);
    assert_int_equal(props_log_snapshot(&builder, false, ROOM).count, 1);
    assert_int_equal(props_log_snapshot(&builder, true, ROOM).count, 3);
    props_log_alloc(&builder, 'D', 8); /* not published, but a bucket */
    assert_int_equal(props_log_snapshot(&builder, false, ROOM).count, 1);
    assert_int_equal(props_log_snapshot(&builder, true, ROOM).count, 4);
    assert_true(props_log_snapshot(&builder, true, 4).fits);
    assert_false(props_log_snapshot(&builder, true, 3).fits);
    assert_true(model_heap_answer(builder.model).all);
}

TEST_WITH(a_ring, the_end, bytes_in_use_are_compared_modulo_2_to_64)
{
    props_log_alloc(&builder, 'A', UINT64_C(1) << 63);
    props_log_alloc(&builder, 'A', UINT64_C(1) << 63);
    assert_int_equal(props_log_snapshot(&builder, false, ROOM).count, 0);
    assert_string_equal(props_log_published(&builder), "A 2/0");
}

TEST_WITH(a_ring, the_end, iterate_lists_all_and_publishes_nothing)
{
    struct model_answer answer;

    props_log_alloc(&builder, 'A', 8);
    wait_ended(TRUTH_BLOCK, 'A', 1);
    answer = read_with_room(TRUTH_ITERATE, 0);
    assert_int_equal(answer.count, 1);
    assert_true(answer.fits);
    assert_true(answer.all);
    assert_false(answer.first);
    assert_string_equal(props_log_published(&builder), "");
    props_log_gc(&builder);
    props_log_gc(&builder);
    read_with_room(TRUTH_ITERATE, 0);
    assert_string_equal(props_log_published(&builder),
                        ""); /* published a cycle later */
}

TEST_WITH(a_ring, the_end, waits_are_clamped_each_in_its_way)
{
    static const int64_t cycles[] = {INT64_MIN, -1, 0, 1, 40};
    const struct model_bucket *b;

    for (uint32_t i = 0; i < sizeof cycles / sizeof *cycles; i++) {
        wait_ended(TRUTH_BLOCK, 'A', cycles[i]);
        wait_ended(TRUTH_MUTEX, 'B', cycles[i]);
    }
    b = buckets(2);
    assert_int_equal(b[0].allocs, 5);
    assert_int_equal(b[0].cycles, 1 + 1 + 1 + 1 + 40);
    assert_int_equal(b[1].allocs, 5);
    assert_int_equal(b[1].cycles, 0 + 0 + 0 + 1 + 40);
}

TEST_WITH(a_ring, the_end, contention_is_seen_at_once_and_never_cleared)
{
    struct model_answer answer;

    wait_ended(TRUTH_BLOCK, 'A', 1);
    wait_ended(TRUTH_BLOCK, 'B', 1);
    wait_ended(TRUTH_MUTEX, 'C', 0);
    answer = read_with_room(TRUTH_BLOCK_SNAPSHOT, 1);
    assert_int_equal(answer.count, 2);
    assert_false(answer.fits);
    answer = read_with_room(TRUTH_BLOCK_SNAPSHOT, 2);
    assert_true(answer.fits);
    assert_false(answer.first);
    answer = read_with_room(TRUTH_MUTEX_SNAPSHOT, 1);
    assert_int_equal(answer.count, 1);
    assert_true(answer.fits);
    /* Contention buckets are no heap buckets, so the first snapshot is still to
     * come. */
    props_log_alloc(&builder, 'D', 8);
    assert_true(props_log_snapshot(&builder, true, ROOM).first);
    assert_int_equal(model_heap_answer(builder.model).count, 1);
    assert_int_equal(buckets(4)[0].allocs, 1);
}

/* What is remembered of a stack saves a search and changes no answer: a log
 * with more stacks than may be remembered has the same buckets. */
TEST(stacks_beyond_those_remembered_are_found_as_well)
{
    enum { STACKS = 200, EVENTS = 500 };
    static uintptr_t frames[STACKS][2];
    static struct truth_stack stacks[STACKS];
    const struct truth_log log = {.stacks = stacks, .stacks_count = STACKS};
    const struct model_limits limits = {
        .buckets_max = 90, .frames_max = 150, .depth_max = 2};
    struct model_buckets all;
    struct model_buckets some;

    for (uint32_t i = 0; i < STACKS; i++) {
        frames[i][0] = 1 + i % 70;
        frames[i][1] = 7;
        stacks[i].frames = frames[i];
        stacks[i].depth = 1 + i % 2;
    }
    assert_true(model_buckets_new(&all, 90, EVENTS));
    assert_true(model_buckets_new(&some, 90, 3));
    for (int run = 0; run < 2; run++) {
        model_buckets_reset(&all);
        model_buckets_reset(&some);
        for (uint32_t i = 0; i < EVENTS; i++) {
            const uint32_t stack = 3 + i * 37 % (STACKS - 3);

            assert_int_equal(
                model_buckets_of(&all, &limits, &log, MODEL_HEAP, stack, i % 2),
                model_buckets_of(&some, &limits, &log, MODEL_HEAP, stack,
                                 i % 2));
        }
        assert_int_equal(all.count, some.count);
        assert_true(all.drops.no_bucket + all.drops.no_frames > 0);
        assert_int_equal(all.drops.no_bucket, some.drops.no_bucket);
        assert_int_equal(all.drops.no_frames, some.drops.no_frames);
    }
    model_buckets_delete(&all);
    model_buckets_delete(&some);
}

/* Allocate on a processor. returns: how many were recorded, a bit each */
static uint64_t
recorded_on(uint32_t proc)
{
    uint64_t seen = 0;
    uint64_t before = 0;

    props_log_again(&builder);
    props_log_tell(&builder, &(struct truth_entry){.kind = TRUTH_HEAP_RATE,
                                                   .cycles = 512});
    for (uint32_t i = 0; i < 64; i++) {
        uint64_t now;

        props_log_tell(&builder, &(struct truth_entry){.kind = TRUTH_ALLOC,
                                                       .proc = proc,
                                                       .object = i,
                                                       .size_bytes = 100});
        now = model_heap_sum(builder.model)->allocs_pending;
        seen = seen << 1 | (now - before);
        before = now;
    }
    return seen;
}

/* A run does not begin in the middle of the gap of the one before. */
TEST_WITH(a_ring, the_end, each_processor_draws_anew_in_each_run)
{
    for (uint32_t proc = 0; proc < MODEL_PROCS_MAX; proc++) {
        const uint64_t first = recorded_on(proc);

        assert_true(first != 0 && first != UINT64_MAX);
        assert_true(recorded_on(proc) == first);
    }
}

/* With no room left the waits of those that go on waiting close the gap. */
TEST(as_many_wait_as_there_is_room_for)
{
    static struct model_waits waits;
    const int64_t now = INT64_C(1) << 40;
    bool on;

    for (uint32_t task = 0; task < MODEL_WAITS_MAX; task++)
        model_waits_begin(&waits, &(struct model_wait){
                                      .task = task,
                                      .began = task,
                                      .block_on = task % 2 == 0,
                                  });
    for (uint32_t i = 0; i < MODEL_WAITS_MAX; i++) {
        const uint32_t task = (i + MODEL_WAITS_MAX - 1) % MODEL_WAITS_MAX;

        assert_int_equal(model_waits_woken(&waits, task, now, &on),
                         now - (int64_t)task);
        assert_int_equal(on, task % 2 == 0);
    }
    assert_int_equal(waits.count, 0);
}

/* Of three waits the first is charged from when it began or was charged before,
 * and the mean of the first and the last for each of the others. */
TEST(a_release_is_charged_for_those_who_stay)
{
    const int64_t now = INT64_C(3) << 40;
    struct model_waits waits = {.count = 0};
    bool on = false;

    for (uint32_t task = 1; task <= 4; task++) {
        const int64_t since = (task < 4 ? task : 9) * (INT64_C(1) << 36);

        model_waits_begin(&waits, &(struct model_wait){
                                      .task = task,
                                      .lock = task < 4 ? 5 : 6,
                                      .began = since,
                                      .charged = since,
                                      .mutex_on = task == 1,
                                  });
    }
    /* 47 + (47 + 45) / 2 * 2, in units of 2^36 */
    assert_int_equal(model_waits_released(&waits, 1, now, true, &on),
                     INT64_C(139) << 36);
    assert_true(on);
    assert_int_equal(waits.all[1].charged, now);
    assert_int_equal(waits.all[2].charged, INT64_C(3) << 36);
    assert_int_equal(waits.all[3].charged, INT64_C(9) << 36);
    assert_int_equal(model_waits_released(&waits, 1, now, false, &on),
                     INT64_C(47) << 36);
    assert_int_equal(model_waits_released(&waits, 4, now, true, &on),
                     INT64_C(39) << 36);
    assert_false(on);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
