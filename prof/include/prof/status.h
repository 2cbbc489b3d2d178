/*
 * prof/status.h -- what every control call returns.
 *
 * PROF_OK is zero. Callers must check: ignoring a status is a warning.
 */
#ifndef PROF_STATUS_H
#define PROF_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum prof_status {
#define PROF_X(name, text) name,
#include "prof/status.def"
#undef PROF_X
    PROF_STATUS_COUNT
};

#define PROF_NODISCARD __attribute__((warn_unused_result))

/* returns: a lower-case English text for `status`, never NULL */
const char *prof_status_text(enum prof_status status);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
