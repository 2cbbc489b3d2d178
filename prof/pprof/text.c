/* text.c -- heap and contention profiles, and dumps, as text. */
#include "prof/text.h"

#include "prof/core/assertion.h"
#include "prof/pprof/frame_lines.h"
#include "prof/pprof/order.h"
#include "prof/core/poison.h"

static void
put_number_line(struct out *out, const char *before, uint64_t value)
{
    prof_out_text(out, before);
    prof_out_u64(out, value);
    prof_out_bytes(out, "\n", 1);
}

/* ---- heap ---- */

/* Sums wrap around as unsigned numbers and are shown as signed ones. */
struct heap_totals {
    uint64_t inuse_objects;
    uint64_t inuse_bytes;
    uint64_t alloc_objects;
    uint64_t alloc_bytes;
};

/*
 * A text has one rate, by which readers scale all its records. If that is not
 * the rate of each, the text has estimates, and tells readers not to scale.
 */
struct heap_text {
    const struct prof_heap_record *records;
    const struct prof_rules *scales; /* NULL: readers do it */
    int64_t rate_bytes;              /* for readers that do */
};

static struct prof_heap_sum
shown(const struct heap_text *heap, struct prof_heap_sum sum,
      const struct prof_heap_record *record)
{
    return heap->scales != NULL
               ? prof_heap_unsample(heap->scales, sum, record->rate_bytes)
               : sum;
}

static struct prof_heap_sum
inuse_of(const struct heap_text *heap, const struct prof_heap_record *record)
{
    const struct prof_heap_sum sum = {prof_heap_inuse_objects(record),
                                      prof_heap_inuse_bytes(record)};

    return shown(heap, sum, record);
}

static bool
more_inuse(const void *context, uint32_t a, uint32_t b)
{
    const struct heap_text *heap = context;

    return inuse_of(heap, &heap->records[a]).bytes >
           inuse_of(heap, &heap->records[b]).bytes;
}

/* in: rate_bytes, of records that do not have theirs */
static struct heap_text
heap_text_of(const struct prof_output *output,
             const struct prof_heap_record *records, size_t count,
             int64_t rate_bytes)
{
    struct heap_text heap = {records, NULL, rate_bytes};

    if (count > 0 && records[0].rate_bytes > 0)
        heap.rate_bytes = records[0].rate_bytes;
    for (size_t i = 1; i < count; i++) {
        if (records[i].rate_bytes != records[0].rate_bytes)
            heap.scales =
                output->rules != NULL ? output->rules : &prof_rules_exact;
    }
    return heap;
}

static struct heap_totals
totals_of(const struct heap_text *heap, const struct prof_heap_record *records,
          size_t count)
{
    struct heap_totals totals = {0};

    for (size_t i = 0; i < count; i++) {
        const struct prof_heap_sum inuse = inuse_of(heap, &records[i]);
        const struct prof_heap_sum allocs = shown(
            heap,
            (struct prof_heap_sum){(int64_t)records[i].allocs,
                                   (int64_t)prof_heap_alloc_bytes(&records[i])},
            &records[i]);

        totals.inuse_objects += (uint64_t)inuse.objects;
        totals.inuse_bytes += (uint64_t)inuse.bytes;
        totals.alloc_objects += (uint64_t)allocs.objects;
        totals.alloc_bytes += (uint64_t)allocs.bytes;
    }
    return totals;
}

static void
put_quad(struct out *out, const struct heap_totals *values)
{
    prof_out_i64(out, (int64_t)values->inuse_objects);
    prof_out_text(out, ": ");
    prof_out_i64(out, (int64_t)values->inuse_bytes);
    prof_out_text(out, " [");
    prof_out_i64(out, (int64_t)values->alloc_objects);
    prof_out_text(out, ": ");
    prof_out_i64(out, (int64_t)values->alloc_bytes);
    prof_out_text(out, "] ");
}

/* 0 for a value that would be shown as negative. */
static uint64_t
at_least_0(uint64_t value)
{
    return value <= INT64_MAX ? value : 0;
}

