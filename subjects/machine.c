/* machine.c -- see machine.h. */
#include "subjects/machine.h"

/* splitmix64 */
static uint64_t
draw(struct subjects_thread *thread)
{
    uint64_t x = thread->numbers += UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    x ^= x >> 31;
    return thread->rules->threshold(thread->rate,
                                    x >> (64 - thread->rules->number_bits));
}

void
subjects_thread_start(struct subjects_thread *thread,
                      const struct subjects_rules *rules, uint64_t rate,
                      uint64_t seed)
{
    *thread =
        (struct subjects_thread){.rules = rules, .rate = rate, .numbers = seed};
    if (rules->chain == SUBJECTS_BUFFERED || rules->chain == SUBJECTS_STRATA)
        return;
    thread->threshold = draw(thread);
    if (rules->manners.start == SUBJECTS_START_RATE)
        thread->threshold = rate;
    if (rules->manners.start == SUBJECTS_START_FIRST)
        thread->threshold = 1;
    thread->left = (int64_t)thread->threshold;
}

static bool
renewal_step(struct subjects_thread *thread, struct subjects_sample *sample,
             double *estimate)
{
    const struct subjects_rules *rules = thread->rules;

    thread->sum_ticks +=
        subjects_ticks(rules, thread->rate, sample->size_bytes);
    if (thread->sum_ticks < thread->threshold &&
        !subjects_always(rules, thread->rate, sample->size_bytes))
        return false;
    sample->sum_ticks = thread->sum_ticks;
    sample->threshold = (double)thread->threshold;
    *estimate = rules->estimate(sample);
    thread->sum_ticks = 0;
    thread->threshold = draw(thread);
    return true;
}

static bool
carried_step(struct subjects_thread *thread,
             const struct subjects_sample *sample, double *estimate)
{
    const struct subjects_rules *rules = thread->rules;
    const bool always =
        subjects_always(rules, thread->rate, sample->size_bytes);
    uint64_t points = 0;

    *estimate = always ? rules->estimate(sample) : 0;
    if (always && !rules->always_ticks)
        return true;
    thread->left -=
        (int64_t)subjects_ticks(rules, thread->rate, sample->size_bytes);
    if (thread->left > 0)
        return always;
    if (rules->shortcut) {
        points = (uint64_t)-thread->left / thread->rate;
        thread->left = -(int64_t)((uint64_t)-thread->left % thread->rate);
    }
    do {
        thread->left += (int64_t)draw(thread);
        points++;
    } while (thread->left <= 0 && !rules->draws_once);
    if (thread->left < 0)
        thread->left = 0;
    if (!always)
        *estimate =
            rules->estimate(sample) * (rules->by_points ? (double)points : 1);
    return true;
}

static bool
kept_step(struct subjects_thread *thread, const struct subjects_sample *sample,
          double *estimate)
{
    const int64_t size = (int64_t)sample->size_bytes;

    thread->left -= size;
    if (thread->left >= 0)
        return false;
    if (sample->size_bytes > thread->rate)
        thread->left += size;
    while (thread->left < 0)
        thread->left += (int64_t)draw(thread);
    *estimate = thread->rules->estimate(sample);
    return true;
}

static uint64_t
draw_point(void *thread, uint64_t rate)
{
    (void)rate;
    return draw(thread);
}

static bool
strata_step(struct subjects_thread *thread,
            const struct subjects_sample *sample, double *estimate)
{
    const uint64_t points = subjects_stratum_step(
        &thread->strata[subjects_class(sample->size_bytes)], thread->rate,
        sample->size_bytes, draw_point, thread);

    *estimate = (double)points * thread->rules->estimate(sample);
    return points > 0;
}

bool
subjects_thread_step(struct subjects_thread *thread, uint64_t size_bytes,
                     double *estimate)
{
    struct subjects_sample sample = {.rate = thread->rate,
                                     .size_bytes = size_bytes};

    *estimate = 0;
    switch (thread->rules->chain) {
    case SUBJECTS_RENEWAL:
        return renewal_step(thread, &sample, estimate);
    case SUBJECTS_CARRIED:
        return carried_step(thread, &sample, estimate);
    case SUBJECTS_KEPT:
        return kept_step(thread, &sample, estimate);
    case SUBJECTS_BUFFERED:
        *estimate = (double)subjects_buffer_step(&thread->buffer, thread->rate,
                                                 size_bytes);
        return *estimate > 0;
    case SUBJECTS_STRATA:
        return strata_step(thread, &sample, estimate);
    }
    return false;
}
