/*
 * test_names.c -- a process that profiles itself: its stacks, its mappings as
 * the kernel lists them, and names and lines as in its debug information.
 */
#include <stdio.h>
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

/* ---- lines of mappings ---- */

static uint32_t
draw(uint32_t limit)
{
    static uint64_t drawn = 1;

    drawn = drawn * 6364136223846793005U + 1442695040888963407U;
    return (uint32_t)(drawn >> 33) % limit;
}

/* One in five times a wrong number, else a right one; both are written. */
static bool
draw_hex(char *to, uint64_t *value)
{
    static const char *const wrong[] = {"", "0x1", "1g", "-1",
                                        "11111111111111111"};
    const bool is_right = draw(5) != 0;

    *value = (uint64_t)draw(1U << 31) << draw(33);
    if (is_right)
        sprintf(to, draw(2) == 0 ? "%zx" : "%zX", (size_t)*value);
    else
        strcpy(to, wrong[draw(5)]);
    return is_right;
}

static void
draw_blanks(char *to, uint32_t least)
{
    for (uint32_t i = least + draw(3); i > 0; i--)
        *to++ = draw(3) == 0 ? '\t' : ' ';
    *to = '\0';
}

/* Write a file's name of drawn parts; none in one of five times. out: *name,
 * as it is to be read */
static void
draw_name(char *to, char *name)
{
    static const char *const parts[] = {"/a", " (deleted)", "(deleted)",
                                        " b", "[heap]",     " (deleted) "};
    const size_t suffix = sizeof " (deleted)" - 1;
    size_t bytes;

    *to = '\0';
    for (uint32_t i = draw(5); i > 0; i--)
        strcat(to, parts[draw(6)]);
    while (*to == ' ')
        to++;
    strcpy(name, to);
    bytes = strlen(name);
    if (bytes >= suffix && strcmp(&name[bytes - suffix], " (deleted)") == 0)
        name[bytes - suffix] = '\0';
}

/* Write a line. returns: whether it is of an executable mapping that is listed
 */
static bool
draw_line(char *to, struct prof_mapping *mapping, char *name)
{
    static const char *const rights[] = {"r-xp", "--xs", "rwxpp",
                                         "r--p", "xxwx", "r-x"};
    static const char *const inodes[] = {"0", "00", "17", "0"};
    const uint32_t right = draw(6);
    const char *const inode = inodes[draw(4)];
    char start[32], limit[32], offset[32], file[128], blanks[6][8];
    const bool is_dashed = draw(10) != 0;
    bool is_right = draw_hex(start, &mapping->start);

    is_right &= draw_hex(limit, &mapping->limit);
    is_right &= draw_hex(offset, &mapping->offset);
    /* A field that is not there is the one after it, which is wrong there. */
    if (offset[0] == '\0')
        strcpy(offset, "?");
    draw_name(file, name);
    for (uint32_t i = 0; i < 6; i++)
        draw_blanks(blanks[i], i != 0);
    sprintf(to, "%s%s%s%s%s%s%s%s%sfd:0%s%s%s%s\n", blanks[0], start,
            is_dashed ? "-" : "+", limit, blanks[1], rights[right], blanks[2],
            offset, blanks[3], blanks[4], inode,
            file[0] != '\0' ? blanks[5] : "", file);
    return is_right && is_dashed && right < 3 &&
           (name[0] != '\0' || strcmp(inode, "0") != 0);
}

TEST(lines_of_any_parts_are_read_as_they_were_written)
{
    enum { LINES = 12 };

    for (int round = 0; round < 1000; round++) {
        struct prof_mapping want[LINES] = {0};
        char names[LINES][128];
        const size_t room = draw(LINES + 1);
        size_t wanted = 0;
        size_t count;

        text[0] = '\0';
        for (uint32_t i = draw(LINES + 1); i > 0; i--)
            wanted +=
                draw_line(text + strlen(text), &want[wanted], names[wanted]);
        strcat(text, draw(2) == 0 ? "" : "1-2 r-xp 0 fd:0 7 /cut");
        assert_int_equal(
            prof_mappings_parse(mappings, room, &count, text, strlen(text)),
            wanted <= room ? PROF_OK : PROF_ERR_SHORT);
        assert_int_equal(count, wanted);
        for (size_t i = 0; i < wanted && i < room; i++) {
            assert_int_equal(mappings[i].start, want[i].start);
            assert_int_equal(mappings[i].limit, want[i].limit);
            assert_int_equal(mappings[i].offset, want[i].offset);
            assert_string_equal(mappings[i].file, names[i]);
        }
    }
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
