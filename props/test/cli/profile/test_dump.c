/*
 * test_dump.c -- `profsim dump` and `profsim top`, with an agent that the test
 * plays: which files are written, that they say what the agent sent, and what
 * happens when memory or the disk is full.
 */
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "agent_client.h"
#include "captured.h"
#include "command.h"
#include "dump_case.h"
#include "folder.h"
#include "named_profile.h"
#include "pprof.h"
#include "profile.h"
#include "profile_case.h"
#include "refused_memory.h"
#include "unit_test.h"

enum { KINDS = 5, SECONDS = 60, FILE_MAX = 1 << 16, REQUESTS_MAX = 2000 };

static const char *const kinds[KINDS] = {"heap", "allocs", "mutex", "block",
                                         "cpu"};

static volatile int seen;

static __attribute__((noinline)) void
shared_name(void)
{
    seen += 5;
}

uintptr_t
dump_here(void)
{
    return (uintptr_t)shared_name;
}

/* ---- The agent ---- */

enum answer { REFUSED, EMPTY, THERE, ANSWERS };

static enum answer answers[KINDS];
static struct dump_profile sent[KINDS];

void *__real_calloc(size_t count, size_t each_bytes);

const char *
cli_agent_ask(uint64_t process, const char *request, uint8_t **bytes,
              size_t *bytes_count)
{
    static char reason[64];
    static struct dump_profile empty;

    for (int i = 0; i < KINDS; i++) {
        const struct dump_profile *from = &sent[i];

        if (process != 77 || strcmp(kinds[i], request) != 0)
            continue;
        snprintf(reason, sizeof reason, "no %s is taken", request);
        if (answers[i] == REFUSED)
            return reason;
        if (answers[i] == EMPTY) {
            memcpy(empty.bytes, "\x32", 2); /* the string "" */
            empty.count = 2;
            from = &empty;
        }
        *bytes = __real_calloc(1, from->count + 1); /* not refused */
        memcpy(*bytes, from->bytes, from->count);
        *bytes_count = from->count;
        return NULL;
    }
    return "nobody is asked that";
}

/* ---- The command ---- */

static uint32_t asked_to_fail; /* the request for memory that fails; 0: none */
static size_t most_bytes;      /* of a file; 0: no limit */
static enum cli_exit (*command)(int argc, char **argv);

static enum cli_exit
with_limits(int argc, char **argv)
{
    const struct rlimit limit = {most_bytes, most_bytes};

    if (most_bytes > 0 && (signal(SIGXFSZ, SIG_IGN) == SIG_ERR ||
                           setrlimit(RLIMIT_FSIZE, &limit) != 0))
        return CLI_NOT_FOUND;
    refused_memory_at = asked_to_fail;
    return command(argc, argv);
}

static struct captured
run(enum cli_exit (*what)(int argc, char **argv), const char *const *words)
{
    char *argv[8] = {NULL};
    struct captured said;
    int argc = 0;

    for (; words[argc] != NULL; argc++)
        argv[argc] = strdup(words[argc]);
    command = what;
    assert_true(captured_run(&said, with_limits, argv, -1, SECONDS));
    assert_int_equal(said.signal, 0);
    while (argc > 0)
        free(argv[--argc]);
    return said;
}

static struct captured
dump(bool otlp)
{
    char prefix[sizeof folder + 16];

    folder_path(prefix, sizeof prefix, "p");
    return run(cli_dump, (const char *const[]){"dump", "-o", prefix, "77",
                                               otlp ? "--otlp" : NULL, NULL});
}

static void
path_of(char *path, size_t room, int kind, bool otlp)
{
    char name[32];

    snprintf(name, sizeof name, otlp ? "p.%s.otlp" : "p.%s.pb.gz", kinds[kind]);
    folder_path(path, room, name);
}

/* Read a file, and remove it. returns: its length; 0: there is no file */
static size_t
take_file(int kind, bool otlp, uint8_t *bytes)
{
    char path[sizeof folder + 32];
    char line[sizeof path + 32];
    size_t count;
    FILE *file;

    path_of(path, sizeof path, kind, otlp);
    if (access(path, F_OK) != 0)
        return 0;
    snprintf(line, sizeof line, "%s %s", otlp ? "cat" : "gzip -dc", path);
    file = popen(line, "r");
    assert_non_null(file);
    count = fread(bytes, 1, FILE_MAX, file);
    assert_int_equal(pclose(file), 0);
    assert_int_equal(unlink(path), 0);
    assert_in_range(count, 1, FILE_MAX - 1);
    return count;
}

/* ---- What is in the files ---- */

static uint8_t file_bytes[2][FILE_MAX];

