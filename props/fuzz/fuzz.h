/*
 * fuzz.h -- the one function of a fuzz target, as libFuzzer calls it.
 *
 * A finding ends the process at once, as the engine expects; it keeps the
 * bytes. If PROFSIM_TELL is set, a target first shrinks the failure and prints
 * it with the command that replays it; props/fuzz/fuzz.sh repeats each finding
 * in this way.
 */
#ifndef PROPS_FUZZ_FUZZ_H
#define PROPS_FUZZ_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* How many features beside code coverage are reported to an engine that
 * supports them. */
enum { FUZZ_FEATURES = 1 << 13 };

/* returns: 0; a finding ends the process by abort() */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t bytes_count);

/*
 * Count a feature of this run as covered once more (feature_libfuzzer.c).
 *
 * in:      feature, any number; taken modulo FUZZ_FEATURES
 */
void fuzz_feature(uint64_t feature);

static inline bool
fuzz_reports(void)
{
    return getenv("PROFSIM_TELL") != NULL;
}

#endif
