/* memory.c -- see memory.h. */
#include "common/memory.h"

#include "prof/prof.h"

enum { MODEL_BYTES = 128 }; /* of a bucket, in the model */

uint64_t
sim_memory_of_run(uint32_t buckets_max, uint64_t frames_max, uint32_t procs)
{
    const struct prof_config largest = {
        .buckets_max = buckets_max,
        .frames_max = frames_max,
        .procs_max = procs,
    };
    const uint64_t listed =
        sizeof(struct prof_heap_record) + sizeof(struct prof_contention_record);
    uint64_t bytes = prof_bytes_needed(&largest);

    if (bytes == 0) /* the configuration is too large for any instance */
        bytes = buckets_max * UINT64_C(128) + frames_max * sizeof(uintptr_t);
    return 2 * (bytes + buckets_max * listed) +
           buckets_max * (uint64_t)MODEL_BYTES;
}
