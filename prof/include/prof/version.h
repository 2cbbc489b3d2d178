/*
 * prof/version.h -- the version of the library. Everything else that states it
 * (file names, prof.pc, man pages, `profsim version`) takes it from here.
 *
 * Before 1.0 a new minor version may change the interface; a new patch version
 * does not.
 */
#ifndef PROF_VERSION_H
#define PROF_VERSION_H

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

#define PROF_VERSION_MAJOR 0
#define PROF_VERSION_MINOR 2
#define PROF_VERSION_PATCH 0

#define PROF_VERSION_QUOTE_(major, minor, patch) #major "." #minor "." #patch
#define PROF_VERSION_TEXT_(major, minor, patch) \
    PROF_VERSION_QUOTE_(major, minor, patch)

/* "MAJOR.MINOR.PATCH" of the headers that a program is compiled with. */
#define PROF_VERSION                                           \
    PROF_VERSION_TEXT_(PROF_VERSION_MAJOR, PROF_VERSION_MINOR, \
                       PROF_VERSION_PATCH)

/* returns: PROF_VERSION of the library that the program runs with */
const char *prof_version(void);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
