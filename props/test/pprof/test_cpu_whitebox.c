/*
 * test_cpu_whitebox.c -- the CPU profile from inside: handlers that lose every
 * race or come too late, and how stacks are stored. White box: accesses the
 * words of the ring (cpu.h).
 */
#include <stdalign.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cpu.h"
#include "pprof_case.h"
#include "single_step.h"
#include "unit_test.h"

#define RUNNING (UINT64_C(1) << 32) /* as in cpu.c */

enum { TICKS = 1 << 17, STRIKES_MAX = TICKS / 2 };

static struct case_run run;
static struct prof_cpu *cpu;
static uint32_t strikes;

/* Give the profile memory full of 0xa5, which no profile begins with. */
static void
a_profile(uint32_t ticks, uint32_t stacks)
{
    static alignas(PROF_BLOCK_ALIGN) unsigned char block[8 << 20];
    const struct prof_cpu_config config = {
        .ticks_max = ticks, .stacks_max = stacks, .depth_max = 1};

    memset(block, 0xa5, prof_cpu_bytes_needed(&config));
    assert_int_equal(prof_cpu_init(&cpu, &config, block, sizeof block),
                     PROF_OK);
}

static void
tick(uintptr_t pc)
{
    prof_cpu_tick(cpu, &pc, 1, NULL);
}

static void
write_profile(void)
{
    case_begin(&run);
    case_read(&run, prof_cpu_write(cpu, &run.output, 1));
}

/* ---- handlers ---- */

/* A handler enters on another thread, and stays inside. */
static void
come_in(void)
{
    if (strikes < STRIKES_MAX) {
        strikes++;
        add_relaxed(&cpu->state, 1);
    }
}

/* A handler on another thread takes the next number. */
static void
take_number(void)
{
    if (strikes < STRIKES_MAX) {
        strikes++;
        add_relaxed(&cpu->head, 1);
    }
}

/* After each instruction another handler is faster: the tick is given up. */
TEST(a_tick_that_loses_every_race_is_counted_as_lost)
{
    static void (*const others[])(void) = {come_in, take_number};

    (void)state;
    if (!PROPS_STEPS)
        skip();
    for (size_t i = 0; i < 2; i++) {
        a_profile(TICKS, 4);
        assert_int_equal(prof_cpu_start(cpu, 100), PROF_OK);
        strikes = 0;
        props_step_begin(others[i], 0);
        tick(CASE_WORK);
        props_step_end();
        assert_true(strikes < STRIKES_MAX);
        assert_int_equal(load_relaxed(&cpu->lost), 1);
        assert_int_equal(load_relaxed(&cpu->head), i == 0 ? 0 : strikes);
        assert_int_equal(load_relaxed(&cpu->state),
                         RUNNING + (i == 0 ? strikes : 0));
    }
}

TEST(after_the_end_a_handler_leaves_at_once_though_one_is_inside)
{
    (void)state;
    a_profile(4, 4);
    for (uint64_t inside = 0; inside < 4; inside++) {
        store_relaxed(&cpu->state, inside);
        tick(CASE_WORK);
        assert_int_equal(load_relaxed(&cpu->head), 0);
        assert_int_equal(load_relaxed(&cpu->state), inside);
    }
}

TEST(who_is_inside_keeps_the_next_profile_from_starting)
{
    (void)state;
    a_profile(4, 4);
    for (uint64_t inside = 1; inside < 4; inside++) {
        store_relaxed(&cpu->state, inside);
        assert_int_equal(prof_cpu_start(cpu, 100), PROF_ERR_BUSY);
        store_relaxed(&cpu->state, RUNNING + inside);
        assert_int_equal(prof_cpu_start(cpu, 100), PROF_ERR_ACTIVE);
    }
}

/* ---- stacks ---- */

/* The sequences of eight ticks fill whole cache lines: the next word belongs to
 * a stack. */
