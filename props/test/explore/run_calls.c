/*
 * run_calls.c -- what the calls in an explored program do, in a run and outside
 * of one.
 */
#include "run_calls.h"
#include "engine.h"
#include "tsan.h"

#include <stdlib.h>
#include <string.h>

#include "unit_test.h"

__asm__(".text\n"
        ".globl call_from_here, call_returns\n"
        "call_from_here:\n"
        "    mov %rdi, %rax\n"
        "    mov %rsi, %rdi\n"
        "    mov %rdx, %rsi\n"
        "    mov %rcx, %rdx\n"
        "    mov %r8, %rcx\n"
        "    mov %r9, %r8\n"
        "    sub $8, %rsp\n"
        "    call *%rax\n"
        "call_returns:\n"
        "    add $8, %rsp\n"
        "    ret\n");

static uint64_t places[2];
static char lock;

/* ---- Where and how an access is called ---- */

static uint8_t plain_bytes[64] __attribute__((aligned(64)));
static uint32_t entry; /* of the call that races */

#define PLAIN_CALLS(bytes)                                        \
    (void *)(uintptr_t)__tsan_read##bytes,                        \
        (void *)(uintptr_t)__tsan_write##bytes,                   \
        (void *)(uintptr_t)__tsan_read_write##bytes,              \
        (void *)(uintptr_t)__tsan_volatile_read##bytes,           \
        (void *)(uintptr_t)__tsan_volatile_write##bytes,          \
        (void *)(uintptr_t)__tsan_unaligned_read##bytes,          \
        (void *)(uintptr_t)__tsan_unaligned_write##bytes,         \
        (void *)(uintptr_t)__tsan_unaligned_read_write##bytes,    \
        (void *)(uintptr_t)__tsan_unaligned_volatile_read##bytes, \
        (void *)(uintptr_t)__tsan_unaligned_volatile_write##bytes

static void *const one_place[] = {PLAIN_CALLS(1),
                                  PLAIN_CALLS(2),
                                  PLAIN_CALLS(4),
                                  PLAIN_CALLS(8),
                                  PLAIN_CALLS(16),
                                  (void *)(uintptr_t)__tsan_vptr_read,
                                  (void *)(uintptr_t)__tsan_vptr_update,
                                  (void *)(uintptr_t)__tsan_read_range,
                                  (void *)(uintptr_t)__tsan_write_range};
static void *const two_places[] = {(void *)(uintptr_t)__tsan_memcpy,
                                   (void *)(uintptr_t)__tsan_memmove,
                                   (void *)(uintptr_t)__tsan_memcmp};

enum {
    ONE_PLACE = sizeof one_place / sizeof one_place[0],
    TWO_PLACES = sizeof two_places / sizeof two_places[0],
    SET = ONE_PLACE + 2 * TWO_PLACES,
    PLAIN_ENTRIES
};

static void
write_all(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    CALL(__tsan_write_range, plain_bytes, 16);
}

static void
race_with_it(void *context, uint32_t thread)
{
    uint8_t *raced = plain_bytes;
    uint8_t *free_of_it = plain_bytes + 32;

    (void)context;
    (void)thread;
    if (entry < ONE_PLACE)
        CALL(one_place[entry], raced, 1);
    else if (entry == SET)
        CALL(__tsan_memset, raced, 0, 1);
    else if ((entry - ONE_PLACE) % 2 == 0)
        CALL(two_places[(entry - ONE_PLACE) / 2], raced, free_of_it, 8);
    else
        CALL(two_places[(entry - ONE_PLACE) / 2], free_of_it, raced, 8);
}

struct sim_run
run_with(const struct sim_kernel *kernel, const struct sim_run_options *options)
{
    static struct sim_choice list[1024];
    struct sim_choices choices;
    struct sim_run run;

    sim_choices_init(&choices, list, 1024);
    sim_choices_replay(&choices, NULL, 0);
    sim_explore_run(kernel, options, &choices, &run);
    return run;
}

struct sim_run
run_kernel(const struct sim_kernel *kernel)
{
    return run_with(kernel, &(struct sim_run_options){0});
}

struct sim_kernel
kernel_of(const char *name, void (*body)(void *context, uint32_t thread),
          uint32_t count)
{
    struct sim_kernel kernel = {.name = name, .threads_count = count};

    for (uint32_t i = 0; i < count; i++)
        kernel.threads[i] = (struct sim_thread){.name = "t", .body = body};
    return kernel;
}

TEST(a_race_is_reported_at_both_calls)
{
    static const struct sim_kernel kernel = {
        .name = "race",
        .threads = {{.name = "write", .body = write_all},
                    {.name = "race", .body = race_with_it}},
        .threads_count = 2};

    for (entry = 0; entry < PLAIN_ENTRIES; entry++) {
        const struct sim_run run = run_kernel(&kernel);

        assert_int_equal(run.failure.kind, SIM_FAIL_RACE);
        assert_int_equal(run.failure.thread, 1);
        assert_int_equal(run.failure.site, HERE);
        assert_int_equal(run.failure.other_site, HERE);
    }
}

