/*
 * stack_memory.c -- checks that pages of a stack are readable, without touching
 * them.
 *
 *      low    [sp ...... frames ...... | thread's control block]    high
 *
 * A thread's own stack ends at its control block; the main thread's ends at the
 * arguments, which the kernel put there. Everything between sp and that end is
 * mapped, and stays mapped while the thread runs. So once every page there was
 * found readable, none needs to be checked again. If a thread is on another
 * stack, there is a gap between sp and the end, or there are more pages than
 * may be checked.
 */
#include "record/unwind/stack_memory.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE_BYTES     ((uintptr_t)EMBED_PAGE_BYTES)
#define OWN_PAGES      2048u /* 8 MiB at a time */
#define WALK_PAGES     256u
#define RED_ZONE_BYTES 128u /* below sp, kept for the function that runs */
#define TRIES_MAX      4u

/* The main thread's stack ends above this address. The kernel maps nothing
 * else in the OWN_PAGES below. */
extern void *__libc_stack_end;

static _Atomic bool may_not_ask;

void
embed_stack_memory_confine(bool is_confined)
{
    atomic_store_explicit(&may_not_ask, is_confined, memory_order_relaxed);
}

/*
 * Ask the kernel: the system call first copies 8 bytes, and fails with EFAULT
 * if they cannot be read. Otherwise it fails with EINVAL, because -1 is not a
 * valid way to change the signal mask.
 */
bool
embed_stack_memory_is_readable(uintptr_t page)
{
    const int saved_errno = errno;
    bool readable;

    if (atomic_load_explicit(&may_not_ask, memory_order_relaxed))
        return false;
    readable =
        syscall(SYS_rt_sigprocmask, -1, page, NULL, 8) == -1 && errno == EINVAL;
    errno = saved_errno;
    return readable;
}

static uintptr_t
page_of(uintptr_t address)
{
    return address & ~(PAGE_BYTES - 1);
}

/* returns: are all pages of [from, to) readable? false if there are more than
 * pages_max */
static bool
are_readable(uintptr_t from, uintptr_t to, uint32_t pages_max)
{
    if (to - from > pages_max * PAGE_BYTES)
        return false;
    for (uintptr_t page = page_of(from); page < to; page += PAGE_BYTES)
        if (!embed_stack_memory_is_readable(page))
            return false;
    return true;
}

/* returns: where the thread's own stack ends, if sp is on it */
static uintptr_t
end_of_own(uintptr_t sp)
{
    const uintptr_t block = (uintptr_t)__builtin_thread_pointer();

    return sp < block ? block : (uintptr_t)__libc_stack_end;
}

static bool
is_of_main(uintptr_t sp, uintptr_t end)
{
    return end == (uintptr_t)__libc_stack_end &&
           end - sp <= OWN_PAGES * PAGE_BYTES &&
           atomic_load_explicit(&may_not_ask, memory_order_relaxed);
}

/* returns: is sp on the thread's own stack? Also finds out how far that stack
 * can be read. */
static bool
is_own(struct embed_own_stack *own, uintptr_t sp)
{
    struct embed_bounds *const bounds = &own->bounds;
    const uintptr_t end = bounds->high != 0 ? bounds->low : end_of_own(sp);

    if (sp >= bounds->low && sp < bounds->high)
        return true;
    if (sp >= end || own->tries == TRIES_MAX)
        return false;
    if (!are_readable(sp, end, OWN_PAGES) && !is_of_main(sp, end_of_own(sp))) {
        own->tries++;
        return false;
    }
    if (bounds->high == 0)
        bounds->high = end;
    bounds->low = page_of(sp);
    return true;
}

/*
 * The bounds begin at the red zone below sp. A function that has just popped
 * its frame may still have its caller's registers in the red zone, which may
 * lie on the page below.
 */
void
embed_stack_memory_begin(struct embed_stack_memory *memory, uintptr_t sp)
{
    const uintptr_t page = page_of(sp);
    const uintptr_t below = page_of(sp - RED_ZONE_BYTES);

    memory->pages = WALK_PAGES;
    memory->bounds = (struct embed_bounds){page, page};
    if (is_own(memory->own, sp))
        memory->bounds.high = memory->own->bounds.high;
    else if (embed_stack_memory_is_readable(page))
        memory->bounds.high = page + PAGE_BYTES;
    if (memory->bounds.high != page && below != page &&
        embed_stack_memory_is_readable(below))
        memory->bounds.low = below;
}

bool
embed_stack_memory_grow(struct embed_stack_memory *memory, uintptr_t address)
{
    struct embed_bounds *const bounds = &memory->bounds;

    if (bounds->high == memory->own->bounds.high ||
        address - bounds->high >= memory->pages * PAGE_BYTES)
        return false;
    while (address >= bounds->high) {
        if (memory->pages == 0 || !embed_stack_memory_is_readable(bounds->high))
            return false;
        memory->pages--;
        bounds->high += PAGE_BYTES;
    }
    return true;
}
