/*
 * test_releases.c -- pairing of recorded releases with waits, on examples made
 * by hand.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "small_recording.h"
#include "releases.h"
#include "unit_test.h"

/* A release, or a wait that ends at `ticks`. */
struct step {
    uint64_t ticks;
    uint64_t wait_ticks; /* 0: a release */
    uint64_t lock;
};

/* Check what each release is charged. in: cycles; -1: no wait belongs to the
 * release */
static void
expect_cycles(const struct step *steps, uint32_t steps_count,
              const int64_t *cycles, uint64_t cycles_count)
{
    static const uint64_t none_dropped[CLI_RECFILE_CAUSES];
    struct cli_recfile file;
    struct sim_recording *recording;
    struct sim_releases releases;

    cli_recfile_init(&file, 0);
    props_small_recording_tables(&file);
    for (uint32_t i = 0; i < steps_count; i++) {
        const struct step *step = &steps[i];

        if (step->wait_ticks > 0)
            cli_recfile_wait(&file, 1, step->ticks, SIM_RECORDED_MUTEX, false,
                             step->lock, step->wait_ticks, 1);
        else
            cli_recfile_release_of(&file, 0, step->ticks, SIM_RECORDED_MUTEX,
                                   step->lock, 2);
    }
    cli_recfile_end(&file, none_dropped);
    recording = props_small_recording_read(file.bytes, file.bytes_count);
    assert_true(sim_releases_open(&releases, recording));
    assert_int_equal(releases.count, cycles_count);
    for (uint64_t i = 0; i < cycles_count; i++) {
        int64_t got = -1;

        assert_int_equal(sim_releases_find(&releases, i, &got), cycles[i] >= 0);
        assert_int_equal(got, cycles[i]);
        releases.unpaired -= cycles[i] < 0;
    }
    assert_int_equal(releases.unpaired, 0);
    sim_releases_close(&releases);
    sim_recording_close(recording);
    cli_recfile_release(&file);
}

TEST(a_release_is_charged_from_the_start_of_the_wait)
{
    const struct step steps[] = {{.ticks = 70}, {75, 65, 0}};
    const int64_t cycles[] = {60};

    expect_cycles(steps, 2, cycles, 1);
}

TEST(of_two_who_wait_the_first_to_get_it_is_charged)
{
    const struct step steps[] = {
        {.ticks = 90}, {100, 100, 0}, {.ticks = 190}, {200, 190, 0}};
    const int64_t cycles[] = {90, 180};

    expect_cycles(steps, 4, cycles, 2);
}

TEST(two_releases_share_the_wait_they_fall_into)
{
    const struct step steps[] = {{.ticks = 40}, {.ticks = 90}, {100, 90, 0}};
    const int64_t cycles[] = {30, 50};

    expect_cycles(steps, 3, cycles, 2);
}

TEST(a_wait_that_began_later_leaves_a_release_to_a_longer_one)
{
    const struct step steps[] = {
        {.ticks = 30}, {.ticks = 80}, {90, 40, 0}, {100, 100, 0}};
    const int64_t cycles[] = {30, 30};

    expect_cycles(steps, 4, cycles, 2);
}

TEST(locks_are_apart_and_a_release_of_no_wait_is_charged_to_none)
{
    const struct step steps[] = {{.ticks = 10},
                                 {.ticks = 50, .lock = 1},
                                 {60, 20, 1},
                                 {70, 50, 0},
                                 {.ticks = 80, .lock = 1}};
    const int64_t cycles[] = {-1, 10, -1};

    expect_cycles(steps, 5, cycles, 3);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
