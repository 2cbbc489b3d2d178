/*
 * linux.c -- the platform on Linux: a futex lock and a panic that only writes.
 *
 * A lock's word is FREE, TAKEN, or WANTED (taken, and a thread may sleep on
 * it). Release wakes one sleeper, and only if the word is WANTED.
 */
#include "prof/port.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { FREE, TAKEN, WANTED };

static _Atomic uint32_t *
word_of(struct prof_port_lock *lock)
{
    return (_Atomic uint32_t *)&lock->word;
}

bool
prof_port_lock_try(struct prof_port_lock *lock)
{
    uint32_t seen = FREE;

    return atomic_compare_exchange_strong_explicit(word_of(lock), &seen, TAKEN,
                                                   memory_order_acquire,
                                                   memory_order_relaxed);
}

void
prof_port_lock_take(struct prof_port_lock *lock)
{
    if (prof_port_lock_try(lock))
        return;
    while (atomic_exchange_explicit(word_of(lock), WANTED,
                                    memory_order_acquire) != FREE)
        syscall(SYS_futex, &lock->word, FUTEX_WAIT_PRIVATE, WANTED, NULL, NULL,
                0);
}

void
prof_port_lock_release(struct prof_port_lock *lock)
{
    if (atomic_exchange_explicit(word_of(lock), FREE, memory_order_release) ==
        WANTED)
        syscall(SYS_futex, &lock->word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* Relaxed: there is no other thread, and none sleeps on the word. */
void
prof_port_lock_reset(struct prof_port_lock *lock)
{
    atomic_store_explicit(word_of(lock), FREE, memory_order_relaxed);
}

uint64_t
prof_port_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

void
prof_port_wait(const uint32_t *word, uint32_t seen)
{
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
}

void
prof_port_wake(const uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static long
membarrier(int command)
{
    return syscall(SYS_membarrier, command, 0, 0);
}

bool
prof_port_barrier(void)
{
    if (membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0)
        return true;
    /* Not registered yet; needed once per process. */
    return errno == EPERM &&
           membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0 &&
           membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0;
}

/* If the write fails, nothing can be done: the process ends anyway. */
static void
say(const char *text)
{
    const ssize_t written = write(STDERR_FILENO, text, strlen(text));

    (void)written;
}

void
prof_port_panic(const char *file, int line, const char *condition)
{
    char digits[12];
    size_t at = sizeof digits - 1;
    unsigned rest = (unsigned)line;

    digits[at] = '\0';
    do
        digits[--at] = (char)('0' + rest % 10);
    while ((rest /= 10) != 0);
    say("prof: ");
    say(file);
    say(":");
    say(&digits[at]);
    say(": broken: ");
    say(condition);
    say("\n");
    abort();
}
