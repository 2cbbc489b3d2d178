/*
 * tls.c -- thread-local variables.
 *
 * Threads are fibers on one OS thread, so a switch must change the register
 * that points to thread-local variables (fs on x86-64). Each fiber gets a copy
 * of the OS thread's area around that address: the variables of libraries below
 * it, and glibc's control block above. The executable's own variables start as
 * they are in the file.
 */
#include "program.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "need.h"

#ifdef SIM_FIBER_FAST

/* More than glibc's struct pthread has (2304 bytes in 2.36). */
enum { CONTROL_BYTES = 2304, ALIGNMENT = 64 };

static uintptr_t lowest;       /* of the OS thread's own variables */
static uintptr_t own;          /* fs of the OS thread */
static uintptr_t image_offset; /* of the executable's variables, below fs */
static size_t image_bytes;
static uintptr_t blocks[SIM_THREADS_MAX];
static void *first; /* what a thread starts with */
static size_t first_bytes;

/* The vector through which libraries find their thread-local variables: a
 * count, then an entry for each library. */
struct vector_entry {
    uintptr_t address;
    uintptr_t to_free;
};

static struct vector_entry *vectors[SIM_THREADS_MAX];
static size_t vector_count;

static const struct vector_entry *
own_vector(void)
{
    return (const struct vector_entry *)((const uintptr_t *)own)[1] - 1;
}

static int
find(struct dl_phdr_info *info, size_t size, void *context)
{
    bool *executable = context;

    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        const uintptr_t data = (uintptr_t)info->dlpi_tls_data;

        if (p->p_type != PT_TLS || data == 0 || data > own ||
            own - data > 1 << 20)
            continue;
        if (data < lowest)
            lowest = data;
        if (*executable) {
            image_offset = own - data;
            image_bytes = p->p_memsz;
        }
    }
    *executable = false;
    return 0;
}

void
sim_tls_open(void)
{
    bool executable = true;
    size_t room;

    if (first != NULL)
        return;

    __asm__("mov %%fs:0, %0" : "=r"(own));
    lowest = own;
    dl_iterate_phdr(find, &executable);
    if ((image_bytes == 0 &&
         dlsym(RTLD_DEFAULT, "__cxa_get_globals") == NULL) ||
        (getauxval(AT_HWCAP2) & 2) == 0)
        return;
    lowest &= ~(uintptr_t)(ALIGNMENT - 1);
    first_bytes = own + CONTROL_BYTES - lowest;
    first = sim_need(malloc(first_bytes));
    memcpy(first, (const void *)lowest, first_bytes);
    vector_count = own_vector()->address + 2;
    room = (first_bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    for (uint32_t i = 0; i < SIM_THREADS_MAX; i++) {
        uint8_t *block = sim_need(aligned_alloc(ALIGNMENT, room));

        blocks[i] = (uintptr_t)block + (own - lowest);
        vectors[i] = sim_need(calloc(vector_count, sizeof **vectors));
        sim_engine.threads[i].fiber.tls = blocks[i];
    }
    sim_engine.main.tls = own;
}

static void
copy_vector(struct vector_entry *vector, uintptr_t fs)
{
    memcpy(vector, own_vector(), vector_count * sizeof *vector);
    for (size_t i = 2; i < vector_count; i++) {
        if (vector[i].address - lowest < own - lowest)
            vector[i].address += fs - own;
    }
}

void
sim_tls_reset(uint32_t thread)
{
    uintptr_t fs = blocks[thread];

    if (fs == 0)
        return;
    memcpy((void *)(fs - (own - lowest)), first, first_bytes);
    ((uintptr_t *)fs)[0] = fs; /* tcb */
    ((uintptr_t *)fs)[1] = (uintptr_t)(vectors[thread] + 1);
    ((uintptr_t *)fs)[2] = fs; /* self */
    copy_vector(vectors[thread], fs);
}

void
sim_tls_each(void (*visit)(uintptr_t begin, uintptr_t end))
{
    for (uint32_t i = 0; i < SIM_THREADS_MAX; i++) {
        if (blocks[i] != 0)
            visit(blocks[i] - image_offset,
                  blocks[i] - image_offset + image_bytes);
    }
}

#else

void
sim_tls_open(void)
{
}

void
sim_tls_reset(uint32_t thread)
{
    (void)thread;
}

void
sim_tls_each(void (*visit)(uintptr_t begin, uintptr_t end))
{
    (void)visit;
}

#endif
