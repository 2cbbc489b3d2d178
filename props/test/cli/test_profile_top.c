/*
 * test_profile_top.c -- `profsim top` on a profile made by hand: the stacks
 * with the largest values, and the error bounds of a sampled heap's total.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "profile_top.h"
#include "proto.h"
#include "unit_test.h"

enum { TYPES = 3, VALUES_MAX = 8 };

struct sample {
    uint64_t locations[6]; /* from the leaf; 0 ends them */
    int64_t values[TYPES]; /* objects, bytes, delay */
};

/* Locations 1 and 2 have a function and a line, 3 only a function, 4 and 5
 * neither. */
static const struct sample samples[] = {
    {{1, 2, 0}, {4, 4096, 5}}, {{2, 0}, {2, 100, 5}},
    {{1, 2, 0}, {1, 3000, 0}}, {{3, 4, 0}, {1, 100, -1}},
    {{1, 0}, {0, 0, 1}},       {{5, 4, 3, 2, 1, 0}, {3, 30, 0}},
};

static const char *const texts[] = {"",
                                    "inuse_objects",
                                    "count",
                                    "inuse_space",
                                    "bytes",
                                    "delay",
                                    "nanoseconds",
                                    "f",
                                    "g\n",
                                    "h",
                                    "/src/f.c",
                                    "g.c",
                                    "inuse_spaces",
                                    "alloc_space"};

/* What the values are called: numbers of texts. */
static uint64_t types[TYPES] = {1, 3, 5};

static void
put_pair(struct cli_proto *to, uint32_t field, uint64_t first, uint64_t second)
{
    struct cli_proto one = {.count = 0};

    cli_proto_number(&one, 1, first);
    cli_proto_number(&one, 2, second);
    cli_proto_message(to, field, &one);
}

static void
put_sample(struct cli_proto *profile, const struct sample *from)
{
    struct cli_proto sample = {.count = 0};
    struct cli_proto list = {.count = 0};

    for (int i = 0; from->locations[i] != 0; i++)
        cli_proto_varint(&list, from->locations[i]);
    cli_proto_message(&sample, 1, &list);
    for (int type = 0; type < TYPES; type++)
        cli_proto_varint(&list, (uint64_t)from->values[type]);
    cli_proto_message(&sample, 2, &list);
    cli_proto_message(profile, 2, &sample);
}

static void
put_code(struct cli_proto *profile)
{
    static const uint64_t lines[] = {17, 4, 0};

    for (uint64_t id = 1; id <= 5; id++) {
        struct cli_proto location = {.count = 0};

        cli_proto_number(&location, 1, id);
        cli_proto_number(&location, 3, 0x1000 + id);
        if (id <= 3)
            put_pair(&location, 4, id, lines[id - 1]);
        cli_proto_message(profile, 4, &location);
    }
    for (uint64_t id = 1; id <= 3; id++) {
        struct cli_proto function = {.count = 0};

        cli_proto_number(&function, 1, id);
        cli_proto_number(&function, 2, 6 + id);
        cli_proto_number(&function, 4, id <= 2 ? 9 + id : 10);
        cli_proto_message(profile, 5, &function);
    }
}

static struct cli_named_profile
make(size_t samples_count, uint64_t period)
{
    struct cli_named_profile named = {.samples_count = samples_count};

    for (size_t i = 0; i < TYPES; i++)
        put_pair(&named.proto, 1, types[i], 2 + 2 * i);
    for (size_t i = 0; i < samples_count; i++)
        put_sample(&named.proto, &samples[i]);
    put_code(&named.proto);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        cli_proto_text(&named.proto, 6, texts[i]);
    cli_proto_number(&named.proto, 12, period);
    assert_false(named.proto.failed);
    return named;
}

static void
expect_top(size_t samples_count, uint64_t period, const char *type, size_t most,
           const char *want)
{
    struct cli_named_profile named = make(samples_count, period);
    char text[1024] = "";
    FILE *file = fmemopen(text, sizeof text, "w");

    assert_non_null(file);
    assert_int_equal(cli_profile_top(&named, type, most, file), want != NULL);
    assert_int_equal(fclose(file), 0);
    assert_string_equal(text, want != NULL ? want : "");
    free(named.proto.at);
}

#define ALL sizeof samples / sizeof *samples

