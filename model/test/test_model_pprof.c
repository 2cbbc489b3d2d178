/*
 * test_model_pprof.c -- the model's reader of profiles refuses a message that
 * is damaged inside, and numbers that do not fit 64 bits.
 */
#include "common/test/unit_test.h"

#include <string.h>

#include "model/pprof/pprof_reader.h"

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

static void
expect_times(const char *bytes, size_t bytes_count, int64_t ns)
{
    struct model_pprof profile;

    assert_true(model_pprof_read(&profile, bytes, bytes_count));
    assert_int_equal(profile.time_ns, ns);
    assert_int_equal(profile.duration_ns, ns);
    model_pprof_release(&profile);
}

/* A tag without its number. */
TEST(a_part_that_is_broken_inside_is_refused)
{
    EXPECT(PROFILE(""), NULL);
    EXPECT("", "the outermost message is broken");
    EXPECT(PROFILE("\x08"), "the outermost message is broken");
    EXPECT(PROFILE("\x12\x01\x08"), "a sample is broken");
    EXPECT(PROFILE("\x12\x03\x0a\x01\x80"), "packed numbers are broken");
    EXPECT(PROFILE("\x12\x04\x12\x02\x01\x80"), "packed numbers are broken");
    EXPECT(PROFILE("\x12\x04\x0a\x02\x01\x80"), "packed numbers are broken");
    EXPECT(PROFILE("\x1a\x01\x08"), "a mapping is broken");
    EXPECT(PROFILE("\x22\x01\x08"), "a location is broken");
    EXPECT(PROFILE("\x2a\x01\x08"), "a function is broken");
    /* A location whose line ends in a broken field, behind its function. */
    EXPECT(PROFILE("\x2a\x02\x08\x01\x22\x07\x08\x01\x22\x03\x08\x01\x10"),
           "a line is broken");
    EXPECT(PROFILE("\x22\x06\x08\x01\x22\x02\x08\x01"),
           "a line has no function");
}

TEST(the_first_string_is_the_empty_one)
{
    EXPECT("\x60\x05", "the first string is not empty");
    EXPECT("\x32\x01"
           "a",
           "the first string is not empty");
    EXPECT("\x32\x01"
           "a"
           "\x32\x00",
           "the first string is not empty");
    EXPECT("\x32\x00\x32\x00", NULL);
}

/* A number where a message belongs, and the other way round. */
TEST(a_field_of_the_wrong_kind_has_no_meaning)
{
    EXPECT(PROFILE("\x08\x05"), "a value type is broken");
    EXPECT(PROFILE("\x10\x05"), "a sample is broken");
    EXPECT(PROFILE("\x18\x05"), "a mapping is broken");
    EXPECT(PROFILE("\x20\x05"), "a location is broken");
    EXPECT(PROFILE("\x28\x05"), "a function is broken");
    EXPECT(PROFILE("\x58\x05"), "a value type is broken");
    EXPECT("\x30\x00", "a string is a number");
    EXPECT(PROFILE("\x30\x05"), "a string is a number");
    EXPECT(PROFILE("\x12\x02\x18\x01"), "a label is broken");
    EXPECT(PROFILE("\x22\x04\x08\x01\x20\x01"), "a line is broken");
    /* Times and the default type, behind numbers that are not 0. */
    EXPECT(PROFILE("\x60\x05\x72\x00"), NULL);
    expect_times(PROFILE("\x60\x05\x4a\x00\x60\x05\x52\x00"), 8 + 2, 0);
    expect_times(PROFILE("\x48\x05\x50\x05"), 4 + 2, 5);
}

