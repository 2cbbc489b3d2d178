/*
 * unwinding_start.c -- K11, jemalloc#2282: with musl, the first walk of a stack
 * allocates, and the profiler makes it under the lock that the first malloc
 * waits for.
 */
#include "subjects/catalogue/bugs/first_walk.h"

static void
walk(void)
{
    unwind();
}
