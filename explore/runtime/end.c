/* end.c -- how a program ends itself: exit, abort, assert, quick_exit. */
#include "explore/runtime/program.h"

#include <assert.h>
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "explore/runtime/explored.h"

enum { EVENT_EXIT = 25, HANDLERS_MAX = 256 };

/* The program's destructors, as the linker lists them. */
extern void (*__fini_array_start[])(void), (*__fini_array_end[])(void);
extern void *__dso_handle; /* of the program, not of a library */

/* Handlers that the program registers for its end; those of libraries are left
 * out. */
struct handlers {
    uint32_t count;
    struct {
        void (*function)(void *argument);
        void *argument;
    } list[HANDLERS_MAX];
};

static struct handlers handlers;
static struct handlers kept; /* before the first run */
static bool ends_process;    /* with the run */

void
sim_end_reset(void)
{
    handlers = kept;
}

static _Noreturn void
failed(struct engine *e, const char *text, uintptr_t site)
{
    sim_engine_refuse(e, SIM_FAIL_EXIT, site, 0, text);
}

/* in: stack, the lowest address in use on the current thread's stack; 0 if its
 * function has returned */
static void
check_leaks(struct engine *e, uintptr_t stack)
{
    uintptr_t site = 0;
    const size_t bytes = sim_heap_leak(e, stack, &site);
    char text[SIM_FAILURE_TEXT_BYTES];

    if (bytes == 0)
        return;
    snprintf(text, sizeof text,
             "%zu bytes are never freed, and nothing points to them", bytes);
    sim_engine_refuse(e, SIM_FAIL_LEAK, site, 0, text);
}

static void
run_destructors(void)
{
    size_t count =
        ((uintptr_t)__fini_array_end - (uintptr_t)__fini_array_start) /
        sizeof *__fini_array_start;

    while (ends_process && count > 0)
        __fini_array_start[--count]();
}

static void
run_handlers(struct engine *e)
{
    sim_thread_exits_run(e);
    while (handlers.count > 0) {
        const uint32_t last = --handlers.count;

        handlers.list[last].function(handlers.list[last].argument);
    }
    run_destructors();
}

/* End the process, whatever the other threads are doing. */
static _Noreturn void
leave(struct engine *e, int status, uintptr_t stack, uintptr_t site)
{
    char text[SIM_FAILURE_TEXT_BYTES];

    if (e->unfinished > 1) {
        if (status == 0) /* ordered with all events of other threads */
            sim_reduce_refuse(e);
        sim_engine_point(e, site);
        sim_engine_event(e, EVENT_EXIT, (uint64_t)(uint32_t)status);
    } else {
        sim_thread_end_event(e); /* the graph is the same, whichever thread ends
                                   last */
    }
    if (status != 0) {
        snprintf(text, sizeof text, "the program exits with status %d",
                 status & 0xff);
        failed(e, text, site);
    }
    check_leaks(e, stack);
    sim_engine_complete(e);
}

_Noreturn void
sim_program_exit(struct engine *e, int status, uintptr_t site)
{
    run_handlers(e);
    leave(e, status, 0, site);
}

/* What the callers hold in registers is saved below this frame's address. */
#define STACK_IN_USE          \
    (__builtin_unwind_init(), \
     (uintptr_t)__builtin_frame_address(0) - SAVED_BYTES)

enum { SAVED_BYTES = 40 };

_Noreturn void
explored_exit(int status)
{
    struct engine *e = &sim_engine;

    if (!sim_program_runs(e))
        exit(status);
    run_handlers(e);
    leave(e, status, STACK_IN_USE, HERE);
}

_Noreturn void
explored__exit(int status)
{
    struct engine *e = &sim_engine;

    if (!sim_program_runs(e))
        _exit(status);
    leave(e, status, STACK_IN_USE, HERE);
}

/* The same function: the compiler would make one call the other, which then
 * would not see where the program called it. */
_Noreturn void explored__Exit(int status)
    __attribute__((alias("explored__exit")));

