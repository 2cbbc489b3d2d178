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

enum { MERGE_SHARDS_MAX = 4, MERGE_CASES = 30 };

/* A group's setup and teardown: a folder for the files. */
int merge_make_folder(void **state);
int merge_remove_folder(void **state);
const char *merge_folder(void);

/* Random numbers, the same for each seed. */
void merge_seed(uint64_t seed);
uint32_t merge_below(uint32_t count);

/* Begin a file up to its shard, which counts from 0; close it below its sum. */
FILE *merge_begin_file(const char *first, const char *asked, uint32_t shard,
                       uint32_t count);
void merge_end_file(FILE *file);

/* returns: how many files there are */
int merge_files_count(void);

/* returns: the path of a file, from 0; the files are read in this order */
const char *merge_path(int number);

void merge_remove_files(void);

/* Merge the files, and remove them. The report, as JSON, follows what is
 * printed. */
struct captured merge_files(void);

void merge_expect_exit(const struct captured *said, int exit_code);

/* in: format, of a line or a part of it that is printed, or is not */
void merge_expect(const struct captured *said, bool is_there,
                  const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* in: after, how the command begins that runs them */
void merge_expect_missing(const struct captured *said, const bool *is_missing,
                          uint32_t count, const char *after);

/* Tests of campaigns, in merge_campaigns.c. */
void merge_campaigns(void);
void merge_two_of_a_shard(void);
void merge_first_failure(void);

#endif
