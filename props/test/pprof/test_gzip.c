/*
 * test_gzip.c -- the compressing sink: gzip(1) must decompress its output to
 * the input, whatever the sizes of the pieces in which it was written. Also
 * tests a next sink that fails at any call, and too little memory.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <isa-l/igzip_lib.h>

#include "prof/gzip.h"
#include "unit_test.h"

enum {
    BYTES = 600000,
    PACKED_BYTES_MAX = 2 * BYTES,
    FIRST_BYTES = ISAL_LOOK_AHEAD + 1, /* fewer bytes may wait in the sink */
};

static unsigned char given[BYTES];
static unsigned char packed[PACKED_BYTES_MAX];
static unsigned char *packing;
static int before_use = 0xa5; /* what its memory holds */

static uint64_t
next_word(uint64_t *state)
{
    *state = *state * 6364136223846793005U + 1442695040888963407U;
    return *state >> 33;
}

/* Noise, runs and repetitions in turn, so that both kinds of blocks occur. */
static int
some_bytes(void **state)
{
    uint64_t seed = 1;

    (void)state;
    for (size_t i = 0; i < BYTES; i++) {
        switch (i / 50000 % 3) {
        case 0:
            given[i] = (unsigned char)next_word(&seed);
            break;
        case 1:
            given[i] = (unsigned char)(i / 1000);
            break;
        default:
            given[i] = given[i - 31000 - next_word(&seed) % 3];
        }
    }
    packing = malloc(prof_gzip_bytes());
    return packing == NULL ? -1 : 0;
}

static int
no_bytes(void **state)
{
    (void)state;
    free(packing);
    return 0;
}

/* ---- igzip ---- */

/* If set, igzip does not compress: it records its input and gives this
 * answer. */
static struct {
    bool set;
    int answer;
    const unsigned char *next;
    uint64_t bytes;
    uint32_t left; /* room left for output; UINT32_MAX: all of it */
} instead = {.left = UINT32_MAX};

int __real_isal_deflate(struct isal_zstream *stream);
int __wrap_isal_deflate(struct isal_zstream *stream);

int
__wrap_isal_deflate(struct isal_zstream *stream)
{
    /* The header promises level 1 ("fastest"). Flags are 0 or 1. */
    assert_int_equal(stream->level, 1);
    assert_true(stream->end_of_stream <= 1);
    if (!instead.set)
        return __real_isal_deflate(stream);
    if (stream->avail_in <= FIRST_BYTES)
        assert_memory_equal(stream->next_in, instead.next, stream->avail_in);
    else
        assert_ptr_equal(stream->next_in, instead.next);
    assert_true(stream->avail_in <= INT32_MAX);
    instead.next += stream->avail_in;
    instead.bytes += stream->avail_in;
    stream->avail_in = 0;
    if (stream->avail_out > instead.left)
        stream->avail_out = instead.left;
    instead.left = UINT32_MAX;
    return instead.answer;
}

struct behind {
    size_t calls_max; /* the call after these is refused */
    size_t calls;
    size_t bytes;
};

static enum prof_status
take(void *context, const void *bytes, size_t bytes_count)
{
    struct behind *behind = context;

    if (behind->calls++ >= behind->calls_max)
        return PROF_ERR_SINK;
    assert_true(bytes_count > 0);
    assert_true(bytes_count <= PACKED_BYTES_MAX - behind->bytes);
    memcpy(&packed[behind->bytes], bytes, bytes_count);
    behind->bytes += bytes_count;
    return PROF_OK;
}

/* Compress the first `bytes_count` bytes in pieces of at most `piece_max`. */
static enum prof_status
pack_at(unsigned char *memory, struct behind *behind, size_t bytes_count,
        size_t piece_max)
{
    const struct prof_sink to = {.write = take, .context = behind};
    enum prof_status status = PROF_OK;
    uint64_t seed = piece_max;
    struct prof_gzip gzip;
    struct prof_sink sink;

    prof_gzip_begin(&gzip, &to, memory, prof_gzip_bytes());
    sink = prof_gzip_sink(&gzip);
    for (size_t at = 0; at < bytes_count && status == PROF_OK;) {
        size_t piece = 1 + next_word(&seed) % piece_max;

        piece = piece < bytes_count - at ? piece : bytes_count - at;
        status = sink.write(sink.context, &given[at], piece);
        at += piece;
    }
    return prof_gzip_end(&gzip, status);
}

static enum prof_status
pack(struct behind *behind, size_t bytes_count, size_t piece_max)
{
    memset(packing, before_use, prof_gzip_bytes());
    return pack_at(packing, behind, bytes_count, piece_max);
}

