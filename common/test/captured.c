/* captured.c -- see captured.h. */
#include "common/test/captured.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static _Noreturn void
be_command(enum cli_exit (*command)(int, char **), char **argv, int input,
           int output, unsigned seconds)
{
    int argc = 0;
    enum cli_exit exit_code;

    if (input < 0)
        input = open("/dev/null", O_RDONLY);
    if (dup2(input, 0) < 0 || dup2(output, 1) < 0 || dup2(output, 2) < 0)
        _exit(126);
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    signal(SIGALRM, SIG_DFL);
    alarm(seconds);
    while (argv[argc] != NULL)
        argc++;
    exit_code = command(argc, argv);
    exit(fflush(stdout) == 0 ? (int)exit_code : 126);
}

bool
captured_read(struct captured *captured, int output)
{
    const off_t bytes = lseek(output, 0, SEEK_END);

    captured->text = bytes < 0 ? NULL : malloc((size_t)bytes + 1);
    if (captured->text == NULL ||
        pread(output, captured->text, (size_t)bytes, 0) != bytes)
        return false;
    captured->text_bytes = (size_t)bytes;
    captured->text[bytes] = '\0';
    return true;
}

bool
captured_run(struct captured *captured, enum cli_exit (*command)(int, char **),
             char **argv, int input, unsigned seconds)
{
    const int output = memfd_create("output", MFD_CLOEXEC);
    struct rusage usage;
    int status = 0;
    pid_t child;
    bool good;

    *captured = (struct captured){.exit_code = -1};
    if (output < 0)
        return false;
    fflush(NULL);
    child = fork();
    if (child == 0)
        be_command(command, argv, input, output, seconds);
    good = child > 0 && wait4(child, &status, 0, &usage) == child &&
           captured_read(captured, output);
    close(output);
    if (!good)
        return false;
    captured->peak_bytes = (size_t)usage.ru_maxrss * 1024;
    if (WIFEXITED(status))
        captured->exit_code = WEXITSTATUS(status);
    else
        captured->signal = WTERMSIG(status);
    return true;
}

void
captured_free(struct captured *captured)
{
    free(captured->text);
    captured->text = NULL;
}
