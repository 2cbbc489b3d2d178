/*
 * faulty_prof.c -- the faults of faulty_prof.def, between the library and its
 * callers.
 *
 * The linker redirects every call of prof_f() from outside the library to
 * __wrap_prof_f(); __real_prof_f() is the library's function.
 */
#include "props/test/faulty_prof.h"

#include <stdlib.h>

#include "prof/prof.h"

static enum faulty_kind shown[2];
static unsigned snapshots;           /* taken so far; for FAULTY_MOODY */
static const struct prof *just_done; /* last flushed or swept */

/* The linker defines these names. */
enum prof_status __real_prof_heap_snapshot(struct prof *prof,
                                           enum prof_select select,
                                           struct prof_heap_record *records,
                                           size_t records_max, size_t *count);
enum prof_status __wrap_prof_heap_snapshot(struct prof *prof,
                                           enum prof_select select,
                                           struct prof_heap_record *records,
                                           size_t records_max, size_t *count);
struct prof_heap_phase __real_prof_heap_phase(const struct prof *prof);
struct prof_heap_phase __wrap_prof_heap_phase(const struct prof *prof);
struct prof_heap_totals __real_prof_heap_totals(struct prof *prof);
struct prof_heap_totals __wrap_prof_heap_totals(struct prof *prof);
enum prof_status __real_prof_heap_flush(struct prof *prof);
enum prof_status __wrap_prof_heap_flush(struct prof *prof);
enum prof_status __real_prof_heap_post_sweep(struct prof *prof);
enum prof_status __wrap_prof_heap_post_sweep(struct prof *prof);
enum prof_status
__real_prof_contention_snapshot(struct prof *prof, enum prof_contention kind,
                                struct prof_contention_record *records,
                                size_t records_max, size_t *count);
enum prof_status
__wrap_prof_contention_snapshot(struct prof *prof, enum prof_contention kind,
                                struct prof_contention_record *records,
                                size_t records_max, size_t *count);
struct prof_drops __real_prof_drops(const struct prof *prof);
struct prof_drops __wrap_prof_drops(const struct prof *prof);
const char *__real_prof_check(const struct prof *prof);
const char *__wrap_prof_check(const struct prof *prof);

void
faulty_prof_show(enum faulty_kind kind, enum faulty_kind another)
{
    shown[0] = kind;
    shown[1] = another;
    just_done = NULL;
    snapshots = 0;
}

static bool
shows(enum faulty_kind kind)
{
    return shown[0] == kind || shown[1] == kind;
}

/* Apply a fault that several properties must notice. */
static bool
reports_waits(void)
{
    return shows(FAULTY_COUNT_OF_WAITS) || shows(FAULTY_OF_A_LOCK) ||
           shows(FAULTY_OF_A_HOLDER) || shows(FAULTY_OF_A_SAMPLE) ||
           shows(FAULTY_OF_A_MUTEX_SAMPLE) || shows(FAULTY_OF_AN_OLD_RATE);
}

static void
reverse(struct prof_heap_record *records, size_t count)
{
    for (size_t i = 0; i < count / 2; i++) {
        const struct prof_heap_record saved = records[i];

        records[i] = records[count - 1 - i];
        records[count - 1 - i] = saved;
    }
}

/* Change the result of a snapshot whose buffer was too short. */
static enum prof_status
spoil_short(struct prof_heap_record *records, size_t records_max, size_t *count)
{
    if (shows(FAULTY_SHORT_WRITTEN) && records_max > 0)
        records[0].allocs = 0;
    *count += shows(FAULTY_SHORT_COUNT);
    return shows(FAULTY_SHORT_OK) ? PROF_OK : PROF_ERR_SHORT;
}

/* Spoil the newest bucket that a snapshot shows. */
static void
spoil_bucket(struct prof_heap_record *record)
{
    if (shows(FAULTY_EXTRA) || shows(FAULTY_EXTRA_FIRST) ||
        shows(FAULTY_EXTRA_AT_WRAP))
        record->allocs++;
    if (shows(FAULTY_EVERY_OTHER))
        record->allocs += snapshots % 2;
    if (shows(FAULTY_MOODY))
        record->allocs += snapshots;
    if (shows(FAULTY_NEGATIVE))
        record->frees = record->allocs + 1;
    if (shows(FAULTY_STRANGER))
        record->size_bytes += 3;
    if (shows(FAULTY_HEAVY))
        record->size_bytes *= 2;
}

