/* symbol_cache.c -- see symbol_cache.h. */
#include "symbol_cache.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "map.h"

enum { ID_BYTES_MAX = 64, OFFSET_BITS = 48, FILES_MAX = 1 << 15 };

struct file {
    char *path;
    uint8_t id[ID_BYTES_MAX];
    uint32_t id_bytes;
};

/* The symbols of one address. Their texts follow each other in one block. */
struct entry {
    uint32_t count;
    struct cli_symbol symbols[];
};

struct cli_symbol_cache {
    struct file *files;
    uint32_t files_count;
    struct entry **entries;
    uint64_t entries_count;
    uint64_t entries_room;
    struct cli_map number_of; /* file and offset -> number in entries */
};

struct cli_symbol_cache *
cli_symbol_cache_open(void)
{
    return calloc(1, sizeof(struct cli_symbol_cache));
}

void
cli_symbol_cache_close(struct cli_symbol_cache *cache)
{
    if (cache == NULL)
        return;
    for (uint64_t i = 0; i < cache->entries_count; i++)
        free(cache->entries[i]);
    for (uint32_t i = 0; i < cache->files_count; i++)
        free(cache->files[i].path);
    free(cache->entries);
    free(cache->files);
    cli_map_release(&cache->number_of);
    free(cache);
}

static uint32_t
add_file(struct cli_symbol_cache *cache, const char *path, const uint8_t *id,
         uint32_t id_bytes)
{
    struct file *const grown =
        cache->files_count < FILES_MAX - 1
            ? realloc(cache->files, (cache->files_count + 1) * sizeof *grown)
            : NULL;
    struct file file = {.id_bytes = id_bytes};

    if (grown == NULL)
        return 0;
    cache->files = grown;
    file.path = strdup(path);
    if (file.path == NULL)
        return 0;
    memcpy(file.id, id, id_bytes);
    cache->files[cache->files_count] = file;
    return ++cache->files_count;
}

uint32_t
cli_symbol_cache_file(struct cli_symbol_cache *cache, const char *path,
                      const uint8_t *id, uint32_t id_bytes)
{
    if (cache == NULL || id_bytes == 0 || id_bytes > ID_BYTES_MAX)
        return 0;
    for (uint32_t i = 0; i < cache->files_count; i++)
        if (cache->files[i].id_bytes == id_bytes &&
            memcmp(cache->files[i].id, id, id_bytes) == 0 &&
            strcmp(cache->files[i].path, path) == 0)
            return i + 1;
    return add_file(cache, path, id, id_bytes);
}

/* returns: 0 if it has none */
static uint64_t
key_of(uint32_t file, uint64_t offset)
{
    return file != 0 && offset >> OFFSET_BITS == 0
               ? (uint64_t)file << OFFSET_BITS | offset
               : 0;
}

uint32_t
cli_symbol_cache_get(const struct cli_symbol_cache *cache, uint32_t file,
                     uint64_t offset, struct cli_symbol *found)
{
    const uint64_t key = key_of(file, offset);
    uint64_t number;

    if (key == 0)
        return 0;
    number = cli_map_get(&cache->number_of, key);
    if (number == CLI_MAP_NONE)
        return 0;
    memcpy(found, cache->entries[number]->symbols,
           cache->entries[number]->count * sizeof *found);
    return cache->entries[number]->count;
}

static const char *
copy_text(char **to, const char *text)
{
    char *const copy = *to;
    const size_t bytes = strlen(text) + 1;

    memcpy(copy, text, bytes);
    *to += bytes;
    return copy;
}

/* returns: NULL if there is no memory */
static struct entry *
make_entry(const struct cli_symbol *found, uint32_t count)
{
    const size_t head_bytes = sizeof(struct entry) + count * sizeof *found;
    size_t bytes = head_bytes;
    struct entry *entry;
    char *to;

    for (uint32_t i = 0; i < count; i++)
        bytes += strlen(found[i].function) + strlen(found[i].file) + 2;
    entry = malloc(bytes);
    if (entry == NULL)
        return NULL;
    entry->count = count;
    memcpy(entry->symbols, found, count * sizeof *found);
    to = (char *)entry + head_bytes;
    for (uint32_t i = 0; i < count; i++) {
        entry->symbols[i].function = copy_text(&to, found[i].function);
        entry->symbols[i].file = copy_text(&to, found[i].file);
    }
    return entry;
}

void
cli_symbol_cache_put(struct cli_symbol_cache *cache, uint32_t file,
                     uint64_t offset, const struct cli_symbol *found,
                     uint32_t count)
{
    const uint64_t key = key_of(file, offset);
    struct entry *entry;

    if (key == 0)
        return;
    if (cache->entries_count == cache->entries_room) {
        const uint64_t room = cache->entries_room * 2 + 1024;
        struct entry **const grown =
            realloc(cache->entries, room * sizeof(struct entry *));

        if (grown == NULL)
            return;
        cache->entries = grown;
        cache->entries_room = room;
    }
    entry = make_entry(found, count);
    if (entry == NULL ||
        !cli_map_put(&cache->number_of, key, cache->entries_count)) {
        free(entry);
        return;
    }
    cache->entries[cache->entries_count++] = entry;
}
