/* carried.c -- what CARRIED rule sets report on average, enumerated. */
#include "subjects/carried.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "subjects/no_memory.h"

enum { EPOCHS_MAX = 256 };

/* The chance c of a state, and b = E[Y; state] (carried.h), as one vector. */
typedef double mass __attribute__((vector_size(16)));
enum { C, B };

/* The distribution of the next point: a running value for each piece, and a
 * ring with the amounts to be added to these values at later ticks. */
struct law {
    mass running[SUBJECTS_PIECES_MAX];
    mass *ring[SUBJECTS_PIECES_MAX];
};

struct carried {
    const struct subjects_rules *rules;
    uint64_t rate;
    struct subjects_piece pieces[SUBJECTS_PIECES_MAX];
    double ends[SUBJECTS_PIECES_MAX]; /* first ratio^length */
    size_t pieces_count;
    uint64_t mask;
    mass *memory;
    struct law old;   /* from draws before this allocation */
    struct law fresh; /* from draws during it, for its own ticks */
    mass *placed;     /* moved on by the shortcut, for its own ticks */
    mass due;         /* on the tick before the next allocation, ONE DRAW */
    uint64_t tick;
    double shift;  /* Y = b / c + shift */
    double square; /* E[Y^2] */
    double total;  /* sum of b */
    double gain;   /* of this allocation */
    double hits;   /* expected number of samples so far */
};

static double
mean_gap(const struct carried *carried)
{
    double mean = 0;

    for (size_t p = 0; p < carried->pieces_count; p++) {
        const struct subjects_piece *piece = &carried->pieces[p];
        const double from = (double)piece->from;
        const double n = (double)piece->length;

        if (piece->length == 0)
            mean += piece->first / (1 - piece->ratio) *
                    (from + piece->ratio / (1 - piece->ratio));
        else if (piece->ratio == 0)
            mean += piece->first * from;
        else /* 1 */
            mean += piece->first * n * (from + (n - 1) / 2);
    }
    return mean;
}

/* Add m * factor to the running value of piece p from `tick` on. `end` is the
 * first tick behind this allocation. */
static void
add_at(struct carried *carried, size_t p, uint64_t tick, uint64_t end, mass m,
       double factor)
{
    struct law *law = tick < end ? &carried->fresh : &carried->old;

    law->ring[p][tick & carried->mask] += m * factor;
}

/* Add the distribution of a next point that lies one gap behind `tick`. */
static void
lay(struct carried *carried, uint64_t tick, uint64_t end, mass m)
{
    for (size_t p = 0; p < carried->pieces_count; p++) {
        const struct subjects_piece *piece = &carried->pieces[p];
        const uint64_t from = tick + piece->from;

        add_at(carried, p, from, end, m, piece->first);
        if (piece->length != 0 && carried->ends[p] != 0)
            add_at(carried, p, from + piece->length, end, m, -carried->ends[p]);
    }
}

/* As lay(), for rule sets that draw once per allocation: a next point that
 * would lie inside this allocation is due at the next allocation instead. The
 * distribution is a single uniform piece that begins at 0. */
static void
lay_once(struct carried *carried, uint64_t tick, uint64_t end, mass m)
{
    const struct subjects_piece *piece = &carried->pieces[0];
    const uint64_t skipped = end - tick; /* gaps that end in it: 0 .. over */
    const uint64_t lost = skipped < piece->length ? skipped : piece->length;

    carried->due += m * (piece->first * (double)lost);
    if (lost == piece->length)
        return;
    carried->old.ring[0][end & carried->mask] += m * piece->first;
    carried->old.ring[0][(tick + piece->length) & carried->mask] -=
        m * piece->first;
}

static void
reward(struct carried *carried, mass *m, double estimate)
{
    const double c = (*m)[C];

    carried->square +=
        2 * estimate * ((*m)[B] + carried->shift * c) + estimate * estimate * c;
    carried->gain += estimate * c;
    (*m)[B] += estimate * c;
}

static mass
reach(struct carried *carried, struct law *law, uint64_t tick)
{
    mass sum = {0, 0};

    for (size_t p = 0; p < carried->pieces_count; p++) {
        mass *running = &law->running[p];
        mass *added = &law->ring[p][tick & carried->mask];

        *running = *running * carried->pieces[p].ratio + *added;
        *added = (mass){0, 0};
        sum += *running;
    }
    return sum;
}

/* Count the first point in an allocation. If the rules have a shortcut, each
 * whole rate of bytes after that point counts as one more point, and the next
 * gap begins after these. */
