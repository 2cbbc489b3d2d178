/*
 * assertion.h -- assertions of the core.
 *
 * PROF_ASSERT is always compiled in. Conditions take O(1) and have no side
 * effects. They protect memory from our own mistakes and from broken contracts;
 * bad data is an error, not an assertion.
 */
#ifndef PROF_CORE_ASSERTION_H
#define PROF_CORE_ASSERTION_H

#include "prof/port.h"

#define PROF_ASSERT(condition) \
    ((condition) ? (void)0 : prof_port_panic(__FILE__, __LINE__, #condition))

#define PROF_UNREACHABLE() prof_port_panic(__FILE__, __LINE__, "unreachable")

#endif
