/*
 * program.c -- the kernel that is a whole program: its first thread is main.
 */
#include "explore/runtime/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <unistd.h>

#include "explore/runtime/explored.h"
#include "explore/engine/kernel_entry.h"
#include "explore/runtime/start.h"

enum { OUTPUT_BYTES = 1 << 16 };

static int (*entry)(void);

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
}
