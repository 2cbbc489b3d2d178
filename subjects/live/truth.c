/*
 * truth.c -- a program whose allocations are known: their sites, sizes and
 * numbers, and how many are left at its end. audit.py runs it under a profiler.
 *
 * usage: truth MODE SEED DUMP SIZE:COUNT:KEEP...
 *
 * The i-th SIZE is allocated at site_i, COUNT times; each KEEP-th block is
 * kept. Sites take turns at random, in proportion to what is left of them. DUMP
 * is the file for a profiler that writes on request (jemalloc, gperftools), or
 * "-" if the profiler writes by itself. The program first allocates 32 MiB at
 * no site, so that the profiler has finished starting up; "cold" leaves this
 * out.
 *
 *      plain     malloc
 *      cold      malloc, from the start
 *      near-rate, between  malloc
 *      one-site  all sizes at site_0
 *      threads   each thread allocates ten blocks and ends
 *      alive     each thread allocates ten blocks; none ends before the last
 *      alive-warm  the same, after each thread has allocated 1 MiB at no site
 *      realloc   a block grows to its size by doubling, from a sixteenth
 *      aligned   aligned to 2,048 bytes
 *      calloc    zeroed
 *      siblings  each part by a thread of its own, one after the other
 *      fork      the child does the same as its parent after it, while the
 *                parent waits; the child dumps to DUMP.child
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    SITES = 8,
    A_THREAD = 10,
    ALIVE_MAX = 2048,
    ALIGNMENT = 2048,
    STEPS = 5,
    WARM_UP = 4096, /* blocks of 8 KiB: gperftools skips 16 MiB */
    WARM_UP_THREAD = 128,
};

struct part {
    size_t bytes;
    uint64_t left;
    uint64_t done;
    uint64_t keep;
};

static struct part parts[SITES];
static int parts_count;
static const char *mode;
static uint64_t chance;
static void **kept; /* not of malloc: nobody counts it */
static size_t kept_count;

/* Ask a profiler that writes on request to write its profile. */
static void
dump(char *path)
{
    int (*mallctl)(const char *, void *, size_t *, void *, size_t);
    void (*audit_dump)(const char *);

    *(void **)&mallctl = dlsym(RTLD_DEFAULT, "mallctl");
    *(void **)&audit_dump = dlsym(RTLD_DEFAULT, "audit_dump");
    if (mallctl != NULL)
        mallctl("prof.dump", NULL, NULL, &path, sizeof path);
    if (audit_dump != NULL)
        audit_dump(path);
}

static uint64_t
next_number(void)
{
    chance += 0x9e3779b97f4a7c15;
    uint64_t mixed = chance;

    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
    return mixed ^ mixed >> 31;
}

static void *
allocate(size_t bytes)
{
    void *block = NULL;

    if (strcmp(mode, "aligned") == 0)
        return posix_memalign(&block, ALIGNMENT, bytes) == 0 ? block : NULL;
    if (strcmp(mode, "calloc") == 0)
        return calloc(1, bytes);
    if (strcmp(mode, "realloc") != 0)
        return malloc(bytes);
    for (int i = STEPS - 1; i >= 0; i--)
        block = realloc(block, bytes >> i);
    return block;
}

/* The volatile variable keeps the call from becoming a tail call. */
#define SITE(n)                                            \
    __attribute__((noinline)) void *site_##n(size_t bytes) \
    {                                                      \
        void *volatile block = allocate(bytes);            \
                                                           \
        return block;                                      \
    }
void *site_0(size_t bytes);
void *site_1(size_t bytes);
void *site_2(size_t bytes);
void *site_3(size_t bytes);
void *site_4(size_t bytes);
void *site_5(size_t bytes);
void *site_6(size_t bytes);
void *site_7(size_t bytes);
SITE(0)
SITE(1)
SITE(2)
SITE(3)
SITE(4)
SITE(5)
SITE(6)
SITE(7)

static void *(*const sites[SITES])(size_t) = {site_0, site_1, site_2, site_3,
                                              site_4, site_5, site_6, site_7};

/* returns: a part with something left; NULL if none has */
static struct part *
choose(void)
{
    uint64_t left = 0;
    uint64_t at;

    for (int i = 0; i < parts_count; i++)
        left += parts[i].left;
    if (left == 0)
        return NULL;
    at = next_number() % left;
    for (int i = 0; i < parts_count; i++) {
        if (at < parts[i].left)
            return &parts[i];
        at -= parts[i].left;
    }
    return NULL;
}