_Noreturn void
explored_quick_exit(int status)
{
    struct engine *e = &sim_engine;

    if (!sim_program_runs(e))
        quick_exit(status);
    leave(e, status, STACK_IN_USE, HERE);
}

_Noreturn void
explored_abort(void)
{
    struct engine *e = &sim_engine;

    if (!sim_program_runs(e))
        abort();
    failed(e, "the program aborts", HERE);
}

_Noreturn void
explored___assert_fail(const char *condition, const char *file,
                       unsigned int line, const char *function)
{
    struct engine *e = &sim_engine;
    char text[SIM_FAILURE_TEXT_BYTES];

    if (!sim_program_runs(e))
        __assert_fail(condition, file, line, function);
    snprintf(text, sizeof text, "assertion failed: %s", condition);
    failed(e, text, HERE);
}

static void
terminated(void)
{
    struct engine *e = &sim_engine;

    if (!sim_program_runs(e))
        abort();
    failed(e,
           "the program ends itself: an exception that nobody catches, or a "
           "thread that is neither joined nor detached",
           0);
}

/* Replaces libstdc++'s handler, which prints, and records that it ran. */
void
sim_end_open(bool whole)
{
    void *(*set)(void (*)(void));

    ends_process = whole;
    if (!whole)
        kept.count = 0; /* the process continues after a run */

    *(void **)&set = dlsym(RTLD_DEFAULT, "_ZSt13set_terminatePFvvE");
    if (set != NULL)
        set(terminated);
}

int
explored_raise(int number)
{
    struct engine *e = &sim_engine;
    char text[SIM_FAILURE_TEXT_BYTES];

    if (!sim_program_runs(e))
        return raise(number);
    snprintf(text, sizeof text, "the program raises signal %d (%s)", number,
             strsignal(number));
    failed(e, text, HERE);
}

/* ---- What runs at the end ---- */

/* returns: false if there is no room */
static bool
add(struct handlers *to, void (*function)(void *argument), void *argument)
{
    if (to->count == HANDLERS_MAX)
        return false;
    to->list[to->count].function = function;
    to->list[to->count++].argument = argument;
    return true;
}

/* Destroying the last of these objects flushes the streams; they count
 * themselves. */
static bool
is_streams(void (*destroy)(void *))
{
    void *streams = dlsym(RTLD_DEFAULT, "_ZNSt8ios_base4InitD1Ev");
    void *address;

    memcpy(&address, &destroy, sizeof address);
    return streams != NULL && address == streams;
}

int
explored___cxa_atexit(void (*destroy)(void *), void *object, void *handle)
{
    struct engine *e = &sim_engine;
    int (*libc)(void (*)(void *), void *, void *);

    if (sim_program_runs(e)) {
        if (handle != &__dso_handle && handle != NULL)
            return 0; /* a library's object lives as long as the process */
        return add(&handlers, destroy, object) ? 0 : -1;
    }
    if (handle == &__dso_handle && !is_streams(destroy))
        add(&kept, destroy, object);
    *(void **)&libc = dlsym(RTLD_NEXT, "__cxa_atexit");
    return libc(destroy, object, handle);
}

/* One of the destructors that the compiler adds to each program calls this, to
 * destroy static objects; a run has done it. */
void
explored___cxa_finalize(void *handle)
{
    struct engine *e = &sim_engine;
    void (*libc)(void *);

    if (sim_program_runs(e))
        return;
    *(void **)&libc = dlsym(RTLD_NEXT, "__cxa_finalize");
    libc(handle);
}

int
explored_atexit(void (*handler)(void))
{
    return explored___cxa_atexit((void (*)(void *))handler, NULL,
                                 &__dso_handle);
}

int
explored___cxa_thread_atexit(void (*destroy)(void *), void *object,
                             void *handle)
{
    struct engine *e = &sim_engine;
    int (*libc)(void (*)(void *), void *, void *);

    if (sim_program_runs(e)) {
        sim_thread_exits_add(e, destroy, object);
        return 0;
    }
    *(void **)&libc = dlsym(RTLD_NEXT, "__cxa_thread_atexit_impl");
    return libc(destroy, object, handle);
}
