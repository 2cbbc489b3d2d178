/*
 * test_pprof_tasks.c -- tasks with their stacks, and debug lines: line by line
 * in the form of Go 1.5's goroutineheader() and traceback().
 */
#include <stdio.h>
#include <string.h>

#include "pprof_case.h"
#include "prof/text.h"
#include "unit_test.h"

#define MINUTE_NS UINT64_C(60000000000)

enum { TEXT_BYTES = 1 << 14 };

static struct case_run run;
static char text[TEXT_BYTES];

static const uintptr_t working[] = {CASE_MALLOC, CASE_WORK, CASE_GOEXIT};
static const uintptr_t inside[] = {CASE_MALLOC, CASE_NEW, CASE_GOEXIT};

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

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        snprintf(want, sizeof want,
                 "%s\tgoroutine running on other thread; stack unavailable\n",
                 rows[i].want);
        assert_string_equal(print(&rows[i].task, 1), want);
    }
}

/* ---- frames ---- */

TEST(frames_of_the_runtime_are_left_out)
{
    const struct prof_task_stack task = {.id = 1,
                                         .state = "running",
                                         .stack = working,
                                         .depth = 3,
                                         .created_by = CASE_MAIN};

    (void)state;
    assert_string_equal(print(&task, 1), "goroutine 1 [running]:\n"
                                         "main.work(...)\n"
                                         "\twork.go:12 +0x40\n"
                                         "created by main.main\n"
                                         "\tmain.go:3 +0x40\n");
}

TEST(a_stack_of_nothing_but_the_runtime_is_shown_whole)
{
    const struct prof_task_stack task = {.id = 1,
                                         .state = "running",
                                         .stack = inside,
                                         .depth = 3,
                                         .created_by = CASE_NEW};

    (void)state;
    assert_string_equal(print(&task, 1), "goroutine 1 [running]:\n"
                                         "runtime.mallocgc(...)\n"
                                         "\tmalloc.go:100 +0x40\n"
                                         "runtime.newobject(...)\n"
                                         "\tmalloc.go:200 +0x40\n"
                                         "runtime.goexit(...)\n"
                                         "\tasm.s:1 +0x40\n");
}

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

    (void)state;
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

    (void)state;
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

/* Address 0x77 is in a function whose entry is unknown. */
static void
find_without_entry(void *context, uintptr_t pc, struct prof_symbol *symbol)
{
    (void)context;
    (void)pc;
    symbol->function = "main.f";
    symbol->file = "f.go";
    symbol->line = 3;
}

TEST(a_function_without_an_entry_shows_no_distance)
{
    static const uintptr_t stack[] = {0x77};
    const struct prof_task_stack task = {
        .id = 1, .state = "running", .stack = stack, .depth = 1};
    const struct prof_symbols symbols = {.find = find_without_entry};
    static const char want[] = "goroutine 1 [running]:\n"
                               "main.f(...)\n"
                               "\tf.go:3\n";

    (void)state;
    assert_int_equal(prof_text_tasks(text, sizeof text, &symbols, &task, 1),
                     sizeof want - 1);
    assert_memory_equal(text, want, sizeof want - 1);
}

static size_t
lines_with(const char *from, const char *what)
{
    size_t lines = 0;

    for (; (from = strstr(from, what)) != NULL; from++)
        lines++;
    return lines;
}

