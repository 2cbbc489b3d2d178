/*
 * test_model_pprof.c -- the model's reader of profiles refuses a message that
 * is damaged inside, and numbers that do not fit 64 bits.
 */
#include "unit_test.h"

#include <string.h>

#include "pprof.h"

/* A profile whose string table has only "", followed by one more field. */
#define PROFILE(more) "\x32\x00" more

static void
expect(const char *bytes, size_t bytes_count, const char *reason)
{
    struct model_pprof profile;
    const bool good = model_pprof_read(&profile, bytes, bytes_count);

    if (reason == NULL && !good)
        fail_msg("refused: %s", profile.reason);
    if (reason != NULL) {
        assert_false(good);
        assert_string_equal(profile.reason, reason);
    }
    model_pprof_release(&profile);
}

#define EXPECT(bytes, reason) expect(bytes, sizeof(bytes) - 1, reason)

/* A tag without its number. */
TEST(a_part_that_is_broken_inside_is_refused)
{
    EXPECT(PROFILE(""), NULL);
    EXPECT("", "the outermost message is broken");
    EXPECT(PROFILE("\x08"), "the outermost message is broken");
    EXPECT(PROFILE("\x12\x01\x08"), "a sample is broken");
    EXPECT(PROFILE("\x1a\x01\x08"), "a mapping is broken");
    EXPECT(PROFILE("\x22\x01\x08"), "a location is broken");
    EXPECT(PROFILE("\x2a\x01\x08"), "a function is broken");
    /* A location whose line ends in a broken field, behind its function. */
    EXPECT(PROFILE("\x2a\x02\x08\x01\x22\x07\x08\x01\x22\x03\x08\x01\x10"),
           "a line is broken");
    EXPECT(PROFILE("\x22\x06\x08\x01\x22\x02\x08\x01"),
           "a line has no function");
}

/* Ids need not count from 1, nor be in order; but each is one thing's alone. */
TEST(an_id_is_any_number_but_0_and_of_one_thing)
{
    EXPECT(PROFILE("\x22\x02\x08\x05\x22\x02\x08\x09\x22\x02\x08\x01"
                   "\x12\x06\x08\x01\x08\x09\x08\x05"),
           NULL);
    EXPECT(PROFILE("\x22\x02\x08\x05\x22\x02\x08\x09\x12\x02\x08\x07"),
           "a sample has an unknown location");
    EXPECT(PROFILE("\x22\x02\x08\x05\x22\x02\x08\x09\x12\x02\x08\x01"),
           "a sample has an unknown location");
    EXPECT(PROFILE("\x22\x00"), "a location's id is 0 or taken");
    EXPECT(PROFILE("\x22\x02\x08\x05\x22\x02\x08\x05"),
           "a location's id is 0 or taken");
    EXPECT(PROFILE("\x2a\x02\x08\x05\x2a\x02\x08\x01"), NULL);
    EXPECT(PROFILE("\x2a\x00"), "a function's id is 0 or taken");
    EXPECT(PROFILE("\x2a\x02\x08\x05\x2a\x02\x08\x01\x2a\x02\x08\x05"),
           "a function's id is 0 or taken");
    EXPECT(PROFILE("\x1a\x02\x08\x05\x1a\x02\x08\x01"), NULL);
    EXPECT(PROFILE("\x1a\x00"), "a mapping has no id");
    EXPECT(PROFILE("\x1a\x02\x08\x05\x1a\x02\x08\x01\x1a\x02\x08\x05"),
           "two mappings have one id");
    EXPECT(PROFILE("\x1a\x02\x08\x05\x22\x04\x08\x01\x10\x04"),
           "a location has no mapping");
    /* 2^40, of a function, a location and the sample at it */
    EXPECT(PROFILE("\x2a\x07\x08\x80\x80\x80\x80\x80\x20"
                   "\x22\x10\x08\x80\x80\x80\x80\x80\x20"
                   "\x22\x07\x08\x80\x80\x80\x80\x80\x20"
                   "\x12\x07\x08\x80\x80\x80\x80\x80\x20"),
           NULL);
}

static void
expect_period(const char *bytes, size_t bytes_count, int64_t period)
{
    struct model_pprof profile;

    assert_true(model_pprof_read(&profile, bytes, bytes_count));
    assert_int_equal(profile.period, period);
    model_pprof_release(&profile);
}

/* A number has at most ten groups of seven bits, and the last group only one
 * bit. */
TEST(a_number_is_read_up_to_64_bits)
{
    static const char all[] =
        PROFILE("\x60\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
    static const char most[] =
        PROFILE("\x60\xff\xff\xff\xff\xff\xff\xff\xff\x7f");
    static const char padded[] =
        PROFILE("\x60\x85\x80\x80\x80\x80\x80\x80\x80\x80\x00");

    expect_period(all, sizeof all - 1, -1);
    expect_period(most, sizeof most - 1, INT64_MAX);
    expect_period(padded, sizeof padded - 1, 5);
    EXPECT(PROFILE("\x60\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"),
           "the outermost message is broken");
    EXPECT(PROFILE("\x60\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00"),
           "the outermost message is broken");
}

/* With any room either the whole text or nothing is written, and no byte
 * beyond. */
TEST(columns_stay_within_their_room)
{
    static const char text[] = "a\tbc\nlonger than eight\td\n";
    static const char want[] = "a\t\t\tbc\nlonger than eight\td\n";
    char to[sizeof want + 8];

    for (size_t room = 0; room < sizeof to; room++) {
        const bool fits = room >= sizeof want - 1;

        memset(to, '#', sizeof to);
        assert_int_equal(model_tabs(to, room, text, sizeof text - 1),
                         fits ? sizeof want - 1 : 0);
        if (fits)
            assert_memory_equal(to, want, sizeof want - 1);
        for (size_t i = room; i < sizeof to; i++)
            assert_int_equal(to[i], '#');
    }
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
