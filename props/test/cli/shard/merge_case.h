/*
 * merge_case.h -- results of shards, written by hand, and what `profsim merge`
 * prints.
 */
#ifndef PROPS_MERGE_CASE_H
#define PROPS_MERGE_CASE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "captured.h"
#include "sanitized.h"

enum {
    MERGE_SHARDS_MAX = 4,
    MERGE_CASES = SANITIZED ? 10 : 30 /* each is slow */
};

/* The set-up and teardown of a group: a folder for the files. */
int merge_make_folder(void **state);
int merge_remove_folder(void **state);
const char *merge_folder(void);

/* The time of the simulated clock; 0: the clock is the system's. */
extern uint64_t simulated_ms;

/* Begin the random numbers of a seed. */
void merge_seed(uint64_t seed);
uint32_t merge_below(uint32_t count);

/* Begin a shard's file (shards count from 0), up to the line with its shard.
 * Close it below its checksum. */
FILE *merge_begin_file(const char *first, const char *asked, uint32_t shard,
                       uint32_t count);
void merge_end_file(FILE *file);

/* returns: how many files there are */
int merge_files_count(void);

/* returns: the path of a file, from 0; the files are read in this order */
const char *merge_path(int number);

void merge_remove_files(void);

/* The files stay; the next one is the first again. */
void merge_forget_files(void);

/* Merge the files, and remove them. The text is what was printed, then the
 * report as JSON. */
struct captured merge_files(void);

void merge_expect_exit(const struct captured *said, int exit_code);

/* Check that a line, or a part of one, was printed or was not. in: format, of
 * the text */
void merge_expect(const struct captured *said, bool is_there,
                  const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Check which shards are reported as missing. in: after, the first words of the
 * command that the report gives for running them */
void merge_expect_missing(const struct captured *said, const bool *is_missing,
                          uint32_t count, const char *after);

/* returns: a larger number for a worse exit code: bad input is worst, then the
 * larger failure, then an incomplete result */
int merge_badness(int exit_code);


/* Tests of orderings, in merge_orderings.c. */
void merge_orderings(void);
void merge_orderings_that_differ(void);
void merge_learned(void);
void merge_learners(void);

/* Tests of one result of orderings, in forged_orderings.c. */
void merge_forged_orderings(void);
void merge_written_orderings(void);

/* Tests of campaigns, in merge_campaigns.c. */
void merge_campaigns(void);
void merge_two_of_a_shard(void);
void merge_three_of_a_shard(void);
void merge_first_failure(void);

/* The test in forged_campaigns.c. */
void merge_forged_campaigns(void);

/* Tests of the end of a search, and others, in search_ends.c. */
void merge_search_ends(void);
void merge_parts(void);
void merge_short_commands(void);
void merge_live_audit(void);
void merge_explained(void);
void merge_helps(void);
void merge_lists(void);

/* Tests of the words of `profsim check`, in check_words.c and check_lines.c. */
void merge_check_words(void);
void merge_check_lines(void);
void merge_check_left(void);


/* The test in shard_campaigns.c. */
void merge_real_campaigns(void);

/* The test in refused_commands.c. */
void merge_refused(void);

#endif
