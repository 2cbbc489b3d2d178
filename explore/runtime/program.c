/*
 * program.c -- the kernel that is a whole program: its first thread is main.
 */
#include "explore/runtime/program.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <unistd.h>

#include "explore/runtime/explored.h"
#include "explore/engine/kernel_entry.h"
#include "explore/runtime/start.h"

enum { OUTPUT_BYTES = 1 << 16, STARTS_MAX = 4096 };

typedef void start_function(int argc, char **argv, char **environment);

/* The program's constructors, as the linker lists them. */
extern start_function *__init_array_start[], *__init_array_end[];

/* Not NULL if the command has built the program (explored_program.c). */
extern int __real_main(int argc, char **argv, char **environment)
    __attribute__((weak));
extern void profsim_entry(void) __attribute__((weak));

static int (*entry)(void);
static start_function *starts[STARTS_MAX]; /* what each run calls first */
static uint32_t starts_count;

/* ---- Constructors ---- */

static void
start_nothing(int argc, char **argv, char **environment)
{
    (void)argc;
    (void)argv;
    (void)environment;
}

/*
 * Constructors are part of the run: they may make threads, and end the program.
 * So libc, which goes through their list at the moment and has just called
 * `after`, is to find nothing in the rest of it. Linkers make the list
 * read-only.
 */
static void
take_starts(start_function *after)
{
    const uintptr_t begin = (uintptr_t)__init_array_start;
    const uintptr_t page = begin & ~(uintptr_t)4095;
    const size_t count = ((uintptr_t)__init_array_end - begin) / sizeof after;
    size_t i = 0;

    while (i < count && __init_array_start[i] != after)
        i++;
    if (i == count || count > STARTS_MAX ||
        mprotect((void *)page, (uintptr_t)__init_array_end - page,
                 PROT_READ | PROT_WRITE) != 0)
        return;
    while (++i < count) {
        starts[starts_count++] = __init_array_start[i];
        __init_array_start[i] = start_nothing;
    }
}

/* Each object that uses streams makes them, unless they are made. They belong
 * to a library, so they are not to be made in a run. */
static void
open_streams(void)
{
    static char streams[16];
    void (*make)(void *);

    *(void **)&make = dlsym(RTLD_DEFAULT, "_ZNSt8ios_base4InitC1Ev");
    if (make != NULL)
        make(streams);
}

/* Not inlined: as little as possible is to be different when main begins. */
static __attribute__((noinline)) void
run_starts(void)
{
    static char name[] = "program";
    static char *words[] = {name, NULL};

    for (uint32_t i = 0; i < starts_count; i++)
        starts[i](1, words, environ);
}

/* ---- The kernel ---- */

static void
set_up(void *context)
{
    struct engine *e = &sim_engine;

    (void)context;
    sim_image_reset();
    sim_heap_reset(e);
    sim_pthread_reset(e);
    sim_end_reset();
}

static void
run_entry(void *context, uint32_t thread)
{
    struct engine *e = &sim_engine;

    (void)context;
    sim_thread_resets(thread, true);
    run_starts();
    sim_program_exit(e, entry(), 0);
}

static struct sim_kernel kernel = {
    .name = "program",
    .about = "every ordering of a program",
    .setup = set_up,
    .threads = {{.name = "main", .body = run_entry}},
    .threads_count = 1,
};

const struct sim_kernel *
sim_program_kernel(void)
{
    return &kernel;
}

/*
 * Move the buffer of standard output out of the heap, where the program may
 * have allocated it before the first run: each run resets the heap.
 */
static void
move_output(void)
{
    static char *buffer;
    const bool terminal = isatty(STDOUT_FILENO);

    (void)fflush(stdout);
    if (buffer == NULL)
        buffer = mmap(NULL, OUTPUT_BYTES, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (buffer != MAP_FAILED)
        (void)setvbuf(stdout, buffer, terminal ? _IOLBF : _IOFBF, OUTPUT_BYTES);
}

void
sim_program_start(const char *name, int (*function)(void), void *stack,
                  bool whole)
{
    struct engine *e = &sim_engine;

    move_output();
    kernel.name = name;
    entry = function;
    e->program = true;
    sim_heap_keep(e);
    sim_image_keep((uintptr_t)stack);
    sim_tls_open(e);
    sim_end_open(whole);
}

void
sim_program_stop_before(uint32_t event)
{
    struct engine *e = &sim_engine;

    sim_trace_stop_before(e, event);
}

/* Use the same addresses in each process: the program may depend on them. */
static void
fix_addresses(char **argv)
{
    const int now = personality(0xffffffff);

    if (now == -1 || (now & ADDR_NO_RANDOMIZE) != 0 ||
        personality((unsigned long)(unsigned int)now | ADDR_NO_RANDOMIZE) == -1)
        return;
    execv("/proc/self/exe", argv);
}

void
sim_program_end(void)
{
    struct engine *e = &sim_engine;

    sim_image_reset();
    sim_heap_release(e);
}

/* After libraries have started, before the program's own constructors do. */
__attribute__((constructor(101))) static void
begin(int argc, char **argv)
{
    (void)argc;
    fix_addresses(argv);
    explored___libc_single_threaded = 0;
    tzset(); /* libc keeps the zone's name, in a block that no run may own */
    sim_heap_open(&sim_engine);
    if (__real_main != NULL || profsim_entry != NULL) {
        open_streams();
        take_starts((start_function *)(void (*)(void))begin);
    }
}
