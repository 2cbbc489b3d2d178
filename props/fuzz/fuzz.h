/*
 * fuzz.h -- the one function of a fuzz target, as libFuzzer and AFL++ call it.
 */
#ifndef PROPS_FUZZ_H
#define PROPS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* returns: 0; a finding ends the process by abort() */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t bytes_count);

#endif
