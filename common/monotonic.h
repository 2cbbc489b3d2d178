/* monotonic.h -- a clock that never runs backwards. */
#ifndef COMMON_MONOTONIC_H
#define COMMON_MONOTONIC_H

#include <stdint.h>

#include "prof/process.h"

static inline uint64_t
cli_now_ms(void)
{
    return (uint64_t)prof_process_monotonic_ns() / 1000000;
}

#endif
