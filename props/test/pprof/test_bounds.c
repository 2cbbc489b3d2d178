/*
 * test_bounds.c -- sizes and limits to the byte: a block is as long as its
 * contents, every limit can be reached and not exceeded, and nothing is read
 * beyond the end of an argument. White box: uses the sizes of the core's
 * structs.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "builder.h"
#include "cpu.h"
#include "instance.h"
#include "pprof_case.h"
#include "prof/cpu.h"
#include "prof/trace.h"
#include "registry.h"
#include "tracer.h"
#include "unit_test.h"

/* Each part of a block begins on a cache line of its own. */
static size_t
lines(size_t bytes)
{
    size_t whole = 0;

    while (whole < bytes)
        whole += PROF_BLOCK_ALIGN;
    return whole;
}

/* The least power of two that is at least 2 and at least `least`. */
static size_t
power(size_t least)
{
    size_t answer = 2;

    while (answer < least)
        answer *= 2;
    return answer;
}

/* ---- blocks ---- */

TEST(a_cpu_profile_needs_what_is_in_it)
{
    static const struct prof_cpu_config configs[] = {
        {.ticks_max = 1, .stacks_max = 1, .depth_max = 1},
        {.ticks_max = 5, .stacks_max = 3, .depth_max = 3},
        {.ticks_max = 16, .stacks_max = 64, .depth_max = 7},
        {.ticks_max = 17, .stacks_max = 65, .depth_max = PROF_DEPTH_LIMIT},
    };

    for (size_t i = 0; i < sizeof configs / sizeof *configs; i++) {
        const struct prof_cpu_config *c = &configs[i];
        const size_t frames = c->depth_max * sizeof(uintptr_t);
        const size_t ticks = power(c->ticks_max);
        /* One more stack, for lost ticks. */
        const size_t stacks = c->stacks_max + (size_t)1;

        assert_int_equal(prof_cpu_bytes_needed(c),
                         lines(sizeof(struct prof_cpu)) +
                             lines(ticks * sizeof(struct tick)) +
                             lines(ticks * frames) +
                             lines(stacks * sizeof(struct cpu_stack)) +
                             lines(stacks * frames) +
                             lines(power(c->stacks_max) * sizeof(uint32_t)));
    }
}

TEST(a_registry_needs_what_is_in_it)
{
    static const struct prof_registry_config configs[] = {
        {.profiles_max = 0, .entries_max = 0, .depth_max = 1},
        {.profiles_max = 1, .entries_max = 1, .depth_max = 3},
        {.profiles_max = 5, .entries_max = 6, .depth_max = 7},
        {.profiles_max = 6, .entries_max = 63, .depth_max = 9},
        {.profiles_max = 7, .entries_max = 64, .depth_max = PROF_DEPTH_LIMIT},
    };

    for (size_t i = 0; i < sizeof configs / sizeof *configs; i++) {
        const struct prof_registry_config *c = &configs[i];
        const size_t profiles = c->profiles_max + (size_t)6;
        const size_t entries = c->entries_max + (size_t)1; /* 0 is not used */

        assert_int_equal(prof_registry_bytes_needed(c),
                         lines(sizeof(struct prof_registry)) +
                             lines(profiles * sizeof(struct prof_profile)) +
                             lines(power(entries) * sizeof(uint32_t)) +
                             lines(entries * sizeof(struct entry_slot)) +
                             lines(entries * c->depth_max * sizeof(uintptr_t)));
    }
}

/* ---- limits ---- */

TEST(the_largest_cpu_profile_is_one_of_2_24_ticks_or_stacks)
{
    const uint32_t most = 1U << 24;

    assert_true(prof_cpu_bytes_needed(
                    &(struct prof_cpu_config){.ticks_max = most}) > 0);
    assert_true(prof_cpu_bytes_needed(
                    &(struct prof_cpu_config){.stacks_max = most}) > 0);
    assert_true(prof_cpu_bytes_needed(&(struct prof_cpu_config){
                    .depth_max = PROF_DEPTH_LIMIT}) > 0);
    assert_int_equal(
        prof_cpu_bytes_needed(&(struct prof_cpu_config){.ticks_max = most + 1}),
        0);
    assert_int_equal(prof_cpu_bytes_needed(
                         &(struct prof_cpu_config){.stacks_max = most + 1}),
                     0);
    assert_int_equal(prof_cpu_bytes_needed(&(struct prof_cpu_config){
                         .depth_max = PROF_DEPTH_LIMIT + 1}),
                     0);
}

