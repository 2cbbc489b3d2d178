/*
 * hash.c -- the hashes of hash.h.
 *
 * Go's hash is a dependent chain of 3 operations per frame. Its top bits are
 * poor: many similar stacks share them. So the hash is multiplied by an odd
 * number before use, which keeps equal hashes equal and different ones
 * different. The multilinear hash is in the header.
 */
#include "prof/core/hash.h"

#include "prof/core/assertion.h"
#include "prof/core/poison.h"

/* Odd, so that multiplication by it permutes the 64-bit words. */
#define SPREAD 0x9e3779b97f4a7c15U

static inline uint64_t
mix_go_64(uint64_t h, uint64_t word)
{
    h += word;
    h += h << 10;
    return h ^ (h >> 6);
}

uint64_t
prof_hash_go_64(const uintptr_t *frames, uint32_t depth, uint64_t size_bytes)
{
    uint64_t h = 0;

    for (uint32_t i = 0; i < depth; i++)
        h = mix_go_64(h, frames[i]);
    h = mix_go_64(h, size_bytes);
    h += h << 3;
    return h ^ (h >> 11);
}

static inline uint32_t
mix_go_32(uint32_t h, uint32_t word)
{
    h += word;
    h += h << 10;
    return h ^ (h >> 6);
}

uint32_t
prof_hash_go_32(const uintptr_t *frames, uint32_t depth, uint64_t size_bytes)
{
    uint32_t h = 0;

    for (uint32_t i = 0; i < depth; i++)
        h = mix_go_32(h, (uint32_t)frames[i]);
    h = mix_go_32(h, (uint32_t)size_bytes);
    h += h << 3;
    return h ^ (h >> 11);
}

uint64_t
prof_hash_stack(enum prof_hash hash, const uintptr_t *frames, uint32_t depth,
                uint64_t size_bytes)
{
    switch (hash) {
    case PROF_HASH_MULTILINEAR:
        return prof_hash_multilinear(frames, depth, size_bytes);
    case PROF_HASH_GO_64:
        return prof_hash_go_64(frames, depth, size_bytes) * SPREAD;
    case PROF_HASH_GO_32:
        return prof_hash_go_32(frames, depth, size_bytes) * SPREAD;
    case PROF_HASH_COUNT:
        break;
    }
    PROF_UNREACHABLE();
}