/* The fields of the outermost message are 1 to 14. */
TEST(a_field_of_no_known_number_is_refused)
{
    EXPECT(PROFILE("\x68\x00"), NULL);
    EXPECT(PROFILE("\x70\x00"), NULL);
    EXPECT(PROFILE("\x78\x00"), "a field is unknown");
    EXPECT(PROFILE("\x80\x01\x00"), "a field is unknown");
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
    /* What lies behind the last location, function and mapping is none: the
     * first function, the numbers of the fields so far, a location. */
    EXPECT(PROFILE("\x2a\x02\x08\x02\x22\x02\x08\x01\x12\x02\x08\x02"),
           "a sample has an unknown location");
    EXPECT("\x22\x06\x08\x01\x22\x02\x08\x04\x32\x00"
           "\x2a\x02\x08\x01\x2a\x02\x08\x02\x2a\x02\x08\x03",
           "a line has no function");
    EXPECT(PROFILE("\x1a\x02\x08\x01\x1a\x02\x08\x02"
                   "\x22\x04\x08\x09\x10\x09"),
           "a location has no mapping");
    /* 2^40, of a function, a location and the sample at it */
    EXPECT(PROFILE("\x2a\x07\x08\x80\x80\x80\x80\x80\x20"
                   "\x22\x10\x08\x80\x80\x80\x80\x80\x20"
                   "\x22\x07\x08\x80\x80\x80\x80\x80\x20"
                   "\x12\x07\x08\x80\x80\x80\x80\x80\x20"),
           NULL);
}

/* Strings "", "a", "b", "c". */
#define LETTERS        \
    "\x32\x00\x32\x01" \
    "a"                \
    "\x32\x01"         \
    "b"                \
    "\x32\x01"         \
    "c"

static void
expect_parts(const struct model_pprof *profile)
{
    assert_string_equal(profile->types[0].type, "a");
    assert_string_equal(profile->types[0].unit, "b");
    assert_int_equal(profile->mappings[0].id, 5);
    assert_int_equal(profile->mappings[0].start, 17);
    assert_int_equal(profile->mappings[0].limit, 18);
    assert_int_equal(profile->mappings[0].offset, 19);
    assert_string_equal(profile->mappings[0].file, "b");
    assert_string_equal(profile->mappings[0].build_id, "c");
    assert_int_equal(profile->functions[0].id, 7);
    assert_string_equal(profile->functions[0].name, "a");
    assert_string_equal(profile->functions[0].system_name, "b");
    assert_string_equal(profile->functions[0].file, "c");
    assert_int_equal(profile->locations[0].id, 6);
    assert_int_equal(profile->locations[0].mapping, 5);
    assert_int_equal(profile->locations[0].address, 20);
    assert_int_equal(profile->locations[0].function, 7);
    assert_int_equal(profile->locations[0].line, 21);
    assert_string_equal(profile->period_type.type, "c");
    assert_string_equal(profile->period_type.unit, "a");
}

/* Each field of a part has another number. */
TEST(each_field_is_read_from_its_own_number)
{
    static const char bytes[] = LETTERS
        "\x0a\x04\x08\x01\x10\x02"                 /* type a, b */
        "\x1a\x0e\x08\x05\x10\x11\x18\x12\x20\x13" /* mapping */
        "\x28\x02\x30\x03\x38\x01"                 /* file b, build id c */
        "\x2a\x08\x08\x07\x10\x01\x18\x02\x20\x03" /* function a, b, c */
        "\x22\x0c\x08\x06\x10\x05\x18\x14"         /* location */
        "\x22\x04\x08\x07\x10\x15"                 /* line 21 of it */
        "\x5a\x04\x08\x03\x10\x01";                /* period type c, a */
    struct model_pprof profile;

    if (!model_pprof_read(&profile, bytes, sizeof bytes - 1))
        fail_msg("refused: %s", profile.reason);
    expect_parts(&profile);
    assert_true(profile.mappings[0].has_functions);
    model_pprof_release(&profile);
    EXPECT(LETTERS "\x2a\x04\x08\x07\x10\x03", NULL);
    EXPECT(LETTERS "\x2a\x04\x08\x07\x10\x04", "a string number is too large");
}

/* 2^40 */
#define LARGE "\x80\x80\x80\x80\x80\x20"

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

int
main(void)
{
    return tests_run(NULL, NULL);
}
