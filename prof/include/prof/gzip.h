/*
 * prof/gzip.h -- a sink that compresses into another sink, by ISA-L's igzip.
 *
 * It compresses a stream, piece by piece, to one gzip member with no name and
 * no time in its header. The caller provides the memory, the same amount for
 * any length. A program that uses it must link libisal; the rest of the library
 * does not need it.
 *
 * The compressed bytes may differ from one CPU model to another, because igzip
 * searches for matches in different ways. They always decompress to what was
 * written.
 */
#ifndef PROF_GZIP_H
#define PROF_GZIP_H

#include "prof/sink.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct prof_gzip {
    struct prof_sink to;
    void *stream;            /* within the caller's memory */
    enum prof_status status; /* the first that is not PROF_OK */
};

/* returns: bytes of memory that prof_gzip_begin() needs, some 450 kB */
size_t prof_gzip_bytes(void);

/*
 * in:      to, takes the compressed bytes
 *          bytes, the sink's until prof_gzip_end(); bytes_max, at least
 *          prof_gzip_bytes(): with less the sink returns PROF_ERR_MEMORY
 */
void prof_gzip_begin(struct prof_gzip *gzip, const struct prof_sink *to,
                     void *bytes, size_t bytes_max);

struct prof_sink prof_gzip_sink(struct prof_gzip *gzip);

/*
 * Write the rest of the gzip member.
 *
 * in:      status, of what was written; unless PROF_OK nothing more is passed
 *          on, and the output should be discarded (prof_file_end() does so)
 * returns: status; PROF_ERR_MEMORY, or the other sink's
 */
PROF_NODISCARD enum prof_status prof_gzip_end(struct prof_gzip *gzip,
                                              enum prof_status status);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
