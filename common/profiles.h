/*
 * profiles.h -- the profile files of `profsim run` and `show --out DIR`.
 *
 *      heap, allocs, block, mutex; of a recording also peak and exit; of a
 *      scenario whose processors take tasks also goroutine, threadcreate
 *      and profile, each as
 *          .pb.gz         profile.proto
 *          .txt           debug text
 *      heap.symbolized    for google-pprof
 *      goroutine-stacks.txt and trace.out, where processors take tasks
 *
 * Each file appears whole or not at all, and its content depends only on the
 * run.
 */
#ifndef COMMON_PROFILES_H
#define COMMON_PROFILES_H

#include <stdbool.h>
#include <stdint.h>

#include "prof/pprof.h"

/* Replaces an empty stack; no program has code there. */
enum { CLI_PROFILES_LOST = 1 };

/* What a heap profile is of. */
enum cli_profiles_heap {
    CLI_PROFILES_RUN,  /* allocations of all the run; in use at the peak */
    CLI_PROFILES_PEAK, /* as it was at the peak */
    CLI_PROFILES_EXIT, /* as it was at the end */
    CLI_PROFILES_HEAPS
};

struct cli_profiles {
    const char *folder; /* made if it is not there */
    const char *input;  /* the file that was read: not overwritten */
    struct prof_symbols symbols;
    const struct prof_mapping *mappings;
    uint32_t mappings_count;
    /* The heap profiles, with the same stacks in all. NULL: there is none of
     * that kind. */
    const struct prof_heap_record *heaps[CLI_PROFILES_HEAPS];
    size_t heap_count;
    /* Writes a heap as text, with its context; NULL: as Go does. */
    enum prof_status (*heap_text)(const void *context,
                                  const struct prof_sink *to,
                                  enum cli_profiles_heap heap);
    const void *heap_text_context;
    const struct prof_contention_record *contention[2]; /* by kind */
    size_t contention_count[2];
    int64_t rate_bytes;             /* the current one */
    const struct prof_rules *rules; /* of the records; NULL: exact */
    uint64_t ticks_per_second;
    uint64_t mutex_period; /* what mutex records are multiplied by */
};

/*
 * Write all files.
 *
 * returns: false, and one line on standard error, at the first that fails
 */
bool cli_profiles_write(const struct cli_profiles *profiles);

/*
 * Make the folder for the profiles of one file.
 * in:  command that asks, for complaints; out, what --out says, or NULL; each:
 *      in it a folder for each file, named after it
 * out: folder, "" if none is wanted
 */
bool cli_folder_prepare(char *folder, size_t room, const char *command,
                        const char *out, bool each, const char *path);

#endif
