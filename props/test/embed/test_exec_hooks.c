/*
 * test_exec_hooks.c -- what the hooks of exec and posix_spawn note, before or
 * after the call itself; without a recorder. Letters: n a note, X the call, c a
 * note that is cancelled.
 */
#include <errno.h>
#include <spawn.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hooks.h"
#include "recorder.h"
#include "unit_test.h"

enum { CHILD = 77, PATH_MOST = 400 };

_Thread_local bool embed_inside;
_Atomic uint32_t embed_generation;

static char seen[16];
static bool is_entered, is_barred;
static uint64_t clock_ticks, noted_ticks, called_ticks;
static uint32_t noted_process;
static char noted_path[PATH_MOST + 1];
static uint64_t note_at;
static int resolved;
static bool is_hidden; /* the constructor of exec.c finds nothing */
static const char *path_called;
static char *const *argv_called;
static char words_called[5][8]; /* a list's array is gone after the call */
static char *const *envp_called;
static int file_called, spawn_status;
static const void *actions_called, *attributes_called;

static void
note(char what)
{
    const size_t count = strlen(seen);

    assert_true(count < sizeof seen - 1);
    seen[count] = what;
    errno = 88;
}

bool
embed_enter(void)
{
    assert_false(is_entered);
    is_entered = !is_barred;
    return is_entered;
}

void
embed_leave(void)
{
    assert_true(is_entered);
    is_entered = false;
    errno = 88;
}

uint64_t
embed_ticks(void)
{
    return ++clock_ticks;
}

uint64_t
embed_log_exec(uint32_t process, const char *path, uint32_t bytes,
               uint64_t ticks)
{
    assert_true(is_entered);
    note('n');
    noted_process = process;
    noted_ticks = ticks;
    assert_true(bytes <= PATH_MOST);
    memset(noted_path, 0, sizeof noted_path);
    memcpy(noted_path, path, bytes);
    return note_at;
}

void
embed_log_change(uint64_t offset, enum embed_kind kind)
{
    assert_true(is_entered);
    note(offset == 8 && kind == EMBED_CANCELLED ? 'c' : '?');
}

/* ---- the real functions ---- */

static int
real_exec(const char *path, char *const argv[], char *const envp[])
{
    assert_false(is_entered);
    note('X');
    path_called = path;
    argv_called = argv;
    envp_called = envp;
    memset(words_called, 0, sizeof words_called);
    for (size_t i = 0; argv != NULL && argv[i] != NULL; i++)
        strcpy(words_called[i], argv[i]);
    called_ticks = ++clock_ticks;
    errno = ENOENT;
    return -1;
}

static int
real_fexecve(int file, char *const argv[], char *const envp[])
{
    file_called = file;
    return real_exec(NULL, argv, envp);
}

static int
real_spawn(pid_t *process, const char *path,
           const posix_spawn_file_actions_t *actions,
           const posix_spawnattr_t *attributes, char *const argv[],
           char *const envp[])
{
    actions_called = actions;
    attributes_called = attributes;
    *process = CHILD;
    real_exec(path, argv, envp);
    errno = 5;
    return spawn_status;
}

void
embed_resolve(void *function, const char *name, const char *version)
{
    static const struct {
        const char *name;
        void (*real)(void);
    } rows[] = {
        {"execve", (void (*)(void))real_exec},
        {"execvpe", (void (*)(void))real_exec},
        {"fexecve", (void (*)(void))real_fexecve},
        {"posix_spawn", (void (*)(void))real_spawn},
        {"posix_spawnp", (void (*)(void))real_spawn},
    };

    (void)version;
    assert_true(embed_inside); /* dlsym() may allocate */
    resolved++;
    if (strcmp(name, "execve") == 0) /* the last: it says that all are known */
        assert_int_equal(resolved % 5, 0);
    if (is_hidden)
        return;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, name) == 0)
            memcpy(function, &rows[i].real, sizeof rows[i].real);
}

/* ---- the tests ---- */

static char words[3][8] = {"first", "second", "third"};
static char *const arguments[] = {words[0], words[1], words[2], NULL};
static char *const variables[] = {words[2], NULL};

static int
set_out(void **state)
{
    (void)state;
    memset(seen, 0, sizeof seen);
    is_barred = false;
    note_at = 8;
    spawn_status = 0;
    errno = 5;
    return 0;
}

/* The constructor has found the functions; they are not looked up again. */
TEST(the_functions_are_found_once)
{
    (void)state;
    assert_int_equal(resolved, 5);
    assert_false(embed_inside);
    (void)execve("x", arguments, variables);
    assert_int_equal(resolved, 5);
}

/* Before all constructors. */
__attribute__((constructor(101))) static void
hide(void)
{
    is_hidden = getenv("FIRST_CALL") != NULL;
}

/* Make the call of that number, the first one. returns: did it find the real
 * function? */
static bool
call_first(int number)
{
    pid_t process;

    is_hidden = false;
    switch (number) {
    case 0:
        execve("x", arguments, variables);
        break;
    case 1:
        execvpe("x", arguments, variables);
        break;
    case 2:
        fexecve(3, arguments, variables);
        break;
    case 3:
        posix_spawn(&process, "x", NULL, NULL, arguments, variables);
        break;
    default:
        posix_spawnp(&process, "x", NULL, NULL, arguments, variables);
    }
    return strchr(seen, 'X') != NULL && !embed_inside;
}

