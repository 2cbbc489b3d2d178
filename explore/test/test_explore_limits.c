/*
 * test_explore_limits.c -- the limits of an explored run: a run that just
 * reaches one passes; one that exceeds it is refused with a message.
 *
 * The tests call the __tsan_* entry points themselves.
 *
 * build: not=asan
 */
#include "explore/engine/explore.h"
#include "explore/engine/tsan.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/test/unit_test.h"

static uint64_t memory[1 << 16];
static uint32_t amount;
static uint32_t steps_max;

#define BODY(name) static void name(void *context, uint32_t thread)
#define UNUSED     (void)context, (void)thread

BODY(touch_words)
{
    UNUSED;
    for (uint32_t i = 0; i < amount; i++)
        __tsan_write8(&memory[i]);
}

BODY(touch_bytes)
{
    UNUSED;
    for (uint32_t i = 0; i < amount; i++)
        __tsan_write1((char *)memory + i);
}

BODY(touch_atomics)
{
    UNUSED;
    for (uint32_t i = 0; i < amount; i++)
        __tsan_atomic64_store(&memory[i], 1, __ATOMIC_RELAXED);
}

BODY(take_locks)
{
    UNUSED;
    for (uint32_t i = 0; i < amount; i++)
        sim_explore_lock(&memory[i], 0);
}

BODY(load_relaxed)
{
    UNUSED;
    for (uint32_t i = 0; i < amount; i++)
        (void)__tsan_atomic64_load(&memory[0], __ATOMIC_RELAXED);
}

BODY(load_in_order)
{
    UNUSED;
    for (uint32_t i = 0; i < amount; i++)
        (void)__tsan_atomic64_load(&memory[0], __ATOMIC_SEQ_CST);
}

BODY(store_much)
{
    UNUSED;
    for (uint32_t i = 0; i < amount; i++)
        __tsan_atomic64_store(&memory[0], i, __ATOMIC_RELAXED);
}

BODY(read_once)
{
    UNUSED;
    (void)__tsan_atomic64_load(&memory[0], __ATOMIC_RELAXED);
}

BODY(store_once)
{
    UNUSED;
    __tsan_atomic64_store(&memory[0], 1, __ATOMIC_RELAXED);
}

/* Make one run: thread 0 to its end, then thread 1. */
static struct sim_failure
run_with(void (*body)(void *context, uint32_t thread),
         void (*after)(void *context, uint32_t thread), uint32_t count)
{
    struct sim_kernel kernel = {
        .name = "limit",
        .about = "a limit",
        .threads = {{"first", body, NULL}, {"then", after, NULL}},
        .threads_count = after != NULL ? 2 : 1,
    };
    const struct sim_run_options options = {.steps_max = steps_max};
    static struct sim_choice list[1 << 16];
    struct sim_choices choices;
    struct sim_run run;

    amount = count;
    sim_choices_init(&choices, list, 1 << 16);
    sim_choices_replay(&choices, NULL, 0);
    sim_explore_run(&kernel, &options, &choices, &run);
    if (run.end == SIM_END_COMPLETE)
        assert_int_equal(run.failure.kind, SIM_FAIL_NONE);
    return run.failure;
}

static void
check_limit(void (*body)(void *context, uint32_t thread),
            void (*after)(void *context, uint32_t thread), uint32_t limit,
            const char *text)
{
    struct sim_failure failure = run_with(body, after, limit);

    if (failure.kind != SIM_FAIL_NONE)
        fail_msg("%u: %s", limit, failure.text);
    failure = run_with(body, after, limit + 1);
    assert_int_equal(failure.kind, SIM_FAIL_LIMIT);
    assert_string_equal(failure.text, text);
    assert_int_equal(failure.other_site, 0);
    failure = run_with(body, after, limit); /* the next is not affected */
    assert_int_equal(failure.kind, SIM_FAIL_NONE);
}

/* The table has 2^15 slots, of which three quarters may be used. */
TEST(a_run_may_touch_24576_words)
{
    check_limit(touch_words, NULL, 24576,
                "the threads touch too many different words");
}

TEST(a_run_may_split_words_into_65536_cells)
{
    check_limit(touch_bytes, NULL, 65536,
                "the threads touch too much plain memory");
}

TEST(a_run_may_use_4096_atomics)
{
    check_limit(touch_atomics, NULL, 4096,
                "the threads touch too many atomics");
}

TEST(a_run_may_use_64_locks)
{
    check_limit(take_locks, NULL, 64, "the threads use too many locks");
}

/* A load may choose among 511 stores of the run and the value before it; a
 * store goes before one of 511, or after all. */
