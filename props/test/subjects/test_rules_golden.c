/*
 * test_rules_golden.c -- our computation reproduces every figure of
 * fixtures/audit/golden.csv (golden.h).
 */
#include "golden.h"
#include "unit_test.h"

enum { WRONG_MOST = 5 }; /* then the test stops */

TEST(every_golden_number_is_reached)
{
    struct golden_workload workload = {0};
    struct golden golden;
    int rows = 0;
    int wrong = 0;
    FILE *file = golden_open();

    while (wrong < WRONG_MOST && golden_next(file, &golden)) {
        const double got = golden_figure(&golden, golden.rules, &workload);

        rows++;
        if (golden_is(&golden, got))
            continue;
        wrong++;
        print_error("%.9f instead of: %s", got, golden.line);
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
