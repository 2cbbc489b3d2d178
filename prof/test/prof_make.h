/* prof_make.h -- instances for the tests of the core. */
#ifndef PROF_TEST_PROF_MAKE_H
#define PROF_TEST_PROF_MAKE_H

#include "prof/prof.h"

/* out: an instance in zeroed memory of just the right length; fails the test
 *      if there is none */
struct prof *props_prof_make(const struct prof_config *config);

/* Check an instance from props_prof_make(), and free its memory. */
void props_prof_drop(struct prof *prof);

#endif