TEST(the_largest_registry_has_2_16_profiles_or_2_24_entries)
{
    const uint32_t profiles = 1U << 16;
    const uint32_t entries = 1U << 24;
    struct prof_registry_config config = {.profiles_max = profiles};

    assert_true(prof_registry_bytes_needed(&config) > 0);
    config.profiles_max = profiles + 1;
    assert_int_equal(prof_registry_bytes_needed(&config), 0);
    config = (struct prof_registry_config){.entries_max = entries};
    assert_true(prof_registry_bytes_needed(&config) > 0);
    config.entries_max = entries + 1;
    assert_int_equal(prof_registry_bytes_needed(&config), 0);
    config = (struct prof_registry_config){.depth_max = PROF_DEPTH_LIMIT};
    assert_true(prof_registry_bytes_needed(&config) > 0);
    config.depth_max = PROF_DEPTH_LIMIT + 1;
    assert_int_equal(prof_registry_bytes_needed(&config), 0);
}

TEST(the_largest_trace_has_2_24_buffers_or_buffers_of_2_30_bytes)
{
    const uint32_t buffers = 1U << 24;
    const uint32_t bytes = 1U << 30;
    struct prof_trace_config config = {.procs_max = 1, .buffers_max = buffers};

    assert_true(prof_trace_bytes_needed(&config) > 0);
    config.buffers_max = buffers + 1;
    assert_int_equal(prof_trace_bytes_needed(&config), 0);
    config = (struct prof_trace_config){
        .procs_max = 1, .buffers_max = 3, .buffer_bytes = bytes};
    assert_true(prof_trace_bytes_needed(&config) > 0);
    config.buffer_bytes = bytes + 1;
    assert_int_equal(prof_trace_bytes_needed(&config), 0);
    config.buffer_bytes = PROF_TRACE_BUFFER_BYTES_MIN;
    assert_true(prof_trace_bytes_needed(&config) > 0);
    config.buffer_bytes = PROF_TRACE_BUFFER_BYTES_MIN - 1;
    assert_int_equal(prof_trace_bytes_needed(&config), 0);
    config.buffer_bytes = 0;
    config.buffers_max = 2;
    assert_int_equal(prof_trace_bytes_needed(&config), 0);
    config = (struct prof_trace_config){.procs_max = PROF_PROCS_LIMIT,
                                        .buffers_max = PROF_PROCS_LIMIT + 2};
    assert_true(prof_trace_bytes_needed(&config) > 0);
    config.procs_max = PROF_PROCS_LIMIT + 1;
    config.buffers_max = PROF_PROCS_LIMIT + 3;
    assert_int_equal(prof_trace_bytes_needed(&config), 0);
}

/* ---- arena ---- */

TEST(an_arena_gives_whole_words_to_its_last_byte)
{
    static alignas(PROF_BLOCK_ALIGN) unsigned char memory[192];
    struct prof_output output = {.scratch = memory, .scratch_bytes = 64};
    struct arena arena = prof_arena_of(&output);
    unsigned char *first;

    memset(memory, 0xa5, sizeof memory);
    first = prof_arena_take(&arena, 1);
    assert_ptr_equal(first, memory);
    assert_ptr_equal(prof_arena_take(&arena, 8), first + 8);
    assert_ptr_equal(prof_arena_take(&arena, 9), first + 16);
    assert_null(prof_arena_take(&arena, 33));
    assert_null(prof_arena_take(&arena, SIZE_MAX));
    assert_ptr_equal(prof_arena_take(&arena, 32), first + 32);
    assert_ptr_equal(prof_arena_take(&arena, 0), first + 64);
    assert_null(prof_arena_take(&arena, 1));
}

static bool
is_before(const void *context, uint32_t a, uint32_t b)
{
    (void)context;
    return a < b;
}

TEST(an_order_needs_room_twice)
{
    static alignas(PROF_BLOCK_ALIGN) unsigned char memory[192];
    struct prof_output output = {.scratch = memory, .scratch_bytes = 64};
    struct arena arena = prof_arena_of(&output);

    memset(memory, 0xa5, sizeof memory);
    assert_non_null(prof_arena_order(&arena, 8, is_before, NULL));
    for (size_t bytes = 0; bytes < 64; bytes += 8) {
        output.scratch_bytes = bytes;
        arena = prof_arena_of(&output);
        assert_null(prof_arena_order(&arena, 8, is_before, NULL));
    }
    for (size_t i = 64; i < sizeof memory; i++)
        assert_int_equal(memory[i], 0xa5);
    assert_null(prof_arena_order(&arena, UINT32_MAX, is_before, NULL));
}

/* ---- CPU words ---- */

static struct prof_cpu *
a_cpu_profile(void)
{
    static alignas(PROF_BLOCK_ALIGN) unsigned char block[1 << 16];
    const struct prof_cpu_config config = {
        .ticks_max = 4, .stacks_max = 8, .depth_max = 8};
    struct prof_cpu *cpu;

    memset(block, 0xa5, sizeof block); /* a block may hold anything */
    assert_int_equal(prof_cpu_init(&cpu, &config, block, sizeof block),
                     PROF_OK);
    return cpu;
}

