/*
 * tsan.c -- the calls that -fsanitize=thread puts into explored code.
 *
 * Covers what gcc 12 and clang 14 emit for C. The return address of its call
 * identifies an access. Accesses outside a run (setup, final check), or to the
 * running thread's own stack, go straight to memory.
 *
 * Compilers differ in two visible ways. clang emits a weak compare-exchange as
 * one that returns the old value, so it cannot fail spuriously. And memory
 * copies arrive as library calls, which the build renames (tools/rules.ninja).
 */
#include "explore/engine/tsan.h"
#include "explore/engine/engine.h"

#include <string.h>

#define SITE ((uintptr_t)__builtin_return_address(0))

/* ---- Orders ---- */

static void
site_note(struct engine *e, uintptr_t site, enum sim_op op, int order,
          int order_failure)
{
    for (uint32_t i = 0; i < e->sites_count; i++) {
        if (e->sites[i].site == site)
            return;
    }
    if (e->sites_count < e->sites_max)
        e->sites[e->sites_count++] = (struct sim_site){
            .site = site,
            .op = op,
            .order = order,
            .order_failure = order_failure,
        };
}

/* The order in force: as compiled, or as mutated. */
static int
order_at(struct engine *e, uintptr_t site, enum sim_op op, int order)
{
    order &= 7; /* above: hints for lock elision */
    if (e->sites != NULL)
        site_note(e, site, op, order, __ATOMIC_RELAXED);
    if (e->mutant.site == site)
        return e->mutant.order;
    return order;
}

/* ---- Atomics ---- */

static bool
is_event(struct engine *e, uintptr_t address)
{
    return e->active &&
           (e->program ||
            !sim_fiber_owns(&e->threads[e->current].fiber, address));
}

static uint64_t
change_exchange(uint64_t old, uint64_t operand)
{
    (void)old;
    return operand;
}

static uint64_t
change_fetch_add(uint64_t old, uint64_t operand)
{
    return old + operand;
}

static uint64_t
change_fetch_sub(uint64_t old, uint64_t operand)
{
    return old - operand;
}

static uint64_t
change_fetch_and(uint64_t old, uint64_t operand)
{
    return old & operand;
}

static uint64_t
change_fetch_or(uint64_t old, uint64_t operand)
{
    return old | operand;
}

static uint64_t
change_fetch_xor(uint64_t old, uint64_t operand)
{
    return old ^ operand;
}

static uint64_t
change_fetch_nand(uint64_t old, uint64_t operand)
{
    return ~(old & operand);
}

static bool
cas_at(struct engine *e, volatile void *address, uint32_t bytes,
       uint64_t *expected, uint64_t desired, int order, int order_failure,
       bool weak, uintptr_t site)
{
    order &= 7;
    order_failure &= 7;
    if (e->sites != NULL)
        site_note(e, site, SIM_OP_CAS, order, order_failure);
    if (e->mutant.site == site) {
        order = e->mutant.order;
        order_failure = e->mutant.order_failure;
    }
    return sim_atomic_cas(e, (uintptr_t)address, bytes, expected, desired,
                          order, order_failure, weak, site);
}

/* The engine of this process: the compiler's calls name none. */
#define E (&sim_engine)

/* clang-format off */
#define RMW(bits, type, name)                                                  \
    type sim_tsan_atomic##bits##_##name(volatile type *p, type operand,        \
                                        int order)                             \
    {                                                                          \
        if (!is_event(E, (uintptr_t)p)) {                                      \
            const type old = *p;                                               \
            *p = (type)change_##name(old, operand);                            \
            return old;                                                        \
        }                                                                      \
        sim_round_arrive(E, SITE);                                             \
        return (type)sim_atomic_rmw(E, (uintptr_t)p, bits / 8, change_##name,  \
                                    operand,                                   \
                                    order_at(E, SITE, SIM_OP_RMW, order), SITE);\
    }

