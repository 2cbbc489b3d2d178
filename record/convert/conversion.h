/*
 * conversion.h -- the state of a conversion, shared by convert.c and tables.c.
 */
#ifndef RECORD_CONVERT_CONVERSION_H
#define RECORD_CONVERT_CONVERSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/convert/items.h"
#include "record/symbols/map.h"
#include "record/convert/recfile.h"
#include "record/preload/spool.h"
#include "record/symbols/symbols.h"

struct cli_stack {
    uint64_t offset; /* of its record */
    uint64_t epoch;  /* unloads before it */
    uint32_t *frames;
    uint32_t depth;
};

/* A module, however often it was logged. */
struct cli_module {
    uint64_t offset; /* of its first record */
    uint64_t layer;  /* how many modules it replaced */
};

/* A module was logged in an epoch. */
struct cli_sighting {
    uint64_t epoch;
    uint64_t module; /* its number, from 0 */
};

/*
 * A module may be mapped where another one was before. A layer is
 * 2^CLI_LAYER_BITS bytes, more than any address. All addresses of a module that
 * n others preceded at its place are moved up by n layers, so no two modules
 * share addresses.
 */
#define CLI_LAYER_BITS 48u

struct cli_conversion {
    const uint8_t *bytes;
    uint64_t used_bytes;
    const struct embed_spool_header *header;
    struct cli_recfile file;
    struct cli_symbols *symbols;
    struct cli_items stacks;    /* struct cli_stack */
    struct cli_items pcs;       /* uint64_t */
    struct cli_items frames;    /* struct cli_recfile_frame: of pcs, in order */
    struct cli_items modules;   /* struct cli_module */
    struct cli_items sightings; /* struct cli_sighting, by epoch */
    struct cli_items threads;   /* uint64_t */
    struct cli_items
        thread_names; /* uint64_t: offset of the last record, or 0 */
    struct cli_strings strings;
    struct cli_map number_of_pc;
    struct cli_map stack_at;       /* by offset */
    struct cli_map object_at;      /* by address; live ones */
    struct cli_map resize_at;      /* object, by offset of its RESIZE */
    struct cli_map lock_at;        /* by address */
    struct cli_map module_of_hash; /* number from 1, by identity */
    uint64_t epoch;                /* unloads so far */
    bool has_layers;               /* some module came in place of another */
    bool is_reached;               /* the recorder's malloc was called */
    uint64_t stacks_written;
    uint64_t objects;
    uint64_t locks;
    uint64_t previous_ticks;
    uint64_t dropped[EMBED_DROP_COUNT];
    char *error;
    size_t error_bytes;
};

/* Report; returns: false */
bool cli_conversion_fail(struct cli_conversion *convert, const char *reason);
bool cli_conversion_damaged(struct cli_conversion *convert, uint64_t offset,
                            const char *what);

static inline const uint64_t *
cli_conversion_words(const struct cli_conversion *convert, uint64_t offset)
{
    return (const void *)(convert->bytes + offset + 8);
}

/* returns: the least number of words of such a record, without word 0 */
uint32_t cli_conversion_words_of(uint8_t kind);

static inline bool
cli_conversion_is_short(const struct embed_record *record)
{
    return record->kind == EMBED_SHORT_ALLOC ||
           record->kind == EMBED_SHORT_FREE;
}

/* returns: the words of a record, word 0 included */
static inline uint32_t
cli_conversion_length(const struct embed_record *record)
{
    if (cli_conversion_is_short(record))
        return record->kind == EMBED_SHORT_ALLOC ? 2 : 1;
    return record->words;
}

/* modules.c. Add the module at offset, unless it is known. */
void cli_modules_take(struct cli_conversion *convert, uint64_t offset);

/* Call this when all modules are known: finds out which replaced another. */
void cli_modules_place(struct cli_conversion *convert);

/* returns: by how much a pc of a stack of this epoch must be moved up */
uint64_t cli_modules_shift(const struct cli_conversion *convert, uint64_t epoch,
                           uint64_t pc);

/* Pass 1: check all records, and keep everything that is not an event. */
bool cli_conversion_take_tables(struct cli_conversion *convert);

/* Name the frames that pass 1 has collected, and write the tables. */
bool cli_conversion_write_tables(struct cli_conversion *convert);

#endif
