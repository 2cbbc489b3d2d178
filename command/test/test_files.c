/*
 * test_files.c -- the command's files appear whole or not at all, whichever of
 * its system calls fails (common/test/syscall_injector.h): profiles, their
 * texts, traces and what traces are converted to.
 *
 * Before each command the file exists with the contents "old". After a fault it
 * has these, or all of the new bytes; nothing else is left in the folder; and
 * the exit code says whether everything was written.
 *
 * build: args=out/gcc/profsim not=asan cflags=-O2
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/generate/fault.h"
#include "common/test/folder.h"
#include "prof/file.h"
#include "prof/text.h"
#include "common/test/syscall_injector.h"
#include "common/test/unit_test.h"

enum { FILES_MAX = 32, FILE_BYTES_MAX = 1 << 16, PLACES_MAX = 6 };

#define OLD "old"

static char self[] = "/proc/self/exe";
static char *profsim; /* NULL: only the library is tested */
static char out[64];  /* a file in the folder */
static char trace[64];
static char view[80];

struct file {
    char name[64];
    size_t bytes_count;
    char bytes[FILE_BYTES_MAX];
};

static struct file wanted[FILES_MAX];
static struct file got[FILES_MAX];

/* Every fault, and whether prof's own writers carry on as if there were
 * none. */
static const struct {
    enum sim_fault site;
    enum props_call call;
    int error;
    bool goes_on;
} rows[] = {
    {SIM_FAULT_OPEN_FAILS, PROPS_CALL_OPEN, ENOSPC, false},
    {SIM_FAULT_DISK_FULL, PROPS_CALL_WRITE, ENOSPC, false},
    {SIM_FAULT_SHORT_WRITE, PROPS_CALL_WRITE, PROPS_CALL_SHORT, true},
    {SIM_FAULT_WRITE_INTERRUPTED, PROPS_CALL_WRITE, EINTR, true},
    {SIM_FAULT_FSYNC_FAILS, PROPS_CALL_FSYNC, EIO, false},
    {SIM_FAULT_FSYNC_INTERRUPTED, PROPS_CALL_FSYNC, EINTR, true},
    {SIM_FAULT_CLOSE_FAILS, PROPS_CALL_CLOSE, EIO, false},
    {SIM_FAULT_RENAME_FAILS, PROPS_CALL_RENAME, EACCES, false},
};

/* ---- the folder ---- */

static int
by_name(const void *a, const void *b)
{
    return strcmp(((const struct file *)a)->name,
                  ((const struct file *)b)->name);
}

static uint32_t
read_folder(struct file *files)
{
    DIR *dir = opendir(out);
    const struct dirent *entry;
    uint32_t count = 0;

    assert_non_null(dir);
    while ((entry = readdir(dir)) != NULL) {
        char path[400];
        FILE *from;

        if (entry->d_name[0] == '.')
            continue;
        assert_true(count < FILES_MAX);
        snprintf(files[count].name, sizeof files[count].name, "%.63s",
                 entry->d_name);
        snprintf(path, sizeof path, "%s/%s", out, entry->d_name);
        from = fopen(path, "rb");
        assert_non_null(from);
        files[count].bytes_count =
            fread(files[count].bytes, 1, FILE_BYTES_MAX, from);
        assert_true(files[count].bytes_count < FILE_BYTES_MAX);
        fclose(from);
        count++;
    }
    closedir(dir);
    qsort(files, count, sizeof *files, by_name);
    return count;
}

static void
empty_folder(void)
{
    DIR *dir = opendir(out);
    const struct dirent *entry;
    char path[400];

    if (dir == NULL)
        return;
    while ((entry = readdir(dir)) != NULL) {
        snprintf(path, sizeof path, "%s/%s", out, entry->d_name);
        if (entry->d_name[0] != '.')
            unlink(path);
    }
    closedir(dir);
}

/* Write "old" to each file that will be written. */
static void
put_old(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        char path[400];
        FILE *to;

        snprintf(path, sizeof path, "%s/%.63s", out, wanted[i].name);
        to = fopen(path, "wb");
        assert_non_null(to);
        assert_int_equal(fwrite(OLD, 1, strlen(OLD), to), strlen(OLD));
        assert_int_equal(fclose(to), 0);
    }
}

/* ---- the tests ---- */

/* Check that each file is whole, and either old or new. returns: how many are
 * new */
static uint32_t
check_whole(uint32_t count, const char *what, uint32_t nth)
{
    uint32_t fresh = 0;

    if (read_folder(got) != count)
        fail_msg("%s, call %u: a file is left that was not asked for, such as "
                 "%s",
                 what, nth, got[0].name);
    for (uint32_t i = 0; i < count; i++) {
        const bool is_new =
            got[i].bytes_count == wanted[i].bytes_count &&
            memcmp(got[i].bytes, wanted[i].bytes, got[i].bytes_count) == 0;
        const bool is_old = got[i].bytes_count == strlen(OLD) &&
                            memcmp(got[i].bytes, OLD, strlen(OLD)) == 0;

        assert_string_equal(got[i].name, wanted[i].name);
        if (!is_new && !is_old)
            fail_msg("%s, call %u: %s has %zu bytes, of %zu", what, nth,
                     got[i].name, got[i].bytes_count, wanted[i].bytes_count);
        fresh += is_new;
    }
    return fresh;
}

/* Run the command once with one fault. in: continues, whether the writers are
 * prof's and carry on */
