/*
 * test_profile_dump.c -- a dump, with a stub of the library: which calls it
 * makes, in which order and with which memory, and which files it writes.
 * dump_stubs.h explains the letters.
 */
#include <stdio.h>
#include <string.h>

#include "dump_stubs.h"
#include "unit_test.h"

#define STUBS dump_stubs

enum { COUNT = 1000 }; /* of records */

static int
set_out(void **state)
{
    (void)state;
    memset(&profile, 0, sizeof profile);
    profile.prof = (struct prof *)(void *)&profile;
    profile.cpu = (struct prof_cpu *)(void *)&profile;
    profile.config.heap_rate_bytes = 1;
    profile.config.mutex_fraction = 1;
    profile.config.block_rate_ns = 1;
    memset(&STUBS, 0, sizeof STUBS);
    STUBS.count = COUNT;
    return 0;
}

static const struct {
    enum profile_kind kind;
    const char *calls;
} kinds[] = {{PROFILE_HEAP, "[nfnfnfqMsw]"},
             {PROFILE_ALLOCS, "[nfnfnfqMsw]"},
             {PROFILE_MUTEX, "[nfnfnfqMsc]"},
             {PROFILE_BLOCK, "[nfnfnfqMsc]"},
             {PROFILE_CPU, "[Mp]"}};

static enum prof_status
dump(enum profile_kind kind)
{
    static char sink;
    const struct prof_sink to = {.context = &sink};
    enum prof_status status;

    STUBS.kind_wanted = kind == PROFILE_MUTEX ? PROF_MUTEX : PROF_BLOCK;
    memset(STUBS.seen, 0, sizeof STUBS.seen);
    memset(&STUBS.output, 0, sizeof STUBS.output);
    status = profile_dump(kind, &to);
    assert_true(STUBS.output.sink.context == &sink ||
                STUBS.output.sink.context == NULL);
    assert_int_equal(STUBS.mapped_bytes, STUBS.unmapped_bytes);
    assert_int_equal(STUBS.seen[strlen(STUBS.seen) - 1], ']');
    return status;
}

/* Until all that was recorded is published, cycles are begun and flushed. */
TEST_WITH(set_out, NULL, a_profile_is_of_all_that_was_recorded)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const bool is_cpu = kinds[i].kind == PROFILE_CPU;

        set_out(state);
        assert_int_equal(dump(kinds[i].kind), PROF_OK);
        assert_string_equal(STUBS.seen, kinds[i].calls);
        assert_int_equal(STUBS.output.time_ns, 99);
        assert_int_equal(STUBS.output.mappings_count, 7);
        assert_ptr_equal(STUBS.output.mappings, STUBS.mappings);
        assert_int_equal(STUBS.output.scratch_bytes, DUMP_SCRATCH);
        assert_int_equal(STUBS.records_count, is_cpu ? 0 : COUNT);
        assert_int_equal(STUBS.scratch_records,
                         is_cpu ? 4096 : DUMP_ROOM((size_t)COUNT));
        assert_int_equal(STUBS.scratch_locations,
                         STUBS.scratch_records * PROFILE_DEPTH_MAX / 4);
    }
    (void)dump(PROFILE_HEAP);
    assert_int_equal(STUBS.rate, 512);
    assert_int_equal(STUBS.view, PROF_VIEW_INUSE);
    (void)dump(PROFILE_ALLOCS);
    assert_int_equal(STUBS.view, PROF_VIEW_ALLOCS);
    (void)dump(PROFILE_MUTEX);
    assert_int_equal(STUBS.ticks, 1000000000);
    assert_int_equal(STUBS.period, 1);
    assert_int_equal(profile_dump(PROFILE_KINDS, &STUBS.output.sink),
                     PROF_ERR_CONFIG);
}

/* The stubs write each part of the memory to its end; no part overlaps
 * another. */
TEST_WITH(set_out, NULL, each_part_has_memory_of_its_own)
{
    (void)state;
    STUBS.fills = true; /* checked before it is unmapped */
    assert_int_equal(dump(PROFILE_HEAP), PROF_OK);
    assert_true(STUBS.unmapped_bytes > 0);
}

TEST_WITH(set_out, NULL, memory_is_reserved)
{
    (void)state;
    assert_non_null(profile_map(12345));
    assert_ptr_equal(STUBS.mapped, memset(STUBS.mapped, 1, 12345));
    STUBS.has_no_map = true;
    assert_null(profile_map(12345));
}