TEST(samples_of_a_stack_are_one_line_and_the_largest_comes_first)
{
    expect_top(ALL, 1, "inuse_space", 9,
               "inuse_space: 7326 bytes, exact\n"
               "          7096  96.9 %  f (f.c:17) < g\\n (g.c:4)\n"
               "           100   1.4 %  g\\n (g.c:4)\n"
               "           100   1.4 %  h < 0x1004\n"
               "            30   0.4 %  0x1005 < 0x1004 < h < g\\n (g.c:4)\n");
    expect_top(ALL, 0, "inuse_objects", 2,
               "inuse_objects: 11 count, exact\n"
               "             5  45.5 %  f (f.c:17) < g\\n (g.c:4)\n"
               "             3  27.3 %  0x1005 < 0x1004 < h < g\\n (g.c:4)\n");
    /* Times have no rate in bytes, so no error is shown. Values that are not
     * above 0 are left out. */
    expect_top(ALL, 1000, "delay", 9,
               "delay: 10 nanoseconds\n"
               "             5  50.0 %  f (f.c:17) < g\\n (g.c:4)\n"
               "             5  50.0 %  g\\n (g.c:4)\n"
               "             1  10.0 %  f (f.c:17)\n");
    expect_top(ALL, 1, "inuse", 9, NULL);
    expect_top(ALL, 1, "bytes", 9, NULL);
    expect_top(0, 1, "inuse_space", 9, "inuse_space: 0 bytes, exact\n");
}

/* An object of S bytes is sampled with the probability p = 1 - exp(-S/R), and
 * then counts as 1/p objects. So the variance of n objects' sum is n (1 - p) /
 * p. */
static void
expect_error(size_t samples_count, uint64_t period, bool in_bytes)
{
    struct cli_named_profile named = make(samples_count, period);
    char text[1024] = "";
    char want[256];
    FILE *file = fmemopen(text, sizeof text, "w");
    double variance = 0;
    double sum = 0;

    for (size_t i = 0; i < samples_count; i++) {
        const double n = (double)samples[i].values[0];
        const double size = (double)samples[i].values[1] / (n > 0 ? n : 1);
        const double p = 1 - exp(-size / (double)period);

        sum += in_bytes ? n * size : n;
        if (n > 0)
            variance += n * (1 - p) / p * (in_bytes ? size * size : 1);
    }
    snprintf(want, sizeof want,
             "%s: %.0f %s +/- %.0f (%.1f %%), estimated from a sample per "
             "%" PRIu64 " bytes (2 standard deviations)\n",
             in_bytes ? "inuse_space" : "inuse_objects", sum,
             in_bytes ? "bytes" : "count", 2 * sqrt(variance),
             200 * sqrt(variance) / sum, period);
    assert_non_null(file);
    assert_true(cli_profile_top(
        &named, in_bytes ? "inuse_space" : "inuse_objects", 0, file));
    assert_int_equal(fclose(file), 0);
    assert_string_equal(text, want);
    free(named.proto.at);
}

TEST(the_error_of_a_total_is_that_of_its_samples)
{
    static const uint64_t periods[] = {2, 1000, 524288};

    for (size_t i = 0; i < sizeof periods / sizeof *periods; i++) {
        for (size_t count = 1; count <= ALL; count++) {
            expect_error(count, periods[i], true);
            expect_error(count, periods[i], false);
        }
    }
    /* exp(-B / 1000) is 5 % at B = 2,996 bytes. */
    expect_top(0, 1000, "inuse_space", 9,
               "inuse_space: 0 bytes, no sample; at most 2996 bytes (95 %) at "
               "a sample per 1000 bytes\n");
}

/* Bytes without the number of objects are of blocks of unknown sizes. */
TEST(an_error_needs_objects_and_their_bytes)
{
    static const uint64_t orders[][TYPES] = {
        {3, 5, 1}, {5, 3, 1}, {1, 5, 3}, {1, 12, 3}, {1, 13, 3}};
    char want[64];

    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        const bool is_first = orders[i][0] == 3;
        const bool is_second = orders[i][1] == 3;
        const char *const unit = is_first    ? "count"
                                 : is_second ? "bytes"
                                             : "nanoseconds";
        const int sum = is_first ? 11 : is_second ? 7326 : 10;

        memcpy(types, orders[i], sizeof types);
        snprintf(want, sizeof want, "inuse_space: %d %s\n", sum, unit);
        expect_top(ALL, 1000, "inuse_space", 0, want);
        snprintf(want, sizeof want, "inuse_space: %d %s, exact\n", sum, unit);
        expect_top(ALL, 1, "inuse_space", 0, want);
    }
    memcpy(types, (const uint64_t[]){5, 3, 1}, sizeof types);
    expect_top(ALL, 1000, "inuse_objects", 0,
               "inuse_objects: 10 nanoseconds\n");
    memcpy(types, (const uint64_t[]){1, 12, 5}, sizeof types);
    expect_top(ALL, 1000, "inuse_objects", 0, "inuse_objects: 11 count\n");
    memcpy(types, (const uint64_t[]){1, 3, 5}, sizeof types);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
