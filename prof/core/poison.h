/*
 * poison.h -- included last by every file of the core: what it must not call
 * does not compile. The symbol check of the build is the second lock.
 */
#ifndef PROF_POISON_H
#define PROF_POISON_H

#pragma GCC poison malloc calloc realloc free
#pragma GCC poison printf fprintf snprintf puts
#pragma GCC poison clock_gettime gettimeofday time
#pragma GCC poison abort exit

#endif
