/*
 * memory.h -- limits the memory that running a file may take: 64 MiB plus 64
 * times the size of the file. The check comes before anything is allocated.
 */
#ifndef COMMON_MEMORY_H
#define COMMON_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#define SIM_MEMORY_BYTES (UINT64_C(64) << 20)
#define SIM_MEMORY_TIMES UINT64_C(64) /* the size of the file */

static inline uint64_t
sim_memory_ceiling(uint64_t file_bytes)
{
    return SIM_MEMORY_BYTES + SIM_MEMORY_TIMES * file_bytes;
}

/* returns: bytes that a judged run of this size takes: a world, its shadow
 *          world, the model */
uint64_t sim_memory_of_run(uint32_t buckets_max, uint64_t frames_max,
                           uint32_t procs);

#endif