#define CAS(bits, type, name, is_weak)                                         \
    int sim_tsan_atomic##bits##_compare_exchange_##name(                       \
        volatile type *p, type *expected, type desired, int order,             \
        int order_failure)                                                     \
    {                                                                          \
        uint64_t found = *expected;                                            \
        bool done;                                                             \
        if (is_event(E, (uintptr_t)p)) {                                       \
            sim_round_arrive(E, SITE);                                         \
            done = cas_at(E, p, bits / 8, &found, desired, order,              \
                          order_failure, is_weak, SITE);                       \
        } else {                                                               \
            done = *p == *expected;                                            \
            found = *p;                                                        \
            if (done)                                                          \
                *p = desired;                                                  \
        }                                                                      \
        if (!done)                                                             \
            *expected = (type)found;                                           \
        return done;                                                           \
    }

#define ATOMICS(bits, type)                                                    \
    type sim_tsan_atomic##bits##_load(const volatile type *p, int order)       \
    {                                                                          \
        if (!is_event(E, (uintptr_t)p))                                        \
            return *p;                                                         \
        sim_round_arrive(E, SITE);                                             \
        return (type)sim_atomic_load(E, (uintptr_t)p, bits / 8,                \
                                     order_at(E, SITE, SIM_OP_LOAD, order),    \
                                     SITE);                                    \
    }                                                                          \
    void __tsan_atomic##bits##_store(volatile type *p, type value, int order)  \
    {                                                                          \
        if (!is_event(E, (uintptr_t)p))                                        \
            *p = value;                                                        \
        else                                                                   \
            sim_atomic_store(E, (uintptr_t)p, bits / 8, value,                 \
                             order_at(E, SITE, SIM_OP_STORE, order), SITE);    \
    }                                                                          \
    RMW(bits, type, exchange)                                                  \
    RMW(bits, type, fetch_add)                                                 \
    RMW(bits, type, fetch_sub)                                                 \
    RMW(bits, type, fetch_and)                                                 \
    RMW(bits, type, fetch_or)                                                  \
    RMW(bits, type, fetch_xor)                                                 \
    RMW(bits, type, fetch_nand)                                                \
    CAS(bits, type, strong, false)                                             \
    CAS(bits, type, weak, true)                                                \
    type sim_tsan_atomic##bits##_compare_exchange_val(                         \
        volatile type *p, type expected, type desired, int order,              \
        int order_failure)                                                     \
    {                                                                          \
        uint64_t found = expected;                                             \
        if (is_event(E, (uintptr_t)p)) {                                       \
            sim_round_arrive(E, SITE);                                         \
            cas_at(E, p, bits / 8, &found, desired, order, order_failure,      \
                   false, SITE);                                               \
            return (type)found;                                                \
        }                                                                      \
        found = *p;                                                            \
        if (found == expected)                                                 \
            *p = desired;                                                      \
        return (type)found;                                                    \
    }
/* clang-format on */

ATOMICS(8, uint8_t)
ATOMICS(16, uint16_t)
ATOMICS(32, uint32_t)
ATOMICS(64, uint64_t)

void
__tsan_atomic_thread_fence(int order)
{
    struct engine *e = &sim_engine;

    if (e->active)
        sim_atomic_fence(e, order_at(e, SITE, SIM_OP_FENCE, order), SITE);
}

/* Orders a thread with its own signal handler: in a fiber it already is. */
void
__tsan_atomic_signal_fence(int order)
{
    (void)order;
}

/* ---- Plain accesses ---- */

static void
plain(struct engine *e, const volatile void *address, size_t bytes, bool write,
      uintptr_t site)
{
    if (e->active)
        sim_plain_access(e, (uintptr_t)address, bytes, write, site);
}

