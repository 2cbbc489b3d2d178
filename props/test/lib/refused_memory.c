/* refused_memory.c -- see refused_memory.h. */
#include "refused_memory.h"

#include <stdbool.h>
#include <stddef.h>

uint32_t refused_memory_at;
uint32_t refused_memory_callocs;

static bool
fails(void)
{
    return refused_memory_at > 0 && --refused_memory_at == 0;
}

void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);
void *
__wrap_malloc(size_t bytes)
{
    return fails() ? NULL : __real_malloc(bytes);
}

void *__real_calloc(size_t count, size_t each_bytes);
void *__wrap_calloc(size_t count, size_t each_bytes);
void *
__wrap_calloc(size_t count, size_t each_bytes)
{
    refused_memory_callocs++;
    return fails() ? NULL : __real_calloc(count, each_bytes);
}

void *__real_realloc(void *old, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);
void *
__wrap_realloc(void *old, size_t bytes)
{
    return fails() ? NULL : __real_realloc(old, bytes);
}
