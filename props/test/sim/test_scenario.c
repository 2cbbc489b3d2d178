/*
 * test_scenario.c -- the language of scenario files: the meaning of each line,
 * and the errors of wrong ones, word for word.
 */
#include <stdlib.h>
#include <string.h>

#include "sanitized.h"
#include "scenario_case.h"
#include "unit_test.h"

static void
assert_refused_bytes(const char *text, size_t bytes, const char *reason)
{
    struct sim_error error = {{0}};

    assert_null(sim_scenario_parse(text, bytes, "x.sim", &error));
    assert_string_equal(error.text, reason);
}

static void
assert_refused(const char *text, const char *reason)
{
    assert_refused_bytes(text, strlen(text), reason);
}

/* ---- meaning ---- */

TEST(what_is_not_said_has_a_default)
{
    struct sim_scenario *s = read_good(FIRST);

    assert_ptr_equal(s->config.rules, &prof_rules_exact);
    assert_int_equal(s->config.hash, PROF_HASH_MULTILINEAR);
    assert_int_equal(s->config.buckets_max, SIM_SCENARIO_BUCKETS_DEFAULT);
    assert_int_equal(s->config.depth_max, 32);
    assert_int_equal(s->config.frames_max, 0);
    assert_int_equal(s->config.cycle_first, 0);
    assert_int_equal(s->config.procs, 1);
    assert_int_equal(s->config.stacks_count, 0);
    assert_int_equal(s->events_count, 0);
    assert_int_equal(s->outcome, SIM_OUTCOME_UNSAID);
    sim_scenario_free(s);
}

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

TEST(an_event_has_a_delay_a_task_and_arguments)
{
    struct sim_scenario *s = read_good(
        FIRST "stack a = main\n@+10 t3: alloc x a 18446744073709551615\n"
              "t1023: drop x\nmutex a -9223372036854775808\n"
              "snapshot\niterate\nblock-snapshot room=4294967294\n");
    const struct sim_event *e = s->events;

    assert_int_equal(s->events_count, 6);
    assert_int_equal(e[0].kind, SIM_EV_ALLOC);
    assert_int_equal(e[0].delay_ticks, 10);
    assert_int_equal(e[0].task, 3);
    assert_true(e[0].size_bytes == UINT64_MAX);
    assert_int_equal(e[1].kind, SIM_EV_DROP);
    assert_int_equal(e[1].task, 1023);
    assert_int_equal(e[1].object, 0);
    assert_true(e[2].cycles == INT64_MIN);
    assert_true(e[3].room == SIM_ROOM_ENOUGH);
    assert_int_equal(e[4].kind, SIM_EV_ITERATE);
    assert_int_equal(e[5].room, SIM_ROOM_ENOUGH - 1);
    sim_scenario_free(s);
}

TEST(line_ends_tabs_comments_and_a_missing_last_line_end_change_nothing)
{
    struct sim_scenario *s = read_good("profsim scenario 2\r\n"
                                       "# first\r\n#\r\n#   third \r\n\r\n"
                                       "# not of the header\r\n"
                                       "\tstack  a\t= main\t# why\r\n"
                                       "alloc x a 1#2\r\nsnapshot");

    assert_string_equal(s->header, "first\n\n  third\n");
    assert_int_equal(s->events_count, 2);
    assert_int_equal(s->events[0].size_bytes, 1);
    assert_int_equal(s->event_lines[1], 9);
    sim_scenario_free(s);
}

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
        "profsim scenario 2\n#why\nprocs 2\nrules go1.5\nhash multilinear\n"
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

TEST(a_mistyped_word_is_answered_with_the_nearest_one)
{
    assert_refused(FIRST "\nsnapsot\n", "x.sim:3: unknown event 'snapsot'; "
                                        "did you mean 'snapshot'?");
    assert_refused(FIRST "ruels exact\n",
                   "x.sim:2: unknown word 'ruels'; did you mean 'rules'?");
    assert_refused(FIRST "frobnicate\n", "x.sim:2: unknown event 'frobnicate'");
    assert_refused(FIRST "rules go1.6\n",
                   "x.sim:2: unknown rules 'go1.6'; did you mean 'go1.5'?");
    assert_refused(
        FIRST "hash multilinea\n",
        "x.sim:2: unknown hash 'multilinea'; did you mean 'multilinear'?");
    assert_refused(FIRST "stack parse = p\nalloc o prase 8\n",
                   "x.sim:3: unknown stack 'prase'; did you mean 'parse'?");
    assert_refused(FIRST "snapshot\nexpect nothign\n",
                   "x.sim:3: unknown expectation 'nothign'; "
                   "did you mean 'nothing'?");
    assert_refused(FIRST "snapshot\nexpect pass\n",
                   "x.sim:3: unknown outcome 'pass'; it is 'ok' or "
                   "'property ID broken'");
    assert_refused(FIRST "snapshot\nexpect pass 8 0/0\n",
                   "x.sim:3: unknown stack 'pass'");
}