/* Check that a location of this program's code has its function's name. */
static void
expect_named(const struct model_pprof *profile, uint64_t id, const char *file)
{
    const struct model_pprof_location *at = model_pprof_location(profile, id);
    const struct model_pprof_function *function =
        model_pprof_function(profile, at->function);

    assert_non_null(function);
    assert_string_equal(function->name, "shared_name");
    assert_string_equal(function->system_name, "shared_name");
    assert_non_null(strstr(function->file, file));
    assert_true(at->line > 10);
    assert_int_equal(at->mapping, 300);
    assert_int_equal(at->lines_count, 1);
}

TEST(functions_of_one_name_are_told_apart_by_their_files)
{
    struct model_pprof profile;
    struct captured said;
    size_t count;

    answers[0] = THERE;
    dump_make(&sent[0], 1, DUMP_OF_CODE);
    said = dump(false);
    assert_int_equal(said.exit_code, 0);
    captured_free(&said);
    count = take_file(0, false, file_bytes[0]);
    assert_true(model_pprof_read(&profile, file_bytes[0], count));
    expect_named(&profile, 5, "test_dump.c");
    expect_named(&profile, 70000, "test_dump.c");
    expect_named(&profile, 9, "dump_case.c");
    assert_int_equal(model_pprof_location(&profile, 8)->function, 2);
    assert_int_equal(model_pprof_location(&profile, 5)->function,
                     model_pprof_location(&profile, 70000)->function);
    assert_int_equal(model_pprof_location(&profile, 5)->address, dump_here());
    assert_int_equal(profile.functions_count, 4); /* and 0x1401 */
    for (size_t i = 0; i < 2; i++)
        assert_true(profile.mappings[i].has_functions);
    assert_string_equal(profile.samples[4].labels[0].key, "label");
    model_pprof_release(&profile);
}

TEST(the_type_that_is_shown_first_is_the_one_asked_for)
{
    struct cli_named_profile named = {.samples_count = 0};
    struct model_pprof profile;

    dump_make(&sent[0], 1, DUMP_ONE);
    cli_proto_put(&named.proto, sent[0].bytes, sent[0].count);
    assert_true(model_pprof_read(&profile, sent[0].bytes, sent[0].count));
    for (size_t i = 0; i < profile.types_count; i++) {
        struct model_pprof shown;

        assert_null(cli_named_profile_show(&named, profile.types[i].type));
        assert_true(
            model_pprof_read(&shown, named.proto.at, named.proto.count));
        assert_string_equal(shown.default_type, profile.types[i].type);
        model_pprof_release(&shown);
    }
    assert_true(profile.types_count > 1);
    model_pprof_release(&profile);
    cli_named_profile_release(&named);
}

TEST(both_files_say_what_the_agent_sent)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct captured said;
        char *lines[3];

        answers[0] = THERE;
        dump_make(&sent[0], seed, DUMP_ONE);
        said = dump(true);
        assert_int_equal(said.exit_code, 0);
        captured_free(&said);
        lines[0] = dump_lines_of_pprof(sent[0].bytes, sent[0].count);
        lines[1] = dump_lines_of_pprof(file_bytes[0],
                                       take_file(0, false, file_bytes[0]));
        assert_string_equal(lines[1], lines[0]);
        lines[2] = dump_lines_of_otlp(file_bytes[0],
                                      take_file(0, true, file_bytes[0]));
        assert_string_equal(lines[2], lines[0]);
        for (int i = 0; i < 3; i++)
            free(lines[i]);
    }
}

/* ---- Which files there are ---- */

static void
expect_dumped(bool otlp)
{
    struct captured said = dump(otlp);
    char wanted[1024] = "";
    const char *last = "";
    char reason[64];
    size_t end = 0;

    for (int i = 0; i < KINDS; i++) {
        for (int o = 0; o < 2; o++) {
            const bool is_there = answers[i] == THERE && (o == 0 || otlp);

            if (is_there) {
                path_of(&wanted[end], sizeof wanted - end, i, o == 1);
                strcat(wanted, "\n");
                end = strlen(wanted);
            }
            assert_int_equal(take_file(i, o == 1, file_bytes[0]) > 0, is_there);
        }
        if (answers[i] == REFUSED)
            snprintf(reason, sizeof reason, "no %s is taken", kinds[i]);
        else if (answers[i] == EMPTY)
            snprintf(reason, sizeof reason, "nothing was sampled so far");
        if (answers[i] != THERE)
            last = reason;
    }
    if (end == 0)
        snprintf(wanted, sizeof wanted, "profsim: process 77: %s\n", last);
    assert_string_equal(said.text, wanted);
    assert_int_equal(said.exit_code, end > 0 ? 0 : 1);
    captured_free(&said);
}

TEST(each_kind_that_has_samples_is_a_file)
{
    for (int i = 0; i < KINDS; i++)
        dump_make(&sent[i], (uint64_t)i, DUMP_ONE);
    for (int drawn = 0; drawn < 243; drawn += 11) {
        int left = drawn;

        for (int i = 0; i < KINDS; i++, left /= ANSWERS)
            answers[i] = (enum answer)(left % ANSWERS);
        expect_dumped(drawn % 2 == 1);
    }
}

