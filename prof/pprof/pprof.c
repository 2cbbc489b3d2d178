/*
 * pprof.c -- heap and contention profiles as profile.proto.
 *
 * Heap values are scaled up here, because a bucket counts samples and readers
 * show estimates of all objects. All objects of a bucket have one size, so the
 * probability of sampling one is known exactly, and the scaled sum is unbiased.
 *
 * Source: docs/profiles.md, "Heap" and "Contention".
 */
#include "prof/pprof.h"

#include <string.h>

#include "prof/pprof/builder.h"
#include "prof/core/assertion.h"
#include "prof/pprof/order.h"
#include "prof/core/poison.h"

size_t
prof_pprof_scratch_bytes(size_t records, size_t locations)
{
    /* Two sorts with two numbers per record, and a group of two numbers. */
    return prof_builder_bytes(locations) + records * 6 * sizeof(uint32_t) +
           4096;
}

/* ---- heap ---- */

static void
heap_values(int64_t *values, const struct prof_rules *rules,
            const struct prof_heap_record *record)
{
    const struct prof_heap_sum allocs = {
        .objects = (int64_t)record->allocs,
        .bytes = (int64_t)prof_heap_alloc_bytes(record)};
    const struct prof_heap_sum inuse = {.objects =
                                            prof_heap_inuse_objects(record),
                                        .bytes = prof_heap_inuse_bytes(record)};
    const struct prof_heap_sum all =
        prof_heap_unsample(rules, allocs, record->rate_bytes);

    values[0] = values[2] = all.objects;
    values[1] = values[3] = all.bytes;
    if (inuse.objects != allocs.objects) {
        const struct prof_heap_sum now =
            prof_heap_unsample(rules, inuse, record->rate_bytes);

        values[2] = now.objects;
        values[3] = now.bytes;
    }
}

/* Prefetch the locations of the next record, and the stacks of later ones. */
static void
fetch_ahead(const struct builder *builder,
            const struct prof_heap_record *records, size_t count, size_t i)
{
    enum { AHEAD = 8, LINE_FRAMES = 8 };
    const struct prof_heap_record *record;

    if (count - i <= 2 * AHEAD)
        return;
    prof_builder_fetch(builder, records[i + 1].stack, records[i + 1].depth);
    record = &records[i + AHEAD];
    for (uint32_t j = 0; j < record->depth && j < 4 * LINE_FRAMES;
         j += LINE_FRAMES)
        __builtin_prefetch(&record->stack[j]);
    __builtin_prefetch(&records[i + 2 * AHEAD]);
}

static void
write_heap_records(struct builder *builder,
                   const struct prof_heap_record *records, size_t count,
                   const struct prof_rules *rules)
{
    for (size_t i = 0; i < count && builder->out.status == PROF_OK; i++) {
        const struct prof_heap_record *const record = &records[i];
        const struct sample_label size = {
            .key = "bytes", .number = (int64_t)record->size_bytes};
        struct sample sample = {.stack = record->stack,
                                .depth = record->depth,
                                .hide_runtime = true,
                                .labels = &size,
                                .labels_count = record->allocs != 0 &&
                                                record->size_bytes != 0};

        fetch_ahead(builder, records, count, i);
        heap_values(sample.values, rules, record);
        prof_builder_sample(builder, &sample);
    }
}

enum prof_status
prof_pprof_heap(const struct prof_output *output,
                const struct prof_heap_record *records, size_t records_count,
                int64_t rate_bytes, enum prof_heap_view view)
{
    struct arena arena = prof_arena_of(output);
    struct builder builder;

    if (!prof_builder_init(&builder, output, &arena, 4))
        return PROF_ERR_MEMORY;
    prof_builder_value_type(&builder, PROFILE_PERIOD_TYPE, "space", "bytes");
    prof_out_number(&builder.out, PROFILE_PERIOD, (uint64_t)rate_bytes);
    prof_builder_value_type(&builder, PROFILE_SAMPLE_TYPE, "alloc_objects",
                            "count");
    prof_builder_value_type(&builder, PROFILE_SAMPLE_TYPE, "alloc_space",
                            "bytes");
    prof_builder_value_type(&builder, PROFILE_SAMPLE_TYPE, "inuse_objects",
                            "count");
    prof_builder_value_type(&builder, PROFILE_SAMPLE_TYPE, "inuse_space",
                            "bytes");
    if (view == PROF_VIEW_ALLOCS)
        prof_out_number(&builder.out, PROFILE_DEFAULT_SAMPLE_TYPE,
                        prof_builder_string(&builder, "alloc_space"));
    write_heap_records(&builder, records, records_count,
                       output->rules != NULL ? output->rules
                                             : &prof_rules_exact);
    prof_out_number(&builder.out, PROFILE_TIME_NS, (uint64_t)output->time_ns);
    return prof_builder_finish(&builder);
}

