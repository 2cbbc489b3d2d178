/*
 * test_rules_golden.c -- our computation reproduces every figure of
 * fixtures/audit/golden.csv, which were computed elsewhere.
 *
 * build: cflags=-O2
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "subjects/figures.h"
#include "common/test/unit_test.h"
#include "subjects/workloads.h"

enum { WRONG_MOST = 5 }; /* then the test stops */

struct golden {
    char line[256];
    char kind[16];
    uint64_t rate;
    const struct subjects_rules *rules;
    char workload[16];
    char size[16];
    double value;
    double tolerance;
};

/* A workload, enumerated once for all of its rows. Start with {0}. */
struct golden_workload {
    const struct subjects_rules *rules;
    uint64_t rate;
    int number;
    size_t count;
    uint64_t sizes[SUBJECTS_PERIOD_MAX];
    double mean[SUBJECTS_PERIOD_MAX];
};

/* A line is "kind,rate,rules,workload,size,value,tolerance". */
static bool
golden_next(FILE *file, struct golden *golden)
{
    char name[32];

    if (fgets(golden->line, sizeof golden->line, file) == NULL)
        return false;
    if (sscanf(golden->line,
               "%15[^,],%" SCNu64 ",%31[^,],%15[^,],%15[^,],%lf,%lf",
               golden->kind, &golden->rate, name, golden->workload,
               golden->size, &golden->value, &golden->tolerance) != 7)
        fail_msg("golden.csv: not a row: %s", golden->line);
    golden->rules = subjects_rules_find(name);
    if (golden->rules == NULL)
        fail_msg("golden.csv: no rules %s", name);
    return true;
}

static double
mean_of(const struct golden *golden, struct golden_workload *workload)
{
    const struct subjects_rules *rules = golden->rules;
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

static double
golden_figure(const struct golden *golden, struct golden_workload *workload)
{
    const struct subjects_rules *rules = golden->rules;
    const uint64_t number = strtoull(golden->workload, NULL, 10);
    const uint64_t size = strtoull(golden->size, NULL, 10);
    const uint64_t two[] = {number, size};

    if (strcmp(golden->kind, "mean") == 0)
        return mean_of(golden, workload);
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

TEST(every_golden_number_is_reached)
{
    struct golden_workload workload = {0};
    struct golden golden;
    int rows = 0;
    int wrong = 0;
    FILE *file = fopen("fixtures/audit/golden.csv", "r");

    assert_non_null(file);
    assert_non_null(fgets(golden.line, sizeof golden.line, file));
    while (wrong < WRONG_MOST && golden_next(file, &golden)) {
        const double got = golden_figure(&golden, &workload);

        rows++;
        if (fabs(got - golden.value) <= golden.tolerance * (1 + 1e-9))
            continue;
        wrong++;
        print_error("%.9f instead of: %s", got, golden.line);
    }
    (void)fclose(file);
    assert_int_equal(wrong, 0);
    assert_true(rows > 120);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
