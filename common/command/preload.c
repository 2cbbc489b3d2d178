/* preload.c -- see preload.h. */
#include "common/command/preload.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/escape.h"
#include "common/output.h"
#include "common/command/preloaded_program.h"

enum { PROBE_BYTES_MAX = 65536 };

bool cli_preload_ignores_children;

static volatile sig_atomic_t child_process;
static struct sigaction outer_signals[5]; /* as they were before the command */
static bool is_held;

static bool
complain(const struct cli_preload *preload, const char *what,
         const char *reason)
{
    sim_escape_line(stderr, "profsim %s: %s: %s", preload->verb, what, reason);
    return false;
}

bool
cli_preload_find(char *path, size_t path_bytes,
                 const struct cli_preload *preload)
{
    static const char *const folders[] = {"", "../lib/profsim/", "../lib/"};
    const char *given = getenv(preload->variable);
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
        for (i = 0; !found && i < sizeof folders / sizeof *folders; i++) {
            int length = snprintf(path, path_bytes, "%s/%s%s", own, folders[i],
                                  preload->library);

            if (length < 0 || (size_t)length >= path_bytes)
                return complain(preload, own, "its path is too long");
            found = access(path, R_OK) == 0;
        }
    }
    if (!found)
        return complain(preload, path, "the library is not there");
    /* LD_PRELOAD knows no quotes. */
    if (strpbrk(path, " :\t\n") != NULL)
        return complain(preload, path, "its path has a space or a colon");
    return true;
}

void
cli_preload_add(const char *path)
{
    const char *const others = getenv("LD_PRELOAD");
    char *both = NULL;

    if (others == NULL || *others == '\0')
        setenv("LD_PRELOAD", path, 1);
    else if (asprintf(&both, "%s:%s", path, others) > 0)
        setenv("LD_PRELOAD", both, 1);
    free(both);
}

static void
forward(int signal_number)
{
    if (child_process > 0)
        kill((pid_t)child_process, signal_number);
}

/* What the library does not fit into must run, too. */
static bool
fits(const struct cli_preload *preload, const struct cli_program *program)
{
    if (program->is_foreign) {
        sim_escape_line(stderr,
                        "profsim %s: %s is of another C library (its loader is "
                        "%s): it runs, and nothing of it is seen",
                        preload->verb, program->path, program->loader);
        return false;
    }
    if (program->has_asan)
        sim_escape_line(stderr,
                        "profsim %s: %s has AddressSanitizer, whose allocator "
                        "is seen, with the bytes that the program asks for",
                        preload->verb, program->path);
    return true;
}

/* AddressSanitizer ends a program in which a library comes before its own. */
static void
let_asan_be_second(void)
{
    const char *const others = getenv("ASAN_OPTIONS");
    char *both = NULL;

    if (asprintf(&both, "%s%sverify_asan_link_order=0",
                 others != NULL ? others : "", others != NULL ? ":" : "") > 0)
        setenv("ASAN_OPTIONS", both, 1);
    free(both);
}

/* returns: the child, or -1; *status_pipe tells errno if exec fails */
static pid_t
start_command(const struct cli_preload *preload, const char *path,
              char **command, int *status_pipe)
{
    struct cli_program program;
    int ends[2];
    pid_t child;
    bool is_to_load;

    cli_program_look(&program, command[0]);
    is_to_load = fits(preload, &program);
    if (pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    fflush(NULL);
    child = fork();
    if (child == 0) {
        int reason;

        if (is_to_load) {
            cli_preload_add(path);
            preload->set_environment(preload->context);
        }
        if (is_to_load && program.has_asan)
            let_asan_be_second();
        if (cli_preload_ignores_children)
            signal(SIGCHLD, SIG_IGN);
        execvp(command[0], command);
        reason = errno;
        _exit(write(ends[1], &reason, sizeof reason) < 0);
    }
    close(ends[1]);
    *status_pipe = ends[0];
    return child;
}

static const int held_signals[] = {SIGINT, SIGQUIT, SIGPIPE, SIGTERM, SIGHUP};
#define HELD_COUNT (sizeof held_signals / sizeof *held_signals)

/*
 * The terminal sends ^C to the command, too, so this process ignores it;
 * SIGTERM and SIGHUP are passed on to the command. SIGPIPE is ignored, because
 * the reader of our messages may be gone before we have cleaned up.
 */
static void
hold_signals(void)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    struct sigaction pass = {.sa_handler = forward, .sa_flags = SA_RESTART};
    size_t i;

    for (i = 0; i < HELD_COUNT; i++)
        sigaction(held_signals[i], i < 3 ? &ignore : &pass, &outer_signals[i]);
}

