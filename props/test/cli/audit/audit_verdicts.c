/*
 * audit_verdicts.c -- see audit_words.h: `profsim audit --judge`, and what all
 * these tests run.
 */
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit_command.h"
#include "audit_words.h"
#include "captured.h"
#include "rows.h"
#include "unit_test.h"
#include "verdict.h"

void
audit_add(struct audit_line *line, const char *word)
{
    snprintf(line->words[line->count], WORD_BYTES, "%s", word);
    line->argv[line->count] = line->words[line->count];
    line->argv[++line->count] = NULL;
}

void
audit_expect(struct audit_line *line, int exit_code, const char *wanted)
{
    struct captured said;

    assert_true(captured_run(&said, cli_audit, line->argv, -1, SECONDS));
    if (said.exit_code != exit_code || (strcmp(said.text, wanted) != 0 &&
                                        fnmatch(wanted, said.text, 0) != 0)) {
        for (int i = 0; i < line->count; i++)
            print_error("%s ", line->words[i]);
        fail_msg("exit code %d:\n%s\nnot %d:\n%s", said.exit_code, said.text,
                 exit_code, wanted);
    }
    captured_free(&said);
}

static bool
print_verdict(FILE *file, const char *name, uint64_t rate)
{
    struct subjects_verdict verdict;

    subjects_verdict_make(&verdict, subjects_rules_find(name), rate);
    for (size_t i = 0; i < verdict.count; i++) {
        const struct subjects_fault *fault = &verdict.faults[i];

        fprintf(file,
                "%s: %s broken: %s: %" PRIu64 " bytes are shown %.4f times%s",
                name, fault->property, fault->what, fault->size_bytes,
                fault->figure, fault->count > 1 ? " (" : "");
        for (size_t k = 0; fault->count > 1 && k < fault->count; k++)
            fprintf(file, "%" PRIu64 "%s", fault->sizes[k],
                    k + 1 < fault->count ? "," : " in turn)");
        fprintf(file, "; R = %" PRIu64 "\n", rate);
    }
    if (verdict.count > 0)
        fprintf(file, "%s: not right; the first of %zu faults at figure %zu\n",
                name, verdict.count, verdict.tried);
    else
        fprintf(file, "%s: holds; %zu figures within 1 %%, R = %" PRIu64 "\n",
                name, verdict.tried, rate);
    return verdict.count == 0;
}

static void
expect_row_file(const char *path, const char *asked, uint64_t list)
{
    char text[4096] = "";
    char line[256];
    FILE *file = fopen(path, "r");

    assert_non_null(file);
    assert_true(fread(text, 1, sizeof text - 1, file) > 0);
    fclose(file);
    snprintf(line, sizeof line, "\nasked %s\n", asked);
    assert_non_null(strstr(text, line));
    snprintf(line, sizeof line, "%016" PRIx64, list);
    assert_non_null(strstr(text, line));
}

#define ASKED "audit --judge --rate=32 --rules=exact,site-mean,count-and-force"

/* Some rule sets at once, and in shards with a file for each. */
void
audit_that_judges(const char *path)
{
    static const char *const judged[] = {"exact", "site-mean",
                                         "count-and-force"};

    for (int shard = 0; shard <= 4; shard += 2) {
        struct audit_line line = {.count = 0};
        char *wanted = NULL;
        size_t bytes = 0;
        FILE *file = open_memstream(&wanted, &bytes);
        const uint64_t rate = shard == 0 ? 4096 : 32;
        uint64_t list = 0;
        bool holds = true;
        char word[WORD_BYTES];

        assert_non_null(file);
        for (int i = 0; i < 3; i++) {
            cli_rows_name(&list, judged[i]);
            if (shard == 0 ? i == 0 : shard == 4 || i % 3 == shard - 1)
                holds &= print_verdict(file, judged[i], rate);
        }
        if (shard > 0 && shard < 4)
            fputs(ASKED ": 1 of 3 rows, log hash ????????????????\n", file);
        assert_int_equal(fclose(file), 0);
        audit_add(&line, "audit");
        audit_add(&line, "--judge");
        audit_add(&line,
                  shard == 0 ? "--rules=exact" : "--rules=exact,site-mean");
        if (shard > 0) {
            audit_add(&line, "--rules=count-and-force");
            audit_add(&line, "--rate=32");
        }
        if (shard > 0 && shard < 4) {
            snprintf(word, sizeof word, "--shard=%d/3", shard);
            audit_add(&line, word);
            snprintf(word, sizeof word, "--result=%s", path);
            audit_add(&line, word);
            (void)unlink(path);
        }
        audit_expect(&line, holds ? 0 : 2, wanted);
        if (shard > 0 && shard < 4)
            expect_row_file(path, ASKED, list);
        free(wanted);
    }
}