/* Check that gzip(1) decompresses the output to the input. */
static void
unpacks_to_given(const struct behind *behind, size_t bytes_count)
{
    static unsigned char unpacked[BYTES + 1];
    char path[] = "/tmp/profsim-gzip-XXXXXX";
    char command[sizeof path + 16];
    const int descriptor = mkstemp(path);
    FILE *pipe;

    assert_true(descriptor >= 0);
    assert_int_equal(write(descriptor, packed, behind->bytes), behind->bytes);
    close(descriptor);
    snprintf(command, sizeof command, "gzip -dc <%s", path);
    pipe = popen(command, "r");
    assert_non_null(pipe);
    assert_int_equal(fread(unpacked, 1, sizeof unpacked, pipe), bytes_count);
    assert_int_equal(pclose(pipe), 0);
    unlink(path);
    assert_memory_equal(unpacked, given, bytes_count);
}

TEST(what_comes_out_unpacks_to_what_went_in)
{
    static const size_t pieces_max[] = {1, 100, 65536, BYTES};

    for (size_t i = 0; i < sizeof pieces_max / sizeof *pieces_max; i++) {
        struct behind behind = {.calls_max = SIZE_MAX};

        assert_int_equal(pack(&behind, BYTES, pieces_max[i]), PROF_OK);
        assert_true(behind.bytes < BYTES);
        assert_true(behind.calls > 2);
        unpacks_to_given(&behind, BYTES);
    }
}

TEST(nothing_at_all_is_a_whole_member_too)
{
    struct behind behind = {.calls_max = SIZE_MAX};

    assert_int_equal(pack(&behind, 0, 1), PROF_OK);
    unpacks_to_given(&behind, 0);
}

TEST(the_same_pieces_give_the_same_bytes_again)
{
    static unsigned char first[PACKED_BYTES_MAX];
    struct behind before = {.calls_max = SIZE_MAX};
    struct behind behind = {.calls_max = SIZE_MAX};

    assert_int_equal(pack(&before, BYTES, 65536), PROF_OK);
    memcpy(first, packed, before.bytes);
    before_use = 0x5a;
    assert_int_equal(pack(&behind, BYTES, 65536), PROF_OK);
    assert_int_equal(behind.bytes, before.bytes);
    assert_memory_equal(packed, first, before.bytes);
}

/*
 * igzip hashes its own address (gzip.c); at about one address in 80 that once
 * changed the output. The input has few values, and so many repetitions.
 */
TEST(no_address_changes_the_bytes)
{
    enum { STEP = 1 << 16, STEPS = 1000, INPUT_BYTES = 800 };
    unsigned char *const memory = malloc(prof_gzip_bytes() + STEP * STEPS);
    static unsigned char first[PACKED_BYTES_MAX];
    struct behind before = {.calls_max = SIZE_MAX};
    unsigned char noise[INPUT_BYTES];
    uint64_t seed = 1;

    assert_non_null(memory);
    memcpy(noise, given, INPUT_BYTES);
    for (size_t i = 0; i < INPUT_BYTES; i++)
        given[i] = (unsigned char)(next_word(&seed) % 7);
    assert_int_equal(pack_at(memory, &before, INPUT_BYTES, BYTES), PROF_OK);
    memcpy(first, packed, before.bytes);
    unpacks_to_given(&before, INPUT_BYTES);
    for (size_t step = 1; step <= STEPS; step++) {
        struct behind behind = {.calls_max = SIZE_MAX};

        assert_int_equal(
            pack_at(&memory[step * STEP], &behind, INPUT_BYTES, BYTES),
            PROF_OK);
        assert_int_equal(behind.bytes, before.bytes);
        assert_memory_equal(packed, first, before.bytes);
    }
    memcpy(given, noise, INPUT_BYTES);
    free(memory);
}

TEST(a_sink_behind_that_fails_is_reported_and_not_called_again)
{
    bool whole = false;

    for (size_t calls_max = 0; !whole; calls_max++) {
        struct behind behind = {.calls_max = calls_max};
        const enum prof_status status = pack(&behind, BYTES, 65536);

        assert_true(calls_max < 100);
        whole = behind.calls <= calls_max;
        assert_int_equal(status, whole ? PROF_OK : PROF_ERR_SINK);
        assert_int_equal(behind.calls, calls_max + !whole);
    }
}

/* The sink of one test, behind an igzip that gives the answers in `instead`. */
static struct behind kept;
static struct prof_gzip gzip;

static struct prof_sink
begin(size_t memory_bytes)
{
    static const struct prof_sink to = {.write = take, .context = &kept};

    kept = (struct behind){.calls_max = SIZE_MAX};
    prof_gzip_begin(&gzip, &to, packing, memory_bytes);
    return prof_gzip_sink(&gzip);
}

static struct prof_sink
begin_instead(int answer)
{
    instead.set = true;
    instead.answer = answer;
    instead.next = given;
    instead.bytes = 0;
    return begin(prof_gzip_bytes());
}

