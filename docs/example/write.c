/* write.c -- writes a profile through a chain: the writer, the packer, the
 * file. */
#include "write.h"

#include <prof/file.h>
#include <prof/gzip.h>
#include <prof/process.h>

#include <stdio.h>
#include <string.h>

enum { RECORDS = 256 };

/* Reserved at the start, so that a profile can be written when memory is
 * short. */
static unsigned char scratch[1 << 20] __attribute__((aligned(64)));
static unsigned char packing[1 << 20];

static struct prof_file file;
static struct prof_gzip gzip;
static struct prof_output output;

static enum prof_status
begin(const char *path,
      void (*find)(void *context, uintptr_t pc, struct prof_symbol *symbol))
{
    const enum prof_status status = prof_file_begin(&file, path);
    const struct prof_sink sink = prof_file_sink(&file);

    prof_gzip_begin(&gzip, &sink, packing, sizeof packing);
    memset(&output, 0, sizeof output);
    output.sink = prof_gzip_sink(&gzip);
    output.symbols.find = find;
    output.time_ns = prof_process_time_ns();
    output.scratch = scratch;
    output.scratch_bytes = sizeof scratch;
    return status;
}

/* End the chain. If anything went wrong before, each end discards what was
 * begun. */
static bool
end(const char *path, enum prof_status status)
{
    status = prof_file_end(&file, prof_gzip_end(&gzip, status));
    if (status != PROF_OK)
        fprintf(stderr, "%s: %s\n", path,
                status == PROF_ERR_SINK ? prof_file_reason(&file)
                                        : prof_status_text(status));
    return status == PROF_OK;
}

bool
write_heap(struct prof *prof, const char *path,
           void (*find)(void *context, uintptr_t pc,
                        struct prof_symbol *symbol))
{
    static struct prof_heap_record records[RECORDS];
    enum prof_status status = begin(path, find);
    size_t count;

    if (status == PROF_OK)
        status =
            prof_heap_snapshot(prof, PROF_SELECT_ALL, records, RECORDS, &count);
    if (status == PROF_OK)
        status = prof_pprof_heap(&output, records, count, prof_heap_rate(prof),
                                 PROF_VIEW_INUSE);
    return end(path, status);
}

bool
write_mutex(struct prof *prof, const char *path,
            void (*find)(void *context, uintptr_t pc,
                         struct prof_symbol *symbol))
{
    static struct prof_contention_record records[RECORDS];
    enum prof_status status = begin(path, find);
    size_t count;

    if (status == PROF_OK)
        status = prof_contention_snapshot(prof, PROF_MUTEX, records, RECORDS,
                                          &count);
    if (status == PROF_OK)
        status = prof_pprof_contention(&output, records, count, 1000000000,
                                       prof_mutex_period(prof));
    return end(path, status);
}
