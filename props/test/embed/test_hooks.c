/*
 * test_hooks.c -- the order in which hooks tell of a call and make it, without
 * a recorder.
 *
 * A block that is given away is another thread's at once, so its free or its
 * resize is reported before the call. A program that is executed or spawned
 * logs at once, so its note has an earlier time. Malloc and its kin are the
 * hooks in this program, too.
 */
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <spawn.h>
#include <unistd.h>

#include "hooks.h"
#include "recorder.h"
#include "unit_test.h"

/* What happened while it is watched: a letter each, a small one if told. */
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

/* ---- what is told ---- */

void
embed_on_alloc(void *address, struct embed_request request, const void *frame)
{
    (void)address;
    (void)request;
    (void)frame;
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

static int early;

void
embed_on_early(void)
{
    early++;
}

void
embed_locks_resolve(void)
{
}

/* ---- what is noted of an exec; a clock that ticks when it is read ---- */

static char *const *argv_called;
static char *const *envp_called;
static uint64_t clock_ticks;
static uint64_t noted_ticks;
static uint64_t called_ticks;

bool
embed_enter(void)
{
    return true;
}

void
embed_leave(void)
{
}

uint64_t
embed_ticks(void)
{
    return ++clock_ticks;
}

uint64_t
embed_log_exec(uint32_t process, const char *path, uint32_t bytes,
               uint64_t ticks)
{
    (void)process;
    (void)path;
    (void)bytes;
    note('n');
    noted_ticks = ticks;
    return 8;
}

void
embed_log_change(uint64_t offset, enum embed_kind kind)
{
    note(offset == 8 && kind == EMBED_CANCELLED ? 'c' : '?');
}

/* ---- the real functions ---- */

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t each_bytes);
void *__libc_realloc(void *old, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void *address);

static void *
real_malloc(size_t bytes)
{
    note('A');
    return __libc_malloc(bytes);
}

static void *
real_calloc(size_t count, size_t each_bytes)
{
    note('A');
    return __libc_calloc(count, each_bytes);
}

static void *
real_realloc(void *old, size_t bytes)
{
    note('R');
    return __libc_realloc(old, bytes);
}

static void *
real_memalign(size_t alignment, size_t bytes)
{
    note('A');
    return __libc_memalign(alignment, bytes);
}

static void *
real_valloc(size_t bytes)
{
    return real_memalign(4096, bytes);
}

static int
real_posix_memalign(void **to, size_t alignment, size_t bytes)
{
    *to = real_memalign(alignment, bytes);
    return 0;
}

static void
real_free(void *address)
{
    note('F');
    __libc_free(address);
}

static int
real_exec(const char *path, char *const argv[], char *const envp[])
{
    (void)path;
    argv_called = argv;
    envp_called = envp;
    note('X');
    called_ticks = ++clock_ticks;
    return -1;
}

static int
real_fexecve(int file, char *const argv[], char *const envp[])
{
    (void)file;
    return real_exec(NULL, argv, envp);
}

static int
real_spawn(pid_t *process, const char *path,
           const posix_spawn_file_actions_t *actions,
           const posix_spawnattr_t *attributes, char *const argv[],
           char *const envp[])
{
    (void)actions;
    (void)attributes;
    *process = 1;
    real_exec(path, argv, envp);
    return 0;
}

static bool is_hidden; /* nothing is known yet */

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
        REAL("execve", real_exec),
        REAL("execvpe", real_exec),
        REAL("fexecve", real_fexecve),
        REAL("posix_spawn", real_spawn),
        REAL("posix_spawnp", real_spawn),
    };

    (void)version;
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

/* A compiler takes malloc for a function that changes no variable of ours. */
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

/* volatile: a compiler may leave out a block that nobody uses. */
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

static void
expect_arguments(const char *last)
{
    expect("nXc");
    assert_string_equal(argv_called[0], "first");
    assert_string_equal(argv_called[1], "second");
    assert_string_equal(argv_called[2], last);
    assert_null(argv_called[3]);
    watch();
}

