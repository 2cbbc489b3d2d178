/* golden.c -- see golden.h. */
#include "golden.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "unit_test.h"

FILE *
golden_open(void)
{
    FILE *file = fopen("fixtures/audit/golden.csv", "r");
    char line[256];

    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    return file;
}

/* A line is "kind,rate,rules,workload,size,value,tolerance,corrected". If it
 * has the last one, that counts instead of the value (docs/subjects.md, "Where
 * the source is wrong"). */
bool
golden_next(FILE *file, struct golden *golden)
{
    const char *corrected;
    char name[32];

    if (fgets(golden->line, sizeof golden->line, file) == NULL)
        return false;
    corrected = strrchr(golden->line, ',');
    if (sscanf(golden->line,
               "%15[^,],%" SCNu64 ",%31[^,],%15[^,],%15[^,],%lf,%lf",
               golden->kind, &golden->rate, name, golden->workload,
               golden->size, &golden->value, &golden->tolerance) != 7)
        fail_msg("golden.csv: not a row: %s", golden->line);
    if (corrected[1] != '\n')
        golden->value = strtod(corrected + 1, NULL);
    golden->rules = subjects_rules_find(name);
    if (golden->rules == NULL)
        fail_msg("golden.csv: no rules %s", name);
    return true;
}

static double
mean_of(const struct golden *golden, const struct subjects_rules *rules,
        struct golden_workload *workload)
{
    const uint64_t size = strtoull(golden->size, NULL, 10); /* "total": 0 */
    const int number = atoi(&golden->workload[1]);
    double estimated = 0;
    double truth = 0;

    if (rules != workload->rules || golden->rate != workload->rate ||
        number != workload->number) {
        workload->rules = rules;
        workload->rate = golden->rate;
        workload->number = number;
        workload->count =
            subjects_workload(number, golden->rate, workload->sizes);
        subjects_mean(rules, golden->rate, workload->sizes, workload->count,
                      workload->mean);
    }
    for (size_t i = 0; i < workload->count; i++) {
        if (size == 0 || workload->sizes[i] == size) {
            estimated += workload->mean[i];
            truth += (double)workload->sizes[i];
        }
    }
    return estimated / truth;
}

double
golden_figure(const struct golden *golden, const struct subjects_rules *rules,
              struct golden_workload *workload)
{
    const uint64_t number = strtoull(golden->workload, NULL, 10);
    const uint64_t size = strtoull(golden->size, NULL, 10);
    const uint64_t two[] = {number, size};

    if (strcmp(golden->kind, "mean") == 0)
        return mean_of(golden, rules, workload);
    if (strcmp(golden->kind, "variance") == 0)
        return subjects_variance(rules, golden->rate, size);
    if (strcmp(golden->kind, "short") == 0)
        return subjects_short(rules, golden->rate, size, number);
    if (strcmp(golden->kind, "live") == 0)
        return subjects_live(rules, golden->rate, size);
    if (strcmp(golden->kind, "site-objects") == 0)
        return subjects_mixed_site(rules, golden->rate, two, 2).objects;
    if (strcmp(golden->kind, "site-bytes") == 0)
        return subjects_mixed_site(rules, golden->rate, two, 2).bytes;
    fail_msg("golden.csv: no kind %s", golden->kind);
    return NAN;
}

bool
golden_is(const struct golden *golden, double figure)
{
    return fabs(figure - golden->value) <= golden->tolerance * (1 + 1e-9);
}
