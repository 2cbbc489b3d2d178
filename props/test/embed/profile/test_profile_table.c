/* Tests of the table of sampled blocks (embed/profile/table.c). */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "profile/table.h"
#include "told.h"
#include "unit_test.h"

enum { CHAIN = 40, ROUNDS = 40000, MODEL = 4096 };

static bool
put(uintptr_t address, prof_bucket bucket)
{
    const struct table_entry entry = {address, bucket, false};
    struct table_entry before;

    return table_put_in(&entry, &before) && before.address == 0;
}

static bool
take(uintptr_t address, prof_bucket bucket)
{
    struct table_entry entry = {0};

    return table_take_out(address, &entry) && entry.address == address &&
           entry.bucket == bucket;
}

static bool
is_absent(uintptr_t address)
{
    struct table_entry entry;

    return !table_take_out(address, &entry);
}

/* Find `count` addresses whose home is the slot, in rising order. */
static void
find_homed(uint32_t slot, uintptr_t *addresses, size_t count)
{
    uintptr_t address = 16;

    for (size_t i = 0; i < count; address += 16)
        if (table_home_of(address) == slot)
            addresses[i++] = address;
}

TEST(an_entry_is_found_once)
{
    assert_false(embed_may_be_told((const void *)(uintptr_t)4096));
    assert_true(is_absent(4096));
    assert_true(put(4096, 7));
    assert_int_equal(table_count(), 1);
    assert_true(embed_may_be_told((const void *)(uintptr_t)4096));
    assert_true(take(4096, 7));
    assert_true(is_absent(4096));
    assert_false(embed_may_be_told((const void *)(uintptr_t)4096));
    assert_int_equal(table_count(), 0);
}

TEST(an_address_has_one_entry)
{
    const struct table_entry second = {4096, 8, false};
    struct table_entry before;

    assert_true(put(4096, 7));
    assert_true(table_put_in(&second, &before));
    assert_int_equal(before.address, 4096);
    assert_int_equal(before.bucket, 7);
    assert_int_equal(table_count(), 1);
    assert_true(take(4096, 8));
    assert_false(
        embed_may_be_told((const void *)(uintptr_t)4096)); /* counted once */
}

/* Remove each entry of a chain in turn, whatever its place, in the middle of
 * the table and where the chain wraps around its end. */
TEST(a_chain_closes_its_gaps)
{
    const uint32_t homes[] = {1000, TABLE_SLOTS - 1, TABLE_SLOTS - 2,
                              TABLE_SLOTS - 3, 0};
    uintptr_t chain[CHAIN];

    for (size_t h = 0; h < sizeof homes / sizeof *homes; h++) {
        /* The second half of the entries have the next slot as their home. */
        find_homed(homes[h], chain, CHAIN / 2);
        find_homed((homes[h] + 1) % TABLE_SLOTS, &chain[CHAIN / 2], CHAIN / 2);
        for (size_t gone = 0; gone < CHAIN; gone++) {
            for (size_t i = 0; i < CHAIN; i++)
                assert_true(put(chain[i], (prof_bucket)i));
            assert_true(take(chain[gone], (prof_bucket)gone));
            for (size_t i = 0; i < CHAIN; i++)
                if (i != gone)
                    assert_true(take(chain[i], (prof_bucket)i));
        }
        assert_int_equal(table_count(), 0);
    }
}

/* Removing an entry from a chain must not move an entry behind it that is in
 * its home slot. */
TEST(an_entry_at_home_does_not_move)
{
    uintptr_t first[2];
    uintptr_t last;

    find_homed(2000, first, 2);
    find_homed(2002, &last, 1);
    assert_true(put(first[0], 1));
    assert_true(put(first[1], 2)); /* in slot 2001 */
    assert_true(put(last, 3));     /* in slot 2002, its home */
    assert_true(take(first[0], 1));
    assert_true(take(first[1], 2));
    assert_true(take(last, 3));
}

