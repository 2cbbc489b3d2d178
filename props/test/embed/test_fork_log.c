/*
 * test_fork_log.c -- what a forked child does with the log of its parent. Only
 * the log is tested, without the recorder.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hooks.h"
#include "recorder.h"
#include "unit_test.h"

enum { LOG_BYTES = 1 << 20 };

/* Stubs of what fork.c and log.c call. */
_Atomic uint32_t embed_awaited;
static uint32_t reclaimed;

bool
embed_reserve(uint64_t bytes)
{
    (void)bytes;
    return false;
}

void
embed_modules_note(struct embed_stack *stack)
{
    (void)stack;
}

void
embed_stacks_reclaim(void)
{
    reclaimed++;
}

static bool fork_fails;

static pid_t
fork_raw(void)
{
    return fork_fails ? -1 : (pid_t)syscall(SYS_fork);
}

void
embed_resolve(void *function, const char *name, const char *version)
{
    pid_t (*const real)(void) = fork_raw;

    (void)version;
    assert_string_equal(name, "_Fork");
    memcpy(function, &real, sizeof real);
}

static void *
pages(size_t bytes)
{
    void *place = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    assert_true(place != MAP_FAILED);
    return place;
}

/* Open a log as spool.c and start.c do. */
static int
open_log(void **state)
{
    (void)state;
    embed_state = pages(sizeof *embed_state);
    (void)madvise(embed_state, sizeof *embed_state, MADV_WIPEONFORK);
    embed_state->log = pages(LOG_BYTES);
    (void)madvise(embed_state->log, LOG_BYTES, MADV_DONTFORK);
    embed_state->limit_bytes = LOG_BYTES;
    embed_state->used_bytes = EMBED_SPOOL_FIRST;
    atomic_store(&embed_state->phase, EMBED_ON);
    embed_fork_start();
    return 0;
}

static bool
is_mapped(void *place)
{
    unsigned char there;

    return mincore(place, 1, &there) == 0;
}

/* A child whose fork runs no handler of ours finds no state, either. */
static bool
is_wiped_by_kernel(void)
{
    const uint32_t phase = atomic_exchange(&embed_state->phase, EMBED_ON);
    const pid_t child = (pid_t)syscall(SYS_fork);
    int status = -1;

    if (child == 0)
        _exit(atomic_load(&embed_state->phase) != EMBED_FRESH);
    atomic_store(&embed_state->phase, phase);
    return waitpid(child, &status, 0) == child && status == 0;
}

static uint64_t forked_at; /* the least time that the child may report */

/* returns: 0 if the child's state is right, else the number of the check */
static int
go_on_inside(uint8_t *log)
{
    if (embed_forked_ticks < forked_at || embed_forked_ticks > embed_ticks())
        return 4;
    if (!embed_self.orphan || embed_state->log != log || reclaimed != 1)
        return 1;
    if (atomic_load(&embed_state->lock) != 0)
        return 6;
    if (!is_wiped_by_kernel())
        return 5;
    if (log[LOG_BYTES - 1] != 0)
        return 7;              /* it is the parent's */
    memset(log, 1, LOG_BYTES); /* the interrupted call still writes */
    embed_unlock();
    embed_fork_leave();
    if (is_mapped(log) || is_mapped(log + LOG_BYTES - 1))
        return 2;
    return embed_self.orphan || embed_state->log != NULL ||
                   atomic_load(&embed_state->phase) != EMBED_FRESH
               ? 3
               : 0;
}

static int
go_on_outside(uint8_t *log)
{
    return embed_self.orphan || embed_state->log != NULL || is_mapped(log) ||
                   atomic_load(&embed_state->phase) != EMBED_FRESH ||
                   atomic_load(&embed_awaited) != 0 ||
                   embed_forked_ticks < forked_at
               ? 1
               : 0;
}

pid_t _Fork(void); /* newer than some headers */

