/* heap_random.c -- see heap_random.h. */
#include "heap_random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "captured.h"
#include "command.h"
#include "heap_shown.h"
#include "refused_memory.h"
#include "sanitized.h"
#include "unit_test.h"

enum { WORDS_MAX = 10 };

static struct heap_model models[2];

/* Requests from one refusal to the next. */
enum { NOT_REACHED = 99, STEP = SANITIZED ? 13 : 1 };

static uint32_t request_that_fails; /* for memory; 0: none */
static size_t file_bytes_max;       /* 0: no limit */
static enum cli_exit (*limited)(int argc, char **argv);

static enum cli_exit
with_limits(int argc, char **argv)
{
    const struct rlimit limit = {file_bytes_max, file_bytes_max};
    enum cli_exit exit_code;

    if (file_bytes_max > 0 && (signal(SIGXFSZ, SIG_IGN) == SIG_ERR ||
                               setrlimit(RLIMIT_FSIZE, &limit) != 0))
        return CLI_NOT_FOUND;
    refused_memory_at = request_that_fails;
    exit_code = limited(argc, argv);
    return refused_memory_at > 0 ? (enum cli_exit)NOT_REACHED : exit_code;
}

/* Run the command. in: words, separated by spaces */
static struct captured
run_words(enum cli_exit (*command)(int argc, char **argv), const char *words)
{
    char copy[128];
    char *argv[WORDS_MAX + 1] = {NULL};
    struct captured captured;
    char *rest;
    int argc = 0;

    snprintf(copy, sizeof copy, "%s", words);
    for (char *word = strtok_r(copy, " ", &rest); word != NULL;
         word = strtok_r(NULL, " ", &rest))
        argv[argc++] = word;
    limited = command;
    assert_true(captured_run(&captured, with_limits, argv, -1, 60));
    return captured;
}

/* returns: what it printed, to be freed */
static char *
output_of(enum cli_exit (*command)(int argc, char **argv), const char *words)
{
    const struct captured captured = run_words(command, words);

    if (captured.exit_code != CLI_OK)
        fail_msg("%s: %d: %s", words, captured.exit_code, captured.text);
    return captured.text;
}

/* Remedies for losses stand behind a colon; leave them out. */
static void
cut_remedies(char *text)
{
    char *line = text;

    while ((line = strstr(line, "not recorded ")) != NULL) {
        char *const end = strchr(++line, '\n');
        char *const colon = strchr(line, ':');

        if (colon != NULL && colon < end)
            memmove(colon, end, strlen(end) + 1);
    }
}

static void
expect_text(char *found, char *want)
{
    if (strcmp(found, want) != 0) {
        size_t at = 0;

        while (found[at] == want[at])
            at++;
        while (at > 0 && found[at - 1] != '\n')
            at--;
        fail_msg("found:\n%.400s\nwant:\n%.400s", &found[at], &want[at]);
    }
    free(found);
    free(want);
}

static char *
bytes_of(const char *command, size_t *count)
{
    enum { BYTES_MAX = 1 << 24 };
    char *bytes = malloc(BYTES_MAX);
    FILE *file = popen(command, "r");

    assert_non_null(file);
    *count = fread(bytes, 1, BYTES_MAX - 1, file);
    bytes[*count] = '\0';
    assert_int_equal(pclose(file), 0);
    return bytes;
}

static char *
text_of(const char *path)
{
    char command[64];
    size_t count;

    snprintf(command, sizeof command, "cat m.out/%s", path);
    return bytes_of(command, &count);
}

static char *
samples_of(const char *path)
{
    char command[64];
    size_t count;
    char *bytes;
    char *lines;

    snprintf(command, sizeof command, "gzip -dc m.out/%s.pb.gz", path);
    bytes = bytes_of(command, &count);
    lines = heap_shown_read(bytes, count);
    free(bytes);
    return lines;
}

