/*
 * test_trace_fuzz.c -- the trace reader returns a verdict for any bytes.
 *
 * The inputs are truncations of every fixture (of the two recorded ones, one
 * truncation in five), and copies with a few bytes changed, by a fixed seed.
 * Without sanitizers the address space is limited to 64 MiB; a verdict "out of
 * memory" fails the test.
 *
 * usage: test_trace_fuzz [full]
 *   full: every truncation, and 50 times as many changed copies: a million, or
 *   50,000 under a sanitizer
 *
 * build: as=test_trace_fuzz
 * build: as=trace_fuzz_full args=full when=long
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/resource.h>

#include "common/test/sanitized.h"
#include "model/trace/trace_reader.h"
#include "common/test/trace_script.h"
#include "common/test/unit_test.h"

#if SANITIZED
#define CORRUPTIONS 1000
#define MAY_LIMIT   0
#else
#define CORRUPTIONS 20000
#define MAY_LIMIT   1
#endif

#define ADDRESS_SPACE_BYTES ((rlim_t)64 << 20)
#define CHANGED_BYTES_MAX   4

#define CUT_EVERY  5
#define FULL_TIMES 50

static size_t corruptions = CORRUPTIONS;
static size_t cut_every = CUT_EVERY; /* for recorded files */

static const char http[] = "fixtures/trace/recorded/http_1_5_good";
static const char stress[] = "fixtures/trace/recorded/stress_1_5_good";

static uint64_t
random_next(uint64_t *state)
{
    uint64_t mixed = *state += 0x9e3779b97f4a7c15u;

    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebu;
    return mixed ^ mixed >> 31;
}

/* Judge the bytes; a verdict must have a reason with a place inside the
 * file. */
static enum model_trace_verdict
judge(struct model_trace *trace, const uint8_t *bytes, size_t count)
{
    const enum model_trace_verdict verdict =
        model_trace_read(trace, bytes, count);

    if (verdict == MODEL_TRACE_OK)
        return verdict;
    assert_true(verdict == MODEL_TRACE_ERROR ||
                verdict == MODEL_TRACE_TIME_ORDER);
    assert_true(trace->reason.offset_bytes <= count);
    assert_true(trace->reason.text[0] != '\0');
    if (strcmp(trace->reason.text, "out of memory") == 0)
        fail_msg("more than 64 MiB for %zu bytes", count);
    return verdict;
}

/* The copy ends where its memory ends, so that a sanitizer sees a read beyond
 * it. */
static void
truncate_at(struct model_trace *trace, const char *path, size_t every,
            size_t verdicts[3])
{
    size_t count;
    uint8_t *bytes = props_trace_load(path, &count);

    for (size_t end = (count - 1) % every; end < count; end += every) {
        uint8_t *copy = malloc(end + 1);
        assert_non_null(copy);
        memcpy(copy + 1, bytes, end);
        verdicts[judge(trace, copy + 1, end)]++;
        free(copy);
    }
    free(bytes);
}

TEST(a_recorded_trace_cut_before_its_frequency_is_an_error)
{
    static const struct {
        const char *path;
        size_t after_frequency; /* length of the timer record at the end */
    } files[] = {{http, 0}, {stress, 3}};
    struct model_trace trace;

    model_trace_init(&trace);
    for (size_t i = 0; i < 2; i++) {
        size_t count;
        size_t verdicts[3] = {0};
        free(props_trace_load(files[i].path, &count));
        truncate_at(&trace, files[i].path, cut_every, verdicts);
        count = (count + cut_every - 1) / cut_every;
        assert_int_equal(verdicts[0] + verdicts[1] + verdicts[2], count);
        assert_true(verdicts[MODEL_TRACE_ERROR] >=
                    count - files[i].after_frequency);
        assert_int_equal(verdicts[MODEL_TRACE_TIME_ORDER], 0);
    }
    model_trace_release(&trace);
}

TEST(every_vector_cut_anywhere_gets_a_verdict)
{
    FILE *index = fopen("fixtures/trace/vectors/INDEX.tsv", "r");
    char line[256];
    size_t verdicts[3] = {0};
    struct model_trace trace;

    assert_non_null(index);
    model_trace_init(&trace);
    while (fgets(line, sizeof line, index) != NULL) {
        char path[192];
        if (line[0] == '#')
            continue;
        (void)snprintf(path, sizeof path, "fixtures/trace/vectors/%.*s",
                       (int)strcspn(line, "\t"), line);
        truncate_at(&trace, path, 1, verdicts);
    }
    (void)fclose(index);
    /* One file begins with its frequency, so its truncations can be good. */
    assert_true(verdicts[MODEL_TRACE_OK] > 0);
    assert_true(verdicts[MODEL_TRACE_ERROR] > 1000);
    model_trace_release(&trace);
}

/* Change up to four bytes, judge, and restore them. */
static void
corrupt(struct model_trace *trace, const char *path, size_t rounds,
        size_t verdicts[3])
{
    uint64_t random = 5;
    size_t count;
    uint8_t *bytes = props_trace_load(path, &count);

    for (size_t round = 0; round < rounds; round++) {
        const size_t changes = 1 + random_next(&random) % CHANGED_BYTES_MAX;
        size_t at[CHANGED_BYTES_MAX];
        uint8_t was[CHANGED_BYTES_MAX];
        for (size_t i = 0; i < changes; i++) {
            at[i] = random_next(&random) % count;
            was[i] = bytes[at[i]];
            /* Half the changes flip one bit: small errors get further into the
             * reader. */
            if (random_next(&random) % 2 == 0)
                bytes[at[i]] ^= (uint8_t)(1u << random_next(&random) % 8);
            else
                bytes[at[i]] = (uint8_t)random_next(&random);
        }
        verdicts[judge(trace, bytes, count)]++;
        for (size_t i = changes; i > 0; i--)
            bytes[at[i - 1]] = was[i - 1];
    }
    assert_int_equal(judge(trace, bytes, count), MODEL_TRACE_OK);
    free(bytes);
}

TEST(corruptions_get_a_verdict)
{
    const size_t rare = corruptions / 200;
    size_t verdicts[3] = {0};
    struct model_trace trace;

    model_trace_init(&trace);
    corrupt(&trace, http, rare, verdicts);
    corrupt(&trace, stress, corruptions - rare, verdicts);
    assert_int_equal(verdicts[0] + verdicts[1] + verdicts[2], corruptions);
    /* Each verdict is reached by some of the corrupted files. */
    assert_true(verdicts[MODEL_TRACE_OK] > corruptions / 1000);
    assert_true(verdicts[MODEL_TRACE_TIME_ORDER] > corruptions / 1000);
    model_trace_release(&trace);
}

static int
within_64_mib(void **state)
{
    struct rlimit limit;

    (void)state;
    if (!MAY_LIMIT || getrlimit(RLIMIT_AS, &limit) != 0)
        return MAY_LIMIT;
    limit.rlim_cur = ADDRESS_SPACE_BYTES;
    return setrlimit(RLIMIT_AS, &limit);
}

int
main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "full") == 0) {
        corruptions *= FULL_TIMES;
        cut_every = 1;
    } else if (argc != 1)
        return 2;
    return tests_run(within_64_mib, NULL);
}
