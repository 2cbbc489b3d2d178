/*
 * test_frames.c -- stacks by frame pointers: a whole stack is walked, and the
 * walk ends at a value that is no frame pointer.
 *
 * The stacks are arrays of words on a page between two inaccessible ones, so a
 * read outside crashes the test. The last tests walk their own stack.
 */
#define UNW_LOCAL_ONLY
#include "frames.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <libunwind.h>

#include "unit_test.h"
#include "unwind.h"

enum { PAGE_BYTES = 65536, WORDS = PAGE_BYTES / sizeof(uintptr_t), ROOM = 64 };

static uintptr_t *words; /* the page */
static struct embed_bounds page;
static uintptr_t pcs[ROOM];

static uintptr_t
at(uint32_t word)
{
    return (uintptr_t)&words[word];
}

static void
put(uint32_t word, uintptr_t caller, uintptr_t pc)
{
    words[word] = caller;
    words[word + 1] = pc;
}

/* Walk three frames: at word 10, at word 20, and at `last`. */
static uint32_t
walk_to(uintptr_t last)
{
    put(10, at(20), 0x1001);
    put(20, last, 0x1002);
    return embed_frames_walk(pcs, ROOM, at(10), &page);
}

static int
make_page(void **state)
{
    unsigned char *all = mmap(NULL, 3 * PAGE_BYTES, PROT_NONE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    (void)state;
    if (all == MAP_FAILED ||
        mprotect(all + PAGE_BYTES, PAGE_BYTES, PROT_READ | PROT_WRITE) != 0)
        return -1;
    words = (uintptr_t *)(void *)(all + PAGE_BYTES);
    page = (struct embed_bounds){at(0), at(WORDS)};
    return 0;
}

static int
clear_page(void **state)
{
    (void)state;
    memset(words, 0, PAGE_BYTES);
    memset(pcs, 0, sizeof pcs);
    return 0;
}

TEST_WITH(clear_page, NULL, frames_are_listed_from_the_inside)
{
    put(30, 0, 0x1003);
    assert_int_equal(walk_to(at(30)), 3);
    assert_int_equal(pcs[0], 0x1001);
    assert_int_equal(pcs[1], 0x1002);
    assert_int_equal(pcs[2], 0x1003);
}

TEST_WITH(clear_page, NULL, a_frame_nobody_returns_from_ends_the_stack)
{
    put(30, at(40), 0);
    put(40, 0, 0x1004);
    assert_int_equal(walk_to(at(30)), 2);
}

TEST_WITH(clear_page, NULL, a_frame_outside_of_the_stack_ends_the_walk)
{
    const uintptr_t outside[] = {0,
                                 1,
                                 at(0) - 8,
                                 at(0) - 16,
                                 at(0) - PAGE_BYTES,
                                 at(WORDS - 1), /* half of it is outside */
                                 at(WORDS),
                                 at(WORDS) + PAGE_BYTES,
                                 UINTPTR_MAX - 7,
                                 UINTPTR_MAX - 15,
                                 (uintptr_t)1 << 63};

    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++)
        assert_int_equal(walk_to(outside[i]), 2);
    put(WORDS - 2, 0, 0x1003); /* the last place that fits */
    assert_int_equal(walk_to(at(WORDS - 2)), 3);
}

TEST_WITH(clear_page, NULL, a_walk_begins_inside_of_the_stack_or_not_at_all)
{
    const uintptr_t starts[] = {0, at(0) - 16, at(WORDS), at(WORDS - 1),
                                at(10) + 1};
    const struct embed_bounds none = {at(10), at(10)};

    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        assert_int_equal(embed_frames_walk(pcs, ROOM, starts[i], &page), 0);
    put(10, 0, 0x1001);
    assert_int_equal(embed_frames_walk(pcs, ROOM, at(10), &none), 0);
    assert_int_equal(embed_frames_walk(pcs, ROOM, at(10), &page), 1);
    put(0, 0, 0x1001);
    assert_int_equal(embed_frames_walk(pcs, ROOM, at(0), &page), 1);
}

