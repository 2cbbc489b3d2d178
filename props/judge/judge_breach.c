/* judge_breach.c -- what all parts of the judge share: noting a breach, and the
 * number of the current cycle.
 */
#include "props/judge/judge_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/rng.h"

void
judge_breach(struct props_judge *judge, enum props_property property,
             const char *format, ...)
{
    const char *when =
        judge->is_ending ? "in three collections at the end: " : "";
    const size_t begin = strlen(when);
    struct props_breach *breach = &judge->breach;
    va_list arguments;

    if ((judge->requested & PROPS_BIT(property)) == 0)
        return;
    breach->broken |= PROPS_BIT(property);
    if (property >= breach->property)
        return; /* a property that comes first has been noted */
    breach->property = property;
    breach->event = judge->events;
    memcpy(breach->text, when, begin);
    va_start(arguments, format);
    vsnprintf(&breach->text[begin], sizeof breach->text - begin, format,
              arguments);
    va_end(arguments);
}

void
judge_hash(struct props_judge *judge, uint64_t word)
{
    judge->hash = sim_hash_step(judge->hash, word);
}

uint64_t
judge_cycle(const struct props_judge *judge)
{
    return sim_world_config(judge->world)->cycle_first +
           model_heap_cycles(judge->model);
}

bool
judge_near_wrap(const struct props_judge *judge)
{
    const uint64_t cycle = judge_cycle(judge);

    return cycle >= CYCLES_BEFORE_WRAP && cycle < CYCLES_BEFORE_WRAP + 4;
}
