/*
 * explored_model.c -- see explored_model.h. It calls the entry points of the
 * compiler.
 *
 * build: cflags=-O2
 */
#include "explore/test/explored_model.h"
#include "explore/engine/engine.h"
#include "explore/engine/tsan.h"

#include <stdlib.h>
#include <string.h>

#include "common/test/unit_test.h"

/* ---- Explored ---- */

struct props_rc11_program program;
static uint64_t memory[PROPS_RC11_LOCATIONS];
uint32_t width;
static uint32_t read_by[PROPS_RC11_THREADS_MAX][PROPS_RC11_STEPS_MAX];
uint32_t others[PROPS_RC11_THREADS_MAX][2];
bool counts;
bool locks;
static uint32_t locked_by; /* the rounds of its loops */
struct props_rc11_outcomes explored;
struct props_rc11_outcomes allowed;

static void
setup(void *context)
{
    (void)context;
    memset(memory, 0, sizeof memory);
    memset(read_by, 0, sizeof read_by);
    locked_by = 0;
}

/* clang-format off */
#define STEP_OF(bits)                                                          \
    static uint32_t step_of_##bits(const struct props_rc11_step *s, void *at)  \
    {                                                                          \
        const uint##bits##_t value = (uint##bits##_t)s->value;                 \
        uint##bits##_t expected = (uint##bits##_t)s->expected;                 \
        uint##bits##_t *place = at;                                            \
                                                                               \
        switch (s->op) {                                                       \
        case PROPS_RC11_LOAD:                                                  \
            return (uint32_t)__tsan_atomic##bits##_load(place, s->order);      \
        case PROPS_RC11_STORE:                                                 \
            __tsan_atomic##bits##_store(place, value, s->order);               \
            break;                                                             \
        case PROPS_RC11_EXCHANGE:                                              \
            return (uint32_t)__tsan_atomic##bits##_exchange(place, value,      \
                                                            s->order);         \
        case PROPS_RC11_FENCE:                                                 \
            __tsan_atomic_thread_fence(s->order);                              \
            break;                                                             \
        case PROPS_RC11_CAS:                                                   \
            if (s->value % 3 == 0)                                             \
                return (uint32_t)__tsan_atomic##bits##_compare_exchange_val(   \
                    place, expected, value, s->order, s->order_failure);       \
            if (s->value % 3 == 1)                                             \
                __tsan_atomic##bits##_compare_exchange_strong(                 \
                    place, &expected, value, s->order, s->order_failure);      \
            else                                                               \
                __tsan_atomic##bits##_compare_exchange_weak(                   \
                    place, &expected, value, s->order, s->order_failure);      \
            return (uint32_t)expected;                                         \
        }                                                                      \
        return 0;                                                              \
    }
/* clang-format on */

STEP_OF(8)
STEP_OF(16)
STEP_OF(32)
STEP_OF(64)

/* Take a lock and give it back: as an exchange at a place of its own would, it
 * is ordered with others. returns: the value of the one before */
static uint32_t
take_lock(uint32_t value)
{
    uint32_t before;

    sim_explore_lock(&locked_by, 0);
    before = locked_by;
    locked_by = value;
    sim_explore_unlock(&locked_by);
    return before;
}

static void
make_step(uint32_t thread, uint32_t i)
{
    const struct props_rc11_step *s = &program.steps[thread][i];
    void *at = (char *)memory + s->location * width;

    read_by[thread][i] = locks && s->location == LOCK_LOCATION
                             ? take_lock(s->value)
                         : width == 1 ? step_of_8(s, at)
                         : width == 2 ? step_of_16(s, at)
                         : width == 4 ? step_of_32(s, at)
                                      : step_of_64(s, at);
}

static bool
is_over(uint32_t thread, uint32_t i)
{
    const struct props_rc11_step *s = &program.steps[thread][i];

    if (s->op == PROPS_RC11_EXCHANGE)
        return read_by[thread][i] != s->value;
    return s->op == PROPS_RC11_FENCE || read_by[thread][i] == s->expected;
}

/* Wait in the loop that ends with step i. */
static void
wait_at(uint32_t thread, uint32_t i)
{
    const uint32_t first = i + 1 - program.steps[thread][i].loop;
    volatile uint32_t round = 0;
    bool over;

    for (;;) {
        over = true;
        for (uint32_t j = first; j <= i; j++) {
            make_step(thread, j);
            over &= is_over(thread, j);
        }
        if (over)
            return;
        if (!sim_engine.program) /* in a program, no call marks a round */
            sim_explore_spin_wait();
        if (counts)
            round++; /* its state differs in each round */
    }
}