TEST_WITH(clear_page, NULL, a_frame_that_is_not_aligned_ends_the_walk)
{
    memset(&words[30], 0x11, 64);
    for (uintptr_t off = 1; off < sizeof *words; off++)
        assert_int_equal(walk_to(at(30) + off), 2);
}

TEST_WITH(clear_page, NULL, a_frame_below_the_one_before_ends_the_walk)
{
    put(4, 0, 0x1003);
    assert_int_equal(walk_to(at(4)), 2);
    assert_int_equal(walk_to(at(19)), 2); /* the frames would overlap */
    words[22] = 0x1003;
    assert_int_equal(walk_to(at(21)), 2);
    put(22, 0, 0x1003); /* side by side */
    assert_int_equal(walk_to(at(22)), 3);
}

TEST_WITH(clear_page, NULL, a_cycle_of_frames_ends_the_walk)
{
    assert_int_equal(walk_to(at(20)), 2);
    assert_int_equal(walk_to(at(10)), 2);
    put(30, at(10), 0x1003);
    assert_int_equal(walk_to(at(30)), 3);
}

TEST_WITH(clear_page, NULL, no_more_frames_are_listed_than_there_is_room_for)
{
    put(30, 0, 0x1003);
    put(10, at(20), 0x1001);
    put(20, at(30), 0x1002);
    for (uint32_t room = 0; room <= 4; room++) {
        memset(pcs, 0, sizeof pcs);
        assert_int_equal(embed_frames_walk(pcs, room, at(10), &page),
                         room < 3 ? room : 3);
        assert_int_equal(pcs[room], 0);
    }
}

/* Whatever the words are, the walk must end on the page; the guard pages catch
 * a read outside. */
TEST_WITH(clear_page, NULL, words_at_random_are_survived)
{
    uint64_t random = 1;

    for (uint32_t round = 0; round < 200; round++) {
        for (uint32_t i = 0; i < WORDS; i++) {
            random = random * UINT64_C(6364136223846793005) + 1;
            words[i] = random >> 60 == 0 ? random
                                         : at((uint32_t)(random >> 33) % WORDS);
        }
        for (uint32_t i = 0; i + 1 < WORDS; i += 97)
            assert_true(embed_frames_walk(pcs, ROOM, at(i), &page) <= ROOM);
    }
}

/* ---- real stacks ---- */

struct both {
    struct embed_bounds bounds;
    uintptr_t by_frames[ROOM];
    void *by_unwinder[ROOM];
    uint32_t by_frames_count;
    int by_unwinder_count;
    bool known;
};

static struct embed_bounds
own_bounds(void)
{
    struct embed_own_stack own_stack = {.tries = 0};
    struct embed_stack_memory memory = {.own = &own_stack};

    embed_stack_memory_begin(&memory, (uintptr_t)__builtin_frame_address(0));
    return own_stack.bounds;
}

static __attribute__((noinline)) void
take_both(struct both *both)
{
    both->by_frames_count =
        embed_frames_walk(both->by_frames, ROOM,
                          (uintptr_t)__builtin_frame_address(0), &both->bounds);
    both->by_unwinder_count = unw_backtrace(both->by_unwinder, ROOM);
}

static __attribute__((noinline)) uint32_t
descend(struct both *both, uint32_t left)
{
    volatile uint32_t frames = 0; /* prevents a tail call */

    if (left == 0) {
        both->bounds = own_bounds();
        both->bounds.low -= 4096; /* the next call may begin on a new page */
        take_both(both);
    } else
        frames = descend(both, left - 1) + 1;
    return frames;
}

/* The walk may end here: the caller is in libc, which keeps no frame
 * pointers. */
static void *
take_stack(void *context)
{
    struct both *both = context;

    both->known = true;
    if (descend(both, 10) != 10)
        both->known = false;
    return NULL;
}

/* At most one of the two lists contains take_both() itself. So compare from its
 * caller on: 12 frames, 11 of descend() and one of take_stack(). */
