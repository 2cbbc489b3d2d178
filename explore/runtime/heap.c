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
 *
 * To make a block is a write to all of it: a thread that may not know of it
 * races with it. This write is recorded for a word when it is first used.
 */
#include "explore/runtime/program.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "explore/engine/need.h"

#include "explore/runtime/explored.h"

enum { WORD = 8, FREED = -1, PATTERN = 0xbe };

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
    uint8_t maker;
    uint8_t pad;
    uint32_t stamp; /* of the making; 0: all threads know of it */
};

struct arena {
    size_t used;
    size_t last; /* offset of the newest head, + 1; or 0 */
};

static int8_t *shadow;
static struct arena arenas[SIM_THREADS_MAX];
static struct arena kept; /* of arena 0, before the first run */
static void *kept_bytes;
static void *kept_shadow;
static bool keeping; /* the program's own start is allocating */

/* ---- Blocks ---- */

static struct head *
head_of(const void *block)
{
    return (struct head *)((uintptr_t)block - sizeof(struct head));
}

static uintptr_t
base_of(struct engine *e, uint32_t arena)
{
    return e->heap_base + arena * ARENA_BYTES;
}

static int8_t *
shadow_of(struct engine *e, uintptr_t address)
{
    return shadow + (address - e->heap_base) / WORD;
}

/* Aligned to a power of 2 that is not less than `alignment`, nor than 16. The
 * next block begins a byte later at least: a pointer to the end of this one is
 * none to that. */
void *
sim_heap_take(struct engine *e, size_t bytes, size_t alignment, uintptr_t site)
{
    const uint32_t me = sim_program_runs(e) ? e->current : 0;
    struct arena *a = &arenas[me];
    const uintptr_t base = base_of(e, me);
    uintptr_t address = base + a->used + sizeof(struct head);
    size_t step = 16;
    size_t end;
    struct head *h;

    while (step < alignment && step < ARENA_BYTES)
        step *= 2;
    address = (address + step - 1) & ~(step - 1);
    if (__builtin_add_overflow(address - base, bytes, &end) ||
        end >= ARENA_BYTES) {
        if (!sim_program_runs(e)) {
            errno = ENOMEM;
            return NULL;
        }
        sim_engine_refuse(e, SIM_FAIL_LIMIT, site, 0,
                          "a thread allocates more than 32 megabytes");
    }
    h = head_of((const void *)address);
    *h = (struct head){
        .magic = MAGIC, .bytes = bytes, .site = site, .previous = a->last};
    if (sim_program_runs(e) && sim_program_called(site)) {
        h->maker = (uint8_t)me;
        h->stamp = sim_self(e)->run.now.at[me] + 1;
    }
    a->last = (uintptr_t)h - base + 1;
    a->used = (end / WORD + 1) * WORD;
    memset((void *)address, PATTERN, bytes);
    memset(shadow_of(e, address), WORD, bytes / WORD);
    *shadow_of(e, address + bytes) = (int8_t)(bytes % WORD);
    return (void *)address;
}

static _Noreturn void
misuse(struct engine *e, const char *text, uintptr_t site, uintptr_t other_site)
{
    sim_engine_refuse(e, SIM_FAIL_HEAP, site, other_site, text);
}

/* Find the block in or next to which an address lies, from the end of the
 * arena. */
