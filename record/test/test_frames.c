/*
 * test_frames.c -- stacks by frame pointers: the walk ends at a value that is
 * no frame pointer.
 *
 * The stacks are arrays of words on a page between two inaccessible ones, so a
 * read outside crashes the test. Real stacks: test_recorder.py.
 */
#include "record/unwind/frames.h"

#include <string.h>
#include <sys/mman.h>

#include "common/test/unit_test.h"

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

int
main(void)
{
    if (!EMBED_FRAMES_OFFERED)
        return 0;
    return tests_run(make_page, NULL);
}
