/*
 * test_prof_init.c -- configurations and memory: which are refused and why,
 * that a refusal changes nothing, and that an instance needs exactly as many
 * bytes as the library says.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prof/prof.h"
#include "prof/test/prof_make.h"
#include "common/test/unit_test.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* A frame's place in the table has 31 bits (table.c). */
#define PLACES     (UINT64_C(1) << 31)
#define FRAMES_TOP (PLACES - 2 - 1) /* the first place is 2 */

static const struct {
    bool good;
    struct prof_config config;
} rows[] = {
    {true, {.buckets_max = 1}},
    {false, {.buckets_max = 0}},
    {true, {.buckets_max = PROF_BUCKETS_LIMIT, .frames_max = 1}},
    {false, {.buckets_max = PROF_BUCKETS_LIMIT + 1, .frames_max = 1}},
    {false, {.buckets_max = PROF_BUCKETS_LIMIT}}, /* 16 frames a bucket */
    {true, {.buckets_max = 1, .depth_max = PROF_DEPTH_LIMIT}},
    {false, {.buckets_max = 1, .depth_max = PROF_DEPTH_LIMIT + 1}},
    {true, {.buckets_max = 1, .procs_max = PROF_PROCS_LIMIT}},
    {false, {.buckets_max = 1, .procs_max = PROF_PROCS_LIMIT + 1}},
    {true, {.buckets_max = 1, .cycle_first = PROF_CYCLE_WRAP - 1}},
    {false, {.buckets_max = 1, .cycle_first = PROF_CYCLE_WRAP}},
    {true, {.buckets_max = 1, .hash = PROF_HASH_COUNT - 1}},
    {false, {.buckets_max = 1, .hash = PROF_HASH_COUNT}},
    {true, {.buckets_max = 1, .frames_max = FRAMES_TOP}},
    {false, {.buckets_max = 1, .frames_max = FRAMES_TOP + 1}},
    {false, {.buckets_max = 1, .frames_max = 2 * PLACES + 8}},
    {false, {.buckets_max = 1, .frames_max = UINT64_MAX - 1}},
    {false, {.buckets_max = 1, .world = (enum prof_world)2}},
    {true, {.buckets_max = 1, .ticks_per_second = 10000000000}},
    {false, {.buckets_max = 1, .ticks_per_second = 10000000001}},
};

TEST(each_configuration_gets_its_answer)
{
    static _Alignas(64) unsigned char little[64];

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const size_t bytes = prof_bytes_needed(&rows[i].config);
        struct prof *prof = (void *)little;
        enum prof_status got;

        if ((bytes > 0) != rows[i].good)
            fail_msg("row %zu: %zu bytes", i, bytes);
        /* With too little memory a good configuration is refused for that, but
         * a bad one as bad. */
        got = prof_init(&prof, &rows[i].config, little, sizeof little);
        assert_int_equal(got, bytes > 0 ? PROF_ERR_MEMORY : PROF_ERR_CONFIG);
        assert_ptr_equal(prof, little);
        if (bytes > 0 && bytes < 1U << 24)
            props_prof_drop(props_prof_make(&rows[i].config));
    }
    for (size_t i = 0; i < sizeof little; i++)
        assert_int_equal(little[i], 0);
}

TEST(zeros_stand_for_the_defaults)
{
    const struct prof_config zeros = {.buckets_max = 8};
    const struct prof_config written = {.rules = &prof_rules_exact,
                                        .buckets_max = 8,
                                        .depth_max = 32,
                                        .frames_max = 8 * 16,
                                        .procs_max = 1};

    assert_int_equal(prof_bytes_needed(&zeros), prof_bytes_needed(&written));
}

