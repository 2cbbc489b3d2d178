/*
 * test_sampled_hooks.c -- which calls of malloc the profiler's hooks report:
 * allocations that use up the bytes to the next sample, and frees of sampled
 * blocks. Calls are noted as letters: A R F of the real functions, a r d f the
 * reports.
 */
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "hooks.h"
#include "embed/real_malloc.h"
#include "told.h"
#include "unit_test.h"

_Thread_local bool embed_inside;
_Thread_local uint64_t embed_until_bytes;
_Atomic uint8_t embed_filter[1u << EMBED_FILTER_LOG2];

static char seen[16];
static bool watched, is_hidden;
static size_t told_bytes;

static void
note(char what)
{
    const size_t count = strlen(seen);

    if (watched && count < sizeof seen - 1)
        seen[count] = what;
}

void
embed_on_alloc(void *address, struct embed_request request, const void *frame)
{
    (void)address;
    (void)frame;
    told_bytes = request.bytes;
    note('a');
}

void
embed_on_free(void *address)
{
    (void)address;
    note('f');
}

uint64_t
embed_on_resize(void *old)
{
    (void)old;
    note('r');
    return 7;
}

void
embed_on_resized(uint64_t token, void *old, void *address, size_t bytes,
                 const void *frame)
{
    (void)old;
    (void)address;
    (void)bytes;
    (void)frame;
    note(token == 7 ? 'd' : '?');
}

void
embed_on_early(void)
{
}

void
embed_locks_resolve(void)
{
}

void
embed_resolve(void *function, const char *name, const char *version)
{
    static const struct {
        const char *name;
        void (*real)(void);
    } rows[] = {
        {"malloc", (void (*)(void))real_malloc},
        {"calloc", (void (*)(void))real_calloc},
        {"realloc", (void (*)(void))real_realloc},
        {"aligned_alloc", (void (*)(void))real_memalign},
        {"memalign", (void (*)(void))real_memalign},
        {"free", (void (*)(void))real_free},
    };
    void *nothing = NULL;

    (void)version;
    if (strcmp(name, "malloc") == 0)
        memcpy(function, &nothing, sizeof nothing);
    for (size_t i = 0; !is_hidden && i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, name) == 0)
            memcpy(function, &rows[i].real, sizeof rows[i].real);
}

/* ---- the tests ---- */

/* A compiler assumes that malloc changes no variable of this file. */
#define BARRIER() __asm__ volatile("" ::: "memory")

static char seen_first[sizeof seen];

/* Before the hooks were first called, free a block that libc allocated
 * directly. */
__attribute__((constructor(102))) static void
free_first(void)
{
    void *volatile block = __libc_malloc(10);

    watched = true;
    BARRIER();
    free(block);
    BARRIER();
    watched = false;
    memcpy(seen_first, seen, sizeof seen);
}

TEST(the_first_call_may_be_a_free)
{
    (void)state;
    assert_string_equal(seen_first, "F");
    assert_false(embed_inside);
}

static void
watch(uint64_t until_bytes)
{
    memset(seen, 0, sizeof seen);
    embed_until_bytes = until_bytes;
    watched = true;
    BARRIER();
}

static void
expect(const char *want, uint64_t until_bytes)
{
    BARRIER();
    watched = false;
    assert_string_equal(seen, want);
    assert_int_equal(embed_until_bytes, until_bytes);
    embed_until_bytes = 0;
}

static void
give_back(void *block)
{
    assert_non_null(block);
    memset(block, 1, malloc_usable_size(block));
    free(block);
}

/* The hook subtracts each size from the bytes left, except that of an
 * allocation that would use them up: that one is reported. */
TEST(allocations_count_the_bytes_down)
{
    void *volatile block;

    (void)state;
    watch(100);
    block = malloc(10);
    expect("A", 90);
    give_back(block);
    watch(100);
    block = malloc(99);
    expect("A", 1);
    give_back(block);
    watch(100);
    block = malloc(100);
    expect("Aa", 100);
    assert_int_equal(told_bytes, 100);
    give_back(block);
    watch(0);
    block = malloc(0);
    expect("Aa", 0);
    give_back(block);
    watch(100);
    block = calloc(3, 5);
    expect("A", 85);
    give_back(block);
    watch(100);
    block = calloc(20, 5);
    expect("Aa", 100);
    give_back(block);
    watch(100);
    block = memalign(64, 10);
    expect("A", 90);
    give_back(block);
    watch(100);
    block = aligned_alloc(64, 128);
    expect("Aa", 100);
    give_back(block);
    watch(100);
    block = realloc(NULL, 10);
    expect("R", 90);
    watch(100);
    block = realloc(block, 5);
    expect("R", 95);
    watch(100);
    block = reallocarray(block, 4, 5);
    expect("R", 80);
    watch(100);
    block = realloc(block, 200);
    expect("rRd", 100);
    watch(100);
    block = reallocarray(block, 4, 100);
    expect("rRd", 100);
    give_back(block);
}

/* A free is reported if a sampled block has the same low bits in its
 * address. */
TEST(frees_of_known_blocks_are_told)
{
    void *volatile block = malloc(10);
    _Atomic uint8_t *const count = embed_filter_at(block);

    (void)state;
    watch(100);
    atomic_store(count, 1);
    block = realloc(block, 12);
    expect("rRd", 100);
    atomic_store(count, 0);
    atomic_store(embed_filter_at(block), 200);
    watch(100);
    free(block);
    expect("fF", 100);
    atomic_store(embed_filter_at(block), 0);
    block = malloc(10);
    watch(100);
    free(block);
    expect("F", 100);
    watch(100);
    free(NULL);
    expect("F", 100);
}

/* Blocks that were allocated before libc's malloc was known are recognised by
 * their address, and their frees are ignored. */
TEST(early_blocks_are_never_given_back)
{
    char *blocks[3];

    (void)state;
    is_hidden = true;
    embed_heap_resolve();
    embed_until_bytes = 0;
    for (int i = 0; i < 3; i++) {
        blocks[i] = malloc(100);
        assert_non_null(blocks[i]);
        strcpy(blocks[i], "early");
        assert_true(embed_may_be_told(blocks[i]));
        assert_int_equal(atomic_load(embed_filter_at(blocks[i])), UINT8_MAX);
    }
    watch(0);
    blocks[2] = realloc(blocks[2], 200); /* early, too */
    expect("", 0);
    is_hidden = false;
    embed_heap_resolve();
    watch(100);
    free(blocks[0]);
    expect("", 100);
    watch(100);
    blocks[1] = realloc(blocks[1], 10);
    expect("A", 90); /* a block from malloc now */
    assert_string_equal(blocks[1], "early");
    free(blocks[1]);
    watch(100);
    blocks[2] = realloc(blocks[2], 400);
    expect("Aa", 100);
    assert_string_equal(blocks[2], "early");
    free(blocks[2]);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
