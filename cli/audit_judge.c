/* audit_judge.c -- `profsim audit --judge`: is a rule set right? */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "audit_command.h"
#include "complaint.h"
#include "result_path.h"
#include "rows.h"
#include "verdict.h"

static void
print_fault(FILE *file, const struct subjects_rules *rules, uint64_t rate,
            const struct subjects_fault *fault)
{
    fprintf(file, "%s: %s broken: %s: %" PRIu64 " bytes are shown %.4f times",
            rules->name, fault->property, fault->what, fault->size_bytes,
            fault->figure);
    if (fault->count > 1) {
        fprintf(file, " (");
        for (size_t i = 0; i < fault->count; i++)
            fprintf(file, "%s%" PRIu64, i > 0 ? "," : "", fault->sizes[i]);
        fprintf(file, " in turn)");
    }
    fprintf(file, "; R = %" PRIu64 "\n", rate);
}

static enum cli_exit
judge(FILE *file, const struct subjects_rules *rules, uint64_t rate)
{
    struct subjects_verdict verdict;

    subjects_verdict_make(&verdict, rules, rate);
    for (size_t i = 0; i < verdict.count; i++)
        print_fault(file, rules, rate, &verdict.faults[i]);
    if (verdict.count == 0)
        fprintf(file,
                "%s: holds; %zu figures within %.0f %%, R = %" PRIu64 "\n",
                rules->name, verdict.tried, SUBJECTS_TOLERANCE * 100, rate);
    else
        fprintf(file, "%s: not right; the first of %zu faults at figure %zu\n",
                rules->name, verdict.count, verdict.tried);
    return verdict.count == 0 ? CLI_OK : CLI_BROKEN;
}

enum cli_exit
cli_audit_judge(const struct subjects_rules *const *rules, size_t count,
                uint64_t rate)
{
    enum cli_exit code = CLI_OK;

    for (size_t i = 0; i < count; i++) {
        code = cli_exit_worse(code, judge(stdout, rules[i], rate));
        (void)fflush(stdout);
    }
    return code;
}

/* ---- In shards ---- */

/* Judge a rule set, print it and keep its row. */
static bool
judge_row(struct cli_rows *rows, uint32_t item,
          const struct subjects_rules *rules, uint64_t rate)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *file = open_memstream(&text, &bytes);
    enum cli_exit exit_code;
    bool kept;

    if (file == NULL)
        return cli_complain("not enough memory");
    exit_code = judge(file, rules, rate);
    kept = fclose(file) == 0;
    if (kept) {
        fputs(text, stdout);
        (void)fflush(stdout);
        kept = cli_rows_add(rows, item, exit_code, text);
    }
    free(text);
    return kept;
}

/* "audit --judge --rate=4096 --rules=a,b". returns: false if it is too long */
static bool
asked_of(const struct subjects_rules *const *rules, size_t count, uint64_t rate,
         char asked[CLI_ROWS_ASKED])
{
    FILE *file = fmemopen(asked, CLI_ROWS_ASKED, "w");
    bool good;

    if (file == NULL)
        return false;
    fprintf(file, "audit --judge --rate=%" PRIu64, rate);
    for (size_t i = 0; i < count; i++)
        fprintf(file, "%s%s", i == 0 ? " --rules=" : ",", rules[i]->name);
    good = ferror(file) == 0;
    return fclose(file) == 0 && good;
}

enum cli_exit
cli_audit_judge_shard(const struct subjects_rules *const *rules, size_t count,
                      uint64_t rate, struct cli_shard shard, const char *result)
{
    static char path[PATH_MAX];
    char asked[CLI_ROWS_ASKED];
    struct cli_rows rows;
    uint64_t list = 0;
    enum cli_exit exit_code = CLI_OK;

    for (size_t i = 0; i < count; i++)
        cli_rows_name(&list, rules[i]->name);
    if (!asked_of(rules, count, rate, asked))
        return cli_usage("the command is too long for a result");
    if ((result != NULL &&
         !cli_result_path(result, shard, path, sizeof path)) ||
        !cli_rows_begin(&rows, asked, shard, result != NULL ? path : NULL, list,
                        (uint32_t)count))
        return CLI_USAGE;
    for (uint32_t i = 0; i < count && exit_code == CLI_OK; i++) {
        if (cli_rows_wants(&rows, i) && !judge_row(&rows, i, rules[i], rate))
            exit_code = CLI_USAGE;
    }
    if (exit_code == CLI_OK)
        exit_code = cli_rows_end(&rows);
    cli_rows_free(&rows);
    return exit_code;
}
