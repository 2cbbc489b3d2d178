/*
 * sampling.c -- the closed forms of sampling.h.
 *
 *      draws 0 1 2 ... by remainder:  0 1 .. c .. R-1 | 0 1 .. c .. R-1 | ...
 *                                     [kept]           [kept]
 *
 * For an event of c ticks at rate R, c < R: of the draws 0 .. M-1, floor(M/R)
 * (c+1) + min(M mod R, c+1) have a remainder of at most c. If the draws do not
 * begin at 0, their number is the difference of two such numbers.
 */
#include "model/heap/sampling.h"

#include "model/model_assert.h"

struct model_draws
model_era_draws(enum model_era era)
{
    if (era == MODEL_GO_1_5) /* a shift register is never 0 */
        return (struct model_draws){1, ((model_u128)1 << 31) - 1};
    return (struct model_draws){0, (model_u128)1
                                       << (era == MODEL_EXACT ? 64 : 32)};
}

static model_u128
residues_below(model_u128 limit, uint64_t rate, uint64_t most)
{
    const model_u128 good = most < rate ? (model_u128)most + 1 : rate;
    const model_u128 rest = limit % rate;

    return limit / rate * good + (rest < good ? rest : good);
}

model_u128
model_residues(struct model_draws draws, uint64_t rate, uint64_t most)
{
    return residues_below(draws.first + draws.count, rate, most) -
           residues_below(draws.first, rate, most);
}

struct model_sums
model_block_sums(enum model_era era, struct model_draws draws, uint64_t cycles,
                 uint64_t rate)
{
    struct model_sums sums = {.draws = draws.count, .count_bottom = 1};

    if (cycles >= rate) {
        sums.kept = draws.count;
        sums.cycles = draws.count * cycles;
        sums.count_top = draws.count;
        return sums;
    }
    if (era == MODEL_EXACT) {
        /* In whole rounds: c of R residues are kept, and count as all R. */
        const model_u128 rounds = draws.count / rate;

        sums.draws = rounds * rate;
        sums.kept = rounds * cycles;
        sums.cycles = sums.kept * rate;
        sums.count_top = sums.draws;
        return sums;
    }
    sums.kept = model_residues(draws, rate, cycles);
    sums.count_top = sums.kept;
    sums.cycles = sums.kept * cycles;
    if (era == MODEL_GO_1_17) {
        sums.cycles = sums.kept * rate;
        sums.count_top = sums.kept * rate;
        sums.count_bottom = cycles;
    }
    return sums;
}

struct model_sums
model_mutex_sums(enum model_era era, struct model_draws draws, uint64_t cycles,
                 uint64_t rate)
{
    struct model_sums sums = {.draws = draws.count, .count_bottom = 1};

    if (era == MODEL_GO_1_5)
        return sums; /* there is no mutex profile */
    if (era == MODEL_EXACT) {
        const model_u128 rounds = draws.count / rate;

        sums.draws = rounds * rate;
        sums.kept = rounds;
        sums.count_top = rounds * rate;
        sums.cycles = rounds * rate * cycles;
        return sums;
    }
    sums.kept = model_residues(draws, rate, 0);
    sums.count_top = sums.kept;
    sums.cycles = sums.kept * cycles;
    return sums;
}

static double
ratio(model_u128 top, model_u128 bottom)
{
    return (double)((long double)top / (long double)bottom);
}

struct model_factors
model_factors_of(const struct model_sums *sums, uint64_t cycles)
{
    return (struct model_factors){
        .kept = ratio(sums->kept, sums->draws),
        .count = ratio(sums->count_top, sums->draws * sums->count_bottom),
        .cycles =
            cycles == 0 ? 1 : ratio(sums->cycles, sums->draws) / (double)cycles,
    };
}

/* ---- heap ---- */

/*
 * 1 - e^-x, in long double: for a small x by the alternating series, whose
 * terms decrease from the first on; else from s = 1 - e^-(x/2) as s (2 - s).
 */
static long double
not_exp(long double x)
{
    int doublings = 0;
    int n = 2;
    long double term;
    long double sum = 0;
    long double before;

    for (; x > 0.5L; doublings++)
        x /= 2;
    term = x;
    do {
        before = sum;
        sum += term;
        term = -term * x / n++;
    } while (sum != before);
    for (; doublings > 0; doublings--)
        sum *= 2 - sum;
    return sum;
}

struct model_heap_sampling
model_heap_sampling(enum model_era era, uint64_t size_bytes,
                    uint64_t rate_bytes)
{
    const uint64_t cap = 117440512;
    const uint64_t mean =
        era != MODEL_EXACT && rate_bytes > cap ? cap : rate_bytes;
    long double chance;
    long double reported;

    MODEL_ASSERT(era != MODEL_GO_1_5);
    if (rate_bytes <= 1 || size_bytes == 0)
        return (struct model_heap_sampling){1, 1};
    chance = not_exp((long double)size_bytes / (long double)mean);
    reported = not_exp((long double)size_bytes / (long double)rate_bytes);
    if (era == MODEL_GO_1_10 && size_bytes >= rate_bytes)
        chance = 1; /* always kept, but estimated as if it were not */
    return (struct model_heap_sampling){(double)chance,
                                        (double)(chance / reported)};
}
