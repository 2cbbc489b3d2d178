/*
 * heap.c -- malloc and free of a program.
 *
 *      arena of a thread:  |head|block....|head|block......|head|block|  free
 *      shadow:              0000 8888 8884 0000 9999 9999   0000 8888
 *
 * Each thread has an arena of its own, so an address depends only on what the
 * thread itself did. Blocks are not reused within a run, so any access to a
 * freed block is detected, and no reuse can look like a race. One byte of
 * shadow memory describes 8 bytes of the arena: it says how many of them may be
 * accessed, or FREED if they belong to a freed block.
 */
#include "program.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "need.h"

#include "explored.h"

enum { FREED = 9, PATTERN = 0xbe };

#define ARENA_BYTES (SIM_HEAP_BYTES / SIM_THREADS_MAX)
#define BASE        ((uintptr_t)0x200000000000)
#define MAGIC       0x70726f6673696d21U

struct head {
    uint64_t magic;
    size_t bytes;
    uintptr_t site; /* of the allocation */
    uintptr_t free_site;
    uint64_t previous; /* offset of the head before, + 1; or 0 */
    bool freed;
    bool reached; /* used only while leaks are searched */
    uint8_t pad[6];
};

struct arena {
    size_t used;
    size_t last; /* offset of the newest head, + 1; or 0 */
};

static uint8_t *shadow;
static struct arena arenas[SIM_THREADS_MAX];
static struct arena kept; /* of arena 0, before the first run */
static uint8_t *kept_bytes;
static uint8_t *kept_shadow;
static bool keeping; /* the program's own start is allocating */

/* ---- Blocks ---- */

static struct head *
head_of(const void *block)
{
    return (struct head *)((uintptr_t)block - sizeof(struct head));
}

static void
mark(uintptr_t address, size_t bytes, uint8_t value)
{
    uint8_t *s = shadow + (address - sim_heap_base) / 8;

    memset(s, value, bytes / 8);
    if (bytes % 8 != 0)
        s[bytes / 8] = value == FREED ? value : (uint8_t)(bytes % 8);
}

void *
sim_heap_take(size_t bytes, size_t alignment, uintptr_t site)
{
    const uint32_t me = sim_program_runs() ? sim_engine.current : 0;
    struct arena *a = &arenas[me];
    const uintptr_t base = sim_heap_base + me * ARENA_BYTES;
    uintptr_t address;
    struct head *h;

    alignment = alignment < 16 ? 16 : alignment;
    address = base + a->used + sizeof *h;
    address = (address + alignment - 1) & ~(alignment - 1);
    if (bytes > ARENA_BYTES || address - base > ARENA_BYTES - bytes - 64) {
        if (!sim_program_runs()) {
            errno = ENOMEM;
            return NULL;
        }
        sim_engine_refuse(SIM_FAIL_LIMIT, site, 0,
                          "a thread allocates more than 32 megabytes");
    }
    h = head_of((const void *)address);
    *h = (struct head){
        .magic = MAGIC, .bytes = bytes, .site = site, .previous = a->last};
    a->last = (uintptr_t)h - base + 1;
    a->used = (address + bytes + 16 + 15 - base) & ~(size_t)15;
    memset((void *)address, PATTERN, bytes);
    mark(address, bytes, 8);
    return (void *)address;
}

static bool
is_ours(const void *block)
{
    return sim_heap_base != 0 &&
           (uintptr_t)block - sim_heap_base < SIM_HEAP_BYTES;
}

static _Noreturn void
misuse(const char *text, uintptr_t site, uintptr_t other_site)
{
    sim_engine_refuse(SIM_FAIL_HEAP, site, other_site, text);
}

/* Find the block in or next to which an address lies, from the end of the
 * arena. */
static struct head *
block_around(uintptr_t address)
{
    const uint32_t i = (uint32_t)((address - sim_heap_base) / ARENA_BYTES);
    const uintptr_t base = sim_heap_base + i * ARENA_BYTES;

    for (uint64_t at = arenas[i].last; at != 0;) {
        struct head *h = (struct head *)(base + at - 1);

        if ((uintptr_t)h <= address)
            return h;
        at = h->previous;
    }
    return NULL;
}

/* A variable of the program, global or on a stack? */
static bool
is_variable(uintptr_t address)
{
    for (uint32_t i = 0; i < SIM_THREADS_MAX; i++) {
        if (sim_fiber_owns(&sim_engine.threads[i].fiber, address))
            return true;
    }
    return sim_image_has(address);
}