static void
assert_alike(const struct both *both)
{
    int first = 0;

    assert_true(both->known);
    assert_true(both->by_frames_count >= 12);
    while (first < both->by_unwinder_count &&
           (uintptr_t)both->by_unwinder[first] != both->by_frames[0])
        first++;
    assert_true(first <= 2);
    assert_true(both->by_unwinder_count - first >= 12);
    for (int i = 0; i < 12; i++)
        assert_int_equal(both->by_frames[i], both->by_unwinder[first + i]);
}

TEST(a_stack_is_what_the_unwinder_says)
{
    struct both both = {.known = false};

    take_stack(&both);
    assert_alike(&both);
}

TEST(another_threads_stack_is_its_own)
{
    struct both both = {.known = false};
    pthread_t thread;
    struct embed_bounds own;

    assert_int_equal(pthread_create(&thread, NULL, take_stack, &both), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_alike(&both);
    own = own_bounds();
    assert_true(own.high <= both.bounds.low || own.low >= both.bounds.high);
}

static struct both coroutine;
static ucontext_t outside, inside;

static void
run_coroutine(void)
{
    take_both(&coroutine);
}

TEST(a_stack_that_is_no_threads_is_not_walked)
{
    static unsigned char stack[PAGE_BYTES];

    coroutine.bounds = own_bounds();
    coroutine.by_frames_count = ROOM;
    assert_int_equal(getcontext(&inside), 0);
    inside.uc_stack.ss_sp = stack;
    inside.uc_stack.ss_size = sizeof stack;
    inside.uc_link = &outside;
    makecontext(&inside, run_coroutine, 0);
    assert_int_equal(swapcontext(&outside, &inside), 0);
    assert_int_equal(coroutine.by_frames_count, 0);
}

#ifdef __x86_64__

/* Functions that have saved registers far from their frames, or whose frames
 * are far from where they point, and one that has no caller. */
extern const char far_down[], far_up[], last_of_all[];
__asm__(".text\n"
        ".cfi_startproc\n"
        ".cfi_def_cfa %rbp, 8000000\n"
        "nop\n"
        "far_up:\n"
        "nop\n"
        "ret\n"
        ".cfi_endproc\n"
        ".cfi_startproc\n"
        ".cfi_def_cfa %rsp, 16016\n"
        ".cfi_offset %rbp, -16000\n"
        ".cfi_offset %rbx, -16008\n"
        "nop\n"
        "far_down:\n"
        "nop\n"
        "ret\n"
        ".cfi_endproc\n"
        ".cfi_startproc\n"
        ".cfi_def_cfa %rsp, 16\n"
        ".cfi_undefined %rip\n"
        "nop\n"
        "last_of_all:\n"
        "nop\n"
        "ret\n"
        ".cfi_endproc\n");

/* Code at 0x1000 has no tables: its caller is where rbp says. */
TEST(registers_are_found_far_from_their_frame)
{
    static struct embed_own_stack own;
    uintptr_t stack[3000] = {0};
    struct embed_registers from = {.pc = (uintptr_t)far_down,
                                   .sp = (uintptr_t)&stack[100]};

    (void)state;
    stack[2101] = 0x1000;
    stack[102] = (uintptr_t)&stack[2500];
    stack[2501] = 0x2000;
    assert_in_range(embed_unwind_walk(pcs, ROOM, &from, true, &own), 3, ROOM);
    assert_int_equal(pcs[1], 0x1000);
    assert_int_equal(pcs[2], 0x2000);
    from.pc = (uintptr_t)far_up;
    from.fp = (uintptr_t)&stack[2102] - 8000000;
    assert_in_range(embed_unwind_walk(pcs, ROOM, &from, true, &own), 2, ROOM);
    assert_int_equal(pcs[1], 0x1000);
    from.pc = 0x1000;
    from.fp = UINTPTR_MAX - 4095; /* behind all stacks */
    assert_int_equal(embed_unwind_walk(pcs, ROOM, &from, true, &own), 1);
    from.pc = (uintptr_t)last_of_all;
    from.sp = (uintptr_t)&stack[2100];
    assert_int_equal(embed_unwind_walk(pcs, ROOM, &from, true, &own), 1);
}

#endif

int
main(void)
{
    if (!EMBED_FRAMES_OFFERED)
        return 0;
    return tests_run(make_page, NULL);
}
