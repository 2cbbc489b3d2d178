/*
 * test_stack_memory.c -- for which pages of a stack, and for how many, the
 * unwinder asks the system whether they are readable. The addresses are made
 * up, below the thread's control block, and system calls are stubs. Also, which
 * of libc's functions the hooks call.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>

#include "hooks.h"
#include "stack_memory.h"
#include "unit_test.h"

enum { PAGE = 4096, OWN_PAGES = 2048, WALK_PAGES = 256, TRIES = 4 };

static uintptr_t end;         /* the end of the thread's own stack */
static uintptr_t first, last; /* readable pages; `last` is exclusive */
static uintptr_t gap;         /* a page between that cannot be read */
static uintptr_t asked[OWN_PAGES + 10];
static size_t asked_count;
static struct embed_own_stack own;
static struct embed_stack_memory memory = {.own = &own};

long __wrap_syscall(long number, ...);
long
__wrap_syscall(long number, ...)
{
    va_list list;
    uintptr_t page;

    assert_int_equal(number, SYS_rt_sigprocmask);
    va_start(list, number);
    assert_int_equal(va_arg(list, int), -1);
    page = va_arg(list, uintptr_t);
    assert_null(va_arg(list, void *));
    assert_int_equal(va_arg(list, int), 8);
    va_end(list);
    assert_int_equal(page % PAGE, 0);
    assert_true(asked_count < OWN_PAGES + 10);
    asked[asked_count++] = page;
    errno = page >= first && page < last && page != gap ? EINVAL : EFAULT;
    return -1;
}

static int
set_out(void **state)
{
    (void)state;
    memset(&own, 0, sizeof own);
    asked_count = 0;
    end = (uintptr_t)__builtin_thread_pointer();
    first = gap = 0;
    last = UINTPTR_MAX;
    return 0;
}

/* Begin a walk. returns: about how many pages the system was asked */
static size_t
begin(uintptr_t sp)
{
    asked_count = 0;
    errno = 1000;
    embed_stack_memory_begin(&memory, sp);
    assert_int_equal(errno, 1000);
    return asked_count;
}

static size_t
grow(uintptr_t address, bool want)
{
    asked_count = 0;
    errno = 1000;
    assert_int_equal(embed_stack_memory_grow(&memory, address), want);
    assert_int_equal(errno, 1000);
    return asked_count;
}

static void
expect_bounds(const struct embed_bounds *bounds, uintptr_t low, uintptr_t high)
{
    assert_int_equal(bounds->low, low);
    assert_int_equal(bounds->high, high);
}

static uintptr_t
page_of(uintptr_t address)
{
    return address / PAGE * PAGE;
}

/* The thread's own stack is found once; then only pages below the known part
 * are asked about. */
TEST_WITH(set_out, NULL, a_threads_own_stack_is_found_out_once)
{
    const uintptr_t page = page_of(end) - 10 * PAGE;
    const size_t pages = 10 + (end % PAGE != 0);

    (void)state;
    assert_int_equal(begin(page + 300), pages);
    for (size_t i = 0; i < pages; i++)
        assert_int_equal(asked[i], page + i * PAGE);
    expect_bounds(&own.bounds, page, end);
    expect_bounds(&memory.bounds, page, end);
    assert_int_equal(begin(page), 1); /* the page a little below */
    assert_int_equal(asked[0], page - PAGE);
    expect_bounds(&memory.bounds, page - PAGE, end);
    assert_int_equal(begin(page + PAGE + 300), 0);
    expect_bounds(&memory.bounds, page + PAGE, end);
    expect_bounds(&own.bounds, page, end);
    assert_int_equal(begin(page - 2 * PAGE + 300), 2);
    assert_int_equal(asked[0], page - 2 * PAGE);
    expect_bounds(&own.bounds, page - 2 * PAGE, end);
    assert_int_equal(grow(end, false), 0);
    assert_int_equal(own.tries, 0);
}

TEST_WITH(set_out, NULL, registers_may_be_a_little_below)
{
    const uintptr_t page = page_of(end) - 10 * PAGE;

    (void)state;
    (void)begin(page + 128);
    expect_bounds(&memory.bounds, page, end);
    assert_int_equal(begin(page + 127), 1);
    expect_bounds(&memory.bounds, page - PAGE, end);
    first = page;
    assert_int_equal(begin(page + 127), 1);
    expect_bounds(&memory.bounds, page, end);
}

/* The own stack is searched 8 MiB upwards, and grows 8 MiB downwards at a
 * time. */
TEST_WITH(set_out, NULL, a_stack_of_its_own_is_not_too_far_away)
{
    const uintptr_t far = end - OWN_PAGES * (uintptr_t)PAGE;

    (void)begin(far - 1);
    assert_int_equal(own.tries, 1);
    assert_int_equal(own.bounds.high, 0);
    set_out(state);
    (void)begin(far);
    assert_int_equal(own.tries, 0);
    expect_bounds(&own.bounds, page_of(far), end);
    (void)begin(page_of(far) - OWN_PAGES * (uintptr_t)PAGE);
    assert_int_equal(own.bounds.low,
                     page_of(far) - OWN_PAGES * (uintptr_t)PAGE);
}

