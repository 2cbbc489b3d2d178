/*
 * dump.c -- makes profiles in the format profile.proto, in memory that is
 * mapped for each dump.
 *
 * There is no collector, so this file advances the cycles of the heap profile
 * itself: before each snapshot it begins and flushes three, which publishes
 * everything recorded before the call. The profile holds no names, only
 * addresses and what was mapped where; its reader looks up the names.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "prof/file.h"
#include "prof/port.h"
#include "prof/pprof.h"
#include "prof/process.h"
#include "record/sampler/profiler.h"

enum {
    MAPPINGS_MAX = 8192,
    TEXT_BYTES = 4 << 20,
    CYCLES = 3, /* until what was just recorded is published */
    BUSY_MAX = 1000,
    BUSY_NS = 100000
};

/* Memory of one dump, in one mapping. */
struct room {
    void *begin;
    size_t bytes;
    struct prof_mapping *mappings;
    char *text;
    void *records;
    size_t records_max;
    void *scratch;
    size_t scratch_bytes;
};

const char *const profile_kind_names[PROFILE_KINDS] = {"heap", "allocs",
                                                       "mutex", "block", "cpu"};

static struct prof_port_lock lock; /* one dump at a time */

bool
profile_has(enum profile_kind kind)
{
    switch (kind) {
    case PROFILE_HEAP:
    case PROFILE_ALLOCS:
        return profile.config.heap_rate_bytes > 0;
    case PROFILE_MUTEX:
        return profile.config.mutex_fraction > 0;
    case PROFILE_BLOCK:
        return profile.config.block_rate_ns > 0;
    case PROFILE_CPU:
        return profile.cpu != NULL;
    case PROFILE_KINDS:
    default:
        return false;
    }
}

static size_t
rounded(size_t bytes)
{
    return (bytes + 4095) & ~(size_t)4095;
}

