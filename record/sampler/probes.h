/*
 * probes.h -- otel_memory:alloc and otel_memory:free, static probes for a
 * tracer outside the process (docs/profiling.md, "Probes").
 *
 * A semaphore says whether a tracer is attached. If none is, a probe costs one
 * load and a jump.
 */
#ifndef RECORD_SAMPLER_PROBES_H
#define RECORD_SAMPLER_PROBES_H

#include <stdint.h>

/* Incremented by each tracer that is attached; the probes' notes hold their
 * addresses. */
extern unsigned short otel_memory_alloc_semaphore
    __attribute__((visibility("hidden")));
extern unsigned short otel_memory_free_semaphore
    __attribute__((visibility("hidden")));

/* in: weight_bytes, the bytes allocated that this block stands for */
void profile_probe_alloc(uintptr_t address, uint64_t bytes,
                         uint64_t weight_bytes);
void profile_probe_free(uintptr_t address);

#endif