/*
 * Write the first line. If both byte totals are equal, or the allocated bytes
 * are 0, readers believe that the profile has no allocation data. To avoid
 * this, one byte is added.
 */
static void
put_heap_header(struct out *out, struct heap_totals totals,
                const struct heap_text *heap)
{
    int64_t rate_bytes = heap->rate_bytes;

    totals.inuse_objects = at_least_0(totals.inuse_objects);
    totals.inuse_bytes = at_least_0(totals.inuse_bytes);
    totals.alloc_objects = at_least_0(totals.alloc_objects);
    totals.alloc_bytes = at_least_0(totals.alloc_bytes);
    if (totals.alloc_bytes == totals.inuse_bytes || totals.alloc_bytes == 0) {
        if (totals.inuse_bytes == INT64_MAX) /* there is no byte more */
            totals.inuse_bytes--;
        totals.alloc_bytes = totals.inuse_bytes + 1;
    }
    prof_out_text(out, "heap profile: ");
    put_quad(out, &totals);
    if (heap->scales != NULL) {
        prof_out_text(out, "@ heapprofile\n");
        return;
    }
    prof_out_text(out, "@ heap/");
    /* Readers take no number of 2^63 or more. */
    if (rate_bytes > INT64_MAX / 2)
        rate_bytes = INT64_MAX / 2;
    prof_out_u64(out, 2 * at_least_0((uint64_t)rate_bytes));
    prof_out_bytes(out, "\n", 1);
}

static void
put_pair_line(struct out *out, const char *before, uint64_t a, uint64_t b)
{
    prof_out_text(out, before);
    prof_out_u64(out, a);
    prof_out_text(out, " / ");
    prof_out_u64(out, b);
    prof_out_bytes(out, "\n", 1);
}

static void
put_pauses(struct out *out, const char *before, const uint64_t *pauses)
{
    prof_out_text(out, before);
    for (int i = 0; i < PROF_PAUSES; i++) {
        prof_out_bytes(out, i == 0 ? "[" : " ", 1);
        prof_out_u64(out, pauses != NULL ? pauses[i] : 0);
    }
    prof_out_text(out, "]\n");
}

static void
put_counters(struct out *out, const struct prof_heap_counters *c)
{
    prof_out_text(out, "\n# runtime.MemStats\n");
    put_number_line(out, "# Alloc = ", c->alloc_bytes);
    put_number_line(out, "# TotalAlloc = ", c->total_alloc_bytes);
    put_number_line(out, "# Sys = ", c->sys_bytes);
    put_number_line(out, "# Lookups = ", c->lookups);
    put_number_line(out, "# Mallocs = ", c->mallocs);
    put_number_line(out, "# Frees = ", c->frees);
    put_number_line(out, "# HeapAlloc = ", c->heap_alloc_bytes);
    put_number_line(out, "# HeapSys = ", c->heap_sys_bytes);
    put_number_line(out, "# HeapIdle = ", c->heap_idle_bytes);
    put_number_line(out, "# HeapInuse = ", c->heap_inuse_bytes);
    put_number_line(out, "# HeapReleased = ", c->heap_released_bytes);
    put_number_line(out, "# HeapObjects = ", c->heap_objects);
    put_pair_line(out, "# Stack = ", c->stack_inuse_bytes, c->stack_sys_bytes);
    put_pair_line(out, "# MSpan = ", c->mspan_inuse_bytes, c->mspan_sys_bytes);
    put_pair_line(out, "# MCache = ", c->mcache_inuse_bytes,
                  c->mcache_sys_bytes);
    put_number_line(out, "# BuckHashSys = ", c->buck_hash_sys_bytes);
    put_number_line(out, "# GCSys = ", c->gc_sys_bytes);
    put_number_line(out, "# OtherSys = ", c->other_sys_bytes);
    put_number_line(out, "# NextGC = ", c->next_gc_bytes);
    put_number_line(out, "# LastGC = ", c->last_gc_ns);
    put_pauses(out, "# PauseNs = ", c->pause_ns);
    put_pauses(out, "# PauseEnd = ", c->pause_end);
    put_number_line(out, "# NumGC = ", c->gcs);
    put_number_line(out, "# NumForcedGC = ", c->gcs_forced);
    prof_out_text(out, "# GCCPUFraction = ");
    prof_out_text(out, c->gc_cpu_fraction != NULL ? c->gc_cpu_fraction : "0");
    prof_out_text(out, "\n# DebugGC = ");
    prof_out_text(out, c->debug_gc ? "true\n" : "false\n");
    if (c->max_rss_bytes != 0)
        put_number_line(out, "# MaxRSS = ", c->max_rss_bytes);
}

