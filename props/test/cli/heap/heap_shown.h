/*
 * heap_shown.h -- what must be printed and written of a heap, as text. All
 * texts are to be freed. docs/recording.md and docs/profiles.md describe them.
 */
#ifndef HEAP_SHOWN_H
#define HEAP_SHOWN_H

#include "heap_model.h"

/* in: only, by which measure sites are shown; MODEL_MEASURES: by each */
char *heap_shown_run(const struct heap_model *model, const char *path,
                     uint64_t top, enum model_measure only);

/* Which allocations a profile has, and what it has in use: of the run and at
 * the peak; at the peak; of the run and at the end. */
enum heap_shown { SHOWN_RUN, SHOWN_AT_PEAK, SHOWN_AT_EXIT };

/* NAME.txt */
char *heap_shown_text(const struct heap_model *model, enum heap_shown what);

/* returns: the module that is the program: it has the name of the command, or
 * else a main(), or else it is no library */
const char *heap_shown_program(const struct heap_model *model);

/* The table of names in heap.symbolized. */
char *heap_shown_symbols(const struct heap_model *model);

/* A line for each sample of NAME.pb.gz, sorted. */
char *heap_shown_samples(const struct heap_model *model, enum heap_shown what);

/* The lines of samples in block.pb.gz (0) and mutex.pb.gz (1), sorted. */
char *heap_shown_waits(const struct heap_model *model, const char *path,
                       int kind);

/* The same lines, read from a profile. */
char *heap_shown_read(const void *bytes, size_t count);

/* A graph's lines `root;leaf BYTES`. */
char *heap_shown_folded(const struct heap_model *model,
                        enum model_measure measure);
char *heap_shown_speedscope(const struct heap_model *model, const char *path);
char *heap_shown_diff(const struct heap_model *old,
                      const struct heap_model *new, enum model_measure measure,
                      uint64_t top);

/* Fail unless a flame graph has the right boxes. */
void heap_shown_expect_flames(const struct heap_model *model,
                              enum model_measure measure, const char *text);

/* Print how many events a recording lacks for one cause, as far as the colon
 * behind it, and end the line. */
void heap_shown_loss(FILE *to, const struct heap_model *model, int cause);

/* Print a function's name as lines show it. */
void heap_shown_name(FILE *to, const char *name);

#endif
