/*
 * registry_write.c -- reads the records of a registry's profile and writes
 * them.
 *
 * Records are read into the front of the caller's scratch; the writer uses the
 * rest. First they are counted. There is room for a few more, since others may
 * arrive before they are read. If even more arrive, all are read again, a
 * bounded number of times.
 */
#include <string.h>

#include "prof/core/block.h"
#include "prof/pprof/builder.h"
#include "prof/core/assertion.h"
#include "prof/core/poison.h"
#include "prof/pprof/registry_fields.h"

enum { TRIES_MAX = 16, RECORDS_SPARE = 50 };

/* Take memory for `count` things from the front of an output's scratch. */
static void *
take_front(struct prof_output *output, size_t count, size_t bytes_each)
{
    unsigned char *const front = output->scratch;
    const size_t lines = output->scratch_bytes / PROF_BLOCK_ALIGN;
    size_t whole;

    if (count > lines * PROF_BLOCK_ALIGN / bytes_each)
        return NULL;
    whole = aligned(count * bytes_each);
    output->scratch = front + whole;
    output->scratch_bytes -= whole;
    return front;
}

/* A function that reads records from one of the sources. */
typedef enum prof_status read_records(const struct prof_profile *profile,
                                      void *records, size_t records_max,
                                      size_t *count);

static enum prof_status
read_heap(const struct prof_profile *profile, void *records, size_t records_max,
          size_t *count)
{
    return prof_heap_snapshot(profile->registry->sources.prof, PROF_SELECT_ALL,
                              records, records_max, count);
}

static enum prof_status
read_contention(const struct prof_profile *profile, void *records,
                size_t records_max, size_t *count)
{
    return prof_contention_snapshot(profile->registry->sources.prof,
                                    profile->kind == PROFILE_MUTEX ? PROF_MUTEX
                                                                   : PROF_BLOCK,
                                    records, records_max, count);
}

static enum prof_status
read_tasks(const struct prof_profile *profile, void *records,
           size_t records_max, size_t *count)
{
    const struct prof_sources *sources = &profile->registry->sources;
    const struct prof_tasks *tasks = profile->kind == PROFILE_GOROUTINE
                                         ? &sources->goroutines
                                         : &sources->threads;

    return tasks->list(tasks->context, records, records_max, count);
}

struct reading {
    read_records *read;
    size_t record_bytes;
};

/* How to read a built-in profile; `read` is NULL if it has no source. */
static struct reading
reading_of(const struct prof_profile *profile)
{
    const struct prof_sources *sources = &profile->registry->sources;
    const bool has_prof = sources->prof != NULL;

    switch (profile->kind) {
    case PROFILE_HEAP:
    case PROFILE_ALLOCS:
        return (struct reading){has_prof ? read_heap : NULL,
                                sizeof(struct prof_heap_record)};
    case PROFILE_BLOCK:
    case PROFILE_MUTEX:
        return (struct reading){has_prof ? read_contention : NULL,
                                sizeof(struct prof_contention_record)};
    case PROFILE_GOROUTINE:
        return (struct reading){sources->goroutines.list ? read_tasks : NULL,
                                sizeof(struct prof_count_record)};
    case PROFILE_THREADCREATE:
        return (struct reading){sources->threads.list ? read_tasks : NULL,
                                sizeof(struct prof_count_record)};
    case PROFILE_OWN:
        break;
    }
    PROF_UNREACHABLE();
}

enum prof_status
prof_profile_count(struct prof_profile *profile, size_t *count)
{
    struct reading reading;
    enum prof_status status;

    *count = 0;
    if (profile->kind == PROFILE_OWN) {
        prof_port_lock_take(&profile->registry->lock);
        *count = profile->open;
        prof_port_lock_release(&profile->registry->lock);
        return PROF_OK;
    }
    reading = reading_of(profile);
    if (reading.read == NULL)
        return PROF_OK;
    status = reading.read(profile, NULL, 0, count);
    return status == PROF_ERR_SHORT ? PROF_OK : status;
}

/*
 * in, out: *records, NULL; afterwards in the front of the output's scratch
 *          *count, 0; afterwards their number
 */
static enum prof_status
read_built_in(const struct prof_profile *profile, struct prof_output *output,
              void **records, size_t *count)
{
    const struct reading reading = reading_of(profile);
    const struct prof_output whole = *output;
    enum prof_status status = PROF_ERR_SHORT;

    if (reading.read == NULL)
        return PROF_OK;
    for (int i = 0; i < TRIES_MAX && status == PROF_ERR_SHORT; i++) {
        const size_t room = *count + RECORDS_SPARE;

        *output = whole;
        *records = take_front(output, room, reading.record_bytes);
        if (*records == NULL)
            return PROF_ERR_MEMORY;
        status = reading.read(profile, *records, room, count);
    }
    return status == PROF_ERR_SHORT ? PROF_ERR_BUSY : status;
}

