/*
 * registry.c -- profiles by name, and the entries of the profiles that an
 * embedder adds.
 *
 *      chains   [ 3 ][ 0 ][ 1 ] ...          by hash of (profile, key)
 *                 |         |
 *      entries    3 -> 5    1                number 0 is none
 *      stacks     3: pcs    1: pcs           depth_max words each
 *
 * Invariants
 *   I1  An entry number is in exactly one chain (open) or in the free list.
 *   I2  Two open entries of a profile never have the same key.
 *   I3  A profile's `open` is the number of its open entries.
 *   I4  The first BUILT_IN_COUNT profiles are the built-in ones; they have no
 *       entries.
 *
 * A call with wrong arguments returns a status and changes nothing.
 */
#include "prof/pprof/registry_fields.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "prof/core/atomic.h"
#include "prof/core/block.h"
#include "prof/core/assertion.h"
#include "prof/fork.h"
#include "prof/pprof/out.h"
#include "prof/core/poison.h"

static const char *const built_in[BUILT_IN_COUNT] = {
    "allocs", "block", "goroutine", "heap", "mutex", "threadcreate"};

/* ---- memory ---- */

struct layout {
    size_t profiles;
    size_t chains;
    size_t entries;
    size_t stacks;
    size_t end;
    uint32_t chains_log2;
    uint32_t depth_max;
};

enum { PROFILES_LIMIT = 1 << 16, ENTRIES_LIMIT = 1 << 24, DEPTH_DEFAULT = 32 };

static bool
layout_of(struct layout *layout, const struct prof_registry_config *config)
{
    const size_t entries = (size_t)config->entries_max + 1;

    if (config->profiles_max > PROFILES_LIMIT ||
        config->entries_max > ENTRIES_LIMIT ||
        config->depth_max > PROF_DEPTH_LIMIT)
        return false;
    layout->depth_max =
        config->depth_max != 0 ? config->depth_max : DEPTH_DEFAULT;
    layout->chains_log2 = log2_of((uint32_t)entries);
    layout->profiles = aligned(sizeof(struct prof_registry));
    layout->chains = layout->profiles +
                     aligned((BUILT_IN_COUNT + (size_t)config->profiles_max) *
                             sizeof(struct prof_profile));
    layout->entries =
        layout->chains + aligned(sizeof(uint32_t) << layout->chains_log2);
    layout->stacks =
        layout->entries + aligned(entries * sizeof(struct entry_slot));
    layout->end = layout->stacks +
                  aligned(entries * layout->depth_max * sizeof(uintptr_t));
    return true;
}

size_t
prof_registry_bytes_needed(const struct prof_registry_config *config)
{
    struct layout layout;

    return layout_of(&layout, config) ? layout.end : 0;
}

/* Append a profile. in: name, already checked */
static struct prof_profile *
append(struct prof_registry *registry, enum profile_kind kind, const char *name,
       size_t name_bytes)
{
    struct prof_profile *profile =
        &registry->profiles[registry->profiles_count];

    profile->registry = registry;
    profile->kind = kind;
    memset(profile->name, 0, sizeof profile->name);
    memcpy(profile->name, name, name_bytes);
    signal_fence(); /* what a fork copies is in this order */
    registry->profiles_count++;
    return profile;
}

enum prof_status
prof_registry_init(struct prof_registry **out,
                   const struct prof_registry_config *config, void *block,
                   size_t block_bytes)
{
    unsigned char *const base = block;
    struct prof_registry *registry = block;
    struct layout layout;

    if (!layout_of(&layout, config))
        return PROF_ERR_CONFIG;
    if (block_bytes < layout.end || (uintptr_t)block % PROF_BLOCK_ALIGN != 0)
        return PROF_ERR_MEMORY;
    memset(block, 0, layout.stacks);
    registry->sources = config->sources;
    if (registry->sources.ticks_per_second == 0)
        registry->sources.ticks_per_second = 1000000000;
    registry->lost = config->lost != 0 ? config->lost : 1;
    registry->profiles = (void *)(base + layout.profiles);
    registry->chains = (void *)(base + layout.chains);
    registry->entries = (void *)(base + layout.entries);
    registry->stacks = (void *)(base + layout.stacks);
    registry->profiles_max = BUILT_IN_COUNT + config->profiles_max;
    registry->entries_max = config->entries_max;
    registry->depth_max = layout.depth_max;
    registry->chains_log2 = layout.chains_log2;
    for (uint32_t i = config->entries_max; i > 0; i--) {
        registry->entries[i].next = registry->vacant;
        registry->vacant = i;
    }
    for (int i = 0; i < BUILT_IN_COUNT; i++)
        append(registry, (enum profile_kind)i, built_in[i],
               prof_text_bytes(built_in[i]));
    *out = registry;
    return PROF_OK;
}

