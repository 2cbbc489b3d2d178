/*
 * test_out.c -- the buffer in front of a sink, to the byte: an item that just
 * fits stays in the buffer; the buffer is flushed when the next item might not
 * fit, and never otherwise. White box: reads the buffer (out.h).
 */
#include <string.h>

#include "out.h"
#include "prof/symbol.h"
#include "unit_test.h"

enum { ROOM = 64, GUARD = 16, LONGEST = TAG_MAX + VARINT_MAX };

struct taken {
    unsigned char bytes[4 * ROOM];
    size_t bytes_count;
    size_t calls;
};

static unsigned char buffer[ROOM + GUARD];
static struct taken taken;
static struct out out;

static enum prof_status
take(void *context, const void *bytes, size_t bytes_count)
{
    struct taken *all = context;

    assert_true(bytes_count > 0);
    assert_true(all->bytes_count + bytes_count <= sizeof all->bytes);
    memcpy(&all->bytes[all->bytes_count], bytes, bytes_count);
    all->bytes_count += bytes_count;
    all->calls++;
    return PROF_OK;
}

/* Begin with `used` bytes in the buffer. */
static void
begin(size_t used)
{
    static const unsigned char filling[ROOM + 1];
    const struct prof_sink sink = {.write = take, .context = &taken};

    memset(buffer, 0xa5, sizeof buffer);
    memset(&taken, 0, sizeof taken);
    prof_out_init(&out, &sink, buffer, ROOM);
    prof_out_bytes(&out, filling, used);
}

static void
assert_guarded(void)
{
    for (size_t i = ROOM; i < sizeof buffer; i++)
        assert_int_equal(buffer[i], 0xa5);
    assert_true(out.used <= ROOM);
}

static void
finish(size_t want_bytes)
{
    assert_int_equal(prof_out_finish(&out), PROF_OK);
    assert_int_equal(taken.bytes_count, want_bytes);
    assert_guarded();
}

TEST(a_sink_is_not_called_for_nothing)
{
    begin(0);
    finish(0);
    begin(0);
    prof_out_bytes(&out, "", 0);
    prof_out_text(&out, NULL);
    prof_out_number(&out, 1, 0); /* an optional field with its default value */
    finish(0);
    assert_int_equal(taken.calls, 0);
}

TEST(a_single_byte_reaches_the_sink)
{
    for (size_t bytes = 1; bytes <= ROOM + 1; bytes += ROOM) {
        begin(bytes);
        finish(bytes);
        assert_int_equal(taken.calls, bytes <= ROOM ? 1 : 2);
    }
}

/* The longest number takes a tag and ten bytes: eleven bytes of room
 * suffice. */
TEST(the_longest_number_fits_at_the_end_of_the_buffer)
{
    for (size_t left = 0; left <= LONGEST + 1; left++) {
        begin(ROOM - left);
        prof_out_number(&out, 15, UINT64_MAX);
        assert_guarded();
        assert_int_equal(taken.calls, left < LONGEST ? 1 : 0);
        finish(ROOM - left + LONGEST);
    }
}

TEST(a_field_begins_at_the_end_of_the_buffer)
{
    for (size_t left = 0; left <= LONGEST + 1; left++) {
        begin(ROOM - left);
        prof_out_field(&out, 15, "bytes", 5);
        assert_guarded();
        assert_int_equal(taken.calls, left < LONGEST ? 1 : 0);
        finish(ROOM - left + 2 + 5);
        assert_memory_equal(&taken.bytes[taken.bytes_count - 5], "bytes", 5);
    }
}

TEST(what_follows_a_failure_stays_in_the_buffer)
{
    begin(0);
    prof_out_fail(&out, PROF_ERR_SINK);
    for (int i = 0; i < 100; i++) {
        prof_out_number(&out, 1, UINT64_MAX);
        assert_true(out.used <= ROOM);
        prof_out_field(&out, 2, "text", 4);
        assert_true(out.used <= ROOM);
    }
    for (size_t i = ROOM; i < sizeof buffer; i++)
        assert_int_equal(buffer[i], 0xa5);
    assert_int_equal(taken.calls, 0);
}

TEST(digits_of_a_number_below_zero_follow_a_sign)
{
    static const struct {
        int64_t value;
        const char *want;
    } rows[] = {{0, "0"},
                {1, "1"},
                {-1, "-1"},
                {INT64_MAX, "9223372036854775807"},
                {INT64_MIN, "-9223372036854775808"}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        begin(0);
        prof_out_i64(&out, rows[i].value);
        finish(strlen(rows[i].want));
        assert_memory_equal(taken.bytes, rows[i].want, taken.bytes_count);
    }
}

/* ---- sinks, names ---- */

TEST(memory_keeps_every_byte_that_fits)
{
    unsigned char bytes[3] = {0};
    struct prof_memory memory = {.bytes = bytes, .bytes_max = 2};
    const struct prof_sink sink = prof_memory_sink(&memory);

    assert_int_equal(sink.write(sink.context, NULL, 0), PROF_OK);
    assert_int_equal(sink.write(sink.context, "a", 1), PROF_OK);
    assert_int_equal(sink.write(sink.context, "bc", 2), PROF_ERR_SINK);
    assert_int_equal(memory.bytes_count, 1);
    assert_int_equal(sink.write(sink.context, "b", 1), PROF_OK);
    assert_int_equal(sink.write(sink.context, "c", 1), PROF_ERR_SINK);
    assert_int_equal(memory.bytes_count, 2);
    assert_memory_equal(bytes, "ab", 3);
}

TEST(names_of_the_runtime_begin_with_its_name_and_a_dot)
{
    static const struct {
        const char *function;
        enum prof_frame_kind want;
    } rows[] = {
        {"runtime.", PROF_FRAME_RUNTIME},
        {"runtime.f", PROF_FRAME_RUNTIME},
        {"runtime.gopark", PROF_FRAME_RUNTIME}, /* as long as the root */
        {"runtime.goexit", PROF_FRAME_ROOT},
        {"runtime.goexit0", PROF_FRAME_RUNTIME},
        {"runtime.goexi", PROF_FRAME_RUNTIME},
        {"runtime", PROF_FRAME_PROGRAM},
        {"runtimes.f", PROF_FRAME_PROGRAM},
        {"main.runtime.f", PROF_FRAME_PROGRAM},
        {"", PROF_FRAME_PROGRAM},
        {NULL, PROF_FRAME_PROGRAM},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(prof_frame_kind_go(rows[i].function), rows[i].want);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
