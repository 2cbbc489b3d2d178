/* workloads.c -- the twelve periods of sizes that tell rule sets apart. */
#include "subjects/workloads.h"

static size_t
two(uint64_t *sizes, uint64_t first, uint64_t second)
{
    sizes[0] = first;
    sizes[1] = second;
    return second == 0 ? 1 : 2;
}

/* With a small rate a part of it is 0; a block has a byte at least. */
static uint64_t
some(uint64_t size_bytes)
{
    return size_bytes > 0 ? size_bytes : 1;
}

size_t
subjects_workload(int number, uint64_t rate, uint64_t *sizes)
{
    switch (number) {
    case 1:
        return two(sizes, 16, 0);
    case 2:
        return two(sizes, rate, 0);
    case 3:
        return two(sizes, 16, rate / 2);
    case 4:
        return two(sizes, 16, rate);
    case 5:
        return two(sizes, 16, rate + rate / 8);
    case 6:
        for (int i = 0; i < 4; i++)
            sizes[i] = some(rate / 512);
        sizes[4] = some(rate / 2);
        return 5;
    case 7:
        return two(sizes, some(rate - 1), 0);
    case 8:
        return two(sizes, rate + 1, 0);
    case 9:
        return two(sizes, rate + rate / 10, 0);
    case 10:
        return two(sizes, 3 * rate, 0);
    case 11:
        for (int i = 0; i < SUBJECTS_PERIOD_MAX; i++)
            sizes[i] = UINT64_C(16) << ((5 * i) % 17);
        return SUBJECTS_PERIOD_MAX;
    default:
        return two(sizes, 8, 0);
    }
}
