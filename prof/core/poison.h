/*
 * poison.h -- makes calls that the core must not make fail to compile. Every
 * file of the core includes it last. The build's check of symbols is the second
 * safeguard.
 */
#ifndef PROF_CORE_POISON_H
#define PROF_CORE_POISON_H

#pragma GCC poison malloc calloc realloc free
#pragma GCC poison printf fprintf snprintf puts
#pragma GCC poison clock_gettime gettimeofday time
#pragma GCC poison abort exit

#endif
