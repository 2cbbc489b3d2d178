/*
 * assumptions.h -- what the core assumes about the machine.
 */
#ifndef PROF_CORE_ASSUMPTIONS_H
#define PROF_CORE_ASSUMPTIONS_H

#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>

_Static_assert(CHAR_BIT == 8, "wire formats count octets");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "varints are stored as words");
_Static_assert(sizeof(uintptr_t) == 8, "a frame is one 64-bit word");
_Static_assert(sizeof(uintptr_t) == sizeof(uint64_t), "frames are hashed so");
_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2 && ATOMIC_INT_LOCK_FREE == 2,
               "64-bit and 32-bit atomics take no lock");
_Static_assert(sizeof(_Atomic uint64_t) == 8, "counters are packed");

#endif