/* Accesses to a place of the thread's own change no outcome. */
static void
make_others(uint32_t thread, uint32_t count)
{
    static uint32_t own[PROPS_RC11_THREADS_MAX];

    for (uint32_t i = 0; i < count; i++)
        (void)__tsan_atomic32_load(&own[thread], __ATOMIC_SEQ_CST);
}

static void
run_thread(void *context, uint32_t thread)
{
    (void)context;
    make_others(thread, others[thread][0]);
    for (uint32_t i = 0; i < program.length; i++) {
        if (i + 1 < program.length && program.steps[thread][i + 1].loop == 2)
            continue; /* the loop begins here */
        if (program.steps[thread][i].loop > 0)
            wait_at(thread, i);
        else
            make_step(thread, i);
    }
    make_others(thread, others[thread][1]);
}

static void
note_outcome(void *context)
{
    uint64_t outcome = 0;

    (void)context;
    for (uint32_t t = 0; t < program.threads; t++) {
        for (uint32_t i = 0; i < program.length; i++)
            outcome = props_rc11_put(outcome, t, i, read_by[t][i]);
    }
    props_rc11_add(&explored, outcome);
}

/* A new kernel each time, at one of two addresses: what the explorer knows of
 * an earlier one must not matter. */
const struct sim_kernel *
make_kernel(void)
{
    static struct sim_kernel kernels[2];
    static uint32_t made;
    struct sim_kernel *kernel = &kernels[made++ % 2];

    *kernel = (struct sim_kernel){.name = "random",
                                  .about = "any",
                                  .threads_count = program.threads,
                                  .setup = setup,
                                  .finish = note_outcome};
    for (uint32_t t = 0; t < program.threads; t++)
        kernel->threads[t] = (struct sim_thread){"t", run_thread, NULL};
    explored.count = 0;
    return kernel;
}

/* ---- Programs ---- */

static int
draw_order(struct sim_rng *rng, enum props_rc11_op op, enum class class)
{
    static const int loads[] = {__ATOMIC_RELAXED, __ATOMIC_ACQUIRE};
    static const int stores[] = {__ATOMIC_RELAXED, __ATOMIC_RELEASE};
    static const int exchanges[] = {__ATOMIC_RELAXED, __ATOMIC_ACQUIRE,
                                    __ATOMIC_RELEASE, __ATOMIC_ACQ_REL};
    static const int fences[] = {__ATOMIC_ACQUIRE, __ATOMIC_RELEASE,
                                 __ATOMIC_ACQ_REL, __ATOMIC_SEQ_CST,
                                 __ATOMIC_SEQ_CST};

    if (class == SEQ_CST && sim_rng_below(rng, 3) == 0)
        return __ATOMIC_SEQ_CST;
    switch (op) {
    case PROPS_RC11_LOAD:
        return loads[sim_rng_below(rng, 2)];
    case PROPS_RC11_STORE:
        return stores[sim_rng_below(rng, 2)];
    case PROPS_RC11_EXCHANGE:
    case PROPS_RC11_CAS:
        return exchanges[sim_rng_below(rng, 4)];
    case PROPS_RC11_FENCE:
        return fences[sim_rng_below(rng, 5)];
    }
    return __ATOMIC_RELAXED;
}

void
draw_program(struct sim_rng *rng, enum class class)
{
    static const enum props_rc11_op ops[] = {PROPS_RC11_LOAD, PROPS_RC11_STORE,
                                             PROPS_RC11_EXCHANGE,
                                             PROPS_RC11_CAS, PROPS_RC11_FENCE};
    uint32_t value = 1;

    width = 1U << sim_rng_below(rng, 4);
    program.threads = 2 + sim_rng_below(rng, 2);
    program.length = program.threads == 3 ? 2 + sim_rng_below(rng, 2) : 3;
    for (uint32_t t = 0; t < program.threads; t++) {
        for (uint32_t i = 0; i < program.length; i++) {
            struct props_rc11_step *s = &program.steps[t][i];

            s->op = ops[sim_rng_below(rng, class == ACCESSES ? 4 : 5)];
            s->location = sim_rng_below(rng, 2);
            if (value > WRITES_MAX && s->op != PROPS_RC11_FENCE)
                s->op = PROPS_RC11_LOAD; /* their orders are a factorial */
            s->order = draw_order(rng, s->op, class);
            s->order_failure = draw_order(rng, PROPS_RC11_LOAD, class);
            s->expected = sim_rng_below(rng, value + 1);
            s->value = s->loop = 0;
            if (s->op == PROPS_RC11_STORE || s->op == PROPS_RC11_EXCHANGE ||
                s->op == PROPS_RC11_CAS)
                s->value = value++;
        }
    }
}

