/*
 * faulty_prof.h -- a library with a fault that the test chooses, to test the
 * judges.
 *
 * A program that links faulty_prof.o with the options in faulty_prof.wrap calls
 * the library through it. Each fault changes one result, which one property
 * checks.
 */
#ifndef PROPS_TEST_FAULTY_PROF_H
#define PROPS_TEST_FAULTY_PROF_H

#include <stdbool.h>

enum faulty_kind {
#define X(id, property, text) FAULTY_##id,
#include "props/test/faulty_prof.def"
#undef X
    FAULTY_COUNT
};

/* Have these faults from now on, FAULTY_NONE for none. */
void faulty_prof_show(enum faulty_kind kind, enum faulty_kind another);

#endif
