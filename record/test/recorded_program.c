/*
 * recorded_program.c -- a program whose allocations and waits are known.
 *
 * test_recorder.py runs it under the recorder. Every function that allocates
 * has a name of its own and is not inlined; the test expects these very
 * numbers. usage: recorded_program MODE
 *
 * build: ldflags=-Wl,--no-as-needed libs=-l:libstdc++.so.6
 */
#include <dlfcn.h>
#include <link.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/test/recorded_locks.h"

#define THREADS   4
#define ROUNDS    500
#define SLOTS     64
#define EXCHANGES 5000
#define FORKS     40
#define NOINLINE  __attribute__((noinline))

static const char *own_path;

static NOINLINE void *
make_small(size_t bytes)
{
    return malloc(bytes);
}

static NOINLINE void *
make_zeroed(size_t count, size_t each_bytes)
{
    return calloc(count, each_bytes);
}

static NOINLINE void *
grow(void *old, size_t bytes)
{
    return realloc(old, bytes);
}

static NOINLINE void *
grow_array(void *old, size_t count, size_t each_bytes)
{
    return reallocarray(old, count, each_bytes);
}

static NOINLINE void
make_aligned(void **to)
{
    if (posix_memalign(&to[0], 64, 101) != 0)
        abort();
    to[1] = aligned_alloc(64, 128);
    to[2] = memalign(256, 103);
    to[3] = valloc(104);
}

static NOINLINE void *
make_in_child(void)
{
    return malloc(555);
}

static NOINLINE void *
make_for_other(size_t bytes)
{
    return malloc(bytes);
}

static NOINLINE void __attribute__((constructor)) make_before_main(void)
{
    free(malloc(4321));
}

/* Thread t makes ROUNDS objects of 1000 + t bytes and grows them to 2000 + t,
 * and ROUNDS objects of 77 bytes. */
static void *
work(void *number)
{
    size_t t = (size_t)(uintptr_t)number;
    int i;

    for (i = 0; i < ROUNDS; i++) {
        void *small = make_small(1000 + t);
        void *zeroed = make_zeroed(7, 11);

        small = grow(small, 2000 + t);
        free(small);
        free(zeroed);
    }
    return NULL;
}