static void
expect_child_of(pid_t (*fork_it)(void), bool inside, int (*go_on)(uint8_t *log))
{
    uint8_t *const log = embed_state->log;
    pid_t child;
    int status;

    embed_inside = inside;
    forked_at = embed_ticks();
    log[LOG_BYTES - 1] = 1;
    atomic_store(&embed_awaited, 2);     /* others wait */
    atomic_store(&embed_state->lock, 2); /* held by one of them */
    child = fork_it();
    if (child == 0)
        _exit(go_on(log));
    assert_int_equal(atomic_exchange(&embed_state->lock, 0), 2);
    embed_inside = false;
    assert_int_equal(atomic_load(&embed_awaited), 2);
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_ptr_equal(embed_state->log, log);
    assert_int_equal(atomic_load(&embed_state->phase), EMBED_ON);
    assert_true(is_wiped_by_kernel());
}

static void
expect_child(bool inside, int (*go_on)(uint8_t *log))
{
    expect_child_of(fork, inside, go_on);
    expect_child_of(_Fork, inside, go_on);
}

/* A child of a process that confined itself cannot open a log; its parent
 * counts it. */
TEST(children_of_a_confined_process_are_counted)
{
    _Atomic uint64_t *const counted =
        &embed_header()->dropped[EMBED_DROP_CHILDREN];
    const uint64_t before = atomic_load(counted);

    expect_child(false, go_on_outside);
    assert_int_equal(atomic_load(counted), before);
    atomic_store(&embed_confinements, 1);
    expect_child(false, go_on_outside);
    assert_int_equal(atomic_load(counted), before + 2);
    atomic_store(&embed_confinements, 0);
}

/* There is no child, so none is lost, and the state is as before. */
TEST(a_fork_that_fails_changes_nothing)
{
    _Atomic uint64_t *const counted =
        &embed_header()->dropped[EMBED_DROP_CHILDREN];
    const uint64_t before = atomic_load(counted);

    (void)state;
    expect_child(false, go_on_outside); /* _Fork() is resolved */
    atomic_store(&embed_confinements, 1);
    fork_fails = true;
    for (int inside = 0; inside < 2; inside++) {
        embed_inside = inside;
        assert_int_equal(_Fork(), -1);
        embed_inside = false;
        assert_int_equal(atomic_load(counted), before);
        assert_true(is_wiped_by_kernel());
    }
    fork_fails = false;
    atomic_store(&embed_confinements, 0);
}

/* A handler forks in the middle of a call of the recorder. That call may finish
 * in memory that is not the log, and nothing of it stays. */
TEST(a_child_inside_goes_on_beside_the_log_and_leaves_nothing)
{
    expect_child(true, go_on_inside);
}

/* A handler forks while the log is being opened: the child has no log. */
TEST(a_child_does_not_go_on_beginning)
{
    pid_t child;
    int status;

    (void)state;
    atomic_store(&embed_state->phase, EMBED_STARTING);
    embed_inside = true;
    child = _Fork();
    if (child == 0)
        _exit(atomic_load(&embed_state->phase) != EMBED_OFF);
    embed_inside = false;
    atomic_store(&embed_state->phase, EMBED_ON);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* Before the recorder has begun, a fork does nothing but fork. */
TEST(a_fork_before_the_log_is_a_fork)
{
    struct embed_state *const kept = embed_state;

    for (int inside = 0; inside < 2; inside++) {
        pid_t (*const ways[])(void) = {fork, _Fork};

        for (size_t i = 0; i < 2; i++) {
            pid_t child;
            int status;

            embed_state = NULL;
            embed_inside = inside;
            child = ways[i]();
            if (child == 0)
                _exit(embed_self.orphan || reclaimed != 0);
            embed_inside = false;
            embed_state = kept;
            assert_int_equal(waitpid(child, &status, 0), child);
            assert_int_equal(status, 0);
        }
    }
}

TEST(a_child_outside_begins_anew)
{
    (void)state;
    expect_child(false, go_on_outside);
    expect_child(true, go_on_inside); /* the parent's state has not changed */
}

int
main(void)
{
    return tests_run(open_log, NULL);
}
