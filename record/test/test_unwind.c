/*
 * test_unwind.c -- stacks by unwind tables, compared with libunwind.
 *
 * Both must find the same frames at calls, in signal handlers, on other stacks,
 * and before each instruction of some library calls; and no value of a register
 * may cause a crash.
 */
#include <alloca.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "common/test/unit_test.h"
#include "record/unwind/unwind.h"

#define UNW_LOCAL_ONLY
#include <libunwind.h>

enum { ROOM = 200, STACK_BYTES = 65536, TRAP_FLAG = 0x100 };

static _Thread_local struct embed_own_stack own;

struct both {
    uintptr_t ours[ROOM];
    uintptr_t theirs[ROOM];
    uint32_t ours_count;
    uint32_t theirs_count;
};

static volatile uint32_t sink; /* prevents tail calls */

static uint32_t
ask_libunwind(unw_cursor_t *cursor, uintptr_t *pcs)
{
    uint32_t count = 0;
    unw_word_t pc;

    do {
        unw_get_reg(cursor, UNW_REG_IP, &pc);
        if (pc == 0)
            break;
        pcs[count++] = pc;
    } while (count < ROOM && unw_step(cursor) > 0);
    return count;
}

/* Walk the caller's stack with both unwinders; libunwind's list begins with
 * this function. */
static __attribute__((noinline)) void
take_both(struct both *both)
{
    const struct embed_registers from =
        embed_caller_of(__builtin_frame_address(0));
    unw_context_t context;
    unw_cursor_t cursor;

    both->ours_count = embed_unwind_walk(both->ours, ROOM, &from, false, &own);
    unw_getcontext(&context);
    unw_init_local(&cursor, &context);
    (void)unw_step(&cursor);
    both->theirs_count = ask_libunwind(&cursor, both->theirs);
}

static void
assert_equal(const struct both *both, uint32_t least)
{
    assert_true(both->theirs_count >= least);
    for (uint32_t i = 0; i < both->theirs_count && i < both->ours_count; i++)
        if (both->ours[i] != both->theirs[i])
            fail_msg("frame %u of %u: %#lx, libunwind has %#lx", i,
                     both->theirs_count, both->ours[i], both->theirs[i]);
    assert_int_equal(both->ours_count, both->theirs_count);
}

/* ---- at a call ---- */

static __attribute__((noinline)) void
descend(struct both *both, uint32_t left)
{
    if (left > 0)
        descend(both, left - 1);
    else if (both != NULL)
        take_both(both);
    sink++;
}

TEST(a_stack_is_what_libunwind_says)
{
    struct both both;

    for (uint32_t round = 0; round < 3; round++) { /* then the cache is full */
        descend(&both, 20);
        assert_equal(&both, 24);
    }
}

/* A function that aligns its stack: its CFA is stored in the frame. */
static __attribute__((noinline)) void
align(struct both *both, uint32_t bytes)
{
    _Alignas(64) volatile char block[64];
    volatile char *const more = alloca(bytes);

    block[0] = 1;
    more[0] = 1;
    descend(both, 3);
    sink += (uint32_t)block[0];
}

TEST(a_frame_that_aligns_its_stack_has_a_caller)
{
    struct both both;

    for (uint32_t bytes = 1; bytes < 5000; bytes += 1111) {
        align(&both, bytes);
        assert_equal(&both, 8);
    }
}

static struct both *compared;

static int
compare(const void *a, const void *b)
{
    if (compared != NULL)
        take_both(compared);
    compared = NULL;
    return *(const int *)a - *(const int *)b;
}

TEST(a_callback_of_libc_has_its_callers)
{
    int numbers[] = {3, 1, 2};
    struct both both;

    compared = &both;
    qsort(numbers, 3, sizeof *numbers, compare);
    assert_equal(&both, 5);
}

static void *
run_thread(void *context)
{
    descend(context, 5);
    return NULL;
}

TEST(a_thread_ends_where_it_began)
{
    struct both both;
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, run_thread, &both), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_equal(&both, 8);
}

/* A stack that is deeper than the part of it known before, and than a walk can
 * list. */
TEST(a_deep_stack_is_cut)
{
    struct both both;

    for (uint32_t depth = 1000; depth <= 50000; depth *= 7) {
        descend(&both, depth);
        assert_int_equal(both.theirs_count, ROOM);
        assert_equal(&both, ROOM);
    }
}

/* ---- on another stack ---- */

static struct both elsewhere;
static ucontext_t outside, inside;

static void
run_coroutine(void)
{
    descend(&elsewhere, 5);
}

