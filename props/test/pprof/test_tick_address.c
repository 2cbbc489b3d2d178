/*
 * test_tick_address.c -- a tick whose stack comes from the process's own
 * unwinder has the address of the interrupted instruction.
 */
#include <errno.h>
#include <signal.h>
#include <stdalign.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pprof_case.h"
#include "prof/cpu.h"
#include "prof/process.h"
#include "unit_test.h"

#if defined(__x86_64__)

/* Interrupt this thread by SIGPROF. returns: the interrupted address */
static uintptr_t
interrupt(void)
{
    long number = SYS_tgkill;
    uintptr_t here;

    __asm__ volatile("lea 1f(%%rip), %1\n\tsyscall\n1:"
                     : "+a"(number), "=&r"(here)
                     : "D"((long)getpid()), "S"(syscall(SYS_gettid)),
                       "d"((long)SIGPROF)
                     : "rcx", "r11", "memory");
    assert_int_equal(number, 0);
    return here;
}

static void
a_tick_is_at_the_instruction_that_was_interrupted(void **state)
{
    static alignas(PROF_BLOCK_ALIGN) unsigned char block[1 << 16];
    static struct case_run run;
    const struct prof_cpu_config config = {.ticks_max = 4, .stacks_max = 4};
    struct prof_cpu *cpu;
    uintptr_t here;

    (void)state;
    assert_int_equal(prof_cpu_init(&cpu, &config, block, sizeof block),
                     PROF_OK);
    assert_int_equal(prof_process_begin(cpu, NULL), PROF_OK);
    assert_int_equal(prof_cpu_start(cpu, 100), PROF_OK);
    errno = 77;
    here = interrupt();
    assert_int_equal(errno, 77);
    prof_process_end();
    assert_int_equal(prof_cpu_stop(cpu), PROF_OK);
    (void)interrupt(); /* a late signal is ignored */
    case_begin(&run);
    case_read(&run, prof_cpu_write(cpu, &run.output, 1));
    assert_int_equal(run.profile.samples_count, 1);
    assert_int_equal(run.profile.samples[0].values[0], 1);
    assert_int_equal(run.profile.samples[0].locations_count, 1);
    assert_int_equal(run.profile.locations[0].address, here);
    case_end(&run);
}

#endif

int
main(void)
{
    static const struct CMUnitTest tests[] = {
#if defined(__x86_64__)
        cmocka_unit_test(a_tick_is_at_the_instruction_that_was_interrupted),
#endif
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
