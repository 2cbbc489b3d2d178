/* mutant_rows.c -- see mutant_rows.h. */
#include "explore/command/mutant_rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/command/complaint.h"
#include "common/escape.h"

enum { ROWS_MAX = 1 << 16 };

struct cli_mutant *
cli_mutants_add(struct cli_mutants *mutants, struct cli_mutant mutant)
{
    mutants->rows = cli_need(
        realloc(mutants->rows, (mutants->count + 1) * sizeof *mutants->rows));
    mutants->rows[mutants->count] = mutant;
    return &mutants->rows[mutants->count++];
}

static void
pass_row(struct cli_shard_file *file, struct cli_mutant *row, uint64_t i)
{
    cli_shard_pass_text(file, &row->site, "%" PRIu64 ".site", i);
    cli_shard_pass_text(file, &row->was, "%" PRIu64 ".was", i);
    cli_shard_pass_text(file, &row->is, "%" PRIu64 ".is", i);
    cli_shard_pass_text(file, &row->kernel, "%" PRIu64 ".kernel", i);
    cli_shard_pass_text(file, &row->how, "%" PRIu64 ".how", i);
    cli_shard_pass(file, &row->runs, "%" PRIu64 ".runs", i);
    cli_shard_pass(file, &row->unfinished, "%" PRIu64 ".unfinished", i);
    cli_shard_claims(file,
                     row->site != NULL && row->was != NULL && row->is != NULL &&
                         row->how != NULL,
                     "a row is not whole");
}

void
cli_mutants_pass(struct cli_shard_file *file, struct cli_mutants *mutants)
{
    uint64_t count = mutants->count;

    cli_shard_pass(file, &mutants->is_done, "done");
    cli_shard_pass(file, &count, "rows");
    cli_shard_claims(file, count <= ROWS_MAX, "too many rows");
    for (uint64_t i = 0; i < count && !file->wrong; i++)
        pass_row(file,
                 i < mutants->count
                     ? &mutants->rows[i]
                     : cli_mutants_add(mutants, (struct cli_mutant){0}),
                 i);
}

void
cli_mutants_free(struct cli_mutants *mutants)
{
    for (uint64_t i = 0; i < mutants->count; i++) {
        free(mutants->rows[i].site);
        free(mutants->rows[i].was);
        free(mutants->rows[i].is);
        free(mutants->rows[i].kernel);
        free(mutants->rows[i].how);
    }
    free(mutants->rows);
}

/* ---- Printing ---- */

void
cli_mutants_head(bool csv)
{
    if (csv)
        puts("site,order,weaker,noticed by,how,runs");
}

static void
add_result(const struct cli_mutant *m, struct cli_report *report)
{
    char *step = NULL;
    struct cli_result *result;

    if (asprintf(&step, "%s -> %s", m->was, m->is) < 0)
        cli_need(NULL);
    result = cli_report_add(report, m->site, step,
                            m->kernel != NULL ? CLI_VERDICT_CAUGHT
                                              : CLI_VERDICT_UNNOTICED);
    free(step);
    cli_result_count(result, "runs", m->runs);
    if (m->kernel != NULL)
        cli_result_text(report, &result->text, "%s, %s", m->kernel, m->how);
    else if (m->unfinished > 0)
        cli_result_text(report, &result->text,
                        "no kernel; %" PRIu64 " were not finished",
                        m->unfinished);
}

void
cli_mutant_print(const struct cli_mutant *m, bool csv,
                 struct cli_report *report)
{
    const char *kernel = m->kernel != NULL ? m->kernel : "SURVIVES";
    char unfinished[64] = "";

    if (m->kernel == NULL && m->unfinished > 0)
        snprintf(unfinished, sizeof unfinished,
                 " (%" PRIu64 " kernels not finished)", m->unfinished);
    if (csv) {
        sim_escape_line(stdout, "\"%s\",%s,%s,%s,%s,%" PRIu64, m->site, m->was,
                        m->is, kernel, m->how, m->runs);
    } else {
        sim_escape_line(stdout, "%s", m->site);
        sim_escape_line(stdout, "    %s -> %s: %s, %s, %" PRIu64 " runs%s",
                        m->was, m->is, kernel, m->how, m->runs, unfinished);
    }
    fflush(stdout);
    add_result(m, report);
}

void
cli_mutants_total(uint64_t noticed, uint64_t count)
{
    printf("%" PRIu64 " of %" PRIu64 " weaker orders found\n", noticed, count);
}