TEST(what_is_not_a_scenario_is_called_so)
{
    static const char other[] =
        "x.sim:1: not a scenario: the first line is not 'profsim scenario 2'";

    assert_refused("", other);
    assert_refused("\n" FIRST, other);
    assert_refused("\xef\xbb\xbf" FIRST, other);
    assert_refused("rules exact\n", other);
    assert_refused("profsim scenario 1\n",
                   "x.sim:1: version '1' is unknown; this is version 2");
    assert_refused_bytes("\x7f"
                         "ELF",
                         4, "x.sim:1: not a text file: byte 0x7f in column 1");
    assert_refused_bytes(FIRST "alloc\0x", 26,
                         "x.sim:2: not a text file: byte 0x00 in column 6");
    assert_refused(FIRST "# \x1b[31m\n",
                   "x.sim:2: not a text file: byte 0x1b in column 3");
    assert_refused(FIRST "a\rb\n",
                   "x.sim:2: not a text file: byte 0x0d in column 2");
    assert_refused(FIRST "\xff\xfe\n",
                   "x.sim:2: not a text file: byte 0xff in column 1");
    assert_refused(FIRST "caf\xc3\xa9\n",
                   "x.sim:2: unknown event 'caf\xc3\xa9'");
    assert_refused(FIRST "# \xc2\x9b"
                         "2J\n",
                   "x.sim:2: not a text file: byte 0xc2 in column 3");
}

TEST(a_number_out_of_range_is_quoted_with_its_range)
{
    assert_refused(FIRST "depth 0\n",
                   "x.sim:2: depth '0' is not a whole number from 1 to 1024");
    assert_refused(FIRST "depth 1025\n", "x.sim:2: depth '1025' is not a whole "
                                         "number from 1 to 1024");
    assert_refused(FIRST "cycle 100663296\n",
                   "x.sim:2: cycle '100663296' is not a whole number from 0 "
                   "to 100663295");
    assert_refused(FIRST "buckets -1\n", "x.sim:2: buckets '-1' is not a whole "
                                         "number from 1 to 134217728");
    assert_refused(FIRST "procs 9\n",
                   "x.sim:2: procs '9' is not a whole number from 1 to 8");
    assert_refused(FIRST "stack a = f\nalloc o a 18446744073709551616\n",
                   "x.sim:3: size '18446744073709551616' is not a whole number "
                   "from 0 to 18446744073709551615");
    assert_refused(FIRST "stack a = f\nblock a 9223372036854775808\n",
                   "x.sim:3: cycles '9223372036854775808' is not a whole "
                   "number from -9223372036854775808 to 9223372036854775807");
    assert_refused(FIRST "snapshot room=4294967295\n",
                   "x.sim:2: room '4294967295' is not a whole number from 0 "
                   "to 4294967294");
    assert_refused(FIRST "t1024: snapshot\n",
                   "x.sim:2: 't1024:' is not a task or a processor; "
                   "write t0: to t1023:, p0: to p7:");
    assert_refused(FIRST ": snapshot\n",
                   "x.sim:2: ':' is not a task or a processor; "
                   "write t0: to t1023:, p0: to p7:");
    assert_refused(FIRST "@5 snapshot\n",
                   "x.sim:2: '@5' is not a delay; write @+TICKS");
    assert_refused(FIRST "@+8796093022207 snapshot\n@+1 snapshot\n",
                   "x.sim:3: the delays add up to 2^43 ticks or more");
    assert_refused(FIRST "clock 0 drift=1000000001ppm\n",
                   "x.sim:2: drift '1000000001ppm' is not Nppm, 1000000000 at "
                   "most");
    assert_refused(FIRST "clock 0 offset=4611686018427387905\n",
                   "x.sim:2: offset '4611686018427387905' is not a whole "
                   "number, 2^62 at most");
    assert_refused(FIRST "stack a = 0x10000000000000000\n",
                   "x.sim:2: frame '0x10000000000000000' is not a 64-bit "
                   "address");
}

TEST(a_name_means_one_thing)
{
    assert_refused(FIRST "stack a = f\nstack a = g\n",
                   "x.sim:3: stack 'a' was given before");
    assert_refused(FIRST "stack a = f\nalloc o a 1\nalloc o a 1\n",
                   "x.sim:4: object 'o' was allocated before; a name is for "
                   "one object");
    assert_refused(FIRST "drop o\n",
                   "x.sim:2: object 'o' has not been allocated");
    assert_refused(FIRST "stack count = f\n",
                   "x.sim:2: 'count' cannot be the name of a stack");
    assert_refused(FIRST "stack a = f@0x5>g@0x5\n",
                   "x.sim:2: 0x5 is in 'f' already, not in 'g'");
    assert_refused(FIRST "stack a = f>>g\n",
                   "x.sim:2: frame '' is no address and no function name");
    assert_refused(FIRST "stack a =\n",
                   "x.sim:2: the frames are missing; '-' stands for none");
    assert_refused(FIRST "depth 3\ndepth 3\n",
                   "x.sim:3: this was given in line 2 already");
    assert_refused(FIRST "clock 1 offset=1\n",
                   "x.sim:2: there is no processor 1; give 'procs' first");
}

