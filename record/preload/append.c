/* append.c -- appends records to the end of the log, under its lock. */
#include "record/preload/recorder.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

void
embed_lock(void)
{
    _Atomic uint32_t *lock = &embed_state->lock;
    uint32_t seen = 0;
    uint32_t spins;

    for (spins = 0; spins < 200; spins++) {
        seen = 0;
        if (atomic_compare_exchange_weak_explicit(
                lock, &seen, 1, memory_order_acquire, memory_order_relaxed))
            return;
        if (seen == 2)
            break;
    }
    while (atomic_exchange_explicit(lock, 2, memory_order_acquire) != 0)
        syscall(SYS_futex, lock, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
}

void
embed_unlock(void)
{
    _Atomic uint32_t *lock = &embed_state->lock;

    if (atomic_exchange_explicit(lock, 0, memory_order_release) == 2)
        syscall(SYS_futex, lock, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static bool
make_room_locked(struct embed_state *state, uint64_t bytes)
{
    if (bytes <= state->reserved_bytes - state->used_bytes)
        return true;
    state->full_cause = EMBED_DROP_LIMIT;
    if (bytes > state->limit_bytes - state->used_bytes)
        return false;
    state->full_cause = EMBED_DROP_DISK;
    return embed_reserve(state->used_bytes + bytes);
}

uint64_t *
embed_append_words_locked(uint32_t words_count)
{
    struct embed_state *state = embed_state;
    const uint64_t bytes = 8 * (uint64_t)words_count;
    uint64_t *words;

    if (state->full || !make_room_locked(state, bytes)) {
        state->full = true;
        return NULL;
    }
    words = (uint64_t *)(void *)(state->log + state->used_bytes);
    state->used_bytes += bytes;
    return words;
}

uint64_t *
embed_append_locked(enum embed_kind kind, uint32_t detail, uint32_t number,
                    uint32_t words_count)
{
    struct embed_record *const record =
        (struct embed_record *)(void *)embed_append_words_locked(words_count +
                                                                 1);

    if (record == NULL)
        return NULL;
    record->kind = (uint8_t)kind;
    record->detail = (uint8_t)detail;
    record->words = (uint16_t)(words_count + 1);
    record->number = number;
    return (uint64_t *)(void *)(record + 1);
}

void
embed_publish_locked(void)
{
    atomic_store_explicit(&embed_header()->used_bytes, embed_state->used_bytes,
                          memory_order_release);
}
