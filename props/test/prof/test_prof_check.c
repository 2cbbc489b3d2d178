/*
 * test_prof_check.c -- prof_check() finds damage: each row damages one word in
 * the memory of a sound instance, and the check must name the invariant. White
 * box: no call damages an instance.
 */
#include <stdlib.h>
#include <string.h>

#include "instance.h"
#include "slot.h"
#include "test_prof_make.h"
#include "unit_test.h"

enum {
    STACKS = 5, /* of two frames each */
    BUCKETS = 8,
    DEPTH = 4,
    FRAMES = 32,
    USED = (KEY_WORDS + 2) * STACKS /* the first word that is not used */
};

static struct prof *prof;

static void
a_sound_instance(void)
{
    const struct prof_config config = {
        .buckets_max = BUCKETS, .depth_max = DEPTH, .frames_max = FRAMES};

    prof = props_prof_make(&config);
    for (uintptr_t i = 1; i <= STACKS; i++)
        assert_int_equal(
            prof_heap_alloc(prof_proc_at(prof, 0), (uintptr_t[]){i, 1}, 2, 8),
            i);
    assert_null(prof_check(prof));
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

/* Find the slot that leads to a row; of row 0: an empty one. */
static shared_u64 *
slot_of(uint32_t row)
{
    const uint32_t frames_at =
        row == 0 ? 0 : load_relaxed(&entry_of(row)->frames_at);

    for (uint64_t i = 0; i >> prof->table.slots_log2 == 0; i++) {
        if ((uint32_t)load_relaxed(&prof->table.slots[i]) == frames_at)
            return &prof->table.slots[i];
    }
    fail_msg("no slot leads to row %u", row);
    return NULL;
}

/* Let the slot of row 2, and perhaps its entry, lead to another place. */
static void
lead_to(uint32_t place, bool with_slot)
{
    shared_u64 *const slot = slot_of(2);

    if (with_slot)
        store_relaxed(slot, load_relaxed(slot) >> 32 << 32 | place);
    store_relaxed(&entry_of(2)->frames_at, place);
}

static void
reserve(uint64_t rows, uint64_t words)
{
    store_relaxed(&prof->table.reserved, rows << 32 | words);
}

static const struct {
    const char *what;
    const char *broken; /* NULL: no damage */
} damages[] = {
    {"an entry too deep", "table I1"},
    {"an entry of no kind", "table I1"},
    {"an entry of an unknown kind", "table I1"},
    {"two entries of one stack", "table I2"},
    {"an entry that a lookup does not find", "table I2"},
    {"a key that differs from its entry", "table I2"},
    {"an entry without a slot", "table I2"},
    {"a slot that leads to another row", "table I2"},
    {"a slot whose row is not linked", "table I3"},
    {"an entry before the first words", "table I3"},
    {"an entry whose second frame is not used", "table I3"},
    {"an entry behind the last words", "table I3"},
    {"entry and slot that agree on a place before all", "table I3"},
    {"entry and slot that agree on a place behind all", "table I3"},
    {"a slot that leads nowhere", "table I3"},
    {"a slot that leads to no row", "table I3"},
    {"a slot of a tag without a place", "table I3"},
    {"a second slot of a row", "table I3"},
    {"a slot that leads to frames of another row", "table I3"},
    {"more rows than there are", "table I4"},
    {"all words", NULL},
    {"more words than there are", "table I4"},
    {"the last cycle", NULL},
    {"a cycle at the wrap", "heap I1"},
};

static void
damage(size_t number)
{
    shared_u64 *const empty = slot_of(0);
    const uint64_t fourth = load_relaxed(slot_of(4));

    switch (number) {
    case 0:
        entry_of(STACKS)->depth = DEPTH + 1;
        break;
    case 1:
        entry_of(3)->kind = 0;
        break;
    case 2:
        entry_of(3)->kind = KIND_MUTEX + 1;
        break;
    case 3:
        frames_of(4)[0] = 2;
        break;
    case 4:
        frames_of(4)[1] = 77;
        break;
    case 5:
        frames_of(4)[-1] ^= 1;
        break;
    case 6:
        store_relaxed(slot_of(STACKS), 0);
        break;
    case 7:
        store_relaxed(slot_of(3), fourth);
        break;
    case 8:
        lead_to(0, false);
        break;
    case 9:
        lead_to(KEY_WORDS - 1, false);
        break;
    case 10:
        lead_to(USED - 1, false);
        break;
    case 11:
        lead_to(UINT32_MAX, false);
        break;
    case 12:
        lead_to(KEY_WORDS - 1, true);
        break;
    case 13:
        lead_to(USED, true);
        break;
    case 14:
        store_relaxed(empty, UINT64_MAX);
        break;
    case 15:
        store_relaxed(empty, KEY_WORDS);
        break;
    case 16:
        store_relaxed(empty, UINT64_C(1) << 63);
        break;
    case 17:
        store_relaxed(empty, fourth);
        break;
    case 18:
        store_relaxed(slot_of(3),
                      load_relaxed(slot_of(3)) >> 32 << 32 | (uint32_t)fourth);
        break;
    case 19:
        reserve(BUCKETS + 1, 0);
        break;
    case 20:
        reserve(STACKS, FRAMES);
        break;
    case 21:
        reserve(STACKS, FRAMES + 1);
        break;
    case 22:
        store_relaxed(&prof->cycle_word, (PROF_CYCLE_WRAP - 1) << 1 | 1);
        break;
    default:
        store_relaxed(&prof->cycle_word, PROF_CYCLE_WRAP << 1);
        break;
    }
}

TEST(damage_is_found_and_named)
{
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        const char *got;
        const char *want = damages[i].broken;

        a_sound_instance();
        damage(i);
        got = prof_check(prof);
        if (want == NULL ? got != NULL : got == NULL || strcmp(got, want) != 0)
            fail_msg("%s: %s", damages[i].what, got != NULL ? got : "sound");
        free(prof);
    }
}