/* ---- contention ---- */

static bool
more_ticks(const void *context, uint32_t a, uint32_t b)
{
    const struct prof_contention_record *records = context;

    return (int64_t)records[a].cycles > (int64_t)records[b].cycles;
}

uint32_t *
prof_contention_order(struct arena *arena,
                      const struct prof_contention_record *records,
                      size_t count)
{
    return prof_arena_order(arena, count, more_ticks, records);
}

/* Saturates. */
static int64_t
times(int64_t value, uint64_t period)
{
    int64_t product;

    if (!__builtin_mul_overflow(value, (int64_t)period, &product))
        return product;
    return value < 0 ? INT64_MIN : INT64_MAX;
}

/*
 * Ticks in nanoseconds, rounded towards zero; saturates beyond int64. It uses
 * integers, so it is exact above 2^53 ticks, where Go's floating point is not.
 */
static int64_t
ns_of(int64_t signed_ticks, uint64_t ticks_per_second)
{
    const uint64_t ns_per_second = 1000000000;
    const bool negative = signed_ticks < 0;
    const uint64_t ticks =
        negative ? 0 - (uint64_t)signed_ticks : (uint64_t)signed_ticks;
    uint64_t rest = ticks % ticks_per_second;
    const uint64_t seconds = ticks / ticks_per_second;
    int64_t ns;

    /* Clocks above 18 GHz: keep rest * ns_per_second below 2^64. */
    while (ticks_per_second > UINT64_MAX / ns_per_second) {
        ticks_per_second >>= 1;
        rest >>= 1;
    }
    rest = rest * ns_per_second / ticks_per_second;
    if (__builtin_mul_overflow(seconds, ns_per_second, &ns) ||
        __builtin_add_overflow(ns, rest, &ns))
        return negative ? INT64_MIN : INT64_MAX;
    return negative ? -ns : ns;
}

enum prof_status
prof_pprof_contention(const struct prof_output *output,
                      const struct prof_contention_record *records,
                      size_t records_count, uint64_t ticks_per_second,
                      uint64_t period)
{
    struct arena arena = prof_arena_of(output);
    const uint32_t *order =
        prof_contention_order(&arena, records, records_count);
    struct builder builder;

    PROF_ASSERT(ticks_per_second > 0);
    PROF_ASSERT(period > 0 && period <= INT64_MAX);
    if (order == NULL || !prof_builder_init(&builder, output, &arena, 2))
        return PROF_ERR_MEMORY;
    prof_builder_value_type(&builder, PROFILE_PERIOD_TYPE, "contentions",
                            "count");
    prof_out_number(&builder.out, PROFILE_PERIOD, 1);
    prof_builder_value_type(&builder, PROFILE_SAMPLE_TYPE, "contentions",
                            "count");
    prof_builder_value_type(&builder, PROFILE_SAMPLE_TYPE, "delay",
                            "nanoseconds");
    for (size_t i = 0; i < records_count && builder.out.status == PROF_OK;
         i++) {
        const struct prof_contention_record *record = &records[order[i]];
        const struct sample sample = {
            .stack = record->stack,
            .depth = record->depth,
            .values = {times((int64_t)record->count, period),
                       ns_of(times((int64_t)record->cycles, period),
                             ticks_per_second)},
        };

        prof_builder_sample(&builder, &sample);
    }
    prof_out_number(&builder.out, PROFILE_TIME_NS, (uint64_t)output->time_ns);
    return prof_builder_finish(&builder);
}
