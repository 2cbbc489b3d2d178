/*
 * timer_in_allocator.c -- threads spend all their time in the allocator and the
 * unwinder, where the ticks of a CPU profile interrupt them.
 *
 * gperftools#43, #412, libunwind#301: the handler of SIGPROF waits for the lock
 * of the stack walk or of the allocator that it interrupted.
 */
#include <execinfo.h>
#include <pthread.h>
#include <stdatomic.h>

#include "record/test/hangs/hang.h"

static _Atomic uint32_t turns;

static void
allocate(void)
{
    void *stack[8];

    hang_allocate(400);
    (void)backtrace(stack, 8);
    atomic_fetch_add(&turns, 1);
}

int
main(int argc, char **argv)
{
    const uint32_t rounds = hang_begin(argc, argv);

    hang_threads_begin(2, allocate);
    for (uint32_t i = 0; i < rounds; i++) {
        const uint32_t before = atomic_load(&turns);

        hang_round();
        while (atomic_load(&turns) - before < 2)
            hang_allocate(100);
    }
    hang_threads_end();
    return 0;
}
