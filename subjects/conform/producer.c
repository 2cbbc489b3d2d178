/*
 * producer.c -- a simple producer of otel_memory probes, to be preloaded: the
 * smallest that conforms. CONFORM_FAULT names the faults of producer_fault.def
 * that it has, separated by commas. "reference" means the three of the
 * published reference producer; "crossings" is not a fault: weights then count
 * intervals.
 *
 * A byte sampler with a mean gap of 512 KiB: each thread counts down to the
 * next sampled byte. Open sampled blocks are kept in one table.
 *
 * build: so=libotel-producer.so libs='-pthread -ldl'
 */
#define _SDT_HAS_SEMAPHORES 1
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sdt.h>
#include <unistd.h>

#include "subjects/conform/producer_table.h"

/* sys/sdt.h leaves out arguments of its own macros, as GNU C allows. */
#pragma GCC diagnostic ignored "-Wpedantic"

#define EXPORTED    __attribute__((visibility("default")))
#define SEEN_BY_SDT __attribute__((section(".probes")))
#define INTERVAL    524288.0

enum { EARLY_BYTES = 1 << 16, RANGES_MAX = 64 };

enum fault {
#define X(name, check) FAULT_##name,
#include "subjects/conform/producer_fault.def"
#undef X
    FAULTS
};

static const char *const fault_names[FAULTS] = {
#define X(name, check) #name,
#include "subjects/conform/producer_fault.def"
#undef X
};

static bool faults[FAULTS];
static bool counts_crossings; /* weights as in the first contract */

#define HAS(name) __builtin_expect(faults[FAULT_##name], 0)

unsigned short otel_memory_alloc_semaphore SEEN_BY_SDT;
unsigned short otel_memory_free_semaphore SEEN_BY_SDT;

/* ---- The rest ---- */

static void *(*next_malloc)(size_t);
static void *(*next_calloc)(size_t, size_t);
static void *(*next_realloc)(void *, size_t);
static void *(*next_memalign)(size_t, size_t);
static void (*next_free)(void *);

struct sampler {
    bool has_begun;
    bool is_inside;
    uint32_t thread;
    uint64_t state; /* of the generator */
    double until;   /* bytes before the next sampled byte */
    void *told_late;
    uint32_t crossings; /* intervals that the sampled block ends, or more */
};

static __thread struct sampler self;
static uint32_t threads;
static pid_t process; /* that the library was loaded into */
static pthread_key_t exit_key;

/* ---- Numbers ---- */

static double
draw(void)
{
    uint64_t mixed = self.state += 0x9e3779b97f4a7c15;

    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
    mixed ^= mixed >> 31;
    return -log(((double)(mixed >> 11) + 0.5) / 9007199254740992.0) * INTERVAL;
}

/* returns: the thread whose blocks a free may close */
static uint32_t
closer(void)
{
    return HAS(free_own_only) ? self.thread : PRODUCER_ANYBODY;
}

static void
forget_thread(void *unused)
{
    (void)unused;
    producer_forget(self.thread);
}

static void
begin_thread(void)
{
    self.has_begun = true;
    self.thread = __atomic_add_fetch(&threads, 1, __ATOMIC_RELAXED);
    self.state = HAS(one_seed)
                     ? 0
                     : (uint64_t)self.thread << 32 ^ (uint64_t)getpid() << 8;
    self.until = HAS(first_is_sampled) ? 0 : draw();
    if (HAS(exit_forgets))
        pthread_setspecific(exit_key, &self);
}

static void
after_fork(void)
{
    if (!HAS(fork_keeps_numbers))
        self.has_begun = false;
}

/* ---- Modules ---- */

static struct {
    uintptr_t start;
    uintptr_t end;
} ranges[RANGES_MAX];
static uint32_t ranges_count;

static int
note_range(struct dl_phdr_info *module, size_t bytes, void *context)
{
    (void)bytes;
    (void)context;
    for (int i = 0; i < module->dlpi_phnum && ranges_count < RANGES_MAX; i++)
        if (module->dlpi_phdr[i].p_type == PT_LOAD) {
            ranges[ranges_count].start =
                module->dlpi_addr + module->dlpi_phdr[i].p_vaddr;
            ranges[ranges_count].end =
                ranges[ranges_count].start + module->dlpi_phdr[i].p_memsz;
            ranges_count++;
        }
    return 0;
}