TEST(an_access_may_choose_of_512_stores)
{
    const char *text = "an access has more than 512 stores to choose from";

    check_limit(store_much, read_once, 511, text);
    check_limit(store_much, store_once, 511, text);
}

TEST(a_run_has_as_many_steps_as_it_may)
{
    static const char text[] = "the run has too many steps (does a wait loop "
                               "lack its sim_explore_spin_wait?)";

    steps_max = 1000;
    check_limit(load_relaxed, NULL, 1000, text);
    steps_max = 0;
    check_limit(load_relaxed, NULL, 20000, text);
    steps_max = 100000;
}

TEST(a_run_may_have_32768_accesses_and_127_seq_cst)
{
    check_limit(load_relaxed, NULL, 1 << 15,
                "the run has too many seq_cst operations");
    check_limit(load_in_order, NULL, 127,
                "the run has too many seq_cst operations");
}

/* The explorer has a handler for abort(): outside of a run it must not stay. */
TEST(an_abort_outside_of_a_run_ends_the_process)
{
    int status = 0;
    pid_t child;

    assert_int_equal(run_with(load_relaxed, NULL, 1).kind, SIM_FAIL_NONE);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(60);
        abort();
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
}

/* ---- Every entry point of plain accesses ---- */

static uint8_t bytes_of[128] __attribute__((aligned(64)));

