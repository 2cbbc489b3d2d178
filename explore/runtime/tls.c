/*
 * tls.c -- thread-local variables.
 *
 * Threads are fibers on one OS thread, so a switch must change the register
 * that points to thread-local variables (fs on x86-64): by an instruction, or,
 * where the processor or the kernel has none (FSGSBASE), by a system call. Each
 * fiber gets a copy of the OS thread's area around that address: variables
 * below it, and glibc's control block above. In main they begin with the values
 * that they had when the exploration began; in other threads the executable's
 * begin as in its file.
 *
 * Not followed: variables of a library that was loaded by dlopen() and has none
 * below fs. A thread that uses them gets memory from glibc, which is reported
 * as a leak; if main used them before, all threads share its own.
 */
#include "explore/runtime/program.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/rseq.h>

#include "explore/engine/need.h"

#ifdef SIM_FIBER_FAST

#include <asm/hwcap2.h>

/* No variable is aligned to more than a page. */
enum { PAGE = 4096, OLDEST_CONTROL_BYTES = 2304 };

static uintptr_t own;                     /* fs of the OS thread */
static uintptr_t lowest;                  /* of its variables */
static size_t control_bytes;              /* above fs */
static uintptr_t blocks[SIM_THREADS_MAX]; /* fs of each fiber */
static void *kept;                        /* the OS thread's area */

/* The executable's variables. */
static struct {
    uintptr_t below; /* how far below fs they begin */
    size_t bytes;
    const void *values; /* that the first ones have in its file */
    size_t values_bytes;
} image;

/* The vector through which libraries find their thread-local variables: a
 * count, a generation, then an entry for each module that has some. */
struct vector_entry {
    uintptr_t address;
    uintptr_t to_free; /* 0: they lie below fs */
};

#define NOT_THERE UINTPTR_MAX /* address of variables that have none yet */

static struct vector_entry *vectors[SIM_THREADS_MAX];
static size_t vector_count;

static struct vector_entry *
own_vector(void)
{
    return (struct vector_entry *)((const uintptr_t *)own)[1] - 1;
}

/* glibc's, of a library's first variable. */
struct tls_index {
    uintptr_t module;
    uintptr_t offset;
};

void *__tls_get_addr(struct tls_index *index);

/* Where the object's variables are, if below fs. They may have no place in the
 * vector yet; asking glibc gives them one. Others would get memory, which all
 * threads would share: that is given back. */
static uintptr_t
data_of(const struct dl_phdr_info *info)
{
    struct tls_index first = {.module = info->dlpi_tls_modid};
    struct vector_entry *entry;
    uintptr_t data;

    if (first.module == 0)
        return 0;
    data = (uintptr_t)__tls_get_addr(&first);
    entry = &own_vector()[1 + first.module];
    if (entry->to_free == 0)
        return data;
    if (info->dlpi_tls_data == NULL) {
        free((void *)entry->to_free);
        *entry = (struct vector_entry){.address = NOT_THERE};
    }
    return 0;
}

static int
find(struct dl_phdr_info *info, size_t size, void *context)
{
    bool *executable = context;
    const uintptr_t data = data_of(info);

    (void)size;
    if (data != 0 && data < lowest)
        lowest = data;
    for (int i = 0; *executable && i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];

        if (p->p_type != PT_TLS)
            continue;
        image.below = own - data;
        image.bytes = p->p_memsz;
        image.values = (const void *)(info->dlpi_addr + p->p_vaddr);
        image.values_bytes = p->p_filesz;
    }
    *executable = false;
    return 0;
}

/* glibc's control block, whose size it tells debuggers, and the area that it
 * shares with the kernel (rseq), which may lie in it, above it or, in newer
 * versions, below all variables. */
static void
find_control(void)
{
    const uint32_t *bytes = dlsym(RTLD_DEFAULT, "_thread_db_sizeof_pthread");
    const size_t shared =
        __rseq_size > sizeof(struct rseq) ? __rseq_size : sizeof(struct rseq);

    control_bytes = bytes != NULL ? *bytes : OLDEST_CONTROL_BYTES;
    if (__rseq_offset < 0 && own + (uintptr_t)__rseq_offset < lowest)
        lowest = own + (uintptr_t)__rseq_offset;
    if (__rseq_offset > 0 && (size_t)__rseq_offset + shared > control_bytes)
        control_bytes = (size_t)__rseq_offset + shared;
}

/* Make the fibers' copies, unless nobody needs them. */
static void
make_copies(struct engine *e)
{
    bool executable = true;
    uintptr_t begin;

    __asm__("mov %%fs:0, %0" : "=r"(own));
    lowest = own;
    dl_iterate_phdr(find, &executable);
    find_control();
    if (image.bytes == 0 && dlsym(RTLD_DEFAULT, "__cxa_get_globals") == NULL)
        return;
    begin = lowest & ~(uintptr_t)(PAGE - 1);
    kept = sim_need(malloc(own + control_bytes - lowest));
    vector_count = own_vector()->address + 2;
    for (uint32_t i = 0; i < SIM_THREADS_MAX; i++) {
        uint8_t *block =
            sim_need(aligned_alloc(PAGE, own + control_bytes - begin));

        blocks[i] = (uintptr_t)block + (own - begin);
        vectors[i] = sim_need(calloc(vector_count, sizeof **vectors));
        e->threads[i].fiber.tls = blocks[i];
    }
    e->main.tls = own;
}

void
sim_tls_open(struct engine *e)
{
    sim_fiber_writes_fs = (getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE) != 0 &&
                          getenv("PROFSIM_EXPLORE_NO_FSGSBASE") == NULL;
    if (kept == NULL)
        make_copies(e);
    if (kept != NULL)
        memcpy(kept, (const void *)lowest, own + control_bytes - lowest);
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
sim_tls_reset(uint32_t thread, bool is_main)
{
    const uintptr_t fs = blocks[thread];

    if (fs == 0)
        return;
    memcpy((void *)(fs - (own - lowest)), kept, own + control_bytes - lowest);
    if (!is_main && image.bytes > 0) {
        memset((void *)(fs - image.below), 0, image.bytes);
        memcpy((void *)(fs - image.below), image.values, image.values_bytes);
    }
    ((uintptr_t *)fs)[0] = fs; /* tcb */
    ((uintptr_t *)fs)[1] = (uintptr_t)(vectors[thread] + 1);
    ((uintptr_t *)fs)[2] = fs; /* self */
    copy_vector(vectors[thread], fs);
}

void
sim_tls_each(struct engine *e, void (*visit)(uintptr_t begin, uintptr_t end))
{
    for (uint32_t i = 0; i < e->threads_count; i++) {
        if (blocks[i] != 0 && !e->threads[i].run.finished)
            visit(blocks[i] - image.below,
                  blocks[i] - image.below + image.bytes);
    }
}

#else

void
sim_tls_open(void)
{
}

void
sim_tls_reset(uint32_t thread, bool is_main)
{
    (void)thread;
    (void)is_main;
}

void
sim_tls_each(void (*visit)(uintptr_t begin, uintptr_t end))
{
    (void)visit;
}

#endif
