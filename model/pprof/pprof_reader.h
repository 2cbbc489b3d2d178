/*
 * pprof_reader.h -- reads profile.proto as its description defines it.
 *
 * It is written from docs/profiles.md and shares no code with the writer. It
 * accepts a profile only if every reference in it is valid: ids are unique and
 * not 0, string numbers exist, and every sample has a value for every sample
 * type.
 */
#ifndef MODEL_PPROF_PPROF_READER_H
#define MODEL_PPROF_PPROF_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct model_pprof_type {
    const char *type;
    const char *unit;
};

struct model_pprof_label {
    const char *key;
    const char *text; /* "" if the label has a number */
    int64_t number;
};

struct model_pprof_function {
    uint64_t id;
    const char *name;
    const char *system_name;
    const char *file;
};

struct model_pprof_mapping {
    uint64_t id;
    uint64_t start;
    uint64_t limit;
    uint64_t offset;
    const char *file;
    const char *build_id;
    bool has_functions;
};

struct model_pprof_location {
    uint64_t id;
    uint64_t mapping; /* id; 0: none */
    uint64_t address;
    uint64_t function; /* id of the innermost line's function; 0: none */
    int64_t line;
    size_t lines_count;
};

struct model_pprof_sample {
    const int64_t *values;
    const uint64_t *locations; /* ids, leaf first */
    const struct model_pprof_label *labels;
    size_t values_count;
    size_t locations_count;
    size_t labels_count;
    bool values_packed;
    bool locations_packed;
};

struct model_pprof {
    struct model_pprof_type *types;
    struct model_pprof_sample *samples;
    struct model_pprof_mapping *mappings;
    struct model_pprof_location *locations;
    struct model_pprof_function *functions;
    const char **strings;
    uint8_t *fields; /* field numbers of the outermost message, in order */
    size_t types_count;
    size_t samples_count;
    size_t mappings_count;
    size_t locations_count;
    size_t functions_count;
    size_t strings_count;
    size_t fields_count;
    struct model_pprof_type period_type;
    const char *default_type; /* "" if none */
    int64_t period;
    int64_t time_ns;
    int64_t duration_ns;
    void *memory;       /* holds all of the above */
    const char *reason; /* why it was rejected */
};

/*
 * Read a whole profile, not compressed.
 *
 * out:     *profile, to be released
 * returns: false if the profile is not valid; profile->reason says why
 */
bool model_pprof_read(struct model_pprof *profile, const void *bytes,
                      size_t bytes_count);
void model_pprof_release(struct model_pprof *profile);

/* returns: NULL if there is none with that id */
const struct model_pprof_location *
model_pprof_location(const struct model_pprof *profile, uint64_t id);
const struct model_pprof_function *
model_pprof_function(const struct model_pprof *profile, uint64_t id);

/*
 * Lay out text in columns, as Go's tabwriter does with minimum width 1, padding
 * 1, and tab stops every 8. In the text, a tab ends each cell.
 *
 * out:     to, room for to_max bytes
 * returns: bytes written, 0 if the room is too small
 */
size_t model_tabs(char *to, size_t to_max, const char *text, size_t text_bytes);

#endif
