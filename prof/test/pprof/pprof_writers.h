/* pprof_writers.h -- every writer of a profile, in one list. */
#ifndef PROF_TEST_PPROF_PPROF_WRITERS_H
#define PROF_TEST_PPROF_PPROF_WRITERS_H

#include <stddef.h>

#include "prof/pprof.h"

struct pprof_writer {
    const char *what;
    /* Write a few records. The first writer in the list writes a heap profile
     * as profile.proto. */
    enum prof_status (*write)(const struct prof_output *output);
};

extern const struct pprof_writer pprof_writers[];
extern const size_t pprof_writers_count;

#endif
