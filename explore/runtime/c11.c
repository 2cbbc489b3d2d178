/* c11.c -- threads.h; its locks are those of pthread.h under other names. */
#include "explore/runtime/program.h"

#include <threads.h>

#include "explore/runtime/explored.h"
#include "explore/runtime/shims.h"

static int
result_of(int error)
{
    switch (error) {
    case 0:
        return thrd_success;
    case EBUSY:
        return thrd_busy;
    case ETIMEDOUT:
        return thrd_timedout;
    default:
        return thrd_error;
    }
}

int
explored_thrd_create(thrd_t *thread, thrd_start_t function, void *argument)
{
    struct engine *e = &sim_engine;

    if (!sim_program_runs(e))
        return thrd_create(thread, function, argument);
    return result_of(sim_pthread_create(
        e, thread, false, (void *(*)(void *))(void (*)(void))function, true,
        argument, HERE));
}

int
explored_thrd_join(thrd_t thread, int *result)
{
    struct engine *e = &sim_engine;
    void *value = NULL;
    int error;

    if (!sim_program_runs(e))
        return thrd_join(thread, result);
    error = sim_pthread_join(e, thread, &value, HERE);
    if (error == 0 && result != NULL) {
        sim_program_writes(e, result, sizeof *result, HERE);
        *result = (int)(intptr_t)value;
    }
    return result_of(error);
}

int
explored_thrd_detach(thrd_t thread)
{
    struct engine *e = &sim_engine;

    if (!sim_program_runs(e))
        return thrd_detach(thread);
    return result_of(sim_pthread_detach(e, thread, HERE));
}

_Noreturn void
explored_thrd_exit(int result)
{
    struct engine *e = &sim_engine;

    if (!sim_program_runs(e))
        thrd_exit(result);
    sim_pthread_leave(e, (void *)(intptr_t)result);
}

thrd_t
explored_thrd_current(void)
{
    return explored_pthread_self();
}

int
explored_thrd_equal(thrd_t a, thrd_t b)
{
    return a == b;
}

void
explored_thrd_yield(void)
{
}

int
explored_thrd_sleep(const struct timespec *time, struct timespec *left)
{
    struct engine *e = &sim_engine;

    if (!sim_program_runs(e))
        return thrd_sleep(time, left);
    return explored_nanosleep(time, left);
}

/* ---- Mutexes ---- */

static pthread_mutex_t *
mutex_of(mtx_t *m)
{
    return (pthread_mutex_t *)(void *)m;
}

int
explored_mtx_init(mtx_t *m, int kind)
{
    struct engine *e = &sim_engine;

    if (sim_program_runs(e))
        sim_mutex_init(e, mutex_of(m), HERE);
    return mtx_init(m, kind);
}

void
explored_mtx_destroy(mtx_t *m)
{
    struct engine *e = &sim_engine;

    if (sim_program_runs(e))
        sim_mutex_destroy(e, mutex_of(m), HERE);
}

int
explored_mtx_lock(mtx_t *m)
{
    struct engine *e = &sim_engine;

    if (!sim_program_runs(e))
        return mtx_lock(m);
    return result_of(sim_mutex_lock(e, mutex_of(m), NULL, HERE));
}

int
explored_mtx_timedlock(mtx_t *m, const struct timespec *until)
{
    struct engine *e = &sim_engine;

    if (!sim_program_runs(e))
        return mtx_timedlock(m, until);
    return result_of(sim_mutex_lock(e, mutex_of(m), until, HERE));
}

int
explored_mtx_trylock(mtx_t *m)
{
    struct engine *e = &sim_engine;

    if (!sim_program_runs(e))
        return mtx_trylock(m);
    return result_of(sim_mutex_try(e, mutex_of(m), HERE));
}

int
explored_mtx_unlock(mtx_t *m)
{
    struct engine *e = &sim_engine;

    if (!sim_program_runs(e))
        return mtx_unlock(m);
    return result_of(sim_mutex_unlock(e, mutex_of(m), HERE));
}

/* ---- Condition variables ---- */

static pthread_cond_t *
cond_of(cnd_t *c)
{
    return (pthread_cond_t *)(void *)c;
}

int
explored_cnd_init(cnd_t *c)
{
    struct engine *e = &sim_engine;

    if (sim_program_runs(e))
        sim_cond_init(e, cond_of(c), HERE);
    return cnd_init(c);
}

void
explored_cnd_destroy(cnd_t *c)
{
    struct engine *e = &sim_engine;

    if (sim_program_runs(e))
        sim_cond_destroy(e, cond_of(c), HERE);
    else
        cnd_destroy(c);
}

int
explored_cnd_wait(cnd_t *c, mtx_t *m)
{
    struct engine *e = &sim_engine;

    if (!sim_program_runs(e))
        return cnd_wait(c, m);
    return result_of(sim_cond_wait(e, cond_of(c), mutex_of(m), NULL, HERE));
}

int
explored_cnd_timedwait(cnd_t *c, mtx_t *m, const struct timespec *until)
{
    struct engine *e = &sim_engine;

    if (!sim_program_runs(e))
        return cnd_timedwait(c, m, until);
    return result_of(sim_cond_wait(e, cond_of(c), mutex_of(m), until, HERE));
}

int
explored_cnd_signal(cnd_t *c)
{
    struct engine *e = &sim_engine;

    if (!sim_program_runs(e))
        return cnd_signal(c);
    return result_of(sim_cond_wake(e, cond_of(c), false, false, HERE));
}

int
explored_cnd_broadcast(cnd_t *c)
{
    struct engine *e = &sim_engine;

    if (!sim_program_runs(e))
        return cnd_broadcast(c);
    return result_of(sim_cond_wake(e, cond_of(c), true, false, HERE));
}

/* ---- Once, thread-specific data ---- */

void
explored_call_once(once_flag *flag, void (*function)(void))
{
    struct engine *e = &sim_engine;

    if (!sim_program_runs(e))
        call_once(flag, function);
    else
        sim_once(e, (const int *)(const void *)flag, function, HERE);
}

int
explored_tss_create(tss_t *key, tss_dtor_t destructor)
{
    struct engine *e = &sim_engine;

    return result_of(sim_key_create(e, key, destructor, HERE));
}

void
explored_tss_delete(tss_t key)
{
    explored_pthread_key_delete(key);
}

void *
explored_tss_get(tss_t key)
{
    return explored_pthread_getspecific(key);
}

int
explored_tss_set(tss_t key, void *value)
{
    return result_of(explored_pthread_setspecific(key, value));
}
