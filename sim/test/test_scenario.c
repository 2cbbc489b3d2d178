/*
 * test_scenario.c -- the language of scenario files: the meaning of each line,
 * the errors of wrong ones, word for word, and what is said of a result that is
 * not the expected one.
 */
#include "sim/scenario/scenario.h"

#include <stdlib.h>
#include <string.h>

#include "common/test/sanitized.h"
#include "common/test/unit_test.h"

#define FIRST "profsim scenario 2\n"
#define TASKS FIRST "scheduled\n"

static struct sim_scenario *
read_good(const char *text)
{
    struct sim_error error = {{0}};
    struct sim_scenario *s =
        sim_scenario_parse(text, strlen(text), "x.sim", &error);

    if (s == NULL)
        fail_msg("refused: %s", error.text);
    return s;
}

static void
assert_refused_bytes(const char *text, size_t bytes, const char *reason)
{
    struct sim_error error = {{0}};

    assert_null(sim_scenario_parse(text, bytes, "x.sim", &error));
    if (strcmp(error.text, reason) != 0)
        fail_msg("%s\n'%s' instead of\n'%s'", text, error.text, reason);
}

/* ---- meaning ---- */

TEST(every_directive_sets_its_field)
{
    struct sim_scenario *s = read_good(
        FIRST "rules go1.17\nhash go-32\nbuckets 7\ndepth 1024\nframes 99\n"
              "cycle 100663295\nprocs 8\n"
              "clock 7 offset=-12 drift=+30ppm\nclock 0 drift=-1000000ppm\n");

    assert_ptr_equal(s->config.rules, &prof_rules_go1_17);
    assert_int_equal(s->config.hash, PROF_HASH_GO_32);
    assert_int_equal(s->config.buckets_max, 7);
    assert_int_equal(s->config.depth_max, 1024);
    assert_int_equal(s->config.frames_max, 99);
    assert_int_equal(s->config.cycle_first, PROF_CYCLE_WRAP - 1);
    assert_int_equal(s->config.procs, 8);
    assert_int_equal(s->config.clocks[7].offset_ticks, -12);
    assert_int_equal(s->config.clocks[7].drift_ppm, 30);
    assert_int_equal(s->config.clocks[0].drift_ppm, -1000000);
    sim_scenario_free(s);
}

TEST(a_stack_is_written_root_first_and_kept_leaf_first)
{
    struct sim_scenario *s =
        read_good(FIRST "stack a = main > 0x1F>lookup@0x401005\nstack b = -\n");
    const struct truth_stack *a = &s->config.stacks[0];

    assert_int_equal(s->config.stacks_count, 2);
    assert_int_equal(a->depth, 3);
    assert_int_equal(a->frames[0], 0x401005);
    assert_int_equal(a->frames[1], 0x1f);
    assert_int_equal(a->frames[2], sim_frame_address("main"));
    assert_string_equal(sim_scenario_frame_name(s, 0x401005), "lookup");
    assert_string_equal(sim_scenario_frame_name(s, a->frames[2]), "main");
    assert_null(sim_scenario_frame_name(s, 0x1f));
    assert_int_equal(s->config.stacks[1].depth, 0);
    sim_scenario_free(s);
}

TEST(a_function_lives_at_an_address_made_of_its_name)
{
    /* FNV-1a, 64 bits: its authors give these hashes of "a" and "foobar". */
    const uint64_t a = 0xaf63dc4c8601ec8cU;
    const uint64_t foobar = 0x85944171f73967e8U;
    const uint64_t places = UINT64_C(1) << 42;

    assert_int_equal(sim_frame_address("a"),
                     (UINT64_C(1) << 46) + 16 * (a % places) + 5);
    assert_int_equal(sim_frame_address("foobar"),
                     (UINT64_C(1) << 46) + 16 * (foobar % places) + 5);
}

/* Line ends, tabs, comments, upper case and zeros that mean nothing are gone;
 * what is as it is without saying is not said. */
