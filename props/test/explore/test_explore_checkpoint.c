/*
 * test_explore_checkpoint.c -- the checkpoint of a search: it is valid only for
 * the same code, and lists the wait loops that the search has found.
 */
#include "cases.h"
#include "checkpoint_parts.h"
#include "played_runs.h"
#include "textbook.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "unit_test.h"

static char file[64];

static uint32_t writes_left = UINT32_MAX; /* then a write fails */

size_t __real_fwrite(const void *data, size_t bytes, size_t count, FILE *to);
size_t __wrap_fwrite(const void *data, size_t bytes, size_t count, FILE *to);

size_t
__wrap_fwrite(const void *data, size_t bytes, size_t count, FILE *to)
{
    return writes_left-- == 0 ? 0 : __real_fwrite(data, bytes, count, to);
}

static struct sim_exhaust_result
search(uint64_t runs)
{
    const struct sim_exhaust_options options = {.checkpoint = file,
                                                .runs_max = runs};
    struct sim_exhaust_result r;

    sim_explore_exhaust(fixtures_counter(4), &options, &r);
    return r;
}

/* ---- The program ---- */

/* Code that is part of the program, and never runs. */
__attribute__((noinline, used)) static uint32_t
spare(uint32_t n)
{
    return n * 0x12345678 + 0x1234567;
}

static void
change_spare(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const uintptr_t at = (uintptr_t)&spare;
    uint8_t *begin = (uint8_t *)(at & ~(uintptr_t)(page - 1));

    assert_int_equal(
        mprotect(begin, 2 * page, PROT_READ | PROT_WRITE | PROT_EXEC), 0);
    *(uint8_t *)at ^= 0x40;
    assert_int_equal(mprotect(begin, 2 * page, PROT_READ | PROT_EXEC), 0);
}

TEST(a_file_of_other_code_is_refused)
{
    struct sim_exhaust_result r = search(100);

    assert_int_equal(r.verdict, SIM_VERDICT_UNFINISHED);
    change_spare();
    r = search(0);
    assert_int_equal(r.verdict, SIM_VERDICT_REFUSED);
    assert_non_null(strstr(r.trouble, "another program"));
    change_spare();
    r = search(0);
    assert_true(r.resumed);
    assert_int_equal(r.graphs, 2520);
}

/* ---- Writing ---- */

/* If one piece cannot be written, the checkpoint fails. */
TEST(a_piece_that_is_not_written_is_said)
{
    for (uint32_t i = 0; i < 6; i++) {
        struct sim_exhaust_result r;

        writes_left = i;
        r = search(100);
        writes_left = UINT32_MAX;
        assert_string_not_equal(r.trouble, "");
        assert_int_not_equal(access(file, F_OK), 0);
    }
    search(100);
    assert_int_equal(access(file, F_OK), 0);
    remove(file);
}

/* Processes that have reported their positions go on once the checkpoint is
 * written. */
TEST(several_processes_go_on_when_they_are_saved)
{
    const struct sim_exhaust_options options = {
        .checkpoint = file, .checkpoint_ms = 1, .jobs = 2, .alone_ms = 1};
    struct sim_exhaust_result r;

    alarm(120); /* seconds; ends a search that hangs */
    sim_explore_exhaust(fixtures_seqlock(3, 2), &options, &r);
    alarm(0);
    assert_int_equal(r.verdict, SIM_VERDICT_PASS);
    assert_int_equal(r.graphs, 9801);
    assert_int_not_equal(access(file, F_OK), 0);
}

/* ---- Wait loops ---- */

static void
count_run(void *context)
{
    uint32_t *runs = context;

    (*runs)++;
}

static void
end_at_once(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
}

/* A loop that was told before a run is not learned in it. */
static void
expect_one_run(void)
{
    uint32_t runs = 0;
    const struct sim_kernel kernel = {.name = "one",
                                      .about = "any",
                                      .context = &runs,
                                      .setup = count_run,
                                      .threads = {{"e", end_at_once, NULL}},
                                      .threads_count = 1};
    struct sim_choice list[4];
    struct sim_choices choices;
    struct sim_run run;

    sim_choices_init(&choices, list, 4);
    sim_choices_replay(&choices, NULL, 0);
    assert_int_equal(
        sim_explore_run(&kernel, &(struct sim_run_options){0}, &choices, &run),
        SIM_END_COMPLETE);
    assert_int_equal(runs, 1);
}

TEST(the_loops_that_a_search_has_found_are_listed)
{
    uint64_t offsets[SIM_LOOPS_MAX];
    uint64_t again[SIM_LOOPS_MAX];
    uint32_t count;

    for (uint32_t i = 0; i < fixtures_waiting_count; i++) {
        struct sim_exhaust_result r;

        if (fixtures_waiting[i].want != SIM_FAIL_NONE)
            continue;
        sim_explore_exhaust(&fixtures_waiting[i].kernel,
                            &(struct sim_exhaust_options){0}, &r);
    }
    count = sim_explore_loops(offsets);
    assert_in_range(count, 3, SIM_LOOPS_MAX);
    for (uint32_t i = 1; i < count; i++)
        assert_true(offsets[i - 1] < offsets[i]);
    for (uint32_t i = 0; i < count; i++) /* each is already known */
        sim_explore_learn_loop(offsets[i]);
    assert_int_equal(sim_explore_loops(again), count);
    assert_memory_equal(again, offsets, count * sizeof *offsets);
    sim_explore_learn_loop(offsets[0] - 1);
    assert_int_equal(sim_explore_loops(again), count + 1);
    assert_int_equal(again[0], offsets[0] - 1);
    expect_one_run();
}

/* ---- A search ---- */

TEST(a_search_counts_its_runs)
{
    played_runs_count();
}

/* ---- Its parts ---- */

TEST(each_part_of_a_search_is_read_as_it_was_written)
{
    checkpoint_parts_kept(fixtures_counter(4), file, false);
    checkpoint_parts_kept(fixtures_counter(4), file, true);
}

TEST(a_file_is_for_the_options_with_which_it_was_made)
{
    checkpoint_parts_options(fixtures_counter(4), file);
}

TEST(each_byte_of_a_file_counts)
{
    checkpoint_parts_damaged(fixtures_counter(4), file);
}

TEST(what_is_no_file_is_refused_and_what_cannot_be_written_is_said)
{
    checkpoint_parts_strange(fixtures_counter(4), file);
}

int
main(void)
{
    char folder[] = "/tmp/profsim-checkpoint-XXXXXX";
    int failed;

    if (mkdtemp(folder) == NULL)
        return 1;
    snprintf(file, sizeof file, "%s/search", folder);
    failed = tests_run(NULL, NULL);
    rmdir(folder);
    return failed;
}