TEST(a_full_table_refuses)
{
    const struct table_entry one_more = {(uintptr_t)16 * (TABLE_FULL + 1), 1,
                                         false};
    const struct table_entry again = {16, 2, false};
    struct table_entry before;

    for (uintptr_t i = 1; i <= TABLE_FULL; i++)
        assert_true(put(16 * i, 1));
    assert_false(table_put_in(&one_more, &before));
    assert_int_equal(before.address, 0);
    assert_true(is_absent(one_more.address));
    /* A full table still replaces the entry of an address that it has. */
    assert_true(table_put_in(&again, &before));
    assert_int_equal(before.address, 16);
    assert_int_equal(table_count(), TABLE_FULL);
    assert_true(take(16, 2));
    assert_true(put(one_more.address, 1));
    for (uintptr_t i = 2; i <= TABLE_FULL + 1; i++)
        assert_true(take(16 * i, 1));
    assert_int_equal(table_count(), 0);
    for (uintptr_t i = 1; i <= TABLE_FULL; i++) /* nothing is left behind */
        assert_true(put(48 * i, 1));
    for (uintptr_t i = 1; i <= TABLE_FULL; i++)
        assert_true(take(48 * i, 1));
}

/* More entries than a byte can count share a count of the filter: it says
 * "maybe" from then on, even when all are removed. */
TEST(a_saturated_count_stays)
{
    enum { MANY = 300 };
    uintptr_t addresses[MANY];
    uintptr_t address = 16;

    for (size_t i = 0; i < MANY; address += 16 << EMBED_FILTER_LOG2)
        addresses[i++] = address;
    for (size_t i = 0; i < MANY; i++)
        assert_true(put(addresses[i], 5));
    for (size_t i = 0; i < MANY; i++) {
        assert_true(embed_may_be_told((const void *)addresses[i]));
        assert_true(take(addresses[i], 5));
    }
    assert_true(embed_may_be_told((const void *)addresses[0]));
    assert_true(is_absent(addresses[0]));
    assert_true(put(addresses[1], 6));
    assert_true(take(addresses[1], 6));
    /* So does one that was set to the maximum. */
    embed_tell_always((const void *)(uintptr_t)160);
    for (int i = 0; i < 2; i++) {
        assert_true(put(160, 7));
        assert_true(embed_may_be_told((const void *)(uintptr_t)160));
        assert_true(take(160, 7));
        assert_true(embed_may_be_told((const void *)(uintptr_t)160));
    }
}

/* Compare the table with a plain array. Few homes are used, so that chains grow
 * and break. */
TEST(it_is_as_an_array)
{
    static prof_bucket buckets[MODEL]; /* 0: absent */
    static uintptr_t addresses[MODEL];
    uint64_t random = 1;
    uint64_t count = 0;
    uintptr_t address = 16;

    for (size_t i = 0; i < MODEL; address += 16)
        if (table_home_of(address) % 4096 < 256)
            addresses[i++] = address;
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        size_t i;

        random = random * UINT64_C(6364136223846793005) + 1;
        i = random >> 52;
        if (buckets[i] == 0) {
            assert_true(put(addresses[i], round));
            buckets[i] = round;
            count++;
        } else {
            assert_true(embed_may_be_told((const void *)addresses[i]));
            assert_true(take(addresses[i], buckets[i]));
            buckets[i] = 0;
            count--;
        }
        assert_int_equal(table_count(), count);
    }
    for (size_t i = 0; i < MODEL; i++)
        assert_true(buckets[i] == 0 ? is_absent(addresses[i])
                                    : take(addresses[i], buckets[i]));
}

static void *
put_and_take(void *good)
{
    return put(4096, 9) && take(4096, 9) ? good : NULL;
}

static bool
another_thread_may_use_it(void)
{
    void *result = NULL;
    pthread_t thread;

    return pthread_create(&thread, NULL, put_and_take, &result) == 0 &&
           pthread_join(thread, &result) == 0 && result != NULL;
}

/* The program's own fork handlers run between ours, and may allocate. */
TEST(the_thread_that_forks_may_use_it)
{
    int status = -1;
    pid_t child;

    assert_true(put(4096, 7));
    table_before_fork();
    assert_true(put(8192, 8));
    child = fork();
    if (child == 0) {
        alarm(10); /* ends a wait for a lock */
        table_after_fork();
        _exit(take(4096, 7) && take(8192, 8) && table_count() == 0 &&
                      another_thread_may_use_it()
                  ? 0
                  : 1);
    }
    assert_true(child > 0);
    table_after_fork();
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_true(take(4096, 7));
    assert_true(take(8192, 8));
    alarm(10);
    assert_true(another_thread_may_use_it());
    alarm(0);
}

