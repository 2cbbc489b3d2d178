/*
 * test_unwind_ends.c -- edge cases of stacks, made by hand: frames that lie
 * below their callees, registers that were saved on the page before; and the
 * buffers for stacks.
 */
#include <dlfcn.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>

#include "in_child.h"
#include "stack.h"
#include "unwind.h"

enum { PCS = 8, PAGE = 4096, BUFFERS = 1024 };

static struct embed_own_stack own;

/* returns: a pc whose caller is found by the frame pointer, as this file keeps
 * frame pointers */
static __attribute__((noinline)) uintptr_t
here(void)
{
    return (uintptr_t)__builtin_return_address(0);
}

/*
 * A function that has popped its caller's frame pointer before its last
 * instruction: the word lies below the stack pointer then.
 */
void given_up(void);
extern const char given_up_last[];
__asm__(".text\n"
        ".globl given_up, given_up_last\n"
        ".type given_up, @function\n"
        "given_up:\n"
        ".cfi_startproc\n"
        "push %rbp\n"
        ".cfi_def_cfa_offset 16\n"
        ".cfi_offset %rbp, -16\n"
        "mov %rsp, %rbp\n"
        "pop %rbp\n"
        ".cfi_def_cfa_offset 8\n"
        "given_up_last:\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size given_up, . - given_up\n");

#ifdef __x86_64__

/* Functions whose frames are found by rbx, by r10, and by what is stored at
 * rbp - 8, as where a function aligns its stack; and one that has no caller. */
extern const char found_by_base[], found_by_scratch[], found_at_frame[],
    behind_frame[];
__asm__(".text\n"
        ".cfi_startproc\n"
        ".cfi_def_cfa %rbx, 16\n"
        "nop\n"
        "found_by_base:\n"
        "nop\n"
        "ret\n"
        ".cfi_endproc\n"
        ".cfi_startproc\n"
        ".cfi_def_cfa %r10, 16\n"
        "nop\n"
        "found_by_scratch:\n"
        "nop\n"
        "ret\n"
        ".cfi_endproc\n"
        ".cfi_startproc\n"
        ".cfi_escape 0x0f, 3, 0x76, 0x78, 0x06\n"
        "nop\n"
        "found_at_frame:\n"
        "nop\n"
        "ret\n"
        ".cfi_endproc\n"
        ".cfi_startproc\n"
        "behind_frame:\n"
        ".cfi_undefined %rip\n"
        "nop\n"
        ".cfi_endproc\n");

TEST(a_frame_is_found_where_it_is_stored)
{
    uintptr_t words[64] = {0};
    uintptr_t pcs[PCS];
    const struct embed_registers from = {.pc = (uintptr_t)found_at_frame,
                                         .sp = (uintptr_t)&words[32],
                                         .fp = (uintptr_t)&words[40]};

    words[39] = (uintptr_t)&words[50];
    words[49] = 0x1000; /* nothing is mapped there */
    assert_int_equal(embed_unwind_walk(pcs, PCS, &from, true, &own), 2);
    assert_int_equal(pcs[1], 0x1000);
}

/* Only the function that was interrupted is at its pc. The last instruction of
 * its caller may be a call: then the return address is the next function's. */
TEST(a_caller_is_looked_up_before_its_return_address)
{
    const uintptr_t pcs_from[] = {0x1000, (uintptr_t)given_up_last};
    uintptr_t words[64] = {0};
    uintptr_t pcs[PCS];

    words[35] = words[36] = (uintptr_t)&words[40];
    words[39] = (uintptr_t)&words[50];
    words[49] = 0x2000; /* nothing is mapped there */
    for (size_t i = 0; i < 2; i++) {
        struct embed_registers from = {.pc = pcs_from[i],
                                       .sp = (uintptr_t)&words[36],
                                       .fp = (uintptr_t)&words[36]};

        words[i == 0 ? 37 : 36] = (uintptr_t)behind_frame;
        assert_int_equal(embed_unwind_walk(pcs, PCS, &from, true, &own), 3);
        assert_int_equal(pcs[1], behind_frame);
        assert_int_equal(pcs[2], 0x2000);
    }
}

/* What a register held in a callee is not what it holds in the caller, unless
 * the callee's tables say so. */
