/*
 * test_profile_threads.c -- which processor of libprof a thread uses. The
 * library is a stub, and a processor only a number.
 */
#include <dlfcn.h>
#include <mqueue.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "profile.h"
#include "told.h"
#include "unit_test.h"

enum { OWN = PROFILE_PROCS_OWN, SHARED = PROFILE_PROCS_SHARED };

struct profile profile;
_Thread_local bool embed_inside;

static char processors[OWN + SHARED];
static bool forks; /* then it asks for those of threads alone */
static int alone_ended;

struct prof_proc *
prof_proc_at(struct prof *prof, uint32_t index)
{
    assert_ptr_equal(prof, profile.prof);
    assert_in_range(index, 0, forks ? OWN - 1 : OWN + SHARED - 1);
    return (struct prof_proc *)(void *)&processors[index];
}

static int
number_of(const struct prof_proc *proc)
{
    return proc != NULL ? (int)((const char *)proc - processors) : -1;
}

void
embed_alone_end(void)
{
    alone_ended++;
}

static bool key_fails;

int __real_pthread_setspecific(pthread_key_t key, const void *value);
int __wrap_pthread_setspecific(pthread_key_t key, const void *value);
int
__wrap_pthread_setspecific(pthread_key_t key, const void *value)
{
    return key_fails ? 12 : __real_pthread_setspecific(key, value);
}

/* ---- threads ---- */

/* Begin a thread. returns: the number of its processor, as a pointer */
static void *
begin_thread(void *unused)
{
    (void)unused;
    profile_thread_begin();
    assert_int_equal(profile_thread.is_surplus, profile_thread.proc == NULL);
    return (void *)(intptr_t)number_of(profile_thread.proc);
}

static int
begun_elsewhere(void)
{
    pthread_t thread;
    void *number;

    assert_int_equal(pthread_create(&thread, NULL, begin_thread, NULL), 0);
    assert_int_equal(pthread_join(thread, &number), 0);
    return (int)(intptr_t)number;
}

static uint64_t given_bytes;
static int given_by = -1;
static bool begins_meanwhile;
static int begun_meanwhile;

/* The bytes are given back before the processor: a thread that begins now must
 * not get it. */
void
prof_heap_until_give(struct prof_proc *proc, uint64_t until_bytes)
{
    given_by = number_of(proc);
    given_bytes = until_bytes;
    if (begins_meanwhile) {
        begins_meanwhile = false;
        begun_meanwhile = begun_elsewhere();
    }
}

static void *
take_bytes(void *unused)
{
    (void)begin_thread(unused);
    embed_until_bytes = 77;
    begins_meanwhile = true;
    return (void *)(intptr_t)number_of(profile_thread.proc);
}

static int
begin(void **state)
{
    (void)state;
    profile_threads_start();
    profile_thread_begin();
    return 0;
}

TEST(the_first_thread_is_no_second)
{
    (void)state;
    assert_int_equal(number_of(profile_thread.proc), 0);
    assert_int_equal(alone_ended, 0);
}

TEST(a_processor_is_given_back_when_its_bytes_are)
{
    pthread_t thread;
    void *number;

    assert_int_equal(pthread_create(&thread, NULL, take_bytes, NULL), 0);
    assert_int_equal(pthread_join(thread, &number), 0);
    assert_int_equal((intptr_t)number, 1);
    assert_int_equal(given_by, 1);
    assert_int_equal(given_bytes, 77);
    assert_int_equal(begun_meanwhile, 2);
    assert_int_equal(begun_elsewhere(), 1);
}

static pthread_key_t later_key;
static int had_later;

static void
look_later(void *unused)
{
    (void)unused;
    had_later = number_of(profile_thread.proc);
    assert_true(profile_thread.is_surplus);
}

static void *
end_later(void *unused)
{
    assert_int_equal(pthread_setspecific(later_key, &later_key), 0);
    return begin_thread(unused);
}

