/* faults.c -- from marks to faults. */
#include "faults.h"

#include <assert.h>

static const enum props_mark marks[] = {
#define X(id, name, on, visits, worlds, mark, sentence) MARK_##mark,
#define Y(id, name, test, sentence)                     MARK_COUNT,
#include "fault.def"
#undef X
#undef Y
};

enum props_mark
props_fault_mark(enum sim_fault fault)
{
    return marks[fault];
}

uint64_t
props_faults_met(const struct props_marks *before,
                 const struct props_marks *now)
{
    uint64_t met = 0;

    for (int i = 0; i < SIM_FAULT_COUNT; i++) {
        if (marks[i] != MARK_COUNT &&
            now->hits[marks[i]] > before->hits[marks[i]])
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
