/*
 * agent_life.c -- keeps the agent apart from the program: from its descriptors,
 * and from how long its process lives.
 *
 * A process ends with its last thread, in one of two ways. If a thread returns
 * or calls pthread_exit(), and libc counts no other thread, it calls exit(). So
 * libc must not count the agent: its count is a private symbol that debuggers
 * read (libthread_db), and a libc without it keeps counting. If instead all
 * threads end by the system call, libc is not involved, and the agent must
 * notice that it is alone: the main thread is dead, but stays in the list of
 * threads until the last one has ended.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/sampler/profiler.h"

enum {
    STAT_BYTES = 1024,
    STATE_FIELD = 3,
    THREADS_FIELD = 20,
    STATUS_FIELD = 52
};

static bool is_outlived; /* the main thread: others were seen after it */
static long first_status;

/* Linux's flag. Older headers lack it, and the number of the system call. */
#ifndef CLOSE_RANGE_UNSHARE
#define CLOSE_RANGE_UNSHARE (1U << 1)
#endif

bool
profile_agent_leave_table(void)
{
#ifdef SYS_close_range
    return syscall(SYS_close_range, 0U, ~0U, CLOSE_RANGE_UNSHARE) == 0;
#else
    return false;
#endif
}

void
profile_agent_count(int32_t change)
{
    static _Atomic int32_t *count; /* as libc uses it: an unsigned int */

    if (count == NULL)
        count = dlsym(RTLD_DEFAULT, "__nptl_nthreads");
    if (count != NULL)
        atomic_fetch_add(count, change);
}

/* in: number, of a field of proc_pid_stat(5), from 3 on. The name of the
 * program, in parentheses, may hold anything. */
static long
field(const char *text, int number)
{
    const char *at = strrchr(text, ')');

    for (int i = 2; at != NULL && i < number; i++)
        at = strchr(at + 1, ' ');
    if (at == NULL)
        return 0;
    return number == STATE_FIELD ? at[1] : strtol(at + 1, NULL, 10);
}

bool
profile_agent_is_last(void)
{
    char text[STAT_BYTES];
    ssize_t bytes;
    int file;

    (void)snprintf(text, sizeof text, "/proc/self/task/%ld/stat",
                   (long)getpid());
    file = open(text, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    bytes = read(file, text, sizeof text - 1);
    close(file);
    text[bytes > 0 ? bytes : 0] = '\0';
    if (field(text, STATE_FIELD) != 'Z')
        return false;
    first_status = field(text, STATUS_FIELD);
    if (field(text, THREADS_FIELD) == 2)
        return true;
    is_outlived = true;
    return false;
}

/* Newer kernels (5.17) report how the last thread ended, others how the first
 * one did. A thread that libc ends has code 0. */
void
profile_agent_end_last(void)
{
    const int code = is_outlived ? 0 : (int)first_status;

    if (WIFSIGNALED(code))
        (void)kill(getpid(), WTERMSIG(code));
    syscall(SYS_exit, WEXITSTATUS(code));
}