/* Destructors of a thread that run afterwards find no processor. */
TEST(what_was_given_back_is_not_used)
{
    pthread_t thread;

    (void)state;
    had_later = 1;
    assert_int_equal(pthread_key_create(&later_key, look_later), 0);
    assert_int_equal(pthread_create(&thread, NULL, end_later, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(had_later, -1);
    pthread_key_delete(later_key);
}

/* A thread that has given its bytes back has none left, so it gives none back a
 * second time. */
TEST(bytes_are_given_back_once)
{
    given_by = -1;
    embed_until_bytes = 5;
    profile_until_give();
    assert_int_equal(given_by, 0);
    assert_int_equal(embed_until_bytes, 0);
    given_by = -1;
    profile_until_give();
    assert_int_equal(given_by, -1);
    embed_until_bytes = 5;
    profile_thread.is_off = true;
    profile_until_give();
    assert_int_equal(given_by, -1);
    assert_int_equal(embed_until_bytes, 0);
    profile_thread.is_off = false;
}

static pthread_barrier_t all_begun;

static void *
begin_and_meet(void *unused)
{
    void *const number = begin_thread(unused);

    pthread_barrier_wait(&all_begun);
    return number;
}

/* The threads use up the processors but this thread's own; two get none. */
TEST(more_threads_than_processors_have_none)
{
    enum { THREADS = OWN + 1 };
    pthread_t threads[THREADS];
    bool had[OWN] = {true};
    int surplus = 0;

    pthread_barrier_init(&all_begun, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(
            pthread_create(&threads[i], NULL, begin_and_meet, NULL), 0);
    for (int i = 0; i < THREADS; i++) {
        void *result;
        int number;

        assert_int_equal(pthread_join(threads[i], &result), 0);
        number = (int)(intptr_t)result;
        surplus += number < 0;
        if (number < 0)
            continue;
        assert_in_range(number, 1, OWN - 1);
        assert_false(had[number]);
        had[number] = true;
    }
    assert_int_equal(surplus, 2);
    assert_int_equal(begun_elsewhere(), 1);
    pthread_barrier_destroy(&all_begun);
}

TEST(a_thread_that_cannot_give_back_has_none)
{
    key_fails = true;
    assert_int_equal(begun_elsewhere(), -1);
    key_fails = false;
    assert_int_equal(begun_elsewhere(), 1);
}

static int yields;

/* Another thread gives a processor back when it has a turn. */
int __wrap_sched_yield(void);
int
__wrap_sched_yield(void)
{
    if (++yields == 3)
        profile_proc_return(7);
    return 0;
}

TEST(a_borrowed_processor_is_nobody_elses)
{
    struct prof_proc *proc;
    uint32_t indices[SHARED];
    uint32_t index;

    for (uint32_t i = 0; i < SHARED; i++) {
        proc = profile_proc_borrow(&indices[i]);
        assert_int_equal(indices[i], i);
        assert_int_equal(number_of(proc), OWN + i);
    }
    alarm(20);
    yields = 0;
    proc = profile_proc_borrow(&index);
    alarm(0);
    assert_int_equal(yields, 3);
    assert_int_equal(index, 7);
    assert_int_equal(number_of(proc), OWN + 7);
    for (uint32_t i = 0; i < SHARED; i++)
        profile_proc_return(i);
}

/* ---- forks: the other threads are not there any more ---- */

static bool
after_fork(void)
{
    bool had_others;

    forks = true;
    had_others = profile_threads_after_fork_child();
    forks = false;
    return had_others;
}

static pthread_barrier_t other_waits;

static void *
stay(void *unused)
{
    (void)begin_thread(unused);
    pthread_barrier_wait(&other_waits);
    pthread_barrier_wait(&other_waits);
    return NULL;
}

/* The child of the second thread has that thread's processor alone. */
static void *
fork_in_second(void *unused)
{
    assert_int_equal((intptr_t)begin_thread(unused), 1);
    assert_true(after_fork());
    assert_int_equal(begun_elsewhere(), 0); /* the first thread's */
    assert_false(after_fork());
    return NULL;
}

TEST(any_thread_may_fork)
{
    pthread_t thread;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, fork_in_second, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    (void)after_fork(); /* this thread has its own again */
    assert_int_equal(begun_elsewhere(), 1);
}

TEST(a_child_has_its_own_processor_alone)
{
    pthread_t thread;
    uint32_t index;

    assert_false(after_fork());
    pthread_barrier_init(&other_waits, NULL, 2);
    assert_int_equal(pthread_create(&thread, NULL, stay, NULL), 0);
    pthread_barrier_wait(&other_waits);
    assert_true(after_fork());
    assert_false(after_fork());
    assert_int_equal(begun_elsewhere(), 1); /* the other's processor */
    pthread_barrier_wait(&other_waits);
    assert_int_equal(pthread_join(thread, NULL), 0);
    for (uint32_t i = 0; i < SHARED; i++)
        (void)profile_proc_borrow(&index);
    assert_true(after_fork());
    alarm(20); /* ends a wait for a processor */
    for (uint32_t i = 0; i < SHARED; i++) {
        (void)profile_proc_borrow(&index);
        assert_int_equal(index, i);
    }
    alarm(0);
    for (uint32_t i = 0; i < SHARED; i++)
        profile_proc_return(i);
    pthread_barrier_destroy(&other_waits);
}

/* ---- what begins a thread ---- */

static char called;

static int
real_thrd_create(thrd_t *thread, thrd_start_t run, void *context)
{
    (void)thread;
    (void)run;
    (void)context;
    called = 't';
    return 3;
}

static int
real_timer_create(clockid_t clock, struct sigevent *event, timer_t *timer)
{
    (void)clock;
    (void)event;
    (void)timer;
    called = 'c';
    return 4;
}

static int
real_mq_notify(mqd_t queue, const struct sigevent *event)
{
    (void)queue;
    (void)event;
    called = 'n';
    return 5;
}

/* A stub: dlsym() itself must not begin a thread. */
void
embed_resolve(void *function, const char *name, const char *version)
{
    static const struct {
        const char *name;
        void (*real)(void);
    } rows[] = {
        {"thrd_create", (void (*)(void))real_thrd_create},
        {"timer_create", (void (*)(void))real_timer_create},
        {"mq_notify", (void (*)(void))real_mq_notify},
    };
    void *const found = dlsym(RTLD_NEXT, name);

    (void)version;
    assert_true(embed_inside); /* dlsym() may allocate */
    memcpy(function, &found, sizeof found);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, name) == 0)
            memcpy(function, &rows[i].real, sizeof rows[i].real);
}

TEST(who_begins_a_thread_is_no_longer_alone)
{
    pthread_attr_t huge;
    pthread_t none;
    thrd_t thread;
    timer_t timer;

    alone_ended = 0;
    assert_int_equal(thrd_create(&thread, NULL, NULL), 3);
    assert_int_equal(called, 't');
    assert_int_equal(alone_ended, 1);
    assert_int_equal(timer_create(CLOCK_MONOTONIC, NULL, &timer), 4);
    assert_int_equal(called, 'c');
    assert_int_equal(alone_ended, 2);
    assert_int_equal(mq_notify((mqd_t)0, NULL), 5);
    assert_int_equal(called, 'n');
    assert_int_equal(alone_ended, 3);
    embed_inside = true; /* the agent */
    assert_int_equal(thrd_create(&thread, NULL, NULL), 3);
    embed_inside = false;
    assert_int_equal(alone_ended, 3);
    /* A stack of half the address space: there is no thread. */
    assert_int_equal(pthread_attr_init(&huge), 0);
    assert_int_equal(pthread_attr_setstacksize(&huge, SIZE_MAX / 2 & ~4095ul),
                     0);
    assert_int_not_equal(pthread_create(&none, &huge, begin_thread, NULL), 0);
    pthread_attr_destroy(&huge);
    alone_ended = 3;
    /* pthread_create() ends it, and the new thread does once it allocates. */
    (void)begun_elsewhere();
    assert_int_equal(alone_ended, 5);
}

int
main(void)
{
    return tests_run(begin, NULL);
}