TEST(printing_is_canonical)
{
    static const char wanted[] =
        "profsim scenario 2\n# why\n\n"
        "rules go1.5\nprocs 2\nclock 1 offset=-5 drift=7ppm\n"
        "stack a = main>0xff>f@0x10\nstack b = -\n\n"
        "@+3 t2: alloc x a 8\nsnapshot room=2\n"
        "  expect count 1\n  expect order a:8\n  expect a 8 1/0\n"
        "block b -4\nblock-snapshot\n  expect order b\n"
        "  expect b 1 events 1 cycles\nmutex-snapshot\n  expect nothing\n"
        "snapshot room=0\n  expect short\n\nexpect property H2 broken\n";
    struct sim_scenario *s = read_good(
        "profsim scenario 2\r\n#why\r\n\tprocs \t2\nrules go1.5\nhash "
        "multilinear\n"
        "clock 0 offset=0\nclock 1 drift=+7ppm offset=-5\n\n\n# gone\n"
        "stack a = main > 0xFF >f@0x0010\nstack b = -\ndepth 32\n"
        "@+3 t2: alloc x a 08 # gone\n@+0 t0: snapshot room=02\n"
        "expect count 1\nexpect order a:8\nexpect a 8 1/0\n"
        "block b -4\nblock-snapshot\nexpect order b\n"
        "expect b 1 events 1 cycles\nmutex-snapshot\nexpect nothing\n"
        "snapshot room=0\nexpect short\nexpect property H2 broken\n");
    char *text = NULL;
    size_t bytes = 0;
    FILE *file = open_memstream(&text, &bytes);

    assert_non_null(file);
    assert_true(sim_scenario_print(file, s));
    assert_int_equal(fclose(file), 0);
    assert_string_equal(text, wanted);
    free(text);
    sim_scenario_free(s);
}

/* ---- refusals ---- */