/* in: part, with something left to allocate; NULL: no part has anything left */
static bool
allocate_of(struct part *part)
{
    const int at = (int)(part - parts);
    void *block;

    if (part == NULL)
        return false;
    block = sites[strcmp(mode, "one-site") == 0 ? 0 : at](part->bytes);
    if (block == NULL)
        abort();
    *(char *)block = 1;
    part->left--;
    if (part->done++ % part->keep == 0)
        kept[kept_count++] = block;
    else
        free(block);
    return true;
}

static void *
allocate_ten(void *unused)
{
    (void)unused;
    for (int i = 0; i < A_THREAD; i++)
        if (!allocate_of(choose()))
            return NULL;
    return &parts[0];
}

static void
warm_up(int blocks)
{
    for (int i = 0; i < blocks; i++) {
        void *volatile block = malloc(8192);

        free(block);
    }
}

/* Threads allocate one after another: main starts the next when the last one
 * has allocated. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t one_has = PTHREAD_COND_INITIALIZER;
static pthread_cond_t all_have = PTHREAD_COND_INITIALIZER;
static int allocated; /* threads that have allocated */
static bool is_over;

static void *
allocate_ten_and_stay(void *unused)
{
    bool was_last;

    if (strcmp(mode, "alive-warm") == 0)
        warm_up(WARM_UP_THREAD);
    was_last = allocate_ten(unused) == NULL;
    pthread_mutex_lock(&lock);
    allocated++;
    is_over = was_last;
    pthread_cond_signal(&one_has);
    while (!is_over)
        pthread_cond_wait(&all_have, &lock);
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void
allocate_alive(void)
{
    static pthread_t threads[ALIVE_MAX];
    int count = 0;

    pthread_mutex_lock(&lock);
    while (!is_over) {
        if (count == ALIVE_MAX ||
            pthread_create(&threads[count++], NULL, allocate_ten_and_stay,
                           NULL) != 0)
            abort();
        while (allocated < count)
            pthread_cond_wait(&one_has, &lock);
    }
    pthread_cond_broadcast(&all_have);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

static void *
allocate_part(void *part)
{
    while (((struct part *)part)->left > 0)
        allocate_of(part);
    return NULL;
}

/* Run a thread to its end. returns: what it returned */
static void *
run_thread(void *(*function)(void *), void *argument)
{
    pthread_t thread;
    void *result;

    if (pthread_create(&thread, NULL, function, argument) != 0)
        abort();
    pthread_join(thread, &result);
    return result;
}

/* Fork after the warm-up, so that the child inherits a sampler that has
 * begun. */
static void
fork_child(char *path, size_t path_bytes)
{
    int status = 1;
    const pid_t pid = fork();

    if (pid == 0 && strcmp(path, "-") != 0)
        strncat(path, ".child", path_bytes - strlen(path) - 1);
    if (pid < 0 ||
        (pid > 0 && (waitpid(pid, &status, 0) != pid || status != 0)))
        abort();
}

static void
allocate_all(void)
{
    if (strcmp(mode, "threads") == 0) {
        while (run_thread(allocate_ten, NULL) != NULL)
            continue;
    } else if (strncmp(mode, "alive", strlen("alive")) == 0) {
        allocate_alive();
    } else if (strcmp(mode, "siblings") == 0) {
        for (int i = 0; i < parts_count; i++)
            run_thread(allocate_part, &parts[i]);
    } else {
        while (allocate_of(choose()))
            continue;
    }
}

int
main(int argc, char **argv)
{
    char path[4096 + sizeof ".child"];
    uint64_t room = 0;

    if (argc < 5 || argc - 4 > SITES || strlen(argv[3]) > 4096)
        return 2;
    mode = argv[1];
    chance = strtoull(argv[2], NULL, 10);
    for (int i = 4; i < argc; i++) {
        struct part *const part = &parts[parts_count++];

        if (sscanf(argv[i], "%zu:%ju:%ju", &part->bytes, &part->left,
                   &part->keep) != 3 ||
            part->keep == 0)
            return 2;
        room += part->left / part->keep + 1;
    }
    kept = mmap(NULL, (room + 1) * sizeof *kept, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (kept == MAP_FAILED)
        return 2;
    strcpy(path, argv[3]);
    if (strcmp(mode, "cold") != 0)
        warm_up(WARM_UP);
    if (strcmp(mode, "fork") == 0)
        fork_child(path, sizeof path);
    allocate_all();
    if (strcmp(path, "-") != 0)
        dump(path);
    return 0;
}
