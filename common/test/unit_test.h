/*
 * unit_test.h -- the frame of a test program: tests named as sentences, and a
 * main() that runs those of all its files.
 *
 *      TEST(a_free_counts_once)
 *      {
 *          assert_int_equal(...);
 *      }
 *
 *      int
 *      main(void)
 *      {
 *          return tests_run(NULL, NULL);
 *      }
 *
 * tests_run() runs every TEST() of the program, file by file, in the order in
 * which they stand there. TEST_FILTER=NAME in the environment runs that test
 * only; * and ? match any characters.
 */
#ifndef COMMON_TEST_UNIT_TEST_H
#define COMMON_TEST_UNIT_TEST_H

/* cmocka.h needs the first four headers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

enum { TESTS_MAX = 256 };

struct tests_place {
    const char *file;
    int line;
};

/* Weak: the files of a program share them. */
__attribute__((weak)) struct CMUnitTest tests_added[TESTS_MAX];
__attribute__((weak)) struct tests_place tests_places[TESTS_MAX];
__attribute__((weak)) size_t tests_count;

/* Constructors run in no fixed order, so tests are sorted by their places. */
static inline void
tests_add(struct CMUnitTest test, struct tests_place place)
{
    size_t at = tests_count++;

    if (at == TESTS_MAX)
        abort();
    for (; at > 0; at--) {
        const int order = strcmp(tests_places[at - 1].file, place.file);

        if (order < 0 || (order == 0 && tests_places[at - 1].line < place.line))
            break;
        tests_added[at] = tests_added[at - 1];
        tests_places[at] = tests_places[at - 1];
    }
    tests_added[at] = test;
    tests_places[at] = place;
}

#define TEST(name) TEST_WITH(NULL, NULL, name)

/* TEST() with a set-up before the test and a teardown after it. */
#define TEST_WITH(setup, teardown, name)                                   \
    static void name(void **state);                                        \
    __attribute__((constructor)) static void name##_add(void)              \
    {                                                                      \
        tests_add((struct CMUnitTest){#name, name, setup, teardown, NULL}, \
                  (struct tests_place){__FILE__, __LINE__});               \
    }                                                                      \
    static void name(__attribute__((unused)) void **state)

/*
 * in:      setup before the first test and teardown after the last, or NULL
 * returns: how many failed
 */
static inline int
tests_run(CMFixtureFunction setup, CMFixtureFunction teardown)
{
    cmocka_set_test_filter(getenv("TEST_FILTER"));
    return _cmocka_run_group_tests("tests", tests_added, tests_count, setup,
                                   teardown);
}

#endif
