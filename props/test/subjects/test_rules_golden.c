/*
 * test_rules_golden.c -- every figure of fixtures/audit/golden.csv, which
 * others have computed, is reached.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "figures.h"
#include "unit_test.h"
#include "workloads.h"

enum { WRONG_MOST = 5 }; /* the rest is not tried then */

struct golden {
    char kind[16];
    uint64_t rate;
    const struct subjects_rules *rules;
    char workload[16];
    char size[16];
    double value;
    double tolerance;
};

/* The row of a line "kind,rate,rules,workload,size,value,tolerance,corrected":
 * the last, if there is one, stands for the value (docs/subjects.md, "Where the
 * source is wrong"). */
static void
parse(const char *line, struct golden *golden)
{
    const char *corrected = strrchr(line, ',');
    char name[32];

    if (sscanf(line, "%15[^,],%" SCNu64 ",%31[^,],%15[^,],%15[^,],%lf,%lf",
               golden->kind, &golden->rate, name, golden->workload,
               golden->size, &golden->value, &golden->tolerance) != 7)
        fail_msg("golden.csv: not a row: %s", line);
    if (corrected[1] != '\n')
        golden->value = strtod(corrected + 1, NULL);
    golden->rules = subjects_rules_find(name);
    if (golden->rules == NULL)
        fail_msg("golden.csv: no rules %s", name);
}

/* A workload is enumerated once for all of its rows. */
static double
mean_of(const struct golden *golden)
{
    static const struct subjects_rules *rules;
    static uint64_t rate;
    static int number;
    static size_t count;
    static uint64_t sizes[SUBJECTS_PERIOD_MAX];
    static double mean[SUBJECTS_PERIOD_MAX];
    const uint64_t size = strtoull(golden->size, NULL, 10); /* total: 0 */
    double estimated = 0;
    double truth = 0;

    if (golden->rules != rules || golden->rate != rate ||
        atoi(&golden->workload[1]) != number) {
        rules = golden->rules;
        rate = golden->rate;
        number = atoi(&golden->workload[1]);
        count = subjects_workload(number, rate, sizes);
        subjects_mean(rules, rate, sizes, count, mean);
    }
    for (size_t i = 0; i < count; i++) {
        if (size == 0 || sizes[i] == size) {
            estimated += mean[i];
            truth += (double)sizes[i];
        }
    }
    return estimated / truth;
}

static double
figure(const struct golden *golden)
{
    const uint64_t number = strtoull(golden->workload, NULL, 10);
    const uint64_t size = strtoull(golden->size, NULL, 10);
    const uint64_t two[] = {number, size};

    if (strcmp(golden->kind, "mean") == 0)
        return mean_of(golden);
    if (strcmp(golden->kind, "variance") == 0)
        return subjects_variance(golden->rules, golden->rate, size);
    if (strcmp(golden->kind, "short") == 0)
        return subjects_short(golden->rules, golden->rate, size, number);
    if (strcmp(golden->kind, "live") == 0)
        return subjects_live(golden->rules, golden->rate, size);
    if (strcmp(golden->kind, "site-objects") == 0)
        return subjects_mixed_site(golden->rules, golden->rate, two, 2).objects;
    if (strcmp(golden->kind, "site-bytes") == 0)
        return subjects_mixed_site(golden->rules, golden->rate, two, 2).bytes;
    fail_msg("golden.csv: no kind %s", golden->kind);
    return NAN;
}

TEST(every_golden_number_is_reached)
{
    char line[256];
    int rows = 0;
    int wrong = 0;
    FILE *file = fopen("fixtures/audit/golden.csv", "r");

    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    while (wrong < WRONG_MOST && fgets(line, sizeof line, file) != NULL) {
        struct golden golden;
        double got;

        parse(line, &golden);
        got = figure(&golden);
        rows++;
        if (fabs(got - golden.value) <= golden.tolerance * (1 + 1e-9))
            continue;
        wrong++;
        print_error("%.9f instead of: %s", got, line);
    }
    (void)fclose(file);
    assert_int_equal(wrong, 0);
    assert_true(rows > 600);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
