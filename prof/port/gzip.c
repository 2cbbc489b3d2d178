/*
 * gzip.c -- a sink that compresses, by ISA-L's igzip at level 1.
 *
 * The header has 1f 8b 08 00, time 0, XFL 4 (fastest), system ff (unknown): the
 * same ten bytes as in Go, without time or origin.
 *
 * Level 1 is as fast on a profile as level 0, and makes the file an eighth
 * smaller; higher levels gain little and take longer.
 */
#include "prof/gzip.h"

#include <isa-l/igzip_lib.h>
#include <stdalign.h>
#include <stdint.h>
#include <string.h>

/*
 * A workaround, so that equal input gives equal output. igzip 2.30 enters the
 * third byte of a stream in its hash table under a hash of the stream's own
 * address (isal_deflate_icf_body, after its first byte). This may overwrite an
 * entry that a later match needs: for about one address in 80 the output
 * differed. If igzip first gets only FIRST_BYTES, it compresses one, keeps the
 * others as look-ahead, and hashes their content at the next call.
 */
enum {
    STREAM_ALIGN = 64,
    PACKED_BYTES = 1 << 16,
    FASTEST = 1,
    FIRST_BYTES = ISAL_LOOK_AHEAD + 1
};

static const unsigned char header[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 0xff};

struct stream {
    alignas(STREAM_ALIGN) struct isal_zstream igzip;
    alignas(STREAM_ALIGN) unsigned char level[ISAL_DEF_LVL1_DEFAULT];
    unsigned char packed[PACKED_BYTES];
    unsigned char first[FIRST_BYTES]; /* collected until there are
                                         FIRST_BYTES */
    uint32_t first_count;
};

size_t
prof_gzip_bytes(void)
{
    return sizeof(struct stream) + STREAM_ALIGN - 1;
}

/*
 * Clear the upper halves of vector registers, which igzip leaves dirty. On some
 * CPUs every instruction that uses the lower halves would then wait for them,
 * and the rest of a profile took twice the time.
 */
#if defined(__x86_64__)
__attribute__((target("avx"))) static void
zero_upper(void)
{
    __builtin_ia32_vzeroupper();
}

static void
clean_registers(void)
{
    if (__builtin_cpu_supports("avx"))
        zero_upper();
}
#else
static void
clean_registers(void)
{
}
#endif

/* Pass on the compressed bytes, and make room for more. */
static void
drain(struct prof_gzip *gzip, struct stream *stream)
{
    const size_t packed = PACKED_BYTES - stream->igzip.avail_out;

    if (gzip->status == PROF_OK && packed > 0)
        gzip->status = gzip->to.write(gzip->to.context, stream->packed, packed);
    stream->igzip.next_out = stream->packed;
    stream->igzip.avail_out = PACKED_BYTES;
}

/* Compress these bytes; with none, those that igzip still holds. */
static void
pack(struct prof_gzip *gzip, struct stream *stream, const unsigned char *bytes,
     uint32_t bytes_count)
{
    struct isal_zstream *const igzip = &stream->igzip;

    /* igzip only reads it, but does not declare it const. */
    igzip->next_in = (unsigned char *)(uintptr_t)bytes;
    igzip->avail_in = bytes_count;
    /* igzip takes all input unless its output buffer is full. */
    while (gzip->status == PROF_OK) {
        if (isal_deflate(igzip) != COMP_OK)
            gzip->status = PROF_ERR_MEMORY;
        clean_registers();
        if (igzip->avail_out != 0)
            return;
        drain(gzip, stream);
    }
}

/* Collect the first bytes, and compress them once there are FIRST_BYTES. */
static uint32_t
take_first(struct prof_gzip *gzip, struct stream *stream,
           const unsigned char *from, size_t bytes_count)
{
    const uint32_t left = FIRST_BYTES - stream->first_count;
    const uint32_t part = bytes_count < left ? (uint32_t)bytes_count : left;

    memcpy(&stream->first[stream->first_count], from, part);
    stream->first_count += part;
    if (stream->first_count == FIRST_BYTES)
        pack(gzip, stream, stream->first, FIRST_BYTES);
    return part;
}

static enum prof_status
take(void *context, const void *bytes, size_t bytes_count)
{
    struct prof_gzip *gzip = context;
    struct stream *const stream = gzip->stream;
    const unsigned char *from = bytes;

    while (gzip->status == PROF_OK && bytes_count > 0) {
        uint32_t part =
            bytes_count < INT32_MAX ? (uint32_t)bytes_count : INT32_MAX;

        if (stream->first_count < FIRST_BYTES)
            part = take_first(gzip, stream, from, bytes_count);
        else
            pack(gzip, stream, from, part);
        from += part;
        bytes_count -= part;
    }
    return gzip->status;
}

void
prof_gzip_begin(struct prof_gzip *gzip, const struct prof_sink *to, void *bytes,
                size_t bytes_max)
{
    const uintptr_t start =
        ((uintptr_t)bytes + STREAM_ALIGN - 1) & ~(uintptr_t)(STREAM_ALIGN - 1);
    struct stream *const stream = (void *)start;

    *gzip = (struct prof_gzip){.to = *to, .status = PROF_ERR_MEMORY};
    if (bytes_max < prof_gzip_bytes())
        return;
    gzip->status = PROF_OK;
    gzip->stream = stream;
    stream->first_count = 0;
    isal_deflate_init(&stream->igzip);
    stream->igzip.level = FASTEST;
    stream->igzip.level_buf = stream->level;
    stream->igzip.level_buf_size = sizeof stream->level;
    stream->igzip.gzip_flag = IGZIP_GZIP_NO_HDR;
    memcpy(stream->packed, header, sizeof header);
    stream->igzip.next_out = &stream->packed[sizeof header];
    stream->igzip.avail_out = PACKED_BYTES - sizeof header;
}

struct prof_sink
prof_gzip_sink(struct prof_gzip *gzip)
{
    return (struct prof_sink){.write = take, .context = gzip};
}

enum prof_status
prof_gzip_end(struct prof_gzip *gzip, enum prof_status status)
{
    struct stream *const stream = gzip->stream;

    if (status != PROF_OK)
        return status;
    if (gzip->status != PROF_OK)
        return gzip->status;
    if (stream->first_count > 0 && stream->first_count < FIRST_BYTES)
        pack(gzip, stream, stream->first, stream->first_count);
    stream->igzip.end_of_stream = 1;
    pack(gzip, stream, stream->first, 0);
    drain(gzip, stream);
    return gzip->status;
}
