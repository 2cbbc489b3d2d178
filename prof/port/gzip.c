/*
 * gzip.c -- a sink that compresses, by libdeflate at its fastest level.
 *
 * Header 1f 8b 08 00, time 0, XFL 4 (fastest), system ff (unknown): the same
 * ten bytes that Go writes, and no trace of when or where.
 */
#include "prof/gzip.h"

#include <libdeflate.h>
#include <string.h>

enum { FASTEST = 1 };

static enum prof_status
keep(void *context, const void *bytes, size_t bytes_count)
{
    struct prof_gzip *gzip = context;

    if (bytes_count > gzip->bytes_max - gzip->bytes_count)
        return PROF_ERR_MEMORY;
    memcpy(&gzip->bytes[gzip->bytes_count], bytes, bytes_count);
    gzip->bytes_count += bytes_count;
    return PROF_OK;
}

void
prof_gzip_begin(struct prof_gzip *gzip, const struct prof_sink *to, void *bytes,
                size_t bytes_max)
{
    *gzip =
        (struct prof_gzip){.to = *to, .bytes = bytes, .bytes_max = bytes_max};
}

struct prof_sink
prof_gzip_sink(struct prof_gzip *gzip)
{
    return (struct prof_sink){.write = keep, .context = gzip};
}

size_t
prof_gzip_bound(size_t bytes_count)
{
    return libdeflate_gzip_compress_bound(NULL, bytes_count);
}

enum prof_status
prof_gzip_end(struct prof_gzip *gzip, enum prof_status status)
{
    struct libdeflate_compressor *compressor;
    unsigned char *const packed = &gzip->bytes[gzip->bytes_count];
    size_t packed_bytes;

    if (status != PROF_OK)
        return status;
    compressor = libdeflate_alloc_compressor(FASTEST);
    if (compressor == NULL)
        return PROF_ERR_MEMORY;
    packed_bytes =
        libdeflate_gzip_compress(compressor, gzip->bytes, gzip->bytes_count,
                                 packed, gzip->bytes_max - gzip->bytes_count);
    libdeflate_free_compressor(compressor);
    if (packed_bytes == 0)
        return PROF_ERR_MEMORY;
    return gzip->to.write(gzip->to.context, packed, packed_bytes);
}
