/*
 * modules.c -- finds out which module was at an address at which time.
 *
 * The log begins a new epoch whenever a module is unloaded, and then logs the
 * modules of its stacks again. A module that is logged again unchanged is the
 * same module. A different module at the same address gets a layer of its own
 * (CLI_LAYER_BITS).
 */
#include "record/convert/conversion.h"

#include <string.h>

enum { LAYERS_MAX = 0x7fff };

/* returns: a hash of the record without its first word, equal for equal
 * mappings */
static uint64_t
identity_of(const struct cli_conversion *convert, uint64_t offset)
{
    const struct embed_record *record = (const void *)(convert->bytes + offset);
    const uint64_t *words = cli_conversion_words(convert, offset);
    uint64_t hash = record->words;

    for (uint32_t i = 0; i + 1 < record->words; i++) {
        hash = (hash ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    return hash | 1; /* 0 is no key */
}

static bool
is_same(const struct cli_conversion *convert, uint64_t one, uint64_t other)
{
    const struct embed_record *a = (const void *)(convert->bytes + one);
    const struct embed_record *b = (const void *)(convert->bytes + other);

    return a->words == b->words && memcmp(a, b, 8 * (size_t)a->words) == 0;
}

/* returns: the number of the module at offset */
static uint64_t
number_of(struct cli_conversion *convert, uint64_t offset)
{
    uint64_t hash = identity_of(convert, offset);
    const uint64_t number = convert->modules.count;
    struct cli_module *module;

    for (;; hash += 2) {
        const uint64_t known = cli_map_get(&convert->module_of_hash, hash);

        if (known == CLI_MAP_NONE)
            break;
        module = (struct cli_module *)convert->modules.items + known;
        if (is_same(convert, module->offset, offset))
            return known;
    }
    module = cli_items_add(&convert->modules, sizeof *module);
    cli_map_put(&convert->module_of_hash, hash, number);
    *module = (struct cli_module){.offset = offset};
    return number;
}

void
cli_modules_take(struct cli_conversion *convert, uint64_t offset)
{
    const uint64_t number = number_of(convert, offset);
    struct cli_sighting *const sighting =
        cli_items_add(&convert->sightings, sizeof *sighting);

    *sighting = (struct cli_sighting){convert->epoch, number};
}

/* Do two modules overlap? Only different files can: the segments of one file do
 * not overlap. */
static bool
overlap(const uint64_t *a, const uint64_t *b)
{
    return a[1] < b[2] && b[1] < a[2];
}

/* Are both segments of the same file? Then both are in the same layer. */
static bool
is_same_file(const uint64_t *a, const uint64_t *b)
{
    return a[0] == b[0] && a[4] == b[4] &&
           memcmp(a + 5, b + 5,
                  (size_t)(a[4] & UINT32_MAX) + (size_t)(a[4] >> 32)) == 0;
}

void
cli_modules_place(struct cli_conversion *convert)
{
    struct cli_module *modules = convert->modules.items;

    for (size_t i = 0; i < convert->modules.count; i++) {
        const uint64_t *words =
            cli_conversion_words(convert, modules[i].offset);

        for (size_t k = 0; k < i; k++) {
            const uint64_t *other =
                cli_conversion_words(convert, modules[k].offset);

            if (is_same_file(words, other)) {
                if (modules[k].layer > modules[i].layer)
                    modules[i].layer = modules[k].layer;
            } else if (overlap(words, other) &&
                       modules[k].layer >= modules[i].layer) {
                modules[i].layer = modules[k].layer + 1;
            }
        }
        if (modules[i].layer > LAYERS_MAX)
            modules[i].layer = LAYERS_MAX;
        convert->has_layers = convert->has_layers || modules[i].layer > 0;
    }
}

static bool
contains(const struct cli_conversion *convert, uint64_t number, uint64_t pc)
{
    const struct cli_module *module =
        (const struct cli_module *)convert->modules.items + number;
    const uint64_t *words = cli_conversion_words(convert, module->offset);

    return pc - 1 >= words[1] && pc - 1 < words[2];
}

/* returns: the first sighting in this epoch or later */
static size_t
first_sighting(const struct cli_conversion *convert, uint64_t epoch)
{
    const struct cli_sighting *sightings = convert->sightings.items;
    size_t low = 0;
    size_t high = convert->sightings.count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (sightings[middle].epoch < epoch)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/*
 * returns: how far the addresses of the module around a pc are moved up
 *
 * A stack is logged before its modules, and these may be logged only after the
 * next unload. So of all modules that were ever at the pc, take the one that
 * was logged first in the stack's epoch or later; if none was, the last one.
 */
uint64_t
cli_modules_shift(const struct cli_conversion *convert, uint64_t epoch,
                  uint64_t pc)
{
    const struct cli_module *modules = convert->modules.items;
    const struct cli_sighting *sightings = convert->sightings.items;
    uint64_t found = CLI_MAP_NONE;
    size_t candidates = 0;

    if (!convert->has_layers)
        return 0;
    for (uint64_t i = 0; i < convert->modules.count; i++)
        if (contains(convert, i, pc)) {
            found = i;
            candidates++;
        }
    if (candidates > 1)
        for (size_t i = first_sighting(convert, epoch);
             i < convert->sightings.count; i++)
            if (contains(convert, sightings[i].module, pc)) {
                found = sightings[i].module;
                break;
            }
    return found != CLI_MAP_NONE ? modules[found].layer << CLI_LAYER_BITS : 0;
}
