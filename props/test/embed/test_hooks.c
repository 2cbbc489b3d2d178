/*
 * test_hooks.c -- whether the hooks of malloc report a call before or after
 * they make it; without a recorder.
 *
 * Another thread may get a freed block at once, so frees and resizes must be
 * reported before the call. The hooks also serve this program's own malloc(),
 * realloc() and so on.
 */
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <unistd.h>

#include "hooks.h"
#include "real_malloc.h"
#include "unit_test.h"

/* What happened while `watched` is set: a letter each, a small one for a
 * report. */
static char seen[16];
static bool watched;

_Thread_local bool embed_inside;

static void
note(char what)
{
    const size_t count = strlen(seen);

    if (watched && count < sizeof seen - 1)
        seen[count] = what;
}

/* ---- the reports ---- */

static struct embed_request told;
static const void *told_address;
static const void *told_frame; /* the hook's frame */
static const void *told_old;
static size_t told_bytes;

void
embed_on_alloc(void *address, struct embed_request request, const void *frame)
{
    told = request;
    told_address = address;
    told_frame = frame;
    note('a');
}

void
embed_on_free(void *address)
{
    told_old = address;
    note('f');
}

uint64_t
embed_on_resize(void *old)
{
    told_old = old;
    note('r');
    return 7;
}

void
embed_on_resized(uint64_t token, void *old, void *address, size_t bytes,
                 const void *frame)
{
    told_address = address;
    told_frame = frame;
    told_bytes = bytes;
    note(token == 7 && old == told_old ? 'd' : '?');
}

static int early;
static bool was_amid;    /* malloc was not the last */
static bool was_outside; /* while the functions were looked up */

void
embed_on_early(void)
{
    early++;
}

void
embed_locks_resolve(void)
{
    was_outside = was_outside || !embed_inside;
}

/* ---- the real functions, noted by capital letters ---- */

static bool is_refused;

static void *
real_valloc(size_t bytes)
{
    return real_memalign(4096, bytes);
}

static int
real_posix_memalign(void **to, size_t alignment, size_t bytes)
{
    void *const block = real_memalign(alignment, bytes);

    if (is_refused) {
        __libc_free(block);
        return EINVAL;
    }
    *to = block;
    return 0;
}

static size_t
real_usable_size(void *address)
{
    return (uintptr_t)address + 7;
}

static bool is_hidden; /* malloc is not yet known */

void
embed_resolve(void *function, const char *name, const char *version)
{
#define REAL(known, real)             \
    {                                 \
        known, (void (*)(void))(real) \
    }
    static const struct {
        const char *name;
        void (*real)(void);
    } rows[] = {
        REAL("malloc", real_malloc),
        REAL("calloc", real_calloc),
        REAL("realloc", real_realloc),
        REAL("aligned_alloc", real_memalign),
        REAL("memalign", real_memalign),
        REAL("valloc", real_valloc),
        REAL("pvalloc", real_valloc),
        REAL("posix_memalign", real_posix_memalign),
        REAL("free", real_free),
        REAL("malloc_usable_size", real_usable_size),
    };

    (void)version;
    was_amid = strcmp(name, "malloc") != 0;
    if (is_hidden && strcmp(name, "malloc") == 0)
        memset(function, 0, sizeof rows[0].real);
    if (is_hidden)
        return;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(rows[i].name, name) == 0)
            memcpy(function, &rows[i].real, sizeof rows[i].real);
    }
}

/* ---- the tests ---- */

int main(void);

/* A compiler assumes that malloc changes no variable of this file. */
#define BARRIER() __asm__ volatile("" ::: "memory")

static void
watch(void)
{
    memset(seen, 0, sizeof seen);
    watched = true;
    BARRIER();
}

static void
expect(const char *want)
{
    BARRIER();
    watched = false;
    assert_string_equal(seen, want);
}

