/*
 * profiles.h -- the profile files of `profsim run --out DIR`.
 *
 *      heap.pb.gz allocs.pb.gz block.pb.gz mutex.pb.gz    profile.proto
 *      heap.txt   allocs.txt   block.txt   mutex.txt      debug text
 *      heap.symbolized                                    for google-pprof
 *
 * Each file appears whole or not at all, and depends on nothing but the run.
 */
#ifndef CLI_PROFILES_H
#define CLI_PROFILES_H

#include <stdbool.h>
#include <stdint.h>

#include "prof/pprof.h"
#include "recording.h"

struct sim_scenario;

/* Stands for an empty stack; no code of any program is there. */
enum { CLI_PROFILES_LOST = 1 };

struct cli_profiles {
    const char *folder; /* made if it is not there */
    struct prof_symbols symbols;
    const struct prof_mapping *mappings;
    uint32_t mappings_count;
    struct prof *prof; /* its contention profiles are written */
    const struct prof_heap_record *heap;
    size_t heap_count;
    int64_t rate_bytes;             /* of now */
    const struct prof_rules *rules; /* of prof; NULL: &prof_rules_exact */
    uint64_t ticks_per_second;
};

/*
 * Write all files.
 *
 * returns: false, and one line on standard error, at the first that fails
 */
bool cli_profiles_write(const struct cli_profiles *profiles);

/* The same with the names of a recording. */
bool cli_profiles_write_recording(struct cli_profiles *profiles,
                                  const struct sim_recording *recording);

/* Run a scenario and write what its library shows at the end. */
bool cli_profiles_write_scenario(const char *folder,
                                 struct sim_scenario *scenario);

/* returns: false for malloc and its kin, which say nothing about a program */
bool cli_is_telling(const char *function);

#endif
