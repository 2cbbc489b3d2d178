/*
 * prof/text.h -- profiles as text, for people and for older tools.
 * docs/profiles.md, "Text", describes every line.
 *
 * Values are those of the records, not scaled, except in a heap text whose
 * records were sampled at several rates. Where readers would reject the
 * exact value, the text has a value that they accept: 0 for a negative total,
 * the `lost` address for an empty stack, underscores for blanks in a name.
 * Totals wrap silently at 2^64; those of 2^63 and more count as negative.
 * Control bytes in a symbol become `?`, so that they cannot end a line.
 */
#ifndef PROF_TEXT_H
#define PROF_TEXT_H

#include "prof/pprof.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum { PROF_PAUSES = 256 };

/* What an embedder knows of its memory, printed at the end of a heap text. */
struct prof_heap_counters {
    uint64_t alloc_bytes; /* of live objects */
    uint64_t total_alloc_bytes;
    uint64_t sys_bytes;
    uint64_t lookups;
    uint64_t mallocs;
    uint64_t frees;
    uint64_t heap_alloc_bytes;
    uint64_t heap_sys_bytes;
    uint64_t heap_idle_bytes;
    uint64_t heap_inuse_bytes;
    uint64_t heap_released_bytes;
    uint64_t heap_objects;
    uint64_t stack_inuse_bytes;
    uint64_t stack_sys_bytes;
    uint64_t mspan_inuse_bytes;
    uint64_t mspan_sys_bytes;
    uint64_t mcache_inuse_bytes;
    uint64_t mcache_sys_bytes;
    uint64_t buck_hash_sys_bytes;
    uint64_t gc_sys_bytes;
    uint64_t other_sys_bytes;
    uint64_t next_gc_bytes;
    uint64_t last_gc_ns;       /* since 1970 */
    const uint64_t *pause_ns;  /* PROF_PAUSES of them; NULL: all 0 */
    const uint64_t *pause_end; /* the same */
    uint64_t gcs;
    uint64_t gcs_forced;
    const char *gc_cpu_fraction; /* as it should be printed; NULL: 0 */
    bool debug_gc;
    uint64_t max_rss_bytes; /* 0: the line is left out */
};

/*
 * Write a heap profile as text, most bytes in use first.
 *
 * in:      records, of a snapshot
 *          rate_bytes, of records whose own rate is 0 or less. The text has one
 *          rate, by which readers scale all records. If the records' rates
 *          differ, the values are estimates, as in prof_pprof_heap(), and the
 *          text has no rate
 *          counters, printed at the end; NULL: not printed
 * returns: PROF_OK, PROF_ERR_MEMORY, or the sink's status
 */
PROF_NODISCARD enum prof_status
prof_text_heap(const struct prof_output *output,
               const struct prof_heap_record *records, size_t records_count,
               int64_t rate_bytes, const struct prof_heap_counters *counters);

/*
 * Write a contention profile as text, most ticks first.
 *
 * in:      kind, which chooses the title
 *          period, prof_mutex_period(): printed for readers to multiply by; the
 *          records are written unscaled. For a block profile it is unused
 */
PROF_NODISCARD enum prof_status prof_text_contention(
    const struct prof_output *output, enum prof_contention kind,
    const struct prof_contention_record *records, size_t records_count,
    uint64_t ticks_per_second, uint64_t period);

/* Write a count profile as text, largest count first. */
PROF_NODISCARD enum prof_status
prof_text_counts(const struct prof_output *output, const char *name,
                 const struct prof_count_record *records, size_t records_count);

/* ---------------------------------------------------------------------- dumps
 *
 * The stacks of all running tasks, as an embedder prints them.
 */

struct prof_dump {
    /*
     * Print into a buffer; what does not fit is left out.
     *
     * returns: bytes printed, at most room
     */
    size_t (*print)(void *context, char *buffer, size_t room);
    void *context;
};

#define PROF_DUMP_FIRST_BYTES (1U << 20)
#define PROF_DUMP_MOST_BYTES  (64U << 20)

/*
 * Write a dump. The scratch is the buffer: 1 MiB at first, doubled each time
 * the dump fills it, up to 64 MiB or all of the scratch. What does not fit is
 * cut.
 */
PROF_NODISCARD enum prof_status prof_text_dump(const struct prof_output *output,
                                               const struct prof_dump *dump);

/* ---------------------------------------------------------------------- tasks
 *
 * Tasks with their stacks, in the form of Go's runtime:
 *
 *     goroutine 7 [chan receive, 12 minutes]:
 *     main.work(...)
 *             work.go:12 +0x3f
 *     created by main.main
 *             main.go:3 +0x1c
 */

struct prof_task_stack {
    uint64_t id;
    const char *state; /* "running", "chan receive"; NULL or "": "???" */
    uint64_t waits_ns; /* for how long; shown from one minute on */
    bool is_locked;    /* to its thread */
    const uintptr_t *stack;
    uint32_t depth; /* 0: it runs elsewhere, so its stack is not known */
    /* A return address in the function that created it; 0: not shown. */
    uintptr_t created_by;
};

/*
 * Print tasks into a buffer, separated by empty lines. Frames of the runtime
 * are shown only if their functions are exported, or if a stack has no others.
 * After PROF_TASK_FRAMES_MAX frames a line says that the rest is elided.
 *
 * out:     buffer, as much as fits
 * in:      tasks, in the order in which to print them: the calling task first;
 *          leave out dead tasks and those of the runtime
 * returns: bytes printed, at most room
 * context: any in which `symbols` may be called; takes no lock, allocates
 * nothing
 */
size_t prof_text_tasks(char *buffer, size_t room,
                       const struct prof_symbols *symbols,
                       const struct prof_task_stack *tasks, size_t tasks_count);

enum { PROF_TASK_FRAMES_MAX = 100 };

/* ----------------------------------------------------------------- debug lines
 *
 * Single allocations, frees and collections, for debugging an allocator. Each
 * text says what happened, then shows the task that did it with all frames,
 * even the runtime's; for a collection, all tasks. The scratch is not used.
 */

/* in: type, of the object; "" or NULL if not known */
PROF_NODISCARD enum prof_status
prof_text_trace_alloc(const struct prof_output *output, uintptr_t address,
                      uint64_t size_bytes, const char *type,
                      const struct prof_task_stack *task);

PROF_NODISCARD enum prof_status
prof_text_trace_free(const struct prof_output *output, uintptr_t address,
                     uint64_t size_bytes, const struct prof_task_stack *task);

PROF_NODISCARD enum prof_status
prof_text_trace_gc(const struct prof_output *output,
                   const struct prof_task_stack *tasks, size_t tasks_count);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