/* Copy words to the end of a page, so that reading one more ends the
 * process. */
static const uint64_t *
at_the_end(const uint64_t *words, size_t count)
{
    static unsigned char *pages;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint64_t *at;

    if (pages == NULL) {
        pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_ptr_not_equal(pages, MAP_FAILED);
        assert_int_equal(mprotect(pages + page, page, PROT_NONE), 0);
    }
    at = (uint64_t *)(void *)(pages + page) - count;
    memcpy(at, words, count * sizeof *words);
    return at;
}

TEST(words_that_end_too_early_are_refused_unread)
{
    static const uint64_t good[] = {3, 0, 100, 5, 0, 2, 0x2001, 0x2002};
    static const uint64_t wrong_lengths[] = {0, 1, 2, 6, 7, 100, UINT64_MAX};
    struct prof_cpu *cpu = a_cpu_profile();

    for (size_t count = 0; count <= 8; count++)
        assert_int_equal(
            prof_cpu_load(cpu, at_the_end(good, count), count, NULL, 0),
            count == 8 || count == 3 ? PROF_OK : PROF_ERR_FORMAT);
    for (size_t i = 0; i < sizeof wrong_lengths / sizeof *wrong_lengths; i++) {
        uint64_t words[8];

        memcpy(words, good, sizeof words);
        words[3] = wrong_lengths[i];
        assert_int_equal(prof_cpu_load(cpu, at_the_end(words, 8), 8, NULL, 0),
                         PROF_ERR_FORMAT);
    }
}

TEST(a_rate_of_1_and_of_10_9_a_second_can_be_loaded)
{
    static const struct {
        uint64_t hz;
        enum prof_status want;
    } rows[] = {
        {0, PROF_ERR_FORMAT},
        {1, PROF_OK},
        {1000000000, PROF_OK},
        {1000000001, PROF_ERR_FORMAT},
    };
    struct prof_cpu *cpu = a_cpu_profile();

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const uint64_t words[3] = {3, 0, rows[i].hz};

        assert_int_equal(prof_cpu_load(cpu, at_the_end(words, 3), 3, NULL, 0),
                         rows[i].want);
    }
}

TEST(each_record_has_a_place_for_its_labels)
{
    static const uint64_t words[] = {3, 0, 100, 4, 0, 1, 7, 4, 0, 1, 8};
    static const struct prof_label_set *const none[4];
    struct prof_cpu *cpu = a_cpu_profile();

    for (size_t count = 0; count <= 4; count++)
        assert_int_equal(prof_cpu_load(cpu, words, 11, none, count),
                         count == 3 ? PROF_OK : PROF_ERR_FORMAT);
    for (size_t count = 0; count <= 2; count++)
        assert_int_equal(prof_cpu_load(cpu, words, 3, none, count),
                         count == 1 ? PROF_OK : PROF_ERR_FORMAT);
}

TEST(words_replace_what_was_there)
{
    static const uint64_t first[] = {3, 0, 100, 4, 0, 5, 7};
    static const uint64_t second[] = {3, 0, 100, 4, 0, 2, 8};
    struct prof_cpu *cpu = a_cpu_profile();

    assert_int_equal(prof_cpu_load(cpu, first, 7, NULL, 0), PROF_OK);
    assert_int_equal(prof_cpu_load(cpu, second, 7, NULL, 0), PROF_OK);
    assert_int_equal(prof_cpu_totals(cpu).recorded, 2);
}

TEST(a_rate_is_the_periods_number_and_is_at_most_10_6)
{
    static struct case_run run;
    static const uintptr_t stack[] = {CASE_WORK};
    struct prof_cpu *cpu = a_cpu_profile();

    assert_int_equal(prof_cpu_start(cpu, 0), PROF_ERR_CONFIG);
    assert_int_equal(prof_cpu_start(cpu, 1000001), PROF_ERR_CONFIG);
    assert_int_equal(prof_cpu_start(cpu, 1000000), PROF_OK);
    prof_cpu_tick(cpu, stack, 1, NULL);
    assert_int_equal(prof_cpu_stop(cpu), PROF_OK);
    case_begin(&run);
    case_read(&run, prof_cpu_write(cpu, &run.output, 1));
    assert_int_equal(run.profile.period, 1000);
    assert_int_equal(run.profile.duration_ns, 1);
    assert_int_equal(run.profile.samples[0].values[1], 1000);
    case_end(&run);
    assert_int_equal(prof_cpu_start(cpu, 1), PROF_OK);
    assert_int_equal(prof_cpu_stop(cpu), PROF_OK);
    case_begin(&run);
    case_read(&run, prof_cpu_write(cpu, &run.output, -1));
    assert_int_equal(run.profile.period, 1000000000);
    assert_int_equal(run.profile.duration_ns, 0);
    case_end(&run);
    assert_int_equal(prof_cpu_start(cpu, 3), PROF_OK);
    assert_int_equal(prof_cpu_stop(cpu), PROF_OK);
    assert_int_equal(prof_cpu_totals(cpu).recorded, 0);
    case_begin(&run);
    case_read(&run, prof_cpu_write(cpu, &run.output, 0));
    assert_int_equal(run.profile.period, 333333333);
    assert_int_equal(run.profile.duration_ns, 0);
    case_end(&run);
}

