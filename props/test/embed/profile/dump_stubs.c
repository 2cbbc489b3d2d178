/* dump_stubs.c -- see dump_stubs.h. */
#include "dump_stubs.h"

#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "prof/file.h"
#include "prof/port.h"
#include "prof/process.h"
#include "unit_test.h"

#define STUBS      dump_stubs
#define TEXT_BYTES ((size_t)4 << 20)

struct dump_stubs dump_stubs;

static void
note(char what)
{
    const size_t at = strlen(STUBS.seen);

    assert_true(at < sizeof STUBS.seen - 1);
    STUBS.seen[at] = what;
}

static enum prof_status
call(char what)
{
    if (STUBS.stops_at == what && STUBS.busy_times > 0) {
        STUBS.busy_times--;
        return PROF_ERR_BUSY;
    }
    note(what);
    return STUBS.stops_at == what ? STUBS.then : PROF_OK;
}

/* ---- what dump.c calls ---- */

void
prof_port_lock_take(struct prof_port_lock *lock)
{
    (void)lock;
    note('[');
}

void
prof_port_lock_release(struct prof_port_lock *lock)
{
    (void)lock;
    note(']');
}

void
prof_port_lock_reset(struct prof_port_lock *lock)
{
    (void)lock;
    STUBS.resets++;
}

enum prof_status
prof_heap_next_cycle(struct prof *prof)
{
    assert_ptr_equal(prof, profile.prof);
    return call('n');
}

enum prof_status
prof_heap_flush(struct prof *prof)
{
    assert_ptr_equal(prof, profile.prof);
    return call('f');
}

/* in: heap, is it of the heap? What is taken is what was counted last. */
static enum prof_status
snapshot(bool heap, void *records, size_t record_bytes, size_t max, size_t *to)
{
    static bool counted_heap;
    enum prof_status status = call(records == NULL ? 'q' : 's');

    counted_heap = records == NULL ? heap : counted_heap;
    assert_int_equal(counted_heap, heap);
    *to = STUBS.count;
    if (status != PROF_OK || STUBS.count <= max) {
        if (records != NULL && STUBS.fills)
            memset(records, 3, max * record_bytes);
        STUBS.records = records;
        return status;
    }
    assert_null(records);
    assert_int_equal(max, 0);
    return PROF_ERR_SHORT;
}

enum prof_status
prof_heap_snapshot(struct prof *prof, enum prof_select select,
                   struct prof_heap_record *records, size_t max, size_t *to)
{
    assert_ptr_equal(prof, profile.prof);
    assert_int_equal(select, PROF_SELECT_ALL);
    assert_true(records == NULL || max == DUMP_ROOM(STUBS.count));
    return snapshot(true, records, sizeof *records, max, to);
}

enum prof_status
prof_contention_snapshot(struct prof *prof, enum prof_contention kind,
                         struct prof_contention_record *records, size_t max,
                         size_t *to)
{
    assert_ptr_equal(prof, profile.prof);
    assert_true(kind == STUBS.kind_wanted || records == NULL);
    return snapshot(false, records, sizeof *records, max, to);
}

size_t
prof_pprof_scratch_bytes(size_t records, size_t locations)
{
    STUBS.scratch_records = records;
    STUBS.scratch_locations = locations;
    return DUMP_SCRATCH;
}

enum prof_status
prof_process_mappings(struct prof_mapping *mappings, size_t max, size_t *to,
                      char *text, size_t text_max)
{
    STUBS.mappings = (char *)mappings;
    STUBS.mappings_bytes = max * sizeof *mappings;
    STUBS.text = text;
    assert_int_equal(text_max, TEXT_BYTES);
    assert_true(max >= 1000);
    if (STUBS.fills) {
        memset(mappings, 1, STUBS.mappings_bytes);
        memset(text, 2, TEXT_BYTES);
    }
    *to = 7;
    return call('M');
}

int64_t
prof_process_time_ns(void)
{
    return 99;
}

int64_t
prof_heap_rate(const struct prof *prof)
{
    (void)prof;
    return 512;
}

static enum prof_status
write_profile(char what, const struct prof_output *output, const void *records)
{
    STUBS.output = *output;
    STUBS.records_count = 0;
    if (STUBS.fills)
        memset(output->scratch, 4, output->scratch_bytes);
    assert_true(records == NULL || records == STUBS.records);
    return call(what);
}