#define PLAIN_ENTRIES(bytes)                                                \
    {__tsan_read##bytes, bytes, false}, {__tsan_write##bytes, bytes, true}, \
        {__tsan_read_write##bytes, bytes, true},                            \
        {__tsan_volatile_read##bytes, bytes, false},                        \
        {__tsan_volatile_write##bytes, bytes, true},                        \
        {__tsan_unaligned_read##bytes, bytes, false},                       \
        {__tsan_unaligned_write##bytes, bytes, true},                       \
        {__tsan_unaligned_read_write##bytes, bytes, true},                  \
        {__tsan_unaligned_volatile_read##bytes, bytes, false},              \
    {                                                                       \
        __tsan_unaligned_volatile_write##bytes, bytes, true                 \
    }

static const struct {
    void (*call)(void *p);
    uint32_t bytes;
    bool writes;
} entries[] = {PLAIN_ENTRIES(1), PLAIN_ENTRIES(2), PLAIN_ENTRIES(4),
               PLAIN_ENTRIES(8), PLAIN_ENTRIES(16)};

enum {
    ENTRIES = sizeof entries / sizeof entries[0],
    READ_RANGE = ENTRIES,
    WRITE_RANGE,
    COPY,
    MOVE,
    SET,
    COMPARE,
    UPDATE_TABLE,
    READ_TABLE,
    LOAD,
    STORE,
    ADD,
    CALLS
};

/* Places in two halves of the bytes: those of one call do not overlap. */
static struct call {
    uint32_t kind;
    uint32_t to;
    uint32_t from;
    uint32_t bytes;
} calls[2];

static void
make_call(void *context, uint32_t thread)
{
    const struct call *c = &calls[thread];
    void *const to = &bytes_of[c->to];

    (void)context;
    switch (c->kind) {
    case READ_RANGE:
        __tsan_read_range(to, c->bytes);
        break;
    case WRITE_RANGE:
        __tsan_write_range(to, c->bytes);
        break;
    case COPY:
        __tsan_memcpy(to, &bytes_of[c->from], c->bytes);
        break;
    case MOVE:
        __tsan_memmove(to, &bytes_of[c->from], c->bytes);
        break;
    case SET:
        __tsan_memset(to, 1, c->bytes);
        break;
    case COMPARE:
        (void)__tsan_memcmp(to, &bytes_of[c->from], c->bytes);
        break;
    case UPDATE_TABLE:
        __tsan_vptr_update(to, NULL);
        break;
    case READ_TABLE:
        __tsan_vptr_read(to);
        break;
    case LOAD:
        (void)__tsan_atomic64_load(to, __ATOMIC_RELAXED);
        break;
    case STORE:
        __tsan_atomic64_store(to, 1, __ATOMIC_RELAXED);
        break;
    case ADD:
        (void)__tsan_atomic64_fetch_add(to, 1, __ATOMIC_RELAXED);
        break;
    default:
        entries[c->kind].call(to);
        break;
    }
}

static void
clear_bytes(void *context)
{
    (void)context;
    memset(bytes_of, 0, sizeof bytes_of);
}

/* returns: what the call does to a byte: 1 reads, 2 writes, and 4 if the access
 * is atomic */
static uint32_t
effect(const struct call *c, uint32_t byte)
{
    const bool first = byte - c->to < c->bytes;
    const bool second = byte - c->from < c->bytes;

    switch (c->kind) {
    case READ_RANGE:
    case READ_TABLE:
        return first;
    case WRITE_RANGE:
    case SET:
    case UPDATE_TABLE:
        return 2 * first;
    case COPY:
    case MOVE:
        return first ? 2 : second;
    case COMPARE:
        return first || second;
    case LOAD:
        return 5 * first;
    case STORE:
    case ADD:
        return 6 * first;
    default:
        return entries[c->kind].writes ? 2 * first : first;
    }
}

static bool
races(void)
{
    for (uint32_t i = 0; i < sizeof bytes_of; i++) {
        const uint32_t a = effect(&calls[0], i);
        const uint32_t b = effect(&calls[1], i);

        if (a != 0 && b != 0 && ((a | b) & 2) != 0 && (a & b & 4) == 0)
            return true;
    }
    return false;
}

static uint32_t
draw(uint32_t bound)
{
    static uint64_t state = 5;

    state = state * 6364136223846793005U + 1442695040888963407U;
    return (uint32_t)(state >> 33) % bound;
}

static void
draw_call(struct call *c)
{
    const bool low = draw(2) != 0;

    *c = (struct call){.kind = draw(3) == 0 ? READ_RANGE + draw(CALLS - ENTRIES)
                                            : draw(ENTRIES),
                       .to = draw(24) + (low ? 0 : 64),
                       .from = draw(24) + (low ? 64 : 0),
                       .bytes = 1 + draw(20)};
    if (c->kind < ENTRIES)
        c->bytes = entries[c->kind].bytes;
    if (c->kind >= UPDATE_TABLE) {
        c->bytes = 8;
        c->to &= ~7U;
    }
}

TEST(each_call_of_the_compiler_reads_and_writes_what_it_says)
{
    static const struct sim_kernel kernel = {
        .name = "calls",
        .setup = clear_bytes,
        .threads = {{"one", make_call, NULL}, {"other", make_call, NULL}},
        .threads_count = 2};
    uint32_t raced = 0;

    for (uint32_t i = 0; i < 6000; i++) {
        struct sim_exhaust_result r;

        draw_call(&calls[0]);
        draw_call(&calls[1]);
        sim_explore_exhaust(&kernel, &(struct sim_exhaust_options){0}, &r);
        assert_int_equal(r.verdict,
                         races() ? SIM_VERDICT_FAIL : SIM_VERDICT_PASS);
        if (r.failures > 0)
            assert_int_equal(r.first_failure.failure.kind, SIM_FAIL_RACE);
        raced += r.failures > 0;
        free(r.choices);
    }
    assert_in_range(raced, 600, 5000);
}

/* ---- Orders one step weaker ---- */

enum { LD = __ATOMIC_ACQUIRE, ST = __ATOMIC_RELEASE, BOTH = __ATOMIC_ACQ_REL };

static void
expect_weaker(struct sim_site site, uint32_t count, const int (*want)[2])
{
    for (uint32_t i = 0; i < count; i++) {
        struct sim_site weaker = site;

        assert_true(sim_explore_weaken(&weaker, i));
        assert_int_equal(weaker.op, site.op);
        assert_int_equal(weaker.order, want[i][0]);
        assert_int_equal(weaker.order_failure, want[i][1]);
    }
    assert_false(sim_explore_weaken(&site, count));
    assert_false(sim_explore_weaken(&site, count + 1));
}

TEST(each_order_is_weakened_by_one_step_at_a_time)
{
    const int none = __ATOMIC_RELAXED;
    const int all = __ATOMIC_SEQ_CST;

    for (uint32_t op = SIM_OP_LOAD; op <= SIM_OP_FENCE; op++) {
        const int first = op == SIM_OP_LOAD    ? LD
                          : op == SIM_OP_STORE ? ST
                                               : BOTH;
        const bool cas = op == SIM_OP_CAS;
        struct sim_site site = {.op = (enum sim_op)op, .order = all};

        site.order_failure = none;
        expect_weaker(site, 1, &(const int[2]){first, none});
        site.order = BOTH;
        expect_weaker(site, 2, (const int[][2]){{LD, none}, {ST, none}});
        site.order = LD;
        expect_weaker(site, 1, &(const int[2]){none, none});
        site.order = ST;
        expect_weaker(site, 1, &(const int[2]){none, none});
        site.order = none;
        expect_weaker(site, 0, NULL);
        site.order_failure = all;
        expect_weaker(site, cas, &(const int[2]){none, LD});
        site.order = BOTH;
        site.order_failure = LD;
        expect_weaker(site, cas ? 3 : 2,
                      (const int[][2]){{LD, LD}, {ST, LD}, {BOTH, none}});
    }
}

int
main(void)
{
    steps_max = 100000;
    return tests_run(NULL, NULL);
}
