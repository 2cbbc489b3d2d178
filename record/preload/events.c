/*
 * events.c -- what the recorder does with the calls of the hooks: it logs them.
 *
 * An allocation is logged after the real call, a free before it, so that the
 * order of the log is right (S2). A resize is logged before and after: before,
 * because another thread may get the old address at once.
 *
 * The stack of a waiter is taken before it blocks: taken afterwards, it would
 * lengthen the time the lock is held, and so change what is measured.
 *
 * A thread that waits for a mutex or a read-write lock registers the lock in a
 * small table, so that a release needs one load to know whether any thread
 * waits. If two locks share a slot, the later one is not registered, and that
 * is counted.
 */
#include "record/preload/recorder.h"

#include <errno.h>

#include "record/unwind/unwind.h"

/*
 * A token carries a record's offset from the hook before a real call to the
 * hook after it. A signal handler may fork in between, and the child has
 * another log, so a token also has the number of the image that its offset
 * belongs to.
 */
enum { GENERATION_BIT = 40 };

static uint64_t
token_of(uint64_t offset)
{
    const uint64_t now = atomic_load(&embed_generation);

    return now << GENERATION_BIT | offset;
}

static bool
is_of_this_image(uint64_t token)
{
    return (token ^ token_of(0)) >> GENERATION_BIT == 0;
}

/* returns: its offset, 0 if there is none or it is of another image */
static uint64_t
offset_of(uint64_t token)
{
    return is_of_this_image(token)
               ? token & ((UINT64_C(1) << GENERATION_BIT) - 1)
               : 0;
}

/* Log with a stack. in: words, the last of which is for the stack */
static void
log_with_stack(enum embed_kind kind, uint32_t detail, uint64_t *words,
               uint32_t words_count, const void *frame)
{
    struct embed_stack *stack = embed_stack_borrow();

    embed_stack_take(stack, frame, &embed_self.stack);
    embed_log(kind, detail, words, words_count, stack);
    embed_stack_return(stack);
}

/* returns: the record's token, made before a handler can fork outside;
 * 0 if it was not logged */
static uint64_t
log_address(enum embed_kind kind, void *address)
{
    uint64_t words[2] = {0, (uintptr_t)address};
    int saved_errno = errno;
    uint64_t token;

    if (!embed_enter())
        return 0;
    token = token_of(embed_log(kind, 0, words, 2, NULL));
    embed_leave();
    errno = saved_errno;
    return token;
}

/* If the user asked for usable bytes, append them to the `count` words.
 * returns: how many words there are then, with one left for the stack */
static uint32_t
add_usable(uint64_t *words, uint32_t count, void *address)
{
    if (embed_config.asks_usable)
        words[count++] = embed_usable_bytes(address);
    return count + 1;
}

void
embed_on_alloc(void *address, struct embed_request request, const void *frame)
{
    uint64_t words[5] = {0, (uintptr_t)address, request.bytes};
    const uint32_t detail = request.alignment << 1 | request.zeroed;
    int saved_errno = errno;

    if (address == NULL || !embed_enter())
        return;
    log_with_stack(EMBED_ALLOC, detail, words, add_usable(words, 3, address),
                   frame);
    embed_leave();
    errno = saved_errno;
}

void
embed_on_free(void *address)
{
    (void)log_address(EMBED_FREE, address);
}

uint64_t
embed_on_resize(void *old)
{
    return log_address(EMBED_RESIZE, old);
}

void
embed_on_resized(uint64_t token, void *old, void *address, size_t bytes,
                 const void *frame)
{
    uint64_t words[6] = {0, (uintptr_t)address, bytes};
    int saved_errno = errno;

    (void)old;
    if (!embed_enter())
        return;
    words[3] = offset_of(token);
    if (address != NULL)
        log_with_stack(EMBED_RESIZED, 0, words, add_usable(words, 4, address),
                       frame);
    else if (words[3] != 0)
        embed_log_change(words[3], bytes != 0 ? EMBED_CANCELLED : EMBED_FREE);
    embed_leave();
    errno = saved_errno;
}

void
embed_on_early(void)
{
    embed_drop(EMBED_DROP_EARLY);
}

