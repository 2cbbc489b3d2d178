/*
 * test_conform_stream.c -- how `profsim conform -- COMMAND` judges the order of
 * events. This program plays COMMAND, too: it finds the memory that it shares
 * with profsim, and writes events into it.
 */
#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "complaint.h"
#include "conform_stream.h"
#include "preload.h"
#include "conform_events.h"
#include "conform/stream.h"
#include "unit_test.h"

enum { ALLOC, FREE };

static struct stream *shared;

/* How the command ends, and what it leaves in the memory. */
static struct {
    enum cli_exit exit_code;
    int status;
    uint64_t sites;
    uint64_t refused;
    uint64_t count;
    bool is_held; /* its signals */
} ending = {.sites = 1};

/* ---- the command ---- */

bool
cli_complain(const char *format, ...)
{
    (void)format;
    return false;
}

enum cli_exit
cli_usage(const char *format, ...)
{
    (void)format;
    return CLI_USAGE;
}

bool
cli_preload_find(char *path, size_t path_bytes,
                 const struct cli_preload *preload)
{
    (void)path;
    (void)path_bytes;
    (void)preload;
    return true;
}

/* The memory has no name; it is found by its descriptor. */
static int
find_memory(void)
{
    DIR *const folder = opendir("/proc/self/fd");
    struct dirent *entry;
    int found = -1;

    assert_non_null(folder);
    while ((entry = readdir(folder)) != NULL) {
        char target[64] = "";
        const ssize_t bytes =
            readlinkat(dirfd(folder), entry->d_name, target, sizeof target - 1);

        if (bytes > 0 && strstr(target, "profsim-conform") != NULL)
            found = atoi(entry->d_name);
    }
    closedir(folder);
    return found;
}

enum cli_exit
cli_preload_run(const struct cli_preload *preload, const char *path,
                char **command, int *status)
{
    char wanted[64];

    (void)path;
    (void)command;
    snprintf(wanted, sizeof wanted, "/proc/%d/fd/%d", (int)getppid(),
             find_memory());
    setenv(STREAM_ENV, "of the caller", 1);
    preload->set_environment(NULL);
    assert_string_equal(getenv(STREAM_ENV), wanted);
    ending.is_held = true;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED,
                  find_memory(), 0);
    assert_true(shared != MAP_FAILED);
    assert_true(shared->magic == STREAM_MAGIC);
    shared->sites = ending.sites;
    shared->refused = ending.refused;
    shared->count = ending.count;
    *status = ending.status;
    return ending.exit_code;
}

void
cli_preload_let_go(void)
{
    ending.is_held = false;
}

static int
run_command(void **state)
{
    (void)state;
    return cli_conform_stream_run((char *[]){"command", NULL}) == CLI_OK ? 0
                                                                         : -1;
}

static int
forget_events(void **state)
{
    (void)state;
    shared->count = 0;
    return 0;
}

static void
event(uint64_t kind, uint64_t process, uint64_t address)
{
    shared->events[shared->count++] = (struct stream_event){
        .kind = kind, .process = process, .address = address, .bytes = 8};
}

static void
expect_frees(enum cli_verdict verdict, const char *text)
{
    struct cli_conform_outcome outcome;

    cli_conform_stream_judge("frees", &outcome);
    assert_string_equal(outcome.text, text);
    assert_int_equal(outcome.verdict, verdict);
}

/* ---- who frees ---- */

/* Process ids wrap around: a child's may be smaller than its parent's. */
TEST_WITH(forget_events, NULL, a_child_may_free_what_it_inherited)
{
    static const uint64_t children[] = {7, 99};

    for (size_t i = 0; i < 2; i++) {
        forget_events(state);
        event(ALLOC, 42, 0x1000);
        event(FREE, children[i], 0x2000);
        event(FREE, 42, 0x1000);
        expect_frees(CLI_VERDICT_HOLDS, "1 of 3 events are frees of their "
                                        "alloc, 1 of inherited blocks");
    }
}

TEST_WITH(forget_events, NULL, the_command_inherits_nothing)
{
    static const uint64_t children[] = {7, 99};

    for (size_t i = 0; i < 2; i++) {
        forget_events(state);
        event(ALLOC, 42, 0x1000);
        event(ALLOC, children[i], 0x1000);
        event(FREE, 42, 0x2000);
        expect_frees(CLI_VERDICT_BROKEN,
                     "0x2000 has a free, and no alloc before it");
    }
}