static void
expect_files(const struct heap_model *model)
{
    static const struct {
        const char *name;
        enum heap_shown what;
    } heaps[] = {{"heap", SHOWN_RUN},
                 {"allocs", SHOWN_RUN},
                 {"peak", SHOWN_AT_PEAK},
                 {"exit", SHOWN_AT_EXIT}};
    static const char *const flames[] = {"peak.svg", "exit.svg", "allocs.svg"};
    char name[32];
    char *all;
    char *table;
    char *text;

    for (size_t i = 0; i < sizeof heaps / sizeof *heaps; i++) {
        snprintf(name, sizeof name, "%s.txt", heaps[i].name);
        expect_text(text_of(name), heap_shown_text(model, heaps[i].what));
        expect_text(samples_of(heaps[i].name),
                    heap_shown_samples(model, heaps[i].what));
    }
    expect_text(samples_of("block"), heap_shown_waits(model, "m.rec", 0));
    expect_text(samples_of("mutex"), heap_shown_waits(model, "m.rec", 1));
    table = heap_shown_symbols(model);
    text = heap_shown_text(model, SHOWN_RUN);
    assert_true(asprintf(&all, "%s%s", table, text) > 0);
    expect_text(text_of("heap.symbolized"), all);
    free(table);
    free(text);
    expect_text(text_of("peak.folded"), heap_shown_folded(model, MODEL_PEAK));
    expect_text(text_of("heap.speedscope.json"),
                heap_shown_speedscope(model, "m.rec"));
    for (int i = 0; i < MODEL_MEASURES; i++) {
        text = text_of(flames[i]);
        heap_shown_expect_flames(model, (enum model_measure)i, text);
        free(text);
    }
}

/* Around 1,024 stacks the text of a heap is made in one piece, or in two. */
void
heap_random_run(void)
{
    static const uint32_t stacks[] = {3, 12, 40, 200, 1024, 1025, 2049, 20, 5};
    static const unsigned tops[] = {1, 3, 20, 5000};
    static const char *const measures[] = {"peak", "exit", "allocs"};
    struct heap_model *const model = &models[0];
    char words[128];

    for (unsigned i = 0; i < sizeof stacks / sizeof *stacks;
         i += SANITIZED ? 3 : 1) {
        const unsigned top = tops[i % 4];
        const enum model_measure by = (enum model_measure)(i % 3);
        char *text;

        heap_model_make(model, i + 1, stacks[i]);
        heap_model_write(model, "m.rec");
        snprintf(words, sizeof words, "run m.rec --top %u --out m.out", top);
        text = output_of(cli_run, words);
        cut_remedies(text);
        expect_text(text, heap_shown_run(model, "m.rec", top, MODEL_MEASURES));
        expect_files(model);
        snprintf(words, sizeof words, "run --by %s m.rec", measures[by]);
        text = output_of(cli_run, words);
        cut_remedies(text);
        expect_text(text, heap_shown_run(model, "m.rec", 10, by));
        snprintf(words, sizeof words, "run --folded --by %s m.rec",
                 measures[by]);
        expect_text(output_of(cli_run, words), heap_shown_folded(model, by));
    }
}

void
heap_random_diff(void)
{
    static const unsigned tops[] = {1, 4, 7, 20, 50, 100000};
    static const char *const measures[] = {"peak", "exit", "allocs"};
    char words[128];

    for (unsigned i = 0; i < 12; i++) {
        char *text;

        heap_model_make(&models[0], 100 + i, 3 + 20 * i);
        heap_model_make(&models[1], i % 4 == 3 ? 100 + i : 200 + i, 3 + 20 * i);
        heap_model_write(&models[0], "m.rec");
        heap_model_write(&models[1], "n.rec");
        snprintf(words, sizeof words, "diff m.rec n.rec --top %u --by %s",
                 tops[i % 6], measures[i % 3]);
        if (tops[i % 6] == 20) /* as without it */
            snprintf(words, sizeof words, "diff m.rec n.rec --by %s",
                     measures[i % 3]);
        text = output_of(cli_diff, words);
        cut_remedies(text);
        expect_text(text,
                    heap_shown_diff(&models[0], &models[1],
                                    (enum model_measure)(i % 3), tops[i % 6]));
    }
}

/* ---- Refusals ---- */

static const char *const file_names[] = {
    "heap.txt",    "heap.pb.gz",          "allocs.txt", "allocs.pb.gz",
    "peak.txt",    "peak.pb.gz",          "exit.txt",   "exit.pb.gz",
    "block.txt",   "block.pb.gz",         "mutex.txt",  "mutex.pb.gz",
    "peak.svg",    "heap.symbolized",     "exit.svg",   "allocs.svg",
    "peak.folded", "heap.speedscope.json"};

