/*
 * prof/symbol.h -- names for program counters, supplied by the embedder.
 */
#ifndef PROF_SYMBOL_H
#define PROF_SYMBOL_H

#include <stddef.h>
#include <stdint.h>

#include "prof/status.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* The role of a frame in a profile. */
enum prof_frame_kind {
    PROF_FRAME_PROGRAM,
    PROF_FRAME_RUNTIME, /* of the profiled runtime itself: hidden at the leaf */
    PROF_FRAME_ROOT     /* below main, such as a thread's start: never shown */
};

struct prof_symbol {
    const char *function; /* "" or NULL if not known */
    const char *file;     /* "" or NULL if not known */
    uint64_t line;        /* 0 if not known */
    uintptr_t entry;      /* of the function; 0 if not known */
    enum prof_frame_kind kind;
};

struct prof_symbols {
    /*
     * Name the frame of a return address, which is the call before that
     * address.
     *
     * out:     *symbol, all zero before the call; its texts stay valid until
     *          the writer that called this has returned
     * in:      pc, as the stack has it
     */
    void (*find)(void *context, uintptr_t pc, struct prof_symbol *symbol);
    void *context;
};

/*
 * returns: the kind, by Go's naming: `runtime.goexit` is the root; other names
 *          that begin with `runtime.` are the runtime
 */
enum prof_frame_kind prof_frame_kind_go(const char *function);

/* A range of code that was mapped from a file. */
struct prof_mapping {
    uint64_t start;
    uint64_t limit;
    uint64_t offset; /* in the file, of `start` */
    const char *file;
    const char *build_id; /* "" or NULL if not known */
};

/*
 * Read the executable mappings from the text of /proc/PID/maps.
 *
 * out:     mappings[0 .. *count), in the order of the text; their files point
 *          into `text`, which is cut into strings
 * in:      text, `text_bytes` long; mappings_max, room in mappings
 * returns: PROF_OK, PROF_ERR_SHORT if there are more (*count says how many)
 */
PROF_NODISCARD enum prof_status
prof_mappings_parse(struct prof_mapping *mappings, size_t mappings_max,
                    size_t *count, char *text, size_t text_bytes);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
