/* hash.h -- hashes of a bucket's key: what it sums up is (size, stack). */
#ifndef PROF_HASH_H
#define PROF_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "prof/prof.h"

/*
 * The one-at-a-time hash of the Go runtime, over frames and then size.
 * Vectors: docs/semantics.md, "Hash".
 */
uint64_t prof_hash_go_64(const uintptr_t *frames, uint32_t depth,
                         uint64_t size_bytes);
uint32_t prof_hash_go_32(const uintptr_t *frames, uint32_t depth,
                         uint64_t size_bytes);

/*
 * returns: 64 bits, good at both ends whatever the hash: the table takes its
 *          index from the top and its tag from the bottom
 */
uint64_t prof_hash_stack(enum prof_hash hash, const uintptr_t *frames,
                         uint32_t depth, uint64_t size_bytes);

#endif
