/*
 * maps.c -- counts the memory that the program takes without malloc. It is in
 * no number of a recording, which must not look complete then. What libc maps
 * on its own behalf, for malloc and for stacks, does not pass here.
 */
#include "record/preload/recorder.h"

#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct {
    void *(*map)(void *, size_t, int, int, int, off_t);
    void *(*sbrk)(intptr_t);
} real;

void
embed_maps_resolve(void)
{
    embed_resolve(&real.sbrk, "sbrk", NULL);
    embed_resolve(&real.map, "mmap", NULL);
}

static void
count(uint64_t bytes)
{
    if (!embed_inside)
        embed_drop_many(EMBED_DROP_MAPPED, bytes);
}

EMBED_HOOK void *
mmap(void *at, size_t bytes, int rights, int flags, int file, off_t offset)
{
    void *const place =
        real.map != NULL
            ? real.map(at, bytes, rights, flags, file, offset)
            : (void *)syscall(SYS_mmap, at, bytes, rights, flags, file, offset);

    if (place != MAP_FAILED && (flags & MAP_ANONYMOUS) != 0 &&
        (rights & PROT_WRITE) != 0 && !embed_heap_is_in_real())
        count(bytes);
    return place;
}

EMBED_HOOK void *mmap64(void *at, size_t bytes, int rights, int flags, int file,
                        off_t offset) __attribute__((alias("mmap")));

EMBED_HOOK void *
sbrk(intptr_t bytes)
{
    void *place;

    if (real.sbrk == NULL)
        embed_resolve(&real.sbrk, "sbrk", NULL);
    place = real.sbrk(bytes);
    if (place != (void *)-1 && bytes > 0 && !embed_heap_is_in_real())
        count((uint64_t)bytes);
    return place;
}