static _Atomic int yields, naps, yields_before_nap;
static _Atomic bool is_done;

long __wrap_syscall(long number, const struct timespec *time, void *left);
long
__wrap_syscall(long number, const struct timespec *time, void *left)
{
    assert_int_equal(number, SYS_nanosleep);
    assert_null(left);
    if (atomic_fetch_add(&naps, 1) == 0)
        atomic_store(&yields_before_nap, atomic_load(&yields));
    return nanosleep(time, NULL);
}

int __wrap_sched_yield(void);
int
__wrap_sched_yield(void)
{
    atomic_fetch_add(&yields, 1);
    return 0;
}

static void *
put_and_end(void *good)
{
    void *const result = put_and_take(good);

    atomic_store(&is_done, true);
    return result;
}

/* Another thread waits until the fork is over, even if the one that forks uses
 * the table meanwhile. It first yields, and from then on sleeps: if its
 * priority is higher, the other runs only then. */
TEST(another_thread_waits)
{
    const struct timespec tick = {.tv_nsec = 1000000};
    void *result = NULL;
    pthread_t thread;

    alarm(60); /* ends a wait for a lock */
    for (int round = 0; round < 2; round++) {
        atomic_store(&yields, 0);
        atomic_store(&naps, 0);
        atomic_store(&is_done, false);
        table_before_fork();
        assert_true(put(8192, 8) && take(8192, 8));
        assert_int_equal(pthread_create(&thread, NULL, put_and_end, &result),
                         0);
        for (int i = 0;
             i < 20000 && atomic_load(&naps) < 5 && !atomic_load(&is_done); i++)
            nanosleep(&tick, NULL);
        assert_false(atomic_load(&is_done));
        assert_true(atomic_load(&naps) >= 5);
        assert_true(atomic_load(&yields_before_nap) > 0);
        assert_int_equal(atomic_load(&yields), atomic_load(&yields_before_nap));
        table_after_fork();
        assert_int_equal(pthread_join(thread, &result), 0);
        assert_non_null(result);
    }
    alarm(0);
}

/* ---- a handler that forks in the middle of a call ---- */

enum { PAGE = 4096 };

static bool was_kept_out;
static unsigned char *guarded_page;
static pthread_t other;

/* The write to the filter, under the lock, is not allowed at first. */
static void
fork_in_handler(int number)
{
    const struct timespec tick = {.tv_nsec = 1000000};
    static int good;

    (void)number;
    (void)mprotect(guarded_page, PAGE, PROT_READ | PROT_WRITE);
    table_before_fork();
    table_after_fork();
    atomic_store(&yields, 0);
    atomic_store(&is_done, false);
    if (pthread_create(&other, NULL, put_and_end, &good) != 0)
        abort();
    for (int i = 0;
         i < 20000 && atomic_load(&yields) == 0 && !atomic_load(&is_done); i++)
        nanosleep(&tick, NULL);
    was_kept_out = !atomic_load(&is_done);
}

/* The interrupted call has the lock until it ends, also after other forks. */
TEST(a_handler_that_forks_does_not_release_the_lock)
{
    const uintptr_t filter = (uintptr_t)embed_filter;
    const uintptr_t page = (filter + PAGE - 1) / PAGE * PAGE;
    const uintptr_t address = (page - filter + 100) * 16;
    void *result = NULL;

    (void)state;
    guarded_page = (unsigned char *)page;
    alarm(60); /* ends a wait for a lock */
    table_before_fork();
    table_after_fork();
    assert_true(signal(SIGSEGV, fork_in_handler) != SIG_ERR);
    assert_int_equal(mprotect(guarded_page, PAGE, PROT_READ), 0);
    assert_true(put(address, 5));
    signal(SIGSEGV, SIG_DFL);
    assert_true(was_kept_out);
    assert_int_equal(pthread_join(other, &result), 0);
    assert_non_null(result);
    assert_true(take(address, 5));
    alarm(0);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