TEST(a_ring_begins_with_its_own_sequences_only)
{
    a_profile(8, 4);
    assert_int_equal((char *)cpu->tick_pcs - (char *)cpu->ticks,
                     8 * sizeof *cpu->ticks);
    for (uint64_t i = 0; i < 8; i++)
        assert_int_equal(load_relaxed(&cpu->ticks[i].sequence), i);
    assert_int_equal(cpu->tick_pcs[0], 0xa5a5a5a5a5a5a5a5);
}

/* Invariant I1 of cpu.c: a cell is taken by its number, is filled, and is free
 * for the next number. */
TEST(a_cell_goes_from_sequence_to_sequence)
{
    a_profile(4, 4);
    assert_int_equal(prof_cpu_start(cpu, 100), PROF_OK);
    for (uint64_t number = 0; number < 12; number++) {
        shared_u64 *const sequence = &cpu->ticks[number % 4].sequence;

        assert_int_equal(load_relaxed(sequence), number);
        tick(CASE_WORK);
        assert_int_equal(load_relaxed(sequence), number + 1);
        prof_cpu_drain(cpu);
        assert_int_equal(load_relaxed(sequence), number + 4);
    }
}

/*
 * As many stacks as chains. Random hashes use 63 % of the chains on average,
 * and with 1024 chains practically never less than half.
 */
TEST(stacks_are_spread_over_their_chains)
{
    enum { STACKS = 1024 };
    size_t used = 0;

    a_profile(2, STACKS);
    assert_int_equal(prof_cpu_start(cpu, 100), PROF_OK);
    for (uintptr_t i = 0; i < STACKS; i++) {
        tick(0x10000 + i);
        prof_cpu_drain(cpu);
    }
    for (size_t i = 0; i < (size_t)1 << cpu->chains_log2; i++)
        used += cpu->chains[i] != 0;
    assert_int_equal(cpu->stacks_count, STACKS);
    assert_true(used > STACKS / 2);
}

/* ---- words ---- */

/* Copy bytes to the end of a page, so that reading one more ends the
 * process. */
static void *
at_the_end(const void *bytes, size_t bytes_count)
{
    static unsigned char *pages;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);

    if (pages == NULL) {
        pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_ptr_not_equal(pages, MAP_FAILED);
        assert_int_equal(mprotect(pages + page, page, PROT_NONE), 0);
    }
    return memcpy(pages + page - bytes_count, bytes, bytes_count);
}

/* The length of the second record is also compared with the words that are
 * left. */
TEST(a_later_record_that_is_too_long_is_refused)
{
    static const uint64_t words[] = {3,         0, 100, 4, 0,        1,
                                     CASE_WORK, 5, 0,   1, CASE_MAIN};

    a_profile(2, 4);
    assert_int_equal(
        prof_cpu_load(cpu, at_the_end(words, sizeof words), 11, NULL, 0),
        PROF_ERR_FORMAT);
    assert_int_equal(prof_cpu_totals(cpu).recorded, 1); /* the first one */
}

TEST(more_records_than_labels_are_refused_unread)
{
    static const struct prof_label label = {"k", "v"};
    static const struct prof_label_set set = {&label, 1};
    static const struct prof_label_set *const labels[] = {NULL, &set};
    static const uint64_t words[] = {3,         0, 100, 4, 0,        1,
                                     CASE_WORK, 4, 0,   1, CASE_MAIN};
    static const uint64_t lost[] = {3, 0, 100, 4, 0, 1, CASE_WORK, 4, 0, 0, 5};
    const struct prof_label_set *const *const last =
        at_the_end(labels, sizeof labels);

    a_profile(2, 4);
    assert_int_equal(prof_cpu_load(cpu, words, 7, last, 2), PROF_OK);
    assert_int_equal(prof_cpu_load(cpu, words, 11, last, 2), PROF_ERR_FORMAT);
    assert_int_equal(prof_cpu_totals(cpu).recorded, 1);
    /* Also if it is a record of lost ticks. */
    assert_int_equal(prof_cpu_load(cpu, lost, 11, last, 2), PROF_ERR_FORMAT);
    assert_int_equal(prof_cpu_totals(cpu).lost, 0);
}

