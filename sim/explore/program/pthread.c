/* pthread.c -- threads, once flags and thread-specific data of a program. */
#include "program.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "explored.h"
#include "shims.h"

enum { RECORDS_MAX = 1024, KEYS_MAX = 32, DESTRUCTOR_ROUNDS = 4 };

/* One thread of this run; its pthread_t is its index + 1. */
struct record {
    void *(*function)(void *argument);
    void *argument;
    void *result;
    uint32_t slot;
    bool returns_int; /* threads.h */
    bool detached;
    bool joined;
    bool ended;
    const void *values[KEYS_MAX];
};

static struct record records[RECORDS_MAX];
static uint32_t records_count;
static struct record *running[SIM_THREADS_MAX]; /* by slot */
static void (*destructors[KEYS_MAX])(void *);
static bool key_used[KEYS_MAX];

static struct record *
record_new(uintptr_t site)
{
    struct record *r;

    if (records_count == RECORDS_MAX)
        sim_engine_refuse(SIM_FAIL_LIMIT, site, 0,
                          "the program creates more than 1024 threads");
    r = &records[records_count++];
    memset(r, 0, sizeof *r);
    return r;
}

void
sim_pthread_reset(void)
{
    records_count = 0;
    running[0] = record_new(0);
    memset(key_used, 0, sizeof key_used);
}

static struct record *
self(void)
{
    return running[sim_engine.current];
}

/* libstdc++ asks before it counts without an atomic operation. libc sets it
 * when the process begins. */
char explored___libc_single_threaded;

/* ---- Threads ---- */

static void
run_destructors(struct record *r)
{
    for (int round = 0; round < DESTRUCTOR_ROUNDS; round++) {
        bool found = false;

        for (uint32_t i = 0; i < KEYS_MAX; i++) {
            const void *value = r->values[i];

            if (value == NULL || !key_used[i] || destructors[i] == NULL)
                continue;
            r->values[i] = NULL;
            found = true;
            destructors[i]((void *)(uintptr_t)value);
        }
        if (!found)
            return;
    }
}

_Noreturn void
sim_pthread_leave(void *result)
{
    struct record *r = self();

    r->result = result;
    run_destructors(r);
    r->ended = true;
    if (r->detached)
        sim_engine.threads[sim_engine.current].joinable = false;
    sim_thread_end();
}

static void
thread_body(void *argument)
{
    struct record *r = argument;

    running[sim_engine.current] = r;
    r->slot = sim_engine.current;
    sim_tls_reset(sim_engine.current);
    if (r->returns_int) {
        int (*const function)(void *) =
            (int (*)(void *))(void (*)(void))r->function;

        sim_pthread_leave((void *)(intptr_t)function(r->argument));
    }
    sim_pthread_leave(r->function(r->argument));
}

static struct record *
record_of(pthread_t thread, uintptr_t site)
{
    if (thread - 1 >= records_count || records[thread - 1].joined)
        sim_engine_refuse(SIM_FAIL_LOCK_MISUSE, site, 0,
                          "no such thread: joined already, or never created");
    return &records[thread - 1];
}

int
sim_pthread_create(pthread_t *thread, bool detached, void *(*function)(void *),
                   bool returns_int, void *argument, uintptr_t site)
{
    struct record *r = record_new(site);

    r->function = function;
    r->returns_int = returns_int;
    r->argument = argument;
    r->detached = detached;
    sim_program_writes(thread, sizeof *thread, site);
    *thread = (pthread_t)(r - records) + 1;
    sim_thread_create(thread_body, r, (uintptr_t)function, site);
    return 0;
}

int
explored_pthread_create(pthread_t *thread, const pthread_attr_t *attr,
                        void *(*function)(void *), void *argument)
{
    int state = PTHREAD_CREATE_JOINABLE;

    if (!sim_program_runs())
        return pthread_create(thread, attr, function, argument);
    if (attr != NULL)
        pthread_attr_getdetachstate(attr, &state);
    return sim_pthread_create(thread, state == PTHREAD_CREATE_DETACHED,
                              function, false, argument, HERE);
}

int
sim_pthread_join(pthread_t thread, void **result, uintptr_t site)
{
    struct record *r = record_of(thread, site);

    if (r == self())
        return EDEADLK;
    if (r->detached)
        sim_engine_refuse(SIM_FAIL_LOCK_MISUSE, site, 0,
                          "a detached thread is joined");
    sim_thread_join(r->slot, site);
    r->joined = true;
    if (result != NULL)
        *result = r->result;
    return 0;
}

int
explored_pthread_join(pthread_t thread, void **result)
{
    if (!sim_program_runs())
        return pthread_join(thread, result);
    if (result != NULL)
        sim_program_writes(result, sizeof *result, HERE);
    return sim_pthread_join(thread, result, HERE);
}

