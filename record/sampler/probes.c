/* probes.c -- see probes.h. */
#define _SDT_HAS_SEMAPHORES 1
/* Arguments stay in the registers of a call, where the contract wants them. */
#define STAP_SDT_ARG_CONSTRAINT r
#include "record/sampler/probes.h"

#include <sys/sdt.h>

unsigned short otel_memory_alloc_semaphore __attribute__((section(".probes")));
unsigned short otel_memory_free_semaphore __attribute__((section(".probes")));

/* sys/sdt.h leaves out arguments of its own macros, as GNU C allows. */
#pragma GCC diagnostic ignored "-Wpedantic"

void
profile_probe_alloc(uintptr_t address, uint64_t bytes, uint64_t weight_bytes)
{
    DTRACE_PROBE3(otel_memory, alloc, address, bytes, weight_bytes);
}

void
profile_probe_free(uintptr_t address)
{
    DTRACE_PROBE1(otel_memory, free, address);
}
