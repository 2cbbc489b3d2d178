/*
 * producer_table.c -- see producer_table.h. A block is in its home slot or a
 * later one. Entries never move, so a search continues past closed ones.
 */
#include "subjects/conform/producer_table.h"

#include <sched.h>
#include <stddef.h>

enum { OPEN_MAX = 1 << 16 };

static struct {
    const void *block;
    uint32_t thread;
} open_blocks[OPEN_MAX];
static int open_lock;
static const char was_closed;

void
producer_lock(void)
{
    while (__atomic_exchange_n(&open_lock, 1, __ATOMIC_ACQUIRE) != 0)
        sched_yield();
}

void
producer_unlock(void)
{
    __atomic_store_n(&open_lock, 0, __ATOMIC_RELEASE);
}

static uint32_t
home_of(const void *block)
{
    return (uint32_t)(((uintptr_t)block >> 4) * 2654435761u) % OPEN_MAX;
}

void
producer_open(const void *block, uint32_t thread)
{
    producer_lock();
    for (uint32_t i = 0; i < OPEN_MAX; i++) {
        const uint32_t at = (home_of(block) + i) % OPEN_MAX;

        if (open_blocks[at].block == NULL ||
            open_blocks[at].block == &was_closed) {
            open_blocks[at].block = block;
            open_blocks[at].thread = thread;
            break;
        }
    }
    producer_unlock();
}

bool
producer_close(const void *block, uint32_t thread)
{
    bool found = false;

    producer_lock();
    for (uint32_t i = 0; i < OPEN_MAX && !found; i++) {
        const uint32_t at = (home_of(block) + i) % OPEN_MAX;

        if (open_blocks[at].block == NULL)
            break;
        found =
            open_blocks[at].block == block &&
            (thread == PRODUCER_ANYBODY || open_blocks[at].thread == thread);
        if (found)
            open_blocks[at].block = &was_closed;
    }
    producer_unlock();
    return found;
}

void
producer_forget(uint32_t thread)
{
    producer_lock();
    for (uint32_t i = 0; i < OPEN_MAX; i++)
        if (open_blocks[i].thread == thread && open_blocks[i].block != NULL)
            open_blocks[i].block = &was_closed;
    producer_unlock();
}