void
sim_heap_give(void *block, uintptr_t site)
{
    struct head *h;

    if (block == NULL)
        return;
    if (!is_ours(block)) {
        if (!sim_program_runs())
            free(block);
        else if (sim_program_called(site) || is_variable((uintptr_t)block))
            misuse("free of something that malloc did not return", site, 0);
        return; /* a library's block from before the program is never freed */
    }
    h = head_of(block);
    if (!sim_program_runs()) {
        h->freed = true;
        return;
    }
    if ((uintptr_t)block % 16 != 0 || h->magic != MAGIC ||
        shadow[((uintptr_t)h - sim_heap_base) / 8] != 0)
        misuse("free of something that malloc did not return", site, 0);
    if (h->freed)
        misuse("a block is freed twice", site, h->free_site);
    sim_engine.freeing = true;
    sim_program_writes(block, h->bytes, site);
    sim_engine.freeing = false;
    h->freed = true;
    h->free_site = site;
    mark((uintptr_t)block, h->bytes, FREED);
    sim_object_forget((uintptr_t)block, h->bytes);
}

static void
check_block(uintptr_t address, size_t bytes, uintptr_t site)
{
    const uintptr_t end = address + bytes;

    for (uintptr_t at = address; at < end; at = (at | 7) + 1) {
        const uint8_t room = shadow[(at - sim_heap_base) / 8];
        const uintptr_t last = (at | 7) < end - 1 ? (at | 7) : end - 1;
        const struct head *h;

        if (room != FREED && (last & 7) < room)
            continue;
        h = block_around(at);
        if (room == FREED)
            misuse("a block is used after it was freed", site, h->free_site);
        misuse("an access beyond the end of a block", site,
               h != NULL ? h->site : 0);
    }
}

/* ---- Runs ---- */

