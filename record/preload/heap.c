/*
 * heap.c -- the malloc family, interposed.
 *
 * An allocation is reported after the real call, a free before it, so reports
 * about one address come in the order in which things happened.
 *
 * Until the real functions are known -- dlsym itself may allocate -- memory
 * comes from a small arena that is never given back.
 */
#include "record/preload/hooks.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "record/preload/told.h"

#define ARENA_BYTES (64u << 10)
#define ARENA_ALIGN 64u
#define PAGE_BYTES  4096u

static void free_before(void *address);

static struct {
    void *(*malloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void *(*aligned_alloc)(size_t, size_t);
    void *(*memalign)(size_t, size_t);
    void *(*valloc)(size_t);
    void *(*pvalloc)(size_t);
    int (*posix_memalign)(void **, size_t, size_t);
    size_t (*usable_size)(void *);
    void (*free)(void *);
} real = {.free = free_before};

static _Alignas(ARENA_ALIGN) uint8_t arena[ARENA_BYTES];
static _Atomic uint32_t arena_used_bytes;

void
embed_heap_resolve(void)
{
    /* malloc comes last: once it is resolved, all are. */
    embed_resolve(&real.free, "free", NULL);
    embed_resolve(&real.calloc, "calloc", NULL);
    embed_resolve(&real.realloc, "realloc", NULL);
    embed_resolve(&real.aligned_alloc, "aligned_alloc", NULL);
    embed_resolve(&real.memalign, "memalign", NULL);
    embed_resolve(&real.valloc, "valloc", NULL);
    embed_resolve(&real.pvalloc, "pvalloc", NULL);
    embed_resolve(&real.posix_memalign, "posix_memalign", NULL);
    embed_resolve(&real.usable_size, "malloc_usable_size", NULL);
    embed_resolve(&real.malloc, "malloc", NULL);
}

size_t
embed_usable_bytes(void *address)
{
    return real.usable_size != NULL ? real.usable_size(address) : 0;
}

/* returns: false while the real functions are not known */
static bool
is_ready(void)
{
    if (real.malloc != NULL)
        return true;
    if (embed_inside)
        return false;
    embed_inside = true;
    embed_locks_resolve();
    embed_heap_resolve();
    embed_inside = false;
    return real.malloc != NULL;
}

/* returns: zeroed memory of the arena, with its size stored in front of it */
static void *
arena_take(size_t bytes)
{
    uint32_t need;
    uint32_t at;

    if (bytes > ARENA_BYTES / 2) {
        errno = ENOMEM;
        return NULL;
    }
    need = (uint32_t)(bytes + 2 * ARENA_ALIGN - 1) & ~(ARENA_ALIGN - 1);
    at = atomic_fetch_add(&arena_used_bytes, need);
    if (at > ARENA_BYTES - need) {
        errno = ENOMEM;
        return NULL;
    }
    embed_on_early();
    embed_tell_always(arena + at + ARENA_ALIGN);
    memcpy(arena + at, &bytes, sizeof bytes);
    return arena + at + ARENA_ALIGN;
}

static bool
is_of_arena(const void *address)
{
    return (uintptr_t)address - (uintptr_t)arena < ARENA_BYTES;
}

static void
tell_alloc(void *address, size_t bytes, size_t alignment, bool zeroed,
           const void *frame)
{
    const struct embed_request request = {
        bytes, alignment != 0 ? 1 + (uint32_t)__builtin_ctzl(alignment) : 0,
        zeroed};

    if (!embed_skips(bytes))
        embed_on_alloc(address, request, frame);
}

#define FRAME __builtin_frame_address(0)

static __attribute__((noinline)) void *
malloc_told(size_t bytes, const void *frame)
{
    const struct embed_request request = {.bytes = bytes};
    void *address;

    if (!is_ready())
        return arena_take(bytes);
    address = real.malloc(bytes);
    embed_on_alloc(address, request, frame);
    return address;
}

EMBED_HOOK void *
malloc(size_t bytes)
{
    void *address;

    /* Nothing is skipped before all is ready. */
    if (__builtin_expect(embed_skips(bytes), true))
        return real.malloc(bytes);
    address = malloc_told(bytes, FRAME);
    EMBED_KEEP_FRAME();
    return address;
}

static __attribute__((noinline)) void *
calloc_told(size_t count, size_t each_bytes, const void *frame)
{
    struct embed_request request = {.zeroed = true};
    void *address;

    if (__builtin_mul_overflow(count, each_bytes, &request.bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    if (!is_ready())
        return arena_take(request.bytes);
    address = real.calloc(count, each_bytes);
    embed_on_alloc(address, request, frame);
    return address;
}

EMBED_HOOK void *
calloc(size_t count, size_t each_bytes)
{
    void *address;
    size_t bytes;

    if (!__builtin_mul_overflow(count, each_bytes, &bytes) &&
        __builtin_expect(embed_skips(bytes), true))
        return real.calloc(count, each_bytes);
    address = calloc_told(count, each_bytes, FRAME);
    EMBED_KEEP_FRAME();
    return address;
}

/* Used in place of the real function until that is known. */
static void
free_before(void *address)
{
    if (is_ready() && real.free != free_before)
        real.free(address);
}

static __attribute__((noinline)) void
free_slowly(void *address)
{
    if (address == NULL || is_of_arena(address) || !is_ready())
        return;
    if (embed_may_be_told(address))
        embed_on_free(address);
    real.free(address);
}

EMBED_HOOK void
free(void *address)
{
    if (__builtin_expect(embed_may_be_told(address), false))
        free_slowly(address);
    else
        real.free(address);
}

static void *
leave_arena(const void *old, size_t bytes)
{
    void *address = is_ready() ? real.malloc(bytes) : arena_take(bytes);
    size_t old_bytes;

    memcpy(&old_bytes, (const uint8_t *)old - ARENA_ALIGN, sizeof old_bytes);
    if (address != NULL)
        memcpy(address, old, old_bytes < bytes ? old_bytes : bytes);
    return address;
}

static void *
resize(void *old, size_t bytes, const void *frame)
{
    void *address;
    uint64_t token;

    if (is_of_arena(old)) {
        address = leave_arena(old, bytes);
        if (!is_of_arena(address))
            tell_alloc(address, bytes, 0, false, frame);
        return address;
    }
    if (!is_ready())
        return arena_take(bytes); /* old is NULL: no real block yet */
    if (old == NULL) {
        address = real.realloc(NULL, bytes);
        tell_alloc(address, bytes, 0, false, frame);
        return address;
    }
    token = embed_on_resize(old);
    address = real.realloc(old, bytes);
    embed_on_resized(token, old, address, bytes, frame);
    return address;
}

/* returns: true if neither the free of the old block nor the new allocation
 * must be reported */
static bool
skips_resize(const void *old, size_t bytes)
{
    return !embed_may_be_told(old) && embed_skips(bytes);
}

EMBED_HOOK void *
realloc(void *old, size_t bytes)
{
    void *address;

    if (__builtin_expect(skips_resize(old, bytes), true))
        return real.realloc(old, bytes);
    address = resize(old, bytes, FRAME);
    EMBED_KEEP_FRAME();
    return address;
}

EMBED_HOOK void *
reallocarray(void *old, size_t count, size_t each_bytes)
{
    void *address;
    size_t bytes;

    if (__builtin_mul_overflow(count, each_bytes, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    if (__builtin_expect(skips_resize(old, bytes), true))
        return real.realloc(old, bytes);
    address = resize(old, bytes, FRAME);
    EMBED_KEEP_FRAME();
    return address;
}

EMBED_HOOK void *
aligned_alloc(size_t alignment, size_t bytes)
{
    void *address;

    if (!is_ready())
        return alignment <= ARENA_ALIGN ? arena_take(bytes) : NULL;
    address = real.aligned_alloc(alignment, bytes);
    tell_alloc(address, bytes, alignment, false, FRAME);
    return address;
}

EMBED_HOOK void *
memalign(size_t alignment, size_t bytes)
{
    void *address;

    if (!is_ready())
        return alignment <= ARENA_ALIGN ? arena_take(bytes) : NULL;
    address = real.memalign(alignment, bytes);
    tell_alloc(address, bytes, alignment, false, FRAME);
    return address;
}

EMBED_HOOK int
posix_memalign(void **to, size_t alignment, size_t bytes)
{
    int status;

    if (!is_ready())
        return ENOMEM;
    status = real.posix_memalign(to, alignment, bytes);
    if (status == 0)
        tell_alloc(*to, bytes, alignment, false, FRAME);
    return status;
}

EMBED_HOOK void *
valloc(size_t bytes)
{
    void *address;

    if (!is_ready())
        return NULL;
    address = real.valloc(bytes);
    tell_alloc(address, bytes, PAGE_BYTES, false, FRAME);
    return address;
}

EMBED_HOOK void *
pvalloc(size_t bytes)
{
    void *address;

    if (!is_ready())
        return NULL;
    address = real.pvalloc(bytes);
    tell_alloc(address, bytes, PAGE_BYTES, false, FRAME);
    return address;
}
