/*
 * record.c -- `profsim record`: run a command under the recorder.
 *
 *      record -- COMMAND           LD_PRELOAD=libprofsim-record.so
 *        |                         PROFSIM_SPOOL=<private directory>
 *        +-- spool per image  -->  FILE, FILE.2, ... (images.c)
 *
 * The command keeps its stdio, its arguments and its exit status; what there is
 * to say goes to stderr, after it has ended. While it runs, ^C is its affair;
 * we stay to save what it has done.
 */
#include "record.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "escape.h"
#include "exit.h"
#include "images.h"
#include "prof/file.h"
#include "record_options.h"
#include "spool.h"

#define LIBRARY "libprofsim-record.so"

static volatile sig_atomic_t child_process;
static struct sigaction outer_signals[5]; /* as they were before the command */

static bool
complain(const char *what, const char *reason)
{
    sim_escape_line(stderr, "profsim record: %s: %s", what, reason);
    return false;
}

/* returns: false, reported, if the joined path is too long */
static bool
join(char *path, size_t path_bytes, const char *directory, const char *name)
{
    int length = snprintf(path, path_bytes, "%s/%s", directory, name);

    if (length >= 0 && (size_t)length < path_bytes)
        return true;
    return complain(name, "its path is too long");
}

/*
 * The recorder lies where PROFSIM_RECORDER says, next to this program (as it
 * was built), or in ../lib/profsim from there (as it was installed).
 */
static bool
find_library(char *path, size_t path_bytes)
{
    static const char *const places[] = {LIBRARY, "../lib/profsim/" LIBRARY};
    const char *given = getenv("PROFSIM_RECORDER");
    char own[PATH_MAX];
    char *slash;
    ssize_t got;
    bool found;
    size_t i;

    if (given != NULL) {
        snprintf(path, path_bytes, "%s", given);
        found = access(path, R_OK) == 0;
    } else {
        got = readlink("/proc/self/exe", own, sizeof own - 1);
        own[got > 0 ? got : 0] = '\0';
        slash = strrchr(own, '/');
        if (slash != NULL)
            *slash = '\0';
        found = false;
        for (i = 0; !found && i < sizeof places / sizeof *places; i++) {
            if (!join(path, path_bytes, own, places[i]))
                return false;
            found = access(path, R_OK) == 0;
        }
    }
    if (!found)
        return complain(path, "the recorder is not there");
    /* LD_PRELOAD knows no quotes. */
    if (strpbrk(path, " :\t\n") != NULL)
        return complain(path, "the recorder's path has a space or a colon");
    return true;
}

/* Say so before the command runs, not after. */
static bool
can_write(const char *output)
{
    struct prof_file file;

    if (prof_file_check(&file, output) == PROF_OK)
        return true;
    return complain(output, prof_file_reason(&file));
}

static bool
make_spool_directory(char *path, size_t path_bytes)
{
    const char *base = getenv("TMPDIR");

    if (base == NULL || *base != '/')
        base = "/tmp";
    /* The recorder has room for 400 bytes. */
    if (snprintf(path, path_bytes, "%s/profsim-XXXXXX", base) > 390)
        return complain(base, "too long a path for temporary files");
    if (mkdtemp(path) == NULL)
        return complain(path, strerror(errno));
    return true;
}

static void
set_environment(const struct cli_record_options *options, const char *library,
                const char *spool)
{
    const char *others = getenv("LD_PRELOAD");
    char text[2 * PATH_MAX];
    struct stat status;

    snprintf(text, sizeof text, "%s%s%s", library,
             others != NULL && *others != '\0' ? ":" : "",
             others != NULL ? others : "");
    setenv("LD_PRELOAD", text, 1);
    setenv(EMBED_ENV_SPOOL, spool, 1);
    if (stat(spool, &status) == 0) {
        snprintf(text, sizeof text, "%" PRIu64, (uint64_t)status.st_dev);
        setenv(EMBED_ENV_DEVICE, text, 1);
        snprintf(text, sizeof text, "%" PRIu64, (uint64_t)status.st_ino);
        setenv(EMBED_ENV_INODE, text, 1);
    }
    snprintf(text, sizeof text, "%" PRIu64, options->limit_bytes);
    setenv(EMBED_ENV_LIMIT, text, 1);
    snprintf(text, sizeof text, "%" PRIu64, options->depth);
    setenv(EMBED_ENV_DEPTH, text, 1);
    setenv(EMBED_ENV_FRAMES, options->by_frames ? "1" : "0", 1);
}

static void
forward(int signal_number)
{
    if (child_process > 0)
        kill((pid_t)child_process, signal_number);
}

