/* merge_case.c -- see merge_case.h. */
#include "merge_case.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "folder.h"
#include "unit_test.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "merge.h"
#include "prof/version.h"
#include "program_id.h"

enum { SECONDS = 60, REPORT_MAX = 1 << 16 };

static char program[CLI_PROGRAM_ID_BYTES];

int
merge_make_folder(void **state)
{
    return cli_program_id(program) ? folder_make(state) : -1;
}

int
merge_remove_folder(void **state)
{
    char subject[64];

    snprintf(subject, sizeof subject, "%s/made.so", merge_folder());
    (void)unlink(subject);
    return folder_remove(state);
}

static uint64_t numbers;

void
merge_seed(uint64_t seed)
{
    numbers = seed;
}

uint32_t
merge_below(uint32_t count)
{
    numbers = numbers * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(numbers >> 33) % count;
}

static char *text; /* the file being written */
static size_t text_bytes;
static int files;

FILE *
merge_begin_file(const char *first, const char *asked, uint32_t shard,
                 uint32_t count)
{
    FILE *file = open_memstream(&text, &text_bytes);

    assert_non_null(file);
    fprintf(file,
            "%s\nversion %s\nprogram %s\nasked %s\nshard %" PRIu32 "/%" PRIu32
            "\n",
            first, PROF_VERSION, program, asked, shard + 1, count);
    return file;
}

const char *
merge_path(int number)
{
    static char path[sizeof folder + 16];
    char name[16];

    snprintf(name, sizeof name, "%c.result", 'a' + number);
    folder_path(path, sizeof path, name);
    return path;
}

void
merge_end_file(FILE *file)
{
    FILE *to = fopen(merge_path(files++), "w");

    assert_int_equal(fclose(file), 0);
    assert_non_null(to);
    fprintf(to, "%send %016" PRIx64 "\n", text,
            (uint64_t)XXH3_64bits(text, text_bytes));
    assert_int_equal(fclose(to), 0);
    free(text);
}

void
merge_remove_files(void)
{
    while (files > 0)
        assert_int_equal(unlink(merge_path(--files)), 0);
}

void
merge_forget_files(void)
{
    files = 0;
}

struct captured
merge_files(void)
{
    static char name[] = "merge";
    static char option[] = "--json";
    static char save[] = "--save";
    char json[sizeof folder + 8];
    char saved[sizeof folder + 8];
    char *argv[] = {name, folder, option, json, save, saved, NULL};
    struct captured said;
    FILE *report;

    folder_path(json, sizeof json, "json");
    folder_path(saved, sizeof saved, "saved");
    assert_true(captured_run(&said, cli_merge, argv, -1, SECONDS));
    assert_int_equal(said.signal, 0);
    merge_remove_files();
    report = fopen(json, "r");
    assert_non_null(report);
    said.text = realloc(said.text, said.text_bytes + REPORT_MAX);
    assert_non_null(said.text);
    said.text_bytes +=
        fread(&said.text[said.text_bytes], 1, REPORT_MAX - 1, report);
    said.text[said.text_bytes] = '\0';
    assert_int_equal(fclose(report), 0);
    assert_int_equal(unlink(json), 0);
    return said;
}

void
merge_expect(const struct captured *said, bool is_there, const char *format,
             ...)
{
    char wanted[1024];
    va_list values;

    va_start(values, format);
    vsnprintf(wanted, sizeof wanted, format, values);
    va_end(values);
    if ((strstr(said->text, wanted) != NULL) != is_there)
        fail_msg("%s \"%s\" in:\n%s", is_there ? "no" : "there is", wanted,
                 said->text);
}

void
merge_expect_missing(const struct captured *said, const bool *is_missing,
                     uint32_t count, const char *after)
{
    char list[64] = "";
    char words[64] = ""; /* the same for a shell */
    size_t end = 0;
    size_t words_end = 0;
    uint32_t missing = 0;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t last = i;

        if (!is_missing[i])
            continue;
        while (last + 1 < count && is_missing[last + 1])
            last++;
        missing += last - i + 1;
        end += (size_t)snprintf(
            &list[end], sizeof list - end,
            last > i ? ",%" PRIu32 "-%" PRIu32 : ",%" PRIu32, i + 1, last + 1);
        words_end += (size_t)snprintf(
            &words[words_end], sizeof words - words_end,
            last > i ? " $(seq %" PRIu32 " %" PRIu32 ")" : " %" PRIu32, i + 1,
            last + 1);
        i = last;
    }
    merge_expect(said, missing > 0,
                 "missing, in whole or in part: %" PRIu32 " of %" PRIu32
                 " shards: %s\n",
                 missing, count, missing > 0 ? &list[1] : "");
    merge_expect(said, missing > 0, "\nrun them: for i in%s%s", words, after);
}

int
merge_files_count(void)
{
    return files;
}

void
merge_expect_exit(const struct captured *said, int exit_code)
{
    if (said->exit_code != exit_code)
        fail_msg("exit code %d, not %d, of:\n%s", said->exit_code, exit_code,
                 said->text);
}

/* The order of verdicts in exit.h: bad input is worst, then the larger failure,
 * then an incomplete result. */
int
merge_badness(int exit_code)
{
    static const int of_code[] = {0, 6, 2, 3, 4, 5, 1};

    assert_in_range(exit_code, 0, 6);
    return of_code[exit_code];
}

const char *
merge_folder(void)
{
    return folder;
}