static void
try_fault(char *const *argv, uint32_t count, size_t row, uint32_t nth,
          bool continues)
{
    const struct props_fault fault = {rows[row].call, nth, rows[row].error};
    struct props_injectd result;
    uint32_t fresh;

    empty_folder();
    put_old(count);
    result = props_inject(argv, &fault);
    assert_true(result.ran);
    assert_true(WIFEXITED(result.status));
    fresh = check_whole(count, sim_fault_name(rows[row].site), nth);
    if (!result.struck)
        assert_int_equal(rows[row].error,
                         PROPS_CALL_SHORT); /* it had one byte */
    if ((WEXITSTATUS(result.status) == 0) != (fresh == count))
        fail_msg("%s, call %u: exit %d with %u of %u files written",
                 sim_fault_name(rows[row].site), nth,
                 WEXITSTATUS(result.status), fresh, count);
    if (result.struck && !rows[row].goes_on && fresh == count)
        fail_msg("%s, call %u: nobody noticed", sim_fault_name(rows[row].site),
                 nth);
    if (rows[row].goes_on && continues && fresh != count)
        fail_msg("%s, call %u: it should have gone on",
                 sim_fault_name(rows[row].site), nth);
}

static void
try_all(char *const *argv, bool continues)
{
    const struct props_fault none = {.call = PROPS_CALL_COUNT};
    struct props_injectd clean;
    uint32_t count;

    empty_folder();
    clean = props_inject(argv, &none);
    if (!clean.ran && !PROPS_SUPERVISES)
        skip();
    assert_true(clean.ran);
    assert_int_equal(WEXITSTATUS(clean.status), 0);
    count = read_folder(wanted);
    assert_true(count > 0);
    for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
        const uint32_t calls = clean.calls[rows[row].call];
        const uint32_t stride = calls / PLACES_MAX + 1;

        assert_true(calls >= count);
        for (uint32_t nth = 1; nth <= calls; nth += stride)
            try_fault(argv, count, row, nth, continues);
    }
}

TEST(each_fault_of_files_is_tried)
{
    size_t named = 0;

    for (int i = 0; i < SIM_FAULT_COUNT; i++) {
        const char *test = sim_fault_test((enum sim_fault)i);

        named += test != NULL && strcmp(test, "command/test/test_files.c") == 0;
    }
    assert_int_equal(named, sizeof rows / sizeof *rows);
}

/* The library's own files are written by this program itself. */
TEST(files_of_the_library_are_whole)
{
    char word[] = "write";
    char *argv[] = {self, word, out, NULL};

    try_all(argv, true);
}

TEST(profiles_and_their_texts_are_whole)
{
    char *argv[] = {
        profsim, "show", "--out", out, "fixtures/recordings/waits.rec", NULL};

    if (profsim == NULL)
        skip();
    try_all(argv, true);
}

TEST(traces_are_whole)
{
    char *argv[] = {profsim,
                    "run",
                    "--out",
                    out,
                    "fixtures/scenarios/late-return-across-sessions.sim",
                    NULL};

    if (profsim == NULL)
        skip();
    try_all(argv, false);
}

TEST(converted_traces_are_whole)
{
    const struct props_fault none = {.call = PROPS_CALL_COUNT};
    char *make[] = {
        profsim, "run", "--out", folder, "fixtures/scenarios/every-event.sim",
        NULL};
    char *argv[] = {profsim, "trace", "convert", "--to", "chrome",
                    trace,   "-o",    view,      NULL};

    if (!PROPS_SUPERVISES || profsim == NULL)
        skip();
    assert_true(props_inject(make, &none).ran);
    try_all(argv, false);
    unlink(trace);
}

static int
make_folder(void **state)
{
    if (folder_make(state) != 0)
        return -1;
    folder_path(out, sizeof out, "out");
    folder_path(trace, sizeof trace, "trace.out");
    snprintf(view, sizeof view, "%s/view", out);
    return mkdir(out, 0777);
}

static int
remove_folder(void **state)
{
    empty_folder();
    return rmdir(out) != 0 || folder_remove(state) != 0;
}

/* ---- the command ---- */

static enum prof_status
write_text(const struct prof_output *output)
{
    static const uintptr_t stack[] = {0x401005, 0x402005};
    static const struct prof_heap_record record = {
        .allocs = 3, .frees = 1, .size_bytes = 64, .stack = stack, .depth = 2};
    static const struct prof_heap_counters counters = {.gcs = 1};

    return prof_text_heap(output, &record, 1, 512, &counters);
}

static enum prof_status
write_profile(const struct prof_output *output)
{
    static const uintptr_t stack[] = {0x401005, 0x402005};
    static const struct prof_heap_record record = {
        .allocs = 3, .frees = 1, .size_bytes = 64, .stack = stack, .depth = 2};

    return prof_pprof_heap(output, &record, 1, 512, PROF_VIEW_INUSE);
}

/* Write one file. returns: did it succeed? */
static bool
write_one(const char *into, const char *name,
          enum prof_status (*write)(const struct prof_output *output))
{
    static _Alignas(PROF_BLOCK_ALIGN) unsigned char memory[1 << 18];
    static struct prof_file file;
    struct prof_output output = {.scratch = memory,
                                 .scratch_bytes = sizeof memory};
    char path[400];

    snprintf(path, sizeof path, "%s/%s", into, name);
    if (prof_file_begin(&file, path) != PROF_OK)
        return false;
    output.sink = prof_file_sink(&file);
    return prof_file_end(&file, write(&output)) == PROF_OK;
}

int
main(int argc, char **argv)
{
    if (argc == 3) /* runs as the command under the injector */
        return write_one(argv[2], "heap.pb", write_profile) &&
                       write_one(argv[2], "heap.txt", write_text)
                   ? 0
                   : 1;
    profsim = argc == 2 ? argv[1] : NULL;
    return tests_run(make_folder, remove_folder);
}
