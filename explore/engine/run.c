/*
 * run.c -- the life of one run: reset, setup, threads, final check.
 *
 * Each run pays for everything here, so reset touches only what the previous
 * run can have used. A table is empty when its entries have an older run's
 * number; a fiber is reset by rewriting its first frame.
 */
#include "explore/engine/engine.h"
#include "explore/engine/need.h"
#include "explore/engine/object.h"
#include "explore/search/strategy.h"

#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

enum {
    STEPS_MAX_DEFAULT = 20000,
    SILENT_MS_DEFAULT = 2000,
    PROGRAM_STACK_BYTES = 16 * 1024, /* with states in it, at first */
    EVENT_START = 16,
    EVENT_END = 22
};

static sigjmp_buf crash_return;
static volatile sig_atomic_t crash_expected;

/* ---- Threads ---- */

void
sim_thread_end_event(struct engine *e)
{
    struct thread *t = sim_self(e);

    sim_engine_event(e, EVENT_END, 0);
    sim_seq_cst_sync(e);
    t->run.ended_at = t->run.now.at[e->current];
    sim_clock_join(&t->run.causal, &t->run.now);
}

/* The body of a thread that the run created has returned. */
_Noreturn void
sim_thread_end(struct engine *e)
{
    sim_engine_settle(e);
    sim_thread_end_event(e);
    for (uint32_t i = 0; i < e->threads_count; i++) {
        if (e->threads[i].run.joins == e->current + 1)
            e->ready |= 1U << i;
    }
    sim_engine_thread_end(e);
}

static void
thread_main(void)
{
    struct engine *e = &sim_engine;
    const uint32_t me = e->current;

    sim_engine_first_pick(e);
    if (e->options.lazy_start)
        sim_engine_hash(e, (uint64_t)me << 32 | (uint64_t)EVENT_START << 40, 0,
                        true);
    if (e->threads[me].run.body != NULL) {
        e->threads[me].run.body(e->threads[me].run.argument);
        sim_thread_end(e);
    }
    e->kernel->threads[me].body(e->kernel->context, me);
    sim_engine_thread_end(e);
}

/* Run every thread up to its first event: no thread can see the order. */
static void
start_threads(struct engine *e)
{
    /* One may fail before its first event. */
    for (uint32_t i = 0; i < e->kernel->threads_count && e->active; i++)
        sim_engine_start(e, i);
}

void
sim_engine_thread_reset(struct engine *e, uint32_t i)
{
    struct thread *t = &e->threads[i];

    t->steps_before = t->steps > t->steps_before ? t->steps : t->steps_before;
    t->steps = 0;
    t->run = (struct thread_run){.round.reads = t->reads};
    t->run.signals_left = e->kernel->threads[i].signal != NULL;
    t->run.starter = &e->main;
    t->run.timeouts_left = 1;
    sim_fiber_clear(&t->fiber, e->cleared_bytes);
    sim_fiber_prepare(&t->fiber, thread_main);
}

/* ---- Memory and crashes ---- */

/* The handler for abort() outside of a run: a fuzzer's own, for example. */
static struct sigaction outer_abort;

static void
crashed(int signal_number)
{
    if (!crash_expected && signal_number == SIGABRT) {
        sigaction(SIGABRT, &outer_abort, NULL);
        raise(SIGABRT);
        return;
    }
    if (!crash_expected) {
        signal(signal_number, SIG_DFL);
        return; /* the access is repeated, and now ends the process */
    }
    siglongjmp(crash_return, signal_number);
}

/*
 * A tick of the timer, in CPU time. Steps of code that makes no access cannot
 * be counted, so a run ends when two ticks pass without an access.
 */
static void
ticked(int signal_number)
{
    static uint64_t seen;
    struct engine *e = &sim_engine;
    uint64_t now;

    if (!crash_expected)
        return;
    now = e->run_number << 40 ^ (uint64_t)e->run->steps << 24 ^
          e->state.plain_count;
    if (now != seen) {
        seen = now;
        return;
    }
    siglongjmp(crash_return, signal_number);
}

static void
limit_silence(struct engine *e)
{
    const uint32_t requested = e->options.silent_ms;
    const uint32_t tick_ms =
        (requested != 0 ? requested : SILENT_MS_DEFAULT) / 2;
    const struct timeval tick = {.tv_sec = tick_ms / 1000,
                                 .tv_usec = tick_ms % 1000 * 1000};
    const struct itimerval timer = {.it_interval = tick, .it_value = tick};

    setitimer(ITIMER_VIRTUAL, &timer, NULL);
}

static void
catch_crashes(void)
{
    static uint8_t stack[64 * 1024];
    const stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {.sa_handler = crashed,
                               .sa_flags = SA_ONSTACK | SA_NODEFER};

    sigaltstack(&alternate, NULL);
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
    sigaction(SIGFPE, &action, NULL);
    sigaction(SIGILL, &action, NULL);
    sigaction(SIGABRT, &action, &outer_abort);
    action.sa_handler = ticked;
    action.sa_flags |= SA_RESTART;
    sigaction(SIGVTALRM, &action, NULL);
}

