/*
 * prof/gzip.h -- a sink that compresses into another sink, by libdeflate.
 *
 * It keeps the whole input, in the caller's memory, and compresses it at the
 * end: one gzip member, with no name and no time in its header. Whoever links
 * it needs libdeflate; the rest of the library does not.
 */
#ifndef PROF_GZIP_H
#define PROF_GZIP_H

#include "prof/sink.h"

#ifdef __cplusplus
extern "C" {
#endif

struct prof_gzip {
    struct prof_sink to;
    unsigned char *bytes; /* the caller's */
    size_t bytes_max;
    size_t bytes_count;
};

/*
 * in:      to, takes the compressed bytes
 *          bytes, room for all that will be written and for prof_gzip_bound()
 *          of it; a sink that is asked for more answers PROF_ERR_MEMORY
 */
void prof_gzip_begin(struct prof_gzip *gzip, const struct prof_sink *to,
                     void *bytes, size_t bytes_max);

struct prof_sink prof_gzip_sink(struct prof_gzip *gzip);

/*
 * Compress what was written and hand it on.
 *
 * in:      status, of what was written; unless PROF_OK nothing is handed on
 * returns: status; PROF_ERR_MEMORY, or the other sink's
 */
PROF_NODISCARD enum prof_status prof_gzip_end(struct prof_gzip *gzip,
                                              enum prof_status status);

/* returns: how many bytes so many may become, at most */
size_t prof_gzip_bound(size_t bytes_count);

#ifdef __cplusplus
}
#endif

#endif