static void
first_point(struct carried *carried, uint64_t tick, uint64_t end, mass first,
            double estimate)
{
    const struct subjects_rules *rules = carried->rules;
    const uint64_t rates =
        rules->shortcut ? (end - 1 - tick) / carried->rate : 0;

    carried->hits += first[C];
    if (rates > 0) {
        reward(carried, &first,
               rules->by_points ? estimate * (double)rates : estimate);
        carried->placed[end - 1 - tick - rates * carried->rate] += first;
        return;
    }
    reward(carried, &first, estimate);
    if (rules->draws_once)
        lay_once(carried, tick, end, first);
    else
        lay(carried, tick, end, first);
}

static void
pass_ticks(struct carried *carried, uint64_t ticks, double estimate)
{
    const uint64_t end = carried->tick + ticks;
    const mass due = carried->due;

    carried->due = (mass){0, 0};
    if (due[C] != 0)
        first_point(carried, carried->tick - 1, end, due, estimate);
    for (uint64_t tick = carried->tick; tick < end; tick++) {
        mass again = reach(carried, &carried->fresh, tick);
        const mass first = reach(carried, &carried->old, tick);

        if (carried->rules->shortcut) {
            mass *placed = &carried->placed[end - 1 - tick];

            again += *placed;
            *placed = (mass){0, 0};
        }
        if (carried->rules->by_points)
            reward(carried, &again, estimate);
        if (again[C] != 0)
            lay(carried, tick, end, again);
        if (first[C] != 0)
            first_point(carried, tick, end, first, estimate);
    }
    for (size_t p = 0; p < carried->pieces_count; p++) {
        carried->old.running[p] += carried->fresh.running[p];
        carried->fresh.running[p] = (mass){0, 0};
    }
    carried->tick = end;
}

/* returns: the expected estimate of one allocation */
static double
step(struct carried *carried, uint64_t size_bytes)
{
    const struct subjects_rules *rules = carried->rules;
    const struct subjects_sample sample = {.rate = carried->rate,
                                           .size_bytes = size_bytes};
    const double estimate = rules->estimate(&sample);
    const uint64_t ticks = subjects_ticks(rules, carried->rate, size_bytes);

    carried->gain = 0;
    if (!subjects_always(rules, carried->rate, size_bytes)) {
        pass_ticks(carried, ticks, estimate);
        carried->total += carried->gain;
        return carried->gain;
    }
    if (rules->always_ticks)
        pass_ticks(carried, ticks, 0);
    return estimate;
}

/* Subtract the mean of one allocation from Y. */
static void
centre(struct carried *carried, double mean)
{
    carried->square +=
        mean * mean - 2 * mean * (carried->total + carried->shift);
    carried->shift -= mean;
}

static void
carried_begin(struct carried *carried, const struct subjects_rules *rules,
              uint64_t rate, const uint64_t *sizes, size_t count)
{
    uint64_t reach_ticks = 2; /* how far ahead something is written down */
    uint64_t longest = 1;
    size_t at = 0;

    *carried = (struct carried){.rules = rules, .rate = rate};
    carried->pieces_count = rules->pieces(rate, carried->pieces);
    for (size_t p = 0; p < carried->pieces_count; p++) {
        const struct subjects_piece *piece = &carried->pieces[p];

        carried->ends[p] =
            piece->first * pow(piece->ratio, (double)piece->length);
        if (reach_ticks < piece->from + piece->length + 2)
            reach_ticks = piece->from + piece->length + 2;
    }
    for (size_t i = 0; i < count; i++) {
        const uint64_t ticks = subjects_ticks(rules, rate, sizes[i]);

        longest = ticks > longest ? ticks : longest;
    }
    for (carried->mask = 1; carried->mask < reach_ticks + longest;)
        carried->mask *= 2;
    carried->memory =
        calloc((carried->mask * 2 * carried->pieces_count + longest + 1),
               sizeof *carried->memory);
    if (carried->memory == NULL)
        subjects_no_memory();
    for (size_t p = 0; p < carried->pieces_count; p++) {
        carried->old.ring[p] = &carried->memory[at];
        carried->fresh.ring[p] = &carried->memory[at + carried->mask];
        at += 2 * carried->mask;
    }
    carried->placed = &carried->memory[at];
    carried->mask--;
    carried->tick = 1;
    if (rules->manners.start == SUBJECTS_START_FIRST) {
        /* The first point, on tick 1; such rules have one uniform piece. */
        carried->old.ring[0][1][C] = 1;
        carried->old.ring[0][2][C] = -1;
    } else if (rules->draws_once) {
        lay_once(carried, 0, 1, (mass){1, 0});
    } else {
        lay(carried, 0, 1, (mass){1, 0});
    }
}

