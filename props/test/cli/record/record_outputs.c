/* record_outputs.c -- see record_outputs.h. */
#include "record_outputs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record_case.h"
#include "unit_test.h"

static void
write_text(const char *path, const char *text)
{
    FILE *const file = fopen(path, "w");

    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, 0700), 0);
}

/* Is the file that must not be overwritten refused as the output? */
static void
expect_kept(const char *output, const char *const *command)
{
    static const char text[] = "#!/bin/sh\nexit 3\n";
    struct record_case one = {.options = {"-o", output, "--"}};
    char *const path = strdup(spool_path_of("prog"));
    char kept[sizeof text] = "";
    FILE *file;

    for (size_t i = 0; command[i] != NULL; i++)
        one.options[3 + i] = command[i];
    write_text(path, text);
    record_expect(&one, CLI_RECORD, 0, false,
                  "the command uses it; write another file\n");
    file = fopen(path, "r");
    assert_non_null(file);
    assert_int_equal(fread(kept, 1, sizeof kept, file), sizeof text - 1);
    assert_int_equal(fclose(file), 0);
    assert_string_equal(kept, text);
    assert_int_equal(unlink(path), 0);
    free(path);
}

void
record_check_used(void)
{
    char *const path = strdup(spool_path_of("prog"));
    char *const link = strdup(spool_path_of("link"));
    char *const folder = strdup(spool_path_of("."));
    const char *const before = getenv("PATH");
    char *both;

    assert_int_equal(symlink("prog", link), 0);
    expect_kept(path, (const char *const[]){path, NULL});
    expect_kept(path, (const char *const[]){link, NULL});
    expect_kept(link, (const char *const[]){path, NULL});
    expect_kept(path, (const char *const[]){"sh", path, NULL});
    expect_kept(path, (const char *const[]){"sh", "-e", path, "x", NULL});
    assert_true(asprintf(&both, "/no/such:%s:%s", folder, before) > 0);
    assert_int_equal(setenv("PATH", both, 1), 0);
    expect_kept(path, (const char *const[]){"prog", NULL});
    assert_int_equal(setenv("PATH", before, 1), 0);
    assert_int_equal(unlink(link), 0);
    free(both);
    free(folder);
    free(link);
    free(path);
}

void
record_check_unused(void)
{
    char *const path = strdup(spool_path_of("true"));
    char *const output = strdup(spool_path_of("out"));

    write_text(path, "");
    record_expect(&(struct record_case){.options = {"-o", path},
                                        .script = RECORD_SAVE "true"},
                  0, 0, false, "true: 10 bytes asked for");
    assert_int_equal(unlink(path), 0);
    write_text(output, "");
    record_expect(&(struct record_case){.script = RECORD_SAVE}, 0, 0, true,
                  "out: 10 bytes asked for");
    free(output);
    free(path);
}

void
record_check_unnamed(void)
{
    static const char *const outputs[] = {"", "-"};

    for (size_t i = 0; i < 2; i++) {
        char text[128];

        snprintf(text, sizeof text,
                 "profsim: --output takes the name of a file, not '%s'",
                 outputs[i]);
        record_expect(&(struct record_case){.options = {"-o", outputs[i]},
                                            .script = RECORD_SAVE},
                      CLI_RECORD, 0, false, text);
    }
}
