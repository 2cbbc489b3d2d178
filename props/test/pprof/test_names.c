/*
 * test_names.c -- a process that profiles itself: its stacks, its mappings as
 * the kernel lists them, and names and lines as in its debug information.
 */
#include <stdlib.h>
#include <string.h>

#include "names.h"
#include "pprof_case.h"
#include "prof/process.h"
#include "unit_test.h"

static struct case_run run;
static char text[1 << 18];
static struct prof_mapping mappings[512];

static __attribute__((noinline)) uintptr_t
own_return_address(void)
{
    const uintptr_t address = (uintptr_t)__builtin_return_address(0);

    __asm__ volatile("" : : "r"(address) : "memory");
    return address;
}

static __attribute__((noinline)) uintptr_t
a_function_with_a_name(void)
{
    const uintptr_t address = own_return_address();

    /* Prevents a tail call: there must be an address to return to. */
    __asm__ volatile("" : : : "memory");
    return address;
}

TEST(a_process_names_its_own_frames)
{
    uintptr_t library_address;
    uintptr_t stack[3];
    const struct prof_heap_record record = {
        .allocs = 1, .size_bytes = 8, .stack = stack, .depth = 3};
    long (*const pointer)(const char *) = a64l;
    struct cli_names *names;
    const struct model_pprof_location *location;
    const char *file;
    size_t count;

    memcpy(&library_address, &pointer, sizeof library_address);
    stack[0] = a_function_with_a_name();
    stack[1] = library_address + 1; /* a function of a shared library */
    stack[2] = 0x10;                /* no code at all */
    assert_int_equal(
        prof_process_mappings(mappings, 512, &count, text, sizeof text),
        PROF_OK);
    names = cli_names_open(mappings, count);
    assert_non_null(names);
    case_begin(&run);
    run.output.symbols = cli_names_symbols(names);
    run.output.mappings = mappings;
    run.output.mappings_count = (uint32_t)count;
    case_read(&run,
              prof_pprof_heap(&run.output, &record, 1, 1, PROF_VIEW_INUSE));
    assert_string_equal(case_function(&run, 1), "a_function_with_a_name");
    location = model_pprof_location(&run.profile, 1);
    file = model_pprof_function(&run.profile, location->function)->file;
    /* clang leaves out the index that libdw needs to find lines. */
    if (file[0] != '\0') {
        assert_non_null(strstr(file, "test_names.c"));
        assert_true(location->line > 0);
    }
    assert_true(location->mapping > 0);
    assert_non_null(
        strstr(run.profile.mappings[location->mapping - 1].file, "test_names"));
    assert_non_null(strstr(case_function(&run, 2), "a64l"));
    location = model_pprof_location(&run.profile, 2);
    assert_non_null(
        strstr(run.profile.mappings[location->mapping - 1].file, "libc"));
    assert_string_equal(case_function(&run, 3), "0x10");
    assert_int_equal(model_pprof_location(&run.profile, 3)->mapping, 0);
    case_end(&run);
    cli_names_close(names);
}

TEST(names_stay_where_they_are)
{
    struct cli_names *names;
    struct prof_symbols symbols;
    struct prof_symbol first = {.line = 0};
    struct prof_symbol again = {.line = 0};
    const uintptr_t pc = a_function_with_a_name();
    const char *function;
    size_t count;

    assert_int_equal(
        prof_process_mappings(mappings, 512, &count, text, sizeof text),
        PROF_OK);
    names = cli_names_open(mappings, count);
    assert_non_null(names);
    symbols = cli_names_symbols(names);
    symbols.find(symbols.context, pc, &first);
    function = first.function;
    for (uintptr_t i = 1; i < 500; i++)
        symbols.find(symbols.context, pc + i, &again);
    symbols.find(symbols.context, pc, &again);
    assert_ptr_equal(again.function, function);
    assert_string_equal(function, "a_function_with_a_name");
    assert_true(first.entry < pc && pc - first.entry < 4096);
    cli_names_close(names);
    cli_names_close(NULL);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
