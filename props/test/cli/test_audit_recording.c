/*
 * test_audit_recording.c -- `profsim audit --recording` gives equal results for
 * equal recordings.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit_command.h"
#include "captured.h"
#include "record/recfile.h"
#include "small_recording.h"
#include "unit_test.h"

static char path[] = "/tmp/test_audit-XXXXXX";

/* A random event: A allocates, F frees, R resizes. */
struct drawn {
    char kind;
    uint64_t object;
    uint64_t size_bytes;
};

static void
write_drawn(const struct drawn *events, size_t count)
{
    static const uint64_t none_dropped[CLI_RECFILE_CAUSES];
    struct cli_recfile file;
    FILE *to;

    cli_recfile_init(&file, 0);
    props_small_recording_tables(&file);
    for (size_t i = 0; i < count; i++) {
        const struct drawn *event = &events[i];

        if (event->kind == 'A')
            cli_recfile_alloc(&file, 0, 10 * i, event->size_bytes, 0);
        else if (event->kind == 'F')
            cli_recfile_free(&file, 0, 10 * i, event->object);
        else
            cli_recfile_resize(&file, 0, 10 * i, event->object,
                               event->size_bytes, 0);
    }
    cli_recfile_end(&file, none_dropped);
    to = fopen(path, "wb");
    assert_non_null(to);
    assert_int_equal(fwrite(file.bytes, 1, file.bytes_count, to),
                     file.bytes_count);
    assert_int_equal(fclose(to), 0);
    cli_recfile_release(&file);
}

static enum cli_exit
audit(int argc, char **argv)
{
    (void)argc;
    return cli_audit_recording(argv[1], 4096);
}

static void
look_at(const struct drawn *events, size_t count, struct captured *said)
{
    char *words[] = {(char *)(uintptr_t) "audit", path, NULL};

    write_drawn(events, count);
    assert_true(captured_run(said, audit, words, -1, 60));
    assert_int_equal(said->exit_code, CLI_OK);
}

static void
expect_same(const struct drawn *one, size_t one_count,
            const struct drawn *other, size_t other_count)
{
    struct captured first;
    struct captured second;

    look_at(one, one_count, &first);
    look_at(other, other_count, &second);
    assert_string_equal(first.text, second.text);
    captured_free(&first);
    captured_free(&second);
}

#define SAME(one, other)                              \
    expect_same(one, sizeof one / sizeof *one, other, \
                sizeof other / sizeof *other)

TEST(objects_of_no_bytes_are_left_out)
{
    static const struct drawn with[] = {
        {'A', 0, 1000}, {'A', 1, 0},    {'A', 2, 3000}, {'F', 1, 0},
        {'A', 3, 0},    {'A', 4, 2000}, {'F', 3, 0},    {'A', 5, 5000},
        {'F', 2, 0},    {'A', 6, 700}};
    static const struct drawn without[] = {{'A', 0, 1000}, {'A', 1, 3000},
                                           {'A', 2, 2000}, {'A', 3, 5000},
                                           {'F', 1, 0},    {'A', 4, 700}};

    SAME(with, without);
}

TEST(a_resize_is_a_free_and_an_allocation)
{
    static const struct drawn resized[] = {{'A', 0, 1000}, {'A', 1, 3000},
                                           {'R', 0, 6000}, {'A', 2, 2000},
                                           {'F', 0, 0},    {'A', 3, 900}};
    static const struct drawn replaced[] = {
        {'A', 0, 1000}, {'A', 1, 3000}, {'F', 0, 0},  {'A', 2, 6000},
        {'A', 3, 2000}, {'F', 2, 0},    {'A', 4, 900}};

    SAME(resized, replaced);
}

static int
make_file(void **state)
{
    const int file = mkstemp(path);

    (void)state;
    return file < 0 ? -1 : close(file);
}

static int
remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

int
main(void)
{
    return tests_run(make_file, remove_file);
}
