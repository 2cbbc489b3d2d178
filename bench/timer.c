/* timer.c -- clocks, order statistics and pages of the benchmarks. */
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#include "bench/bench.h"

static double ns_a_tick;
static bool pages_huge;

uint64_t
bench_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

uint64_t
bench_cpu_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

static int
compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;

    return (x > y) - (x < y);
}

double
bench_quantile(double *values, size_t count, double part)
{
    const double at = part * (double)(count - 1);
    const size_t below = (size_t)at;
    const size_t above = below + 1 < count ? below + 1 : below;

    qsort(values, count, sizeof *values, compare_doubles);
    return values[below] +
           (at - (double)below) * (values[above] - values[below]);
}

double
bench_middle_mean(double *values, size_t count)
{
    const size_t cut = count / 4;
    double sum = 0;

    qsort(values, count, sizeof *values, compare_doubles);
    for (size_t i = cut; i < count - cut; i++)
        sum += values[i];
    return sum / (double)(count - 2 * cut);
}

static double
measure_tick(void)
{
    const uint64_t window_ns = 10000000;
    double tries[5];

    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
        const uint64_t begun_ns = bench_now_ns();
        const uint64_t begun = bench_ticks();
        uint64_t now_ns;

        do
            now_ns = bench_now_ns();
        while (now_ns - begun_ns < window_ns);
        tries[i] =
            (double)(now_ns - begun_ns) / (double)(bench_ticks() - begun);
    }
    return bench_quantile(tries, sizeof tries / sizeof *tries, 0.5);
}

double
bench_ns_a_tick(void)
{
    if (ns_a_tick <= 0)
        ns_a_tick = measure_tick();
    return ns_a_tick;
}

void
bench_pin(uint32_t cpu)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    (void)sched_setaffinity(0, sizeof set, &set);
}

void
bench_pages_huge(bool on)
{
    pages_huge = on;
}

static unsigned char *
map(size_t bytes)
{
    void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (pages == MAP_FAILED) {
        perror("bench: no memory");
        exit(1);
    }
    return pages;
}

/* Use huge pages as prof_init() recommends, but not for small blocks. */
void *
bench_pages(size_t bytes)
{
    const size_t huge = 2U << 20;
    unsigned char *pages;
    size_t before;

    if (!pages_huge || bytes < huge)
        return map(bytes);
    pages = map(bytes + huge);
    before = (huge - (uintptr_t)pages % huge) % huge;
    if (before != 0)
        munmap(pages, before);
    munmap(pages + before + (bytes + 4095) / 4096 * 4096,
           huge - before - (4096 - bytes % 4096) % 4096);
    (void)madvise(pages + before, bytes, MADV_HUGEPAGE);
    return pages + before;
}

void
bench_pages_return(void *pages, size_t bytes)
{
    munmap(pages, bytes);
}