TEST(a_register_of_the_callee_is_not_the_callers)
{
    enum { MADE = 0x1000 }; /* nothing is mapped there: no tables */
    const struct {
        uintptr_t pc, caller;
    } rows[] = {{MADE, (uintptr_t)found_by_base},
                {MADE, (uintptr_t)found_by_scratch},
                {here(), (uintptr_t)found_by_scratch}};
    uintptr_t words[64] = {0};
    uintptr_t pcs[PCS];
    struct embed_registers from = {.sp = (uintptr_t)&words[32],
                                   .base = (uintptr_t)&words[48],
                                   .scratch = (uintptr_t)&words[48]};

    words[49] = MADE;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        from.pc = rows[i].caller;
        assert_int_equal(embed_unwind_walk(pcs, PCS, &from, true, &own), 2);
        assert_int_equal(pcs[1], MADE);
        from.pc = rows[i].pc;
        from.fp = (uintptr_t)&words[40];
        words[41] = rows[i].caller;
        assert_int_equal(embed_unwind_walk(pcs, PCS, &from, false, &own), 2);
        assert_int_equal(pcs[1], rows[i].caller);
        from.fp = 0;
    }
}

#endif

TEST(a_frame_below_its_callee_ends_the_stack)
{
    const uintptr_t pc = here();
    uintptr_t words[64] = {0};
    uintptr_t pcs[PCS];
    struct embed_registers from = {
        .pc = pc, .sp = (uintptr_t)&words[32], .fp = (uintptr_t)&words[40]};

    words[9] = words[41] = pc;
    assert_int_equal(embed_unwind_walk(pcs, PCS, &from, false, &own), 2);
    from.fp = (uintptr_t)&words[8];
    assert_int_equal(embed_unwind_walk(pcs, PCS, &from, false, &own), 1);
}

/* Code that was made while the program runs has no unwind tables. */
TEST(without_tables_frame_pointers_are_followed)
{
    enum { MADE = 0x1000 }; /* nothing is mapped there */
    uintptr_t words[64] = {0};
    uintptr_t pcs[PCS];
    struct embed_registers from = {
        .pc = MADE, .sp = (uintptr_t)&words[32], .fp = (uintptr_t)&words[32]};

    words[32] = (uintptr_t)&words[40];
    words[33] = MADE + 1;
    words[40] = (uintptr_t)&words[42];
    words[41] = MADE + 2;
    words[42] = (uintptr_t)&words[40]; /* back to an earlier frame */
    words[43] = MADE + 3;
    assert_int_equal(embed_unwind_walk(pcs, PCS, &from, false, &own), 4);
    for (uintptr_t i = 0; i < 4; i++)
        assert_int_equal(pcs[i], MADE + i);
    from.fp = (uintptr_t)&words[31];
    assert_int_equal(embed_unwind_walk(pcs, PCS, &from, false, &own), 1);
    from.fp = (uintptr_t)&words[32] + 1;
    assert_int_equal(embed_unwind_walk(pcs, PCS, &from, false, &own), 1);
}

/* Map two pages; the stack begins with the second. */
TEST(a_register_on_the_page_before_is_found)
{
    const uintptr_t pc = here();
    unsigned char *const pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
                                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uintptr_t *const sp = (uintptr_t *)(void *)(pages + PAGE);
    const struct embed_registers from = {.pc = (uintptr_t)given_up_last,
                                         .sp = (uintptr_t)sp};
    uintptr_t pcs[PCS];

    assert_ptr_not_equal(pages, MAP_FAILED);
    sp[-1] = (uintptr_t)&sp[20]; /* the frame of its caller */
    sp[0] = pc;
    sp[21] = pc + 1;
    assert_true(embed_unwind_walk(pcs, PCS, &from, true, &own) >= 3);
    assert_int_equal(pcs[0], from.pc);
    assert_int_equal(pcs[1], pc);
    assert_int_equal(pcs[2], pc + 1);
    assert_int_equal(mprotect(pages, PAGE, PROT_NONE), 0);
    assert_int_equal(embed_unwind_walk(pcs, PCS, &from, true, &own), 2);
    munmap(pages, 2 * PAGE);
}

#ifdef __x86_64__

static uintptr_t handler_returns_to;

static void
on_signal(int number)
{
    (void)number;
    handler_returns_to = (uintptr_t)__builtin_return_address(0);
}

/* If signal handlers interrupted one another, a walk passes through at most
 * eight of them. */
TEST(handlers_of_handlers_are_followed_to_a_limit)
{
    enum { HANDLERS = 12, HANDLERS_MOST = 8 };
    static ucontext_t contexts[HANDLERS];
    uintptr_t pcs[HANDLERS + 2];

    assert_true(signal(SIGUSR1, on_signal) != SIG_ERR);
    raise(SIGUSR1);
    for (int left = 1; left < HANDLERS; left++) {
        struct embed_registers from = {.pc = handler_returns_to,
                                       .sp = (uintptr_t)&contexts[0]};
        const int most = left < HANDLERS_MOST ? left : HANDLERS_MOST;

        for (int i = 0; i < left; i++) {
            contexts[i].uc_mcontext.gregs[REG_RIP] = (greg_t)handler_returns_to;
            contexts[i].uc_mcontext.gregs[REG_RSP] = (greg_t)&contexts[i + 1];
        }
        contexts[left].uc_mcontext.gregs[REG_RIP] = 0;
        assert_int_equal(
            embed_unwind_walk(pcs, HANDLERS + 2, &from, true, &own), 1 + most);
    }
    signal(SIGUSR1, SIG_DFL);
}