TEST(a_new_instance_stands_at_its_first_cycle_and_is_empty)
{
    const struct prof_config config = {.buckets_max = 2, .cycle_first = 77};
    struct prof *prof = props_prof_make(&config);
    const struct prof_heap_totals totals = prof_heap_totals(prof);
    const struct prof_drops drops = prof_drops(prof);
    size_t count = 9;

    assert_int_equal(prof_heap_phase(prof).cycle, 77);
    assert_false(prof_heap_phase(prof).flushed);
    assert_int_equal(totals.allocs_published + totals.frees_published, 0);
    assert_int_equal(totals.allocs_pending + totals.frees_pending, 0);
    assert_int_equal(drops.no_bucket + drops.no_frames + drops.no_free_path, 0);
    assert_int_equal(prof_heap_snapshot(prof, PROF_SELECT_ALL, NULL, 0, &count),
                     PROF_OK);
    assert_int_equal(count, 0);
    assert_ptr_equal(prof_proc_at(prof, 0), prof_proc_at(prof, 0));
    /* The defaults: each wait, and one sample per 512 KiB. */
    assert_int_equal(prof_block_rate_ticks(prof), 1);
    assert_int_equal(prof_mutex_fraction_set(prof, -1), 1);
    assert_int_equal(prof_heap_rate(prof), 512 * 1024);
    props_prof_drop(prof);
}

/* Each length that is too short, and each address that is not aligned; each
 * byte of the block must stay as it was. */
TEST(a_block_that_is_shorter_or_not_aligned_is_refused_untouched)
{
    const struct prof_config config = {
        .buckets_max = 1, .depth_max = 1, .frames_max = 1};
    const size_t bytes = prof_bytes_needed(&config);
    unsigned char *block = aligned_alloc(PROF_BLOCK_ALIGN, bytes);
    unsigned char *zeros = calloc(1, bytes);
    struct prof *prof = NULL;

    assert_non_null(block);
    assert_non_null(zeros);
    memset(block, 0, bytes);
    for (size_t off = 1; off < PROF_BLOCK_ALIGN; off++)
        assert_int_equal(prof_init(&prof, &config, block + off, bytes),
                         PROF_ERR_MEMORY);
    for (size_t length = 0; length < bytes; length++) {
        assert_int_equal(prof_init(&prof, &config, block, length),
                         PROF_ERR_MEMORY);
        assert_null(prof);
        assert_memory_equal(block, zeros, bytes);
    }
    assert_int_equal(prof_init(&prof, &config, block, bytes), PROF_OK);
    assert_ptr_equal(prof, block);
    free(zeros);
    free(block);
}

/*
 * The rule sets as in docs/semantics.md ("Rule sets"). Both the library and the
 * model follow the preset, so no comparison of the two would notice a wrong
 * one.
 */
static const struct prof_rules eras[] = {
    {"exact", PROF_HEAP_RING, PROF_ROTATE_STOPPED, PROF_EXPLICIT_RECENT, false,
     PROF_RANDOM_64, PROF_BLOCK_EXACT, PROF_MUTEX_EXACT, PROF_WAITERS_FIRST,
     PROF_SAMPLER_EXACT, false, false},
    {"go1.5", PROF_HEAP_STAGES, PROF_ROTATE_STOPPED, PROF_EXPLICIT_RECENT, true,
     PROF_RANDOM_LFSR31, PROF_BLOCK_PLAIN, PROF_MUTEX_ABSENT,
     PROF_WAITERS_FIRST, PROF_SAMPLER_UNIFORM, true, true},
    {"go1.6-late", PROF_HEAP_STAGES, PROF_ROTATE_RESTARTED,
     PROF_EXPLICIT_RECENT, true, PROF_RANDOM_LFSR31, PROF_BLOCK_PLAIN,
     PROF_MUTEX_ABSENT, PROF_WAITERS_FIRST, PROF_SAMPLER_UNIFORM, true, true},
    {"go1.10", PROF_HEAP_RING, PROF_ROTATE_STOPPED, PROF_EXPLICIT_DROPPED, true,
     PROF_RANDOM_XORSHIFT32, PROF_BLOCK_PLAIN, PROF_MUTEX_UNSCALED,
     PROF_WAITERS_FIRST, PROF_SAMPLER_EXPONENTIAL, true, true},
    {"go1.17", PROF_HEAP_RING, PROF_ROTATE_STOPPED, PROF_EXPLICIT_DROPPED, true,
     PROF_RANDOM_XORSHIFT32, PROF_BLOCK_CORRECTED, PROF_MUTEX_UNSCALED,
     PROF_WAITERS_FIRST, PROF_SAMPLER_EXPONENTIAL, false, true},
};