enum prof_status
prof_text_heap(const struct prof_output *output,
               const struct prof_heap_record *records, size_t records_count,
               int64_t rate_bytes, const struct prof_heap_counters *counters)
{
    struct arena arena = prof_arena_of(output);
    struct heap_text heap;
    const uint32_t *order;
    struct text text;

    if (records_count > output->scratch_bytes) /* no room for an order */
        return PROF_ERR_MEMORY;
    heap = heap_text_of(output, records, records_count, rate_bytes);
    order = prof_arena_order(&arena, records_count, more_inuse, &heap);
    if (order == NULL || !prof_text_begin(&text, output, &arena))
        return PROF_ERR_MEMORY;
    put_heap_header(&text.out, totals_of(&heap, records, records_count), &heap);
    for (size_t i = 0; i < records_count && text.out.status == PROF_OK; i++) {
        const struct prof_heap_record *record = &records[order[i]];
        const struct heap_totals values = totals_of(&heap, record, 1);

        put_quad(&text.out, &values);
        prof_text_addresses(&text, record->stack, record->depth);
        prof_text_frames(&text, record->stack, record->depth, FRAMES_PROGRAM);
    }
    if (counters != NULL)
        put_counters(&text.out, counters);
    return prof_out_finish(&text.out);
}

/* ---- contention ---- */

enum prof_status
prof_text_contention(const struct prof_output *output,
                     enum prof_contention kind,
                     const struct prof_contention_record *records,
                     size_t records_count, uint64_t ticks_per_second,
                     uint64_t period)
{
    struct arena arena = prof_arena_of(output);
    const uint32_t *order =
        prof_contention_order(&arena, records, records_count);
    struct text text;

    if (order == NULL || !prof_text_begin(&text, output, &arena))
        return PROF_ERR_MEMORY;
    prof_out_text(&text.out,
                  kind == PROF_BLOCK ? "--- contention:\n" : "--- mutex:\n");
    put_number_line(&text.out, "cycles/second=", ticks_per_second);
    if (kind == PROF_MUTEX)
        put_number_line(&text.out, "sampling period=", period);
    for (size_t i = 0; i < records_count && text.out.status == PROF_OK; i++) {
        const struct prof_contention_record *record = &records[order[i]];

        prof_out_i64(&text.out, (int64_t)record->cycles);
        prof_out_bytes(&text.out, " ", 1);
        prof_out_i64(&text.out, (int64_t)record->count);
        prof_out_bytes(&text.out, " ", 1);
        prof_text_addresses(&text, record->stack, record->depth);
        prof_text_frames(&text, record->stack, record->depth, FRAMES_ALL);
    }
    return prof_out_finish(&text.out);
}

/* ---- dumps ---- */

enum prof_status
prof_text_dump(const struct prof_output *output, const struct prof_dump *dump)
{
    char *const buffer = output->scratch;
    const size_t most = output->scratch_bytes < PROF_DUMP_MOST_BYTES
                            ? output->scratch_bytes
                            : PROF_DUMP_MOST_BYTES;
    size_t room = PROF_DUMP_FIRST_BYTES < most ? PROF_DUMP_FIRST_BYTES : most;
    size_t printed;

    if (most == 0)
        return PROF_ERR_MEMORY;
    for (;;) {
        printed = dump->print(dump->context, buffer, room);
        PROF_ASSERT(printed <= room);
        /* If the buffer is full, it may have been too small; print() cannot
           tell. */
        if (printed < room || room == most)
            break;
        room = room <= most / 2 ? 2 * room : most;
    }
    return printed == 0
               ? PROF_OK
               : output->sink.write(output->sink.context, buffer, printed);
}
