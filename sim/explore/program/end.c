/* end.c -- how a program ends itself: exit, abort, assert, quick_exit. */
#include "program.h"

#include <assert.h>
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "explored.h"

enum { EVENT_EXIT = 25, HANDLERS_MAX = 32 };

static void (*handlers[HANDLERS_MAX])(void);
static uint32_t handlers_count;

void
sim_end_reset(void)
{
    handlers_count = 0;
}

static _Noreturn void
failed(const char *text, uintptr_t site)
{
    sim_engine_refuse(SIM_FAIL_EXIT, site, 0, text);
}

static void
check_leaks(void)
{
    uintptr_t site = 0;
    const size_t bytes = sim_heap_leak(&site);
    char text[SIM_FAILURE_TEXT_BYTES];

    if (bytes == 0)
        return;
    snprintf(text, sizeof text,
             "%zu bytes are never freed, and nothing points to them", bytes);
    sim_engine_refuse(SIM_FAIL_LEAK, site, 0, text);
}

/* The process is over, whatever the other threads are doing. */
static _Noreturn void
leave(int status, bool run_handlers, uintptr_t site)
{
    struct engine *e = &sim_engine;
    char text[SIM_FAILURE_TEXT_BYTES];

    if (run_handlers) {
        while (handlers_count > 0)
            handlers[--handlers_count]();
    }
    if (e->unfinished > 1)
        sim_engine_point(site);
    sim_engine_event(EVENT_EXIT, (uint64_t)(uint32_t)status);
    if (status != 0) {
        snprintf(text, sizeof text, "the program exits with status %d",
                 status & 0xff);
        failed(text, site);
    }
    check_leaks();
    sim_engine_complete();
}

_Noreturn void
sim_program_exit(int status, uintptr_t site)
{
    leave(status, true, site);
}

_Noreturn void
explored_exit(int status)
{
    if (!sim_program_runs())
        exit(status);
    leave(status, true, HERE);
}

_Noreturn void
explored__exit(int status)
{
    if (!sim_program_runs())
        _exit(status);
    leave(status, false, HERE);
}

_Noreturn void
explored__Exit(int status)
{
    if (!sim_program_runs())
        _exit(status);
    leave(status, false, HERE);
}

_Noreturn void
explored_quick_exit(int status)
{
    if (!sim_program_runs())
        quick_exit(status);
    leave(status, false, HERE);
}

_Noreturn void
explored_abort(void)
{
    if (!sim_program_runs())
        abort();
    failed("the program aborts", HERE);
}

_Noreturn void
explored___assert_fail(const char *condition, const char *file,
                       unsigned int line, const char *function)
{
    char text[SIM_FAILURE_TEXT_BYTES];

    if (!sim_program_runs())
        __assert_fail(condition, file, line, function);
    snprintf(text, sizeof text, "assertion failed: %s", condition);
    failed(text, HERE);
}

static void
terminated(void)
{
    if (!sim_program_runs())
        abort();
    failed("the program ends itself: an exception that nobody catches, or a "
           "thread that is neither joined nor detached",
           0);
}

/* libstdc++'s own handler prints, and remembers that it was here. */
void
sim_end_open(void)
{
    void *(*set)(void (*)(void));

    *(void **)&set = dlsym(RTLD_DEFAULT, "_ZSt13set_terminatePFvvE");
    if (set != NULL)
        set(terminated);
}

int
explored_raise(int number)
{
    char text[SIM_FAILURE_TEXT_BYTES];

    if (!sim_program_runs())
        return raise(number);
    snprintf(text, sizeof text, "the program raises signal %d (%s)", number,
             strsignal(number));
    failed(text, HERE);
}

int
explored_atexit(void (*handler)(void))
{
    if (!sim_program_runs())
        return 0; /* of the process: it ends when the explorer does */
    if (handlers_count == HANDLERS_MAX)
        return -1;
    handlers[handlers_count++] = handler;
    return 0;
}

/* What C++ would destroy at the end of the process lives as long as that. */
int
explored___cxa_atexit(void (*destroy)(void *), void *object, void *handle)
{
    (void)destroy;
    (void)object;
    (void)handle;
    return 0;
}

int
explored___cxa_thread_atexit(void (*destroy)(void *), void *object,
                             void *handle)
{
    (void)destroy;
    (void)object;
    (void)handle;
    return 0;
}