TEST(a_hundred_frames_are_shown_and_the_rest_is_said_to_be_elided)
{
    static uintptr_t stack[PROF_TASK_FRAMES_MAX + 3];
    struct prof_task_stack task = {
        .id = 1, .state = "running", .stack = stack, .created_by = CASE_MAIN};

    (void)state;
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

static void
count_questions(void *context, uintptr_t pc, struct prof_symbol *symbol)
{
    (void)pc;
    (void)symbol;
    ++*(size_t *)context;
}

TEST(no_task_is_looked_at_when_the_room_is_full)
{
    static struct prof_task_stack many[1000];
    size_t asked = 0;
    const struct prof_symbols symbols = {.find = count_questions,
                                         .context = &asked};

    for (size_t i = 0; i < 1000; i++)
        many[i] = three[0];
    assert_int_equal(prof_text_tasks(text, 600, &symbols, many, 1000), 600);
    assert_true(asked > 0 && asked < 100);
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

static enum prof_status
refuse(void *context, const void *bytes, size_t bytes_count)
{
    (void)context;
    (void)bytes;
    (void)bytes_count;
    return PROF_ERR_SINK;
}

TEST(a_collection_stops_at_the_first_refusal)
{
    static struct prof_task_stack many[1000];
    size_t asked = 0;

    for (size_t i = 0; i < 1000; i++)
        many[i] = three[0];
    begin_lines();
    run.output.sink = (struct prof_sink){.write = refuse};
    run.output.symbols =
        (struct prof_symbols){.find = count_questions, .context = &asked};
    assert_int_equal(prof_text_trace_gc(&run.output, many, 1000),
                     PROF_ERR_SINK);
    assert_true(asked > 0 && asked < 100);
}

/* ---- any tasks, beside a plain writer ---- */

static uint32_t
draw(uint32_t limit)
{
    static uint64_t drawn = 1;

    drawn = drawn * 6364136223846793005U + 1442695040888963407U;
    return (uint32_t)(drawn >> 33) % limit;
}

static char wanted[TEXT_BYTES];

#define WANT(...)                                                            \
    ((void)snprintf(wanted + strlen(wanted), sizeof wanted - strlen(wanted), \
                    __VA_ARGS__))

/* returns: the function at an address, NULL if none is known */
static const struct case_name *
name_at(uintptr_t pc)
{
    for (size_t i = 0; i < case_names_count; i++)
        if (pc >= case_names[i].from && pc < case_names[i].limit)
            return &case_names[i];
    return NULL;
}

static bool
is_of_runtime(uintptr_t pc)
{
    const struct case_name *name = name_at(pc);

    return name != NULL && strncmp(name->function, "runtime.", 8) == 0;
}

static void
want_frame(uintptr_t pc, const char *before, const char *after)
{
    const struct case_name *name = name_at(pc);

    if (name == NULL)
        WANT("%s?%s\n\t?:0 +0x%zx\n", before, after, (size_t)pc);
    else if (pc == name->from)
        WANT("%s%s%s\n\t%s:%d\n", before, name->function, after, name->file,
             (int)name->line);
    else
        WANT("%s%s%s\n\t%s:%d +0x%zx\n", before, name->function, after,
             name->file, (int)name->line, (size_t)(pc - name->from));
}

static void
want_task(const struct prof_task_stack *task)
{
    bool any = false;

    WANT("goroutine %zu [%s", (size_t)task->id,
         task->state != NULL && task->state[0] != '\0' ? task->state : "???");
    if (task->waits_ns / MINUTE_NS > 0)
        WANT(", %zu minutes", (size_t)(task->waits_ns / MINUTE_NS));
    WANT("%s]:\n", task->is_locked ? ", locked to thread" : "");
    if (task->depth == 0)
        WANT("\tgoroutine running on other thread; stack unavailable\n");
    for (uint32_t i = 0; i < task->depth; i++)
        any |= !is_of_runtime(task->stack[i]);
    for (uint32_t i = 0; i < task->depth; i++)
        if (!any || !is_of_runtime(task->stack[i]))
            want_frame(task->stack[i], "", "(...)");
    if (task->created_by != 0 && !is_of_runtime(task->created_by))
        want_frame(task->created_by, "created by ", "");
}

TEST(any_tasks_are_shown_as_by_a_plain_writer)
{
    static const char *const states[] = {NULL, "", "running", "IO wait"};
    static const uintptr_t frames[] = {
        CASE_MALLOC, CASE_WORK, CASE_NEW, CASE_GOEXIT, CASE_UNKNOWN, 0x2100,
        CASE_MALLOC, CASE_NEW,  0x1000,   CASE_GOEXIT, CASE_MAIN,    0x3000};
    static const uintptr_t creators[] = {0, CASE_MAIN, CASE_GOEXIT, 0x2200,
                                         CASE_UNKNOWN};

    for (int round = 0; round < 500; round++) {
        struct prof_task_stack tasks[4];
        const uint32_t count = draw(5);

        wanted[0] = '\0';
        for (uint32_t i = 0; i < count; i++) {
            tasks[i] = (struct prof_task_stack){
                .id = (uint64_t)draw(100) << draw(57),
                .state = states[draw(4)],
                .waits_ns = draw(3) * (MINUTE_NS - 1 + draw(3)) << draw(20),
                .is_locked = draw(2) != 0,
                .stack = &frames[draw(7)],
                .depth = draw(6),
                .created_by = creators[draw(5)]};
            WANT("%s", i > 0 ? "\n" : "");
            want_task(&tasks[i]);
        }
        assert_string_equal(print(tasks, count), wanted);
    }
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
