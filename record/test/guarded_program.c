/*
 * guarded_program.c -- a program that notices side effects of the recorder.
 *
 * test_recorder_safety.py runs it under the recorder and alone. The program
 * checks what belongs to it (descriptors, stacks, limits, children). It exits
 * with 0 if all is as without the recorder; else it prints what differs. usage:
 * guarded_program MODE [ARGUMENT]
 */
#include "record/test/guarded.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    OWN_FILES = 8,  /* descriptors 0 to 7 */
    SPEAKING = 500, /* the descriptor for complaints */
};

static const char *own_path;
static int speaking = 2;

int
guarded_complain(const char *what, long value)
{
    dprintf(speaking, "guarded_program: %s: %ld\n", what, value);
    return 1;
}

/* The block is volatile: a compiler may leave out an allocation that is not
 * used. */
NOINLINE void
guarded_allocate(int rounds)
{
    for (int i = 0; i < rounds; i++) {
        void *volatile block = malloc(40 + (size_t)i % 8);

        free(block);
    }
}

/* ---- descriptors ---- */

struct guarded {
    struct stat status;
    off_t offset;
    int waiting_bytes; /* in a pipe */
};

static struct guarded guarded[OWN_FILES];

static bool
look(int file, struct guarded *to)
{
    memset(to, 0, sizeof *to);
    if (fstat(file, &to->status) != 0)
        return false;
    if (S_ISREG(to->status.st_mode))
        to->offset = lseek(file, 0, SEEK_CUR);
    else if (S_ISFIFO(to->status.st_mode))
        ioctl(file, FIONREAD, &to->waiting_bytes);
    return true;
}

/* Open two pipes with bytes in them, and four files positioned in the
 * middle. */
static int
open_own_files(void)
{
    int ends[2];

    dup2(2, SPEAKING);
    speaking = SPEAKING;
    for (int i = 0; i < SPEAKING; i++)
        close(i);
    for (int i = 0; i < 2; i++)
        if (pipe(ends) != 0 || write(ends[1], "guarded", 7) != 7)
            return guarded_complain("pipe", errno);
    for (int i = 4; i < OWN_FILES; i++) {
        FILE *file = tmpfile();

        if (file == NULL || fileno(file) != i)
            return guarded_complain("file", errno);
        if (write(i, "0123456789", 10) != 10 || lseek(i, 3, SEEK_SET) != 3)
            return guarded_complain("file", errno);
    }
    for (int i = 0; i < OWN_FILES; i++)
        look(i, &guarded[i]);
    return 0;
}

static int
check_own_files(void)
{
    for (int i = 0; i < OWN_FILES; i++) {
        const struct guarded *const before = &guarded[i];
        struct guarded now;
        char text[16] = "";

        if (!look(i, &now) || now.status.st_ino != before->status.st_ino ||
            now.status.st_dev != before->status.st_dev)
            return guarded_complain("another file is on descriptor", i);
        if (now.offset != before->offset)
            return guarded_complain("offset moved on descriptor", i);
        if (now.waiting_bytes != before->waiting_bytes)
            return guarded_complain("bytes are gone from descriptor", i);
        if (i >= 4 && (pread(i, text, sizeof text - 1, 0) != 10 ||
                       strcmp(text, "0123456789") != 0))
            return guarded_complain("other content on descriptor", i);
    }
    return 0;
}

static int
check_no_foreign_files(void)
{
    DIR *const folder = opendir("/proc/self/fd");
    struct dirent *entry;
    int status = 0;

    if (folder == NULL)
        return guarded_complain("/proc/self/fd", errno);
    while ((entry = readdir(folder)) != NULL) {
        const int file = atoi(entry->d_name);

        if (entry->d_name[0] != '.' && file >= OWN_FILES && file != SPEAKING &&
            file != dirfd(folder))
            status = guarded_complain("a descriptor not ours", file);
    }
    closedir(folder);
    return status;
}

static void *
allocate_in_thread(void *unused)
{
    (void)unused;
    guarded_allocate(5000);
    return NULL;
}

static int
check_files(void)
{
    return check_own_files() != 0 ? 1 : check_no_foreign_files();
}

