/*
 * test_prof_port.c -- the lock of the Linux port under real threads.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <pthread.h>
#include <string.h>

#include <cmocka.h>

#include "prof/port.h"

enum { THREADS = 4, ROUNDS = 20000 };

static struct prof_port_lock lock;
static uint64_t counted; /* guarded by lock; plain, so that a leak shows */
static uint64_t tried;   /* the same */

static void *
count_under_the_lock(void *unused)
{
    (void)unused;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        prof_port_lock_take(&lock);
        counted++;
        prof_port_lock_release(&lock);
        if (prof_port_lock_try(&lock)) {
            counted++;
            tried++;
            prof_port_lock_release(&lock);
        }
    }
    return NULL;
}

static void
a_lock_of_zero_bytes_is_free(void **state)
{
    struct prof_port_lock fresh;

    (void)state;
    memset(&fresh, 0, sizeof fresh);
    assert_true(prof_port_lock_try(&fresh));
    prof_port_lock_release(&fresh);
    prof_port_lock_take(&fresh);
    prof_port_lock_release(&fresh);
}

static void
trying_a_lock_that_is_held_fails_until_its_release(void **state)
{
    (void)state;
    prof_port_lock_take(&lock);
    for (int i = 0; i < 3; i++)
        assert_false(prof_port_lock_try(&lock));
    prof_port_lock_release(&lock);
    assert_true(prof_port_lock_try(&lock));
    assert_false(prof_port_lock_try(&lock));
    prof_port_lock_release(&lock);
}

static void
threads_that_contend_count_right(void **state)
{
    pthread_t threads[THREADS];

    (void)state;
    counted = 0;
    tried = 0;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(
            pthread_create(&threads[i], NULL, count_under_the_lock, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(counted, (uint64_t)THREADS * ROUNDS + tried);
    assert_true(prof_port_lock_try(&lock)); /* and nobody holds it */
    prof_port_lock_release(&lock);
}

/* The holder waits for all to have come: most of them will be asleep. */
static pthread_barrier_t all_are_here;

static void *
come_and_take(void *unused)
{
    (void)unused;
    (void)pthread_barrier_wait(&all_are_here);
    prof_port_lock_take(&lock);
    counted++;
    prof_port_lock_release(&lock);
    return NULL;
}

static void
every_sleeper_is_woken(void **state)
{
    (void)state;
    for (int round = 0; round < 200; round++) {
        pthread_t threads[THREADS];

        counted = 0;
        assert_int_equal(pthread_barrier_init(&all_are_here, NULL, THREADS + 1),
                         0);
        prof_port_lock_take(&lock);
        for (int i = 0; i < THREADS; i++)
            assert_int_equal(
                pthread_create(&threads[i], NULL, come_and_take, NULL), 0);
        (void)pthread_barrier_wait(&all_are_here);
        prof_port_lock_release(&lock);
        for (int i = 0; i < THREADS; i++)
            assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(counted, THREADS);
        assert_int_equal(pthread_barrier_destroy(&all_are_here), 0);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lock_of_zero_bytes_is_free),
        cmocka_unit_test(trying_a_lock_that_is_held_fails_until_its_release),
        cmocka_unit_test(threads_that_contend_count_right),
        cmocka_unit_test(every_sleeper_is_woken),
    };

    return cmocka_run_group_tests_name("prof port", tests, NULL, NULL);
}
