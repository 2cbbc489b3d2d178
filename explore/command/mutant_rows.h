/*
 * mutant_rows.h -- what became of each weaker memory order, and the rows of a
 * shard: the I-th, and each N-th from there on.
 */
#ifndef EXPLORE_COMMAND_MUTANT_ROWS_H
#define EXPLORE_COMMAND_MUTANT_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/report/report.h"
#include "common/shard/shard_file.h"

/* A weaker order. The texts are malloc'd. */
struct cli_mutant {
    char *site;
    char *was; /* "acq_rel", "on failure acquire" */
    char *is;
    char *kernel; /* that noticed it; NULL: none did */
    char *how;
    uint64_t runs;
    uint64_t unfinished; /* kernels that ran out of runs */
};

struct cli_mutants {
    struct cli_mutant *rows;
    uint64_t count;
    uint64_t is_done; /* no rows are left */
};

/* Append a row, which is moved. returns: it, until the next is appended */
struct cli_mutant *cli_mutants_add(struct cli_mutants *mutants,
                                   struct cli_mutant mutant);

/* Pass the rows to the file of a shard, or from it, and free them. */
void cli_mutants_pass(struct cli_shard_file *file, struct cli_mutants *mutants);
void cli_mutants_free(struct cli_mutants *mutants);

/* Print the first line of a table. */
void cli_mutants_head(bool csv);

/* Print a row, and add it to the report. */
void cli_mutant_print(const struct cli_mutant *mutant, bool csv,
                      struct cli_report *report);

/* Print how many were noticed, below a list that is no table. */
void cli_mutants_total(uint64_t noticed, uint64_t count);

#endif