/* ---- what fails ---- */

TEST_WITH(set_out, NULL, a_call_that_fails_ends_the_profile)
{
    static const struct {
        enum profile_kind kind;
        char at;
        const char *calls;
    } rows[] = {{PROFILE_HEAP, 'n', "[n]"},
                {PROFILE_HEAP, 'f', "[nf]"},
                {PROFILE_HEAP, 'q', "[nfnfnfq]"},
                {PROFILE_HEAP, 's', "[nfnfnfqMs]"},
                {PROFILE_HEAP, 'w', "[nfnfnfqMsw]"},
                {PROFILE_ALLOCS, 'w', "[nfnfnfqMsw]"},
                {PROFILE_MUTEX, 'q', "[nfnfnfq]"},
                {PROFILE_MUTEX, 's', "[nfnfnfqMs]"},
                {PROFILE_MUTEX, 'c', "[nfnfnfqMsc]"},
                {PROFILE_CPU, 'p', "[Mp]"}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        set_out(state);
        STUBS.stops_at = rows[i].at;
        STUBS.then = PROF_ERR_ACTIVE;
        assert_int_equal(dump(rows[i].kind), PROF_ERR_ACTIVE);
        assert_string_equal(STUBS.seen, rows[i].calls);
    }
    set_out(state);
    STUBS.has_no_map = true;
    assert_int_equal(dump(PROFILE_HEAP), PROF_ERR_MEMORY);
    assert_string_equal(STUBS.seen, "[nfnfnfq]");
    assert_int_equal(dump(PROFILE_CPU), PROF_ERR_MEMORY);
    /* Without the list of mappings a profile has only addresses. */
    set_out(state);
    STUBS.stops_at = 'M';
    STUBS.then = PROF_ERR_SINK;
    assert_int_equal(dump(PROFILE_HEAP), PROF_OK);
    assert_int_equal(STUBS.output.mappings_count, 0);
}

TEST_WITH(set_out, NULL, a_call_that_waits_is_made_again)
{
    static const char calls[] = "nfqs";

    for (size_t i = 0; calls[i] != '\0'; i++)
        for (int kind = PROFILE_HEAP; kind <= PROFILE_MUTEX; kind += 2) {
            set_out(state);
            STUBS.stops_at = calls[i];
            STUBS.busy_times = 1000;
            assert_int_equal(dump((enum profile_kind)kind), PROF_OK);
            assert_int_equal(STUBS.sleeps, 1000);
            set_out(state);
            STUBS.stops_at = calls[i];
            STUBS.busy_times = 1000000; /* it stays busy */
            assert_int_equal(dump((enum profile_kind)kind), PROF_ERR_BUSY);
            assert_int_equal(STUBS.sleeps, 1000);
        }
}

TEST_WITH(set_out, NULL, a_child_finds_nobody_dumping)
{
    (void)state;
    profile_dump_after_fork_child();
    assert_int_equal(STUBS.resets, 1);
}

/* ---- files ---- */

TEST_WITH(set_out, NULL, a_kind_is_taken_if_it_has_a_rate)
{
    (void)state;
    for (int kind = 0; kind < PROFILE_KINDS; kind++)
        assert_true(profile_has((enum profile_kind)kind));
    assert_false(profile_has(PROFILE_KINDS));
    memset(&profile, 0, sizeof profile);
    for (int kind = 0; kind < PROFILE_KINDS; kind++)
        assert_false(profile_has((enum profile_kind)kind));
}

/* in: names of the kinds, in order, each with a space behind it */
static void
expect_files(const char *names)
{
    char want[100];
    size_t i = 0;

    for (; *names != '\0'; names += strcspn(names, " ") + 1) {
        snprintf(want, sizeof want, "/f/4321.%.*s.pb", (int)strcspn(names, " "),
                 names);
        assert_true(i < STUBS.paths_count);
        assert_string_equal(STUBS.paths[i++], want);
    }
    assert_int_equal(STUBS.paths_count, i);
}

static enum prof_status
dump_to(uint32_t wanted)
{
    memset(STUBS.seen, 0, sizeof STUBS.seen);
    STUBS.paths_count = 0;
    STUBS.kind_wanted =
        (wanted & 1u << PROFILE_MUTEX) != 0 ? PROF_MUTEX : PROF_BLOCK;
    return profile_dump_to("/f", wanted);
}