void
sim_heap_open(void)
{
    const size_t shadow_bytes = SIM_HEAP_BYTES / 8;
    void *memory;

    keeping = true;
    if (shadow != NULL)
        return;
    memory = sim_need(mmap((void *)BASE, SIM_HEAP_BYTES, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    shadow = sim_need(mmap(NULL, shadow_bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    sim_heap_base = (uintptr_t)memory;
    sim_heap_check_block = check_block;
}

static void *
copy_of(const void *bytes, size_t count)
{
    void *copy = sim_need(malloc(count > 0 ? count : 1));

    return memcpy(copy, bytes, count);
}

void
sim_heap_keep(void)
{
    keeping = false;
    free(kept_bytes);
    free(kept_shadow);
    kept = arenas[0];
    kept_bytes = copy_of((const void *)sim_heap_base, kept.used);
    kept_shadow = copy_of(shadow, kept.used / 8);
}

void
sim_heap_reset(void)
{
    for (uint32_t i = 0; i < SIM_THREADS_MAX; i++) {
        memset(shadow + i * (ARENA_BYTES / 8), 0, arenas[i].used / 8);
        arenas[i] = (struct arena){.used = 0};
    }
    memcpy((void *)sim_heap_base, kept_bytes, kept.used);
    memcpy(shadow, kept_shadow, kept.used / 8);
    arenas[0] = kept;
}

/* ---- Leaks ---- */

static bool found_more;

static void
scan(uintptr_t begin, uintptr_t end)
{
    for (uintptr_t at = (begin + 7) & ~(uintptr_t)7; at + 8 <= end; at += 8) {
        const uintptr_t value = *(const uintptr_t *)at;
        struct head *h;

        if (value - sim_heap_base >= SIM_HEAP_BYTES)
            continue;
        h = block_around(value);
        if (h == NULL || h->freed || h->reached ||
            value - (uintptr_t)(h + 1) > h->bytes)
            continue;
        h->reached = true;
        found_more = true;
    }
}

static bool
is_kept(const struct head *h)
{
    return (uintptr_t)h < sim_heap_base + kept.used;
}

/*
 * Walk the live blocks of an arena. A block that existed before the run is no
 * leak, and counts as reached. With scan_reached, look for pointers in reached
 * blocks.
 *
 * returns: the oldest live block that is not reached, or NULL
 */
static struct head *
walk(uint32_t arena, bool scan_reached)
{
    const uintptr_t base = sim_heap_base + arena * ARENA_BYTES;
    struct head *lost = NULL;

    for (uint64_t at = arenas[arena].last; at != 0;) {
        struct head *h = (struct head *)(base + at - 1);

        at = h->previous;
        if (h->freed)
            continue;
        h->reached |= is_kept(h);
        if (!h->reached)
            lost = h;
        else if (scan_reached)
            scan((uintptr_t)(h + 1), (uintptr_t)(h + 1) + h->bytes);
    }
    return lost;
}

static void
scan_stack(uint32_t i, uintptr_t begin)
{
    const struct sim_fiber *f = &sim_engine.threads[i].fiber;

    if (!sim_engine.threads[i].finished && begin != 0)
        scan(begin, (uintptr_t)f->stack + SIM_FIBER_STACK_BYTES);
}

/*
 * Could the thread's local variables still point to its blocks? They exist if
 * the thread has not returned, but the compiler may keep them where no scan
 * finds them.
 */
static bool
still_has_locals(uint32_t i, uintptr_t stack)
{
    return i < sim_engine.threads_count && !sim_engine.threads[i].finished &&
           (i != sim_engine.current || stack != 0);
}

size_t
sim_heap_leak(uintptr_t stack, uintptr_t *site)
{
    bool any = false;

    for (uint32_t i = 0; i < SIM_THREADS_MAX; i++)
        any |= walk(i, false) != NULL;
    if (!any)
        return 0;
    sim_image_each(scan);
    sim_tls_each(scan);
    for (uint32_t i = 0; i < sim_engine.threads_count; i++)
        scan_stack(i,
                   i == sim_engine.current
                       ? stack
                       : (uintptr_t)sim_engine.threads[i].fiber.stack_pointer);
    do {
        found_more = false;
        for (uint32_t i = 0; i < SIM_THREADS_MAX; i++)
            walk(i, true);
    } while (found_more);
    for (uint32_t i = 0; i < SIM_THREADS_MAX; i++) {
        const struct head *h = walk(i, false);

        if (h == NULL || still_has_locals(i, stack))
            continue;
        *site = h->site;
        return h->bytes > 0 ? h->bytes : 1;
    }
    return 0;
}

/* ---- What a program calls ---- */

static bool
in_program(void)
{
    return sim_program_runs() || keeping;
}

void *
sim_heap_allocate(size_t bytes, uintptr_t site)
{
    return in_program() ? sim_heap_take(bytes, 16, site) : malloc(bytes);
}

void *
explored_malloc(size_t bytes)
{
    return sim_heap_allocate(bytes, HERE);
}

void
explored_free(void *block)
{
    sim_heap_give(block, HERE);
}

void *
explored_calloc(size_t count, size_t bytes)
{
    void *block;

    if (!in_program())
        return calloc(count, bytes);
    if (bytes != 0 && count > SIZE_MAX / bytes) {
        *explored___errno_location() = ENOMEM;
        return NULL;
    }
    block = sim_heap_take(count * bytes, 16, HERE);
    return block != NULL ? memset(block, 0, count * bytes) : NULL;
}

static void *
resize(void *block, size_t bytes, uintptr_t site)
{
    void *copy;
    size_t old_bytes;

    if (block == NULL)
        return sim_heap_take(bytes, 16, site);
    if (!is_ours(block)) {
        if (!sim_program_runs()) /* a library's */
            return realloc(block, bytes);
        misuse("realloc of something that malloc did not return", site, 0);
    }
    if (bytes == 0) { /* as in glibc */
        sim_heap_give(block, site);
        return NULL;
    }
    old_bytes = head_of(block)->bytes;
    copy = sim_heap_take(bytes, 16, site);
    if (copy == NULL)
        return NULL;
    if (!head_of(block)->freed)
        memcpy(copy, block, bytes < old_bytes ? bytes : old_bytes);
    sim_heap_give(block, site);
    return copy;
}

void *
explored_realloc(void *block, size_t bytes)
{
    if (!in_program() && !is_ours(block))
        return realloc(block, bytes);
    return resize(block, bytes, HERE);
}

void *
explored_reallocarray(void *block, size_t count, size_t bytes)
{
    if (bytes != 0 && count > SIZE_MAX / bytes) {
        *explored___errno_location() = ENOMEM;
        return NULL;
    }
    if (!in_program() && !is_ours(block))
        return realloc(block, count * bytes);
    return resize(block, count * bytes, HERE);
}

void *
explored_memalign(size_t alignment, size_t bytes)
{
    if (!in_program())
        return memalign(alignment, bytes);
    return sim_heap_take(bytes, alignment, HERE);
}

void *
explored_aligned_alloc(size_t alignment, size_t bytes)
{
    if (!in_program())
        return memalign(alignment, bytes);
    return sim_heap_take(bytes, alignment, HERE);
}

int
explored_posix_memalign(void **block, size_t alignment, size_t bytes)
{
    void *got;

    if (alignment == 0 || alignment % sizeof(void *) != 0 ||
        (alignment & (alignment - 1)) != 0)
        return EINVAL;
    got = in_program() ? sim_heap_take(bytes, alignment, HERE)
                       : memalign(alignment, bytes);
    if (got == NULL)
        return ENOMEM;
    *block = got;
    return 0;
}

size_t
explored_malloc_usable_size(void *block)
{
    if (!is_ours(block))
        return malloc_usable_size(block);
    return head_of(block)->bytes;
}