/* The block is volatile: a compiler may leave out a block that is not used. */
TEST(a_block_is_told_while_it_is_the_callers)
{
    void *volatile block;
    void *place = NULL;

    watch();
    block = malloc(10);
    expect("Aa");
    watch();
    block = realloc(block, 20000);
    expect("rRd");
    watch();
    block = reallocarray(block, 3, 100);
    expect("rRd");
    watch();
    free(block);
    expect("fF");
    watch();
    block = realloc(NULL, 5);
    expect("Ra");
    free(block);
    watch();
    block = calloc(2, 5);
    expect("Aa");
    free(block);
    watch();
    block = aligned_alloc(64, 128);
    expect("Aa");
    free(block);
    watch();
    assert_int_equal(posix_memalign(&place, 64, 100), 0);
    expect("Aa");
    free(place);
}

/* The reported caller must be this program's function. */
static void
expect_told(void *block, size_t bytes, uint32_t alignment, bool zeroed)
{
    uintptr_t pc;

    BARRIER();
    watched = false;
    assert_non_null(block);
    assert_string_equal(strpbrk(seen, "a"), "a");
    assert_ptr_equal(told_address, block);
    assert_int_equal(told.bytes, bytes);
    assert_int_equal(told.alignment, alignment);
    assert_int_equal(told.zeroed, zeroed);
    pc = ((const uintptr_t *)told_frame)[1];
    assert_in_range(pc, (uintptr_t)main - 20000, (uintptr_t)main + 20000);
    free(block);
    watch();
}

/* The report says how the block was requested: size, zeroed, alignment (as 1 +
 * its binary logarithm). */
TEST(what_was_asked_for_is_told)
{
    void *place = NULL;

    (void)state;
    watch();
    expect_told(malloc(10), 10, 0, false);
    expect_told(calloc(3, 5), 15, 0, true);
    expect_told(aligned_alloc(64, 128), 128, 7, false);
    expect_told(memalign(1 << 12, 100), 100, 13, false);
    expect_told(memalign(1, 100), 100, 1, false);
    assert_int_equal(posix_memalign(&place, 16, 100), 0);
    expect_told(place, 100, 5, false);
    expect_told(valloc(77), 77, 13, false);
    expect_told(pvalloc(77), 77, 13, false);
    expect_told(realloc(NULL, 5), 5, 0, false);
    expect_told(reallocarray(NULL, 3, 5), 15, 0, false);
    watched = false;
}

TEST(a_resize_is_told_of_both_places)
{
    void *const first = malloc(10);
    const uintptr_t place = (uintptr_t)first;
    void *second;

    watch();
    second = reallocarray(first, 1000, 30);
    expect("rRd");
    assert_int_equal((uintptr_t)told_old, place);
    assert_ptr_equal(told_address, second);
    assert_int_equal(told_bytes, 30000);
    watch();
    assert_null(realloc(second, 0)); /* resized to 0 bytes: freed */
    expect("rRd");
    assert_null(told_address);
    assert_int_equal(told_bytes, 0);
}

TEST(the_usable_bytes_are_those_that_malloc_says)
{
    char block;

    (void)state;
    assert_int_equal(embed_usable_bytes(&block), (uintptr_t)&block + 7);
}

TEST(inside_the_recorder_malloc_is_the_real_one)
{
    void *volatile block;

    (void)state;
    embed_inside = true;
    watch();
    block = malloc(10);
    expect("Aa"); /* the hook reports it all the same */
    watch();
    free(block);
    expect("fF");
    embed_inside = false;
}

/* A product that overflows, and an alignment that is not a power of two: both
 * fail, and nothing is reported. */
TEST(what_cannot_be_asked_for_is_not_told)
{
    const volatile size_t half = SIZE_MAX / 2 + 1;
    void *place = &place;
    void *block;

    watch();
    errno = 0;
    block = calloc(half, 2);
    assert_null(block);
    assert_int_equal(errno, ENOMEM);
    errno = 0;
    block = reallocarray(NULL, half, 2);
    assert_null(block);
    assert_int_equal(errno, ENOMEM);
    expect("");
    watch();
    is_refused = true;
    assert_int_equal(posix_memalign(&place, 16, 100), EINVAL);
    is_refused = false;
    expect("A");
    assert_ptr_equal(place, &place);
    watch();
    free(NULL);
    expect("");
}

