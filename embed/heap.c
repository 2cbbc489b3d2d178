/*
 * heap.c -- the malloc family, interposed.
 *
 * An allocation is logged after the real call, a free before it, so that the
 * order of the log is right (S2). realloc is both: the free is logged first and
 * taken back if the real realloc fails.
 *
 * Until the real functions are known -- dlsym itself may allocate -- memory
 * comes from a small arena that is never given back.
 */
#include "recorder.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#define ARENA_BYTES (64u << 10)
#define ARENA_ALIGN 64u

static struct {
    void *(*malloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void *(*aligned_alloc)(size_t, size_t);
    void *(*memalign)(size_t, size_t);
    void *(*valloc)(size_t);
    void *(*pvalloc)(size_t);
    int (*posix_memalign)(void **, size_t, size_t);
    void (*free)(void *);
} real;

static _Alignas(ARENA_ALIGN) uint8_t arena[ARENA_BYTES];
static _Atomic uint32_t arena_used_bytes;

void
embed_resolve(void *function, const char *name, const char *version)
{
    void *found = NULL;

    if (version != NULL)
        found = dlvsym(RTLD_NEXT, name, version);
    if (found == NULL)
        found = dlsym(RTLD_NEXT, name);
    memcpy(function, &found, sizeof found);
}

void
embed_heap_resolve(void)
{
    /* malloc last: once it is there, all are. */
    embed_resolve(&real.free, "free", NULL);
    embed_resolve(&real.calloc, "calloc", NULL);
    embed_resolve(&real.realloc, "realloc", NULL);
    embed_resolve(&real.aligned_alloc, "aligned_alloc", NULL);
    embed_resolve(&real.memalign, "memalign", NULL);
    embed_resolve(&real.valloc, "valloc", NULL);
    embed_resolve(&real.pvalloc, "pvalloc", NULL);
    embed_resolve(&real.posix_memalign, "posix_memalign", NULL);
    embed_resolve(&real.malloc, "malloc", NULL);
}

/* returns: false while the real functions are not known */
static bool
is_ready(void)
{
    if (real.malloc != NULL)
        return true;
    if (embed_self.inside)
        return false;
    embed_self.inside = true;
    embed_locks_resolve();
    embed_heap_resolve();
    embed_self.inside = false;
    return real.malloc != NULL;
}

/* Zeroed memory of the arena; its size lies in front of it. */
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
    embed_drop(EMBED_DROP_EARLY);
    memcpy(arena + at, &bytes, sizeof bytes);
    return arena + at + ARENA_ALIGN;
}

static bool
is_of_arena(const void *address)
{
    return (uintptr_t)address >= (uintptr_t)arena &&
           (uintptr_t)address < (uintptr_t)arena + ARENA_BYTES;
}

static void
log_alloc(void *address, size_t bytes, const void *frame)
{
    uint64_t words[4] = {0, (uintptr_t)address, bytes, 0};
    int saved_errno = errno;
    struct embed_stack *stack;

    if (address == NULL || !embed_enter())
        return;
    stack = embed_stack_borrow();
    embed_stack_take(stack, frame, &embed_self.stack);
    embed_log(EMBED_ALLOC, 0, words, 4, stack);
    embed_stack_return(stack);
    embed_leave();
    errno = saved_errno;
}

/* returns: where the free was logged, 0 if it was not */
static uint64_t
log_free(void *address)
{
    uint64_t words[2] = {0, (uintptr_t)address};
    int saved_errno = errno;
    uint64_t offset;

    if (!embed_enter())
        return 0;
    offset = embed_log(EMBED_FREE, 0, words, 2, NULL);
    embed_leave();
    errno = saved_errno;
    return offset;
}

#define FRAME __builtin_frame_address(0)

EMBED_HOOK void *
malloc(size_t bytes)
{
    void *address;

    if (!is_ready())
        return arena_take(bytes);
    address = real.malloc(bytes);
    log_alloc(address, bytes, FRAME);
    return address;
}

EMBED_HOOK void *
calloc(size_t count, size_t each_bytes)
{
    void *address;
    size_t bytes;

    if (__builtin_mul_overflow(count, each_bytes, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    if (!is_ready())
        return arena_take(bytes);
    address = real.calloc(count, each_bytes);
    log_alloc(address, bytes, FRAME);
    return address;
}

EMBED_HOOK void
free(void *address)
{
    if (address == NULL || is_of_arena(address) || !is_ready())
        return;
    log_free(address);
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
    uint64_t logged = 0;

    if (is_of_arena(old)) {
        address = leave_arena(old, bytes);
        if (!is_of_arena(address))
            log_alloc(address, bytes, frame);
        return address;
    }
    if (!is_ready())
        return arena_take(bytes); /* old is NULL: nothing is real yet */
    if (old != NULL)
        logged = log_free(old);
    address = real.realloc(old, bytes);
    /* realloc(p, 0) may free and return NULL: then the free stands. */
    if (address == NULL && bytes != 0 && logged != 0)
        embed_log_cancel(logged);
    log_alloc(address, bytes, frame);
    return address;
}

EMBED_HOOK void *
realloc(void *old, size_t bytes)
{
    return resize(old, bytes, FRAME);
}

EMBED_HOOK void *
reallocarray(void *old, size_t count, size_t each_bytes)
{
    size_t bytes;

    if (__builtin_mul_overflow(count, each_bytes, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return resize(old, bytes, FRAME);
}

EMBED_HOOK void *
aligned_alloc(size_t alignment, size_t bytes)
{
    void *address;

    if (!is_ready())
        return alignment <= ARENA_ALIGN ? arena_take(bytes) : NULL;
    address = real.aligned_alloc(alignment, bytes);
    log_alloc(address, bytes, FRAME);
    return address;
}

EMBED_HOOK void *
memalign(size_t alignment, size_t bytes)
{
    void *address;

    if (!is_ready())
        return alignment <= ARENA_ALIGN ? arena_take(bytes) : NULL;
    address = real.memalign(alignment, bytes);
    log_alloc(address, bytes, FRAME);
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
        log_alloc(*to, bytes, FRAME);
    return status;
}

EMBED_HOOK void *
valloc(size_t bytes)
{
    void *address;

    if (!is_ready())
        return NULL;
    address = real.valloc(bytes);
    log_alloc(address, bytes, FRAME);
    return address;
}

EMBED_HOOK void *
pvalloc(size_t bytes)
{
    void *address;

    if (!is_ready())
        return NULL;
    address = real.pvalloc(bytes);
    log_alloc(address, bytes, FRAME);
    return address;
}
