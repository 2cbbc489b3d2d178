/*
 * prof/registry.h -- profiles by name.
 *
 * Six are built in: heap, allocs, block, mutex, goroutine, threadcreate. An
 * embedder can add profiles that count open things (files, connections): it
 * opens and closes entries, each with a key of its choice and the stack that
 * opened it. docs/profiles.md, "Registry".
 *
 * All calls may be made from any thread, but not from a signal handler.
 */
#ifndef PROF_REGISTRY_H
#define PROF_REGISTRY_H

#include "prof/pprof.h"
#include "prof/text.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct prof_registry; /* opaque */
struct prof_profile;  /* opaque; lives as long as its registry */

enum {
    PROF_NAME_MAX = 63, /* bytes of a profile's name */
    PROF_KEY_MAX = 64   /* bytes of an entry's key */
};

/* A function that lists goroutines (tasks) or threads. */
struct prof_tasks {
    /*
     * List the current tasks or threads, each with its current stack.
     *
     * out, returns: as prof_heap_snapshot(). Stacks and labels stay valid until
     *               the profile is written.
     */
    enum prof_status (*list)(void *context, struct prof_count_record *records,
                             size_t records_max, size_t *count);
    void *context;
};

/* What the built-in profiles show. A profile whose source is zero is empty. */
struct prof_sources {
    struct prof *prof;
    const struct prof_rules *rules; /* of prof; NULL: &prof_rules_exact */
    uint64_t ticks_per_second;      /* of contention; 0: 1000000000 */
    struct prof_tasks goroutines;
    struct prof_tasks threads;
    struct prof_dump dump; /* of all goroutines: `goroutine` at debug 2 */
    /* Fill in the counters at the end of heap texts; NULL: none are printed. */
    void (*count_heap)(void *context, struct prof_heap_counters *counters);
    void *count_heap_context;
};

struct prof_registry_config {
    struct prof_sources sources;
    uint32_t profiles_max; /* besides the built-in ones */
    uint32_t entries_max;  /* of all profiles together */
    uint32_t depth_max;    /* frames kept of a stack; 0: 32 */
    uintptr_t lost;        /* as in struct prof_output */
};

/* returns: bytes that prof_registry_init() needs, 0 for a wrong configuration
 */
size_t prof_registry_bytes_needed(const struct prof_registry_config *config);

/*
 * Build a registry inside `block`.
 *
 * in:      block, aligned to PROF_BLOCK_ALIGN; the registry's from now on
 * returns: PROF_OK, PROF_ERR_CONFIG, PROF_ERR_MEMORY; on error nothing is
 *          touched
 */
PROF_NODISCARD enum prof_status
prof_registry_init(struct prof_registry **registry,
                   const struct prof_registry_config *config, void *block,
                   size_t block_bytes);

/*
 * Create a profile. It cannot be removed.
 *
 * in:      name, 1 .. PROF_NAME_MAX bytes, copied
 * returns: PROF_OK, PROF_ERR_NAME, PROF_ERR_NAME_TAKEN (a built-in name,
 *          too), PROF_ERR_MEMORY (profiles_max); on error nothing changes
 */
PROF_NODISCARD enum prof_status
prof_registry_new(struct prof_registry *registry, const char *name,
                  struct prof_profile **profile);

/* returns: the profile of that name, NULL if there is none */
struct prof_profile *prof_registry_find(struct prof_registry *registry,
                                        const char *name);

/*
 * List all profiles, sorted by the bytes of their names.
 *
 * out:     profiles[0 .. *count), if it fits; *count in any case
 * returns: PROF_OK, PROF_ERR_SHORT
 */
PROF_NODISCARD enum prof_status
prof_registry_list(struct prof_registry *registry,
                   struct prof_profile **profiles, size_t profiles_max,
                   size_t *count);

/* returns: its name, valid as long as the registry */
const char *prof_profile_name(const struct prof_profile *profile);

/*
 * out:     *count, entries of the profile; of a built-in one, its records
 * returns: PROF_OK, or the status of a source
 */
PROF_NODISCARD enum prof_status prof_profile_count(struct prof_profile *profile,
                                                   size_t *count);

/*
 * Open an entry.
 *
 * in:      key, up to PROF_KEY_MAX bytes of any content, copied
 *          stack, leaf first, cut at depth_max; an empty one becomes `lost`
 * returns: PROF_OK, PROF_ERR_BUILT_IN, PROF_ERR_KEY (too long),
 *          PROF_ERR_KEY_TAKEN (already open), PROF_ERR_MEMORY (entries_max); on
 *          error nothing changes
 */
PROF_NODISCARD enum prof_status
prof_profile_add(struct prof_profile *profile, const void *key,
                 size_t key_bytes, const uintptr_t *stack, uint32_t depth);

/*
 * Close an entry; does nothing if it is not open.
 *
 * returns: PROF_OK, PROF_ERR_BUILT_IN
 */
PROF_NODISCARD enum prof_status
prof_profile_remove(struct prof_profile *profile, const void *key,
                    size_t key_bytes);

/*
 * Write a profile.
 *
 * in:      debug, 0: profile.proto; above 0: text, and for `goroutine` above 1
 *          the dump; below 0: as 0, but heap and allocs as text
 * returns: as the writers of prof/pprof.h and prof/text.h; also PROF_ERR_MEMORY
 *          if the scratch is too small for the records and the writer, and
 *          PROF_ERR_BUSY if records kept arriving faster than they could be
 *          read
 */
PROF_NODISCARD enum prof_status
prof_profile_write(struct prof_profile *profile,
                   const struct prof_output *output, int debug);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
