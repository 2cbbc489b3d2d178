/*
 * test_pprof_tasks.c -- tasks with their stacks, and debug lines: line by line
 * in the form of Go 1.5's goroutineheader() and traceback(). And dumps.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prof/test/pprof/pprof_case.h"
#include "prof/text.h"
#include "common/test/unit_test.h"

#define MINUTE_NS UINT64_C(60000000000)

enum { TEXT_BYTES = 1 << 14 };

static struct case_run run;
static char text[TEXT_BYTES];

static const uintptr_t working[] = {CASE_MALLOC, CASE_WORK, CASE_GOEXIT};

/* returns: the text of the tasks, with a final NUL */
static const char *
print(const struct prof_task_stack *tasks, size_t count)
{
    size_t bytes;

    case_begin(&run);
    memset(text, '!', sizeof text);
    bytes = prof_text_tasks(text, sizeof text - 1, &run.output.symbols, tasks,
                            count);
    assert_true(bytes < sizeof text);
    assert_int_equal(text[bytes], '!');
    text[bytes] = '\0';
    return text;
}

/* ---- headers ---- */

TEST(a_header_says_who_how_for_how_long_and_on_what)
{
    static const struct {
        struct prof_task_stack task;
        const char *want;
    } rows[] = {
        {{.id = 1, .state = "running"}, "goroutine 1 [running]:\n"},
        {{.id = UINT64_MAX, .state = "select", .waits_ns = MINUTE_NS - 1},
         "goroutine 18446744073709551615 [select]:\n"},
        {{.id = 7, .state = "chan receive", .waits_ns = MINUTE_NS},
         "goroutine 7 [chan receive, 1 minutes]:\n"},
        {{.id = 7, .state = "syscall", .waits_ns = 13 * MINUTE_NS - 1},
         "goroutine 7 [syscall, 12 minutes]:\n"},
        {{.id = 2, .state = "running", .is_locked = true},
         "goroutine 2 [running, locked to thread]:\n"},
        {{.id = 2,
          .state = "IO wait",
          .waits_ns = UINT64_MAX,
          .is_locked = true},
         "goroutine 2 [IO wait, 307445734 minutes, locked to thread]:\n"},
        {{.id = 3, .state = "a]:\nb"}, "goroutine 3 [a]:?b]:\n"},
        {{.id = 3, .state = ""}, "goroutine 3 [???]:\n"},
        {{.id = 3}, "goroutine 3 [???]:\n"},
    };
    char want[256];

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        snprintf(want, sizeof want,
                 "%s\tgoroutine running on other thread; stack unavailable\n",
                 rows[i].want);
        assert_string_equal(print(&rows[i].task, 1), want);
    }
}

/* ---- frames ---- */

static const char of_another_runtime[] = "collector.Allocate";

/* Give address i the name names[i]; each function begins at 100. */
static void
find_named(void *context, uintptr_t pc, struct prof_symbol *symbol)
{
    const char *const *names = context;

    symbol->function = names[pc];
    symbol->kind = names[pc] != NULL && names[pc] != of_another_runtime
                       ? prof_frame_kind_go(names[pc])
                       : PROF_FRAME_RUNTIME;
    symbol->entry = 100;
}

TEST(exported_functions_of_the_runtime_are_the_programs)
{
    static const char *names[] = {
        "runtime.Gosched", "runtime.gosched_m", "runtime.", "runtime.@",
        "runtime.[",       "runtime.Z",         "runtime",  NULL,
        of_another_runtime};
    static const uintptr_t stack[] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    const struct prof_task_stack task = {
        .id = 1, .state = "running", .stack = stack, .depth = 9};
    const struct prof_symbols symbols = {.find = find_named, .context = names};
    const char want[] = "goroutine 1 [running]:\n"
                        "runtime.Gosched(...)\n"
                        "\t?:0\n"
                        "runtime.Z(...)\n"
                        "\t?:0\n"
                        "runtime(...)\n"
                        "\t?:0\n";
    size_t bytes;

    bytes = prof_text_tasks(text, sizeof text, &symbols, &task, 1);
    assert_int_equal(bytes, sizeof want - 1);
    assert_memory_equal(text, want, bytes);
}