static void
run_on(unsigned char *stack, size_t bytes, void (*run)(void))
{
    assert_int_equal(getcontext(&inside), 0);
    inside.uc_stack.ss_sp = stack;
    inside.uc_stack.ss_size = bytes;
    inside.uc_link = &outside;
    makecontext(&inside, run, 0);
    assert_int_equal(swapcontext(&outside, &inside), 0);
}

/* Map a stack that ends at an inaccessible page. */
static unsigned char *
map_stack(void)
{
    unsigned char *const all = mmap(NULL, STACK_BYTES + 2 * 4096, PROT_NONE,
                                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    assert_ptr_not_equal(all, MAP_FAILED);
    assert_int_equal(mprotect(all + 4096, STACK_BYTES, PROT_READ | PROT_WRITE),
                     0);
    return all + 4096;
}

TEST(a_coroutine_has_its_own_callers)
{
    unsigned char *const stack = map_stack();

    run_on(stack, STACK_BYTES, run_coroutine);
    assert_true(elsewhere.theirs_count >= 7);
    assert_true(elsewhere.ours_count >= 7);
    for (uint32_t i = 0; i < 7; i++)
        assert_int_equal(elsewhere.ours[i], elsewhere.theirs[i]);
    munmap(stack - 4096, STACK_BYTES + 2 * 4096);
}

static void
walk_only(void)
{
    const struct embed_registers from =
        embed_caller_of(__builtin_frame_address(0));

    elsewhere.ours_count =
        embed_unwind_walk(elsewhere.ours, ROOM, &from, false, &own);
}

/* How much stack the walk itself takes, with an empty cache and a filled one:
 * at least as much must be free below a hook's frame. */
TEST(a_walk_needs_little_stack)
{
    unsigned char *const stack = map_stack();

    for (uint32_t round = 0; round < 2; round++) {
        size_t untouched = 0;

        memset(stack, 0xa5, STACK_BYTES);
        if (round == 0)
            embed_unwind_forget();
        run_on(stack, STACK_BYTES, walk_only);
        while (untouched < STACK_BYTES && stack[untouched] == 0xa5)
            untouched++;
        /* Some 200 bytes of this are makecontext()'s and walk_only()'s. */
        assert_true(STACK_BYTES - untouched <= 1536);
    }
    munmap(stack - 4096, STACK_BYTES + 2 * 4096);
}

/* ---- in signals ---- */

static struct both signalled;
static volatile bool is_stepping;
static uint32_t stops;
static uint32_t stops_differ;
static uint32_t stops_hidden; /* where a walk from the handler found less */
static char first_difference[200];

static void
take_interrupted(const ucontext_t *at, struct both *both)
{
    const struct embed_registers from = {
        .pc = (uintptr_t)at->uc_mcontext.gregs[REG_RIP],
        .sp = (uintptr_t)at->uc_mcontext.gregs[REG_RSP],
        .fp = (uintptr_t)at->uc_mcontext.gregs[REG_RBP],
        .base = (uintptr_t)at->uc_mcontext.gregs[REG_RBX],
        .scratch = (uintptr_t)at->uc_mcontext.gregs[REG_R10]};
    unw_cursor_t cursor;
    unw_context_t context;

    memcpy(&context, at, sizeof context);
    both->ours_count = embed_unwind_walk(both->ours, ROOM, &from, true, &own);
    unw_init_local2(&cursor, &context, UNW_INIT_SIGNAL_FRAME);
    both->theirs_count = ask_libunwind(&cursor, both->theirs);
}

static void
on_signal(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    (void)context;
    take_both(&signalled);
}

static void
handle(int number, void (*handler)(int, siginfo_t *, void *), int flags)
{
    struct sigaction action = {.sa_flags = SA_SIGINFO | flags};

    action.sa_sigaction = handler;
    assert_int_equal(sigaction(number, &action, NULL), 0);
}

TEST(a_handler_was_called_by_what_it_interrupted)
{
    handle(SIGUSR1, on_signal, 0);
    raise(SIGUSR1);
    assert_equal(&signalled, 7);
}

TEST(a_handler_on_its_own_stack_as_well)
{
    const stack_t stack = {.ss_sp = map_stack(), .ss_size = STACK_BYTES};
    const stack_t none = {.ss_flags = SS_DISABLE};

    assert_int_equal(sigaltstack(&stack, NULL), 0);
    handle(SIGUSR1, on_signal, SA_ONSTACK);
    raise(SIGUSR1);
    assert_equal(&signalled, 7);
    assert_int_equal(sigaltstack(&none, NULL), 0);
    munmap((unsigned char *)stack.ss_sp - 4096, STACK_BYTES + 2 * 4096);
}

/* Does a walk that begins in the handler end with the frames of one that begins
 * at the interrupted instruction? */
static bool
is_seen_from_handler(const struct both *both)
{
    const uint32_t want = both->ours_count;
    const struct embed_registers from =
        embed_caller_of(__builtin_frame_address(0));
    uintptr_t pcs[ROOM];
    const uint32_t count = embed_unwind_walk(pcs, ROOM, &from, false, &own);

    return count > want &&
           memcmp(&pcs[count - want], both->ours, want * sizeof *pcs) == 0;
}

/* Before each instruction, compare the two unwinders. */
static void
on_step(int number, siginfo_t *info, void *context)
{
    static struct both both;
    ucontext_t *const at = context;
    uint32_t i = 0;

    (void)number;
    (void)info;
    if (!is_stepping) {
        at->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
        return;
    }
    stops++;
    take_interrupted(context, &both);
    stops_hidden += !is_seen_from_handler(&both);
    while (i < both.theirs_count && i < both.ours_count &&
           both.ours[i] == both.theirs[i])
        i++;
    if (i == both.theirs_count && i == both.ours_count)
        return;
    if (stops_differ++ == 0)
        snprintf(first_difference, sizeof first_difference,
                 "at %#lx frame %u: ours %u frames, %#lx; theirs %u, %#lx",
                 both.ours[0], i, both.ours_count, both.ours[i],
                 both.theirs_count, both.theirs[i]);
}

static __attribute__((noinline)) void
step_from_here(void)
{
    __asm__ volatile("pushfq; orq %0, (%%rsp); popfq" ::"i"(TRAP_FLAG)
                     : "memory", "cc");
}

static __attribute__((noinline)) void
do_things(void)
{
    char text[64];
    int numbers[] = {4, 1, 3, 2};
    void *block = malloc(100);

    snprintf(text, sizeof text, "%d %s %.3f", 42, "words", 2.5);
    qsort(numbers, 4, sizeof *numbers, compare);
    block = realloc(block, 100000);
    free(block);
    align(NULL, 100); /* without libunwind, which blocks all signals */
    sink += (uint32_t)text[0];
}

/* The instructions are in prologues, epilogues, linkage stubs and hand-written
 * assembly. */
TEST(before_each_instruction_the_stack_is_right)
{
    handle(SIGTRAP, on_step, 0);
    compared = NULL;
    is_stepping = true;
    step_from_here();
    do_things();
    is_stepping = false;
    if (stops_differ > 0)
        fail_msg("%u of %u instructions; the first %s", stops_differ, stops,
                 first_difference);
    /* At some instructions align()'s caller can only be found through r10,
     * which a walk from the handler does not know. */
    assert_in_range(stops_hidden, 0, 20);
    assert_true(stops > 2000);
}

/* ---- false registers ---- */

static uint64_t random_state = 1;

static uint64_t
random_number(void)
{
    random_state = random_state * UINT64_C(6364136223846793005) +
                   UINT64_C(1442695040888963407);
    return random_state >> 11;
}

static uintptr_t
random_address(unsigned char *stack)
{
    switch (random_number() % 5) {
    case 0:
        return (uintptr_t)random_number();
    case 1:
        return (uintptr_t)stack + random_number() % (2 * STACK_BYTES);
    case 2:
        return (uintptr_t)&random_number + random_number() % 4096;
    case 3:
        return (uintptr_t)qsort + random_number() % 65536;
    default:
        return (uintptr_t)__builtin_frame_address(0) & ~UINT64_C(7);
    }
}

TEST(registers_at_random_are_survived)
{
    unsigned char *const stack = map_stack();
    uintptr_t *const words = (uintptr_t *)(void *)stack;
    uintptr_t pcs[32];

    for (uint32_t round = 0; round < 20000; round++) {
        struct embed_registers from = {.pc = random_address(stack),
                                       .sp = random_address(stack),
                                       .fp = random_address(stack),
                                       .base = random_address(stack)};

        for (uint32_t i = 0; i < 16; i++)
            words[random_number() % (STACK_BYTES / 8)] = random_address(stack);
        errno = 77;
        assert_in_range(embed_unwind_walk(pcs, 32, &from, round % 2 == 0, &own),
                        1, 32);
        assert_int_equal(errno, 77);
    }
    munmap(stack - 4096, STACK_BYTES + 2 * 4096);
}

int
main(void)
{
    if (!EMBED_CFI_OFFERED)
        return 0;
    embed_unwind_start();
    return tests_run(NULL, NULL);
}