/* Any call may come before the constructor: another library's makes it. */
TEST(the_first_call_finds_the_functions)
{
    char *const own[] = {words[0], NULL};

    (void)state;
    for (int i = 0; i < 5; i++) {
        const char number[] = {(char)('0' + i), '\0'};
        const pid_t child = fork();
        int ended;

        if (child == 0) {
            setenv("FIRST_CALL", number, 1);
            syscall(SYS_execve, "/proc/self/exe", own, environ);
            _exit(2);
        }
        assert_int_equal(waitpid(child, &ended, 0), child);
        assert_int_equal(ended, 0);
    }
}

static void
expect_arguments(int got, char *const *envp, const char *last)
{
    assert_int_equal(got, -1);
    assert_int_equal(errno, ENOENT);
    assert_string_equal(seen, "nXc");
    assert_string_equal(noted_path, "x");
    assert_int_equal(noted_process, getpid());
    assert_true(noted_ticks < called_ticks);
    assert_string_equal(path_called, "x");
    assert_ptr_equal(envp_called, envp);
    assert_string_equal(words_called[0], "first");
    assert_string_equal(words_called[1], "second");
    assert_string_equal(words_called[2], last);
    assert_string_equal(words_called[3], "");
    set_out(NULL);
}

/* The hooks turn a list of arguments into an array, and end it with NULL. */
TEST_WITH(set_out, NULL, arguments_are_handed_on)
{
    (void)state;
    expect_arguments(execv("x", arguments), environ, "third");
    expect_arguments(execve("x", arguments, variables), variables, "third");
    expect_arguments(execvp("x", arguments), environ, "third");
    expect_arguments(execvpe("x", arguments, variables), variables, "third");
    expect_arguments(execl("x", "first", "second", "l", NULL), environ, "l");
    expect_arguments(execlp("x", "first", "second", "lp", NULL), environ, "lp");
    expect_arguments(execle("x", "first", "second", "le", NULL, variables),
                     variables, "le");
}

/* fexecve() has no path, so the program is noted by its first argument. */
TEST_WITH(set_out, NULL, a_file_that_is_executed_is_noted)
{
    int (*volatile execute)(int, char *const *, char *const *) = fexecve;
    static char *const none[] = {NULL};

    assert_int_equal(fexecve(3, arguments, variables), -1);
    assert_int_equal(errno, ENOENT);
    assert_string_equal(seen, "nXc");
    assert_string_equal(noted_path, "first");
    assert_int_equal(file_called, 3);
    assert_ptr_equal(argv_called, arguments);
    assert_ptr_equal(envp_called, variables);
    set_out(state);
    assert_int_equal(fexecve(3, none, variables), -1);
    assert_string_equal(noted_path, "?");
    assert_int_equal(execute(3, NULL, variables), -1); /* EINVAL */
    assert_null(argv_called);
}

/* The process id is known only after the spawn, and the new process may log
 * before that; so the note has the time from before the call. */
TEST_WITH(set_out, NULL, what_is_executed_is_noted_before)
{
    const posix_spawn_file_actions_t actions;
    const posix_spawnattr_t attributes;
    int (*const calls[])(pid_t *, const char *,
                         const posix_spawn_file_actions_t *,
                         const posix_spawnattr_t *, char *const *,
                         char *const *) = {posix_spawn, posix_spawnp};

    for (size_t i = 0; i < 2; i++) {
        pid_t process = 0;

        set_out(state);
        assert_int_equal(calls[i](&process, "x", &actions, &attributes,
                                  arguments, variables),
                         0);
        assert_string_equal(seen, "Xn");
        assert_true(noted_ticks < called_ticks);
        assert_int_equal(process, CHILD);
        assert_int_equal(noted_process, CHILD);
        assert_string_equal(noted_path, "x");
        assert_int_equal(errno, 5);
        assert_string_equal(path_called, "x");
        assert_ptr_equal(actions_called, &actions);
        assert_ptr_equal(attributes_called, &attributes);
        assert_ptr_equal(argv_called, arguments);
        assert_ptr_equal(envp_called, variables);
        noted_process = 0;
        assert_int_equal(calls[i](NULL, "x", NULL, NULL, arguments, variables),
                         0);
        assert_int_equal(noted_process, CHILD);
        set_out(state);
        spawn_status = ENOENT;
        assert_int_equal(
            calls[i](&process, "x", NULL, NULL, arguments, variables), ENOENT);
        assert_string_equal(seen, "X");
    }
}

TEST_WITH(set_out, NULL, what_was_not_noted_is_not_taken_back)
{
    int (*volatile execute)(const char *, char *const *, char *const *) =
        execve;
    static char longest[PATH_MOST + 100];

    is_barred = true; /* the process has no log */
    assert_int_equal(execve("x", arguments, variables), -1);
    assert_string_equal(seen, "X");
    assert_int_equal(errno, ENOENT);
    set_out(state);
    note_at = 0; /* the log had no room */
    assert_int_equal(execve("x", arguments, variables), -1);
    assert_string_equal(seen, "nX");
    set_out(state);
    assert_int_equal(execute(NULL, arguments, variables), -1); /* EFAULT */
    assert_string_equal(seen, "X");
    set_out(state);
    memset(longest, 'x', sizeof longest - 1);
    assert_int_equal(execve(longest, arguments, variables), -1);
    assert_string_equal(path_called, longest);
    assert_int_equal(strlen(noted_path), PATH_MOST);
}

int
main(void)
{
    if (getenv("FIRST_CALL") != NULL)
        _exit(!call_first(atoi(getenv("FIRST_CALL"))));
    return tests_run(NULL, NULL);
}
