/* check_near.h -- assert that two figures are nearly equal; else print both. */
#ifndef SUBJECTS_TEST_CHECK_NEAR_H
#define SUBJECTS_TEST_CHECK_NEAR_H

#include <math.h>

#define CHECK_NEAR(got, want, tolerance, ...)                                 \
    do {                                                                      \
        if (!(fabs((got) - (want)) <= (tolerance))) {                         \
            print_error(__VA_ARGS__);                                         \
            fail_msg(": %.9f, expected %.9f", (double)(got), (double)(want)); \
        }                                                                     \
    } while (0)

#endif
