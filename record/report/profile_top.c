/*
 * profile_top.c -- see profile_top.h.
 *
 * A heap profile has a sample for each pair of stack and size. A line shows one
 * stack, so the samples of each stack are first added up.
 */
#include "record/report/profile_top.h"

#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/demangle.h"
#include "common/escape.h"
#include "model/pprof/pprof_reader.h"

enum { SHOWN_FRAMES = 4 };

struct line {
    const struct model_pprof_sample *sample;
    int64_t value;
};

/* ---- an error ---- */

/*
 * returns: the variance of what one sample, an estimate of n blocks of S bytes,
 * adds to the total. Each block was sampled with chance p = 1 - exp(-S/R),
 * where R is the rate, and then counted 1/p times. So their number has the
 * variance n (1-p)/p, and their bytes S^2 times as much.
 */
static double
variance_of(const struct model_pprof_sample *sample, size_t objects,
            bool in_bytes, double rate_bytes)
{
    const double n = (double)sample->values[objects];
    const double bytes = (double)sample->values[objects + 1];
    double odds;

    if (n <= 0 || rate_bytes <= 1)
        return 0;                             /* every block was seen */
    odds = 1 / expm1(bytes / n / rate_bytes); /* (1-p)/p */
    return n * odds * (in_bytes ? bytes / n * (bytes / n) : 1);
}

/* Is this value the objects, and the next one the bytes of the same blocks? */
static bool
is_pair(const struct model_pprof *profile, size_t objects)
{
    const char *first;
    size_t length;

    if (objects >= profile->types_count || objects + 1 == profile->types_count)
        return false;
    first = profile->types[objects].type;
    length = strcspn(first, "_");
    return strcmp(first + length, "_objects") == 0 &&
           strncmp(profile->types[objects + 1].type, first, length) == 0 &&
           strcmp(profile->types[objects + 1].type + length, "_space") == 0;
}

/* Print how far off the total may be. Only heaps are sampled by size. */
static void
print_error(const struct model_pprof *profile, size_t value, int64_t sum,
            bool is_lossy, FILE *to)
{
    const char *const type = profile->types[value].type;
    const bool in_bytes = strstr(type, "_space") != NULL;
    const size_t objects = in_bytes ? value - 1 : value;
    double variance = 0;

    if (!in_bytes && strstr(type, "_objects") == NULL)
        return;
    if (profile->period <= 1) {
        fputs(is_lossy ? ", of what was not dropped" : ", exact", to);
        return;
    }
    if (sum == 0) {
        /* B bytes have no sample with probability exp(-B/R), whatever the block
         * sizes. */
        fprintf(
            to,
            ", no sample; at most %.0f bytes (95 %%) at a sample per %" PRId64
            " bytes",
            log(20) * (double)profile->period, profile->period);
        return;
    }
    if (!is_pair(profile, objects))
        return; /* the sizes of the blocks are not known */
    for (size_t i = 0; i < profile->samples_count; i++)
        variance += variance_of(&profile->samples[i], objects, in_bytes,
                                (double)profile->period);
    fprintf(to,
            " +/- %.0f (%.1f %%), estimated from a sample per %" PRId64
            " bytes (2 standard deviations)",
            2 * sqrt(variance), 200 * sqrt(variance) / (double)sum,
            profile->period);
}

/* ---- lines ---- */

static int
compare_stacks(const void *left, const void *right)
{
    return cli_compare_stacks(((const struct line *)left)->sample,
                              ((const struct line *)right)->sample);
}

static int
compare_values(const void *left, const void *right)
{
    const struct line *const a = left;
    const struct line *const b = right;

    if (a->value != b->value)
        return a->value > b->value ? -1 : 1;
    return compare_stacks(left, right);
}

/* returns: lines left, one for each stack, largest first */
static size_t
add_up(struct line *lines, size_t count)
{
    size_t kept = 0;

    qsort(lines, count, sizeof *lines, compare_stacks);
    for (size_t i = 0; i < count; i++)
        if (kept > 0 && compare_stacks(&lines[kept - 1], &lines[i]) == 0)
            lines[kept - 1].value += lines[i].value;
        else
            lines[kept++] = lines[i];
    qsort(lines, kept, sizeof *lines, compare_values);
    return kept;
}

static void
print_function(const char *symbol, FILE *to)
{
    char *const name = cli_demangle(symbol);

    sim_escape_text(to, name != NULL ? name : symbol);
    free(name);
}

static void
print_frames(const struct model_pprof *profile,
             const struct model_pprof_sample *sample, FILE *to)
{
    for (size_t i = 0; i < sample->locations_count && i < SHOWN_FRAMES; i++) {
        const struct model_pprof_location *const location =
            model_pprof_location(profile, sample->locations[i]);
        const struct model_pprof_function *const function =
            model_pprof_function(profile, location->function);

        fputs(i == 0 ? "" : " < ", to);
        if (function == NULL)
            fprintf(to, "%#" PRIx64, location->address);
        else
            print_function(function->name, to);
        if (function != NULL && location->line > 0 && *function->file != '\0') {
            const char *const slash = strrchr(function->file, '/');

            fputs(" (", to);
            sim_escape_text(to, slash != NULL ? slash + 1 : function->file);
            fprintf(to, ":%" PRId64 ")", location->line);
        }
    }
    fputc('\n', to);
}

static bool
print_top(const struct model_pprof *profile, const char *type, size_t most,
          bool is_lossy, FILE *to)
{
    const size_t count = profile->samples_count;
    struct line *const lines = calloc(count + 1, sizeof *lines);
    size_t value = 0;
    int64_t sum = 0;
    size_t stacks;

    while (value < profile->types_count &&
           strcmp(profile->types[value].type, type) != 0)
        value++;
    if (lines == NULL || value == profile->types_count) {
        free(lines);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        lines[i] = (struct line){&profile->samples[i],
                                 profile->samples[i].values[value]};
        sum += lines[i].value;
    }
    stacks = add_up(lines, count);
    fprintf(to, "%s: %" PRId64 " %s", type, sum, profile->types[value].unit);
    print_error(profile, value, sum, is_lossy, to);
    fputc('\n', to);
    for (size_t i = 0; i < stacks && i < most && lines[i].value > 0; i++) {
        fprintf(to, "%14" PRId64 " %5.1f %%  ", lines[i].value,
                100.0 * (double)lines[i].value / (double)sum);
        print_frames(profile, lines[i].sample, to);
    }
    free(lines);
    return true;
}

bool
cli_profile_top(const struct cli_named_profile *named, const char *type,
                size_t most, FILE *to)
{
    struct model_pprof profile;
    bool good =
        model_pprof_read(&profile, named->proto.at, named->proto.count) &&
        print_top(&profile, type, most, named->is_lossy, to);

    model_pprof_release(&profile);
    return good;
}