/* Between another stack, such as a coroutine's, and the end of the thread's own
 * lies a page that cannot be read. After TRIES walks that met one the own stack
 * is no longer looked for. */
TEST_WITH(set_out, NULL, on_another_stack_there_is_a_gap)
{
    const uintptr_t page = page_of(end) - 10 * PAGE;

    (void)state;
    gap = page + 4 * PAGE;
    for (uint32_t i = 1; i <= TRIES; i++) {
        assert_int_equal(begin(page + 300), 5 + 1);
        assert_int_equal(asked[4], gap);
        assert_int_equal(asked[5], page);
        assert_int_equal(own.tries, i);
        expect_bounds(&memory.bounds, page, page + PAGE);
    }
    assert_int_equal(begin(page + 300), 1);
    assert_int_equal(own.tries, TRIES);
    gap = 0;
    assert_int_equal(begin(page + 300), 1);
    assert_int_equal(own.bounds.high, 0);
    assert_int_equal(begin(page + 100), 2);
    expect_bounds(&memory.bounds, page - PAGE, page + PAGE);
    last = page; /* the page of sp cannot be read */
    assert_int_equal(begin(page + 100), 1);
    expect_bounds(&memory.bounds, page, page);
}

/* A stack above the known end of the thread's own is another stack. */
TEST_WITH(set_out, NULL, above_the_end_is_another_stack)
{
    const uintptr_t page = page_of(end) - 10 * PAGE;

    (void)state;
    (void)begin(page + 300);
    assert_int_equal(begin(end), 1);
    expect_bounds(&memory.bounds, page_of(end), page_of(end) + PAGE);
    assert_int_equal(own.tries, 0);
    expect_bounds(&own.bounds, page, end);
}

extern void *__libc_stack_end;

/* An sp at the very end has no frame of the stack above it. */
TEST_WITH(set_out, NULL, the_end_is_not_on_the_stack)
{
    const uintptr_t sp = (uintptr_t)__libc_stack_end;

    (void)state;
    (void)begin(sp);
    assert_int_equal(own.bounds.high, 0);
    assert_int_equal(own.tries, 0);
    assert_int_equal(memory.bounds.high, page_of(sp) + PAGE);
}

/* On another stack pages are asked about one by one, at most 256 in a walk. */
TEST_WITH(set_out, NULL, another_stack_grows_as_it_is_walked)
{
    const uintptr_t page = page_of(end) - 3000 * (uintptr_t)PAGE;
    const uintptr_t high = page + PAGE;

    (void)state;
    own.tries = TRIES;
    (void)begin(page + 300);
    expect_bounds(&memory.bounds, page, high);
    assert_int_equal(grow(high + WALK_PAGES * (uintptr_t)PAGE, false), 0);
    assert_int_equal(grow(high + 5 * PAGE, true), 6);
    (void)begin(page + 300); /* the walk goes on, on another stack */
    assert_int_equal(grow(high, true), 1);
    assert_int_equal(asked[0], high);
    assert_int_equal(memory.bounds.high, high + PAGE);
    assert_int_equal(grow(high + 3 * (uintptr_t)PAGE - 8, true), 2);
    assert_int_equal(memory.bounds.high, high + 3 * (uintptr_t)PAGE);
    assert_int_equal(grow(high + WALK_PAGES * (uintptr_t)PAGE, false), 0);
    assert_int_equal(grow(high + WALK_PAGES * (uintptr_t)PAGE - 8, true),
                     WALK_PAGES - 3);
    assert_int_equal(grow(high + WALK_PAGES * (uintptr_t)PAGE, false), 0);
    (void)begin(page + 300); /* another walk */
    gap = high + 2 * PAGE;
    assert_int_equal(grow(high + 5 * PAGE, false), 3);
    assert_int_equal(memory.bounds.high, gap);
}

/* ---- the real functions ---- */

typedef void function(void);

static function *
resolve(const char *name, const char *version)
{
    function *found = (function *)(uintptr_t)1;

    embed_resolve(&found, name, version);
    return found;
}

static function *
as_function(void *found)
{
    function *as;

    memcpy(&as, &found, sizeof as);
    return as;
}

/* libc has two versions of this one. */
TEST(a_function_is_found_in_its_version)
{
    const char name[] = "pthread_cond_wait";
    void *const usual = dlsym(RTLD_NEXT, name);
    void *const old = dlvsym(RTLD_NEXT, name, "GLIBC_2.2.5");

    (void)state;
    assert_non_null(usual);
    assert_ptr_equal(resolve(name, NULL), as_function(usual));
    assert_ptr_equal(resolve(name, "GLIBC_2.3.2"), as_function(usual));
    if (old != NULL) /* on x86-64 */
        assert_ptr_not_equal(old, usual);
    if (old != NULL)
        assert_ptr_equal(resolve(name, "GLIBC_2.2.5"), as_function(old));
    assert_ptr_equal(resolve(name, "GLIBC_0.0"), as_function(usual));
    assert_null(resolve("pthread_no_such_function", NULL));
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