/* ---- names ---- */

static int
compare_names(const char *a, const char *b)
{
    const size_t a_bytes = prof_text_bytes(a);
    const size_t b_bytes = prof_text_bytes(b);
    const int answer = memcmp(a, b, a_bytes < b_bytes ? a_bytes : b_bytes);

    if (answer != 0)
        return answer;
    return a_bytes < b_bytes ? -1 : a_bytes > b_bytes;
}

static struct prof_profile *
find_locked(struct prof_registry *registry, const char *name)
{
    for (uint32_t i = 0; i < registry->profiles_count; i++) {
        if (compare_names(registry->profiles[i].name, name) == 0)
            return &registry->profiles[i];
    }
    return NULL;
}

enum prof_status
prof_registry_new(struct prof_registry *registry, const char *name,
                  struct prof_profile **profile)
{
    const size_t bytes = prof_text_bytes(name);
    enum prof_status status = PROF_OK;

    if (bytes == 0 || bytes > PROF_NAME_MAX)
        return PROF_ERR_NAME;
    prof_port_lock_take(&registry->lock);
    if (find_locked(registry, name) != NULL)
        status = PROF_ERR_NAME_TAKEN;
    else if (registry->profiles_count == registry->profiles_max)
        status = PROF_ERR_MEMORY;
    else
        *profile = append(registry, PROFILE_OWN, name, bytes);
    prof_port_lock_release(&registry->lock);
    return status;
}

struct prof_profile *
prof_registry_find(struct prof_registry *registry, const char *name)
{
    struct prof_profile *profile;

    prof_port_lock_take(&registry->lock);
    profile = find_locked(registry, name);
    prof_port_lock_release(&registry->lock);
    return profile;
}

/* Insert where the names stay sorted. */
static void
insert_sorted(struct prof_profile **profiles, size_t count,
              struct prof_profile *profile)
{
    while (count > 0 &&
           compare_names(profile->name, profiles[count - 1]->name) < 0) {
        profiles[count] = profiles[count - 1];
        count--;
    }
    profiles[count] = profile;
}

enum prof_status
prof_registry_list(struct prof_registry *registry,
                   struct prof_profile **profiles, size_t profiles_max,
                   size_t *count)
{
    prof_port_lock_take(&registry->lock);
    *count = registry->profiles_count;
    prof_port_lock_release(&registry->lock);
    if (*count > profiles_max)
        return PROF_ERR_SHORT;
    /* What was there once stays there: no lock is needed to read it. */
    for (size_t i = 0; i < *count; i++)
        insert_sorted(profiles, i, &registry->profiles[i]);
    return PROF_OK;
}

const char *
prof_profile_name(const struct prof_profile *profile)
{
    return profile->name;
}

/* ---- entries ---- */

struct entry_key {
    const void *bytes;
    size_t bytes_count;
    uint32_t profile; /* index + 1 */
    uint32_t chain;
};

static struct entry_key
key_of(const struct prof_profile *profile, const void *bytes,
       size_t bytes_count)
{
    const struct prof_registry *registry = profile->registry;
    const uint32_t index = (uint32_t)(profile - registry->profiles);
    const uint64_t hash = XXH3_64bits_withSeed(bytes, bytes_count, index);

    return (struct entry_key){
        .bytes = bytes,
        .bytes_count = bytes_count,
        .profile = index + 1,
        .chain = (uint32_t)(hash >> (64 - registry->chains_log2)),
    };
}

/* returns: the link to the key's entry, or the 0 at the end of its chain */
static uint32_t *
find_link(struct prof_registry *registry, const struct entry_key *key)
{
    uint32_t *link = &registry->chains[key->chain];

    while (*link != 0) {
        const struct entry_slot *entry = &registry->entries[*link];

        if (entry->profile == key->profile &&
            entry->key_bytes == key->bytes_count &&
            (key->bytes_count == 0 ||
             memcmp(entry->key, key->bytes, key->bytes_count) == 0))
            break;
        link = &registry->entries[*link].next;
    }
    return link;
}

