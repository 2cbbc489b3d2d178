/* pthread.c -- threads, once flags and thread-specific data of a program. */
#include "explore/runtime/program.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "explore/runtime/explored.h"
#include "explore/runtime/shims.h"

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
    const void *values[KEYS_MAX];
};

static struct record records[RECORDS_MAX];
static uint32_t records_count;
static struct record *running[SIM_THREADS_MAX]; /* by slot */
static void (*destructors[KEYS_MAX])(void *);
static bool key_used[KEYS_MAX];

/* What the program made before main. */
static struct {
    const void *values[KEYS_MAX];
    void (*destructors[KEYS_MAX])(void *);
    bool used[KEYS_MAX];
} kept;

static struct record *
record_new(struct engine *e, uintptr_t site)
{
    struct record *r;

    if (records_count == RECORDS_MAX)
        sim_engine_refuse(e, SIM_FAIL_LIMIT, site, 0,
                          "the program creates more than 1024 threads");
    r = &records[records_count++];
    memset(r, 0, sizeof *r);
    return r;
}

void
sim_pthread_reset(struct engine *e)
{
    records_count = 0;
    sim_thread_exits_reset();
    running[0] = record_new(e, 0);
    memcpy(key_used, kept.used, sizeof key_used);
    memcpy(destructors, kept.destructors, sizeof destructors);
    memcpy(running[0]->values, kept.values, sizeof kept.values);
}

static struct record *
self(struct engine *e)
{
    return running[e->current];
}

/* libstdc++ reads this flag to decide whether it may count references without
 * atomic operations. libc sets it when the process begins. */
char explored___libc_single_threaded;

/* ---- Threads ---- */

static void
run_destructors(struct record *r)
{
    for (int round = 0; round < DESTRUCTOR_ROUNDS; round++) {
        for (uint32_t i = 0; i < KEYS_MAX; i++) {
            const void *value = r->values[i];

            if (value == NULL || !key_used[i] || destructors[i] == NULL)
                continue;
            r->values[i] = NULL;
            destructors[i]((void *)(uintptr_t)value);
        }
    }
}

_Noreturn void
sim_pthread_leave(struct engine *e, void *result)
{
    struct record *r = self(e);

    r->result = result;
    sim_thread_exits_run(e);
    run_destructors(r);
    sim_plain_end(e, (uintptr_t)__builtin_frame_address(0),
                  (uintptr_t)sim_self(e)->fiber.stack + SIM_FIBER_STACK_BYTES,
                  0);
    sim_engine_settle(e); /* threads that waited for this one may end now */
    if (e->unfinished == 1) {
        /* The last thread: the process ends, after all others. */
        for (uint32_t i = 0; i < e->threads_count; i++)
            sim_clock_join(&sim_self(e)->run.now, &e->threads[i].run.now);
        sim_program_exit(e, 0, 0);
    }
    sim_thread_end(e);
}

static void
thread_body(void *argument)
{
    struct engine *e = &sim_engine;
    struct record *r = argument;

    running[e->current] = r;
    r->slot = e->current;
    sim_thread_resets(e->current, false);
    if (r->returns_int) {
        int (*const function)(void *) =
            (int (*)(void *))(void (*)(void))r->function;

        sim_pthread_leave(e, (void *)(intptr_t)function(r->argument));
    }
    sim_pthread_leave(e, r->function(r->argument));
}

static struct record *
record_of(struct engine *e, pthread_t thread, uintptr_t site)
{
    if (thread - 1 >= records_count || records[thread - 1].joined)
        sim_engine_refuse(e, SIM_FAIL_LOCK_MISUSE, site, 0,
                          "no such thread: joined already, or never created");
    return &records[thread - 1];
}

int
sim_pthread_create(struct engine *e, pthread_t *thread, bool detached,
                   void *(*function)(void *), bool returns_int, void *argument,
                   uintptr_t site)
{
    struct record *r = record_new(e, site);

    r->function = function;
    r->returns_int = returns_int;
    r->argument = argument;
    r->detached = detached;
    sim_program_writes(e, thread, sizeof *thread, site);
    *thread = (pthread_t)(r - records) + 1;
    sim_thread_create(e, thread_body, r, (uintptr_t)function, site);
    return 0;
}