#endif

static int looked_up;
static bool unloads_meanwhile;

int __real__dl_find_object(void *place, struct dl_find_object *found);
int __wrap__dl_find_object(void *place, struct dl_find_object *found);
int
__wrap__dl_find_object(void *place, struct dl_find_object *found)
{
    const int status = __real__dl_find_object(place, found);

    looked_up++;
    if (unloads_meanwhile) /* as another thread might */
        embed_unwind_forget();
    return status;
}

/* Walk to the first caller only, as two further ones might share an entry of
 * the cache.
 *
 * returns: how often unwind tables were looked up */
static int
step_and_count(const struct embed_registers *from)
{
    uintptr_t pcs[2];

    looked_up = 0;
    assert_int_equal(embed_unwind_walk(pcs, 2, from, false, &own), 2);
    return looked_up;
}

/* An unload makes what the cache knows of code wrong. It may come between the
 * lookup and its entry into the cache. */
TEST(a_rule_holds_until_an_unload)
{
    const struct embed_registers from =
        embed_caller_of(__builtin_frame_address(0));

    assert_int_equal(step_and_count(&from), 1);
    assert_int_equal(step_and_count(&from), 1); /* without a cache */
    embed_unwind_start();
    assert_int_equal(step_and_count(&from), 1);
    assert_int_equal(step_and_count(&from), 0);
    embed_unwind_forget();
    unloads_meanwhile = true;
    assert_int_equal(step_and_count(&from), 1);
    unloads_meanwhile = false;
    assert_int_equal(step_and_count(&from), 1);
    embed_unwind_start(); /* the memory for the cache is there now */
    assert_int_equal(step_and_count(&from), 0);
}

/* Take a stack from the frame of a hook: a frame pointer and a return
 * address. */
static void
take(struct embed_stack *stack, const uintptr_t *frame)
{
    static int left_behind; /* of an earlier stack */

    memset(stack, ++left_behind, sizeof *stack);
    embed_stack_take(stack, frame, &own);
}

/* Stacks are taken by frame pointers if the frames lie on the thread's own
 * stack. */
TEST(a_stack_is_taken_as_the_program_keeps_it)
{
    static struct embed_stack stack, other;
    static uintptr_t elsewhere[8];
    uintptr_t memory[32] = {0}; /* a walk also looks below a frame */
    uintptr_t *const frames = &memory[16];
    const uintptr_t pc = here();

    frames[0] = (uintptr_t)&frames[2];
    frames[1] = pc;
    frames[2] = (uintptr_t)&frames[4];
    frames[3] = pc + 1;
    frames[4] = 0;
    frames[5] = pc + 2;
    embed_by_frames = true;
    embed_depth_max = 3;
    take(&stack, frames);
    assert_int_equal(stack.depth, 3);
    for (uintptr_t i = 0; i < 3; i++)
        assert_int_equal(stack.pcs[i], pc + i);
    frames[5] = 0;
    take(&other, frames);
    assert_int_equal(other.depth, 2);
    assert_int_not_equal(other.hash, stack.hash);
    frames[5] = pc + 3;
    take(&other, frames);
    assert_int_equal(other.depth, 3);
    assert_int_not_equal(other.hash, stack.hash);
    frames[5] = pc + 2;
    take(&other, frames);
    assert_int_equal(other.hash, stack.hash);
    embed_depth_max = 2;
    take(&other, frames);
    assert_int_equal(other.depth, 2);
    /* On another stack unwind tables are used. */
    elsewhere[1] = pc;
    looked_up = 0;
    embed_unwind_forget();
    take(&other, elsewhere);
    assert_int_equal(other.pcs[0], pc);
    assert_int_equal(looked_up, 1);
    embed_by_frames = false;
    looked_up = 0;
    embed_unwind_forget();
    take(&other, frames);
    assert_int_equal(other.pcs[0], pc);
    assert_true(looked_up > 0);
}

#ifdef __x86_64__

/* The last instruction of a hook's caller may be the call: then its return
 * address is the next function's. */
