/*
 * scale.c -- an object of size S is sampled with probability 1 - exp(-S/R), so
 * each sampled one stands for 1 / (1 - exp(-S/R)).
 *
 * The exponential is computed here, in plain double arithmetic, so that a
 * profile's bytes depend neither on a mathematics library nor on its version:
 *
 *      x = k ln2 + r, |r| <= ln2/2      exp(x) = 2^k exp(r)
 *
 * with exp(r) by its continued fraction's polynomial (error below 2^-59).
 */
#include "scale.h"

#include <string.h>

#include "poison.h"

/* 2^k, for -1022 <= k <= 0. */
static double
power_of_two(int k)
{
    const uint64_t bits = (uint64_t)(1023 + k) << 52;
    double power;

    memcpy(&power, &bits, sizeof power);
    return power;
}

/* exp(-x), for x >= 0. */
static double
exp_minus(double x)
{
    static const double ln2_high = 6.93147180369123816490e-01;
    static const double ln2_low = 1.90821492927058770002e-10;
    int k;
    double high;
    double low;
    double r;
    double t;
    double c;

    if (x > 700)
        return 0;
    k = -(int)(x * 1.44269504088896338700e+00 + 0.5);
    high = -x - k * ln2_high;
    low = k * ln2_low;
    r = high - low;
    t = r * r;
    c = r - t * (1.66666666666666657415e-01 +
                 t * (-2.77777777770155933842e-03 +
                      t * (6.61375632143793436117e-05 +
                           t * (-1.65339022054652515390e-06 +
                                t * 4.13813679705723846039e-08))));
    return (1 - ((low - r * c / (2 - c)) - high)) * power_of_two(k);
}

static int64_t
cut_to_whole(double value)
{
    if (value >= 0x1p63)
        return INT64_MAX;
    return value <= -0x1p63 ? INT64_MIN : (int64_t)value;
}

struct scaled
prof_scale(int64_t objects, uint64_t size_bytes, int64_t rate_bytes)
{
    const int64_t bytes = (int64_t)((uint64_t)objects * size_bytes);
    double factor;

    if (objects == 0 || size_bytes == 0)
        return (struct scaled){0, 0};
    if (rate_bytes <= 1)
        return (struct scaled){objects, bytes};
    factor = 1 / (1 - exp_minus((double)size_bytes / (double)rate_bytes));
    return (struct scaled){cut_to_whole((double)objects * factor),
                           cut_to_whole((double)bytes * factor)};
}