static int
guard_descriptors(void)
{
    pthread_t threads[4];
    int status;
    pid_t child;
    void *library;

    if (open_own_files() != 0)
        return 1;
    for (int i = 0; i < 4; i++)
        if (pthread_create(&threads[i], NULL, allocate_in_thread, NULL) != 0)
            return guarded_complain("thread", i);
    child = fork();
    if (child == 0) {
        guarded_allocate(100);
        _exit(check_files());
    }
    waitpid(child, &status, 0);
    if (status != 0)
        return guarded_complain("status of the child", status);
    library = dlopen("libresolv.so.2", RTLD_NOW);
    guarded_allocate(100);
    if (library != NULL)
        dlclose(library);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    return check_files();
}

/* ---- errno ---- */

enum { OWN_ERRNO = 77 };

/* The block is volatile: a compiler may leave out an allocation that is not
 * used. */
static int
guard_errno(void)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static const char *const calls[] = {
        "malloc",         "calloc", "realloc", "aligned_alloc",
        "posix_memalign", "free",   "mutex",   "fork"};
    void *volatile block = NULL;
    void *volatile other = NULL;
    void *volatile third = NULL;
    void *aligned = NULL;

    for (int call = 0; call < 8; call++) {
        pid_t child = 0;

        errno = OWN_ERRNO;
        switch (call) {
        case 0:
            block = malloc(100);
            break;
        case 1:
            other = calloc(3, 100);
            break;
        case 2:
            block = realloc(block, 5000);
            break;
        case 3:
            third = aligned_alloc(64, 128);
            break;
        case 4:
            (void)!posix_memalign(&aligned, 64, 100);
            break;
        case 5:
            free(block);
            free(other);
            free(third);
            free(aligned);
            break;
        case 6:
            pthread_mutex_lock(&mutex);
            pthread_mutex_unlock(&mutex);
            break;
        default:
            child = fork();
            if (child == 0)
                _exit(errno == OWN_ERRNO ? 0 : 1);
            break;
        }
        if (errno != OWN_ERRNO)
            return guarded_complain(calls[call], errno);
        if (child > 0 && (waitpid(child, &call, 0) != child || call != 0))
            return guarded_complain("fork, in the child", call);
        if (child > 0)
            break;
    }
    return 0;
}

/* ---- limits ---- */

static int
set_limit(int which, rlim_t bytes)
{
    const struct rlimit limit = {.rlim_cur = bytes, .rlim_max = bytes};

    return setrlimit((__rlimit_resource_t)which, &limit) == 0
               ? 0
               : guarded_complain("setrlimit", errno);
}

/* Execute this program again, under a limit. */
static int
begin_limited(int which, const char *bytes, const char *mode)
{
    if (set_limit(which, strtoull(bytes, NULL, 10)) != 0)
        return 1;
    execl(own_path, own_path, mode, (char *)NULL);
    return guarded_complain("exec", errno);
}

static int
lower_file_limit(void)
{
    guarded_allocate(1000);
    if (set_limit(RLIMIT_FSIZE, 4096) != 0)
        return 1;
    guarded_allocate(200000);
    return 0;
}

/* Allocate MiB until there are no more, and print how many; the test compares
 * the number. */
static int
take_all_memory(void)
{
    int count = 0;

    while (count < 4096 && malloc(1 << 20) != NULL)
        count++;
    return printf("%d\n", count) > 0 ? 0 : 1;
}

/* Fill up the disk while the recorder uses it. */
static int
fill_disk(const char *path)
{
    static char block[65536];
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    guarded_allocate(1000);
    if (file < 0)
        return guarded_complain(path, errno);
    while (write(file, block, sizeof block) > 0 || write(file, block, 1) > 0)
        continue;
    guarded_allocate(600000);
    close(file);
    unlink(path);
    return 0;
}

/* ---- the folder, and outliving ---- */

static int
entries_of(const char *path)
{
    DIR *const folder = opendir(path);
    int count = 0;

    if (folder == NULL)
        return -1;
    while (readdir(folder) != NULL)
        count++;
    closedir(folder);
    return count - 2;
}

/* Replace the recorder's folder by another of the same name, or by a link to
 * one: a child must write nothing there. */