static struct head *
block_around(struct engine *e, uintptr_t address)
{
    const uint32_t i = (uint32_t)((address - e->heap_base) / ARENA_BYTES);
    const uintptr_t base = base_of(e, i);

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
is_variable(struct engine *e, uintptr_t address)
{
    for (uint32_t i = 0; i < SIM_THREADS_MAX; i++) {
        if (sim_fiber_owns(&e->threads[i].fiber, address))
            return true;
    }
    return sim_image_has(address);
}

void
sim_heap_give(struct engine *e, void *block, uintptr_t site)
{
    struct head *h;

    if (block == NULL)
        return;
    if (!sim_heap_has(e, (uintptr_t)block)) {
        if (!sim_program_runs(e))
            free(block);
        else if (sim_program_called(site) || is_variable(e, (uintptr_t)block))
            misuse(e, "free of something that malloc did not return", site, 0);
        return; /* a library's block from before the program is never freed */
    }
    h = head_of(block);
    if (!sim_program_runs(e)) {
        h->freed = true;
        return;
    }
    if ((uintptr_t)block % 16 != 0 || h->magic != MAGIC ||
        *shadow_of(e, (uintptr_t)h) != 0)
        misuse(e, "free of something that malloc did not return", site, 0);
    if (h->freed)
        misuse(e, "a block is freed twice", site, h->free_site);
    e->state.freeing = true;
    sim_program_writes(e, block, h->bytes, site);
    e->state.freeing = false;
    h->freed = true;
    h->free_site = site;
    memset(shadow_of(e, (uintptr_t)block), FREED, (h->bytes + WORD - 1) / WORD);
}

static void
check_block(uintptr_t address, size_t bytes, uintptr_t site)
{
    struct engine *e = &sim_engine;
    const uintptr_t end = address + bytes;

    for (uintptr_t word = address / WORD * WORD; word < end; word += WORD) {
        const int8_t room = *shadow_of(e, word);
        const struct head *h;

        if (room == WORD || (room >= 0 && end <= word + (uintptr_t)room))
            continue;
        h = block_around(e, word);
        if (room == FREED)
            misuse(e, "a block is used after it was freed", site, h->free_site);
        misuse(e, "an access beyond the end of a block", site,
               h != NULL ? h->site : 0);
    }
}

static bool
find_making(uintptr_t address, struct sim_making *making)
{
    const struct head *h = block_around(&sim_engine, address);

    if (h == NULL || h->stamp == 0)
        return false;
    *making = (struct sim_making){h->maker, h->stamp, h->site};
    return true;
}

/* ---- Runs ---- */

void
sim_heap_open(struct engine *e)
{
    uint8_t *memory =
        sim_need(mmap((void *)BASE, 2 * SIM_HEAP_BYTES, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));

    shadow = (int8_t *)memory + SIM_HEAP_BYTES;
    e->heap_base = (uintptr_t)memory;
    e->heap_check_block = check_block;
    e->heap_find_making = find_making;
    keeping = true;
}

static void *
copy_of(const void *bytes, size_t count)
{
    return memcpy(sim_need(malloc(count)), bytes, count);
}

void
sim_heap_keep(struct engine *e)
{
    keeping = false;
    kept = arenas[0];
    kept_bytes = copy_of((const void *)e->heap_base, kept.used);
    kept_shadow = copy_of(shadow, kept.used / WORD);
}

void
sim_heap_reset(struct engine *e)
{
    for (uint32_t i = 0; i < SIM_THREADS_MAX; i++)
        memset(shadow_of(e, base_of(e, i)), 0, arenas[i].used / WORD);
    memset(arenas, 0, sizeof arenas);
    arenas[0] = kept;
    memcpy((void *)e->heap_base, kept_bytes, kept.used);
    memcpy(shadow, kept_shadow, kept.used / WORD);
}

void
sim_heap_release(struct engine *e)
{
    sim_heap_reset(e);
    free(kept_bytes);
    free(kept_shadow);
    keeping = true;
}

/* ---- Leaks ---- */

static bool found_more;

static void
scan(uintptr_t begin, uintptr_t end)
{
    struct engine *e = &sim_engine;

    for (uintptr_t at = begin & ~(uintptr_t)7; at + 8 <= end; at += 8) {
        const uintptr_t value = *(const uintptr_t *)at;
        struct head *h;

        if (!sim_heap_has(e, value))
            continue;
        h = block_around(e, value);
        if (h == NULL || h->freed || h->reached ||
            value - (uintptr_t)(h + 1) > h->bytes)
            continue;
        h->reached = true;
        found_more = true;
    }
}

static bool
is_kept(struct engine *e, const struct head *h)
{
    return (uintptr_t)h < e->heap_base + kept.used;
}

/*
 * Walk the live blocks of an arena. A block that existed before the run is no
 * leak, and counts as reached. With scan_reached, look for pointers in reached
 * blocks.
 *
 * returns: the oldest live block that is not reached, or NULL
 */
static struct head *
walk(struct engine *e, uint32_t arena, bool scan_reached)
{
    const uintptr_t base = base_of(e, arena);
    struct head *lost = NULL;

    for (uint64_t at = arenas[arena].last; at != 0;) {
        struct head *h = (struct head *)(base + at - 1);

        at = h->previous;
        if (h->freed)
            continue;
        h->reached |= is_kept(e, h);
        if (!h->reached)
            lost = h;
        else if (scan_reached)
            scan((uintptr_t)(h + 1), (uintptr_t)(h + 1) + h->bytes);
    }
    return lost;
}

static void
scan_stack(struct engine *e, uint32_t i, uintptr_t begin)
{
    const struct sim_fiber *f = &e->threads[i].fiber;

    if (!e->threads[i].run.finished && begin != 0)
        scan(begin, (uintptr_t)f->stack + SIM_FIBER_STACK_BYTES);
}

/*
 * Could the thread's local variables still point to its blocks? They exist if
 * the thread has not returned, but the compiler may keep them where no scan
 * finds them.
 */
static bool
still_has_locals(struct engine *e, uint32_t i, uintptr_t stack)
{
    return i < e->threads_count && !e->threads[i].run.finished &&
           (i != e->current || stack != 0);
}

size_t
sim_heap_leak(struct engine *e, uintptr_t stack, uintptr_t *site)
{
    bool any = false;

    for (uint32_t i = 0; i < SIM_THREADS_MAX; i++)
        any |= walk(e, i, false) != NULL;
    if (!any)
        return 0;
    sim_image_each(scan);
    sim_tls_each(e, scan);
    for (uint32_t i = 0; i < e->threads_count; i++)
        scan_stack(e, i,
                   i == e->current
                       ? stack
                       : (uintptr_t)e->threads[i].fiber.stack_pointer);
    do {
        found_more = false;
        for (uint32_t i = 0; i < SIM_THREADS_MAX; i++)
            walk(e, i, true);
    } while (found_more);
    for (uint32_t i = 0; i < SIM_THREADS_MAX; i++) {
        const struct head *h = walk(e, i, false);

        if (h == NULL || still_has_locals(e, i, stack))
            continue;
        *site = h->site;
        return h->bytes > 0 ? h->bytes : 1;
    }
    return 0;
}

/* ---- What a program calls ---- */

static bool
in_program(struct engine *e)
{
    return sim_program_runs(e) || keeping;
}

void *
sim_heap_allocate(struct engine *e, size_t bytes, uintptr_t site)
{
    return in_program(e) ? sim_heap_take(e, bytes, 16, site) : malloc(bytes);
}

void *
explored_malloc(size_t bytes)
{
    struct engine *e = &sim_engine;

    return sim_heap_allocate(e, bytes, HERE);
}

void
explored_free(void *block)
{
    struct engine *e = &sim_engine;

    sim_heap_give(e, block, HERE);
}

void *
explored_calloc(size_t count, size_t bytes)
{
    struct engine *e = &sim_engine;
    void *block;
    size_t all;

    if (!in_program(e))
        return calloc(count, bytes);
    if (__builtin_mul_overflow(count, bytes, &all)) {
        *explored___errno_location() = ENOMEM;
        return NULL;
    }
    block = sim_heap_take(e, all, 16, HERE);
    return block != NULL ? memset(block, 0, all) : NULL;
}

static void *
resize(struct engine *e, void *block, size_t bytes, uintptr_t site)
{
    void *copy;
    size_t old_bytes;

    if (block == NULL)
        return sim_heap_allocate(e, bytes, site);
    if (!sim_heap_has(e, (uintptr_t)block)) {
        if (!sim_program_runs(e)) /* a library's */
            return realloc(block, bytes);
        misuse(e, "realloc of something that malloc did not return", site, 0);
    }
    if (bytes == 0) { /* as in glibc */
        sim_heap_give(e, block, site);
        return NULL;
    }
    old_bytes = head_of(block)->bytes;
    copy = sim_heap_take(e, bytes, 16, site);
    if (copy == NULL)
        return NULL;
    memcpy(copy, block, bytes < old_bytes ? bytes : old_bytes);
    sim_heap_give(e, block, site);
    return copy;
}

void *
explored_realloc(void *block, size_t bytes)
{
    struct engine *e = &sim_engine;

    return resize(e, block, bytes, HERE);
}

void *
explored_reallocarray(void *block, size_t count, size_t bytes)
{
    struct engine *e = &sim_engine;
    size_t all;

    if (__builtin_mul_overflow(count, bytes, &all)) {
        *explored___errno_location() = ENOMEM;
        return NULL;
    }
    return resize(e, block, all, HERE);
}

void *
sim_heap_allocate_aligned(struct engine *e, size_t alignment, size_t bytes,
                          uintptr_t site)
{
    return in_program(e) ? sim_heap_take(e, bytes, alignment, site)
                         : memalign(alignment, bytes);
}

size_t
explored_malloc_usable_size(void *block)
{
    struct engine *e = &sim_engine;

    if (!sim_heap_has(e, (uintptr_t)block))
        return malloc_usable_size(block);
    return head_of(block)->bytes;
}
