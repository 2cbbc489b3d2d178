/* registry_fields.h -- the fields of struct prof_registry, for the two files
 * that use them. */
#ifndef PROF_PPROF_REGISTRY_FIELDS_H
#define PROF_PPROF_REGISTRY_FIELDS_H

#include "prof/port.h"
#include "prof/registry.h"

/* What a profile shows, in the order of its built-in names. */
enum profile_kind {
    PROFILE_ALLOCS,
    PROFILE_BLOCK,
    PROFILE_GOROUTINE,
    PROFILE_HEAP,
    PROFILE_MUTEX,
    PROFILE_THREADCREATE,
    PROFILE_OWN /* added by the embedder */
};

enum { BUILT_IN_COUNT = PROFILE_OWN };

struct prof_profile {
    struct prof_registry *registry; /* immutable, as are kind and name */
    enum profile_kind kind;
    size_t open; /* entries; guarded by the registry's lock */
    char name[PROF_NAME_MAX + 1];
};

struct entry_slot {
    uint32_t next;    /* next entry of the chain or free list; 0: none */
    uint32_t profile; /* index of its profile + 1; 0: free */
    uint16_t depth;
    uint16_t key_bytes;
    unsigned char key[PROF_KEY_MAX];
};

struct prof_registry {
    struct prof_sources sources; /* immutable, as are the sizes and arrays */
    uintptr_t lost;
    struct prof_profile *profiles;
    uint32_t *chains;           /* entry numbers, by hash of the key */
    struct entry_slot *entries; /* number 0 is none */
    uintptr_t *stacks;          /* depth_max of each entry */
    uint32_t profiles_max;      /* built-in ones included */
    uint32_t entries_max;
    uint32_t depth_max;
    uint32_t chains_log2;
    struct prof_port_lock lock; /* guards what follows, and all entries */
    uint32_t profiles_count;    /* only grows */
    uint32_t vacant;            /* first free entry; 0: none */
};

static inline uintptr_t *
entry_stack(const struct prof_registry *registry, uint32_t number)
{
    return &registry->stacks[(size_t)number * registry->depth_max];
}

#endif
