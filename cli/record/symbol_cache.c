/* symbol_cache.c -- see symbol_cache.h. */
#include "symbol_cache.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "items.h"
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
    struct cli_items files;   /* struct file */
    struct cli_items entries; /* struct entry * */
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
    struct entry **entries;
    struct file *files;

    if (cache == NULL)
        return;
    entries = cache->entries.items;
    files = cache->files.items;
    for (size_t i = 0; i < cache->entries.count; i++)
        free(entries[i]);
    for (size_t i = 0; i < cache->files.count; i++)
        free(files[i].path);
    free(entries);
    free(files);
    cli_map_release(&cache->number_of);
    free(cache);
}

static uint32_t
add_file(struct cli_symbol_cache *cache, const char *path, const uint8_t *id,
         uint32_t id_bytes)
{
    char *const copy = strdup(path);
    struct file *file =
        copy != NULL ? cli_items_add(&cache->files, sizeof *file) : NULL;

    if (file == NULL) {
        free(copy);
        return 0;
    }
    file->path = copy;
    file->id_bytes = id_bytes;
    memcpy(file->id, id, id_bytes);
    return (uint32_t)cache->files.count;
}

uint32_t
cli_symbol_cache_file(struct cli_symbol_cache *cache, const char *path,
                      const uint8_t *id, uint32_t id_bytes)
{
    const struct file *files;
    uint32_t count;

    if (cache == NULL || id_bytes == 0 || id_bytes > ID_BYTES_MAX)
        return 0;
    files = cache->files.items;
    count = (uint32_t)cache->files.count;
    for (uint32_t i = 0; i < count; i++)
        if (files[i].id_bytes == id_bytes &&
            memcmp(files[i].id, id, id_bytes) == 0 &&
            strcmp(files[i].path, path) == 0)
            return i + 1;
    return count < FILES_MAX - 1 ? add_file(cache, path, id, id_bytes) : 0;
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
    const uint64_t number =
        cache != NULL ? cli_map_get(&cache->number_of, key) : CLI_MAP_NONE;
    const struct entry *entry;

    if (number == CLI_MAP_NONE)
        return 0;
    entry = ((struct entry **)cache->entries.items)[number];
    memcpy(found, entry->symbols, entry->count * sizeof *found);
    return entry->count;
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
    struct entry **slot;
    struct entry *entry;

    if (key == 0)
        return;
    slot = cli_items_add(&cache->entries, sizeof(struct entry *));
    if (slot == NULL)
        return;
    entry = make_entry(found, count);
    *slot = entry;
    if (entry != NULL)
        (void)cli_map_put(&cache->number_of, key, cache->entries.count - 1);
}