int
explored_pthread_detach(pthread_t thread)
{
    struct record *r;

    if (!sim_program_runs())
        return pthread_detach(thread);
    r = record_of(thread, HERE);
    r->detached = true;
    if (r->ended)
        sim_engine.threads[r->slot].joinable = false;
    return 0;
}

pthread_t
explored_pthread_self(void)
{
    if (!sim_program_runs())
        return pthread_self();
    return (pthread_t)(self() - records) + 1;
}

int
explored_pthread_equal(pthread_t a, pthread_t b)
{
    return a == b;
}

_Noreturn void
explored_pthread_exit(void *result)
{
    if (!sim_program_runs())
        pthread_exit(result);
    sim_pthread_leave(result);
}

/* A thread may lose the processor anywhere; saying so changes nothing. */
int
explored_sched_yield(void)
{
    return 0;
}

int
explored_pthread_cancel(pthread_t thread)
{
    (void)thread;
    if (sim_program_runs())
        sim_engine_refuse(SIM_FAIL_REFUSED, HERE, 0,
                          "pthread_cancel is not modelled");
    return ENOSYS;
}

/* ---- Once ---- */

enum { ONCE_NEW, ONCE_DONE };

static bool
once_begin(const void *flag, uintptr_t site)
{
    struct object *o = sim_object_at(flag, site);

    if (o->holder == sim_engine.current)
        sim_engine_refuse(SIM_FAIL_DEADLOCK, site, o->site,
                          "a once function calls itself");
    sim_object_wait(o, SIM_NEED_LOCK, false, site);
    sim_object_event(o, "once", true, o->state == ONCE_NEW, site);
    if (o->state == ONCE_DONE) {
        sim_clock_join(&sim_self()->now, &o->sync);
        return false;
    }
    sim_object_take(o, site);
    return true;
}

static void
once_end(const void *flag, bool done, uintptr_t site)
{
    struct object *o = sim_object_at(flag, site);

    sim_object_point(site);
    o->state = done ? ONCE_DONE : ONCE_NEW;
    sim_object_event(o, "once done", true, true, site);
    sim_object_give(o, site);
}

void
sim_once(const volatile void *flag, void (*function)(void), uintptr_t site)
{
    if (!once_begin((const void *)(uintptr_t)flag, site))
        return;
    function();
    once_end((const void *)(uintptr_t)flag, true, site);
}

int
explored_pthread_once(pthread_once_t *flag, void (*function)(void))
{
    if (!sim_program_runs())
        return pthread_once(flag, function);
    sim_once(flag, function, HERE);
    return 0;
}

/* The variables of C++ that are initialised when control first gets there. */
int
explored___cxa_guard_acquire(uint64_t *guard)
{
    if (!sim_program_runs()) {
        if ((*(uint8_t *)guard) != 0)
            return 0;
        return 1;
    }
    return once_begin(guard, HERE);
}

void
explored___cxa_guard_release(uint64_t *guard)
{
    if (sim_program_runs())
        once_end(guard, true, HERE);
    *(uint8_t *)guard = 1;
}

void
explored___cxa_guard_abort(uint64_t *guard)
{
    if (sim_program_runs())
        once_end(guard, false, HERE);
}

/* ---- Thread-specific data ---- */

int
explored_pthread_key_create(pthread_key_t *key, void (*destructor)(void *))
{
    if (!sim_program_runs())
        return pthread_key_create(key, destructor);
    for (uint32_t i = 0; i < KEYS_MAX; i++) {
        if (key_used[i])
            continue;
        key_used[i] = true;
        destructors[i] = destructor;
        for (uint32_t j = 0; j < records_count; j++)
            records[j].values[i] = NULL;
        sim_program_writes(key, sizeof *key, HERE);
        *key = i;
        return 0;
    }
    return EAGAIN;
}

int
explored_pthread_key_delete(pthread_key_t key)
{
    if (!sim_program_runs())
        return pthread_key_delete(key);
    if (key >= KEYS_MAX || !key_used[key])
        return EINVAL;
    key_used[key] = false;
    return 0;
}

void *
explored_pthread_getspecific(pthread_key_t key)
{
    if (!sim_program_runs())
        return pthread_getspecific(key);
    return key < KEYS_MAX ? (void *)(uintptr_t)self()->values[key] : NULL;
}

int
explored_pthread_setspecific(pthread_key_t key, const void *value)
{
    if (!sim_program_runs())
        return pthread_setspecific(key, value);
    if (key >= KEYS_MAX || !key_used[key])
        return EINVAL;
    self()->values[key] = value;
    return 0;
}