static bool
is_unseen(const void *caller)
{
    if (!HAS(late_library_unseen))
        return false;
    for (uint32_t i = 0; i < ranges_count; i++)
        if ((uintptr_t)caller - ranges[i].start <
            ranges[i].end - ranges[i].start)
            return false;
    return true;
}

static void
choose_faults(const char *text)
{
    for (int i = 0; text != NULL && i < FAULTS; i++) {
        const char *const at = strstr(text, fault_names[i]);

        faults[i] = at != NULL;
    }
    counts_crossings = text != NULL && strcmp(text, "crossings") == 0;
    if (text != NULL && strcmp(text, "reference") == 0) {
        faults[FAULT_realloc_forgets_sampled] = true;
        faults[FAULT_realloc_skips_unsampled] = true;
        faults[FAULT_alignment_loses_sample] = true;
    }
}

static void __attribute__((constructor)) begin(void)
{
    *(void **)&next_calloc = dlsym(RTLD_NEXT, "calloc");
    *(void **)&next_realloc = dlsym(RTLD_NEXT, "realloc");
    *(void **)&next_memalign = dlsym(RTLD_NEXT, "memalign");
    *(void **)&next_free = dlsym(RTLD_NEXT, "free");
    *(void **)&next_malloc = dlsym(RTLD_NEXT, "malloc");
    process = getpid();
    pthread_key_create(&exit_key, forget_thread);
    pthread_atfork(NULL, NULL, after_fork);
    choose_faults(getenv("CONFORM_FAULT"));
    dl_iterate_phdr(note_range, NULL);
}

/* ---- The rule ---- */

/* returns: whether the next block, of this size, is sampled */
static bool
is_next(size_t bytes)
{
    double left;

    if (otel_memory_alloc_semaphore == 0) {
        self.until -= HAS(counts_detached) ? (double)bytes : 0;
        return false;
    }
    if (self.is_inside && !HAS(no_guard))
        return false;
    if (!self.has_begun)
        begin_thread();
    if (bytes == 0 && HAS(zero_takes_sample) && self.until < INTERVAL / 8) {
        self.until = draw();
        return true;
    }
    if ((double)bytes < self.until) {
        self.until -= (double)bytes;
        return false;
    }
    if (!counts_crossings) {
        self.until = draw();
        return true;
    }
    /* No allocation of a terabyte or more succeeds. */
    left = bytes < (size_t)1 << 40 ? (double)bytes : self.until;
    for (self.crossings = 0; left >= self.until; self.until = draw()) {
        left -= self.until;
        self.crossings++;
    }
    self.until -= left;
    return true;
}

static uint64_t
weight_of(size_t bytes)
{
    const double weight =
        bytes == 0 ? 0 : (double)bytes / -expm1(-(double)bytes / INTERVAL);

    if (counts_crossings)
        return (uint64_t)self.crossings * (uint64_t)INTERVAL;
    if (HAS(weight_is_size))
        return bytes;
    if (HAS(weight_varies))
        return (uint64_t)(weight * (0.5 + draw() / INTERVAL / 2));
    return (uint64_t)(HAS(weight_cut_off) ? weight : weight + 0.5);
}

static void
report_alloc(void *block, size_t bytes)
{
    const int error = errno;
    const uint64_t weight = weight_of(bytes);

    if (HAS(address_of_header))
        block = (char *)block - 16;
    if (HAS(size_of_block) && block != NULL)
        bytes = malloc_usable_size(block);
    self.is_inside = true;
    if (!HAS(address_of_header))
        producer_open(block, self.thread);
    if (HAS(lock_held))
        producer_lock();
    DTRACE_PROBE3(otel_memory, alloc, block, bytes, weight);
    if (HAS(event_per_interval) && (double)bytes > 2 * INTERVAL)
        DTRACE_PROBE3(otel_memory, alloc, block, bytes, weight);
    if (HAS(lock_held))
        producer_unlock();
    self.is_inside = false;
    if (HAS(guard_left) && otel_memory_alloc_semaphore == 0)
        self.until = INFINITY;
    errno = HAS(errno_changed) ? EAGAIN : error;
}

static void
report_free(void *block)
{
    const int error = errno;
    static uint32_t frees;

    if (HAS(fork_aborts) && getpid() != process)
        abort();
    self.is_inside = true;
    if (otel_memory_free_semaphore != 0 &&
        !(HAS(free_forgotten) && ++frees % 20 == 0))
        DTRACE_PROBE1(otel_memory, free, block);
    self.is_inside = false;
    errno = error;
}

