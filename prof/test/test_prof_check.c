/*
 * test_prof_check.c -- prof_check() finds damage: each row damages one word in
 * the memory of a sound instance, and the check must name the invariant. White
 * box: no call damages an instance.
 */
#include <stdlib.h>
#include <string.h>

#include "prof/core/instance.h"
#include "prof/core/slot.h"
#include "prof/test/prof_make.h"
#include "common/test/unit_test.h"

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

/* Find the slot that leads to a row; of row 0: an empty one. */
static shared_u64 *
slot_of(uint32_t row)
{
    const uint32_t frames_at =
        row == 0 ? 0 : load_relaxed(&prof->table.entries[row].frames_at);

    for (uint64_t i = 0; i >> prof->table.slots_log2 == 0; i++) {
        if ((uint32_t)load_relaxed(&prof->table.slots[i]) == frames_at)
            return &prof->table.slots[i];
    }
    fail_msg("no slot leads to row %u", row);
    return NULL;
}

enum where { DEPTH_OF, KIND_OF, WORD_OF, PLACE_OF, SLOT_OF, RESERVED, CYCLE };

/* What is damaged, of which row, and what it becomes. */
static const struct {
    const char *broken; /* NULL: no damage */
    enum where where;
    uint32_t row;
    uint64_t value;
} damages[] = {
    {"table I1", DEPTH_OF, STACKS, DEPTH + 1},
    {"table I1", KIND_OF, 3, 0},
    {"table I1", KIND_OF, 3, KIND_MUTEX + 1},
    {"table I2", WORD_OF, 4, 2},  /* two entries of one stack */
    {"table I2", WORD_OF, 4, 77}, /* a lookup does not find it */
    {"table I2", SLOT_OF, STACKS, 0},
    {"table I3", PLACE_OF, 2, 0}, /* a slot whose row is not linked */
    {"table I3", PLACE_OF, 2, KEY_WORDS - 1},
    {"table I3", PLACE_OF, 2, USED - 1}, /* one frame of two is used */
    {"table I3", PLACE_OF, 2, UINT32_MAX},
    {"table I3", SLOT_OF, 2, KEY_WORDS - 1},
    {"table I3", SLOT_OF, 2, USED},
    {"table I3", SLOT_OF, 0, KEY_WORDS}, /* an empty one */
    {"table I4", RESERVED, 0, (uint64_t)(BUCKETS + 1) << 32},
    {NULL, RESERVED, 0, (uint64_t)STACKS << 32 | FRAMES},
    {"table I4", RESERVED, 0, (uint64_t)STACKS << 32 | (FRAMES + 1)},
    {NULL, CYCLE, 0, (PROF_CYCLE_WRAP - 1) << 1 | 1},
    {"heap I1", CYCLE, 0, PROF_CYCLE_WRAP << 1},
};

static void
damage(enum where where, uint32_t row, uint64_t value)
{
    struct entry *const entry = &prof->table.entries[row];
    shared_u64 *const slot = slot_of(row);

    if (where == DEPTH_OF)
        entry->depth = (uint16_t)value;
    else if (where == KIND_OF)
        entry->kind = (uint16_t)value;
    else if (where == WORD_OF)
        prof->table.words[load_relaxed(&entry->frames_at)] = value;
    else if (where == PLACE_OF)
        store_relaxed(&entry->frames_at, (uint32_t)value);
    else if (where == SLOT_OF) /* the tag stays, unless nothing is to stay */
        store_relaxed(slot,
                      value == 0 ? 0 : load_relaxed(slot) >> 32 << 32 | value);
    else if (where == RESERVED)
        store_relaxed(&prof->table.reserved, value);
    else
        store_relaxed(&prof->cycle_word, (uint32_t)value);
}

TEST(damage_is_found_and_named)
{
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        const char *want = damages[i].broken;
        const char *got;

        a_sound_instance();
        damage(damages[i].where, damages[i].row, damages[i].value);
        got = prof_check(prof);
        if (want == NULL ? got != NULL : got == NULL || strcmp(got, want) != 0)
            fail_msg("row %zu: %s", i, got != NULL ? got : "sound");
        free(prof);
    }
}
