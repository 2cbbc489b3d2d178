/*
 * test_profile_rights.c -- what the profiler does before the program changes
 * its rights, with a stub of the agent. Each call is noted as a letter: s the
 * agent ends, a it begins, d a dump, X the program's system call.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "profile.h"
#include "unit_test.h"

enum { OWN = 100, CHILD = 101, PARENT = 99 };

static char seen[8];
static bool is_running;
static pid_t own, parent;
static long words[6];
static long status;

static void
note(char what)
{
    const size_t count = strlen(seen);

    assert_true(count < sizeof seen - 1);
    seen[count] = what;
}

/* Calls that the profiler makes must be inside, so that they are not recorded
 * as the program's. */
static void
note_inside(char what)
{
    int cancelling;

    note(what);
    assert_true(embed_inside);
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelling);
    assert_int_equal(cancelling, PTHREAD_CANCEL_DISABLE);
    errno = 77;
}

void
profile_agent_stop(void)
{
    note_inside('s');
}

static bool confined_at_start; /* then no agent starts */

void
profile_agent_start(void)
{
    note_inside('a');
    assert_int_equal(profile_is_confined(),
                     atomic_load(&profile.confinements) != 0);
    confined_at_start = profile_is_confined();
}

bool
profile_agent_is_running(void)
{
    return is_running;
}

/* These are the process's last files: the process counts as confined, so that
 * no thread begins an agent any more. */
void
profile_dump_files(void)
{
    note_inside('d');
    assert_true(profile_is_confined());
}

pid_t __wrap_getpid(void);
pid_t
__wrap_getpid(void)
{
    return own;
}

pid_t __wrap_getppid(void);
pid_t
__wrap_getppid(void)
{
    return parent;
}

long __wrap_syscall(long number, ...);
long
__wrap_syscall(long number, ...)
{
    const int count = number == SYS_prctl ? 5 : number == SYS_unshare ? 1 : 2;
    va_list list;

    note('X');
    assert_false(embed_inside && strlen(seen) > 1);
    words[0] = number;
    va_start(list, number);
    for (int i = 1; i <= count; i++)
        words[i] = va_arg(list, long);
    va_end(list);
    if (status != 0)
        errno = EPERM;
    return status;
}

static int
set_out(void **state)
{
    (void)state;
    memset(&profile, 0, sizeof profile);
    atomic_store(&profile.phase, PROFILE_ON);
    embed_inside = false;
    is_running = true;
    profile.process = own = OWN;
    parent = PARENT;
    status = 0;
    return 0;
}

EMBED_HOOK int capset(void *header, const void *data);

/* in: want, the letters; number, of the system's call */
static void
expect(int got, const char *want, long number)
{
    int cancelling;

    assert_string_equal(seen, want);
    assert_int_equal(words[0], number);
    assert_int_equal(got, status);
    assert_int_equal(errno, status != 0 ? EPERM : 5);
    (void)pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &cancelling);
    assert_int_equal(cancelling, PTHREAD_CANCEL_ENABLE);
    memset(seen, 0, sizeof seen);
    errno = 5;
}

static void
change_rights(const char *want)
{
    static char header, data;

    memset(seen, 0, sizeof seen);
    errno = 5;
    expect(prctl(PR_SET_KEEPCAPS, 1L, 2L, 3L, 4L), want, SYS_prctl);
    assert_int_equal((int)words[1], PR_SET_KEEPCAPS);
    for (int i = 2; i <= 5; i++)
        assert_int_equal(words[i], i - 1);
    expect(prctl(PR_SET_SECUREBITS, 1L, 2L, 3L, 4L), want, SYS_prctl);
    expect(capset(&header, &data), want, SYS_capset);
    assert_int_equal(words[1], (long)&header);
    assert_int_equal(words[2], (long)&data);
    expect(unshare(CLONE_NEWUSER), want, SYS_unshare);
    expect(unshare(CLONE_NEWUSER | CLONE_FS), want, SYS_unshare);
    assert_int_equal((int)words[1], CLONE_NEWUSER | CLONE_FS);
    expect(setns(3, 0), want, SYS_setns);
    expect(setns(3, CLONE_NEWUSER), want, SYS_setns);
    assert_int_equal((int)words[1], 3);
    assert_int_equal((int)words[2], CLONE_NEWUSER);
}

TEST_WITH(set_out, NULL, before_rights_change_the_agent_ends)
{
    (void)state;
    change_rights("sX");
    status = -1;
    change_rights("sX");
}

TEST_WITH(set_out, NULL, an_interrupted_profiler_is_left_alone)
{
    (void)state;
    embed_inside = true;
    change_rights("X");
    embed_inside = false;
    atomic_store(&profile.phase, PROFILE_STARTING);
    change_rights("X");
}

