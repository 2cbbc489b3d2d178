/* faults.c -- see faults.h. */
#include "props/judge/faults.h"

#include <assert.h>

static const enum props_cover goals[] = {
#define WORLD_FAULT(id, name, on, visits, worlds, goal, sentence) COVER_##goal,
#define TEST_FAULT(id, name, test, sentence)                      COVER_COUNT,
#include "sim/generate/fault.def"
#undef WORLD_FAULT
#undef TEST_FAULT
};

enum props_cover
props_fault_cover(enum sim_fault fault)
{
    return goals[fault];
}

uint64_t
props_faults_met(const struct props_coverage *before,
                 const struct props_coverage *now)
{
    uint64_t met = 0;

    for (int i = 0; i < SIM_FAULT_COUNT; i++) {
        if (goals[i] != COVER_COUNT &&
            now->hits[goals[i]] > before->hits[goals[i]])
            met |= UINT64_C(1) << i;
    }
    return met;
}

void
props_faults_name(char *text, size_t text_bytes, uint64_t faults)
{
    size_t used = 0;

    assert(text_bytes > 0);
    snprintf(text, text_bytes, "none");
    for (int i = 0; i < SIM_FAULT_COUNT && used < text_bytes; i++) {
        if ((faults >> i & 1) != 0)
            used += (size_t)snprintf(&text[used], text_bytes - used, "%s%s",
                                     used > 0 ? ", " : "",
                                     sim_fault_name((enum sim_fault)i));
    }
}