void
draw_shape(struct sim_rng *rng)
{
    enum { LD = PROPS_RC11_LOAD, ST = PROPS_RC11_STORE };
    static const uint8_t shapes[][6] = {{ST, ST, LD, LD, ST, LD},
                                        {ST, LD, ST, LD, ST, LD},
                                        {ST, ST, LD, ST, LD, LD},
                                        {ST, ST, ST, ST, LD, LD}};
    static const uint8_t locations[] = {0, 1, 1, 2, 2, 0};
    const uint32_t shape = sim_rng_below(rng, 4);
    static const int orders[] = {__ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST,
                                 __ATOMIC_RELAXED, -1};

    width = 8;
    program.threads = 3;
    program.length = 2;
    for (uint32_t i = 0; i < 6; i++) {
        struct props_rc11_step *s = &program.steps[i / 2][i % 2];
        int order = orders[sim_rng_below(rng, 4)];

        if (order < 0)
            order =
                shapes[shape][i] == LD ? __ATOMIC_ACQUIRE : __ATOMIC_RELEASE;
        *s = (struct props_rc11_step){
            .op = (enum props_rc11_op)shapes[shape][i],
            .location = locations[i],
            .order = order,
            .value = shapes[shape][i] == ST ? i + 1 : 0};
    }
}

void
print_program(void)
{
    static const char *const names[] = {"load", "store", "exchange", "fence",
                                        "compare-exchange"};

    for (uint32_t t = 0; t < program.threads; t++) {
        for (uint32_t i = 0; i < program.length; i++) {
            const struct props_rc11_step *s = &program.steps[t][i];

            print_message("T%u: %s %u order %d value %u, expects %u order %d, "
                          "in a loop of %u\n",
                          t, names[s->op], s->location, s->order, s->value,
                          s->expected, s->order_failure, s->loop);
        }
    }
}

static void
fail_program(uint32_t number, const char *what, uint64_t outcome)
{
    print_program();
    fail_msg("program %u: outcome %llx is %s", number,
             (unsigned long long)outcome, what);
}

void
all_are_allowed(uint32_t number)
{
    for (uint32_t j = 0; j < explored.count; j++) {
        if (!props_rc11_has(&allowed, explored.seen[j]))
            fail_program(number, "not allowed", explored.seen[j]);
    }
}

void
all_are_shown(uint32_t number)
{
    all_are_allowed(number);
    for (uint32_t j = 0; j < allowed.count; j++) {
        if (!props_rc11_has(&explored, allowed.seen[j]))
            fail_program(number, "not shown", allowed.seen[j]);
    }
}

void
draw_waits(struct sim_rng *rng, enum class class)
{
    draw_program(rng, class);
    for (uint32_t t = 0; t < program.threads; t++) {
        for (uint32_t i = 0; i < program.length; i++) {
            struct props_rc11_step *s = &program.steps[t][i];

            s->loop = s->op == PROPS_RC11_LOAD && sim_rng_below(rng, 2) == 0;
            if (s->loop > 0)
                s->expected = sim_rng_below(rng, WRITES_MAX + 1);
        }
    }
}

void
draw_loops(struct sim_rng *rng)
{
    counts = sim_rng_below(rng, 50) == 0; /* takes 4096 rounds */
    for (uint32_t t = 0; t < program.threads; t++) {
        for (uint32_t i = 0; i < program.length; i++) {
            struct props_rc11_step *s = &program.steps[t][i];
            const bool two = i > 0 && s->op == PROPS_RC11_LOAD &&
                             s[-1].loop == 0 &&
                             (s[-1].op == PROPS_RC11_FENCE ||
                              (s[-1].op == PROPS_RC11_LOAD &&
                               s[-1].location != s->location));

            if (s->op == PROPS_RC11_STORE || s->op == PROPS_RC11_FENCE ||
                sim_rng_below(rng, 2) == 0)
                continue;
            s->loop = two ? 1 + sim_rng_below(rng, 2) : 1;
            if (s->op == PROPS_RC11_EXCHANGE) /* a lock that spins */
                s->value = 1 + sim_rng_below(rng, 2);
        }
    }
}