int
explored_pthread_create(pthread_t *thread, const pthread_attr_t *attr,
                        void *(*function)(void *), void *argument)
{
    struct engine *e = &sim_engine;
    int state = PTHREAD_CREATE_JOINABLE;

    if (!sim_program_runs(e))
        return pthread_create(thread, attr, function, argument);
    if (attr != NULL)
        pthread_attr_getdetachstate(attr, &state);
    return sim_pthread_create(e, thread, state == PTHREAD_CREATE_DETACHED,
                              function, false, argument, HERE);
}

int
sim_pthread_join(struct engine *e, pthread_t thread, void **result,
                 uintptr_t site)
{
    struct record *r = record_of(e, thread, site);

    if (r == self(e))
        return EDEADLK;
    if (r->detached)
        sim_engine_refuse(e, SIM_FAIL_LOCK_MISUSE, site, 0,
                          "a detached thread is joined");
    sim_thread_join(e, r->slot, site);
    r->joined = true;
    if (result != NULL)
        *result = r->result;
    return 0;
}

int
explored_pthread_join(pthread_t thread, void **result)
{
    struct engine *e = &sim_engine;

    if (!sim_program_runs(e))
        return pthread_join(thread, result);
    if (result != NULL)
        sim_program_writes(e, result, sizeof *result, HERE);
    return sim_pthread_join(e, thread, result, HERE);
}

int
sim_pthread_detach(struct engine *e, pthread_t thread, uintptr_t site)
{
    struct record *r = record_of(e, thread, site);

    r->detached = true;
    return 0;
}

int
explored_pthread_detach(pthread_t thread)
{
    struct engine *e = &sim_engine;

    if (!sim_program_runs(e))
        return pthread_detach(thread);
    return sim_pthread_detach(e, thread, HERE);
}

pthread_t
explored_pthread_self(void)
{
    struct engine *e = &sim_engine;

    if (!sim_program_runs(e))
        return pthread_self();
    return (pthread_t)(self(e) - records) + 1;
}

int
explored_pthread_equal(pthread_t a, pthread_t b)
{
    return a == b;
}

_Noreturn void
explored_pthread_exit(void *result)
{
    struct engine *e = &sim_engine;

    if (!sim_program_runs(e))
        pthread_exit(result);
    sim_pthread_leave(e, result);
}

/* sched_yield does nothing: a thread may lose the processor anywhere anyway. */
int
explored_sched_yield(void)
{
    return 0;
}

/* ---- Once ---- */

enum { ONCE_NEW, ONCE_DONE, LIBC_ONCE_DONE = 2 };

static bool
once_begin(struct engine *e, const void *flag, bool done_before, uintptr_t site)
{
    struct object *o = sim_object_at(e, flag, site);

    if (sim_object_is_new(o) && done_before)
        o->state = ONCE_DONE; /* before main */
    if (o->holder == e->current)
        sim_engine_refuse(e, SIM_FAIL_DEADLOCK, site, o->site,
                          "a once function calls itself");
    sim_object_wait(e, o, SIM_NEED_LOCK, SIM_UNLIMITED, site);
    sim_object_event(e, o, "once", true, o->state == ONCE_NEW, site);
    if (o->state == ONCE_DONE) {
        sim_clock_join(&sim_self(e)->run.now, &o->sync);
        sim_seq_cst_sync(e);
    } else {
        sim_object_take(e, o, site);
    }
    sim_object_done(e, o, o->state == ONCE_NEW);
    return o->state == ONCE_NEW;
}

static void
once_end(struct engine *e, const void *flag, bool done, uintptr_t site)
{
    struct object *o = sim_object_at(e, flag, site);

    sim_object_point(e, o, false, site);
    o->state = done ? ONCE_DONE : ONCE_NEW;
    sim_object_event(e, o, "once done", true, true, site);
    sim_object_give(e, o, site);
    sim_object_done(e, o, true);
}

/* A once function that is running; it may end by an exception. */
struct once {
    const void *flag;
    uintptr_t site;
    bool done;
};

