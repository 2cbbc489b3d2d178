/*
 * prof/pprof.h -- writers of profile.proto, the format of pprof; prof/text.h
 * has the older text forms. docs/profiles.md describes the bytes.
 *
 * Every writer streams to a sink, uses only the caller's scratch memory, and
 * returns the first error: the sink's status, or PROF_ERR_MEMORY if the scratch
 * was too small. After an error, discard what the sink has taken: it is only
 * the beginning of a profile.
 *
 * The output is not compressed; prof/gzip.h is a sink that compresses.
 */
#ifndef PROF_PPROF_H
#define PROF_PPROF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "prof/prof.h"
#include "prof/sink.h"
#include "prof/symbol.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

#define PROF_LABELS_MAX 32U /* labels of one sample */

/* Where a profile goes, and what it contains besides the records. */
struct prof_output {
    struct prof_sink sink;
    struct prof_symbols symbols;         /* find NULL: no frame has a name */
    const struct prof_mapping *mappings; /* may be NULL */
    uint32_t mappings_count;
    int64_t time_ns; /* when it was taken, since 1970; 0: not written */
    /*
     * A return address inside a function whose name says that the stack was
     * lost. It replaces an empty stack, since readers drop samples without an
     * address. 0: empty stacks stay empty, except in texts, which show address
     * 1.
     */
    uintptr_t lost;
    const struct prof_rules *rules; /* how heap records were sampled; NULL:
                                       &prof_rules_exact */
    void *scratch;                  /* aligned to PROF_BLOCK_ALIGN */
    size_t scratch_bytes;
};

/*
 * returns: bytes of scratch that are enough for `records` records with
 *          `locations` different return addresses in all
 */
size_t prof_pprof_scratch_bytes(size_t records, size_t locations);

/* ---- heap ---- */

enum prof_heap_view {
    PROF_VIEW_INUSE, /* readers first show memory in use */
    PROF_VIEW_ALLOCS /* readers first show all allocated memory */
};

/*
 * Write a heap profile as profile.proto: four values per record, scaled up to
 * estimate what the program did.
 *
 * in:      records, of a snapshot; each is scaled by its own rate
 *          rate_bytes, the current rate, written as the period
 * returns: PROF_OK, PROF_ERR_MEMORY, or the sink's status
 */
PROF_NODISCARD enum prof_status
prof_pprof_heap(const struct prof_output *output,
                const struct prof_heap_record *records, size_t records_count,
                int64_t rate_bytes, enum prof_heap_view view);

/* ---- contention ---- */

/*
 * Write a contention profile as profile.proto, most ticks first.
 *
 * in:      ticks_per_second, at least 1
 *          period, by which all records are multiplied, 1 to INT64_MAX:
 *          prof_mutex_period() for mutex records, 1 for block records
 * returns: as prof_pprof_heap()
 */
PROF_NODISCARD enum prof_status
prof_pprof_contention(const struct prof_output *output,
                      const struct prof_contention_record *records,
                      size_t records_count, uint64_t ticks_per_second,
                      uint64_t period);

/* --------------------------------------------------------------------- counts
 *
 * Profiles that count stacks: goroutines (tasks), threads, or what an embedder
 * counts. Entries with the same stack and labels become one sample.
 */

struct prof_label {
    const char *key;
    const char *value;
};

/* One counted thing. */
struct prof_count_record {
    const uintptr_t *stack; /* leaf first */
    uint32_t depth;
    uint32_t labels_count; /* at most PROF_LABELS_MAX */
    /* Sorted by key, no key twice; NULL if there are none. */
    const struct prof_label *labels;
};

/*
 * in:      name, sample type and period type of the profile
 * returns: as prof_pprof_heap(); PROF_ERR_CONFIG for too many labels
 */
PROF_NODISCARD enum prof_status
prof_pprof_counts(const struct prof_output *output, const char *name,
                  const struct prof_count_record *records,
                  size_t records_count);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
