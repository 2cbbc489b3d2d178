/*
 * check.h -- assertions of the core.
 *
 * PROF_ASSERT is always compiled in: O(1), no side effects; it guards memory.
 * It catches our own mistakes and broken contracts, never bad data.
 */
#ifndef PROF_CHECK_H
#define PROF_CHECK_H

#include "prof/port.h"

#define PROF_ASSERT(condition) \
    ((condition) ? (void)0 : prof_port_panic(__FILE__, __LINE__, #condition))

#define PROF_UNREACHABLE() prof_port_panic(__FILE__, __LINE__, "unreachable")

#endif