/* ---- before malloc is known ---- */

enum { ALIGN = 64, ARENA_BYTES = 64 << 10 };

/* Where the block behind `block` begins: its size is stored before it, in as
 * many bytes as its alignment. */
static unsigned char *
place_behind(unsigned char *block, size_t bytes)
{
    return block + (bytes + ALIGN - 1) / ALIGN * ALIGN + ALIGN;
}

/* Check a block that was given out early. in: before, its address; NULL: any */
static void
expect_early(unsigned char *block, size_t bytes, unsigned char *before)
{
    assert_non_null(block);
    assert_int_equal((uintptr_t)block % ALIGN, 0);
    assert_true(before == NULL || block == before);
    for (size_t i = 0; i < bytes; i++)
        assert_int_equal(block[i], 0);
    memset(block, 0xff, bytes);
}

/* Take the rest in the smallest blocks, which only have their sizes: the last
 * one ends where the memory does. in: first, the first block of all */
static void
expect_full(const unsigned char *first)
{
    const unsigned char *last = first;
    const unsigned char *next;

    while ((next = malloc(0)) != NULL) {
        assert_true(next > last);
        last = next;
    }
    assert_int_equal(last - first, ARENA_BYTES - ALIGN);
}

/* Blocks do not overlap, even if each is written to its end. */
TEST(before_malloc_is_known_memory_is_given_once)
{
    static const size_t sizes[] = {0, 1, 63, 64, 65, 127, 128, 1000};
    unsigned char *blocks[8];
    unsigned char *kept;
    void *place = NULL;

    is_hidden = true;
    embed_heap_resolve();
    early = 0;
    for (size_t i = 0; i < 8; i++) {
        blocks[i] = i % 2 == 0 ? malloc(sizes[i]) : calloc(1, sizes[i]);
        expect_early(blocks[i], sizes[i],
                     i > 0 ? place_behind(blocks[i - 1], sizes[i - 1]) : NULL);
    }
    assert_int_equal(early, 8);
    assert_false(embed_inside || was_outside);
    assert_false(was_amid);
    embed_inside = true; /* as if dlsym() allocated */
    place = malloc(10);
    assert_non_null(place);
    embed_inside = false;
    assert_null(aligned_alloc(2 * ALIGN, 10));
    assert_non_null(aligned_alloc(ALIGN, 10));
    assert_null(memalign(2 * ALIGN, 10));
    assert_non_null(memalign(ALIGN, 10));
    assert_null(valloc(10));
    assert_null(pvalloc(10));
    assert_int_equal(posix_memalign(&place, ALIGN, 10), ENOMEM);
    kept = realloc(blocks[5], 2000);
    for (size_t i = 0; i < 2000; i++)
        assert_int_equal(kept[i], i < sizes[5] ? 0xff : 0);
    expect_early(realloc(NULL, 70), 70, place_behind(kept, 2000));
    errno = 0;
    place = malloc(ARENA_BYTES / 2 + 1);
    assert_null(place);
    assert_int_equal(errno, ENOMEM);
    place = malloc(ARENA_BYTES / 2);
    expect_early(place, ARENA_BYTES / 2, NULL);
    expect_full(blocks[0]);
    errno = 0;
    place = malloc(ARENA_BYTES / 2);
    assert_null(place);
    assert_int_equal(errno, ENOMEM);
    is_hidden = false;
    embed_heap_resolve();
    for (size_t i = 0; i < 8; i++)
        for (size_t k = 0; k < sizes[i]; k++)
            assert_int_equal(blocks[i][k], 0xff);
    watch();
    free(blocks[1]); /* an early block: the free is ignored */
    expect("");
    watch();
    kept = realloc(blocks[7], 10);
    expect("Aa");
    assert_int_equal(told.bytes, 10);
    assert_int_equal(told.alignment, 0);
    assert_false(told.zeroed);
    assert_int_equal(kept[9], 0xff);
    free(kept);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
