/*
 * test_lock_hooks.c -- what the hooks of locks report, before or after the
 * call, and what they return; without a recorder. A release must be reported
 * before, since afterwards another thread may own the lock; an unload must be
 * reported afterwards, when the code is gone.
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>

#include "hooks.h"
#include "unit_test.h"

_Thread_local bool embed_inside;

static char seen[16];

static void
note(char what)
{
    const size_t count = strlen(seen);

    assert_true(count < sizeof seen - 1);
    seen[count] = what;
}

/* ---- the reports, noted by small letters ---- */

static const void *caller; /* the function that calls the hook */
static const void *lock_told;
static bool has_releaser_told;
static int kind_told;
static int status_told;
static bool waits_are_wanted = true;
static uint64_t release_token;

static void
expect_caller(const void *frame)
{
    const uintptr_t pc = ((const uintptr_t *)frame)[1];

    assert_in_range(pc, (uintptr_t)caller + 1, (uintptr_t)caller + 200);
}

bool
embed_on_wait(struct embed_wait *wait, const void *lock, bool has_releaser,
              const void *frame)
{
    note('w');
    expect_caller(frame);
    wait->start_ticks = 17;
    lock_told = lock;
    has_releaser_told = has_releaser;
    return waits_are_wanted;
}

void
embed_on_waited(const struct embed_wait *wait, enum embed_lock_kind kind,
                int status, const void *frame)
{
    note('d');
    expect_caller(frame);
    assert_int_equal(wait->start_ticks, 17);
    kind_told = (int)kind;
    status_told = status;
}

uint64_t
embed_on_release(const void *lock, enum embed_lock_kind kind, const void *frame)
{
    note('r');
    expect_caller(frame);
    lock_told = lock;
    kind_told = (int)kind;
    return release_token;
}

void
embed_on_released(uint64_t token, const void *frame)
{
    note('e');
    expect_caller(frame);
    assert_int_equal(token, release_token);
}

void
embed_on_unload(void)
{
    note('u');
}

/* ---- the real functions, noted by capital letters ---- */

static int try_status;
static int status;
static int resolved;

static int
real_try(void *lock)
{
    (void)lock;
    note('T');
    return try_status;
}

static int
real_lock(void *lock)
{
    (void)lock;
    note('L');
    return status;
}

static int
real_unlock(void *lock)
{
    (void)lock;
    note('U');
    return status;
}

static int
real_sem_trywait(sem_t *semaphore)
{
    (void)semaphore;
    note('T');
    errno = try_status;
    return try_status == 0 ? 0 : -1;
}

/* The arguments of all timed calls; each must arrive unchanged. */
static const struct timespec until = {.tv_sec = 3};
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;

static int
real_until(void *lock, const struct timespec *limit)
{
    assert_ptr_equal(limit, &until);
    return real_lock(lock);
}

static int
real_by_clock(void *lock, clockid_t clock, const struct timespec *limit)
{
    assert_int_equal(clock, CLOCK_BOOTTIME);
    return real_until(lock, limit);
}

static int
real_cond(pthread_cond_t *cond, pthread_mutex_t *with)
{
    assert_ptr_equal(with, &mutex);
    return real_lock(cond);
}

static int
real_cond_until(pthread_cond_t *cond, pthread_mutex_t *with,
                const struct timespec *limit)
{
    assert_ptr_equal(limit, &until);
    return real_cond(cond, with);
}

static int
real_cond_by_clock(pthread_cond_t *cond, pthread_mutex_t *with, clockid_t clock,
                   const struct timespec *limit)
{
    assert_int_equal(clock, CLOCK_BOOTTIME);
    return real_cond_until(cond, with, limit);
}

static bool stays, is_gone;

static int
real_close(void *library)
{
    assert_true(library == &mutex || library == &rwlock);
    note('C');
    is_gone = !stays;
    return status;
}