static void
once_leave(struct once *once)
{
    struct engine *e = &sim_engine;

    if (once->flag == NULL)
        return;
    once_end(e, once->flag, once->done, once->site);
}

void
sim_once(struct engine *e, const volatile int *flag, void (*function)(void),
         uintptr_t site)
{
    __attribute__((cleanup(once_leave))) struct once once = {
        .flag = (const void *)(uintptr_t)flag, .site = site};

    if (!once_begin(e, once.flag, *flag == LIBC_ONCE_DONE, site)) {
        once.flag = NULL;
        return;
    }
    function();
    once.done = true;
}

int
explored_pthread_once(pthread_once_t *flag, void (*function)(void))
{
    struct engine *e = &sim_engine;

    if (!sim_program_runs(e))
        return pthread_once(flag, function);
    sim_once(e, flag, function, HERE);
    return 0;
}

/* C++ static variables in functions, initialised on first use. */
int
explored___cxa_guard_acquire(uint64_t *guard)
{
    struct engine *e = &sim_engine;

    if (!sim_program_runs(e)) {
        if ((*(uint8_t *)guard) != 0)
            return 0;
        return 1;
    }
    return once_begin(e, guard, false, HERE);
}

void
explored___cxa_guard_release(uint64_t *guard)
{
    struct engine *e = &sim_engine;

    if (sim_program_runs(e))
        once_end(e, guard, true, HERE);
    *(uint8_t *)guard = 1;
}

void
explored___cxa_guard_abort(uint64_t *guard)
{
    struct engine *e = &sim_engine;

    if (sim_program_runs(e))
        once_end(e, guard, false, HERE);
}

/* ---- Thread-specific data ---- */

/* Keys that the program makes, even before main, are ours; those of libraries
 * are not. */
static bool
is_our_key(struct engine *e, uintptr_t site)
{
    return sim_program_runs(e) || sim_program_called(site);
}

static const void **
value_at(struct engine *e, pthread_key_t key)
{
    return sim_program_runs(e) ? &self(e)->values[key] : &kept.values[key];
}

static bool *
used_keys(struct engine *e)
{
    return sim_program_runs(e) ? key_used : kept.used;
}

int
sim_key_create(struct engine *e, pthread_key_t *key, void (*destructor)(void *),
               uintptr_t site)
{
    bool *used = used_keys(e);

    for (uint32_t i = 0; i < KEYS_MAX; i++) {
        if (used[i])
            continue;
        used[i] = true;
        (sim_program_runs(e) ? destructors : kept.destructors)[i] = destructor;
        for (uint32_t j = 0; j < records_count; j++)
            records[j].values[i] = NULL;
        if (!sim_program_runs(e))
            kept.values[i] = NULL;
        else
            sim_program_writes(e, key, sizeof *key, site);
        *key = i;
        return 0;
    }
    return EAGAIN;
}

int
explored_pthread_key_create(pthread_key_t *key, void (*destructor)(void *))
{
    struct engine *e = &sim_engine;

    if (!is_our_key(e, HERE))
        return pthread_key_create(key, destructor);
    return sim_key_create(e, key, destructor, HERE);
}

int
explored_pthread_key_delete(pthread_key_t key)
{
    struct engine *e = &sim_engine;

    if (!is_our_key(e, HERE))
        return pthread_key_delete(key);
    if (key >= KEYS_MAX || !used_keys(e)[key])
        return EINVAL;
    used_keys(e)[key] = false;
    return 0;
}

void *
explored_pthread_getspecific(pthread_key_t key)
{
    struct engine *e = &sim_engine;

    if (!is_our_key(e, HERE))
        return pthread_getspecific(key);
    return key < KEYS_MAX ? (void *)(uintptr_t)*value_at(e, key) : NULL;
}

int
explored_pthread_setspecific(pthread_key_t key, const void *value)
{
    struct engine *e = &sim_engine;

    if (!is_our_key(e, HERE))
        return pthread_setspecific(key, value);
    if (key >= KEYS_MAX || !used_keys(e)[key])
        return EINVAL;
    *value_at(e, key) = value;
    return 0;
}