TEST(a_profile_that_failed_gets_no_end)
{
    begin(prof_gzip_bytes());
    assert_int_equal(prof_gzip_end(&gzip, PROF_ERR_SHORT), PROF_ERR_SHORT);
    assert_int_equal(kept.calls, 0);
}

TEST(memory_one_byte_too_small_is_reported)
{
    const size_t sizes[] = {0, 1, prof_gzip_bytes() - 1};

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const struct prof_sink sink = begin(sizes[i]);

        assert_int_equal(sink.write(sink.context, given, 1), PROF_ERR_MEMORY);
        assert_int_equal(prof_gzip_end(&gzip, PROF_OK), PROF_ERR_MEMORY);
        assert_int_equal(kept.calls, 0);
    }
}

/* The ten bytes with which Go begins: no name, no time, fastest, unknown
 * system. */
TEST(a_compressed_profile_says_nothing_of_when_and_where)
{
    static const unsigned char want[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 0xff};
    struct behind behind = {.calls_max = SIZE_MAX};

    assert_int_equal(pack(&behind, 10000, 100), PROF_OK);
    assert_memory_equal(packed, want, sizeof want);
}

/* igzip counts in 32 bits: longer input is passed on in parts, and none is left
 * out. */
TEST(more_than_4_gb_at_once_is_packed_in_parts)
{
    const uint64_t lengths[] = {INT32_MAX - 1, INT32_MAX,
                                UINT64_C(1) + INT32_MAX,
                                UINT64_C(2) * INT32_MAX + 5, UINT64_C(1) << 33};

    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        const struct prof_sink sink = begin_instead(COMP_OK);

        assert_int_equal(sink.write(sink.context, given, lengths[i]), PROF_OK);
        instead.set = false;
        assert_int_equal(instead.bytes, lengths[i]);
    }
}

TEST(an_igzip_that_fails_is_reported_and_nothing_is_handed_on)
{
    struct prof_sink sink = begin_instead(INVALID_PARAM);

    assert_int_equal(sink.write(sink.context, given, FIRST_BYTES),
                     PROF_ERR_MEMORY);
    assert_int_equal(prof_gzip_end(&gzip, PROF_OK), PROF_ERR_MEMORY);
    assert_int_equal(kept.calls, 0);
    begin_instead(INVALID_PARAM);
    assert_int_equal(prof_gzip_end(&gzip, PROF_OK), PROF_ERR_MEMORY);
    instead.set = false;
    assert_int_equal(kept.calls, 0);
}

/* The output fills the room except for `left` bytes: it is passed on once, at
 * the end. */
TEST(what_just_fills_the_room_is_handed_on_once)
{
    for (uint32_t left = 0; left < 3; left++) {
        begin_instead(COMP_OK);
        instead.left = left;
        assert_int_equal(prof_gzip_end(&gzip, PROF_OK), PROF_OK);
        instead.set = false;
        assert_int_equal(kept.calls, 1);
        assert_int_equal(kept.bytes, 65536 - left);
    }
}

/* A single byte may be left for the end. */
TEST(a_last_byte_is_handed_on)
{
    const struct prof_sink sink = begin_instead(COMP_OK);

    instead.left = 0; /* full: passed on at once */
    assert_int_equal(sink.write(sink.context, given, FIRST_BYTES), PROF_OK);
    assert_int_equal(kept.calls, 1);
    instead.left = 65535;
    assert_int_equal(prof_gzip_end(&gzip, PROF_OK), PROF_OK);
    instead.set = false;
    assert_int_equal(kept.calls, 2);
    assert_int_equal(kept.bytes, 65536 + 1);
}

/* The memory may begin at any address; bytes before and behind it stay as they
 * were. */
TEST(memory_need_not_be_aligned)
{
    enum { LINE = 64 };
    const size_t bytes = prof_gzip_bytes();
    unsigned char *const own = packing;
    unsigned char *const around =
        aligned_alloc(LINE, (bytes + (size_t)3 * LINE - 1) / LINE * LINE);

    assert_non_null(around);
    for (size_t offset = 1; offset <= LINE; offset += 9) {
        struct behind behind = {.calls_max = SIZE_MAX};

        memset(around, 0x3c, bytes + (size_t)2 * LINE);
        packing = &around[offset];
        assert_int_equal(pack(&behind, BYTES, BYTES), PROF_OK);
        assert_true(behind.bytes > 65536); /* its buffer was full */
        for (size_t i = 0; i < offset; i++)
            assert_int_equal(around[i], 0x3c);
        for (size_t i = offset + bytes; i < bytes + (size_t)2 * LINE; i++)
            assert_int_equal(around[i], 0x3c);
    }
    packing = own;
    free(around);
}

int
main(void)
{
    return tests_run(some_bytes, no_bytes);
}
