/*
 * test_prof_race.c -- what other threads may do in the middle of a snapshot,
 * done by the same thread at a chosen point.
 *
 * counters.c, heap.c and contention.c are compiled into this file with two of
 * their calls redirected to a hook, which plays the other thread. So the test
 * chooses the interleaving; nothing depends on timing.
 */
#include <string.h>

#include "instance.h"
#include "test_prof_make.h"
#include "unit_test.h"

/* What the other thread does, and how many hooked calls pass before that. */
static void (*other_thread)(void);
static uint32_t calls_before;

static void
step(void)
{
    void (*const act)(void) = other_thread;

    if (act == NULL || calls_before-- > 0)
        return;
    other_thread = NULL;
    act();
}

static uint32_t
hooked_load(const shared_u64 *shared, enum half half)
{
    const uint32_t value = load_half_acquire(shared, half);

    step();
    return value;
}

static struct bucket
hooked_bucket(const struct table *table, uint32_t row)
{
    step();
    return prof_table_bucket(table, row);
}

#define prof_table_bucket hooked_bucket
#include "heap.c"
#include "contention.c"
#undef load_half_acquire
#define load_half_acquire hooked_load
#include "counters.c"
#undef prof_table_bucket

#define ROOM 8U

static struct prof *prof;

static struct prof *
ruled(const struct prof_rules *rules)
{
    const struct prof_config config = {.rules = rules, .buckets_max = ROOM};

    return props_prof_make(&config);
}

static prof_bucket
alloc(uintptr_t frame)
{
    return prof_heap_alloc(prof_proc_at(prof, 0), &frame, 1, 8);
}

static void
an_object_is_born_and_freed(void)
{
    prof_heap_free_explicit(prof_proc_at(prof, 0), alloc(1));
}

TEST(a_first_snapshot_shows_no_free_before_its_allocation)
{
    static const struct prof_rules *const sets[] = {&prof_rules_exact,
                                                    &prof_rules_go1_5};

    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        for (uint32_t calls = 0; calls < 8; calls++) {
            struct prof_heap_record record;
            size_t count = 0;

            prof = ruled(sets[i]);
            an_object_is_born_and_freed();
            (void)alloc(1);
            other_thread = an_object_is_born_and_freed;
            calls_before = calls;
            assert_int_equal(
                prof_heap_snapshot(prof, PROF_SELECT_ALL, &record, 1, &count),
                PROF_OK);
            if (record.frees >= record.allocs)
                fail_msg("%s, call %u: %u allocs, %u frees", sets[i]->name,
                         calls, (unsigned)record.allocs,
                         (unsigned)record.frees);
            other_thread = NULL;
            props_prof_drop(prof);
        }
    }
}

/* A bucket that is about to be linked: it has a row, but no lookup finds it
 * yet. */
static shared_u64 *hidden_slot;
static uint64_t hidden_slot_value;
static uint32_t hidden_row;
static uint32_t hidden_frames_at;

static void
hide(uint32_t row)
{
    const struct table *table = &prof->table;

    hidden_row = row;
    hidden_frames_at = load_relaxed(&table->entries[row].frames_at);
    for (uint64_t i = 0; i >> table->slots_log2 == 0; i++) {
        hidden_slot_value = load_relaxed(&table->slots[i]);
        hidden_slot = &table->slots[i];
        if ((uint32_t)hidden_slot_value == hidden_frames_at)
            break;
    }
    store_relaxed(hidden_slot, 0);
    store_relaxed(&table->entries[row].frames_at, 0);
}

static void
the_bucket_arrives(void)
{
    store_relaxed(hidden_slot, hidden_slot_value);
    store_relaxed(&prof->table.entries[hidden_row].frames_at, hidden_frames_at);
}

/* The bucket of stack 2, of three, is hidden, and there is room for two
 * records. Either the two others were listed, or the snapshot says that there
 * was no room for three. */
#define ASSERT_HIDDEN_IS_OUT(status, count, records)    \
    do {                                                \
        if ((status) == PROF_OK) {                      \
            assert_int_equal(count, 2);                 \
            assert_int_equal((records)[0].stack[0], 3); \
            assert_int_equal((records)[1].stack[0], 1); \
        } else {                                        \
            assert_int_equal(status, PROF_ERR_SHORT);   \
            assert_int_equal(count, 3);                 \
        }                                               \
        if (other_thread != NULL)                       \
            the_bucket_arrives();                       \
        other_thread = NULL;                            \
        props_prof_drop(prof);                          \
    } while (0)

TEST(a_bucket_that_arrives_in_a_snapshot_pushes_none_out)
{
    for (uint32_t calls = 0; calls < 12; calls++) {
        struct prof_heap_record records[2] = {{0}, {0}};
        enum prof_status status;
        size_t count = 0;

        prof = ruled(&prof_rules_exact);
        for (uintptr_t frame = 1; frame <= 3; frame++)
            (void)alloc(frame);
        hide(2);
        other_thread = the_bucket_arrives;
        calls_before = calls;
        status = prof_heap_snapshot(prof, PROF_SELECT_ALL, records, 2, &count);
        ASSERT_HIDDEN_IS_OUT(status, count, records);
    }
}

TEST(a_bucket_that_arrives_in_a_contention_snapshot_pushes_none_out)
{
    for (uint32_t calls = 0; calls < 8; calls++) {
        struct prof_contention_record records[2] = {{0}, {0}};
        enum prof_status status;
        size_t count = 0;

        prof = ruled(&prof_rules_exact);
        for (uintptr_t frame = 1; frame <= 3; frame++)
            prof_contention_event(prof_proc_at(prof, 0), PROF_BLOCK, &frame, 1,
                                  5);
        hide(2);
        other_thread = the_bucket_arrives;
        calls_before = calls;
        status = prof_contention_snapshot(prof, PROF_BLOCK, records, 2, &count);
        ASSERT_HIDDEN_IS_OUT(status, count, records);
    }
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