/* Copy an embedder's open entries, so that the lock is held only briefly. */
static enum prof_status
read_own(struct prof_profile *profile, struct prof_output *output,
         struct prof_count_record **records, size_t *count)
{
    struct prof_registry *registry = profile->registry;
    const uint32_t index = (uint32_t)(profile - registry->profiles) + 1;
    const size_t stack_bytes = registry->depth_max * sizeof(uintptr_t);
    uintptr_t *stacks;
    size_t listed = 0;

    prof_port_lock_take(&registry->lock);
    *count = profile->open;
    *records = take_front(output, *count, sizeof **records);
    stacks = take_front(output, *count, stack_bytes);
    if (*records == NULL || stacks == NULL) {
        prof_port_lock_release(&registry->lock);
        return PROF_ERR_MEMORY;
    }
    for (uint32_t i = 1; i <= registry->entries_max && listed < *count; i++) {
        const struct entry_slot *entry = &registry->entries[i];

        if (entry->profile != index)
            continue;
        memcpy(stacks, entry_stack(registry, i), stack_bytes);
        (*records)[listed++] =
            (struct prof_count_record){.stack = stacks, .depth = entry->depth};
        stacks += registry->depth_max;
    }
    prof_port_lock_release(&registry->lock);
    PROF_ASSERT(listed == *count); /* I3 */
    return PROF_OK;
}

static enum prof_status
write_heap(const struct prof_profile *profile, const struct prof_output *output,
           const struct prof_heap_record *records, size_t count, int debug)
{
    const struct prof_sources *sources = &profile->registry->sources;
    const int64_t rate_bytes =
        sources->prof != NULL ? prof_heap_rate(sources->prof) : 0;
    struct prof_heap_counters counters = {.lookups = 0};

    if (debug == 0)
        return prof_pprof_heap(
            output, records, count, rate_bytes,
            profile->kind == PROFILE_HEAP ? PROF_VIEW_INUSE : PROF_VIEW_ALLOCS);
    if (sources->count_heap != NULL)
        sources->count_heap(sources->count_heap_context, &counters);
    return prof_text_heap(output, records, count, rate_bytes,
                          sources->count_heap != NULL ? &counters : NULL);
}

static enum prof_status
write_contention(const struct prof_profile *profile,
                 const struct prof_output *output,
                 const struct prof_contention_record *records, size_t count,
                 int debug)
{
    const struct prof_sources *sources = &profile->registry->sources;
    const bool is_mutex = profile->kind == PROFILE_MUTEX;
    const uint64_t period = is_mutex && sources->prof != NULL
                                ? prof_mutex_period(sources->prof)
                                : 1;

    if (debug <= 0)
        return prof_pprof_contention(output, records, count,
                                     sources->ticks_per_second, period);
    return prof_text_contention(output, is_mutex ? PROF_MUTEX : PROF_BLOCK,
                                records, count, sources->ticks_per_second,
                                period);
}

static enum prof_status
write_counts(const struct prof_profile *profile,
             const struct prof_output *output,
             const struct prof_count_record *records, size_t count, int debug)
{
    if (debug <= 0)
        return prof_pprof_counts(output, profile->name, records, count);
    return prof_text_counts(output, profile->name, records, count);
}

enum prof_status
prof_profile_write(struct prof_profile *profile,
                   const struct prof_output *output, int debug)
{
    const struct prof_dump *dump = &profile->registry->sources.dump;
    struct prof_output rest = *output;
    struct prof_count_record *own = NULL;
    void *records = NULL;
    size_t count = 0;
    enum prof_status status;

    if (rest.lost == 0)
        rest.lost = profile->registry->lost;
    if (rest.rules == NULL)
        rest.rules = profile->registry->sources.rules;
    if (profile->kind == PROFILE_GOROUTINE && debug >= 2 && dump->print != NULL)
        return prof_text_dump(&rest, dump);
    if (profile->kind == PROFILE_OWN)
        status = read_own(profile, &rest, &own, &count);
    else
        status = read_built_in(profile, &rest, &records, &count);
    if (status != PROF_OK)
        return status;
    switch (profile->kind) {
    case PROFILE_HEAP:
    case PROFILE_ALLOCS:
        return write_heap(profile, &rest, records, count, debug);
    case PROFILE_BLOCK:
    case PROFILE_MUTEX:
        return write_contention(profile, &rest, records, count, debug);
    case PROFILE_GOROUTINE:
    case PROFILE_THREADCREATE:
        return write_counts(profile, &rest, records, count, debug);
    case PROFILE_OWN:
        return write_counts(profile, &rest, own, count, debug);
    }
    PROF_UNREACHABLE();
}
