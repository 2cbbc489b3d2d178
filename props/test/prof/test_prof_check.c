/*
 * test_prof_check.c -- prof_check() finds damage: each test damages one thing
 * in the memory of a sound instance, and the check must name it.
 */
#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "instance.h"
#include "slot.h"
#include "test_prof_make.h"
#include "unit_test.h"

enum {
    STACKS = 5, /* of two frames each */
    BUCKETS = 8,
    DEPTH = 4,
    FRAMES = 32,
    FIRST = KEY_WORDS, /* where the first row's frames begin */
    USED = (KEY_WORDS + 2) * STACKS
};

static struct prof *prof;

static int
a_sound_instance(void **state)
{
    const struct prof_config config = {
        .buckets_max = BUCKETS, .depth_max = DEPTH, .frames_max = FRAMES};

    (void)state;
    prof = props_prof_make(&config);
    for (uintptr_t i = 1; i <= STACKS; i++) {
        const uintptr_t frames[] = {i, 1};

        assert_int_equal(
            prof_table_intern(&prof->table, KIND_HEAP, frames, 2, 8), i);
    }
    assert_null(prof_check(prof));
    return 0;
}

static int
the_end(void **state)
{
    (void)state;
    free(prof);
    return 0;
}

/* The entry of a row, to be damaged. */
static struct entry *
entry_of(uint32_t row)
{
    return &prof->table.entries[row];
}

static uintptr_t *
frames_of(uint32_t row)
{
    return &prof->table.words[load_relaxed(&entry_of(row)->frames_at)];
}

/* Find the slot that leads to a row. */
static shared_u64 *
slot_of(uint32_t row)
{
    const uint32_t frames_at = load_relaxed(&entry_of(row)->frames_at);

    for (uint64_t i = 0; i >> prof->table.slots_log2 == 0; i++) {
        if ((uint32_t)load_relaxed(&prof->table.slots[i]) == frames_at)
            return &prof->table.slots[i];
    }
    fail_msg("no slot leads to row %u", row);
    return NULL;
}

static void
assert_broken(const char *name)
{
    const char *broken = prof_check(prof);

    assert_non_null(broken);
    assert_string_equal(broken, name);
}

TEST_WITH(a_sound_instance, the_end, an_entry_too_deep_breaks_table_i1)
{
    for (uint32_t row = 1; row <= STACKS; row++) {
        entry_of(row)->depth = DEPTH + 1;
        assert_broken("table I1");
        entry_of(row)->depth = 2;
        assert_null(prof_check(prof));
    }
}

TEST_WITH(a_sound_instance, the_end, an_entry_of_no_kind_breaks_table_i1)
{
    entry_of(3)->kind = 0;
    assert_broken("table I1");
    entry_of(3)->kind = KIND_MUTEX + 1;
    assert_broken("table I1");
}

TEST_WITH(a_sound_instance, the_end, two_entries_of_one_stack_break_table_i2)
{
    frames_of(4)[0] = 2; /* the same stack as row 2 */
    assert_broken("table I2");
}

TEST_WITH(a_sound_instance, the_end, an_entry_that_changed_breaks_table_i2)
{
    frames_of(4)[1] = 77; /* a probe from its home slot does not find it */
    assert_broken("table I2");
}

TEST_WITH(a_sound_instance, the_end, a_key_that_changed_breaks_table_i2)
{
    for (int before = -KEY_WORDS; before < 0; before++) {
        frames_of(4)[before] ^= 1; /* the key no longer agrees with the entry */
        assert_broken("table I2");
        frames_of(4)[before] ^= 1;
        assert_null(prof_check(prof));
    }
}

TEST_WITH(a_sound_instance, the_end, an_entry_without_a_slot_breaks_table_i2)
{
    store_relaxed(slot_of(STACKS), 0);
    assert_broken("table I2");
}

TEST_WITH(a_sound_instance, the_end,
          a_slot_whose_row_is_unlinked_breaks_table_i3)
{
    store_relaxed(&entry_of(2)->frames_at, 0);
    assert_broken("table I3");
}

TEST_WITH(a_sound_instance, the_end,
          a_row_that_leads_outside_the_entries_breaks_table_i3)
{
    static const uint32_t places[] = {
        FIRST - 1,                    /* before the first frame of any row */
        USED - 1,                     /* of its two frames the second is not
                                       * used */
        USED,                         /* the first frame that is not used */
        KEY_WORDS * BUCKETS + FRAMES, /* behind the last frame */
        (1U << 31) - 1,
        UINT32_MAX,
    };

    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        store_relaxed(&entry_of(2)->frames_at, places[i]);
        assert_broken("table I3");
    }
}