static bool
room_open(struct room *room, size_t records, size_t record_bytes)
{
    const size_t scratch =
        prof_pprof_scratch_bytes(records, records * PROFILE_DEPTH_MAX / 4);
    const size_t mappings = rounded(MAPPINGS_MAX * sizeof *room->mappings);
    char *at;

    room->records_max = records;
    room->scratch_bytes = scratch;
    room->bytes = mappings + TEXT_BYTES + rounded(records * record_bytes) +
                  rounded(scratch);
    at = mmap(NULL, room->bytes, PROT_READ | PROT_WRITE,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        return false;
    room->begin = at;
    room->mappings = (void *)at;
    room->text = at + mappings;
    room->records = at + mappings + TEXT_BYTES;
    room->scratch =
        at + mappings + TEXT_BYTES + rounded(records * record_bytes);
    return true;
}

/* Sleep a little if a control call has returned PROF_ERR_BUSY, because record
 * calls are in flight. returns: should the call be repeated? in, out: *waits,
 * how often it was */
static bool
is_to_wait(enum prof_status status, uint32_t *waits)
{
    const struct timespec pause = {.tv_nsec = BUSY_NS};

    if (status != PROF_ERR_BUSY || *waits == BUSY_MAX)
        return false;
    ++*waits;
    (void)nanosleep(&pause, NULL);
    return true;
}

static enum prof_status
next_cycle(void)
{
    enum prof_status status;
    uint32_t waits = 0;

    do
        status = prof_heap_next_cycle(profile.prof);
    while (is_to_wait(status, &waits));
    return status;
}

static enum prof_status
flush(void)
{
    enum prof_status status;
    uint32_t waits = 0;

    do
        status = prof_heap_flush(profile.prof);
    while (is_to_wait(status, &waits));
    return status;
}

static enum prof_status
publish_all(void)
{
    enum prof_status status = PROF_OK;

    for (int i = 0; i < CYCLES && status == PROF_OK; i++) {
        status = next_cycle();
        if (status == PROF_OK)
            status = flush();
    }
    return status;
}

/* in: records, NULL to count them */
static enum prof_status
snapshot_heap(struct prof_heap_record *records, size_t records_max,
              size_t *count)
{
    enum prof_status status;
    uint32_t waits = 0;

    do
        status = prof_heap_snapshot(profile.prof, PROF_SELECT_ALL, records,
                                    records_max, count);
    while (is_to_wait(status, &waits));
    return status;
}

static enum prof_status
snapshot_contention(enum prof_contention kind,
                    struct prof_contention_record *records, size_t records_max,
                    size_t *count)
{
    enum prof_status status;
    uint32_t waits = 0;

    do
        status = prof_contention_snapshot(profile.prof, kind, records,
                                          records_max, count);
    while (is_to_wait(status, &waits));
    return status;
}

static enum prof_status
count_records(enum profile_kind kind, size_t *count)
{
    const enum prof_status status =
        kind == PROFILE_HEAP || kind == PROFILE_ALLOCS
            ? snapshot_heap(NULL, 0, count)
            : snapshot_contention(kind == PROFILE_MUTEX ? PROF_MUTEX
                                                        : PROF_BLOCK,
                                  NULL, 0, count);

    return status == PROF_ERR_SHORT ? PROF_OK : status;
}

static enum prof_status
write_heap(const struct room *room, const struct prof_output *output,
           enum prof_heap_view view)
{
    size_t count;
    const enum prof_status status =
        snapshot_heap(room->records, room->records_max, &count);

    return status != PROF_OK
               ? status
               : prof_pprof_heap(output, room->records, count,
                                 prof_heap_rate(profile.prof), view);
}

static enum prof_status
write_contention(const struct room *room, const struct prof_output *output,
                 enum prof_contention kind)
{
    size_t count;
    const enum prof_status status =
        snapshot_contention(kind, room->records, room->records_max, &count);

    return status != PROF_OK ? status
                             : prof_pprof_contention(output, room->records,
                                                     count, 1000000000, 1);
}

static enum prof_status
write_kind(const struct room *room, enum profile_kind kind,
           const struct prof_output *output)
{
    switch (kind) {
    case PROFILE_HEAP:
        return write_heap(room, output, PROF_VIEW_INUSE);
    case PROFILE_ALLOCS:
        return write_heap(room, output, PROF_VIEW_ALLOCS);
    case PROFILE_MUTEX:
        return write_contention(room, output, PROF_MUTEX);
    case PROFILE_BLOCK:
        return write_contention(room, output, PROF_BLOCK);
    case PROFILE_CPU:
        return profile_cpu_write(output);
    case PROFILE_KINDS:
    default:
        return PROF_ERR_CONFIG;
    }
}

static enum prof_status
dump_locked(enum profile_kind kind, const struct prof_sink *sink)
{
    size_t records = 4096; /* stacks of a CPU profile */
    size_t record_bytes = sizeof(struct prof_heap_record);
    enum prof_status status = PROF_OK;
    struct prof_output output;
    struct room room;
    size_t mappings = 0;

    if (kind != PROFILE_CPU) {
        status = publish_all();
        if (status == PROF_OK)
            status = count_records(kind, &records);
        records += records / 8 + 256; /* those that arrive meanwhile */
    }
    if (status != PROF_OK || !room_open(&room, records, record_bytes))
        return status != PROF_OK ? status : PROF_ERR_MEMORY;
    if (prof_process_mappings(room.mappings, MAPPINGS_MAX, &mappings, room.text,
                              TEXT_BYTES) != PROF_OK)
        mappings = 0; /* the profile has only addresses */
    output = (struct prof_output){.sink = *sink,
                                  .mappings = room.mappings,
                                  .mappings_count = (uint32_t)mappings,
                                  .time_ns = prof_process_time_ns(),
                                  .scratch = room.scratch,
                                  .scratch_bytes = room.scratch_bytes};
    status = write_kind(&room, kind, &output);
    (void)munmap(room.begin, room.bytes);
    return status;
}

enum prof_status
profile_dump(enum profile_kind kind, const struct prof_sink *sink)
{
    enum prof_status status;

    prof_port_lock_take(&lock);
    status = dump_locked(kind, sink);
    prof_port_lock_release(&lock);
    return status;
}

/* Write one file. It is not synced: a program that exits does not wait for the
 * disk. */
static enum prof_status
dump_file(const char *folder, enum profile_kind kind)
{
    struct prof_file file;
    struct prof_sink sink;
    char path[512];
    enum prof_status status;

    if ((size_t)snprintf(path, sizeof path, "%s/%ld.%s.pb", folder,
                         (long)getpid(),
                         profile_kind_names[kind]) >= sizeof path)
        return PROF_ERR_CONFIG;
    status = prof_file_begin(&file, path);
    if (status != PROF_OK)
        return status;
    prof_file_be_quick(&file);
    sink = prof_file_sink(&file);
    return prof_file_end(&file, profile_dump(kind, &sink));
}

/* Is this a contention profile without entries? Entries are never removed, so
 * then it never had any. */
static bool
is_empty(enum profile_kind kind)
{
    size_t count = 1;

    return (kind == PROFILE_MUTEX || kind == PROFILE_BLOCK) &&
           count_records(kind, &count) == PROF_OK && count == 0;
}

enum prof_status
profile_dump_to(const char *folder, uint32_t kinds)
{
    enum prof_status first = PROF_OK;
    bool is_first = true;

    for (int i = 0; i < PROFILE_KINDS; i++) {
        const enum profile_kind kind = (enum profile_kind)i;
        enum prof_status status;

        if ((kinds >> i & 1) == 0 || !profile_has(kind) ||
            (!is_first && is_empty(kind)))
            continue;
        is_first = false;
        status = dump_file(folder, kind);
        if (first == PROF_OK)
            first = status;
    }
    return first;
}

void
profile_dump_files(void)
{
    enum prof_status status = PROF_OK;

    /* `profsim profile` derives the allocation profile from the heap profile.
     */
    if (profile.config.folder[0] != '\0')
        status = profile_dump_to(profile.config.folder,
                                 PROFILE_ALL & ~(1u << PROFILE_ALLOCS));
    if (profile.config.folder[0] != '\0')
        profile_losses_write();
    (void)status; /* nothing to report it to; the file is missing */
}

void
profile_dump_after_fork_child(void)
{
    prof_port_lock_reset(&lock);
}
