/*
 * real_malloc.h -- libc's malloc and its kin, for the test of the hooks: each
 * call is noted by a letter, A for an allocation, R for a resize, F for a free.
 */
#ifndef REAL_MALLOC_H
#define REAL_MALLOC_H

#include <stddef.h>

static void note(char what);

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t each_bytes);
void *__libc_realloc(void *old, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void *address);

static void *
real_malloc(size_t bytes)
{
    note('A');
    return __libc_malloc(bytes);
}

static void *
real_calloc(size_t count, size_t each_bytes)
{
    note('A');
    return __libc_calloc(count, each_bytes);
}

static void *
real_realloc(void *old, size_t bytes)
{
    note('R');
    return __libc_realloc(old, bytes);
}

static void *
real_memalign(size_t alignment, size_t bytes)
{
    note('A');
    return __libc_memalign(alignment, bytes);
}

static void
real_free(void *address)
{
    note('F');
    __libc_free(address);
}

#endif