int __wrap_dlinfo(void *library, int request, void *to);
int
__wrap_dlinfo(void *library, int request, void *to)
{
    static struct link_map map = {.l_ld = (void *)&map};
    struct link_map *const found = &map;

    assert_int_equal(request, RTLD_DI_LINKMAP);
    assert_null(strchr(seen, 'C')); /* the handle is still good */
    if (library != &mutex)
        return -1;
    memcpy(to, &found, sizeof found);
    return 0;
}

int __wrap__dl_find_object(void *place, struct dl_find_object *found);
int
__wrap__dl_find_object(void *place, struct dl_find_object *found)
{
    (void)place;
    (void)found;
    return is_gone ? -1 : 0;
}

void
embed_resolve(void *function, const char *name, const char *version)
{
#define REAL(name, real)             \
    {                                \
        name, (void (*)(void))(real) \
    }
    static const struct {
        const char *name;
        void (*real)(void);
    } rows[] = {
        REAL("pthread_mutex_lock", real_lock),
        REAL("pthread_mutex_trylock", real_try),
        REAL("pthread_mutex_timedlock", real_until),
        REAL("pthread_mutex_clocklock", real_by_clock),
        REAL("pthread_mutex_unlock", real_unlock),
        REAL("pthread_rwlock_rdlock", real_lock),
        REAL("pthread_rwlock_tryrdlock", real_try),
        REAL("pthread_rwlock_timedrdlock", real_until),
        REAL("pthread_rwlock_clockrdlock", real_by_clock),
        REAL("pthread_rwlock_wrlock", real_lock),
        REAL("pthread_rwlock_trywrlock", real_try),
        REAL("pthread_rwlock_timedwrlock", real_until),
        REAL("pthread_rwlock_clockwrlock", real_by_clock),
        REAL("pthread_rwlock_unlock", real_unlock),
        REAL("pthread_cond_wait", real_cond),
        REAL("pthread_cond_timedwait", real_cond_until),
        REAL("pthread_cond_clockwait", real_cond_by_clock),
        REAL("sem_wait", real_lock),
        REAL("sem_trywait", real_sem_trywait),
        REAL("sem_timedwait", real_until),
        REAL("sem_clockwait", real_by_clock),
        REAL("dlclose", real_close),
    };

    (void)version;
    assert_true(embed_inside); /* dlsym() may lock */
    resolved++;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(rows[i].name, name) == 0)
            memcpy(function, &rows[i].real, sizeof rows[i].real);
    }
}

/* ---- the calls; a tail call would hide the caller ---- */

static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;

#define CALL(name, call)                            \
    static __attribute__((noinline)) int name(void) \
    {                                               \
        const int got = (call);                     \
                                                    \
        EMBED_KEEP_FRAME();                         \
        return got;                                 \
    }

CALL(lock, pthread_mutex_lock(&mutex))
CALL(lock_until, pthread_mutex_timedlock(&mutex, &until))
CALL(lock_by_clock, pthread_mutex_clocklock(&mutex, CLOCK_BOOTTIME, &until))
CALL(unlock, pthread_mutex_unlock(&mutex))
CALL(read_lock, pthread_rwlock_rdlock(&rwlock))
CALL(read_until, pthread_rwlock_timedrdlock(&rwlock, &until))
CALL(read_by_clock, pthread_rwlock_clockrdlock(&rwlock, CLOCK_BOOTTIME, &until))
CALL(write_lock, pthread_rwlock_wrlock(&rwlock))
CALL(write_until, pthread_rwlock_timedwrlock(&rwlock, &until))
CALL(write_by_clock,
     pthread_rwlock_clockwrlock(&rwlock, CLOCK_BOOTTIME, &until))
CALL(rwlock_unlock, pthread_rwlock_unlock(&rwlock))
CALL(cond_wait, pthread_cond_wait(&cond, &mutex))
CALL(cond_until, pthread_cond_timedwait(&cond, &mutex, &until))
CALL(cond_by_clock,
     pthread_cond_clockwait(&cond, &mutex, CLOCK_BOOTTIME, &until))
