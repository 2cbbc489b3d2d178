/*
 * pprof_case.h -- shared by the tests of the profile writers: names for a few
 * addresses, memory, and functions that write a profile and read it back.
 */
#ifndef PROF_TEST_PPROF_PPROF_CASE_H
#define PROF_TEST_PPROF_PPROF_CASE_H

#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>

#include "model/pprof/pprof_reader.h"
#include "prof/pprof.h"

enum { CASE_SCRATCH_BYTES = 1 << 20, CASE_BYTES = 1 << 20 };

/* The stack of a record. */
#define STACK(...) ((const uintptr_t[]){__VA_ARGS__})
#define DEPTH(...) (sizeof STACK(__VA_ARGS__) / sizeof(uintptr_t))
#define AT(...)    .stack = STACK(__VA_ARGS__), .depth = DEPTH(__VA_ARGS__)

/* The table of names: functions of an imagined program. */
struct case_name {
    uintptr_t from; /* entry of the function */
    uintptr_t limit;
    const char *function;
    const char *file;
    uint64_t line;
};

/* One run of a writer. */
struct case_run {
    struct prof_memory memory;
    struct prof_output output; /* writes to memory; names from case_names */
    struct model_pprof profile;
    alignas(64) unsigned char scratch[CASE_SCRATCH_BYTES];
    unsigned char bytes[CASE_BYTES];
};

/* The imagined program, and how many functions it has. */
extern const struct case_name case_names[];
extern const size_t case_names_count;

/* Addresses, each in the middle of one of these functions. */
enum {
    CASE_MALLOC = 0x1040, /* runtime.mallocgc */
    CASE_NEW = 0x1140,    /* runtime.newobject */
    CASE_WORK = 0x2040,   /* main.work, work.go:12 */
    CASE_SERVE = 0x2140,  /* main.serve, serve.go:7 */
    CASE_MAIN = 0x2240,   /* main.main, main.go:3 */
    CASE_COPY = 0x2340,   /* main.work again, but in copy.go:99 */
    CASE_GOEXIT = 0x3040, /* runtime.goexit */
    CASE_UNKNOWN = 0x9040,
    CASE_LOST = 0x4001, /* main.lost, its first byte plus 1 */
};

/* Prepare a run to write from the start. */
void case_begin(struct case_run *run);

/* Read back what was written. The test fails if it is not a valid profile. */
void case_read(struct case_run *run, enum prof_status status);
void case_end(struct case_run *run);

/* Write a heap profile by the rules of Go 1.17, with one rate for all records,
 * and read it back. */
void case_heap(struct case_run *run, const struct prof_heap_record *records,
               size_t count, int64_t rate_bytes);

/* Check the values of a sample. */
void case_assert_values(const struct case_run *run, size_t sample,
                        const int64_t *want, size_t count);

/* returns: what was written, as a text */
const char *case_text(struct case_run *run, enum prof_status status);

/* Check that the text equals what the model of columns makes of `single_tabs`,
 * a text with one tab between columns. */
void case_assert_columns(struct case_run *run, const char *single_tabs);

/* The name of a location of the read profile; "" if it has none. */
const char *case_function(const struct case_run *run, uint64_t location);

#endif
