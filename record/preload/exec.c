/*
 * exec.c -- logs each program that a process is about to execute. If the new
 * image then logs nothing, it runs without the recorder.
 *
 * Like exec, this is safe in signal handlers and in the child of a vfork. That
 * child shares its parent's memory, and writes into its parent's log.
 *
 * Programs that libc itself executes are not logged.
 */
#include "record/preload/recorder.h"

#include <errno.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 400 };

static struct {
    int (*execve)(const char *, char *const[], char *const[]);
    int (*execvpe)(const char *, char *const[], char *const[]);
    int (*fexecve)(int, char *const[], char *const[]);
    int (*spawn)(pid_t *, const char *, const posix_spawn_file_actions_t *,
                 const posix_spawnattr_t *, char *const[], char *const[]);
    int (*spawnp)(pid_t *, const char *, const posix_spawn_file_actions_t *,
                  const posix_spawnattr_t *, char *const[], char *const[]);
} real;

static void
resolve_all(void)
{
    embed_resolve(&real.execvpe, "execvpe", NULL);
    embed_resolve(&real.fexecve, "fexecve", NULL);
    embed_resolve(&real.spawn, "posix_spawn", NULL);
    embed_resolve(&real.spawnp, "posix_spawnp", NULL);
    embed_resolve(&real.execve, "execve", NULL);
}

/* Run as a constructor, or sooner by the first exec. */
__attribute__((constructor)) static void
resolve(void)
{
    const bool inside = embed_inside;

    if (real.execve != NULL)
        return;
    embed_inside = true;
    resolve_all();
    embed_inside = inside;
}

/*
 * The headers declare that some pointers are never NULL, so compilers remove
 * our checks. If a program does pass NULL, it must get the system's error.
 */
static const void *
maybe_null(const void *pointer)
{
    __asm__("" : "+r"(pointer));
    return pointer;
}

/* What take_back() needs. A signal handler may fork during the exec, and the
 * child has another log, so the image that the offset belongs to is kept. */
struct note {
    uint64_t offset; /* of the record; 0: none */
    uint32_t image;  /* embed_generation */
};

/*
 * in:      ticks, of the exec; 0: now. Of the logs of this process, those that
 *          begin later belong to the executed program
 * returns: the note, for take_back() if the exec fails
 */
static struct note
note(const char *path, pid_t process, uint64_t ticks)
{
    struct note noted = {0, 0};
    const int saved_errno = errno;

    if (maybe_null(path) == NULL || !embed_enter())
        return noted;
    noted.image = atomic_load(&embed_generation);
    noted.offset = embed_log_exec((uint32_t)process, path,
                                  (uint32_t)strnlen(path, PATH_BYTES),
                                  ticks != 0 ? ticks : embed_ticks());
    embed_leave();
    errno = saved_errno;
    return noted;
}

static int
take_back(struct note noted)
{
    const int saved_errno = errno;

    if (noted.offset != 0 && embed_enter()) {
        if (noted.image == atomic_load(&embed_generation))
            embed_log_change(noted.offset, EMBED_CANCELLED);
        embed_leave();
    }
    errno = saved_errno;
    return -1;
}

EMBED_HOOK int
execve(const char *path, char *const argv[], char *const envp[])
{
    const struct note noted = note(path, getpid(), 0);

    resolve();
    real.execve(path, argv, envp);
    return take_back(noted);
}

EMBED_HOOK int
execv(const char *path, char *const argv[])
{
    return execve(path, argv, environ);
}

EMBED_HOOK int
execvpe(const char *file, char *const argv[], char *const envp[])
{
    const struct note noted = note(file, getpid(), 0);

    resolve();
    real.execvpe(file, argv, envp);
    return take_back(noted);
}

EMBED_HOOK int
execvp(const char *file, char *const argv[])
{
    return execvpe(file, argv, environ);
}

EMBED_HOOK int
fexecve(int file, char *const argv[], char *const envp[])
{
    const char *const name =
        maybe_null(argv) != NULL && argv[0] != NULL ? argv[0] : "?";
    const struct note noted = note(name, getpid(), 0);

    resolve();
    real.fexecve(file, argv, envp);
    return take_back(noted);
}

/*
 * Make an array of the arguments of execl() and its kin, on the stack, as libc
 * does. Afterwards `end` is after the NULL that ends the arguments.
 */
#define LIST(argv, first, end)                               \
    va_list end;                                             \
    size_t argv##_count = 1;                                 \
    char **argv;                                             \
                                                             \
    va_start(end, first);                                    \
    for (const char *at = first; at != NULL; argv##_count++) \
        at = va_arg(end, const char *);                      \
    va_end(end);                                             \
    argv = __builtin_alloca(argv##_count * sizeof *argv);    \
    va_start(end, first);                                    \
    memcpy(argv, &first, sizeof *argv);                      \
    for (size_t i = 1; i < argv##_count; i++)                \
    argv[i] = va_arg(end, char *)

EMBED_HOOK int
execl(const char *path, const char *first, ...)
{
    LIST(argv, first, end);
    va_end(end);
    return execve(path, argv, environ);
}

EMBED_HOOK int
execlp(const char *file, const char *first, ...)
{
    LIST(argv, first, end);
    va_end(end);
    return execvpe(file, argv, environ);
}

EMBED_HOOK int
execle(const char *path, const char *first, ...)
{
    char *const *envp;

    LIST(argv, first, end);
    envp = va_arg(end, char *const *);
    va_end(end);
    return execve(path, argv, envp);
}

/* The new process runs before the call returns, so its log may begin first. */
static int
note_spawned(int status, const char *path, const pid_t *process, uint64_t ticks)
{
    if (status == 0 && process != NULL)
        note(path, *process, ticks);
    return status;
}

EMBED_HOOK int
posix_spawn(pid_t *process, const char *path,
            const posix_spawn_file_actions_t *actions,
            const posix_spawnattr_t *attributes, char *const argv[],
            char *const envp[])
{
    const uint64_t ticks = embed_ticks();
    pid_t own;
    pid_t *const to = process != NULL ? process : &own;

    resolve();
    return note_spawned(real.spawn(to, path, actions, attributes, argv, envp),
                        path, to, ticks);
}

EMBED_HOOK int
posix_spawnp(pid_t *process, const char *file,
             const posix_spawn_file_actions_t *actions,
             const posix_spawnattr_t *attributes, char *const argv[],
             char *const envp[])
{
    const uint64_t ticks = embed_ticks();
    pid_t own;
    pid_t *const to = process != NULL ? process : &own;

    resolve();
    return note_spawned(real.spawnp(to, file, actions, attributes, argv, envp),
                        file, to, ticks);
}