/* clang-format off */
static const char *const refusals[][2] = {
    /* A mistyped word is answered with the nearest one. */
    {FIRST "\nsnapsot\n", "x.sim:3: unknown event 'snapsot'; did you mean 'snapshot'?"},
    {FIRST "ruels exact\n", "x.sim:2: unknown word 'ruels'; did you mean 'rules'?"},
    {FIRST "frobnicate\n", "x.sim:2: unknown event 'frobnicate'"},
    {FIRST "rules go1.6\n", "x.sim:2: unknown rules 'go1.6'; did you mean 'go1.5'?"},
    {FIRST "hash multilinea\n", "x.sim:2: unknown hash 'multilinea'; did you mean 'multilinear'?"},
    {FIRST "stack parse = p\nalloc o prase 8\n", "x.sim:3: unknown stack 'prase'; did you mean 'parse'?"},
    {FIRST "snapshot\nexpect nothign\n", "x.sim:3: unknown expectation 'nothign'; did you mean 'nothing'?"},
    {FIRST "snapshot\nexpect pass\n", "x.sim:3: unknown outcome 'pass'; it is 'ok' or 'property ID broken'"},
    {FIRST "snapshot\nexpect pass 8 0/0\n", "x.sim:3: unknown stack 'pass'"},
    {TASKS "instruments trase\n", "x.sim:3: unknown instrument 'trase'; did you mean 'trace'?"},
    /* What is no scenario. */
    {"", "x.sim:1: not a scenario: the first line is not 'profsim scenario 2'"},
    {"\xef\xbb\xbf" FIRST, "x.sim:1: not a scenario: the first line is not 'profsim scenario 2'"},
    {"profsim scenario 1\n", "x.sim:1: version '1' is unknown; this is version 2"},
    {"\x7f" "ELF", "x.sim:1: not a text file: byte 0x7f in column 1"},
    {FIRST "# \x1b[31m\n", "x.sim:2: not a text file: byte 0x1b in column 3"},
    {FIRST "a\rb\n", "x.sim:2: not a text file: byte 0x0d in column 2"},
    {FIRST "\xff\xfe\n", "x.sim:2: not a text file: byte 0xff in column 1"},
    {FIRST "caf\xc3\xa9\n", "x.sim:2: unknown event 'caf\xc3\xa9'"},
    {FIRST "# \xc2\x9b" "2J\n", "x.sim:2: not a text file: byte 0xc2 in column 3"},
    /* A number out of range is quoted with its range. */
    {FIRST "depth 0\n", "x.sim:2: depth '0' is not a whole number from 1 to 1024"},
    {FIRST "depth 1025\n", "x.sim:2: depth '1025' is not a whole number from 1 to 1024"},
    {FIRST "cycle 100663296\n", "x.sim:2: cycle '100663296' is not a whole number from 0 to 100663295"},
    {FIRST "buckets -1\n", "x.sim:2: buckets '-1' is not a whole number from 1 to 134217728"},
    {FIRST "procs 9\n", "x.sim:2: procs '9' is not a whole number from 1 to 8"},
    {TASKS "buffers 129\n", "x.sim:3: buffers '129' is not a whole number from 1 to 128"},
    {FIRST "stack a = f\nalloc o a 18446744073709551616\n", "x.sim:3: size '18446744073709551616' is not a whole number from 0 to 18446744073709551615"},
    {FIRST "stack a = f\nblock a 9223372036854775808\n", "x.sim:3: cycles '9223372036854775808' is not a whole number from -9223372036854775808 to 9223372036854775807"},
    {FIRST "snapshot room=4294967295\n", "x.sim:2: room '4294967295' is not a whole number from 0 to 4294967294"},
    {FIRST "t1024: snapshot\n", "x.sim:2: 't1024:' is not a task or a processor; write t0: to t1023:, p0: to p7:"},
    {TASKS "p9: end\n", "x.sim:3: 'p9:' is not a task or a processor; write t0: to t1023:, p0: to p7:"},
    {FIRST "@5 snapshot\n", "x.sim:2: '@5' is not a delay; write @+TICKS"},
    {FIRST "@+8796093022207 snapshot\n@+1 snapshot\n", "x.sim:3: the delays add up to 2^43 ticks or more"},
    {FIRST "clock 0 drift=1000000001ppm\n", "x.sim:2: drift '1000000001ppm' is not Nppm, 1000000000 at most"},
    {FIRST "clock 0 offset=4611686018427387905\n", "x.sim:2: offset '4611686018427387905' is not a whole number, 2^62 at most"},
    {FIRST "stack a = 0x10000000000000000\n", "x.sim:2: frame '0x10000000000000000' is not a 64-bit address"},
    /* A name means one thing. */
    {FIRST "stack a = f\nstack a = g\n", "x.sim:3: stack 'a' was given before"},
    {FIRST "stack a = f\nalloc o a 1\nalloc o a 1\n", "x.sim:4: object 'o' was allocated before; a name is for one object"},
    {FIRST "drop o\n", "x.sim:2: object 'o' has not been allocated"},
    {FIRST "stack count = f\n", "x.sim:2: 'count' cannot be the name of a stack"},
    {FIRST "stack a = f@0x5>g@0x5\n", "x.sim:2: 0x5 is in 'f' already, not in 'g'"},
    {FIRST "stack a = f>>g\n", "x.sim:2: frame '' is no address and no function name"},
    {FIRST "stack a =\n", "x.sim:2: the frames are missing; '-' stands for none"},
    {FIRST "depth 3\ndepth 3\n", "x.sim:3: this was given in line 2 already"},
    {FIRST "clock 1 offset=1\n", "x.sim:2: there is no processor 1; give 'procs' first"},
    /* Lines have their places, and a processor its events. */
    {FIRST "snapshot\ndepth 3\n", "x.sim:3: 'depth' must come before the first event"},
    {FIRST "gc-mark\nexpect nothing\n", "x.sim:3: 'expect' must follow an event that reads, such as snapshot or iterate"},
    {FIRST "expect ok\nsnapshot\n", "x.sim:3: an event after the outcome of line 2"},
    {FIRST "snapshot\nexpect ok\nexpect nothing\n", "x.sim:4: an expectation after the outcome of line 3"},
    {FIRST "expect ok\nexpect ok\n", "x.sim:3: the outcome was given in line 2 already"},
    {FIRST "gc-mark now\n", "x.sim:2: unexpected 'now' at the end of the line"},
    {FIRST "alloc\n", "x.sim:2: the object is missing at the end of the line"},
    {FIRST "expect property H2 bent\n", "x.sim:2: expected 'broken', found 'bent'"},
    {TASKS "t1: end\n", "x.sim:3: 'end' is done by a processor: write p1:"},
    {TASKS "p1: exit\n", "x.sim:3: 'exit' is done by a task: write t1:"},
};
/* clang-format on */

TEST(what_is_wrong_is_refused_with_its_line)
{
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        assert_refused_bytes(refusals[i][0], strlen(refusals[i][0]),
                             refusals[i][1]);
    assert_refused_bytes(FIRST "alloc\0x", 26,
                         "x.sim:2: not a text file: byte 0x00 in column 6");
}

/* ---- limits ---- */

/* Repeat a piece behind a beginning. returns: the text, to be freed */
static char *
repeated(const char *begin, const char *piece, size_t times)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *file = open_memstream(&text, &bytes);

    assert_non_null(file);
    assert_true(fputs(begin, file) >= 0);
    while (times-- > 0)
        assert_true(fputs(piece, file) >= 0);
    assert_int_equal(fclose(file), 0);
    return text;
}

