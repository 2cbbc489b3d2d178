/*
 * kernel_futex.h -- lets the explorer handle the futex calls of a source file
 * that is included whole. Include this header before it.
 */
#ifndef PROPS_KERNELS_KERNEL_FUTEX_H
#define PROPS_KERNELS_KERNEL_FUTEX_H

#include <linux/futex.h>
#include <stdarg.h>
#include <stdint.h>
#include <unistd.h>

#include "explore/engine/explore.h"

#define syscall(...) requested_of_the_system(__VA_ARGS__, 0)

/* Handle the futex calls that a lock makes, and no others. */
static inline long
requested_of_the_system(int number, ...)
{
    va_list words;
    const uint32_t *word;
    int operation;

    (void)number;
    va_start(words, number);
    word = va_arg(words, const uint32_t *);
    operation = va_arg(words, int);
    if (operation == FUTEX_WAIT_PRIVATE)
        sim_explore_wait(word, va_arg(words, uint32_t));
    else
        sim_explore_wake(word);
    va_end(words);
    return 0;
}

#endif
