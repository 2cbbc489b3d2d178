/* live_variance.c -- how much the live bytes of a profile vary. */
#include "subjects/live_variance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "subjects/no_memory.h"
#include "subjects/strata.h"

enum { GRID = 52, BISECTIONS = 60 }; /* R: 4 to 4 2^25.5 */

/* The moments at which an object lives: first .. end - 1, of MOMENTS. */
struct moments {
    unsigned first;
    unsigned end;
};

/* returns: the first moment at or after a place, in allocated bytes; moment k
 * is at (k+1) / MOMENTS of all bytes */
static unsigned
moment_at(const struct subjects_history *history, uint64_t place)
{
    const double step = (double)history->bytes / SUBJECTS_MOMENTS;
    const double k = ceil((double)place / step) - 1;

    return k >= SUBJECTS_MOMENTS ? SUBJECTS_MOMENTS : (unsigned)(k > 0 ? k : 0);
}

static struct moments
moments_of(const struct subjects_history *history,
           const struct subjects_object *object)
{
    return (struct moments){moment_at(history, object->born),
                            moment_at(history, object->died)};
}

static double
share_of(const struct subjects_history *history,
         const struct subjects_object *object)
{
    const struct moments moments = moments_of(history, object);

    return (double)(moments.end - moments.first) / SUBJECTS_MOMENTS;
}

double
subjects_live_bytes(const struct subjects_history *history)
{
    double sum = 0;

    for (size_t i = 0; i < history->count; i++)
        sum += (double)history->objects[i].size_bytes *
               share_of(history, &history->objects[i]);
    return sum;
}

struct subjects_live
subjects_live_exact(const struct subjects_history *history, double rate)
{
    struct subjects_live live = {0, 0};

    for (size_t i = 0; i < history->count; i++) {
        const double size = (double)history->objects[i].size_bytes;
        const double chance = -expm1(-size / rate);

        live.samples += chance;
        live.variance += size * size * (1 / chance - 1) *
                         share_of(history, &history->objects[i]);
    }
    return live;
}

/* ---- strata ---- */

/* A block of a size class. Its live bytes are stored as differences from moment
 * to moment. */
struct block {
    double filled;
    double change[SUBJECTS_MOMENTS + 1];
};

/* returns: the block's variance: it reports R bytes with chance b/R, where b of
 * its bytes are live */
static double
block_end(struct block *block, double rate)
{
    double live = 0;
    double sum = 0;

    for (int k = 0; k < SUBJECTS_MOMENTS; k++) {
        live += block->change[k];
        sum += live * (rate - live);
    }
    *block = (struct block){0};
    return sum / SUBJECTS_MOMENTS;
}

/* Put an object into the blocks of its class. */
static void
block_add(const struct subjects_history *history,
          const struct subjects_object *object, double rate,
          struct block *block, struct subjects_live *live)
{
    const struct moments moments = moments_of(history, object);
    double left = (double)object->size_bytes;
    double missed = 1;

    while (left > 0) {
        const double room = rate - block->filled;
        const double bytes = left < room ? left : room;

        block->change[moments.first] += bytes;
        block->change[moments.end] -= bytes;
        block->filled += bytes;
        missed *= 1 - bytes / rate;
        left -= bytes;
        if (bytes == room)
            live->variance += block_end(block, rate);
    }
    live->samples += 1 - missed;
}

/* in: class, or SUBJECTS_CLASSES for all; blocks, all empty before and after */
static struct subjects_live
strata_of(const struct subjects_history *history, double rate, unsigned class,
          struct block *blocks)
{
    struct subjects_live live = {0, 0};

    for (size_t i = 0; i < history->count; i++) {
        const struct subjects_object *object = &history->objects[i];
        const unsigned own = subjects_class(object->size_bytes);

        if (class != SUBJECTS_CLASSES && class != own)
            continue;
        if ((double)object->size_bytes >= rate)
            live.samples++;
        else
            block_add(history, object, rate, &blocks[own], &live);
    }
    for (unsigned c = 0; c < SUBJECTS_CLASSES; c++) {
        if (blocks[c].filled > 0)
            live.variance += block_end(&blocks[c], rate);
    }
    return live;
}

struct subjects_live
subjects_live_strata(const struct subjects_history *history, double rate)
{
    struct block *blocks = calloc(SUBJECTS_CLASSES, sizeof *blocks);
    struct subjects_live live;

    if (blocks == NULL)
        subjects_no_memory();
    live = strata_of(history, rate, SUBJECTS_CLASSES, blocks);
    free(blocks);
    return live;
}