void
embed_on_unload(void)
{
    int saved_errno = errno;

    embed_unwind_forget();
    if (!embed_enter())
        return;
    embed_log_unload();
    embed_leave();
    errno = saved_errno;
}

static struct embed_waiter *
waiter_of(uintptr_t lock)
{
    uint64_t hash = lock * UINT64_C(0x9e3779b97f4a7c15);

    return &embed_state->waiters[hash >> 52 & (EMBED_WAITERS - 1)];
}

static bool
register_waiter(uintptr_t lock)
{
    struct embed_waiter *waiter = waiter_of(lock);
    uintptr_t held;

    embed_lock();
    held = atomic_load_explicit(&waiter->lock, memory_order_relaxed);
    if (held == 0 || held == lock) {
        if (waiter->count++ == 0)
            atomic_fetch_add_explicit(&embed_awaited, 1, memory_order_relaxed);
        atomic_store_explicit(&waiter->lock, lock, memory_order_relaxed);
    }
    embed_unlock();
    if (held == 0 || held == lock)
        return true;
    embed_drop(EMBED_DROP_WAITERS);
    return false;
}

static void
unregister_waiter(uintptr_t lock)
{
    struct embed_waiter *waiter = waiter_of(lock);

    embed_lock();
    if (waiter->count > 0 && --waiter->count == 0) {
        atomic_store_explicit(&waiter->lock, 0, memory_order_relaxed);
        atomic_fetch_sub_explicit(&embed_awaited, 1, memory_order_relaxed);
    }
    embed_unlock();
}

static bool
is_awaited(const void *lock)
{
    return embed_state != NULL &&
           atomic_load_explicit(&waiter_of((uintptr_t)lock)->lock,
                                memory_order_relaxed) == (uintptr_t)lock;
}

bool
embed_on_wait(struct embed_wait *wait, const void *lock, bool has_releaser,
              const void *frame)
{
    int saved_errno = errno;
    struct embed_stack *stack;

    if (!embed_enter())
        return false;
    wait->lock = (uintptr_t)lock;
    wait->start_ticks = embed_ticks();
    stack = embed_stack_borrow();
    embed_stack_take(stack, frame, &embed_self.stack);
    wait->stack = token_of(embed_log_stack(stack));
    embed_stack_return(stack);
    wait->registered = has_releaser && register_waiter(wait->lock);
    embed_leave();
    errno = saved_errno;
    return true;
}

void
embed_on_waited(const struct embed_wait *wait, enum embed_lock_kind kind,
                int status, const void *frame)
{
    uint64_t words[4] = {0, wait->lock, wait->start_ticks, 0};
    uint32_t detail = (uint32_t)kind;
    int saved_errno = errno;

    (void)frame; /* it was taken before the wait */
    if (!embed_enter())
        return;
    if (wait->registered && is_of_this_image(wait->stack))
        unregister_waiter(wait->lock);
    if (status != 0 && status != EOWNERDEAD)
        detail |= 0x80;
    words[3] = offset_of(wait->stack);
    if (words[3] != 0)
        embed_log(EMBED_WAIT, detail, words, 4, NULL);
    else /* the stack had no room, or is in the parent's log */
        embed_drop(is_of_this_image(wait->stack) ? embed_state->full_cause
                                                 : EMBED_DROP_INSIDE);
    embed_leave();
    errno = saved_errno;
}

static __attribute__((noinline)) void
log_release(const void *lock, enum embed_lock_kind kind, const void *frame)
{
    uint64_t words[3] = {0, (uintptr_t)lock, 0};
    int saved_errno = errno;

    if (!embed_enter())
        return;
    log_with_stack(EMBED_RELEASE, (uint32_t)kind, words, 3, frame);
    embed_leave();
    errno = saved_errno;
}

/* A release is logged before the real call, so whatever the release makes
 * possible is logged after it. */
uint64_t
embed_on_release(const void *lock, enum embed_lock_kind kind, const void *frame)
{
    if (!embed_inside && is_awaited(lock))
        log_release(lock, kind, frame);
    return 0;
}

void
embed_on_released(uint64_t token, const void *frame)
{
    (void)token;
    (void)frame;
}
