/*
 * waits.c -- the waits of waits.h.
 *
 * The wait of the first task in a mutex's queue is charged to the release that
 * ends it; the next task is then the first. With `all`, the release is also
 * charged with the mean of the first and the last wait for each task that still
 * waits.
 */
#include "model/heap/waits.h"

#include "model/model_assert.h"

__extension__ typedef __int128 i128;

void
model_waits_begin(struct model_waits *waits, const struct model_wait *wait)
{
    MODEL_ASSERT(waits->count < MODEL_WAITS_MAX);
    waits->all[waits->count++] = *wait;
}

static uint32_t
index_of(const struct model_waits *waits, uint32_t task)
{
    uint32_t i = 0;

    while (i < waits->count && waits->all[i].task != task)
        i++;
    MODEL_ASSERT(i < waits->count);
    return i;
}

/* The difference of two readings of a 64-bit counter, which may wrap. */
static int64_t
between(int64_t from, int64_t to)
{
    return (int64_t)((uint64_t)to - (uint64_t)from);
}

int64_t
model_waits_released(struct model_waits *waits, uint32_t task, int64_t now,
                     bool all, bool *on)
{
    const struct model_wait gone = waits->all[index_of(waits, task)];
    const int64_t first = between(gone.charged, now);
    struct model_wait *next = 0;
    int64_t last = 0;
    i128 stay = 0;
    i128 sum;

    for (uint32_t i = 0; i < waits->count; i++) {
        struct model_wait *wait = &waits->all[i];

        if (wait->lock != gone.lock || wait->task == task)
            continue;
        if (next == 0)
            next = wait;
        last = between(wait->charged, now);
        stay++;
    }
    if (next != 0)
        next->charged = now;
    *on = gone.mutex_on;
    if (!all)
        return first;
    sum = first < 0 ? 0 : first;
    sum += (sum + (last < 0 ? 0 : last)) / 2 * stay;
    return sum > INT64_MAX ? INT64_MAX : (int64_t)sum;
}

int64_t
model_waits_woken(struct model_waits *waits, uint32_t task, int64_t now,
                  bool *on)
{
    const uint32_t index = index_of(waits, task);
    const int64_t cycles = between(waits->all[index].began, now);

    *on = waits->all[index].block_on;
    waits->count--;
    for (uint32_t i = index; i < waits->count; i++)
        waits->all[i] = waits->all[i + 1];
    return cycles;
}
