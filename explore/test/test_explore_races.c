/*
 * test_explore_races.c -- plain and atomic accesses to the same bytes, against
 * a model.
 *
 * Random programs run once each. The model keeps every access to every byte.
 * Two accesses race if one of them writes, one is plain, and neither happens
 * before the other. A run must end at the first access that races with an
 * earlier one, and say what races. A value that is read was written, and no
 * write stands between.
 *
 * build: not=asan cflags=-O2
 */
#include "explore/engine/explore.h"
#include "common/rng.h"
#include "explore/engine/tsan.h"

#include <string.h>

#include "common/test/unit_test.h"

enum {
    THREADS = SIM_THREADS_MAX,
    LENGTH = 9,
    BYTES = 24,
    FLAG = BYTES, /* the place of the exchanges that order threads */
    PROGRAMS = 6000
};

enum kind { READ, WRITE, LOAD, STORE, EXCHANGE, SYNC, KINDS };

static struct access {
    enum kind kind;
    uint32_t at;
    uint32_t bytes;
    int order;
    uint32_t thread;
    uint32_t index;
    uint32_t known[THREADS]; /* how many accesses of each happen before it */
    uint32_t gives[THREADS]; /* a write: ... of what acquires from it */
} accesses[THREADS][LENGTH];

static struct access *done[THREADS * LENGTH]; /* in the order of the run */
static uint32_t done_count;
static uint32_t made[THREADS]; /* how many accesses has a thread begun? */
static uint32_t known[THREADS][THREADS];
static uint32_t threads; /* of this program */
static uint8_t memory[BYTES + 8] __attribute__((aligned(64)));

/* Atomic places do not overlap; plain accesses are anywhere. */
static const uint8_t places[][2] = {{0, 4},  {4, 2},  {6, 1},  {7, 1}, {8, 8},
                                    {16, 1}, {17, 1}, {18, 2}, {20, 4}};

/* A write fills its bytes with its name. */
static uint8_t
name(const struct access *a)
{
    return (uint8_t)(a->thread * LENGTH + a->index + 1);
}

static bool
writes(const struct access *a)
{
    return a->kind != READ && a->kind != LOAD;
}

static bool
is_atomic(const struct access *a)
{
    return a->kind >= LOAD;
}

static bool
has_byte(const struct access *a, uint32_t byte)
{
    return byte - a->at < a->bytes;
}

/* Does `a`, which is done, happen before what knows so much? */
static bool
is_before(const struct access *a, const uint32_t *knows)
{
    return a->index < knows[a->thread];
}

/* returns: what a race of the two is called; NULL: they do not race */
static const char *
race(const struct access *earlier, const struct access *a)
{
    bool shared = false;

    for (uint32_t i = 0; i < sizeof memory; i++)
        shared |= has_byte(earlier, i) && has_byte(a, i);
    if (!shared || (!writes(earlier) && !writes(a)) ||
        (is_atomic(earlier) && is_atomic(a)) || earlier->thread == a->thread ||
        is_before(earlier, known[a->thread]))
        return NULL;
    if (is_atomic(a))
        return writes(earlier) ? "atomic access races with a plain write"
                               : "atomic write races with a plain read";
    if (is_atomic(earlier))
        return writes(earlier) ? "plain access races with an atomic write"
                               : "plain write races with an atomic read";
    if (writes(a))
        return writes(earlier) ? "two plain writes race"
                               : "a plain write races with a plain read";
    return "a plain read races with a plain write";
}

/* The byte may show what this write has left in it. */
static void
check_byte(const struct access *a, uint32_t byte, uint8_t value)
{
    const struct access *from = NULL;

    for (uint32_t i = 0; i < done_count; i++) {
        if (writes(done[i]) && has_byte(done[i], byte) &&
            name(done[i]) == value)
            from = done[i];
    }
    assert_true(from != NULL || value == 0);
    for (uint32_t i = 0; i < done_count; i++) {
        const struct access *between = done[i];

        if (writes(between) && has_byte(between, byte) && between != from &&
            is_before(between, a->known))
            assert_true(from != NULL && !is_before(from, between->known));
    }
}

static void
check_value(const struct access *a, uint64_t value)
{
    for (uint32_t i = 0; i < a->bytes; i++)
        check_byte(a, a->at + i, (uint8_t)(value >> 8 * i));
}

/* An atomic read learns what the one write that it read from gives. */
static void
acquire(const struct access *a, uint64_t value, uint32_t *gives)
{
    const uint64_t every = UINT64_MAX >> (64 - 8 * a->bytes);
    const uint8_t first = (uint8_t)value;

    memset(gives, 0, sizeof known[0]);
    if (value != (0x0101010101010101U * first & every))
        return;
    for (uint32_t i = 0; i < done_count; i++) {
        const struct access *from = done[i];

        if (writes(from) && is_atomic(from) && name(from) == first &&
            from->at == a->at)
            memcpy(gives, from->gives, sizeof known[0]);
    }
}

static void
learn(uint32_t *knows, const uint32_t *more)
{
    for (uint32_t t = 0; t < THREADS; t++)
        knows[t] = more[t] > knows[t] ? more[t] : knows[t];
}