/* A list becomes an array, with its end. */
TEST(arguments_are_handed_on)
{
    static char words[3][8] = {"first", "second", "third"};
    char *const argv[] = {words[0], words[1], words[2], NULL};
    char *const envp[] = {words[2], NULL};

    watch();
    assert_int_equal(execv("x", argv), -1);
    assert_ptr_equal(envp_called, environ);
    expect_arguments("third");
    assert_int_equal(execve("x", argv, envp), -1);
    assert_ptr_equal(envp_called, envp);
    expect_arguments("third");
    assert_int_equal(execvpe("x", argv, envp), -1);
    assert_ptr_equal(envp_called, envp);
    expect_arguments("third");
    assert_int_equal(execl("x", "first", "second", "l", NULL), -1);
    assert_ptr_equal(envp_called, environ);
    expect_arguments("l");
    assert_int_equal(execlp("x", "first", "second", "lp", NULL), -1);
    assert_ptr_equal(envp_called, environ);
    expect_arguments("lp");
    assert_int_equal(execle("x", "first", "second", "le", NULL, envp), -1);
    assert_ptr_equal(envp_called, envp);
    expect_arguments("le");
}

/* ---- before malloc is known ---- */

enum { ALIGN = 64, ARENA_BYTES = 64 << 10 };

static void
expect_early(unsigned char *block, size_t bytes, unsigned char *before)
{
    assert_non_null(block);
    assert_int_equal((uintptr_t)block % ALIGN, 0);
    assert_true(before == NULL || block >= before + ALIGN);
    for (size_t i = 0; i < bytes; i++)
        assert_int_equal(block[i], 0);
    memset(block, 0xff, bytes);
}

/* Blocks do not overlap; each is written to its end. */
TEST(before_malloc_is_known_memory_is_given_once)
{
    static const size_t sizes[] = {0, 1, 63, 64, 65, 127, 128, 1000};
    unsigned char *blocks[8];
    unsigned char *kept;
    void *place = NULL;

    (void)state;
    is_hidden = true;
    embed_heap_resolve();
    early = 0;
    for (size_t i = 0; i < 8; i++) {
        blocks[i] = i % 2 == 0 ? malloc(sizes[i]) : calloc(1, sizes[i]);
        expect_early(blocks[i], sizes[i],
                     i > 0 ? blocks[i - 1] + sizes[i - 1] : NULL);
    }
    assert_int_equal(early, 8);
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
    expect_early(realloc(NULL, 70), 70, kept + 2000);
    errno = 0;
    place = malloc(ARENA_BYTES / 2 + 1);
    assert_null(place);
    assert_int_equal(errno, ENOMEM);
    place = malloc(ARENA_BYTES / 2);
    expect_early(place, ARENA_BYTES / 2, kept);
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
    free(blocks[1]); /* it is nobody's to give back */
    expect("");
    watch();
    kept = realloc(blocks[7], 10);
    expect("Aa");
    assert_int_equal(kept[9], 0xff);
    free(kept);
}

TEST(what_is_executed_is_noted_before)
{
    static char name[] = "x";
    char *const argv[] = {name, NULL};
    pid_t process;

    watch();
    assert_int_equal(execve("x", argv, argv), -1);
    expect("nXc");
    assert_true(noted_ticks < called_ticks);
    watch();
    assert_int_equal(execvp("x", argv), -1);
    expect("nXc");
    assert_true(noted_ticks < called_ticks);
    watch();
    assert_int_equal(fexecve(1, argv, argv), -1);
    expect("nXc");
    assert_true(noted_ticks < called_ticks);
    /* Its number is known afterwards. */
    watch();
    assert_int_equal(posix_spawn(&process, "x", NULL, NULL, argv, argv), 0);
    expect("Xn");
    assert_true(noted_ticks < called_ticks);
    watch();
    assert_int_equal(posix_spawnp(NULL, "x", NULL, NULL, argv, argv), 0);
    expect("Xn");
    assert_true(noted_ticks < called_ticks);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