static void
add_stack(struct engine *e, struct sim_fiber *fiber)
{
    uintptr_t from;

    sim_fiber_init(fiber);
    from = (uintptr_t)fiber->stack;
    if (e->stacks_to == 0 || from < e->stacks_from)
        e->stacks_from = from;
    if (from + SIM_FIBER_STACK_BYTES > e->stacks_to)
        e->stacks_to = from + SIM_FIBER_STACK_BYTES;
}

static void
engine_init(struct engine *e)
{
    if (e->locations != NULL)
        return;
    e->locations = sim_need(calloc(LOCATIONS_MAX, sizeof *e->locations));
    e->cells = sim_need(malloc(CELLS_MAX * sizeof *e->cells));
    e->words = sim_need(calloc(WORDS, sizeof *e->words));
    sim_seq_cst_open(e);
    sim_script_open(e);
    for (uint32_t i = 0; i < SIM_THREADS_MAX; i++)
        add_stack(e, &e->threads[i].fiber);
    catch_crashes();
}

void
sim_engine_begin(struct engine *e, const struct sim_kernel *kernel,
                 const struct sim_run_options *options)
{
    engine_init(e);
    for (uint32_t i = 0; i < SIM_THREADS_MAX && e->kernel != kernel; i++)
        sim_fiber_forget(&e->threads[i].fiber);
    if (e->program && e->cleared_bytes < PROGRAM_STACK_BYTES)
        e->cleared_bytes = PROGRAM_STACK_BYTES;
    e->kernel = kernel;
    e->options = *options;
    limit_silence(e);
    e->steps_max =
        options->steps_max != 0 ? options->steps_max : STEPS_MAX_DEFAULT;
    e->visited = NULL;
    e->steps_most = 1; /* PCT draws one of so many */
    for (uint32_t i = 0; i < SIM_THREADS_MAX; i++) {
        e->threads[i].steps = 0;
        e->threads[i].steps_before = 0;
    }
}

static void
run_reset(struct engine *e, struct sim_choices *choices, struct sim_run *run)
{
    *run = (struct sim_run){.end = SIM_END_COMPLETE};
    e->state = (struct run_state){.spinners = 0};
    e->run = run;
    e->choices = choices;
    e->run_number++;
    e->threads_count = e->kernel->threads_count;
    e->ready = (1U << e->threads_count) - 1;
    e->unfinished = e->threads_count;
    e->preemptions_left = e->options.preemptions_max;
    e->spurious_left = e->options.spurious_max;
    e->graph[0] = e->graph[1] = 1; /* a set of graphs has no (0, 0) */
    e->reduced = e->options.reduced;
    e->turns = e->reduced && e->kernel->barriers;
    e->graphs = &sim_graphs;
    sim_reduce_begin(e);
    sim_object_reset(e);
    for (uint32_t i = 0; i < SIM_THREADS_MAX; i++)
        e->threads[i].run.finished = false; /* one may be waited for */
    for (uint32_t i = 0; i < e->threads_count; i++)
        sim_engine_thread_reset(e, i);
    e->strategy = sim_strategy_of(e);
    if (e->strategy->begin != NULL)
        e->strategy->begin(e);
}

static void
run_threads(struct engine *e)
{
    e->active = true;
    e->current = 0;
    if (!e->options.lazy_start)
        start_threads(e);
    if (e->active && e->unfinished > 0) {
        e->state.first = true;
        while (e->threads[e->current].run.finished)
            e->current++;
        sim_fiber_switch(&e->main, &sim_self(e)->fiber);
    }
    e->active = false;
}

/* Setup, threads, final check; a crash in any of them comes back here. */
static void
run_guarded(struct engine *e)
{
    const int crash = sigsetjmp(crash_return, 0);

    if (crash != 0) {
        crash_expected = 0;
        sim_fiber_use_tls(&e->main);
        if (crash == SIGVTALRM)
            sim_engine_failure_set(e, SIM_FAIL_LIMIT,
                                   e->threads[e->current].run.last_site, 0,
                                   "the run goes on without any access to "
                                   "memory that others see");
        if (e->run->failure.kind == SIM_FAIL_NONE)
            sim_engine_failure_set(
                e, SIM_FAIL_CRASH,
                e->active ? e->threads[e->current].run.last_site : 0, 0,
                strsignal(crash));
        e->active = false;
        return;
    }
    crash_expected = 1;
    if (e->kernel->setup != NULL)
        e->kernel->setup(e->kernel->context);
    run_threads(e);
    if (e->run->end == SIM_END_COMPLETE && e->kernel->finish != NULL)
        e->kernel->finish(e->kernel->context);
    crash_expected = 0;
}

enum sim_end
sim_engine_run(struct engine *e, struct sim_choices *choices,
               struct sim_run *run)
{
    run_reset(e, choices, run);
    run_guarded(e);
    if (run->steps > e->steps_most)
        e->steps_most = run->steps;
    run->graph[0] = e->graph[0];
    run->graph[1] = e->graph[1];
    if (run->failure.kind != SIM_FAIL_NONE)
        run->end = SIM_END_FAILED;
    sim_answer_end(e);
    e->run = NULL;
    return run->end;
}