/* In each process the same address is another block. */
TEST_WITH(forget_events, NULL, blocks_of_two_processes_are_apart)
{
    event(ALLOC, 42, 0x1000);
    event(ALLOC, 7, 0x1000);
    event(FREE, 7, 0x1000);
    event(FREE, 42, 0x1000);
    expect_frees(CLI_VERDICT_HOLDS, "2 of 4 events are frees of their alloc, "
                                    "0 of inherited blocks");
    event(ALLOC, 7, 0x1000);
    event(ALLOC, 7, 0x1000);
    expect_frees(CLI_VERDICT_BROKEN,
                 "process 7: 0x1000 has two allocs after each other");
}

/* ---- weights ---- */

static void
weigh(uint64_t kind, uint64_t bytes, uint64_t weight_bytes)
{
    shared->events[shared->count] =
        (struct stream_event){.kind = kind,
                              .process = 42,
                              .address = 0x1000 + 16 * shared->count,
                              .bytes = bytes,
                              .weight_bytes = weight_bytes};
    shared->count++;
}

static void
expect_weights(enum cli_verdict verdict, const char *begin)
{
    struct cli_conform_outcome outcome;

    cli_conform_stream_judge("weights", &outcome);
    assert_int_equal(strncmp(outcome.text, begin, strlen(begin)), 0);
    assert_int_equal(outcome.verdict, verdict);
}

TEST_WITH(forget_events, NULL, one_pair_that_differs_is_enough)
{
    static const uint64_t sizes[] = {8, 16, 24};
    char wanted[64];

    /* Two of each size; of one size they differ, wherever it stands. */
    for (size_t odd = 0; odd < 6; odd++) {
        forget_events(state);
        for (size_t i = 0; i < 6; i++)
            weigh(ALLOC, sizes[i % 3], 100003 + (i == odd ? 2 : 0));
        snprintf(wanted, sizeof wanted, "blocks of %d bytes weigh ",
                 (int)sizes[odd % 3]);
        expect_weights(CLI_VERDICT_BROKEN, wanted);
    }
    forget_events(state);
    for (size_t i = 0; i < 6; i++)
        weigh(ALLOC, sizes[i % 3], 100003 + i / 3); /* rounded otherwise */
    expect_weights(CLI_VERDICT_HOLDS, "6 sampled blocks, 3 of a size");
}

TEST_WITH(forget_events, NULL, intervals_are_those_of_allocs)
{
    for (uint64_t i = 1; i <= 4; i++) {
        weigh(ALLOC, 64, i << 32);
        weigh(FREE, 64, 7);
    }
    expect_weights(CLI_VERDICT_HOLDS,
                   "4 weights count intervals of 4294967296 bytes");
    weigh(ALLOC, 80, UINT64_C(1) << 32);
    weigh(ALLOC, 80, UINT64_C(1) << 32); /* the last pair does not differ */
    expect_weights(CLI_VERDICT_HOLDS,
                   "6 weights count intervals of 4294967296 bytes");
    weigh(ALLOC, 64, 1023);
    expect_weights(CLI_VERDICT_BROKEN, "blocks of 64 bytes weigh ");
    for (uint64_t least = 1023; least <= 1024; least++) {
        forget_events(state);
        weigh(ALLOC, 64, least);
        weigh(ALLOC, 64, 2 * least);
        expect_weights(least == 1024 ? CLI_VERDICT_HOLDS : CLI_VERDICT_BROKEN,
                       least == 1024
                           ? "2 weights count intervals of 1024 "
                           : "blocks of 64 bytes weigh 1023 and 2046");
    }
    forget_events(state);
    weigh(ALLOC, 64, 63);
    weigh(ALLOC, 65, 65);
    expect_weights(CLI_VERDICT_BROKEN, "a block of 64 bytes weighs 63");
    forget_events(state);
    weigh(ALLOC, 64, 64);
    weigh(FREE, 64, 1);
    weigh(ALLOC, 65, 65);
    expect_weights(CLI_VERDICT_NOT_TRIED, "of 2 sampled blocks no two");
}

