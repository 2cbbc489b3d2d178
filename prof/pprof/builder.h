/*
 * builder.h -- a profile.proto that is being written: its strings, functions,
 * locations and mappings, each numbered at its first use.
 */
#ifndef PROF_PPROF_BUILDER_H
#define PROF_PPROF_BUILDER_H

#include "prof/core/index.h"
#include "prof/pprof/order.h"
#include "prof/pprof/out.h"
#include "prof/pprof.h"

/* Field numbers of profile.proto. docs/profiles.md, "profile.proto". */
enum {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE = 2,
    PROFILE_MAPPING = 3,
    PROFILE_LOCATION = 4,
    PROFILE_FUNCTION = 5,
    PROFILE_STRING = 6,
    PROFILE_TIME_NS = 9,
    PROFILE_DURATION_NS = 10,
    PROFILE_PERIOD_TYPE = 11,
    PROFILE_PERIOD = 12,
    PROFILE_DEFAULT_SAMPLE_TYPE = 14,
};

enum { SAMPLE_VALUES_MAX = 4, BUILDER_OUT_BYTES = 1 << 16 };

/* A bump allocator over the caller's scratch. */
struct arena {
    unsigned char *at;
    unsigned char *end;
};

/* returns: `bytes` bytes (rounded up to 8), not cleared; NULL if used up */
void *prof_arena_take(struct arena *arena, size_t bytes);

/* A known return address, in a table of open addressing. */
struct location {
    uintptr_t pc;
    uint32_t word; /* its id as a varint, lowest byte first */
    uint8_t bytes; /* length of the varint; 0: not written (I2 of
                      locations.c) */
    uint8_t kind;  /* enum prof_frame_kind + 1; 0: the slot is empty */
};

/* A text that has a number. */
struct string {
    const char *text; /* not copied; valid until the writer returns */
    uint32_t bytes;
    uint32_t hash;
    uint32_t function; /* the first function of that name; 0: none yet */
};

struct function {
    uint32_t file; /* number of a text */
    uint32_t next; /* another function of the same name; 0: none */
};

struct builder {
    struct out out;
    struct prof_symbols symbols;
    uintptr_t lost; /* the address of an empty stack; 0: none */
    const struct prof_mapping *mappings;
    uint32_t mappings_count;

    struct location *location_memory; /* for the tables of all sizes */
    struct location *table;           /* the one in use */
    uint32_t locations_log2;
    uint32_t locations_log2_max;
    struct string *strings;
    struct index string_index;
    struct function *functions; /* by id, from 1 on */
    unsigned char *mapping_marks;
    uint32_t locations_max;
    uint32_t locations_count;
    uint32_t locations; /* numbers given */
    uint32_t functions_count;
    uint32_t strings_max;
    uint32_t strings_count;
    size_t values_count;  /* of each sample */
    const char *last_key; /* the previous label's key, and its number */
    uint32_t last_key_number;
};

/* returns: an arena over an output's scratch */
struct arena prof_arena_of(const struct prof_output *output);

/*
 * Sort the numbers 0 .. count-1 by prof_order(), in memory from the arena.
 *
 * returns: NULL if the arena is too small
 */
uint32_t *prof_arena_order(struct arena *arena, size_t count,
                           order_before *before, const void *context);

/*
 * Sort a contention profile: most ticks first.
 *
 * returns: record numbers, taken from the arena; NULL if it is too small
 */
uint32_t *prof_contention_order(struct arena *arena,
                                const struct prof_contention_record *records,
                                size_t count);

/* A label of a sample: a text, or a number if text is NULL. */
struct sample_label {
    const char *key;
    const char *text;
    int64_t number;
};

struct sample {
    const uintptr_t *stack; /* leaf first */
    uint32_t depth;
    uint32_t labels_count;
    bool hide_runtime; /* leave out the runtime's frames at the leaf */
    const struct sample_label *labels;
    int64_t values[SAMPLE_VALUES_MAX];
};

/* returns: bytes that a builder needs for `locations` different addresses */
size_t prof_builder_bytes(size_t locations);

/*
 * Begin a profile; the builder takes all memory of `arena`.
 *
 * in:      values_count, of each sample, 1 .. SAMPLE_VALUES_MAX
 * returns: false if the arena is too small for anything
 */
PROF_NODISCARD bool prof_builder_init(struct builder *builder,
                                      const struct prof_output *output,
                                      struct arena *arena, size_t values_count);

/* Write a ValueType message as field `field`. */
void prof_builder_value_type(struct builder *builder, uint32_t field,
                             const char *type, const char *unit);

/* returns: the number of a text, which prof_builder_finish() writes out */
uint32_t prof_builder_string(struct builder *builder, const char *text);

/* Room for a stack: at most 5 bytes per location id, plus the bytes that
 * storing a whole word may write beyond the end.
 */
#define STACK_BYTES_MAX ((size_t)PROF_DEPTH_LIMIT * 5 + 8)

/*
 * Write the ids of a sample's locations to *at. A location that appears for the
 * first time gets an id, and its message goes to the output.
 *
 * out:     *at, where the numbers end; in: *at, room for STACK_BYTES_MAX
 * returns: how many
 */
uint32_t prof_builder_stack(struct builder *builder,
                            const struct sample *sample, unsigned char **at);

/* Begin with a small table of locations, in builder->location_memory. */
void prof_builder_locations_begin(struct builder *builder);

/* Prefetch the table entries that a later stack will need. */
void prof_builder_fetch(const struct builder *builder, const uintptr_t *stack,
                        uint32_t depth);

/* Write a sample, after the messages that it is the first to need. */
void prof_builder_sample(struct builder *builder, const struct sample *sample);

/* Write mappings and strings, the end of every profile. */
PROF_NODISCARD enum prof_status prof_builder_finish(struct builder *builder);

#endif
