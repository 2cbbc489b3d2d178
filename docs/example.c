/* example.c -- the example of embedding.md; the check builds and runs it. */
#include "prof/prof.h"

#include <inttypes.h>
#include <stdio.h>

static _Alignas(PROF_BLOCK_ALIGN) char block[1 << 20];

int
main(void)
{
    const struct prof_config config = {.buckets_max = 1024};
    const uintptr_t stack[] = {0x4011d2, 0x401080};
    struct prof_heap_record top[10];
    struct prof *prof;
    size_t count;

    /* embedding.md: from here */
    if (prof_init(&prof, &config, block, sizeof block) != PROF_OK)
        return 1;
    struct prof_proc *proc = prof_proc_at(prof, 0); /* one for each thread */
    prof_bucket kept = prof_heap_alloc(proc, stack, 2, 64);
    prof_bucket dead = prof_heap_alloc(proc, stack, 2, 64);
    prof_heap_free(proc, dead);
    if (prof_heap_snapshot(prof, PROF_SELECT_ALL, top, 10, &count) != PROF_OK)
        return 1;
    for (size_t i = 0; i < count; i++)
        printf("%" PRId64 " bytes in use, allocated at %#" PRIxPTR "\n",
               prof_heap_inuse_bytes(&top[i]), top[i].stack[0]);
    /* embedding.md: to here */
    return kept == dead ? 0 : 1; /* one stack and size, one bucket */
}