TEST(an_address_without_a_name_is_a_distance_from_0)
{
    static const uintptr_t stack[] = {CASE_UNKNOWN, 0, CASE_WORK & ~0xff};
    const struct prof_task_stack task = {.id = 1,
                                         .state = "running",
                                         .stack = stack,
                                         .depth = 3,
                                         .created_by = CASE_UNKNOWN};

    assert_string_equal(print(&task, 1), "goroutine 1 [running]:\n"
                                         "?(...)\n"
                                         "\t?:0 +0x9040\n"
                                         "?(...)\n"
                                         "\t?:0\n"
                                         "main.work(...)\n"
                                         "\twork.go:12\n"
                                         "created by ?\n"
                                         "\t?:0 +0x9040\n");
}

static size_t
lines_with(const char *from, const char *what)
{
    size_t lines = 0;

    for (; (from = strstr(from, what)) != NULL; from++)
        lines++;
    return lines;
}

TEST(a_hundred_frames_are_shown_and_the_rest_is_reported_to_be_elided)
{
    static uintptr_t stack[PROF_TASK_FRAMES_MAX + 3];
    struct prof_task_stack task = {
        .id = 1, .state = "running", .stack = stack, .created_by = CASE_MAIN};

    for (size_t i = 0; i < PROF_TASK_FRAMES_MAX + 3; i++)
        stack[i] = CASE_WORK;
    /* Frames that are not shown do not count towards the limit. */
    stack[0] = CASE_MALLOC;
    stack[1] = CASE_NEW;
    task.depth = PROF_TASK_FRAMES_MAX + 2;
    print(&task, 1);
    assert_int_equal(lines_with(text, "main.work("), PROF_TASK_FRAMES_MAX);
    assert_int_equal(lines_with(text, "elided"), 0);
    task.depth = PROF_TASK_FRAMES_MAX + 3;
    print(&task, 1);
    assert_int_equal(lines_with(text, "main.work("), PROF_TASK_FRAMES_MAX);
    assert_non_null(strstr(text, "\twork.go:12 +0x40\n"
                                 "...additional frames elided...\n"
                                 "created by main.main\n"));
}

/* ---- room ---- */

static const struct prof_task_stack three[] = {
    {.id = 1, .state = "running", .stack = working, .depth = 3},
    {.id = 2,
     .state = "select",
     .waits_ns = MINUTE_NS,
     .stack = working,
     .depth = 2,
     .created_by = CASE_MAIN},
    {.id = 3, .state = "runnable"},
};

TEST(tasks_stand_in_the_order_given_with_an_empty_line_between)
{
    assert_string_equal(
        print(three, 3),
        "goroutine 1 [running]:\n"
        "main.work(...)\n\twork.go:12 +0x40\n"
        "\n"
        "goroutine 2 [select, 1 minutes]:\n"
        "main.work(...)\n\twork.go:12 +0x40\n"
        "created by main.main\n\tmain.go:3 +0x40\n"
        "\n"
        "goroutine 3 [runnable]:\n"
        "\tgoroutine running on other thread; stack unavailable\n");
    assert_string_equal(print(three, 0), "");
}

/* The text is cut off at the last byte of the room, and nothing behind it
 * changes. A full buffer tells its reader that there may be more. */
TEST(what_does_not_fit_is_left_out_at_any_byte)
{
    static char whole[TEXT_BYTES];
    size_t length;

    strcpy(whole, print(three, 3));
    length = strlen(whole);
    for (size_t room = 0; room <= length + 1; room++) {
        const size_t want = room < length ? room : length;

        memset(text, '!', sizeof text);
        assert_int_equal(
            prof_text_tasks(text, room, &run.output.symbols, three, 3), want);
        assert_memory_equal(text, whole, want);
        assert_int_equal(text[want], '!');
    }
    assert_int_equal(prof_text_tasks(NULL, 0, &run.output.symbols, three, 3),
                     0);
}

/* ---- debug lines ---- */

#define FRAMES                                       \
    "goroutine 7 [running]:\n"                       \
    "runtime.mallocgc(...)\n\tmalloc.go:100 +0x40\n" \
    "main.work(...)\n\twork.go:12 +0x40\n"           \
    "runtime.goexit(...)\n\tasm.s:1 +0x40\n"         \
    "created by runtime.newobject\n\tmalloc.go:200 +0x40\n"