#define ACCESS(bits)                                                    \
    static uint64_t access_##bits(const struct access *a, void *at)     \
    {                                                                   \
        const uint##bits##_t value =                                    \
            (uint##bits##_t)(0x0101010101010101U * name(a));            \
                                                                        \
        if (a->kind == LOAD)                                            \
            return __tsan_atomic##bits##_load(at, a->order);            \
        if (a->kind != STORE)                                           \
            return __tsan_atomic##bits##_exchange(at, value, a->order); \
        __tsan_atomic##bits##_store(at, value, a->order);               \
        return 0;                                                       \
    }

ACCESS(8)
ACCESS(16)
ACCESS(32)
ACCESS(64)

static uint64_t
do_access(const struct access *a)
{
    void *const at = &memory[a->at];

    if (is_atomic(a))
        return a->bytes == 1   ? access_8(a, at)
               : a->bytes == 2 ? access_16(a, at)
               : a->bytes == 4 ? access_32(a, at)
                               : access_64(a, at);
    if (writes(a))
        __tsan_write_range(at, a->bytes);
    else
        __tsan_read_range(at, a->bytes);
    return 0;
}

static void
check_races(const struct access *a)
{
    for (uint32_t i = 0; i < done_count; i++)
        assert_null(race(done[i], a));
}

/* The access is done, and no other thread has run since. */
static void
note(struct access *a, uint64_t value)
{
    uint32_t *knows = known[a->thread];
    uint32_t gives[THREADS] = {0};

    if (is_atomic(a) && a->kind != STORE) {
        acquire(a, value, gives);
        if (a->order != __ATOMIC_RELAXED && a->order != __ATOMIC_RELEASE)
            learn(knows, gives);
    }
    check_races(a);
    memcpy(a->known, knows, sizeof known[0]);
    if (is_atomic(a) && a->kind != STORE)
        check_value(a, value);
    for (uint32_t i = 0; i < a->bytes && !is_atomic(a); i++)
        check_byte(a, a->at + i, memory[a->at + i]);
    if (a->kind == WRITE)
        memset(&memory[a->at], name(a), a->bytes);
    knows[a->thread] = a->index + 1;
    if (a->order >= __ATOMIC_RELEASE)
        learn(gives, knows);
    memcpy(a->gives, gives, sizeof gives);
    done[done_count++] = a;
}

static void
body(void *context, uint32_t thread)
{
    (void)context;
    for (uint32_t i = 0; i < LENGTH; i++) {
        struct access *a = &accesses[thread][i];

        made[thread] = i + 1;
        note(a, do_access(a));
    }
}

static void
setup(void *context)
{
    (void)context;
    done_count = 0;
    memset(made, 0, sizeof made);
    memset(known, 0, sizeof known);
    memset(memory, 0, sizeof memory);
}

static void
draw(struct sim_rng *rng)
{
    static const int orders[] = {__ATOMIC_RELAXED, __ATOMIC_CONSUME,
                                 __ATOMIC_ACQUIRE, __ATOMIC_RELEASE,
                                 __ATOMIC_ACQ_REL, __ATOMIC_SEQ_CST};
    const uint32_t from = sim_rng_below(rng, BYTES);
    const uint32_t range = 1 + sim_rng_below(rng, BYTES - from);

    threads = sim_rng_below(rng, 8) == 0 ? THREADS : 3;
    for (uint32_t i = 0; i < threads * LENGTH; i++) {
        struct access *a = &accesses[i / LENGTH][i % LENGTH];
        const uint32_t place =
            sim_rng_below(rng, sizeof places / sizeof places[0]);

        a->thread = i / LENGTH;
        a->index = i % LENGTH;
        a->kind = sim_rng_below(rng, 3) > 0 ? SYNC : sim_rng_below(rng, SYNC);
        a->order =
            a->kind == SYNC ? __ATOMIC_ACQ_REL : orders[sim_rng_below(rng, 6)];
        a->at = a->kind == SYNC ? FLAG : places[place][0];
        a->bytes = a->kind == SYNC ? 4 : places[place][1];
        if (a->kind > WRITE)
            continue;
        a->order = __ATOMIC_RELAXED;
        a->at = from + sim_rng_below(rng, range);
        a->bytes = 1 + sim_rng_below(rng, BYTES - a->at);
        if (a->bytes > 16)
            a->bytes = 16;
    }
}

/* The access that did not come back races with an earlier one, as is said. */
static void
check_race(const struct sim_failure *f)
{
    const struct access *a = &accesses[f->thread][made[f->thread] - 1];
    bool found = false;

    assert_int_equal(f->kind, SIM_FAIL_RACE);
    for (uint32_t i = 0; i < done_count; i++) {
        const char *what = race(done[i], a);

        found |= what != NULL && strcmp(f->text, what) == 0;
    }
    assert_true(found);
}

TEST(the_first_race_of_each_run_is_reported_and_nothing_else)
{
    struct sim_kernel kernel = {.name = "races", .setup = setup};
    static struct sim_choice list[1024];
    struct sim_rng rng = {.state = 11};
    uint32_t races = 0;
    struct sim_choices choices;
    struct sim_run run;

    for (uint32_t i = 0; i < THREADS; i++)
        kernel.threads[i] = (struct sim_thread){.name = "t", .body = body};
    sim_choices_init(&choices, list, 1024);
    for (uint32_t i = 0; i < PROGRAMS; i++) {
        draw(&rng);
        kernel.threads_count = threads;
        sim_choices_prefix(&choices, NULL, 0, i);
        sim_explore_run(&kernel, &(struct sim_run_options){0}, &choices, &run);
        if (run.end == SIM_END_FAILED)
            check_race(&run.failure);
        else
            assert_int_equal(run.end, SIM_END_COMPLETE);
        races += run.end == SIM_END_FAILED;
    }
    assert_in_range(races, PROGRAMS / 4, PROGRAMS * 3 / 4);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
