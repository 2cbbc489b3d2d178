/*
 * test_probes.c -- the probes (USDT) of libprof-malloc.so, used as a tracing
 * tool uses them: by the notes of the file, a breakpoint at each nop, and
 * registers.
 *
 * usage: test_probes LIBRARY PROGRAM
 */
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "notes.h"
#include "probed_event.h"
#include "profile/profile_env.h"
#include "unit_test.h"

enum { PHASES = 4, LIMIT_S = 120, NOTES = 8 };

/* Are the probes on after the n-th stop? */
static const bool is_watched[PHASES] = {false, true, false, true};

static const char *library;
static const char *program;
static struct note probes[2]; /* PROBED_ALLOC, PROBED_FREE */

static struct probed_event truth[PROBED_EVENTS_MAX];
static struct probed_event seen[PROBED_EVENTS_MAX];

/* ---- the process ---- */

static int
make_output(void)
{
    const int output = memfd_create("events", 0);

    assert_true(output >= 0);
    return output;
}

static pid_t
start(int output, const char *rate)
{
    const pid_t child = fork();

    assert_true(child >= 0);
    if (child != 0)
        return child;
    if (dup2(output, PROBED_OUTPUT) < 0 ||
        ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
        _exit(2);
    setenv("LD_PRELOAD", library, 1);
    setenv(PROFILE_ENV_HEAP, rate, 1);
    setenv(PROFILE_ENV_MUTEX, "0", 1);
    setenv(PROFILE_ENV_NO_AGENT, "1", 1);
    execl(program, program, (char *)NULL);
    _exit(2);
}

/* returns: where the library lies in the process */
static uint64_t
base_in(pid_t child)
{
    char path[64];
    char line[4400];
    uint64_t base = 0;
    FILE *maps;

    snprintf(path, sizeof path, "/proc/%d/maps", (int)child);
    maps = fopen(path, "r");
    assert_non_null(maps);
    while (base == 0 && fgets(line, sizeof line, maps) != NULL)
        if (strstr(line, "libprof-malloc.so") != NULL)
            base = strtoull(line, NULL, 16);
    fclose(maps);
    assert_true(base != 0);
    return base;
}

static void
poke(pid_t child, uint64_t address, const void *bytes, size_t count)
{
    char path[64];
    int memory;

    snprintf(path, sizeof path, "/proc/%d/mem", (int)child);
    memory = open(path, O_RDWR | O_CLOEXEC);
    assert_true(memory >= 0);
    assert_int_equal(pwrite(memory, bytes, count, (off_t)address), count);
    close(memory);
}

static void
watch(pid_t child, uint64_t base, bool is_on)
{
    const uint16_t semaphore = is_on;

    for (int i = 0; i < 2; i++)
        poke(child, base + probes[i].semaphore, &semaphore, sizeof semaphore);
}

/* The contract says that the probes' values are in the registers of a
 * function's first three arguments. */
static struct probed_event
event_of(enum probed_kind kind, const struct user_regs_struct *registers)
{
    if (kind == PROBED_FREE)
        return (struct probed_event){kind, registers->rdi, 0, 0};
    return (struct probed_event){kind, registers->rdi, registers->rsi,
                                 registers->rdx};
}

/*
 * Run the program to its end, with the probes on or off as is_watched says.
 *
 * returns: events seen, with stops among them
 */
static size_t
observe(pid_t child)
{
    static const uint8_t breakpoint = 0xcc;
    struct user_regs_struct registers;
    size_t count = 0;
    size_t stops = 0;
    uint64_t base = 0;
    int status;

    assert_int_equal(waitpid(child, &status, 0), child); /* executed */
    assert_true(WIFSTOPPED(status));
    ptrace(PTRACE_SETOPTIONS, child, NULL, PTRACE_O_EXITKILL);
    for (;;) {
        assert_int_equal(ptrace(PTRACE_CONT, child, NULL, NULL), 0);
        assert_int_equal(waitpid(child, &status, 0), child);
        if (!WIFSTOPPED(status))
            break;
        assert_true(count < PROBED_EVENTS_MAX);
        if (WSTOPSIG(status) == SIGSTOP) {
            if (base == 0) {
                base = base_in(child);
                for (int i = 0; i < 2; i++)
                    poke(child, base + probes[i].address, &breakpoint, 1);
            }
            assert_true(stops < PHASES);
            watch(child, base, is_watched[stops++]);
            seen[count++] = (struct probed_event){PROBED_STOP, 0, 0, 0};
            continue;
        }
        assert_int_equal(WSTOPSIG(status), SIGTRAP);
        assert_int_equal(ptrace(PTRACE_GETREGS, child, NULL, &registers), 0);
        assert_true(registers.rip - 1 == base + probes[0].address ||
                    registers.rip - 1 == base + probes[1].address);
        /* The nop has one byte, and so has the breakpoint in its place. */
        seen[count++] = event_of(registers.rip - 1 == base + probes[0].address
                                     ? PROBED_ALLOC
                                     : PROBED_FREE,
                                 &registers);
    }
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    return count;
}

/* ---- the verdict ---- */

/* What the test compares about a run. */
struct verdict {
    double rate_bytes;
    size_t sampled;
    size_t allocated; /* while the probes were on */
    double bytes;     /* of these allocations */
    double weight;    /* of the sampled ones */
    double variance;  /* of the weight */
};

static double
chance(double bytes, double rate_bytes)
{
    return rate_bytes <= 1 ? 1 : -expm1(-bytes / rate_bytes);
}

static void
judge_alloc(struct verdict *verdict, const struct probed_event *event)
{
    const double bytes = (double)event->bytes;
    const double wanted = bytes / chance(bytes, verdict->rate_bytes);

    if (fabs((double)event->weight_bytes - wanted) > 0.5 + 1e-6)
        fail_msg("%.0f bytes at rate %.0f weigh %.0f, not %.2f", bytes,
                 verdict->rate_bytes, (double)event->weight_bytes, wanted);
    verdict->weight += (double)event->weight_bytes;
    verdict->sampled++;
}

/*
 * Compare what was seen with what happened. While probes are on, an allocation
 * may be seen, and a free must be seen if and only if its allocation was. While
 * they are off, nothing may be seen.
 */
static void
judge(struct verdict *verdict, size_t happened, size_t observed)
{
    static uint64_t open[PROBED_EVENTS_MAX]; /* of blocks seen; 0: freed */
    size_t opened = 0;
    size_t next = 0;
    size_t stops = 0;

    for (size_t i = 0; i < happened; i++) {
        const struct probed_event *const was = &truth[i];
        const struct probed_event *const is = &seen[next];
        const bool is_on = stops > 0 && is_watched[stops - 1];
        const bool is_next =
            next < observed && is->kind == was->kind &&
            is->address == was->address &&
            (was->kind != PROBED_ALLOC || is->bytes == was->bytes);
        size_t at = 0;

        if (was->kind == PROBED_STOP) {
            assert_true(is_next);
            next++;
            stops++;
        } else if (was->kind == PROBED_ALLOC) {
            const double p = chance((double)was->bytes, verdict->rate_bytes);

            assert_false(is_next && !is_on);
            verdict->allocated += is_on;
            verdict->bytes += is_on ? (double)was->bytes : 0;
            verdict->variance +=
                is_on ? (1 - p) / p * (double)was->bytes * (double)was->bytes
                      : 0;
            if (!is_next)
                continue;
            judge_alloc(verdict, is);
            open[opened++] = was->address;
            next++;
        } else {
            while (at < opened && open[at] != was->address)
                at++;
            if (at < opened && is_on && !is_next)
                fail_msg("event %zu: the free of %#jx was not seen", i,
                         (uintmax_t)was->address);
            if (at < opened) {
                open[at] = 0;
                next += is_on;
            }
        }
    }
    if (next != observed)
        fail_msg("event %zu seen, kind %ju of %#jx, never happened", next,
                 (uintmax_t)seen[next].kind, (uintmax_t)seen[next].address);
}

static struct verdict
run(const char *rate)
{
    struct verdict verdict = {.rate_bytes = strtod(rate, NULL)};
    const int output = make_output();
    const size_t observed = observe(start(output, rate));
    const ssize_t got = pread(output, truth, sizeof truth, 0);

    close(output);
    assert_true(got > 0 && got % (ssize_t)sizeof *truth == 0);
    assert_true((size_t)got < sizeof truth); /* the text was not cut off */
    judge(&verdict, (size_t)got / sizeof *truth, observed);
    printf("rate %s: %zu allocations watched, %zu seen, %.0f bytes, %.0f "
           "estimated\n",
           rate, verdict.allocated, verdict.sampled, verdict.bytes,
           verdict.weight);
    return verdict;
}

/* ---- the tests ---- */

static void
test_notes(void **state)
{
    static const char *const names[] = {"alloc", "free"};
    static const char *const operands[] = {"8@%rdi 8@%rsi 8@%rdx", "8@%rdi"};
    struct note all[NOTES];
    size_t count;

    (void)state;
    assert_null(notes_read(library, "otel_memory", all, NOTES, &count));
    assert_int_equal(count, 2);
    for (size_t i = 0; i < 2; i++) {
        size_t at = 0;

        while (at < count && strcmp(all[at].name, names[i]) != 0)
            at++;
        assert_true(at < count);
        probes[i] = all[at];
        assert_string_equal(probes[i].provider, "otel_memory");
        assert_string_equal(probes[i].arguments, operands[i]);
        assert_true(probes[i].semaphore != 0);
    }
    assert_true(probes[0].semaphore != probes[1].semaphore);
}

static void
test_bad_files(void **state)
{
    struct note all[NOTES];
    size_t count;

    (void)state;
    assert_non_null(notes_read("/dev/null", "otel_memory", all, NOTES, &count));
    assert_non_null(
        notes_read("/no/such/file", "otel_memory", all, NOTES, &count));
    assert_null(notes_read(library, "another", all, NOTES, &count));
    assert_int_equal(count, 0);
    assert_null(notes_read(program, "otel_memory", all, NOTES, &count));
    assert_int_equal(count, 0);
}

/* At rate 1 every block is seen, with its size as its weight. */
static void
test_every_block(void **state)
{
    const struct verdict verdict = run("1");

    (void)state;
    assert_true(verdict.allocated > 1000);
    assert_int_equal(verdict.sampled, verdict.allocated);
    assert_true(verdict.weight == verdict.bytes);
}

/* The weights add up to what was allocated, within 6.1 standard deviations:
 * chance alone fails one run in 1e9. */
static void
test_sampled(void **state)
{
    const struct verdict verdict = run("4096");

    (void)state;
    assert_true(verdict.sampled > 100);
    assert_true(verdict.sampled < verdict.allocated);
    assert_true(fabs(verdict.weight - verdict.bytes) <
                6.1 * sqrt(verdict.variance) + (double)verdict.sampled);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_notes), cmocka_unit_test(test_bad_files),
        cmocka_unit_test(test_every_block), cmocka_unit_test(test_sampled)};

    if (argc != 3)
        return 2;
    library = realpath(argv[1], NULL);
    program = realpath(argv[2], NULL);
    if (library == NULL || program == NULL)
        return 2;
    alarm(LIMIT_S);
    return cmocka_run_group_tests_name("probes", tests, NULL, NULL);
}