static void
fill_entry(struct prof_registry *registry, uint32_t number,
           const struct entry_key *key, const uintptr_t *stack, uint32_t depth)
{
    struct entry_slot *entry = &registry->entries[number];
    const uint32_t kept =
        depth < registry->depth_max ? depth : registry->depth_max;

    entry->profile = key->profile;
    entry->key_bytes = (uint16_t)key->bytes_count;
    if (key->bytes_count > 0)
        memcpy(entry->key, key->bytes, key->bytes_count);
    entry->depth = (uint16_t)kept;
    if (kept > 0)
        memcpy(entry_stack(registry, number), stack, kept * sizeof *stack);
}

enum prof_status
prof_profile_add(struct prof_profile *profile, const void *key,
                 size_t key_bytes, const uintptr_t *stack, uint32_t depth)
{
    struct prof_registry *registry = profile->registry;
    struct entry_key wanted;
    uint32_t *link;
    enum prof_status status = PROF_OK;

    if (profile->kind != PROFILE_OWN)
        return PROF_ERR_BUILT_IN;
    if (key_bytes > PROF_KEY_MAX)
        return PROF_ERR_KEY;
    wanted = key_of(profile, key, key_bytes);
    prof_port_lock_take(&registry->lock);
    link = find_link(registry, &wanted);
    if (*link != 0) {
        status = PROF_ERR_KEY_TAKEN;
    } else if (registry->vacant == 0) {
        status = PROF_ERR_MEMORY;
    } else {
        const uint32_t number = registry->vacant;

        registry->vacant = registry->entries[number].next;
        registry->entries[number].next = 0;
        fill_entry(registry, number, &wanted, stack, depth);
        signal_fence(); /* whole before it is open, also in a fork's copy */
        *link = number;
        profile->open++;
    }
    prof_port_lock_release(&registry->lock);
    return status;
}

enum prof_status
prof_profile_remove(struct prof_profile *profile, const void *key,
                    size_t key_bytes)
{
    struct prof_registry *registry = profile->registry;
    struct entry_key wanted;
    uint32_t *link;

    if (profile->kind != PROFILE_OWN)
        return PROF_ERR_BUILT_IN;
    /* A key that is too long equals no open entry's key. */
    wanted = key_of(profile, key, key_bytes);
    prof_port_lock_take(&registry->lock);
    link = find_link(registry, &wanted);
    if (*link != 0) {
        const uint32_t number = *link;
        struct entry_slot *entry = &registry->entries[number];

        *link = entry->next;
        signal_fence(); /* closed before it is free, also in a fork's copy */
        entry->next = registry->vacant;
        entry->profile = 0;
        registry->vacant = number;
        PROF_ASSERT(profile->open > 0); /* I3 */
        profile->open--;
    }
    prof_port_lock_release(&registry->lock);
    return PROF_OK;
}

/* ---- a fork ---- */

/* A flag above the index of an entry's profile: the entry is in a chain. */
#define IN_CHAIN (UINT32_C(1) << 31)

static void
count_open(struct prof_registry *registry)
{
    for (uint32_t i = registry->profiles_count; i-- > 0;)
        registry->profiles[i].open = 0;
    for (uint32_t chain = 0; chain >> registry->chains_log2 == 0; chain++) {
        for (uint32_t at = registry->chains[chain]; at != 0;
             at = registry->entries[at].next) {
            registry->profiles[registry->entries[at].profile - 1].open++;
            registry->entries[at].profile |= IN_CHAIN;
        }
    }
}

static void
free_the_rest(struct prof_registry *registry)
{
    registry->vacant = 0;
    for (uint32_t i = registry->entries_max; i > 0; i--) {
        struct entry_slot *entry = &registry->entries[i];

        if ((entry->profile & IN_CHAIN) != 0) {
            entry->profile &= ~IN_CHAIN;
            continue;
        }
        entry->profile = 0;
        entry->next = registry->vacant;
        registry->vacant = i;
    }
}

/*
 * The chains are valid at each moment: one store links a complete entry, and
 * one store unlinks it. The free list and the counts are rebuilt from them.
 */
void
prof_registry_after_fork_child(struct prof_registry *registry)
{
    prof_port_lock_reset(&registry->lock);
    count_open(registry);
    free_the_rest(registry);
}
