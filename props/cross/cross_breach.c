/* cross_breach.c -- shared by all comparisons of instruments. */
#include "props/cross/cross.h"

#include <stdarg.h>
#include <stdio.h>

bool
cross_carries(const struct cross *cross, uint32_t instruments)
{
    return (sim_world_config(cross->world)->instruments & instruments) ==
           instruments;
}

void
cross_breach(struct cross *cross, enum props_property property,
             const char *format, ...)
{
    char text[384];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    cross->breach(cross->context, property, text);
}

bool
cross_same_stack(const struct cross *cross, const struct model_trace *trace,
                 uint64_t id, const uintptr_t *stack, uint32_t depth)
{
    static uint64_t pcs[MODEL_TRACE_FRAMES_MAX];
    const uint32_t depth_max = sim_world_config(cross->world)->depth_max;
    uint32_t shown = model_trace_stack(trace, id, pcs);

    if (shown > depth_max)
        shown = depth_max;
    if (depth > PROF_TRACE_DEPTH_LIMIT)
        depth = PROF_TRACE_DEPTH_LIMIT;
    if (shown != depth)
        return false;
    for (uint32_t i = 0; i < depth; i++) {
        if (pcs[i] != stack[i])
            return false;
    }
    return true;
}