TEST_WITH(set_out, NULL, other_calls_are_the_programs)
{
    (void)state;
    memset(seen, 0, sizeof seen);
    errno = 5;
    for (int option = -1; option < 100; option++)
        if (option != PR_SET_KEEPCAPS && option != PR_SET_SECUREBITS &&
            option != PR_SET_SECCOMP && option != PR_SET_NO_NEW_PRIVS)
            expect(prctl(option, 0L, 0L, 0L, 0L), "X", SYS_prctl);
    for (int bit = 0; bit < 31; bit++)
        if (1 << bit != CLONE_NEWUSER) {
            expect(unshare(1 << bit), "X", SYS_unshare);
            expect(setns(3, 1 << bit), "X", SYS_setns);
        }
    expect(unshare(0), "X", SYS_unshare);
    assert_false(profile_is_confined());
}

/* What a child writes into its copy, its parent does not see. */
TEST(mapped_memory_is_zero_and_a_process_own)
{
    enum { BYTES = 10000 };
    char *const memory = profile_map(BYTES);
    int ended;
    pid_t child;

    (void)state;
    assert_non_null(memory);
    for (int i = 0; i < BYTES; i++)
        assert_int_equal(memory[i], 0);
    child = fork();
    if (child == 0) {
        memset(memory, 1, BYTES);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_int_equal(ended, 0);
    assert_int_equal(memory[0], 0);
    assert_null(profile_map(SIZE_MAX / 2));
}

/* in: confinements: how many are counted afterwards */
static void
confine(int option, const char *want, uint32_t confinements)
{
    memset(seen, 0, sizeof seen);
    errno = 5;
    expect(prctl(option, 1L, 0L, 0L, 0L), want, SYS_prctl);
    assert_int_equal(atomic_load(&profile.confinements), confinements);
    assert_false(embed_inside);
}

TEST_WITH(set_out, NULL, a_process_that_confines_itself_writes_its_last_files)
{
    static const int options[] = {PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP};

    for (int i = 0; i < 2; i++) {
        set_out(state);
        confine(options[i], "aX", 1); /* the agent writes the files */
        assert_false(confined_at_start);
        assert_true(profile_is_confined());
        set_out(state);
        is_running = false;
        confine(options[i], "adX", 1);
        confine(options[i], "aX", 2); /* the files were written before */
        status = -1;
        confine(options[i], "aX", 2);
        set_out(state);
        is_running = false;
        status = -1;
        confine(options[i], "adX", 0);
        assert_false(profile_is_confined());
    }
}

/* A child that has not sampled yet is usually about to execute a program. */
TEST_WITH(set_out, NULL, an_idle_child_writes_nothing)
{
    (void)state;
    is_running = false;
    atomic_store(&profile.is_idle_child, true);
    confine(PR_SET_SECCOMP, "X", 1);
    status = -1;
    confine(PR_SET_SECCOMP, "X", 1);
}

TEST_WITH(set_out, NULL, who_cannot_look_ahead_counts_nothing)
{
    (void)state;
    atomic_store(&profile.phase, PROFILE_OFF);
    confine(PR_SET_SECCOMP, "X", 0);
    status = -1;
    confine(PR_SET_SECCOMP, "X", 0);
}

/* A vfork()ed child shares its parent's memory: only the child is confined. */
TEST_WITH(set_out, NULL, a_child_of_vfork_confines_itself_alone)
{
    (void)state;
    own = CHILD;
    confine(PR_SET_SECCOMP, "X", 0);
    assert_true(profile_is_confined());
    status = -1;
    confine(PR_SET_SECCOMP, "X", 0);
    own = OWN;
    assert_false(profile_is_confined());
}

TEST_WITH(set_out, NULL, a_child_of_a_confined_process_is_confined)
{
    static const struct {
        pid_t confined;
        uint32_t before, after;
    } rows[] = {{0, 0, 0},
                {PARENT, 0, 1},
                {PARENT + 1, 0, 0},
                {PARENT, 2, 3},
                {0, 2, 2}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        set_out(state);
        own = CHILD;
        if (rows[i].confined == 0)
            parent = 0; /* the parent is outside the namespace */
        atomic_store(&profile.confined_child, rows[i].confined);
        atomic_store(&profile.confinements, rows[i].before);
        profile_rights_after_fork_child();
        assert_int_equal(atomic_load(&profile.confinements), rows[i].after);
        assert_int_equal(atomic_load(&profile.confined_child), 0);
        assert_int_equal(profile.process, CHILD);
        assert_int_equal(profile_is_confined(), rows[i].after != 0);
    }
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