TEST_WITH(forget_events, NULL, random_events_are_judged_as_the_contract_says)
{
    for (uint64_t seed = 1; seed <= 3000; seed++) {
        forget_events(state);
        conform_events_draw(shared, seed);
        conform_events_expect();
    }
}

/* ---- the end of the command ---- */

/* returns: what is printed, to be freed */
static char *
end_command(enum cli_exit *exit_code)
{
    FILE *const file = tmpfile();
    const int output = dup(STDOUT_FILENO);
    char *const text = calloc(1, 256);

    assert_true(file != NULL && output >= 0 && text != NULL);
    fflush(stdout);
    assert_true(dup2(fileno(file), STDOUT_FILENO) >= 0);
    *exit_code = cli_conform_stream_run((char *[]){"command", NULL});
    fflush(stdout);
    assert_true(dup2(output, STDOUT_FILENO) >= 0);
    assert_true(pread(fileno(file), text, 255, 0) >= 0);
    close(output);
    fclose(file);
    return text;
}

TEST_WITH(forget_events, NULL, the_end_of_the_command_is_told)
{
    static const struct {
        int status; /* as of waitpid() */
        uint64_t sites, refused, count;
        enum cli_exit run, exit_code;
        const char *text;
    } cases[] = {
        {0, 1, 0, 7, CLI_OK, CLI_OK, "# 7 events\n"},
        {3 << 8, 2, 0, 0, CLI_OK, CLI_OK,
         "# the command ended with code 3\n# 0 events\n"},
        {1 << 8, 1, 0, STREAM_EVENTS_MAX, CLI_OK, CLI_OK,
         "# the command ended with code 1\n# 1048576 events\n"},
        {9, 1, 0, STREAM_EVENTS_MAX + 1, CLI_OK, CLI_OK,
         "# the command was ended by signal 9\n# 1048577 events, the first "
         "1048576 of which are judged\n"},
        {0, 0, 0, 0, CLI_OK, CLI_USAGE, ""},
        {0, 1, 1, 5, CLI_OK, CLI_USAGE, ""},
        {0, 1, 0, 5, CLI_NOT_FOUND, CLI_NOT_FOUND, ""},
        {0, 1, 0, 5, CLI_USAGE, CLI_USAGE, ""},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        enum cli_exit exit_code;
        char *text;

        ending.status = cases[i].status;
        ending.sites = cases[i].sites;
        ending.refused = cases[i].refused;
        ending.count = cases[i].count;
        ending.exit_code = cases[i].run;
        assert_int_equal(munmap(shared, sizeof *shared), 0);
        text = end_command(&exit_code);
        assert_string_equal(text, cases[i].text);
        assert_int_equal(exit_code, cases[i].exit_code);
        assert_false(ending.is_held);
        free(text);
    }
}

TEST_WITH(forget_events, NULL, events_without_room_are_not_judged)
{
    struct cli_conform_outcome outcome;

    for (int i = 0; i < 2; i++) {
        memset(shared->events, 0, 16 * sizeof *shared->events);
        shared->count = i == 0 ? 15 : STREAM_EVENTS_MAX + 1;
        cli_conform_stream_judge("size_zero", &outcome);
        assert_int_equal(outcome.verdict, CLI_VERDICT_HOLDS);
        assert_string_equal(outcome.text, i == 0 ? "15 blocks of no size"
                                                 : "1048576 blocks of no size");
    }
}

TEST(a_command_is_not_run_without_memory_for_its_events)
{
    struct rlimit limit;
    struct rlimit none;
    enum cli_exit exit_code;

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    none = limit;
    none.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    ending.is_held = true;
    exit_code = cli_conform_stream_run((char *[]){"command", NULL});
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_int_equal(exit_code, CLI_USAGE);
    assert_true(ending.is_held); /* nothing was done */
}

TEST(a_check_of_events_has_a_judgement)
{
    static const char *const names[] = {
        "weights", "frees", "nothing", "size_zero", "", "free", "freesx"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_int_equal(cli_conform_stream_judges(names[i]), i < 4);
}

int
main(void)
{
    return tests_run(run_command, NULL);
}