TEST_WITH(set_out, NULL, there_is_a_file_for_each_kind)
{
    assert_int_equal(
        dump_to(1u << PROFILE_HEAP | 1u << PROFILE_MUTEX | 1u << PROFILE_CPU),
        PROF_OK);
    expect_files("heap mutex cpu ");
    assert_string_equal(STUBS.seen, "bk[nfnfnfqMsw]eqbk[nfnfnfqMsc]ebk[Mp]e");
    profile.config.heap_rate_bytes = 0;
    assert_int_equal(dump_to(1u << PROFILE_HEAP | 1u << PROFILE_BLOCK),
                     PROF_OK);
    expect_files("block ");
    set_out(state);
    STUBS.count = 0; /* no contention yet: one file all the same */
    assert_int_equal(dump_to(PROFILE_ALL), PROF_OK);
    expect_files("heap allocs cpu ");
    assert_int_equal(dump_to(1u << PROFILE_BLOCK), PROF_OK);
    expect_files("block ");
    STUBS.stops_at = 'q'; /* it is unknown whether there is contention */
    STUBS.then = PROF_ERR_ACTIVE;
    assert_int_equal(dump_to(1u << PROFILE_CPU | 1u << PROFILE_BLOCK),
                     PROF_ERR_ACTIVE);
    expect_files("block cpu ");
}

TEST_WITH(set_out, NULL, a_file_that_fails_is_told_and_the_rest_written)
{
    (void)state;
    STUBS.stops_at = 'w';
    STUBS.then = PROF_ERR_ACTIVE;
    assert_int_equal(dump_to(1u << PROFILE_HEAP | 1u << PROFILE_CPU),
                     PROF_ERR_ACTIVE);
    expect_files("heap cpu ");
    assert_string_equal(STUBS.seen, "bk[nfnfnfqMsw]ebk[Mp]e");
    STUBS.count = 0; /* an empty profile after it is left out all the same */
    assert_int_equal(dump_to(1u << PROFILE_HEAP | 1u << PROFILE_MUTEX),
                     PROF_ERR_ACTIVE);
    expect_files("heap ");
    STUBS.stops_at = 'b';
    STUBS.then = PROF_ERR_SINK;
    assert_int_equal(dump_to(1u << PROFILE_HEAP | 1u << PROFILE_CPU),
                     PROF_ERR_SINK);
    assert_string_equal(STUBS.seen, "bb");
}

/* A path has at most 511 bytes and the final NUL. */
TEST_WITH(set_out, NULL, a_path_that_is_too_long_is_refused)
{
    char longest[520] = "";

    (void)state;
    memset(longest, 'x', 512 - strlen("/4321.cpu.pb") - 1);
    assert_int_equal(profile_dump_to(longest, 1u << PROFILE_CPU), PROF_OK);
    assert_int_equal(strlen(STUBS.paths[0]), 511);
    longest[strlen(longest)] = 'x';
    memset(STUBS.seen, 0, sizeof STUBS.seen);
    assert_int_equal(profile_dump_to(longest, 1u << PROFILE_CPU),
                     PROF_ERR_CONFIG);
    assert_string_equal(STUBS.seen, "");
}

/* The file of allocations is made from the heap profile. */
TEST_WITH(set_out, NULL, the_agents_files_are_in_its_folder)
{
    (void)state;
    profile_dump_files();
    assert_string_equal(STUBS.seen, "");
    strcpy(profile.config.folder, "/f");
    profile.config.block_rate_ns = 0;
    STUBS.kind_wanted = PROF_MUTEX;
    profile_dump_files();
    expect_files("heap mutex cpu ");
    assert_int_equal(STUBS.seen[strlen(STUBS.seen) - 1], 'l');
    assert_int_equal(strchr(STUBS.seen, 'l') - STUBS.seen,
                     strlen(STUBS.seen) - 1);
    strcpy(profile.config.folder, "f"); /* a name of one letter */
    STUBS.paths_count = 0;
    memset(STUBS.seen, 0, sizeof STUBS.seen);
    profile_dump_files();
    assert_int_equal(STUBS.paths_count, 3);
    assert_int_equal(STUBS.seen[strlen(STUBS.seen) - 1], 'l');
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