static void
report_what_is_late(void)
{
    void *const late = self.told_late;

    self.told_late = NULL;
    if (late != NULL)
        report_free(late);
}

static void *
allocated(void *block, size_t bytes, bool is_sampled)
{
    if (is_sampled && (block != NULL || HAS(failure_told)))
        report_alloc(block, bytes);
    if (HAS(free_told_at_next))
        report_what_is_late();
    return block;
}

/* ---- The functions ---- */

EXPORTED void *
malloc(size_t bytes)
{
    const bool is_sampled =
        !is_unseen(__builtin_return_address(0)) && is_next(bytes);

    if (next_malloc == NULL)
        *(void **)&next_malloc = dlsym(RTLD_NEXT, "malloc");
    return allocated(next_malloc(bytes), bytes, is_sampled);
}

EXPORTED void
free(void *block)
{
    bool is_open;

    if (block == NULL || next_free == NULL)
        return;
    is_open = producer_close(block, closer());
    if (is_open && HAS(free_told_at_next)) {
        report_what_is_late();
        self.told_late = block;
    }
    if (is_open && !HAS(free_told_late) && !HAS(free_told_at_next))
        report_free(block);
    next_free(block);
    if (is_open && HAS(free_told_late))
        report_free(block);
}

/* dlsym() allocates before it has found the allocator. */
static void *
early(size_t bytes)
{
    static char memory[EARLY_BYTES] __attribute__((aligned(16)));
    static size_t used;
    void *const block = &memory[used];

    used += (bytes + 15) / 16 * 16;
    return used <= EARLY_BYTES ? block : NULL;
}

EXPORTED void *
calloc(size_t count, size_t bytes)
{
    size_t all;

    if (next_calloc == NULL)
        return early(count * bytes);
    if (__builtin_mul_overflow(count, bytes, &all) || HAS(calloc_unseen))
        return next_calloc(count, bytes);
    return allocated(next_calloc(count, bytes), all, is_next(all));
}

EXPORTED void *
realloc(void *old, size_t bytes)
{
    bool was_open;
    void *block;

    if (old == NULL)
        return HAS(realloc_of_null_unseen) ? next_malloc(bytes) : malloc(bytes);
    if (bytes == 0) {
        if (!HAS(realloc_to_zero_unseen)) {
            free(old);
            return NULL;
        }
        return next_realloc(old, 0);
    }
    was_open = producer_close(old, closer());
    if (was_open && HAS(realloc_failure_closes))
        report_free(old);
    block = next_realloc(old, bytes);
    if (block == NULL) {
        if (HAS(failure_resets_wait))
            self.until = 0;
        if (was_open && !HAS(realloc_failure_closes))
            producer_open(old, self.thread);
        return NULL;
    }
    if (was_open && !HAS(realloc_failure_closes))
        report_free(old);
    if ((was_open && HAS(realloc_forgets_sampled)) ||
        (!was_open && HAS(realloc_skips_unsampled)))
        return block;
    return allocated(block, bytes, is_next(bytes));
}

EXPORTED void *
reallocarray(void *old, size_t count, size_t bytes)
{
    size_t all;

    if (__builtin_mul_overflow(count, bytes, &all)) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(old, all);
}

EXPORTED void *
memalign(size_t alignment, size_t bytes)
{
    const bool is_sampled =
        is_next(bytes) && !(HAS(alignment_loses_sample) && alignment > 1024);

    return allocated(next_memalign(alignment, bytes), bytes, is_sampled);
}

EXPORTED void *
aligned_alloc(size_t alignment, size_t bytes)
{
    return memalign(alignment, bytes);
}

EXPORTED void *
valloc(size_t bytes)
{
    return memalign((size_t)sysconf(_SC_PAGESIZE), bytes);
}

EXPORTED int
posix_memalign(void **result, size_t alignment, size_t bytes)
{
    const int error = errno;
    void *block;

    if (alignment % sizeof(void *) != 0 || (alignment & (alignment - 1)) != 0)
        return EINVAL;
    block = memalign(alignment, bytes);
    errno = error;
    if (block == NULL && !HAS(result_touched))
        return ENOMEM;
    *result = block;
    return block == NULL ? ENOMEM : 0;
}
