/*
 * feature_afl.c -- AFL++ gives each word of this section a number in its map,
 * as it does for each edge of instrumented code.
 */
#include "props/fuzz/fuzz.h"

/* Defined by AFL++'s runtime, and called by code compiled for edge coverage. */
void __sanitizer_cov_trace_pc_guard(uint32_t *guard);

__attribute__((
    section("__sancov_guards"))) static uint32_t guards[FUZZ_FEATURES];

void
fuzz_feature(uint64_t feature)
{
    __sanitizer_cov_trace_pc_guard(&guards[feature % FUZZ_FEATURES]);
}