static void
expect_limit(const char *begin, const char *piece, size_t most,
             const char *reason)
{
    char *text = repeated(begin, piece, most);

    sim_scenario_free(read_good(text));
    free(text);
    text = repeated(begin, piece, most + 1);
    assert_refused_bytes(text, strlen(text), reason);
    free(text);
}

TEST(a_file_has_limits)
{
    expect_limit(FIRST, "#", SIM_SCENARIO_LINE_MAX,
                 "x.sim:2: the line is longer than 1048576 bytes");
    expect_limit(FIRST "stack a = f", ">f", 2047,
                 "x.sim:2: the stack is deeper than 2048 frames");
#if !SANITIZED /* ten seconds, which show nothing more */
    expect_limit(FIRST, "iterate\n", 1000000,
                 "x.sim:1000002: more than 1000000 events");
#endif
}

TEST(a_file_that_cannot_be_read_is_named)
{
    struct sim_error error = {{0}};

    assert_null(sim_scenario_read("no/such.sim", &error));
    assert_string_equal(error.text, "no/such.sim: No such file or directory");
    assert_null(sim_scenario_read(".", &error));
    assert_string_equal(error.text, ".: Is a directory");
}

/* ---- results that are not the expected ones ---- */

static void
assert_differs(const struct sim_scenario *s, const struct sim_answer *answer,
               const char *text)
{
    struct sim_error error = {{0}};

    assert_false(sim_scenario_check_answer(s, 0, answer, &error));
    assert_string_equal(error.text, text);
}

TEST(the_first_difference_of_a_heap_answer_is_described)
{
    struct sim_scenario *s =
        read_good(FIRST "depth 2\nstack a = x>g>f\nsnapshot\nexpect count 1\n"
                        "expect order a:8\nexpect a 8 2/1\n");
    const uintptr_t gf[] = {sim_frame_address("f"), sim_frame_address("g")};
    struct prof_heap_record record = {
        .allocs = 2, .frees = 1, .size_bytes = 8, .stack = gf, .depth = 2};
    struct sim_answer answer = {.kind = SIM_EV_SNAPSHOT,
                                .status = PROF_OK,
                                .count = 1,
                                .heap = &record};
    struct sim_error error = {{0}};

    assert_true(sim_scenario_check_answer(s, 0, &answer, &error));
    record.frees = 2;
    assert_differs(s, &answer, "x.sim:7: expected a 8 2/1, found 2/2");
    record.size_bytes = 9;
    assert_differs(s, &answer,
                   "x.sim:6: expected a in place 1, found another bucket");
    answer.count = 0;
    assert_differs(s, &answer, "x.sim:5: expected count 1, found 0");
    answer.kind = SIM_EV_COUNT;
    assert_differs(s, &answer,
                   "x.sim:5: expected an answer to 'snapshot', found none");
    sim_scenario_free(s);
}

TEST(a_short_answer_lists_nothing)
{
    struct sim_scenario *s =
        read_good(FIRST "stack a = f\nsnapshot room=0\nexpect count 1\n"
                        "expect short\nexpect a 8 1/0\n");
    struct sim_answer answer = {
        .kind = SIM_EV_SNAPSHOT, .status = PROF_ERR_SHORT, .count = 1};

    assert_differs(s, &answer,
                   "x.sim:6: expected a listing, found 'the buffer is too "
                   "short'");
    answer.status = PROF_OK;
    assert_differs(s, &answer,
                   "x.sim:5: expected a buffer too short, found 'ok'");
    sim_scenario_free(s);
}

TEST(the_first_difference_of_a_contention_answer_is_described)
{
    struct sim_scenario *s =
        read_good(FIRST "stack a = f\nstack b = -\nmutex-snapshot\n"
                        "expect b 2 events 7 cycles\nexpect a 1 events 1 "
                        "cycles\n");
    struct prof_contention_record record = {.count = 2, .cycles = 7};
    struct sim_answer answer = {.kind = SIM_EV_MUTEX_SNAPSHOT,
                                .status = PROF_OK,
                                .count = 1,
                                .contention = &record};

    assert_differs(s, &answer,
                   "x.sim:6: expected a listed once, found it 0 "
                   "times");
    record.cycles = 6;
    assert_differs(s, &answer,
                   "x.sim:5: expected b 2 events 7 cycles, found 2 events 6 "
                   "cycles");
    sim_scenario_free(s);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