static void
period(struct carried *carried, const uint64_t *sizes, size_t count,
       double *mean)
{
    for (size_t i = 0; i < count; i++)
        mean[i] += step(carried, sizes[i]);
}

/* returns: the number of periods that together pass half a gap */
static size_t
periods_of_epoch(const struct carried *carried, const uint64_t *sizes,
                 size_t count)
{
    double ticks = 0;

    for (size_t i = 0; i < count; i++) {
        if (!subjects_always(carried->rules, carried->rate, sizes[i]) ||
            carried->rules->always_ticks)
            ticks +=
                (double)subjects_ticks(carried->rules, carried->rate, sizes[i]);
    }
    return ticks == 0 ? 1 : 1 + (size_t)(mean_gap(carried) / (2 * ticks));
}

/* Run epochs until three in a row are alike. returns: false if they never
 * are */
static bool
settle(struct carried *carried, const uint64_t *sizes, size_t count,
       double *mean)
{
    const size_t periods = periods_of_epoch(carried, sizes, count);
    double old[SUBJECTS_SIZES_MAX];
    int alike = 0;

    memset(mean, 0, count * sizeof *mean);
    for (int epoch = 0; epoch < EPOCHS_MAX && alike < 2; epoch++) {
        double change = 0;

        memcpy(old, mean, count * sizeof *mean);
        memset(mean, 0, count * sizeof *mean);
        for (size_t i = 0; i < periods; i++)
            period(carried, sizes, count, mean);
        for (size_t i = 0; i < count; i++) {
            mean[i] /= (double)periods;
            change += fabs(mean[i] - old[i]) / (mean[i] + (double)sizes[i]);
        }
        alike = change < 1e-9 ? alike + 1 : 0;
    }
    return alike == 2;
}

void
subjects_carried_mean(const struct subjects_rules *rules, uint64_t rate,
                      const uint64_t *sizes, size_t count, double *mean)
{
    struct carried carried;

    carried_begin(&carried, rules, rate, sizes, count);
    if (!settle(&carried, sizes, count, mean)) {
        for (size_t i = 0; i < count; i++)
            mean[i] = NAN;
    }
    free(carried.memory);
}

/* Y is reset once the state's distribution is stationary; from then on E[Y^2]
 * grows by the same amount each period. */
double
subjects_carried_variance(const struct subjects_rules *rules, uint64_t rate,
                          uint64_t size_bytes)
{
    struct carried carried;
    double mean;
    double slope = -1;
    double hits = 0;
    int alike = 0;
    size_t periods;

    if (subjects_always(rules, rate, size_bytes))
        return 0;
    carried_begin(&carried, rules, rate, &size_bytes, 1);
    if (!settle(&carried, &size_bytes, 1, &mean)) {
        free(carried.memory);
        return NAN;
    }
    for (size_t p = 0; p < carried.pieces_count; p++) {
        carried.old.running[p][B] = 0;
        for (uint64_t i = 0; i <= carried.mask; i++)
            carried.old.ring[p][i][B] = 0;
    }
    carried.due[B] = 0;
    carried.shift = carried.square = carried.total = 0;
    periods = periods_of_epoch(&carried, &size_bytes, 1);
    for (int epoch = 0; epoch < EPOCHS_MAX && alike < 2; epoch++) {
        const double before = carried.square;
        const double old = slope;

        hits = carried.hits;
        for (size_t i = 0; i < periods; i++) {
            (void)step(&carried, size_bytes);
            centre(&carried, mean);
        }
        hits = (carried.hits - hits) / (double)periods;
        slope = (carried.square - before) / (double)periods;
        alike = fabs(old - slope) < 1e-9 * mean * mean ? alike + 1 : 0;
    }
    free(carried.memory);
    return alike == 2 ? hits * slope / (mean * mean) : NAN;
}

double
subjects_carried_short(const struct subjects_rules *rules, uint64_t rate,
                       uint64_t size_bytes, size_t allocations)
{
    struct carried carried;
    double sum = 0;

    carried_begin(&carried, rules, rate, &size_bytes, 1);
    for (size_t i = 0; i < allocations; i++)
        sum += step(&carried, size_bytes);
    free(carried.memory);
    return sum / ((double)allocations * (double)size_bytes);
}
