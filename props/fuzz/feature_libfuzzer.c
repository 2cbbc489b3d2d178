/*
 * feature_libfuzzer.c -- libFuzzer reads every byte of this section after a run
 * as one more counter, and clears it before the next.
 */
#include "props/fuzz/fuzz.h"

/* It is volatile, because the compiler sees no code that reads it. */
__attribute__((section("__libfuzzer_extra_counters"))) static volatile uint8_t
    counters[FUZZ_FEATURES];

void
fuzz_feature(uint64_t feature)
{
    volatile uint8_t *counter = &counters[feature % FUZZ_FEATURES];

    if (*counter != UINT8_MAX)
        (*counter)++;
}
