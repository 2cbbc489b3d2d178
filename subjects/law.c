/* law.c -- the distributions and estimates that several rule sets have in
 * common. */
#include "subjects/law.h"

#include <math.h>

static const double two_26 = 67108864;

double
subjects_law_26_bits(uint64_t rate, uint64_t number)
{
    const double log = log2((double)(number + 1)) - 26;

    return -log * ((double)rate * 0.69314718055994530942);
}

double
subjects_law_26_bits_least(uint64_t rate, uint64_t n)
{
    return floor(two_26 * exp(-(double)n / (double)rate)) / two_26;
}

double
subjects_law_exponential(double mean, uint64_t number)
{
    return -mean * log(((double)number + 0.5) / 9007199254740992.0);
}

double
subjects_law_survives(double mean, uint64_t n)
{
    return exp(-(double)n / mean);
}

double
subjects_law_count(const struct subjects_rules *rules, uint64_t rate,
                   uint64_t n)
{
    const uint64_t numbers = UINT64_C(1) << rules->number_bits;
    uint64_t low = 0; /* numbers below it are known to be alike */
    uint64_t high = numbers;

    /* [0, low) are above n, [high, numbers) are not; or the other way round. */
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;

        if ((rules->threshold(rate, middle) > n) != rules->number_grows)
            low = middle + 1;
        else
            high = middle;
    }
    return (double)(rules->number_grows ? numbers - low : low) /
           (double)numbers;
}

double
subjects_estimate_scaled(const struct subjects_sample *sample)
{
    const double size = (double)sample->size_bytes;

    return size > 0 ? size / -expm1(-size / (double)sample->rate) : 0;
}

double
subjects_estimate_rate(const struct subjects_sample *sample)
{
    return (double)sample->rate;
}

double
subjects_estimate_max(const struct subjects_sample *sample)
{
    return (double)(sample->size_bytes > sample->rate ? sample->size_bytes
                                                      : sample->rate);
}