enum prof_status
prof_pprof_heap(const struct prof_output *output,
                const struct prof_heap_record *records, size_t records_count,
                int64_t rate_bytes, enum prof_heap_view view)
{
    const enum prof_status status = write_profile('w', output, records);

    STUBS.records_count = records_count;
    STUBS.rate = rate_bytes;
    STUBS.view = view;
    return status;
}

enum prof_status
prof_pprof_contention(const struct prof_output *output,
                      const struct prof_contention_record *records,
                      size_t records_count, uint64_t ticks_per_second,
                      uint64_t period)
{
    const enum prof_status status = write_profile('c', output, records);

    STUBS.records_count = records_count;
    STUBS.ticks = (int64_t)ticks_per_second;
    STUBS.period = (int64_t)period;
    return status;
}

enum prof_status
profile_cpu_write(const struct prof_output *output)
{
    return write_profile('p', output, NULL);
}

enum prof_status
prof_file_begin(struct prof_file *file, const char *path)
{
    file->descriptor = (int)STUBS.paths_count;
    strcpy(STUBS.paths[STUBS.paths_count++], path);
    return call('b');
}

void
prof_file_be_quick(struct prof_file *file)
{
    (void)file;
    note('k');
}

struct prof_sink
prof_file_sink(struct prof_file *file)
{
    return (struct prof_sink){.context = file};
}

enum prof_status
prof_file_end(struct prof_file *file, enum prof_status status)
{
    assert_ptr_equal(STUBS.output.sink.context, file);
    note('e');
    return status;
}

void
profile_losses_write(void)
{
    note('l');
}

/* ---- the system ---- */

pid_t __wrap_getpid(void);
pid_t
__wrap_getpid(void)
{
    return DUMP_PROCESS;
}

int __wrap_nanosleep(const struct timespec *time, struct timespec *left);
int
__wrap_nanosleep(const struct timespec *time, struct timespec *left)
{
    (void)left;
    assert_int_equal(time->tv_sec, 0);
    assert_in_range(time->tv_nsec, 1000, 1000000);
    STUBS.sleeps++;
    return 0;
}

void *__real_mmap(void *at, size_t bytes, int rights, int flags, int file,
                  off_t from);
void *__wrap_mmap(void *at, size_t bytes, int rights, int flags, int file,
                  off_t from);
void *
__wrap_mmap(void *at, size_t bytes, int rights, int flags, int file, off_t from)
{
    void *place;

    if (STUBS.has_no_map)
        return MAP_FAILED;
    place = __real_mmap(at, bytes, rights, flags, file, from);
    if (file >= 0)
        return place; /* not of a dump */
    assert_int_equal(rights, PROT_READ | PROT_WRITE);
    assert_int_equal(flags, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
    STUBS.mapped = place;
    STUBS.mapped_bytes += bytes;
    return place;
}

static void
expect_bytes(const void *at, size_t bytes, char want)
{
    const char *const from = at;

    assert_int_equal(from[0], want);
    assert_memory_equal(from, from + 1, bytes - 1); /* all the same */
}

static void
look_at_parts(void)
{
    expect_bytes(STUBS.mappings, STUBS.mappings_bytes, 1);
    expect_bytes(STUBS.text, TEXT_BYTES, 2);
    expect_bytes(STUBS.records,
                 DUMP_ROOM(STUBS.count) * sizeof(struct prof_heap_record), 3);
    expect_bytes(STUBS.output.scratch, DUMP_SCRATCH, 4);
    assert_int_equal((uintptr_t)STUBS.output.scratch % PROF_BLOCK_ALIGN, 0);
    assert_int_equal((uintptr_t)STUBS.records % PROF_BLOCK_ALIGN, 0);
    assert_true((char *)STUBS.output.scratch + DUMP_SCRATCH <=
                STUBS.mapped + STUBS.mapped_bytes);
}

int __real_munmap(void *at, size_t bytes);
int __wrap_munmap(void *at, size_t bytes);
int
__wrap_munmap(void *at, size_t bytes)
{
    if (STUBS.fills)
        look_at_parts();
    assert_ptr_equal(at, STUBS.mapped);
    STUBS.unmapped_bytes += bytes;
    return __real_munmap(at, bytes);
}