CALL(post_wait, sem_wait(&semaphore))
CALL(post_until, sem_timedwait(&semaphore, &until))
CALL(post_by_clock, sem_clockwait(&semaphore, CLOCK_BOOTTIME, &until))
CALL(close_library, dlclose(&mutex))
CALL(close_no_library, dlclose(&rwlock))

struct row {
    int (*call)(void);
    const void *lock;
    enum embed_lock_kind kind;
};

static const struct row waits[] = {
    {lock, &mutex, EMBED_LOCK_MUTEX},
    {lock_until, &mutex, EMBED_LOCK_MUTEX},
    {lock_by_clock, &mutex, EMBED_LOCK_MUTEX},
    {read_lock, &rwlock, EMBED_LOCK_READ},
    {read_until, &rwlock, EMBED_LOCK_READ},
    {read_by_clock, &rwlock, EMBED_LOCK_READ},
    {write_lock, &rwlock, EMBED_LOCK_WRITE},
    {write_until, &rwlock, EMBED_LOCK_WRITE},
    {write_by_clock, &rwlock, EMBED_LOCK_WRITE},
};
static const struct row posts[] = {
    {post_wait, &semaphore, EMBED_LOCK_SEMAPHORE},
    {post_until, &semaphore, EMBED_LOCK_SEMAPHORE},
    {post_by_clock, &semaphore, EMBED_LOCK_SEMAPHORE},
};
static const struct row conditions[] = {
    {cond_wait, &cond, EMBED_LOCK_COND},
    {cond_until, &cond, EMBED_LOCK_COND},
    {cond_by_clock, &cond, EMBED_LOCK_COND},
};
static const struct row releases[] = {
    {unlock, &mutex, EMBED_LOCK_MUTEX},
    {rwlock_unlock, &rwlock, EMBED_LOCK_READ},
};

#define COUNT_OF(rows) (sizeof(rows) / sizeof *(rows))

/* in: want, the letters; returned, the result of the call */
static void
expect(int (*call)(void), const char *want, int returned)
{
    memcpy(&caller, &call, sizeof caller);
    memset(seen, 0, sizeof seen);
    assert_int_equal(call(), returned);
    assert_string_equal(seen, want);
}

static int
set_out(void **state)
{
    (void)state;
    embed_inside = false;
    waits_are_wanted = true;
    release_token = 0;
    try_status = status = 0;
    stays = is_gone = false;
    atomic_store(&embed_awaited, 0);
    return 0;
}

/* dlsym() itself may lock. While the functions are being looked up the hooks do
 * nothing. */
TEST(before_they_are_known_locks_do_nothing)
{
    embed_inside = true;
    for (size_t i = 0; i < COUNT_OF(waits); i++)
        expect(waits[i].call, "", 0);
    for (size_t i = 0; i < 3; i++) {
        expect(posts[i].call, "", 0);
        expect(conditions[i].call, "", 0);
        expect(releases[i % 2].call, "", 0);
    }
    expect(close_library, "", 0);
    assert_int_equal(resolved, 0);
    embed_inside = false;
    try_status = EBUSY;
    expect(lock, "TwLd", 0); /* looks the functions up */
    try_status = 0;
    expect(read_lock, "T", 0);
    assert_false(embed_inside);
    resolved = 0;
    expect(write_lock, "T", 0);
    assert_int_equal(resolved, 0);
}

static void
expect_wait(const struct row *row, bool has_releaser)
{
    assert_ptr_equal(lock_told, row->lock);
    assert_int_equal(has_releaser_told, has_releaser);
    assert_int_equal(kind_told, row->kind);
    assert_int_equal(status_told, status);
}