/* returns: the child, or -1; *status_pipe tells errno if exec fails */
static pid_t
start_command(const struct cli_record_options *options, const char *library,
              const char *spool, int *status_pipe)
{
    int ends[2];
    pid_t child;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    fflush(NULL);
    child = fork();
    if (child == 0) {
        int reason;

        set_environment(options, library, spool);
        execvp(options->command[0], options->command);
        reason = errno;
        if (write(ends[1], &reason, sizeof reason) < 0)
            _exit(126);
        _exit(127);
    }
    close(ends[1]);
    *status_pipe = ends[0];
    return child;
}

static const int held_signals[] = {SIGINT, SIGQUIT, SIGPIPE, SIGTERM, SIGHUP};
#define HELD_COUNT (sizeof held_signals / sizeof *held_signals)

/*
 * ^C is for the command; a request to end is handed on to it. Whoever reads
 * what we say may be gone before we have cleared up.
 */
static void
hold_signals(struct sigaction *old)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    struct sigaction pass = {.sa_handler = forward, .sa_flags = SA_RESTART};
    size_t i;

    for (i = 0; i < HELD_COUNT; i++)
        sigaction(held_signals[i], i < 3 ? &ignore : &pass, &old[i]);
}

static void
let_signals_go(const struct sigaction *old)
{
    size_t i;

    for (i = 0; i < HELD_COUNT; i++)
        sigaction(held_signals[i], &old[i], NULL);
}

/*
 * Run the command to its end, and hold signals from then on.
 *
 * returns: CLI_OK if it was run, whatever came of it; else why not
 */
static enum cli_exit
run_command(const struct cli_record_options *options, const char *library,
            const char *spool, pid_t *child, int *status)
{
    int reason = 0;
    int from = -1;

    *child = start_command(options, library, spool, &from);
    if (*child < 0) {
        complain(options->command[0], strerror(errno));
        return CLI_RECORD;
    }
    child_process = (sig_atomic_t)*child;
    hold_signals(outer_signals);
    if (read(from, &reason, sizeof reason) != (ssize_t)sizeof reason)
        reason = 0;
    close(from);
    while (waitpid(*child, status, 0) < 0 && errno == EINTR)
        continue;
    child_process = 0;
    if (reason == 0)
        return CLI_OK;
    complain(options->command[0], strerror(reason));
    return reason == ENOENT ? CLI_NOT_FOUND : CLI_NOT_EXECUTABLE;
}

/* What was logged becomes recordings, also if one of them fails. */
static bool
finish(const char *folder, const struct cli_record_options *options)
{
    struct cli_images images;
    bool good = cli_images_read(&images, folder);

    if (good && images.count == 0)
        good = complain(options->command[0],
                        "did not load the recorder (statically linked, "
                        "set-uid, out of disk, or under a limit of its "
                        "address space or files?)");
    else if (good)
        good = cli_images_save(&images, options->output, options->images);
    cli_images_remove(&images);
    cli_images_release(&images);
    return good;
}

/*
 * End as the command did: whoever waits for us sees its code or its signal.
 *
 * returns: its code, or 128 and the signal if that spares us (process 1 of a
 *          container is not ended by its own signals)
 */
static enum cli_exit
end_as(int status)
{
    const struct rlimit no_core = {.rlim_cur = 0, .rlim_max = 0};
    sigset_t one;

    if (!WIFSIGNALED(status))
        return (enum cli_exit)WEXITSTATUS(status);
    fflush(NULL);
    setrlimit(RLIMIT_CORE, &no_core); /* the command has left its own */
    signal(WTERMSIG(status), SIG_DFL);
    sigemptyset(&one);
    sigaddset(&one, WTERMSIG(status));
    sigprocmask(SIG_UNBLOCK, &one, NULL);
    raise(WTERMSIG(status));
    return (enum cli_exit)(128 + WTERMSIG(status));
}

static void
tell_lost(int status)
{
    if (WIFSIGNALED(status))
        fprintf(stderr, "profsim record: the command was ended by signal %d\n",
                WTERMSIG(status));
    else
        fprintf(stderr, "profsim record: the command exited with %d\n",
                WEXITSTATUS(status));
}

enum cli_exit
cli_record(int argc, char **argv)
{
    struct cli_record_options options;
    char library[PATH_MAX];
    char spool[PATH_MAX];
    pid_t root = -1;
    int status = 0;
    enum cli_exit run;
    bool good;
    enum cli_exit wrong;

    if (!cli_record_options(&options, argc, argv, &wrong))
        return wrong;
    if (!can_write(options.output) || !find_library(library, sizeof library) ||
        !make_spool_directory(spool, sizeof spool))
        return CLI_RECORD;
    run = run_command(&options, library, spool, &root, &status);
    good = run == CLI_OK && finish(spool, &options);
    if (run != CLI_OK)
        rmdir(spool);
    if (root > 0)
        let_signals_go(outer_signals);
    if (run != CLI_OK)
        return run;
    if (good)
        return end_as(status);
    tell_lost(status);
    return CLI_RECORD;
}
