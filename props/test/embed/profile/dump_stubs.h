/*
 * dump_stubs.h -- stubs of what the malloc profiler's dumps call in a test.
 * Each call is noted as a letter: [ take and ] release the lock, n next cycle,
 * f flush, q count, M list mappings, s snapshot, w write a heap profile, c one
 * of contention, p one of the CPU; b begin a file, k skip its sync, e end it;
 * l write the losses.
 */
#ifndef DUMP_STUBS_H
#define DUMP_STUBS_H

#include "prof/pprof.h"
#include "profile.h"

/* How many records a dump has room for: some more than it counted, for those
 * that arrive meanwhile. */
#define DUMP_ROOM(count) ((count) + (count) / 8 + 256)

enum { DUMP_SCRATCH = 12345, DUMP_PROCESS = 4321 };

struct dump_stubs {
    char stops_at; /* the call that is refused ... */
    int busy_times;
    enum prof_status then; /* ... and the status with which it is refused */
    size_t count;          /* the number of records */
    bool has_no_map;
    bool fills; /* write each part of the memory to its end */
    enum prof_contention kind_wanted;
    /* The calls made, and their arguments. */
    char seen[128];
    int sleeps, resets;
    char *mapped;
    size_t mapped_bytes, unmapped_bytes;
    char *mappings;
    size_t mappings_bytes;
    char *text;
    size_t scratch_records, scratch_locations;
    const void *records;
    size_t records_count;
    struct prof_output output;
    int64_t rate, view, ticks, period;
    char paths[PROFILE_KINDS][600];
    size_t paths_count;
};

extern struct dump_stubs dump_stubs;

#endif