void
cli_preload_ended(void)
{
    for (size_t i = 0; is_held && i < HELD_COUNT; i++)
        if (held_signals[i] != SIGPIPE)
            sigaction(held_signals[i], &outer_signals[i], NULL);
}

void
cli_preload_let_go(void)
{
    size_t i;

    for (i = 0; is_held && i < HELD_COUNT; i++)
        sigaction(held_signals[i], &outer_signals[i], NULL);
}

enum cli_exit
cli_preload_run(const struct cli_preload *preload, const char *path,
                char **command, int *status)
{
    int reason = 0;
    int from = -1;
    pid_t child;

    child = start_command(preload, path, command, &from);
    if (child < 0) {
        complain(preload, command[0], strerror(errno));
        return CLI_RECORD;
    }
    child_process = (sig_atomic_t)child;
    hold_signals();
    is_held = true;
    if (read(from, &reason, sizeof reason) != (ssize_t)sizeof reason)
        reason = 0;
    close(from);
    waitpid(child, status, 0); /* handlers are those of hold_signals() */
    child_process = 0;
    if (reason == 0)
        return CLI_OK;
    complain(preload, command[0], strerror(reason));
    return reason == ENOENT ? CLI_NOT_FOUND : CLI_NOT_EXECUTABLE;
}

const char *
cli_preload_obstacle(const char *folder, size_t bytes_count)
{
    static const char bytes[PROBE_BYTES_MAX];
    char path[PATH_MAX];
    const struct props_output output = {.path = path};
    struct prof_file file;
    struct prof_sink sink;
    enum prof_status status;

    snprintf(path, sizeof path, "%s/probe", folder);
    if (props_output_begin(&file, &output) != PROF_OK)
        return prof_file_reason(&file);
    sink = prof_file_sink(&file);
    status = sink.write(sink.context, bytes, bytes_count);
    (void)!props_output_end(&file, PROF_ERR_SINK); /* leave nothing behind */
    return status == PROF_OK ? NULL : prof_file_reason(&file);
}

void
cli_preload_report_end(const struct cli_preload *preload, int status)
{
    if (WIFSIGNALED(status))
        fprintf(stderr, "profsim %s: the command was ended by signal %d\n",
                preload->verb, WTERMSIG(status));
    else
        fprintf(stderr, "profsim %s: the command exited with %d\n",
                preload->verb, WEXITSTATUS(status));
}

enum cli_exit
cli_preload_end_as(int status)
{
    const struct rlimit no_core = {.rlim_cur = 0, .rlim_max = 0};
    sigset_t one;

    if (!WIFSIGNALED(status))
        return (enum cli_exit)WEXITSTATUS(status);
    fflush(NULL);
    setrlimit(RLIMIT_CORE, &no_core); /* the command has its core file */
    signal(WTERMSIG(status), SIG_DFL);
    sigemptyset(&one);
    sigaddset(&one, WTERMSIG(status));
    sigprocmask(SIG_UNBLOCK, &one, NULL);
    raise(WTERMSIG(status));
    return (enum cli_exit)(128 + WTERMSIG(status));
}