TEST(the_caller_of_a_hook_is_looked_up_before_its_return_address)
{
    static struct embed_stack stack;
    uintptr_t words[64] = {0};

    embed_by_frames = false;
    embed_depth_max = PCS;
    words[16] = (uintptr_t)&words[30];
    words[17] = (uintptr_t)behind_frame;
    words[29] = (uintptr_t)&words[50];
    words[49] = 0x2000; /* nothing is mapped there */
    take(&stack, &words[16]);
    assert_int_equal(stack.depth, 2);
    assert_int_equal(stack.pcs[0], behind_frame);
    assert_int_equal(stack.pcs[1], 0x2000);
    /* And its stack pointer is behind that address. */
    words[17] = (uintptr_t)given_up_last + 1;
    words[18] = 0x3000;
    take(&stack, &words[16]);
    assert_int_equal(stack.pcs[0], given_up_last + 1);
    assert_int_equal(stack.pcs[1], 0x3000);
}

/* Behind a frame that was found by its pointer, too. */
TEST(a_stack_pointer_is_behind_the_return_address)
{
    enum { MADE = 0x1000 }; /* nothing is mapped there: no tables */
    uintptr_t words[64] = {0};
    uintptr_t pcs[PCS];
    const struct embed_registers from = {
        .pc = MADE, .sp = (uintptr_t)&words[20], .fp = (uintptr_t)&words[32]};

    words[33] = (uintptr_t)given_up_last + 1;
    words[34] = 0x2000;
    assert_true(embed_unwind_walk(pcs, PCS, &from, true, &own) >= 3);
    assert_int_equal(pcs[1], given_up_last + 1);
    assert_int_equal(pcs[2], 0x2000);
}

/* A caller's frame is above its callee's, and is read before it is followed. */
TEST(a_frame_that_cannot_be_a_callers_ends_the_stack)
{
    uintptr_t words[64] = {0};
    uintptr_t pcs[PCS];
    struct embed_registers from = {.pc = (uintptr_t)found_by_base,
                                   .sp = (uintptr_t)&words[32],
                                   .base = (uintptr_t)&words[31]};

    words[31] = words[32] = words[33] = 0x2000;
    assert_int_equal(embed_unwind_walk(pcs, PCS, &from, true, &own), 2);
    for (int i = 28; i <= 30; i++) { /* the CFA is two words further */
        from.base = (uintptr_t)&words[i];
        assert_int_equal(embed_unwind_walk(pcs, PCS, &from, true, &own), 1);
    }
    from.pc = (uintptr_t)found_at_frame;
    from.fp = 16; /* nothing is mapped there */
    assert_int_equal(embed_unwind_walk(pcs, PCS, &from, true, &own), 1);
    from.fp = (uintptr_t)&words[40];
    words[39] = 24; /* nor there */
    assert_int_equal(embed_unwind_walk(pcs, PCS, &from, true, &own), 1);
}

#endif

static struct embed_stack *returned;

int __wrap_sched_yield(void);
int
__wrap_sched_yield(void)
{
    if (returned != NULL)
        embed_stack_return(returned);
    return 0;
}

static void
start_without_memory(void)
{
    CHECK(setrlimit(RLIMIT_AS, &(struct rlimit){1 << 20, 1 << 20}) == 0);
    CHECK(!embed_stacks_start());
}

TEST(without_memory_there_are_no_buffers)
{
    expect_in_child(start_without_memory);
}

TEST(who_finds_no_buffer_waits_for_one)
{
    static struct embed_stack *stacks[BUFFERS];

    assert_true(embed_stacks_start());
    alarm(20);
    for (int i = 0; i < BUFFERS; i++)
        stacks[i] = embed_stack_borrow();
    returned = stacks[BUFFERS / 2];
    assert_ptr_equal(embed_stack_borrow(), returned);
    alarm(0);
    embed_stack_return(returned);
    assert_true(embed_stacks_start()); /* once in a process */
    assert_ptr_equal(embed_stack_borrow(), returned);
    returned = NULL;
    embed_stacks_reclaim();
}

/* Borrow all buffers, twice. They are not given back, as if their threads had
 * ended: embed_stacks_reclaim() takes them back. */
TEST(buffers_of_threads_that_are_gone_are_taken_back)
{
    struct embed_stack *stacks[BUFFERS];

    assert_true(embed_stacks_start());
    alarm(20); /* a thread that gets no buffer waits */
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < BUFFERS; i++)
            stacks[i] = embed_stack_borrow();
        for (int i = 1; i < BUFFERS; i++)
            assert_ptr_not_equal(stacks[i], stacks[i - 1]);
        embed_stacks_reclaim();
    }
    for (int i = 0; i < 3 * BUFFERS; i++) /* each is given back */
        embed_stack_return(embed_stack_borrow());
    alarm(0);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