static void
copy_and_compare(void *context, uint32_t thread)
{
    static const uint8_t text[] = "abcdefgh";
    uint8_t *to = plain_bytes;

    (void)context;
    (void)thread;
    assert_ptr_equal(__tsan_memset(to, 'x', sizeof plain_bytes), to);
    assert_int_equal(to[0], 'x');
    assert_int_equal(to[63], 'x');
    assert_ptr_equal(__tsan_memcpy(to, text, 8), to);
    assert_memory_equal(to, "abcdefghx", 9);
    assert_ptr_equal(__tsan_memmove(to + 2, to, 8), to + 2);
    assert_memory_equal(to, "ababcdefghx", 11);
    assert_true(__tsan_memcmp(to, to + 2, 8) < 0);
    assert_int_equal(__tsan_memcmp(to, text, 2), 0);
    assert_true(__tsan_memcmp(to, text, 3) < 0);
    assert_true(__tsan_memcmp(text, to, 3) > 0);
}

#define CHANGES(bits)                                                          \
    do {                                                                       \
        static uint##bits##_t at;                                              \
        const uint##bits##_t a = (uint##bits##_t)0x123456789abcdef5;           \
        const uint##bits##_t b = (uint##bits##_t)0xf0e1d2c3b4a59687;           \
        const int order = __ATOMIC_RELAXED;                                    \
                                                                               \
        __tsan_atomic##bits##_store(&at, a, order);                            \
        assert_true(__tsan_atomic##bits##_fetch_nand(&at, b, order) == a);     \
        assert_true(at == (uint##bits##_t) ~(a & b));                          \
        assert_true(__tsan_atomic##bits##_exchange(&at, a, order) ==           \
                    (uint##bits##_t) ~(a & b));                                \
        assert_true(__tsan_atomic##bits##_fetch_add(&at, b, order) == a);      \
        assert_true(at == (uint##bits##_t)(a + b));                            \
        (void)__tsan_atomic##bits##_fetch_sub(&at, b, order);                  \
        assert_true(__tsan_atomic##bits##_fetch_and(&at, b, order) == a);      \
        assert_true(__tsan_atomic##bits##_fetch_or(&at, a, order) == (a & b)); \
        assert_true(__tsan_atomic##bits##_fetch_xor(&at, b, order) == a);      \
        assert_true(__tsan_atomic##bits##_load(&at, order) ==                  \
                    (uint##bits##_t)(a ^ b));                                  \
        assert_true(__tsan_atomic##bits##_compare_exchange_val(                \
                        &at, (uint##bits##_t)(a ^ b), b, order, order) ==      \
                    (uint##bits##_t)(a ^ b));                                  \
        assert_true(at == b);                                                  \
    } while (0)

static void
change_each_way(void *context, uint32_t thread)
{
    copy_and_compare(context, thread);
    CHANGES(8);
    CHANGES(16);
    CHANGES(32);
    CHANGES(64);
}

/* In a run, and outside where they go straight to memory. */
TEST(calls_do_and_return_what_the_instructions_would)
{
    static const struct sim_kernel kernel = {
        .name = "changes",
        .threads = {{.name = "one", .body = change_each_way}},
        .threads_count = 1};

    assert_int_equal(run_kernel(&kernel).end, SIM_END_COMPLETE);
    change_each_way(NULL, 0);
}

/* ---- What a kernel may call ---- */

_Noreturn void sim_explore_abort(void);
_Noreturn void sim_explore_exit(int status);
_Noreturn void sim_explore_assert_fail(const char *text, const char *file,
                                       unsigned line, const char *function);

static uint32_t ending; /* which call ends the process */
static uint32_t ends_in;

static void
end_process(uint32_t where)
{
    if (where != ends_in)
        return;
    if (ending == 0)
        CALL(sim_explore_abort);
    else if (ending == 1)
        CALL(sim_explore_exit, 3);
    else
        CALL(sim_explore_assert_fail, "x > 0", "file.c", 1, "f");
    fail_msg("the call came back");
}

static void
end_in_setup(void *context)
{
    (void)context;
    end_process(0);
}

static void
end_in_thread(void *context, uint32_t thread)
{
    (void)context;
    if (thread == 1)
        end_process(1);
}

static void
end_in_check(void *context)
{
    (void)context;
    end_process(2);
}

TEST(what_would_end_the_process_ends_the_run)
{
    static const struct sim_kernel kernel = {
        .name = "ends",
        .setup = end_in_setup,
        .finish = end_in_check,
        .threads = {{.name = "a", .body = end_in_thread},
                    {.name = "b", .body = end_in_thread}},
        .threads_count = 2};
    static const char *const texts[] = {"abort() is called", "exit() is called",
                                        "x > 0"};

    for (ending = 0; ending < 3; ending++) {
        for (ends_in = 0; ends_in < 4; ends_in++) {
            const struct sim_run run = run_kernel(&kernel);

            if (ends_in ==
                3) { /* nowhere: nothing is left of the runs before */
                assert_int_equal(run.end, SIM_END_COMPLETE);
                assert_int_equal(run.failure.kind, SIM_FAIL_NONE);
                continue;
            }
            assert_int_equal(run.end, SIM_END_FAILED);
            assert_int_equal(run.failure.kind, SIM_FAIL_CHECK);
            assert_string_equal(run.failure.text, texts[ending]);
            assert_int_equal(run.failure.site, ends_in == 1 ? HERE : 0);
            if (ends_in == 1)
                assert_int_equal(run.failure.thread, 1);
        }
    }
}

static uint32_t drawn;
static uint64_t all_drawn; /* a bit for each */

static void
try_thrice(void *context, uint32_t thread)
{
    (void)context;
    assert_int_equal(sim_explore_thread(), thread);
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t expected = 0;

        if (__tsan_atomic32_compare_exchange_weak(
                (uint32_t *)(void *)places, &expected, 0, __ATOMIC_RELAXED,
                __ATOMIC_RELAXED) == 0)
            drawn |= 1U << (3 * thread + i);
        assert_int_equal(expected, 0);
    }
}

static void
begin_drawing(void *context)
{
    (void)context;
    memset(places, 0, sizeof places);
    drawn = 0;
    assert_int_equal(sim_explore_thread(), 0); /* outside of a run */
    assert_int_equal(sim_explore_choose(5, SIM_FAULT), 0);
    assert_int_equal(sim_explore_mark(), 0);
    sim_explore_barrier();
    __tsan_atomic_thread_fence(__ATOMIC_SEQ_CST);
    sim_explore_unlock(&lock);
    assert_true(sim_explore_trylock(&lock, 0));
}

/* Of three compare-exchanges as many fail as may. */
TEST(weak_exchanges_fail_as_often_as_they_may)
{
    static const uint32_t graphs[] = {1, 4, 7, 8, 8}; /* subsets of three */
    struct sim_kernel kernel = {.name = "weak",
                                .setup = begin_drawing,
                                .threads = {{.name = "a", .body = try_thrice}},
                                .threads_count = 1};

    for (uint32_t most = 0; most < 5; most++) {
        for (uint32_t how = 0; how < 3; how++) {
            const struct sim_exhaust_options options = {.run.spurious_max =
                                                            most,
                                                        .by_schedules = how > 0,
                                                        .no_pruning = how > 1};
            struct sim_exhaust_result r;

            sim_explore_exhaust(&kernel, &options, &r);
            assert_int_equal(r.verdict, SIM_VERDICT_PASS);
            assert_int_equal(r.graphs, graphs[most]);
        }
    }
}

static void
sleep_once(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    sim_explore_wait((uint32_t *)(void *)places, 0);
}

/* A sleeper whom nobody wakes goes on only by a wake-up for no reason. */
TEST(a_sleeper_may_wake_for_no_reason)
{
    static const struct sim_kernel kernel = {
        .name = "sleep",
        .setup = begin_drawing,
        .threads = {{.name = "a", .body = sleep_once},
                    {.name = "b", .body = sleep_once}},
        .threads_count = 2};

    for (uint32_t most = 0; most < 4; most++) {
        const struct sim_exhaust_options options = {
            .run.spurious_max = most, .by_schedules = true, .keep_going = true};
        struct sim_exhaust_result r;

        sim_explore_exhaust(&kernel, &options, &r);
        assert_true((r.graphs > 0) == (most >= 2));
        assert_true(r.failures > 0);
        assert_int_equal(r.first_failure.failure.kind, SIM_FAIL_DEADLOCK);
        free(r.choices);
    }
}

static void
draw_two(void *context, uint32_t thread)
{
    (void)context;
    drawn = sim_explore_choose(3, SIM_FAULT);
    drawn = drawn * 4 + sim_explore_choose(4, SIM_FAULT);
    assert_int_equal(sim_explore_thread(), thread);
}

static void
keep_drawn_pair(void *context)
{
    all_drawn |= UINT64_C(1) << drawn;
    begin_drawing(context);
}

TEST(a_kernel_draws_each_pair_once)
{
    static const struct sim_kernel kernel = {
        .name = "draws",
        .setup = begin_drawing,
        .finish = keep_drawn_pair,
        .threads = {{.name = "a", .body = draw_two}},
        .threads_count = 1};

    for (uint32_t how = 0; how < 3; how++) {
        const struct sim_exhaust_options options = {.by_schedules = how > 0,
                                                    .no_pruning = how > 1};
        struct sim_exhaust_result r;

        all_drawn = 0;
        sim_explore_exhaust(&kernel, &options, &r);
        assert_int_equal(r.verdict, SIM_VERDICT_PASS);
        assert_int_equal(r.graphs, 12);
        assert_int_equal(all_drawn, 0xfff);
    }
}

int
run_calls_tests(void)
{
    return tests_run(NULL, NULL);
}
