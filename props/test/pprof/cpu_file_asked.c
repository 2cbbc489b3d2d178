/* cpu_file_asked.c -- see cpu_file_asked.h. */
#include "cpu_file_asked.h"

#include <signal.h>
#include <stdbool.h>

#include "prof/gzip.h"
#include "unit_test.h"

static uint64_t drawn = 1;
static uint32_t unwound; /* ticks that unwind_work() has seen */

uint32_t
asked_draw(uint32_t limit)
{
    drawn = drawn * 6364136223846793005U + 1442695040888963407U;
    return (uint32_t)(drawn >> 33) % limit;
}

static uint32_t
unwind_work(const void *context, uintptr_t *stack, uint32_t max)
{
    (void)context;
    assert_true(max > 0);
    stack[0] = CASE_WORK;
    unwound++;
    return 1;
}

enum prof_status
asked_start(struct asked *asked, void *packing, atomic_int *refuses_thread)
{
    static const uint32_t rates[] = {0, 1, 7, 100, 999};
    const uint32_t reason = asked_draw(8); /* from 4 on: none */
    enum prof_status status;
    sigset_t before;
    sigset_t after;

    asked->config = case_config();
    asked->config.hz = reason == 0 ? 1000001 : rates[asked_draw(5)];
    asked->config.threads_have_timers = asked_draw(2) != 0;
    asked->config.unwind = asked_draw(2) != 0 ? unwind_work : NULL;
    asked->config.output.time_ns = 12345; /* the call sets it */
    asked->config.packing = asked_draw(2) != 0 ? packing : NULL;
    asked->config.packing_bytes = asked_draw(8) != 0 ? prof_gzip_bytes() : 9;
    if (reason == 1)
        asked->config.path = "/no/such/folder/cpu.pb.gz";
    atomic_store(refuses_thread, reason == 2);
    if (reason == 3)
        assert_int_equal(prof_process_begin(cpu_file.cpu, NULL), PROF_OK);
    asked->since_ns = prof_process_time_ns();
    asked->ticks = 0;
    unwound = 0;
    sigemptyset(&before);
    if (reason % 2 == 0)
        sigaddset(&before, SIGUSR2);
    assert_int_equal(pthread_sigmask(SIG_SETMASK, &before, NULL), 0);
    status = prof_cpu_file_start(&cpu_file.file, &asked->config);
    atomic_store(refuses_thread, 0);
    assert_int_equal(pthread_sigmask(SIG_BLOCK, NULL, &after), 0);
    for (int number = 1; number < NSIG; number++)
        assert_int_equal(sigismember(&after, number),
                         sigismember(&before, number));
    if (reason == 3)
        prof_process_end();
    assert_int_equal(status == PROF_OK, reason >= 4);
    return status;
}

void
asked_check(const struct asked *asked)
{
    const uint32_t hz = asked->config.hz != 0 ? asked->config.hz : PROF_CPU_HZ;
    const uint64_t ticks = case_ticks();
    const struct model_pprof *profile = &cpu_file.run.profile;

    /* A timer of the process adds its own. */
    assert_true(ticks >= asked->ticks);
    if (asked->config.threads_have_timers)
        assert_int_equal(ticks, asked->ticks);
    assert_true(asked->config.unwind == NULL ? unwound == 0
                                             : unwound >= asked->ticks);
    assert_int_equal(profile->period, 1000000000 / hz);
    assert_in_range(profile->time_ns, asked->since_ns, prof_process_time_ns());
    assert_in_range(profile->duration_ns, 1,
                    prof_process_time_ns() - asked->since_ns + 1000000000);
    case_end(&cpu_file.run);
}

void
asked_set_timer(struct itimerval *set)
{
    const uint32_t kind = asked_draw(3);

    *set = (struct itimerval){.it_value.tv_sec = kind > 0 ? 5000 : 0,
                              .it_interval.tv_sec = kind > 1 ? 7000 : 0};
    assert_int_equal(setitimer(ITIMER_PROF, set, NULL), 0);
}

void
asked_check_timer(const struct itimerval *set)
{
    struct itimerval left;

    assert_int_equal(getitimer(ITIMER_PROF, &left), 0);
    assert_int_equal(left.it_interval.tv_sec, set->it_interval.tv_sec);
    assert_true(left.it_value.tv_sec <= set->it_value.tv_sec &&
                left.it_value.tv_sec >= set->it_value.tv_sec - 100);
}