TEST(every_preset_is_found_by_its_name_and_is_what_its_era_did)
{
    static const char *const none[] = {"", "exac", "exactly", "go1.1", "EXACT"};

    for (size_t i = 0; i < COUNT_OF(eras); i++) {
        const struct prof_rules *want = &eras[i];
        const struct prof_rules *got = prof_rules_find(want->name);

        assert_non_null(got);
        assert_ptr_equal(prof_rules_all[i], got);
        assert_int_equal(got->heap, want->heap);
        assert_int_equal(got->rotate, want->rotate);
        assert_int_equal(got->explicit_free, want->explicit_free);
        assert_int_equal(got->sizing_consumes_first,
                         want->sizing_consumes_first);
        assert_int_equal(got->random, want->random);
        assert_int_equal(got->block, want->block);
        assert_int_equal(got->mutex, want->mutex);
        assert_int_equal(got->waiters, want->waiters);
        assert_int_equal(got->sampler, want->sampler);
        assert_int_equal(got->sampler_keeps_large, want->sampler_keeps_large);
        assert_int_equal(got->rate_overflow_is_off, want->rate_overflow_is_off);
    }
    assert_null(prof_rules_all[COUNT_OF(eras)]);
    for (size_t i = 0; i < COUNT_OF(none); i++)
        assert_null(prof_rules_find(none[i]));
}

TEST(rules_that_do_not_exist_are_refused)
{
    struct prof_rules wrong[8];

    for (size_t i = 0; i < COUNT_OF(wrong); i++)
        wrong[i] = prof_rules_exact;
    wrong[0].heap = (enum prof_heap_scheme)(PROF_HEAP_RING + 1);
    wrong[1].rotate = (enum prof_stage_rotate)(PROF_ROTATE_RESTARTED + 1);
    wrong[2].explicit_free =
        (enum prof_explicit_free)(PROF_EXPLICIT_RECENT + 1);
    wrong[3] = prof_rules_go1_10; /* none of its rules requires 64 bits */
    wrong[3].random = (enum prof_random)(PROF_RANDOM_XORSHIFT32 + 1);
    wrong[4].block = (enum prof_block_rule)(PROF_BLOCK_CORRECTED + 1);
    wrong[5].mutex = (enum prof_mutex_rule)(PROF_MUTEX_UNSCALED + 1);
    wrong[6].waiters = (enum prof_waiters)(PROF_WAITERS_ALL + 1);
    wrong[7].sampler = (enum prof_sampler)(PROF_SAMPLER_EXPONENTIAL + 1);
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        const struct prof_config config = {.buckets_max = 1,
                                           .rules = &wrong[i]};

        assert_int_equal(prof_bytes_needed(&config), 0);
    }
}

/* Each exact rule requires 64-bit random numbers. */
TEST(exact_rules_with_a_short_random_number_are_refused)
{
    for (int exact = 0; exact < 4; exact++) {
        struct prof_rules rules = prof_rules_go1_10;
        const struct prof_config config = {.buckets_max = 1, .rules = &rules};

        rules.random = PROF_RANDOM_XORSHIFT32;
        if (exact == 1)
            rules.block = PROF_BLOCK_EXACT;
        if (exact == 2)
            rules.mutex = PROF_MUTEX_EXACT;
        if (exact == 3)
            rules.sampler = PROF_SAMPLER_EXACT;
        assert_int_equal(prof_bytes_needed(&config) > 0, exact == 0);
        rules.random = PROF_RANDOM_64;
        assert_true(prof_bytes_needed(&config) > 0);
    }
}

TEST(every_status_has_a_text_of_its_own)
{
    for (int a = 0; a <= PROF_STATUS_COUNT; a++) {
        for (int b = 0; b < a; b++)
            assert_string_not_equal(prof_status_text((enum prof_status)a),
                                    prof_status_text((enum prof_status)b));
    }
}

TEST(the_library_states_the_version_of_its_headers)
{
    char numbers[32];

    snprintf(numbers, sizeof numbers, "%d.%d.%d", PROF_VERSION_MAJOR,
             PROF_VERSION_MINOR, PROF_VERSION_PATCH);
    assert_string_equal(PROF_VERSION, numbers);
    assert_string_equal(prof_version(), PROF_VERSION);
}
