/*
 * prof/sink.h -- where a profile's bytes go: a function and its context.
 *
 * A writer calls `write` with the next bytes of the stream until the stream
 * ends or a call returns anything but PROF_OK. The writer returns that
 * status, and writes nothing after it.
 */
#ifndef PROF_SINK_H
#define PROF_SINK_H

#include <stddef.h>

#include "prof/status.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct prof_sink {
    /* returns: PROF_OK if all bytes were taken; PROF_ERR_SINK or the like */
    enum prof_status (*write)(void *context, const void *bytes,
                              size_t bytes_count);
    void *context;
};

/* A sink in memory. */
struct prof_memory {
    unsigned char *bytes; /* the caller's */
    size_t bytes_max;
    size_t bytes_count; /* taken so far; start at 0 */
};

/*
 * returns: a sink that appends to *memory; a write that does not fit is refused
 *          as a whole, with PROF_ERR_SINK
 */
struct prof_sink prof_memory_sink(struct prof_memory *memory);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
