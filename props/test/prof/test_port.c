/*
 * test_port.c -- the port's system calls with their arguments: clocks, futexes,
 * barriers. The calls are replaced at link time.
 */
#include <errno.h>
#include <linux/futex.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "aligned_block.h"
#include "prof/port.h"
#include "prof/process.h"
#include "prof/prof.h"
#include "syscall_stubs.h"
#include "unit_test.h"

/* ---- clocks ---- */

TEST_WITH(NULL, syscall_stubs_end,
          seconds_and_nanoseconds_of_the_right_clock_make_one_number)
{
    syscall_stubs.set_time = (struct timespec){.tv_sec = 3, .tv_nsec = 7};
    assert_int_equal(prof_process_time_ns(), INT64_C(3000000007));
    assert_int_equal(syscall_stubs.asked_clock, CLOCK_REALTIME);
    assert_int_equal(prof_process_monotonic_ns(), INT64_C(3000000007));
    assert_int_equal(syscall_stubs.asked_clock, CLOCK_MONOTONIC);
    syscall_stubs.asked_clock = -1;
    assert_int_equal(prof_port_now_ns(), UINT64_C(3000000007));
    assert_int_equal(syscall_stubs.asked_clock, CLOCK_MONOTONIC);
}

/* ---- sleep ---- */

static void
assert_futex(size_t index, const uint32_t *word, int operation, int value)
{
    assert_true(index < syscall_stubs.futexes_count);
    assert_int_equal(syscall_stubs.futexes[index].number, SYS_futex);
    assert_ptr_equal(syscall_stubs.futexes[index].word, word);
    assert_int_equal(syscall_stubs.futexes[index].operation, operation);
    assert_int_equal(syscall_stubs.futexes[index].value, value);
}

/*
 * The word of a lock: 0 free, 1 taken, 2 taken and wanted. A thread that finds
 * it taken writes 2, sleeps while the word is 2, and tries again. Here the
 * holder releases the lock as soon as a thread sleeps.
 */
TEST_WITH(NULL, syscall_stubs_end,
          a_taken_lock_is_slept_on_and_a_wanted_one_wakes_one)
{
    struct prof_port_lock lock = {0};
    uint32_t elsewhere = 0;

    syscall_stubs.wakes_by = &elsewhere;
    prof_port_lock_take(&lock);
    assert_int_equal(lock.word, 1);
    assert_false(prof_port_lock_try(&lock));
    prof_port_lock_release(&lock);
    assert_int_equal(lock.word, 0);
    assert_int_equal(syscall_stubs.futexes_count,
                     0); /* nobody sleeps: no system call */
    assert_true(prof_port_lock_try(&lock));
    syscall_stubs.wakes_by = &lock.word;
    prof_port_lock_take(&lock);
    assert_int_equal(syscall_stubs.futexes_count, 1);
    assert_futex(0, &lock.word, FUTEX_WAIT_PRIVATE, 2);
    assert_int_equal(lock.word, 2); /* others may be asleep */
    prof_port_lock_release(&lock);
    assert_int_equal(lock.word, 0);
    assert_int_equal(syscall_stubs.futexes_count, 2);
    assert_futex(1, &lock.word, FUTEX_WAKE_PRIVATE, 1);
}

TEST_WITH(NULL, syscall_stubs_end,
          a_wait_sleeps_on_what_was_seen_and_all_are_woken)
{
    uint32_t word = 77;

    syscall_stubs.wakes_by = &word;
    prof_port_wait(&word, 77);
    assert_int_equal(syscall_stubs.futexes_count, 1);
    assert_futex(0, &word, FUTEX_WAIT_PRIVATE, 77);
    prof_port_wake(&word);
    assert_int_equal(syscall_stubs.futexes_count, 2);
    assert_futex(1, &word, FUTEX_WAKE_PRIVATE, INT_MAX);
}

TEST_WITH(NULL, syscall_stubs_end, a_clock_is_read_and_one_that_fails_says_0)
{
    struct timespec now;
    int64_t ns;

    assert_int_equal(clock_gettime(CLOCK_REALTIME, &now), 0);
    ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    assert_true(prof_process_time_ns() >= ns);
    assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &now), 0);
    ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    assert_true(prof_process_monotonic_ns() >= ns);
    syscall_stubs_set(CALL_CLOCK, EINVAL, 2);
    assert_int_equal(prof_process_time_ns(), 0);
    assert_int_equal(prof_process_monotonic_ns(), 0);
}

/* ---- Barriers ---- */

/* A running world needs the system's barrier, and is refused without it. */
TEST_WITH(NULL, syscall_stubs_end, a_running_world_without_barriers_is_refused)
{
    const struct prof_config config = {.buckets_max = 4,
                                       .world = PROF_WORLD_RUNNING};
    const size_t bytes = prof_bytes_needed(&config);
    unsigned char *const block = props_block(bytes, 0);
    struct prof *prof = NULL;

    /* If the system does not know the barrier, no process can be registered. */
    syscall_stubs_set(CALL_SYSCALL, ENOSYS, 1);
    assert_int_equal(prof_init(&prof, &config, block, bytes),
                     PROF_ERR_UNSUPPORTED);
    syscall_stubs_set(CALL_SYSCALL, EPERM, 2);
    assert_int_equal(prof_init(&prof, &config, block, bytes),
                     PROF_ERR_UNSUPPORTED);
    syscall_stubs_set(NO_CALL, 0, 0);
    assert_null(prof); /* neither it nor the block was touched */
    for (size_t i = 0; i < bytes; i++)
        assert_int_equal(block[i], 0);
    assert_int_equal(prof_init(&prof, &config, block, bytes), PROF_OK);
    /* The process is registered: registering again succeeds, with one call. */
    memset(block, 0, bytes);
    syscall_stubs.barriers = 0;
    assert_int_equal(prof_init(&prof, &config, block, bytes), PROF_OK);
    assert_int_equal(syscall_stubs.barriers, 1);
    assert_true(prof_port_barrier());
    assert_int_equal(syscall_stubs.barriers, 2);
    /* A barrier that fails for another reason is not tried again. */
    syscall_stubs_set(CALL_SYSCALL, ENOSYS, 1);
    assert_false(prof_port_barrier());
    assert_int_equal(syscall_stubs.refused_times, 0);
    free(block);
}

/* The system registers the process, and yet refuses the barrier. */
TEST_WITH(NULL, syscall_stubs_end, a_process_registered_in_vain_has_no_barrier)
{
    syscall_stubs.barriers = 0;
    syscall_stubs.refused_barriers = 5; /* the first call and the third */
    assert_false(prof_port_barrier());
    assert_int_equal(syscall_stubs.refused_barriers, 0);
    assert_int_equal(syscall_stubs.barriers, 1);
    assert_true(prof_port_barrier());
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