enum prof_status
__wrap_prof_heap_snapshot(struct prof *prof, enum prof_select select,
                          struct prof_heap_record *records, size_t records_max,
                          size_t *count)
{
    const enum prof_status status =
        __real_prof_heap_snapshot(prof, select, records, records_max, count);

    snapshots++;
    if (status == PROF_ERR_SHORT)
        return spoil_short(records, records_max, count);
    if (shows(FAULTY_ABORT) && *count > 1)
        abort();
    if (shows(FAULTY_REVERSED))
        reverse(records, *count);
    if (*count > 0)
        spoil_bucket(&records[0]);
    if (shows(FAULTY_TWICE) && *count > 0 && *count < records_max) {
        records[*count] = records[*count - 1];
        ++*count;
    }
    return status;
}

struct prof_heap_phase
__wrap_prof_heap_phase(const struct prof *prof)
{
    struct prof_heap_phase phase = __real_prof_heap_phase(prof);

    just_done = NULL;
    phase.cycle += shows(FAULTY_CYCLE) || shows(FAULTY_CYCLE_AT_WRAP);
    phase.flushed = phase.flushed && !shows(FAULTY_UNFLUSHED);
    return phase;
}

struct prof_heap_totals
__wrap_prof_heap_totals(struct prof *prof)
{
    struct prof_heap_totals totals = __real_prof_heap_totals(prof);

    if (shows(FAULTY_PUBLISHED) && totals.allocs_pending > 0) {
        totals.allocs_pending--;
        totals.allocs_published++;
    }
    totals.allocs_pending += shows(FAULTY_TOTAL_ALLOCS) || shows(FAULTY_STUCK);
    totals.frees_pending +=
        shows(FAULTY_TOTAL_FREES) || shows(FAULTY_STUCK_FREE);
    return totals;
}

/* Only the judge makes a call twice before it asks for the phase: then advance
 * the cycle once too often. */
static enum prof_status
spoil_when_repeated(struct prof *prof, bool is_about_this,
                    enum prof_status status)
{
    const bool again = just_done == prof;

    just_done = prof;
    if (is_about_this && again)
        return prof_heap_next_cycle(prof);
    return status;
}

enum prof_status
__wrap_prof_heap_flush(struct prof *prof)
{
    return spoil_when_repeated(prof, shows(FAULTY_SECOND_FLUSH),
                               __real_prof_heap_flush(prof));
}

enum prof_status
__wrap_prof_heap_post_sweep(struct prof *prof)
{
    return spoil_when_repeated(prof, shows(FAULTY_SECOND_POST_SWEEP),
                               __real_prof_heap_post_sweep(prof));
}

enum prof_status
__wrap_prof_contention_snapshot(struct prof *prof, enum prof_contention kind,
                                struct prof_contention_record *records,
                                size_t records_max, size_t *count)
{
    const enum prof_status status = __real_prof_contention_snapshot(
        prof, kind, records, records_max, count);

    if (status != PROF_OK || *count == 0)
        return status;
    records[0].count += reports_waits();
    records[0].cycles += shows(FAULTY_LENGTH_OF_WAITS);
    return status;
}

struct prof_drops
__wrap_prof_drops(const struct prof *prof)
{
    struct prof_drops drops = __real_prof_drops(prof);

    drops.no_bucket += shows(FAULTY_DROPS_BUCKET);
    drops.no_frames += shows(FAULTY_DROPS_FRAMES);
    drops.no_free_path += shows(FAULTY_DROPS_PATH);
    drops.no_mutex += shows(FAULTY_DROPS_MUTEX);
    return drops;
}

const char *
__wrap_prof_check(const struct prof *prof)
{
    return shows(FAULTY_DAMAGED) ? "I0" : __real_prof_check(prof);
}
