/*
 * liar.c -- the lies of liar.def, between the library and those who ask it.
 *
 * The linker sends every call of prof_f() from outside the library to
 * __wrap_prof_f(), and __real_prof_f() is the library's own.
 */
#include "liar.h"

#include <stdlib.h>

#include "prof/prof.h"

static enum liar_lie lies[2];
static unsigned snapshots;           /* ever made; LIE_MOODY */
static const struct prof *just_done; /* flushed or swept by the call before */

/* What the linker calls by these names. */
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
liar_tell(enum liar_lie lie, enum liar_lie another)
{
    lies[0] = lie;
    lies[1] = another;
    just_done = NULL;
    snapshots = 0;
}

static bool
tells(enum liar_lie lie)
{
    return lies[0] == lie || lies[1] == lie;
}

/* One lie in the name of several properties. */
static bool
tells_of_waits(void)
{
    return tells(LIE_COUNT_OF_WAITS) || tells(LIE_OF_A_LOCK) ||
           tells(LIE_OF_A_HOLDER) || tells(LIE_OF_A_SAMPLE) ||
           tells(LIE_OF_A_MUTEX_SAMPLE) || tells(LIE_OF_AN_OLD_RATE);
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

/* Lie about a snapshot that was too short. */
static enum prof_status
lie_short(struct prof_heap_record *records, size_t records_max, size_t *count)
{
    if (tells(LIE_SHORT_WRITTEN) && records_max > 0)
        records[0].allocs = 0;
    *count += tells(LIE_SHORT_COUNT);
    return tells(LIE_SHORT_OK) ? PROF_OK : PROF_ERR_SHORT;
}

/* Lie about the newest bucket that a snapshot shows. */
static void
lie_bucket(struct prof_heap_record *record)
{
    if (tells(LIE_EXTRA) || tells(LIE_EXTRA_FIRST) || tells(LIE_EXTRA_AT_WRAP))
        record->allocs++;
    if (tells(LIE_EVERY_OTHER))
        record->allocs += snapshots % 2;
    if (tells(LIE_MOODY))
        record->allocs += snapshots;
    if (tells(LIE_NEGATIVE))
        record->frees = record->allocs + 1;
    if (tells(LIE_STRANGER))
        record->size_bytes += 3;
    if (tells(LIE_HEAVY))
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
        return lie_short(records, records_max, count);
    if (tells(LIE_ABORT) && *count > 1)
        abort();
    if (tells(LIE_REVERSED))
        reverse(records, *count);
    if (*count > 0)
        lie_bucket(&records[0]);
    if (tells(LIE_TWICE) && *count > 0 && *count < records_max) {
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
    phase.cycle += tells(LIE_CYCLE) || tells(LIE_CYCLE_AT_WRAP);
    phase.flushed = phase.flushed && !tells(LIE_UNFLUSHED);
    return phase;
}

struct prof_heap_totals
__wrap_prof_heap_totals(struct prof *prof)
{
    struct prof_heap_totals totals = __real_prof_heap_totals(prof);

    if (tells(LIE_PUBLISHED) && totals.allocs_pending > 0) {
        totals.allocs_pending--;
        totals.allocs_published++;
    }
    totals.allocs_pending += tells(LIE_TOTAL_ALLOCS) || tells(LIE_STUCK);
    totals.frees_pending += tells(LIE_TOTAL_FREES) || tells(LIE_STUCK_FREE);
    return totals;
}

/* The judge repeats a call before it asks for the phase, and nobody else. */
static enum prof_status
lie_when_repeated(struct prof *prof, bool lies_about_this,
                  enum prof_status status)
{
    const bool again = just_done == prof;

    just_done = prof;
    if (lies_about_this && again)
        return prof_heap_next_cycle(prof);
    return status;
}

enum prof_status
__wrap_prof_heap_flush(struct prof *prof)
{
    return lie_when_repeated(prof, tells(LIE_SECOND_FLUSH),
                             __real_prof_heap_flush(prof));
}

enum prof_status
__wrap_prof_heap_post_sweep(struct prof *prof)
{
    return lie_when_repeated(prof, tells(LIE_SECOND_POST_SWEEP),
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
    records[0].count += tells_of_waits();
    records[0].cycles += tells(LIE_LENGTH_OF_WAITS);
    return status;
}

struct prof_drops
__wrap_prof_drops(const struct prof *prof)
{
    struct prof_drops drops = __real_prof_drops(prof);

    drops.no_bucket += tells(LIE_DROPS_BUCKET);
    drops.no_frames += tells(LIE_DROPS_FRAMES);
    drops.no_free_path += tells(LIE_DROPS_PATH);
    drops.no_mutex += tells(LIE_DROPS_MUTEX);
    return drops;
}

const char *
__wrap_prof_check(const struct prof *prof)
{
    return tells(LIE_DAMAGED) ? "I0" : __real_prof_check(prof);
}
