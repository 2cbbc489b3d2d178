/* run_tests.c -- main() of a test program of several files. */
#include "common/test/unit_test.h"

int
main(void)
{
    return tests_run(NULL, NULL);
}
