/*
 * counts.c -- profiles that count stacks.
 *
 * Records with equal keys become one sample. The key is the text that the text
 * form shows: `@ 0x10 0x20` and, below it, the labels. Samples are ordered by
 * count, largest first; those with the same count by key, byte by byte (so 0x10
 * comes before 0x9). A sort by key brings equal records together; then a stable
 * sort orders the groups by count.
 */
#include "prof/core/assertion.h"
#include "prof/pprof/frame_lines.h"
#include "prof/pprof/labels.h"
#include "prof/core/poison.h"
#include "prof/text.h"

struct group {
    uint32_t record; /* the first of the group */
    uint32_t count;
};

struct groups {
    const struct prof_count_record *records;
    struct group *all;
    uint32_t *order;
    size_t count;
};

/* ---- grouping ---- */

/*
 * Compare two addresses as text. In the line, a blank or the end of the line
 * follows an address, and both sort before digits. So an address whose digits
 * are a prefix of the other's comes first.
 */
static int
compare_hex(uint64_t a, uint64_t b)
{
    const int a_digits = (67 - __builtin_clzll(a | 1)) / 4;
    const int b_digits = (67 - __builtin_clzll(b | 1)) / 4;
    const uint64_t x = a_digits > b_digits ? a >> 4 * (a_digits - b_digits) : a;
    const uint64_t y = b_digits > a_digits ? b >> 4 * (b_digits - a_digits) : b;

    if (x != y)
        return x < y ? -1 : 1;
    return a_digits - b_digits;
}

static int
compare_keys(const struct prof_count_record *a,
             const struct prof_count_record *b)
{
    const uint32_t depth = a->depth < b->depth ? a->depth : b->depth;

    for (uint32_t i = 0; i < depth; i++) {
        if (a->stack[i] != b->stack[i])
            return compare_hex(a->stack[i], b->stack[i]);
    }
    if (a->depth != b->depth)
        return a->depth < b->depth ? -1 : 1;
    return prof_labels_compare(a->labels, a->labels_count, b->labels,
                               b->labels_count);
}

static bool
key_before(const void *context, uint32_t a, uint32_t b)
{
    const struct prof_count_record *records = context;

    return compare_keys(&records[a], &records[b]) < 0;
}

static bool
count_before(const void *context, uint32_t a, uint32_t b)
{
    const struct group *groups = context;

    return groups[a].count > groups[b].count;
}

static enum prof_status
group(struct groups *groups, struct arena *arena,
      const struct prof_count_record *records, size_t count)
{
    const uint32_t *order;

    for (size_t i = 0; i < count; i++) {
        if (records[i].labels_count > PROF_LABELS_MAX)
            return PROF_ERR_CONFIG;
    }
    groups->records = records;
    groups->count = 0;
    groups->all = prof_arena_take(arena, count * sizeof *groups->all);
    order = prof_arena_order(arena, count, key_before, records);
    if (groups->all == NULL || order == NULL)
        return PROF_ERR_MEMORY;
    for (size_t i = 0; i < count; i++) {
        if (i == 0 ||
            compare_keys(&records[order[i - 1]], &records[order[i]]) != 0)
            groups->all[groups->count++] = (struct group){.record = order[i]};
        groups->all[groups->count - 1].count++;
    }
    groups->order =
        prof_arena_order(arena, groups->count, count_before, groups->all);
    return groups->order != NULL ? PROF_OK : PROF_ERR_MEMORY;
}

static const struct group *
group_at(const struct groups *groups, size_t rank)
{
    return &groups->all[groups->order[rank]];
}

/* ---- profile.proto ---- */

static void
write_group(struct builder *builder, const struct groups *groups,
            const struct group *one)
{
    const struct prof_count_record *record = &groups->records[one->record];
    struct sample_label labels[PROF_LABELS_MAX];
    const struct sample sample = {
        .stack = record->stack,
        .depth = record->depth,
        .labels = labels,
        .labels_count = record->labels_count,
        .values = {(int64_t)one->count},
    };

    for (uint32_t i = 0; i < record->labels_count; i++)
        labels[i] = (struct sample_label){.key = record->labels[i].key,
                                          .text = record->labels[i].value};
    prof_builder_sample(builder, &sample);
}

enum prof_status
prof_pprof_counts(const struct prof_output *output, const char *name,
                  const struct prof_count_record *records, size_t records_count)
{
    struct arena arena = prof_arena_of(output);
    struct groups groups;
    struct builder builder;
    const enum prof_status status =
        group(&groups, &arena, records, records_count);

    if (status != PROF_OK)
        return status;
    if (!prof_builder_init(&builder, output, &arena, 1))
        return PROF_ERR_MEMORY;
    prof_builder_value_type(&builder, PROFILE_PERIOD_TYPE, name, "count");
    prof_out_number(&builder.out, PROFILE_PERIOD, 1);
    prof_builder_value_type(&builder, PROFILE_SAMPLE_TYPE, name, "count");
    for (size_t i = 0; i < groups.count && builder.out.status == PROF_OK; i++)
        write_group(&builder, &groups, group_at(&groups, i));
    prof_out_number(&builder.out, PROFILE_TIME_NS, (uint64_t)output->time_ns);
    return prof_builder_finish(&builder);
}

/* ---- text ---- */

/* Readers expect the name to be one word. */
static void
put_title(struct out *out, const char *name, size_t records_count)
{
    const size_t bytes = prof_text_bytes(name);

    for (size_t i = 0; i < bytes; i++)
        prof_out_bytes(out, (unsigned char)name[i] <= 0x20 ? "_" : &name[i], 1);
    prof_out_text(out, " profile: total ");
    prof_out_u64(out, records_count);
    prof_out_bytes(out, "\n", 1);
}

static void
put_group(struct text *text, const struct groups *groups,
          const struct group *one)
{
    const struct prof_count_record *record = &groups->records[one->record];
    /* Readers refuse a line without any address. */
    const bool lost = record->depth == 0;
    const uintptr_t *stack = lost ? &text->lost : record->stack;
    const uint32_t depth = lost ? 1 : record->depth;

    prof_out_u64(&text->out, one->count);
    prof_out_bytes(&text->out, " ", 1);
    prof_text_addresses(text, stack, depth);
    if (record->labels_count > 0) {
        prof_out_text(&text->out, "# labels: ");
        prof_labels_put(&text->out, record->labels, record->labels_count);
        prof_out_bytes(&text->out, "\n", 1);
    }
    prof_text_frames(text, stack, depth, FRAMES_PROGRAM);
}

enum prof_status
prof_text_counts(const struct prof_output *output, const char *name,
                 const struct prof_count_record *records, size_t records_count)
{
    struct arena arena = prof_arena_of(output);
    struct groups groups;
    struct text text;
    const enum prof_status status =
        group(&groups, &arena, records, records_count);

    if (status != PROF_OK)
        return status;
    if (!prof_text_begin(&text, output, &arena))
        return PROF_ERR_MEMORY;
    put_title(&text.out, name, records_count);
    for (size_t i = 0; i < groups.count && text.out.status == PROF_OK; i++)
        put_group(&text, &groups, group_at(&groups, i));
    return prof_out_finish(&text.out);
}