/* clang-format off */
#define PLAIN(bytes)                                                           \
    void __tsan_read##bytes(void *p)                                           \
    {                                                                          \
        plain(E, p, bytes, false, SITE);                                       \
    }                                                                          \
    void __tsan_write##bytes(void *p)                                          \
    {                                                                          \
        plain(E, p, bytes, true, SITE);                                        \
    }                                                                          \
    void __tsan_volatile_read##bytes(void *p)                                  \
    {                                                                          \
        plain(E, p, bytes, false, SITE);                                       \
    }                                                                          \
    void __tsan_volatile_write##bytes(void *p)                                 \
    {                                                                          \
        plain(E, p, bytes, true, SITE);                                        \
    }                                                                          \
    void __tsan_unaligned_read##bytes(void *p)                                 \
    {                                                                          \
        plain(E, p, bytes, false, SITE);                                       \
    }                                                                          \
    void __tsan_unaligned_write##bytes(void *p)                                \
    {                                                                          \
        plain(E, p, bytes, true, SITE);                                        \
    }                                                                          \
    void __tsan_unaligned_volatile_read##bytes(void *p)                        \
    {                                                                          \
        plain(E, p, bytes, false, SITE);                                       \
    }                                                                          \
    void __tsan_unaligned_volatile_write##bytes(void *p)                       \
    {                                                                          \
        plain(E, p, bytes, true, SITE);                                        \
    }                                                                          \
    void __tsan_read_write##bytes(void *p)                                     \
    {                                                                          \
        plain(E, p, bytes, true, SITE);                                        \
    }                                                                          \
    void __tsan_unaligned_read_write##bytes(void *p)                           \
    {                                                                          \
        plain(E, p, bytes, true, SITE);                                        \
    }
/* clang-format on */

PLAIN(1)
PLAIN(2)
PLAIN(4)
PLAIN(8)
PLAIN(16)

void
__tsan_read_range(void *p, size_t bytes)
{
    struct engine *e = &sim_engine;

    plain(e, p, bytes, false, SITE);
}

void
__tsan_write_range(void *p, size_t bytes)
{
    struct engine *e = &sim_engine;

    plain(e, p, bytes, true, SITE);
}

void
__tsan_vptr_update(void **p, void *value)
{
    struct engine *e = &sim_engine;

    (void)value;
    plain(e, p, sizeof *p, true, SITE);
}

void
__tsan_vptr_read(void **p)
{
    struct engine *e = &sim_engine;

    plain(e, p, sizeof *p, false, SITE);
}

void *
__tsan_memcpy(void *to, const void *from, size_t bytes)
{
    struct engine *e = &sim_engine;

    plain(e, from, bytes, false, SITE);
    plain(e, to, bytes, true, SITE);
    return memcpy(to, from, bytes);
}

void *
__tsan_memmove(void *to, const void *from, size_t bytes)
{
    struct engine *e = &sim_engine;

    plain(e, from, bytes, false, SITE);
    plain(e, to, bytes, true, SITE);
    return memmove(to, from, bytes);
}

void *
__tsan_memset(void *to, int value, size_t bytes)
{
    struct engine *e = &sim_engine;

    plain(e, to, bytes, true, SITE);
    return memset(to, value, bytes);
}

int
__tsan_memcmp(const void *a, const void *b, size_t bytes)
{
    struct engine *e = &sim_engine;

    plain(e, a, bytes, false, SITE);
    plain(e, b, bytes, false, SITE);
    return memcmp(a, b, bytes);
}

/* ---- Frames ---- */

void
__tsan_init(void)
{
}

void
__tsan_func_entry(void *caller)
{
    (void)caller;
}

/*
 * The caller's frame ends above its saved frame pointer and return address. But
 * if the caller has jumped here, its frame is gone, and what lies above belongs
 * to a function that goes on.
 */
void
__tsan_func_exit(void)
{
#ifdef SIM_FIBER_FAST
    enum { CALL = 0xe8, CALL_BYTES = 5 };
    struct engine *e = &sim_engine;
    const uintptr_t *own = __builtin_frame_address(0);
    const uintptr_t from = (uintptr_t)(own + 2);
    uintptr_t to = from;
    int32_t distance;

    if (!e->active || !e->program)
        return;
    memcpy(&distance, (const char *)SITE - sizeof distance, sizeof distance);
    if (*((const uint8_t *)SITE - CALL_BYTES) == CALL &&
        SITE + (uintptr_t)(intptr_t)distance == (uintptr_t)&__tsan_func_exit)
        to = own[0] + 2 * sizeof *own;
    if (to >= from && sim_fiber_owns(&sim_self(e)->fiber, to - 1))
        sim_plain_end(e, from, to, SITE);
#endif
}

/* ---- Mutants ---- */

void
sim_explore_mutate(const struct sim_site *weaker)
{
    struct engine *e = &sim_engine;

    if (weaker != NULL)
        e->mutant = *weaker;
    else
        e->mutant = (struct sim_site){.site = 0};
}