static void
run_threads(void *(*body)(void *))
{
    pthread_t threads[THREADS];
    uintptr_t t;

    for (t = 0; t < THREADS; t++)
        if (pthread_create(&threads[t], NULL, body, (void *)t) != 0)
            abort();
    for (t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
}

/* Each failed realloc leaves its object live; the last object is never
 * freed. */
static void
run_family(void)
{
    volatile size_t too_much = SIZE_MAX / 2;
    void *aligned[4];
    void *kept = make_small(9);
    int i;

    make_aligned(aligned);
    for (i = 0; i < 4; i++)
        free(aligned[i]);
    if (grow(kept, too_much) != NULL)
        abort();
    if (grow_array(kept, too_much, 3) != NULL)
        abort();
    kept = grow_array(kept, 5, 9);
    free(kept);
    kept = grow(NULL, 33);
    if (kept == NULL)
        abort();
}

static void
run_fork(void)
{
    void *objects[10];
    pid_t child;
    int i;

    for (i = 0; i < 10; i++)
        objects[i] = make_small(60);
    child = fork();
    if (child == 0) {
        for (i = 0; i < 3; i++)
            free(objects[i]);
        for (i = 0; i < 5; i++)
            objects[i] = make_in_child();
        free(objects[0]);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    for (i = 0; i < 10; i++)
        free(objects[i]);
}

static _Atomic(void *) slots[SLOTS];

/* Objects are passed between threads: another thread frees them than allocated
 * them. */
static void *
exchange(void *number)
{
    uint64_t state = (uintptr_t)number + 1;
    int i;

    for (i = 0; i < EXCHANGES; i++) {
        void *fresh;

        state = state * 6364136223846793005u + 1442695040888963407u;
        fresh = make_for_other(16 + (state >> 33) % 200);
        free(atomic_exchange(&slots[(state >> 40) % SLOTS], fresh));
    }
    return NULL;
}

static void
run_exchange(void)
{
    run_threads(exchange);
    for (int i = 0; i < SLOTS; i++)
        free(atomic_exchange(&slots[i], NULL));
}

static _Atomic bool stop;

static NOINLINE int
make_in_callback(struct dl_phdr_info *info, size_t info_bytes, void *unused)
{
    (void)info;
    (void)info_bytes;
    (void)unused;
    free(malloc(41));
    return 1;
}

/* Allocate, load and unload a library, and allocate while the linker holds its
 * lock. */
static void *
churn(void *unused)
{
    (void)unused;
    while (!atomic_load(&stop)) {
        void *library = dlopen("libresolv.so.2", RTLD_NOW);

        free(make_small(40));
        dl_iterate_phdr(make_in_callback, NULL);
        if (library != NULL)
            dlclose(library);
    }
    return NULL;
}

/* Fork while another thread allocates and frees. */
static void
run_forks(void)
{
    pthread_t thread;
    int i;

    if (pthread_create(&thread, NULL, churn, NULL) != 0)
        abort();
    for (i = 0; i < FORKS; i++) {
        pid_t child = fork();

        if (child == 0) {
            free(make_in_child());
            _exit(0);
        }
        waitpid(child, NULL, 0);
    }
    atomic_store(&stop, true);
    pthread_join(thread, NULL);
}

/* Allocate 12 objects, free 2 of them, and end the program in one of several
 * ways. */
static void
allocate_dozen(void)
{
    void *objects[12];

    for (int i = 0; i < 12; i++)
        objects[i] = make_small(70);
    free(objects[3]);
    free(objects[7]);
}

static void
end(const char *mode)
{
    allocate_dozen();
    if (strcmp(mode, "sigkill") == 0)
        raise(SIGKILL);
    if (strcmp(mode, "abort") == 0)
        abort();
    if (strcmp(mode, "_exit") == 0)
        _exit(3);
    if (strcmp(mode, "exec") == 0)
        execl(own_path, own_path, "family", (char *)NULL);
}

static void
fill(void)
{
    for (int i = 0; i < 100000; i++)
        free(make_small(50));
}

void __libc_free(void *block); /* the recorder does not see its calls */

static void
free_unseen(void)
{
    __libc_free(make_small(70));
    free(make_small(70)); /* at the same address */
}

/* Call make(bytes) from a function whose frame pointer register is `frame`,
 * which is not a frame. */
void call_amid(void *(*make)(size_t), size_t bytes, uintptr_t frame);

#ifdef __x86_64__
__asm__(".globl call_amid\n"
        ".type call_amid, @function\n"
        "call_amid:\n"
        ".cfi_startproc\n"
        "push %rbp\n"
        ".cfi_def_cfa_offset 16\n"
        ".cfi_offset 6, -16\n"
        "mov %rdi, %rax\n"
        "mov %rsi, %rdi\n"
        "mov %rdx, %rbp\n"
        "call *%rax\n"
        "pop %rbp\n"
        ".cfi_def_cfa_offset 8\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size call_amid, . - call_amid\n");
#else
void
call_amid(void *(*make)(size_t), size_t bytes, uintptr_t frame)
{
    (void)frame;
    make(bytes);
}
#endif

/* Use frame pointers that point nowhere, are not aligned, point to a text,
 * below the stack pointer, and too high. */
static void
break_frames(void)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    const uintptr_t frames[] = {0,
                                1,
                                here + 1,
                                (uintptr_t)own_path,
                                here - 4096,
                                here + (1u << 30),
                                UINTPTR_MAX - 15};
    size_t i;

    for (i = 0; i < sizeof frames / sizeof *frames; i++)
        call_amid(make_small, 91, frames[i]);
}

int
main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";

    own_path = argv[0];
    alarm(40);
    if (strcmp(mode, "threads") == 0)
        run_threads(work);
    else if (strcmp(mode, "family") == 0)
        run_family();
    else if (strcmp(mode, "fork") == 0)
        run_fork();
    else if (strcmp(mode, "forks") == 0)
        run_forks();
    else if (strcmp(mode, "exchange") == 0)
        run_exchange();
    else if (strcmp(mode, "locks") == 0)
        recorded_locks_run();
    else if (strcmp(mode, "frames") == 0)
        break_frames();
    else if (strcmp(mode, "unseen") == 0)
        free_unseen();
    else if (strcmp(mode, "large") == 0)
        free(make_small(64 << 20));
    else if (strcmp(mode, "fill") == 0)
        fill();
    else
        end(mode);
    return 0;
}
