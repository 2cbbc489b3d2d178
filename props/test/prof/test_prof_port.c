/*
 * test_prof_port.c -- the lock of the Linux port under real threads.
 */
#include <pthread.h>
#include <string.h>

#include "prof/port.h"
#include "unit_test.h"

enum { THREADS = 4, ROUNDS = 20000 };

static struct prof_port_lock lock;
static uint64_t counted; /* guarded by lock; not atomic, so two holders at once
                          * would lose counts */
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

TEST(trying_a_lock_that_is_held_fails_until_its_release)
{
    prof_port_lock_take(&lock);
    for (int i = 0; i < 3; i++)
        assert_false(prof_port_lock_try(&lock));
    prof_port_lock_release(&lock);
    assert_true(prof_port_lock_try(&lock));
    assert_false(prof_port_lock_try(&lock));
    prof_port_lock_release(&lock);
}

TEST(threads_that_contend_count_right)
{
    pthread_t threads[THREADS];

    counted = 0;
    tried = 0;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(
            pthread_create(&threads[i], NULL, count_under_the_lock, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(counted, (uint64_t)THREADS * ROUNDS + tried);
    assert_true(prof_port_lock_try(&lock)); /* not held */
    prof_port_lock_release(&lock);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