/* ---- Limits ---- */

/* Check that both kinds are there, and complete. After a failure, what is there
 * must be complete. */
static void
expect_whole_or_failed(const struct captured *said, size_t (*whole)[2],
                       uint8_t (*wanted)[2][FILE_MAX])
{
    bool all = true;

    for (int i = 0; i < 2; i++) {
        for (int o = 0; o < 2; o++) {
            const size_t count = take_file(i, o == 1, file_bytes[0]);

            all = all && count > 0;
            if (count > 0 && (count != whole[i][o] ||
                              memcmp(file_bytes[0], wanted[i][o], count) != 0))
                fail_msg("%s.%d is damaged, request %u, exit code %d: %s",
                         kinds[i], o, asked_to_fail, said->exit_code,
                         said->text);
        }
    }
    if (said->exit_code == 0)
        assert_true(all);
    else
        assert_int_equal(said->exit_code, 1);
}

TEST(what_is_written_is_whole_or_a_failure_is_told)
{
    static uint8_t wanted[2][2][FILE_MAX];
    size_t whole[2][2];
    struct captured said;
    bool failed;

    for (int i = 0; i < KINDS; i++) {
        answers[i] = i < 2 ? THERE : REFUSED;
        dump_make(&sent[i], (uint64_t)i,
                  DUMP_ALL); /* without names to look up */
    }
    said = dump(true);
    for (int i = 0; i < 2; i++)
        for (int o = 0; o < 2; o++)
            whole[i][o] = take_file(i, o == 1, wanted[i][o]);
    assert_int_equal(said.exit_code, 0);
    captured_free(&said);
    asked_to_fail = 1;
    do {
        said = dump(true);
        failed = said.exit_code != 0;
        expect_whole_or_failed(&said, whole, wanted);
        captured_free(&said);
        asked_to_fail += asked_to_fail < 60 ? 1 : 7;
    } while (failed && asked_to_fail < REQUESTS_MAX);
    assert_in_range(asked_to_fail, 60, REQUESTS_MAX - 1);
    asked_to_fail = 0;
    for (most_bytes = 1; most_bytes < whole[1][1]; most_bytes += 97) {
        said = dump(true);
        assert_int_equal(said.exit_code, 1);
        expect_whole_or_failed(&said, whole, wanted);
        captured_free(&said);
    }
    most_bytes = 0;
}

/* A cut path would name another file: `most` slashes are as good as one. */
TEST(a_prefix_leaves_room_for_the_longest_ending)
{
    static const size_t most = PATH_MAX - sizeof ".allocs.pb.gz";
    static uint8_t bytes[FILE_MAX];

    for (int i = 0; i < KINDS; i++)
        answers[i] = i == 0 ? THERE : REFUSED;
    dump_make(&sent[0], 0, DUMP_ALL);
    for (size_t over = 0; over < 2; over++) {
        char prefix[PATH_MAX];
        struct captured said;

        memset(prefix, '/', sizeof prefix);
        memcpy(prefix, folder, strlen(folder));
        snprintf(prefix + most + over - 1, 2, "p");
        said = run(cli_dump,
                   (const char *const[]){"dump", "-o", prefix, "77", NULL});
        assert_int_equal(said.exit_code, over);
        assert_int_equal(take_file(0, false, bytes) == 0, over);
        captured_free(&said);
    }
}

/* ---- top ---- */

/* The lines must be in the order of their values, and add up to the total. */
TEST(the_lines_of_top_are_in_order_and_add_up)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct captured said;
        long long total;
        long long sum = 0;
        long long before = INT64_MAX;
        long long value;
        char *rest;
        int lines = 0;

        answers[0] = THERE;
        dump_make(&sent[0], seed, DUMP_ONE);
        said = run(cli_top, (const char *const[]){"top", "77", NULL});
        assert_int_equal(said.exit_code, 0);
        assert_int_equal(sscanf(said.text, "inuse_space: %lld bytes", &total),
                         1);
        (void)strtok_r(said.text, "\n", &rest);
        for (char *line = strtok_r(NULL, "\n", &rest); line != NULL;
             line = strtok_r(NULL, "\n", &rest)) {
            assert_int_equal(sscanf(line, "%lld", &value), 1);
            assert_true(value <= before);
            before = value;
            sum += value;
            lines++;
        }
        assert_int_equal(sum, total);
        assert_true(total >= INT64_C(1) << 33);
        assert_in_range(lines, 2, 6);
        captured_free(&said);
    }
}

/* ---- profile ---- */

TEST(the_profiler_gets_what_was_asked)
{
    profile_check_options(folder);
}

TEST(each_file_of_a_process_is_named_or_complained_about)
{
    profile_check_files(folder);
}

TEST(profile_ends_as_its_command)
{
    profile_check_ends(folder);
}

int
main(void)
{
    return tests_run(folder_make, folder_remove);
}