TEST(a_ring_holds_its_ticks_and_no_more)
{
    static const uintptr_t stack[] = {CASE_WORK, CASE_MAIN};
    struct prof_cpu *cpu = a_cpu_profile();

    assert_int_equal(prof_cpu_start(cpu, 100), PROF_OK);
    for (uint64_t round = 1; round <= 3; round++) {
        for (int i = 0; i < 5; i++)
            prof_cpu_tick(cpu, stack, 2, NULL);
        prof_cpu_drain(cpu);
        assert_int_equal(prof_cpu_totals(cpu).recorded, 4 * round);
        assert_int_equal(prof_cpu_totals(cpu).lost, round);
    }
    assert_int_equal(prof_cpu_stop(cpu), PROF_OK);
}

TEST(all_stacks_have_room_beside_lost_ticks)
{
    for (int lost_first = 0; lost_first < 2; lost_first++) {
        struct prof_cpu *cpu = a_cpu_profile();

        if (lost_first != 0)
            prof_cpu_count(cpu, NULL, 0, NULL, 1);
        for (uintptr_t pc = 1; pc <= 8; pc++)
            prof_cpu_count(cpu, &pc, 1, NULL, 1);
        if (lost_first == 0)
            prof_cpu_count(cpu, NULL, 0, NULL, 1);
        assert_int_equal(prof_cpu_totals(cpu).recorded, 8);
        assert_int_equal(prof_cpu_totals(cpu).lost, 1);
        prof_cpu_count(cpu, &(uintptr_t){9}, 1, NULL, 1);
        assert_int_equal(prof_cpu_totals(cpu).recorded, 8);
        assert_int_equal(prof_cpu_totals(cpu).lost, 2);
    }
}

TEST(nothing_beyond_a_block_is_touched)
{
    const struct prof_cpu_config config = {
        .ticks_max = 1 << 10, .stacks_max = 1, .depth_max = 1};
    const size_t bytes = prof_cpu_bytes_needed(&config);
    const uintptr_t pc = CASE_WORK;
    unsigned char *block =
        aligned_alloc(PROF_BLOCK_ALIGN, lines(bytes + (1 << 17)));
    struct prof_cpu *cpu;

    assert_non_null(block);
    memset(block, 0xa5, bytes + (1 << 17));
    assert_int_equal(prof_cpu_init(&cpu, &config, block, bytes), PROF_OK);
    assert_int_equal(prof_cpu_start(cpu, 1), PROF_OK);
    for (int i = 0; i < 1 << 10; i++)
        prof_cpu_tick(cpu, &pc, 1, NULL);
    assert_int_equal(prof_cpu_stop(cpu), PROF_OK);
    assert_int_equal(prof_cpu_totals(cpu).recorded, 1 << 10);
    for (size_t i = bytes; i < bytes + (1 << 17); i++)
        assert_int_equal(block[i], 0xa5);
    free(block);
}

TEST(a_tick_may_have_no_frames)
{
    struct prof_cpu *cpu = a_cpu_profile();

    assert_int_equal(prof_cpu_start(cpu, 100), PROF_OK);
    prof_cpu_tick(cpu, NULL, 0, NULL);
    assert_int_equal(prof_cpu_stop(cpu), PROF_OK);
    assert_int_equal(prof_cpu_totals(cpu).recorded, 1);
    assert_int_equal(prof_cpu_totals(cpu).lost, 0);
}

TEST(a_memory_takes_what_fits_into_it)
{
    unsigned char bytes[16];
    struct prof_memory memory = {.bytes = bytes, .bytes_max = 10};
    const struct prof_sink sink = prof_memory_sink(&memory);

    memset(bytes, '.', sizeof bytes);
    assert_int_equal(sink.write(sink.context, "abcdefgh", 8), PROF_OK);
    assert_int_equal(sink.write(sink.context, "ijk", 3), PROF_ERR_SINK);
    assert_int_equal(sink.write(sink.context, "ij", 2), PROF_OK);
    assert_int_equal(memory.bytes_count, 10);
    assert_int_equal(sink.write(sink.context, "k", 1), PROF_ERR_SINK);
    assert_memory_equal(bytes, "abcdefghij......", 16);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