struct subjects_live
subjects_live_strata_of(const struct subjects_history *history, double samples,
                        double *rate)
{
    double low = 1;
    double high = 2 * (double)history->bytes;

    for (int i = 0; i < BISECTIONS; i++) {
        const double middle = sqrt(low * high);

        if (subjects_live_strata(history, middle).samples > samples)
            low = middle;
        else
            high = middle;
    }
    *rate = high;
    return subjects_live_strata(history, high);
}

/* ---- the least variance ---- */

struct size {
    double bytes;
    double allocated;
    double live;
};

static int
by_size(const void *left, const void *right)
{
    const struct size *a = left;
    const struct size *b = right;

    return (a->bytes > b->bytes) - (a->bytes < b->bytes);
}

static size_t
sizes_of(const struct subjects_history *history, struct size *sizes)
{
    size_t count = 0;

    for (size_t i = 0; i < history->count; i++)
        sizes[i] = (struct size){(double)history->objects[i].size_bytes, 1,
                                 share_of(history, &history->objects[i])};
    qsort(sizes, history->count, sizeof *sizes, by_size);
    for (size_t i = 0; i < history->count; i++) {
        if (count > 0 && sizes[count - 1].bytes == sizes[i].bytes) {
            sizes[count - 1].allocated += sizes[i].allocated;
            sizes[count - 1].live += sizes[i].live;
        } else {
            sizes[count++] = sizes[i];
        }
    }
    return count;
}

static struct subjects_live
chances_of(const struct size *sizes, size_t count, double lambda)
{
    struct subjects_live live = {0, 0};

    for (size_t i = 0; i < count; i++) {
        const double share = sqrt(sizes[i].live / sizes[i].allocated);
        const double chance = fmin(1, lambda * sizes[i].bytes * share);

        if (chance == 0)
            continue; /* never live: any small chance will do */
        live.samples += sizes[i].allocated * chance;
        live.variance +=
            sizes[i].live * sizes[i].bytes * sizes[i].bytes * (1 / chance - 1);
    }
    return live;
}

struct subjects_live
subjects_live_best_chances(const struct subjects_history *history,
                           double samples)
{
    struct size *sizes = calloc(history->count + 1, sizeof *sizes);
    double low = 1e-12;
    double high = 1e3;
    struct subjects_live live;
    size_t count;

    if (sizes == NULL)
        subjects_no_memory();
    count = sizes_of(history, sizes);
    for (int i = 0; i < 2 * BISECTIONS; i++) {
        const double middle = sqrt(low * high);

        if (chances_of(sizes, count, middle).samples > samples)
            high = middle;
        else
            low = middle;
    }
    live = chances_of(sizes, count, low);
    free(sizes);
    return live;
}

/* Choose for each class the R that costs least if a sample costs `price`. */
static struct subjects_live
buy(struct subjects_live (*grid)[GRID], double price)
{
    struct subjects_live sum = {0, 0};

    for (unsigned c = 0; c < SUBJECTS_CLASSES; c++) {
        const struct subjects_live *best = &grid[c][0];

        for (int g = 1; g < GRID; g++) {
            if (grid[c][g].variance + price * grid[c][g].samples <
                best->variance + price * best->samples)
                best = &grid[c][g];
        }
        sum.samples += best->samples;
        sum.variance += best->variance;
    }
    return sum;
}

struct subjects_live
subjects_live_best_strata(const struct subjects_history *history,
                          double samples)
{
    struct subjects_live(*grid)[GRID] = calloc(SUBJECTS_CLASSES, sizeof *grid);
    struct block *blocks = calloc(SUBJECTS_CLASSES, sizeof *blocks);
    bool used[SUBJECTS_CLASSES] = {false};
    double low = 1e-6;
    double high = 1e24;
    struct subjects_live live;

    if (grid == NULL || blocks == NULL)
        subjects_no_memory();
    for (size_t i = 0; i < history->count; i++)
        used[subjects_class(history->objects[i].size_bytes)] = true;
    for (unsigned c = 0; c < SUBJECTS_CLASSES; c++) {
        for (int g = 0; used[c] && g < GRID; g++)
            grid[c][g] = strata_of(history, 4 * pow(2, g / 2.0), c, blocks);
    }
    for (int i = 0; i < 2 * BISECTIONS; i++) {
        const double middle = sqrt(low * high);

        if (buy(grid, middle).samples > samples)
            low = middle;
        else
            high = middle;
    }
    live = buy(grid, high);
    free(grid);
    free(blocks);
    return live;
}
