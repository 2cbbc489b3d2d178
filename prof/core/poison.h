/*
 * poison.h -- included last by every file of the core: calls that the core must
 * not make do not compile. The symbol check of the build is the second
 * safeguard.
 */
#ifndef PROF_POISON_H
#define PROF_POISON_H

#pragma GCC poison malloc calloc realloc free
#pragma GCC poison printf fprintf snprintf puts
#pragma GCC poison clock_gettime gettimeofday time
#pragma GCC poison abort exit

#endif
