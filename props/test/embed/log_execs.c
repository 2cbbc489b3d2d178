/* log_execs.c -- the execs of log_world.h: the real functions are stubs. */
#include <errno.h>
#include <setjmp.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log_world.h"
#include "recorder.h"
#include "unit_test.h"

enum { PATH_MOST = 400, SPAWNED = 7 };

static struct log_model *const model = &log_world.model;
static struct sim_rng *const rng = &log_world.rng;
static char path[PATH_MOST + 100];
static uint32_t path_bytes; /* that are logged */
static jmp_buf succeeded;

static struct {
    uint64_t offset;
    uint32_t image;
} noted;

/* What the next note adds to the model. */
static void
expect_note(uint32_t process, uint64_t ticks)
{
    noted.image = model->image;
    noted.offset = 0;
    if (!log_world.is_barred)
        noted.offset = log_model_exec(model, process, path, path_bytes, ticks);
}

static void
expect_taken_back(void)
{
    if (noted.offset != 0 && noted.image == model->image)
        log_model_change(model, noted.offset, EMBED_CANCELLED);
}

/* The exec fails; the note is taken back in this process or in a child. */
static int
real_exec(const char *file, char *const *argv, char *const *envp)
{
    (void)file, (void)argv, (void)envp;
    log_world_settle(); /* forked at the note */
    switch (sim_rng_below(rng, 8)) {
    case 0:
        longjmp(succeeded, 1);
    case 1:
        log_world_fork(LOG_WORLD_AT_LEAVE);
        log_world_settle();
        break;
    case 2:
        log_world_fork(LOG_WORLD_AT_ENTER);
        break;
    case 3:
        expect_taken_back();
        log_world_fork(LOG_WORLD_AT_LEAVE);
        break;
    default:
        log_world.is_barred = sim_rng_below(rng, 8) == 0;
        if (!log_world.is_barred)
            expect_taken_back();
    }
    errno = E2BIG;
    return -1;
}

static int
real_fexecve(int file, char *const *argv, char *const *envp)
{
    assert_int_equal(file, 3);
    return real_exec(NULL, argv, envp);
}

/* Time passes, and a handler may fork, so that the note is the child's. */
static int
real_spawn(pid_t *process, const char *file,
           const posix_spawn_file_actions_t *actions,
           const posix_spawnattr_t *attributes, char *const *argv,
           char *const *envp)
{
    const uint64_t before = log_world.now.ticks;

    (void)file, (void)actions, (void)attributes, (void)argv, (void)envp;
    if (sim_rng_below(rng, 4) == 0)
        return EAGAIN;
    *process = SPAWNED;
    log_world.now.ticks += 1000;
    log_world_fork((enum log_world_moment)sim_rng_below(rng, 3));
    expect_note(SPAWNED, before);
    return 0;
}

void
embed_resolve(void *function, const char *name, const char *version)
{
    int (*const exec)(const char *, char *const *, char *const *) = real_exec;
    int (*const by_file)(int, char *const *, char *const *) = real_fexecve;
    int (*const spawn)(
        pid_t *, const char *, const posix_spawn_file_actions_t *,
        const posix_spawnattr_t *, char *const *, char *const *) = real_spawn;

    (void)version;
    if (strncmp(name, "posix_spawn", 11) == 0)
        memcpy(function, &spawn, sizeof spawn);
    else if (strcmp(name, "fexecve") == 0)
        memcpy(function, &by_file, sizeof by_file);
    else
        memcpy(function, &exec, sizeof exec);
}

/* returns: -1, or 0 if the exec succeeded */
static int
exec_somehow(void)
{
    char *const arguments[] = {path, NULL};
    char *none[] = {NULL};

    if (setjmp(succeeded) != 0)
        return 0;
    switch (sim_rng_below(rng, 8)) {
    case 0:
        return execve(path, arguments, none);
    case 1:
        return execv(path, arguments);
    case 2:
        return execvpe(path, arguments, none);
    case 3:
        return execvp(path, arguments);
    case 4:
        return fexecve(3, arguments, none);
    case 5:
        return execl(path, path, NULL);
    case 6:
        return execlp(path, path, NULL);
    default:
        return execle(path, path, NULL, none);
    }
}

static void
spawn_somehow(void)
{
    char *const arguments[] = {path, NULL};
    pid_t process = 0;
    pid_t *const to = sim_rng_below(rng, 2) == 0 ? &process : NULL;
    int status;

    if (sim_rng_below(rng, 2) == 0)
        status = posix_spawn(to, path, NULL, NULL, arguments, environ);
    else
        status = posix_spawnp(to, path, NULL, NULL, arguments, environ);
    assert_true(status == EAGAIN ||
                (status == 0 && (to == NULL || process == SPAWNED)));
}

void
log_world_execute(void)
{
    const uint32_t length = sim_rng_below(rng, 4) == 0
                                ? PATH_MOST - 4 + sim_rng_below(rng, 9)
                                : sim_rng_below(rng, 70);

    for (uint32_t i = 0; i < length; i++)
        path[i] = (char)(1 + sim_rng_below(rng, 255));
    path[length] = '\0';
    path_bytes = length < PATH_MOST ? length : PATH_MOST;
    log_world.is_barred = sim_rng_below(rng, 16) == 0;
    if (sim_rng_below(rng, 3) == 0) {
        spawn_somehow();
    } else {
        if (!log_world.is_barred)
            log_world_fork((enum log_world_moment)sim_rng_below(rng, 3));
        expect_note((uint32_t)getpid(), log_world.now.ticks);
        errno = EDOM;
        if (exec_somehow() == -1)
            assert_int_equal(errno, E2BIG);
    }
    log_world.is_barred = false;
    log_world_settle();
}