TEST_WITH(set_out, NULL, a_wait_is_told_if_the_lock_cannot_be_had_at_once)
{
    static const int statuses[] = {0, ETIMEDOUT, EOWNERDEAD};
    static const int had[] = {0, EOWNERDEAD, EINVAL};

    for (size_t i = 0; i < COUNT_OF(waits); i++)
        for (size_t k = 0; k < COUNT_OF(statuses); k++) {
            status = statuses[k];
            try_status = had[k];
            expect(waits[i].call, "T", had[k]);
            try_status = EBUSY;
            expect(waits[i].call, "TwLd", status);
            expect_wait(&waits[i], true);
            waits_are_wanted = false;
            expect(waits[i].call, "TwL", status);
            waits_are_wanted = true;
            embed_inside = true;
            expect(waits[i].call, "L", status);
            embed_inside = false;
        }
}

TEST_WITH(set_out, NULL, a_semaphore_is_waited_for_if_it_is_at_zero)
{
    for (size_t i = 0; i < COUNT_OF(posts); i++) {
        status = -1;
        try_status = 0;
        expect(posts[i].call, "T", 0);
        try_status = EAGAIN;
        expect(posts[i].call, "TwLd", -1);
        expect_wait(&posts[i], false);
        waits_are_wanted = false;
        expect(posts[i].call, "TwL", -1);
        waits_are_wanted = true;
        try_status = EINVAL; /* the semaphore is not valid */
        expect(posts[i].call, "TL", -1);
        embed_inside = true;
        expect(posts[i].call, "L", -1);
        embed_inside = false;
    }
}

TEST_WITH(set_out, NULL, a_condition_gives_its_mutex_up_when_it_waits)
{
    for (size_t i = 0; i < COUNT_OF(conditions); i++) {
        atomic_store(&embed_awaited, 0);
        release_token = 0;
        status = ETIMEDOUT;
        expect(conditions[i].call, "wLd", status);
        expect_wait(&conditions[i], false);
        atomic_store(&embed_awaited, 1);
        expect(conditions[i].call, "wrLd", status);
        assert_ptr_equal(lock_told, &mutex);
        release_token = 5;
        expect(conditions[i].call, "wreLd", status);
        waits_are_wanted = false;
        expect(conditions[i].call, "wreL", status);
        assert_int_equal(kind_told, EMBED_LOCK_MUTEX);
        waits_are_wanted = true;
        embed_inside = true;
        expect(conditions[i].call, "L", status);
        embed_inside = false;
    }
}

TEST_WITH(set_out, NULL, a_release_is_told_while_the_lock_is_held)
{
    for (size_t i = 0; i < COUNT_OF(releases); i++) {
        status = EPERM;
        release_token = 0;
        atomic_store(&embed_awaited, 0);
        expect(releases[i].call, "U", status);
        atomic_store(&embed_awaited, 1);
        expect(releases[i].call, "rU", status);
        assert_ptr_equal(lock_told, releases[i].lock);
        assert_int_equal(kind_told, releases[i].kind);
        release_token = UINT64_C(1) << 40;
        expect(releases[i].call, "rUe", status);
    }
}

TEST_WITH(set_out, NULL, one_thread_alone_tells_nothing)
{
    try_status = EBUSY;
    atomic_store(&embed_awaited, 1);
    embed_alone_begin();
    expect(lock, "L", 0);
    expect(unlock, "U", 0);
    expect(read_lock, "TwLd", 0); /* only mutexes are affected */
    embed_alone_end();
    expect(lock, "TwLd", 0);
    expect(unlock, "rU", 0);
}

TEST_WITH(set_out, NULL, an_unload_is_told_when_the_library_has_gone)
{
    status = 7;
    expect(close_library, "Cu", 7);
    stays = true; /* the library is still open elsewhere */
    is_gone = false;
    expect(close_library, "C", 7);
}

/* For an unknown handle the hook cannot tell whether a library was unloaded, so
 * it reports an unload: what is known of its code may be wrong. */
TEST_WITH(set_out, NULL, what_is_no_library_may_have_been_one)
{
    stays = true;
    expect(close_no_library, "Cu", 0);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
