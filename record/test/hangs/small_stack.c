/*
 * small_stack.c -- a coroutine and a signal handler allocate on small stacks of
 * their own.
 *
 * grafana/pyroscope-dotnet#177, ocaml-effects#6: the profiler needs more stack
 * than there is, and the program crashes.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "record/test/hangs/hang.h"

/* 8 KiB, and room for what the kernel pushes for a signal. */
enum { STACK_BYTES = 16 << 10, PAGE_BYTES = 4096 };

static ucontext_t home;
static ucontext_t away;

static void
allocate_away(void)
{
    for (size_t i = 1; i < 50; i++)
        free(malloc(i * 10));
}

static void
on_signal(int number)
{
    (void)number;
    allocate_away();
}

/* Map a stack above an inaccessible page. */
static void *
make_stack(void)
{
    char *const at =
        mmap(NULL, PAGE_BYTES + STACK_BYTES, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    hang_must(at != MAP_FAILED && mprotect(at, PAGE_BYTES, PROT_NONE) == 0,
              "no memory");
    return at + PAGE_BYTES;
}

int
main(int argc, char **argv)
{
    const struct sigaction action = {.sa_handler = on_signal,
                                     .sa_flags = SA_ONSTACK};
    const uint32_t rounds = hang_begin(argc, argv);
    const stack_t other = {.ss_sp = make_stack(), .ss_size = STACK_BYTES};
    void *const stack = make_stack();

    sigaltstack(&other, NULL);
    sigaction(SIGUSR1, &action, NULL);
    for (uint32_t i = 0; i < rounds; i++) {
        hang_round();
        getcontext(&away);
        away.uc_stack.ss_sp = stack;
        away.uc_stack.ss_size = STACK_BYTES;
        away.uc_link = &home;
        makecontext(&away, allocate_away, 0);
        swapcontext(&home, &away);
        raise(SIGUSR1);
    }
    return 0;
}
