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

#include "record/preload/filter.h"

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

/*
 * An allocator that is preloaded behind us may call others of our functions:
 * what it asks for there is a part of what it was asked for. The frame of the
 * hook whose real function runs tells such calls; it is not cleared, but left
 * behind, if a handler jumps out of that function.
 */
static bool may_nest; /* not in libc's own, which handlers interrupt */
static _Thread_local const char *real_frame
    __attribute__((tls_model("initial-exec")));

enum { NESTED_BYTES = 1 << 20 };

static bool
is_nested(const void *frame)
{
    const char *const outer = real_frame;

    return outer != NULL && (const char *)frame < outer &&
           outer - (const char *)frame < NESTED_BYTES;
}

bool
embed_heap_is_in_real(void)
{
    return is_nested(__builtin_frame_address(0));
}

/* Call a real function. out: to, what it returns */
#define CALL_REAL(to, call, frame)                  \
    do {                                            \
        const char *const outer_frame = real_frame; \
                                                    \
        real_frame = may_nest ? (frame) : NULL;     \
        (to) = (call);                              \
        real_frame = outer_frame;                   \
    } while (0)

static _Alignas(ARENA_ALIGN) uint8_t arena[ARENA_BYTES];
static _Atomic uint32_t arena_used_bytes;

/* Are both addresses in one library? true if the loader does not say */
static bool
are_together(const void *one, const void *other)
{
    struct dl_find_object first;
    struct dl_find_object second;

    return one == NULL || other == NULL ||
           _dl_find_object((void *)(uintptr_t)one, &first) != 0 ||
           _dl_find_object((void *)(uintptr_t)other, &second) != 0 ||
           first.dlfo_link_map == second.dlfo_link_map;
}

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
    may_nest = !are_together(dlsym(RTLD_NEXT, "malloc"),
                             dlsym(RTLD_NEXT, "__libc_start_main"));
    embed_resolve(&real.malloc, "malloc", NULL);
}

bool
embed_heap_is_reached(void)
{
    return are_together(dlsym(RTLD_DEFAULT, "malloc"), &real);
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
    embed_record_always(arena + at + ARENA_ALIGN);
    memcpy(arena + at, &bytes, sizeof bytes);
    return arena + at + ARENA_ALIGN;
}

static bool
is_of_arena(const void *address)
{
    return (uintptr_t)address - (uintptr_t)arena < ARENA_BYTES;
}

static void
report_alloc(void *address, size_t bytes, size_t alignment, bool zeroed,
             const void *frame)
{
    const struct embed_request request = {
        bytes, alignment != 0 ? 1 + (uint32_t)__builtin_ctzl(alignment) : 0,
        zeroed};

    if (!is_nested(frame) && !embed_skips(bytes))
        embed_on_alloc(address, request, frame);
}

#define FRAME __builtin_frame_address(0)

static __attribute__((noinline)) void *
malloc_recorded(size_t bytes, const void *frame)
{
    const struct embed_request request = {.bytes = bytes};
    void *address;

    if (!is_ready())
        return arena_take(bytes);
    if (is_nested(frame))
        return real.malloc(bytes);
    CALL_REAL(address, real.malloc(bytes), frame);
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
    address = malloc_recorded(bytes, FRAME);
    EMBED_KEEP_FRAME();
    return address;
}

static __attribute__((noinline)) void *
calloc_recorded(size_t count, size_t each_bytes, const void *frame)
{
    struct embed_request request = {.zeroed = true};
    void *address;

    if (__builtin_mul_overflow(count, each_bytes, &request.bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    if (!is_ready())
        return arena_take(request.bytes);
    if (is_nested(frame))
        return real.calloc(count, each_bytes);
    CALL_REAL(address, real.calloc(count, each_bytes), frame);
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
    address = calloc_recorded(count, each_bytes, FRAME);
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
    const char *const frame = __builtin_frame_address(0);
    const char *const outer_frame = real_frame;

    if (address == NULL || is_of_arena(address) || !is_ready())
        return;
    if (!is_nested(frame) && embed_may_record(address))
        embed_on_free(address);
    real_frame = may_nest ? frame : NULL;
    real.free(address);
    real_frame = outer_frame;
}

EMBED_HOOK void
free(void *address)
{
    if (__builtin_expect(embed_may_record(address), false))
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
            report_alloc(address, bytes, 0, false, frame);
        return address;
    }
    if (!is_ready())
        return arena_take(bytes); /* old is NULL: no real block yet */
    if (is_nested(frame))
        return real.realloc(old, bytes);
    if (old == NULL) {
        CALL_REAL(address, real.realloc(NULL, bytes), frame);
        report_alloc(address, bytes, 0, false, frame);
        return address;
    }
    token = embed_on_resize(old);
    CALL_REAL(address, real.realloc(old, bytes), frame);
    embed_on_resized(token, old, address, bytes, frame);
    return address;
}

/* returns: true if neither the free of the old block nor the new allocation
 * must be reported */
static bool
skips_resize(const void *old, size_t bytes)
{
    return !embed_may_record(old) && embed_skips(bytes);
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
    CALL_REAL(address, real.aligned_alloc(alignment, bytes), FRAME);
    report_alloc(address, bytes, alignment, false, FRAME);
    return address;
}

EMBED_HOOK void *
memalign(size_t alignment, size_t bytes)
{
    void *address;

    if (!is_ready())
        return alignment <= ARENA_ALIGN ? arena_take(bytes) : NULL;
    CALL_REAL(address, real.memalign(alignment, bytes), FRAME);
    report_alloc(address, bytes, alignment, false, FRAME);
    return address;
}

EMBED_HOOK int
posix_memalign(void **to, size_t alignment, size_t bytes)
{
    int status;

    if (!is_ready())
        return ENOMEM;
    CALL_REAL(status, real.posix_memalign(to, alignment, bytes), FRAME);
    if (status == 0)
        report_alloc(*to, bytes, alignment, false, FRAME);
    return status;
}

EMBED_HOOK void *
valloc(size_t bytes)
{
    void *address;

    if (!is_ready())
        return NULL;
    CALL_REAL(address, real.valloc(bytes), FRAME);
    report_alloc(address, bytes, PAGE_BYTES, false, FRAME);
    return address;
}

EMBED_HOOK void *
pvalloc(size_t bytes)
{
    void *address;

    if (!is_ready())
        return NULL;
    CALL_REAL(address, real.pvalloc(bytes), FRAME);
    report_alloc(address, bytes, PAGE_BYTES, false, FRAME);
    return address;
}