TEST(lines_have_their_places)
{
    assert_refused(FIRST "snapshot\ndepth 3\n",
                   "x.sim:3: 'depth' must come before the first event");
    assert_refused(FIRST "expect nothing\n",
                   "x.sim:2: 'expect' must follow an event that reads, such as "
                   "snapshot or iterate");
    assert_refused(FIRST "gc-mark\nexpect nothing\n",
                   "x.sim:3: 'expect' must follow an event that reads, such as "
                   "snapshot or iterate");
    assert_refused(FIRST "expect ok\nsnapshot\n",
                   "x.sim:3: an event after the outcome of line 2");
    assert_refused(FIRST "snapshot\nexpect ok\nexpect nothing\n",
                   "x.sim:4: an expectation after the outcome of line 3");
    assert_refused(FIRST "expect ok\nexpect ok\n",
                   "x.sim:3: the outcome was given in line 2 already");
    assert_refused(FIRST "gc-mark now\n",
                   "x.sim:2: unexpected 'now' at the end of the line");
    assert_refused(FIRST "alloc\n",
                   "x.sim:2: the object is missing at the end of the line");
    assert_refused(FIRST "expect property H2 bent\n",
                   "x.sim:2: expected 'broken', found 'bent'");
}

/* Print a scenario whose second line is a comment of `bytes` bytes. */
static char *
long_line(size_t bytes)
{
    char *text = malloc(sizeof FIRST + bytes + 1);

    assert_non_null(text);
    memcpy(text, FIRST, sizeof FIRST);
    memset(text + sizeof FIRST - 1, '#', bytes);
    text[sizeof FIRST - 1 + bytes] = '\0';
    return text;
}

TEST(a_line_may_be_a_mebibyte_long_and_no_longer)
{
    char *text = long_line(SIM_SCENARIO_LINE_MAX);

    sim_scenario_free(read_good(text));
    free(text);
    text = long_line(SIM_SCENARIO_LINE_MAX + 1);
    assert_refused(text, "x.sim:2: the line is longer than 1048576 bytes");
    free(text);
}

TEST(a_stack_may_have_2048_frames_and_no_more)
{
    char text[64 + 2 * 2049];
    size_t used = sizeof FIRST "stack a = f" - 1;
    struct sim_scenario *s;

    memcpy(text, FIRST "stack a = f", used);
    for (uint32_t i = 1; i < 2048; i++) {
        text[used++] = '>';
        text[used++] = 'f';
    }
    text[used] = '\0';
    s = read_good(text);
    assert_int_equal(s->config.stacks[0].depth, 2048);
    assert_int_equal(s->frame_names_count, 1);
    sim_scenario_free(s);
    memcpy(text + used, ">f", 3);
    assert_refused(text, "x.sim:2: the stack is deeper than 2048 frames");
}

/* With a sanitizer this takes ten seconds, and shows nothing more. */
#if !SANITIZED
TEST(a_million_events_are_read_and_one_more_is_refused)
{
    static const char line[] = "iterate\n";
    const size_t line_bytes = sizeof line - 1;
    const size_t first_bytes = sizeof FIRST - 1;
    const size_t bytes = first_bytes + 1000000 * line_bytes;
    char *text = malloc(bytes + line_bytes);
    struct sim_error error = {{0}};
    struct sim_scenario *s;

    assert_non_null(text);
    memcpy(text, FIRST, first_bytes);
    for (size_t at = first_bytes; at <= bytes; at += line_bytes)
        memcpy(text + at, line, line_bytes);
    s = sim_scenario_parse(text, bytes, "x.sim", &error);
    assert_non_null(s);
    assert_int_equal(s->events_count, 1000000);
    sim_scenario_free(s);
    assert_refused_bytes(text, bytes + line_bytes,
                         "x.sim:1000002: more than 1000000 events");
    free(text);
}
#endif

TEST(a_file_that_cannot_be_read_is_named)
{
    struct sim_error error = {{0}};

    assert_null(sim_scenario_read("no/such.sim", &error));
    assert_string_equal(error.text, "no/such.sim: No such file or directory");
    assert_null(sim_scenario_read(".", &error));
    assert_string_equal(error.text, ".: Is a directory");
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
