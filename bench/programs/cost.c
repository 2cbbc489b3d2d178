/*
 * cost.c -- runs a command and writes what it cost, as counted by the kernel:
 * its CPU time, wall time and maximum resident set.
 *
 * This must be a small program, because a new process begins with the resident
 * set of its parent.
 *
 * usage: cost FILE [NAME=VALUE...] COMMAND [ARG...]
 *   FILE gets: user+sys us, wall us, KiB, status as of wait(2). The variables
 *   are set for the command alone.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long long
now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000LL + now.tv_nsec / 1000;
}

static long long
us_of(struct timeval time)
{
    return time.tv_sec * 1000000LL + time.tv_usec;
}

static void
run(char **words)
{
    while (*words != NULL && strchr(*words, '=') != NULL)
        putenv(*words++);
    if (*words != NULL)
        execvp(*words, words);
    perror("cost: cannot run the command");
    _exit(127);
}

int
main(int argc, char **argv)
{
    const long long start_us = now_us();
    struct rusage used;
    int status;
    pid_t child;
    FILE *file;

    if (argc < 3) {
        fprintf(stderr, "usage: cost FILE [NAME=VALUE...] COMMAND [ARG...]\n");
        return 2;
    }
    child = fork();
    if (child == 0)
        run(argv + 2);
    if (child < 0 || wait4(child, &status, 0, &used) != child) {
        perror("cost");
        return 1;
    }
    file = fopen(argv[1], "w");
    if (file == NULL ||
        fprintf(file, "%lld %lld %ld %d\n",
                us_of(used.ru_utime) + us_of(used.ru_stime),
                now_us() - start_us, used.ru_maxrss, status) < 0 ||
        fclose(file) != 0) {
        perror("cost");
        return 1;
    }
    return 0;
}
