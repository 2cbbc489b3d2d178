/* heap_case.c -- see heap_case.h. */
#include "heap_case.h"

#include <stdio.h>

#include "recfile.h"
#include "unit_test.h"

static void
write_tables(struct cli_recfile *file)
{
    static const char *const arguments[] = {"/bin/prog", "a b"};
    static const struct cli_recfile_about about = {.ticks_per_second = 1000,
                                                   .process = 42,
                                                   .depth_max = 8,
                                                   .arguments_count = 2,
                                                   .arguments = arguments};
    /* Indices begin at 1; 0 means none. */
    static const char *const strings[] = {
        "main", "work", "malloc", "src/a.c", "/bin/prog", "/lib/libc.so.6"};
    static const struct cli_recfile_module modules[] = {
        {.start = 0x1000, .length_bytes = 0x2000, .path = 5},
        {.start = 0x3000, .length_bytes = 0x1000, .path = 6}};
    static const struct cli_recfile_frame frames[] = {
        {.pc = 0x3010, .module = 2, .function = 3, .function_offset = 0x10},
        {.pc = 0x1104,
         .module = 1,
         .function = 2,
         .function_offset = 4,
         .file = 4,
         .line = 7},
        {.pc = 0x1204,
         .module = 1,
         .function = 1,
         .function_offset = 4,
         .file = 4,
         .line = 12}};
    static const uint32_t stacks[][3] = {{0, 1, 2}, {0, 2}, {0}};
    static const uint32_t depths[] = {3, 2, 0};

    cli_recfile_about(file, &about);
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++)
        cli_recfile_string(file, strings[i]);
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++)
        cli_recfile_module(file, &modules[i]);
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++)
        cli_recfile_frame(file, &frames[i]);
    for (size_t i = 0; i < sizeof depths / sizeof *depths; i++)
        cli_recfile_stack(file, stacks[i], depths[i]);
    cli_recfile_thread(file, 42, "first");
    cli_recfile_thread(file, 43, "");
}

static void
write_events(struct cli_recfile *file, bool more)
{
    enum { MUTEX = 0, LOCK = 0 };

    cli_recfile_alloc(file, 0, 100, 1000, 0);
    cli_recfile_alloc(file, 1, 200, 24, 1);
    cli_recfile_alloc(file, 0, 300, 1000, 0);
    cli_recfile_free(file, 1, 400, 0);
    cli_recfile_alloc(file, 0, 500, 0, 2);
    cli_recfile_resize(file, 1, 600, 1, 3000, 1);
    if (more)
        cli_recfile_alloc(file, 0, 650, 500000, 0);
    cli_recfile_free(file, 0, 700, 2);
    cli_recfile_release_of(file, 1, 900, MUTEX, LOCK, 0);
    cli_recfile_wait(file, 0, 920, MUTEX, false, LOCK, 50, 1);
    cli_recfile_free(file, 0, 2000, 3);
}

static void
write_file(const char *path, const struct cli_recfile *file)
{
    FILE *to = fopen(path, "wb");

    assert_non_null(to);
    assert_int_equal(fwrite(file->bytes, 1, file->bytes_count, to),
                     file->bytes_count);
    assert_int_equal(fclose(to), 0);
}

void
heap_case_write(const char *path, bool more)
{
    static const uint64_t dropped[CLI_RECFILE_CAUSES] = {0, 3};
    struct cli_recfile file;

    cli_recfile_init(&file, 0);
    write_tables(&file);
    write_events(&file, more);
    cli_recfile_end(&file, dropped);
    write_file(path, &file);
    cli_recfile_release(&file);
}

void
heap_case_write_sites(const char *path, const uint64_t *sizes_bytes,
                      uint32_t count)
{
    static const uint64_t dropped[CLI_RECFILE_CAUSES];
    static const struct cli_recfile_about about = {.ticks_per_second = 1000,
                                                   .depth_max = 8};
    struct cli_recfile file;
    char name[16];

    cli_recfile_init(&file, 0);
    cli_recfile_about(&file, &about);
    for (uint32_t i = 0; i < count; i++) {
        snprintf(name, sizeof name, "f%u", i);
        cli_recfile_string(&file, name);
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct cli_recfile_frame frame = {.pc = 0x1000 + 16 * i,
                                                .function = i + 1};
        cli_recfile_frame(&file, &frame);
    }
    for (uint32_t i = 0; i < count; i++)
        cli_recfile_stack(&file, &i, 1);
    cli_recfile_thread(&file, 1, "");
    for (uint32_t i = 0; i < count; i++) {
        if (sizes_bytes[i] != UINT64_MAX)
            cli_recfile_alloc(&file, 0, i, sizes_bytes[i], i);
    }
    cli_recfile_end(&file, dropped);
    write_file(path, &file);
    cli_recfile_release(&file);
}