static const struct prof_task_stack seven = {.id = 7,
                                             .state = "running",
                                             .stack = working,
                                             .depth = 3,
                                             .created_by = CASE_NEW};

/* Write without scratch: while the allocator is being debugged there is
 * none. */
static void
begin_lines(void)
{
    case_begin(&run);
    run.output.scratch = NULL;
    run.output.scratch_bytes = 0;
}

TEST(debug_lines_say_what_happened_and_show_the_task_with_all_frames)
{
    begin_lines();
    assert_int_equal(
        prof_text_trace_alloc(&run.output, 0xc000, 32, "main.T", &seven),
        PROF_OK);
    assert_int_equal(
        prof_text_trace_alloc(&run.output, 0xc000, 32, NULL, &seven), PROF_OK);
    assert_int_equal(
        prof_text_trace_alloc(&run.output, 0xc000, 0, "T\n", &seven), PROF_OK);
    assert_string_equal(
        case_text(&run, prof_text_trace_free(&run.output, 0xc000, 32, &seven)),
        "tracealloc(0xc000, 0x20, main.T)\n" FRAMES "\n"
        "tracealloc(0xc000, 0x20)\n" FRAMES "\n"
        "tracealloc(0xc000, 0x0, T?)\n" FRAMES "\n"
        "tracefree(0xc000, 0x20)\n" FRAMES "\n");
}

TEST(a_collection_shows_all_tasks)
{
    const struct prof_task_stack two[] = {seven, seven};

    begin_lines();
    assert_string_equal(
        case_text(&run, prof_text_trace_gc(&run.output, two, 2)),
        "tracegc()\n\n" FRAMES "\n" FRAMES "end tracegc\n\n");
    begin_lines();
    assert_string_equal(
        case_text(&run, prof_text_trace_gc(&run.output, NULL, 0)),
        "tracegc()\nend tracegc\n\n");
}

/* ---- dumps ---- */

struct dumper {
    size_t bytes;
    size_t calls;
    size_t rooms[16];
};

static size_t
print_dump(void *context, char *buffer, size_t room)
{
    struct dumper *dumper = context;
    const size_t bytes = dumper->bytes < room ? dumper->bytes : room;

    assert_true(dumper->calls < 16);
    dumper->rooms[dumper->calls++] = room;
    memset(buffer, 'x', bytes);
    return bytes;
}

static enum prof_status
count_bytes(void *context, const void *bytes, size_t bytes_count)
{
    (void)bytes;
    *(size_t *)context += bytes_count;
    return PROF_OK;
}

TEST(a_dump_grows_its_buffer_until_it_is_not_full)
{
    static const struct {
        size_t bytes;
        size_t scratch;
        size_t written;
        size_t calls;
    } rows[] = {
        {0, 8 << 20, 0, 1},
        {(1 << 20) - 1, 8 << 20, (1 << 20) - 1, 1},
        {1 << 20, 8 << 20, 1 << 20, 2},
        {(4 << 20) - 1, 8 << 20, (4 << 20) - 1, 3},
        {9 << 20, 8 << 20, 8 << 20, 4},
        {100 << 20, 80 << 20, 64 << 20, 7},
        {3 << 20, (2 << 20) + 5, (2 << 20) + 5, 3},
        {1 << 20, (1 << 20) + 1, 1 << 20, 2},
    };
    void *scratch = calloc(1, (size_t)80 << 20);

    assert_non_null(scratch);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct dumper dumper = {.bytes = rows[i].bytes};
        const struct prof_dump dump = {.print = print_dump, .context = &dumper};
        size_t written = 0;
        struct prof_output output = {
            .sink = {.write = count_bytes, .context = &written},
            .scratch = scratch,
            .scratch_bytes = rows[i].scratch};

        assert_int_equal(prof_text_dump(&output, &dump), PROF_OK);
        assert_int_equal(written, rows[i].written);
        assert_int_equal(dumper.calls, rows[i].calls);
        for (size_t j = 1; j < dumper.calls; j++)
            assert_true(dumper.rooms[j] <= 2 * dumper.rooms[j - 1]);
    }
    free(scratch);
}