TEST_WITH(a_sound_instance, the_end,
          a_place_outside_that_entry_and_slot_agree_on_breaks_table_i3)
{
    static const uint32_t places[] = {FIRST - 1, USED - 1, USED,
                                      (1U << 31) - 1};
    shared_u64 *const slot = slot_of(2);
    const uint64_t upper = load_relaxed(slot) >> 32 << 32;

    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        store_relaxed(&entry_of(2)->frames_at, places[i]);
        store_relaxed(slot, upper | places[i]);
        assert_broken("table I3");
    }
}

/* The stack's home is the first slot, so the slot is checked only if the loop
 * includes 0. */
TEST_WITH(a_sound_instance, the_end, the_first_slot_is_looked_at_as_well)
{
    shared_u64 *const first = &prof->table.slots[0];
    uint32_t row = STACKS;

    for (uintptr_t i = 100; load_relaxed(first) == 0; i++) {
        const uint64_t hash = prof_hash_stack(PROF_HASH_MULTILINEAR, &i, 1, 8);

        if (home(&prof->table, hash) == 0)
            row = prof_table_intern(&prof->table, KIND_HEAP, &i, 1, 8);
    }
    assert_true(row != 0);
    assert_null(prof_check(prof));
    store_relaxed(first, load_relaxed(first) ^ 1); /* leads to a place next to
                                                    * its frames */
    assert_broken("table I3");
}

static shared_u64 *
an_empty_slot(void)
{
    shared_u64 *slot = prof->table.slots;

    while (load_relaxed(slot) != 0)
        slot++;
    return slot;
}

TEST_WITH(a_sound_instance, the_end,
          a_slot_that_leads_outside_the_entries_breaks_table_i3)
{
    store_relaxed(an_empty_slot(), UINT64_MAX);
    assert_broken("table I3");
}

TEST_WITH(a_sound_instance, the_end,
          a_slot_that_leads_to_no_row_breaks_table_i3)
{
    shared_u64 *const slot = an_empty_slot();

    store_relaxed(slot, FIRST);
    assert_broken("table I3");
    store_relaxed(slot, UINT64_C(1) << 63); /* a tag without a place */
    assert_broken("table I3");
}

TEST_WITH(a_sound_instance, the_end, a_second_slot_of_a_row_breaks_table_i3)
{
    store_relaxed(an_empty_slot(), load_relaxed(slot_of(4)));
    assert_broken("table I3");
}

TEST_WITH(a_sound_instance, the_end,
          a_slot_that_leads_to_frames_of_another_row_breaks_table_i3)
{
    shared_u64 *const slot = slot_of(3);
    const uint64_t upper = load_relaxed(slot) >> 32 << 32;

    store_relaxed(slot, upper | load_relaxed(&entry_of(4)->frames_at));
    assert_broken("table I3");
}

TEST_WITH(a_sound_instance, the_end,
          a_slot_that_leads_to_another_row_breaks_table_i2)
{
    store_relaxed(slot_of(3), load_relaxed(slot_of(4)));
    assert_broken("table I2"); /* a lookup does not find row 3 any more */
}

TEST_WITH(a_sound_instance, the_end, more_rows_than_there_are_break_table_i4)
{
    store_relaxed(&prof->table.reserved, (uint64_t)(BUCKETS + 1) << 32);
    assert_broken("table I4");
}

TEST_WITH(a_sound_instance, the_end, more_words_than_there_are_break_table_i4)
{
    const uint64_t most = FRAMES;

    store_relaxed(&prof->table.reserved, (uint64_t)STACKS << 32 | most);
    assert_null(prof_check(prof));
    store_relaxed(&prof->table.reserved, (uint64_t)STACKS << 32 | (most + 1));
    assert_broken("table I4");
}

TEST_WITH(a_sound_instance, the_end, a_cycle_at_the_wrap_breaks_heap_i1)
{
    store_relaxed(&prof->cycle_word, (PROF_CYCLE_WRAP - 1) << 1 | 1);
    assert_null(prof_check(prof));
    store_relaxed(&prof->cycle_word, PROF_CYCLE_WRAP << 1);
    assert_broken("heap I1");
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