/* Ticks that were lost earlier take no cell from the stacks. */
TEST(lost_ticks_have_a_cell_besides_the_stacks)
{
    static const uint64_t words[] = {3, 0, 100, 4, 0, 0, 5,    /* lost ticks */
                                     4, 0, 1,   1, 4, 0, 1, 2, /* two stacks */
                                     4, 0, 1,   3, 4, 0, 1, 1};

    a_profile(2, 2);
    assert_int_equal(prof_cpu_load(cpu, words, 15, NULL, 0), PROF_OK);
    assert_int_equal(prof_cpu_totals(cpu).recorded, 2);
    assert_int_equal(prof_cpu_totals(cpu).lost, 5);
    assert_int_equal(prof_cpu_load(cpu, words, 23, NULL, 0), PROF_OK);
    assert_int_equal(prof_cpu_totals(cpu).recorded, 3); /* the third is lost */
    assert_int_equal(prof_cpu_totals(cpu).lost, 6);
}

/* If the first record is wrong nothing is loaded: the old profile is kept. */
TEST(a_wrong_first_record_changes_nothing)
{
    static const struct prof_label_set *const none[] = {NULL};
    static const uint64_t good[] = {3, 0, 100, 4, 0, 7, CASE_WORK};
    static const uint64_t wrong[] = {3, 0, 0};

    a_profile(2, 4);
    assert_int_equal(prof_cpu_load(cpu, good, 7, NULL, 0), PROF_OK);
    assert_int_equal(prof_cpu_load(cpu, wrong, 3, NULL, 0), PROF_ERR_FORMAT);
    assert_int_equal(prof_cpu_load(cpu, good, 3, none, 0), PROF_ERR_FORMAT);
    assert_int_equal(prof_cpu_totals(cpu).recorded, 7);
}

/* ---- writing ---- */

static uintptr_t asked;
static size_t times;

static void
note(void *context, uintptr_t pc, struct prof_symbol *symbol)
{
    (void)context;
    (void)symbol;
    asked = pc;
    times++;
}

/* Lost ticks are one frame: the output's lost address, or 1. */
TEST(lost_ticks_have_one_frame)
{
    static const uint64_t words[] = {3, 0, 100, 4, 0, 0, 5};
    static const uintptr_t lost[] = {0, 1, CASE_LOST};

    a_profile(2, 4);
    assert_int_equal(prof_cpu_load(cpu, words, 7, NULL, 0), PROF_OK);
    for (size_t i = 0; i < sizeof lost / sizeof *lost; i++) {
        case_begin(&run);
        run.output.lost = lost[i];
        run.output.symbols.find = note;
        times = 0;
        case_read(&run, prof_cpu_write(cpu, &run.output, 1));
        assert_int_equal(times, 1);
        assert_int_equal(asked, lost[i] != 0 ? lost[i] : 1);
        assert_int_equal(run.profile.samples_count, 1);
        assert_int_equal(run.profile.samples[0].locations_count, 1);
        case_end(&run);
    }
}

TEST(values_stand_in_the_order_of_their_types)
{
    static const uint64_t words[] = {3, 0, 100, 4, 0, 7, CASE_WORK};

    a_profile(2, 4);
    assert_int_equal(prof_cpu_load(cpu, words, 7, NULL, 0), PROF_OK);
    write_profile();
    assert_int_equal(run.profile.types_count, 2);
    assert_string_equal(run.profile.types[0].type, "samples");
    assert_string_equal(run.profile.types[0].unit, "count");
    assert_string_equal(run.profile.types[1].type, "cpu");
    assert_string_equal(run.profile.types[1].unit, "nanoseconds");
    assert_int_equal(run.profile.samples[0].values[0], 7);
    assert_int_equal(run.profile.samples[0].values[1], 7 * 10000000);
    case_end(&run);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
