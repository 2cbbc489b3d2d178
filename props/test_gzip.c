/*
 * test_gzip.c -- the compressing sink: gzip(1) finds in what it handed on what
 * it was given, in pieces of any size; what is behind it may fail at any call,
 * and its memory may be too small.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "prof/gzip.h"

enum { BYTES = 600000, PACKED_BYTES_MAX = 2 * BYTES };

static unsigned char given[BYTES];
static unsigned char packed[PACKED_BYTES_MAX];
static unsigned char *packing;

static uint64_t
next_word(uint64_t *state)
{
    *state = *state * 6364136223846793005U + 1442695040888963407U;
    return *state >> 33;
}

/* Noise, runs and repetitions in turns, so that both kinds of blocks occur. */
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

struct behind {
    size_t calls_max; /* the call after them is refused */
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

/* Pack the first `bytes_count` in pieces of at most `piece_max`. */
static enum prof_status
pack(struct behind *behind, size_t bytes_count, size_t piece_max)
{
    const struct prof_sink to = {.write = take, .context = behind};
    enum prof_status status = PROF_OK;
    uint64_t seed = piece_max;
    struct prof_gzip gzip;
    struct prof_sink sink;

    prof_gzip_begin(&gzip, &to, packing, prof_gzip_bytes());
    sink = prof_gzip_sink(&gzip);
    for (size_t at = 0; at < bytes_count && status == PROF_OK;) {
        size_t piece = 1 + next_word(&seed) % piece_max;

        piece = piece < bytes_count - at ? piece : bytes_count - at;
        status = sink.write(sink.context, &given[at], piece);
        at += piece;
    }
    return prof_gzip_end(&gzip, status);
}

/* Has gzip(1) the same bytes for it? */
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

static void
what_comes_out_unpacks_to_what_went_in(void **state)
{
    static const size_t pieces_max[] = {1, 100, 65536, BYTES};

    (void)state;
    for (size_t i = 0; i < sizeof pieces_max / sizeof *pieces_max; i++) {
        struct behind behind = {.calls_max = SIZE_MAX};

        assert_int_equal(pack(&behind, BYTES, pieces_max[i]), PROF_OK);
        assert_true(behind.bytes < BYTES);
        assert_true(behind.calls > 2);
        unpacks_to_given(&behind, BYTES);
    }
}

static void
nothing_at_all_is_a_whole_member_too(void **state)
{
    struct behind behind = {.calls_max = SIZE_MAX};

    (void)state;
    assert_int_equal(pack(&behind, 0, 1), PROF_OK);
    unpacks_to_given(&behind, 0);
}

static void
the_same_pieces_give_the_same_bytes_again(void **state)
{
    static unsigned char first[PACKED_BYTES_MAX];
    struct behind before = {.calls_max = SIZE_MAX};
    struct behind behind = {.calls_max = SIZE_MAX};

    (void)state;
    memset(packing, 0xa5, prof_gzip_bytes());
    assert_int_equal(pack(&before, BYTES, 65536), PROF_OK);
    memcpy(first, packed, before.bytes);
    memset(packing, 0x5a, prof_gzip_bytes());
    assert_int_equal(pack(&behind, BYTES, 65536), PROF_OK);
    assert_int_equal(behind.bytes, before.bytes);
    assert_memory_equal(packed, first, before.bytes);
}

static void
a_sink_behind_that_fails_is_reported_and_not_called_again(void **state)
{
    bool whole = false;

    (void)state;
    for (size_t calls_max = 0; !whole; calls_max++) {
        struct behind behind = {.calls_max = calls_max};
        const enum prof_status status = pack(&behind, BYTES, 65536);

        assert_true(calls_max < 100);
        whole = behind.calls <= calls_max;
        assert_int_equal(status, whole ? PROF_OK : PROF_ERR_SINK);
        assert_int_equal(behind.calls, calls_max + !whole);
    }
}

static void
a_profile_that_failed_gets_no_end(void **state)
{
    struct behind behind = {.calls_max = SIZE_MAX};
    const struct prof_sink to = {.write = take, .context = &behind};
    struct prof_gzip gzip;

    (void)state;
    prof_gzip_begin(&gzip, &to, packing, prof_gzip_bytes());
    assert_int_equal(prof_gzip_end(&gzip, PROF_ERR_SHORT), PROF_ERR_SHORT);
    assert_int_equal(behind.calls, 0);
}

static void
memory_one_byte_too_small_is_reported(void **state)
{
    struct behind behind = {.calls_max = SIZE_MAX};
    const struct prof_sink to = {.write = take, .context = &behind};
    const size_t sizes[] = {0, 1, prof_gzip_bytes() - 1};

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct prof_gzip gzip;
        struct prof_sink sink;

        prof_gzip_begin(&gzip, &to, packing, sizes[i]);
        sink = prof_gzip_sink(&gzip);
        assert_int_equal(sink.write(sink.context, given, 1), PROF_ERR_MEMORY);
        assert_int_equal(prof_gzip_end(&gzip, PROF_OK), PROF_ERR_MEMORY);
        assert_int_equal(behind.calls, 0);
    }
}

/* The ten bytes Go begins with: no name, no time, fastest, unknown system. */
static void
a_compressed_profile_says_nothing_of_when_and_where(void **state)
{
    static const unsigned char want[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 0xff};
    struct behind behind = {.calls_max = SIZE_MAX};

    (void)state;
    assert_int_equal(pack(&behind, 10000, 100), PROF_OK);
    assert_memory_equal(packed, want, sizeof want);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_comes_out_unpacks_to_what_went_in),
        cmocka_unit_test(nothing_at_all_is_a_whole_member_too),
        cmocka_unit_test(the_same_pieces_give_the_same_bytes_again),
        cmocka_unit_test(
            a_sink_behind_that_fails_is_reported_and_not_called_again),
        cmocka_unit_test(a_profile_that_failed_gets_no_end),
        cmocka_unit_test(memory_one_byte_too_small_is_reported),
        cmocka_unit_test(a_compressed_profile_says_nothing_of_when_and_where),
    };

    return cmocka_run_group_tests(tests, some_bytes, no_bytes);
}