enum { FILES = sizeof file_names / sizeof *file_names, FILE_BYTES = 1 << 20 };

static char whole[FILES][FILE_BYTES];
static size_t whole_bytes[FILES];

/* Read a file, and remove it. returns: its length; 0: there is none */
static size_t
take_file(int number, char *bytes)
{
    char path[64];
    size_t count;
    FILE *file;

    snprintf(path, sizeof path, "m.out/%s", file_names[number]);
    file = fopen(path, "rb");
    if (file == NULL)
        return 0;
    count = fread(bytes, 1, FILE_BYTES, file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(remove(path), 0);
    assert_in_range(count, 1, FILE_BYTES - 1);
    return count;
}

/* Files are whole or not there. returns: how many are there */
static int
take_files(void)
{
    static char bytes[FILE_BYTES];
    int count = 0;

    for (int i = 0; i < FILES; i++) {
        const size_t got = take_file(i, bytes);

        if (got == 0)
            continue;
        if (got != whole_bytes[i])
            fail_msg("%s: %zu bytes of %zu, request %u", file_names[i], got,
                     whole_bytes[i], request_that_fails);
        assert_memory_equal(bytes, whole[i], got);
        count++;
    }
    if (rmdir("m.out") != 0)
        assert_int_equal(access("m.out", F_OK), -1); /* nothing else in it */
    return count;
}

/* A command that lacks something ends with 1 and one complaint, at its end. */
static void
expect_complaint(const char *words, const struct captured *said)
{
    const char *const complaint = strstr(said->text, "profsim: ");

    if (said->exit_code != CLI_USAGE || complaint == NULL ||
        strchr(complaint, '\n') != &said->text[said->text_bytes - 1] ||
        (complaint > said->text && complaint[-1] != '\n'))
        fail_msg("%s: %d, signal %d, at request %u or %zu bytes: %s", words,
                 said->exit_code, said->signal, request_that_fails,
                 file_bytes_max, said->text);
}

static void
refuse_each_request(enum cli_exit (*command)(int argc, char **argv),
                    const char *words, int files)
{
    char *const want = output_of(command, words);
    struct captured said;

    for (int i = 0; i < files; i++) {
        whole_bytes[i] = take_file(i, whole[i]);
        assert_true(whole_bytes[i] > 0);
    }
    for (request_that_fails = 1;; request_that_fails += STEP) {
        int there;

        assert_true(request_that_fails < 1000);
        said = run_words(command, words);
        there = take_files();
        if (said.exit_code == NOT_REACHED)
            break;
        if (said.exit_code != CLI_OK) {
            expect_complaint(words, &said);
        } else {
            assert_string_equal(said.text, want);
            assert_int_equal(there, files);
        }
        captured_free(&said);
    }
    captured_free(&said);
    request_that_fails = 0;
    free(want);
}

void
heap_random_refused(void)
{
    struct captured said;

    for (int i = 0; i < FILES; i++)
        take_file(i, whole[i]); /* of another test */
    heap_model_make(&models[0], 7, 40);
    heap_model_write(&models[0], "m.rec");
    heap_model_make(&models[1], 8, 40);
    heap_model_write(&models[1], "n.rec");
    refuse_each_request(cli_diff, "diff m.rec n.rec", 0);
    refuse_each_request(cli_run, "run --folded m.rec", 0);
    refuse_each_request(cli_run, "run m.rec --out m.out", FILES);
    for (int i = 0; i < FILES; i++) {
        if (whole_bytes[i] < 9000)
            continue; /* what is printed must fit, too */
        file_bytes_max = whole_bytes[i] - 1;
        said = run_words(cli_run, "run m.rec --out m.out");
        expect_complaint("run", &said);
        assert_in_range(take_files(), 0, FILES - 1);
        captured_free(&said);
    }
    file_bytes_max = 0;
    for (int i = 0; i < FILES; i++) {
        char path[64];

        snprintf(path, sizeof path, "m.out/%s", file_names[i]);
        assert_int_equal(mkdir("m.out", 0700), 0);
        assert_int_equal(mkdir(path, 0700), 0); /* in place of the file */
        said = run_words(cli_run, "run m.rec --out m.out");
        expect_complaint("run", &said);
        captured_free(&said);
        assert_int_equal(rmdir(path), 0);
        assert_in_range(take_files(), 0, FILES - 1);
    }
}