static int
replace_folder(bool by_link)
{
    const char *const folder = getenv("PROFSIM_SPOOL");
    char aside[512];
    char other[512];
    int status;
    int count;
    pid_t child;

    if (folder == NULL)
        return guarded_complain("no spool folder", 0);
    snprintf(aside, sizeof aside, "%s.aside", folder);
    snprintf(other, sizeof other, "%s.other", folder);
    if (rename(folder, aside) != 0 ||
        mkdir(by_link ? other : folder, 0777) != 0 ||
        (by_link && symlink(other, folder) != 0))
        return guarded_complain("replacing", errno);
    child = fork();
    if (child == 0) {
        guarded_allocate(100);
        _exit(0);
    }
    waitpid(child, &status, 0);
    count = entries_of(folder);
    if (by_link ? unlink(folder) != 0 || rmdir(other) != 0 : rmdir(folder) != 0)
        guarded_complain("removing", errno);
    if (rename(aside, folder) != 0)
        return guarded_complain("restoring", errno);
    if (count != 0)
        return guarded_complain("files in the other folder", count);
    return status == 0 ? 0 : guarded_complain("status of the child", status);
}

/* Allocate 500 blocks, write our process id to a file, and wait until the file
 * is removed. */
static int
hold(const char *path)
{
    int to = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    const struct timespec pause = {.tv_nsec = 1000000};
    bool is_held = true;

    guarded_allocate(500);
    if (to < 0 || dprintf(to, "%d\n", (int)getpid()) < 0)
        return guarded_complain(path, errno);
    close(to);
    for (int i = 0; i < 40000 && is_held; i++) {
        is_held = access(path, F_OK) == 0;
        nanosleep(&pause, NULL);
    }
    guarded_allocate(500);
    return 0;
}

static int
become_daemon(const char *path)
{
    if (fork() != 0)
        return 0;
    setsid();
    if (fork() != 0)
        _exit(0);
    for (int i = 0; i < 3; i++)
        close(i);
    _exit(hold(path));
}

/* Execute another program by a call whose arguments are a list. */
static int
execute(const char *call, const char *path)
{
    char *const nothing[] = {NULL};

    if (strcmp(call, "execle") == 0)
        execle(path, path, "first", "second", (char *)NULL, nothing);
    unsetenv("LD_PRELOAD");
    if (strcmp(call, "execlp") == 0)
        execlp(path, path, "first", "second", (char *)NULL);
    execl(path, path, "first", "second", (char *)NULL);
    return guarded_complain(call, errno);
}

extern pid_t _Fork(void); /* older headers lack it */

int
main(int argc, char **argv)
{
    const char *const mode = argc > 1 ? argv[1] : "";
    const char *const argument = argc > 2 ? argv[2] : "";

    own_path = argv[0];
    alarm(120);
    if (strcmp(mode, "descriptors") == 0)
        return guard_descriptors();
    if (strcmp(mode, "errno") == 0)
        return guard_errno();
    if (strcmp(mode, "again") == 0) {
        guarded_allocate(20000);
        execl(own_path, own_path, "some", (char *)NULL);
        return guarded_complain("exec", errno);
    }
    if (strcmp(mode, "stacks") == 0)
        return guarded_stacks(argument);
    if (strcmp(mode, "fork") == 0)
        return guarded_forks(fork, atoi(argument));
    if (strcmp(mode, "_Fork") == 0)
        return guarded_forks(_Fork, atoi(argument));
    if (strcmp(mode, "fork-everywhere") == 0)
        return guarded_forks_everywhere();
    if (strcmp(mode, "file-limit") == 0)
        return begin_limited(RLIMIT_FSIZE, argument, "fill");
    if (strcmp(mode, "lowered-file-limit") == 0)
        return lower_file_limit();
    if (strcmp(mode, "memory-limit") == 0)
        return begin_limited(RLIMIT_AS, argument, "memory");
    if (strcmp(mode, "memory") == 0)
        return take_all_memory();
    if (strcmp(mode, "full-disk") == 0)
        return fill_disk(argument);
    if (strcmp(mode, "replaced") == 0)
        return replace_folder(false);
    if (strcmp(mode, "linked") == 0)
        return replace_folder(true);
    if (strcmp(mode, "hold") == 0)
        return hold(argument);
    if (strcmp(mode, "daemon") == 0)
        return become_daemon(argument);
    if (strncmp(mode, "execl", 5) == 0)
        return execute(mode, own_path);
    if (strcmp(mode, "first") == 0) /* from execute() */
        return argc == 3 && strcmp(argument, "second") == 0 ? 0 : 1;
    guarded_allocate(strcmp(mode, "some") == 0 ? 20000 : 400000);
    return 0;
}
