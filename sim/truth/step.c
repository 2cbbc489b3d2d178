/* step.c -- the truth log of scheduling. */
#include "step.h"

static const char *const texts[] = {
#define X(id, text) text,
#include "step.def"
#undef X
};

void
truth_step_append(struct truth_steps *log, const struct truth_step *step)
{
    if (log->count == log->max)
        log->lost++;
    else
        log->steps[log->count++] = *step;
}

const char *
truth_step_text(enum truth_step_kind kind)
{
    return texts[kind];
}

static uint64_t
mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

uint64_t
truth_steps_hash(const struct truth_steps *log)
{
    uint64_t hash = log->count;

    for (uint32_t i = 0; i < log->count; i++) {
        const struct truth_step *step = &log->steps[i];

        hash = mix(hash, (uint64_t)step->kind);
        hash = mix(hash, step->proc);
        hash = mix(hash, step->task);
        hash = mix(hash, step->other);
        hash = mix(hash, step->value);
        hash = mix(hash, step->stack);
        hash = mix(hash, step->ticks);
        hash = mix(hash, step->ns);
    }
    return hash;
}
