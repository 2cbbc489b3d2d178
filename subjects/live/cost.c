/*
 * cost.c -- run a command and write what it cost: CPU microseconds and the peak
 * resident KiB. It is a process of its own because the system's count includes
 * what was resident before an exec: an interpreter's memory would hide what a
 * small program takes.
 *
 * usage: cost FILE COMMAND...
 */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static long
microseconds(struct timeval time)
{
    return time.tv_sec * 1000000L + time.tv_usec;
}

int
main(int argc, char **argv)
{
    struct rusage used;
    int status;
    FILE *file;
    pid_t pid;

    if (argc < 3)
        return 2;
    pid = fork();
    if (pid == 0) {
        execvp(argv[2], argv + 2);
        perror(argv[2]);
        _exit(127);
    }
    if (pid < 0 || wait4(pid, &status, 0, &used) != pid)
        return 2;
    file = fopen(argv[1], "w");
    if (file == NULL ||
        fprintf(file, "%ld %ld\n",
                microseconds(used.ru_utime) + microseconds(used.ru_stime),
                used.ru_maxrss) < 0 ||
        fclose(file) != 0)
        return 2;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
