/* subject_breach.c -- report what is wrong with a subject. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "sim/instruments/instrument_subject.h"
#include "props/judge/judge_internal.h"
#include "props/judge/subject_parts.h"

struct subject_site_text
subject_site_text(const struct subject_judge *judge, uint32_t site)
{
    const struct truth_stack *stack =
        &sim_world_config(judge->judge->world)->stacks[site];
    struct subject_site_text made;

    snprintf(made.text, sizeof made.text,
             "site 0x%" PRIxPTR ".. (%" PRIu32 " frame%s)",
             stack->depth > 0 ? stack->frames[0] : 0, stack->depth,
             stack->depth == 1 ? "" : "s");
    return made;
}

void
subject_breach(struct subject_judge *judge, enum props_property property,
               const char *format, ...)
{
    va_list arguments;
    char text[400];

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    judge_breach(judge->judge, property, "%s%s", judge->when, text);
}

bool
subject_allocated_at(const struct subject_judge *judge, uint32_t site,
                     uint32_t truths)
{
    const struct truth_log *truth = sim_world_truth(judge->judge->world);

    for (uint32_t i = 0; i < truths; i++) {
        const struct truth_entry *fact = &truth->entries[i];

        if ((fact->kind == TRUTH_ALLOC || fact->kind == TRUTH_REALLOC) &&
            sim_subject_site(judge->judge->world, fact->stack) == site)
            return true;
    }
    return false;
}
