/*
 * buckets.c -- see buckets.h.
 *
 * A bucket of the page is a row of the library's table, a bucket of the oracle,
 * or both: a row and an oracle's bucket with the same kind, size and frames are
 * the same bucket. Nothing called here publishes counts.
 */
#include "props/page/buckets.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "model/heap/heap.h"
#include "prof/core/instance.h"
#include "common/json.h"

#define NOT_THERE UINT32_MAX

enum { VALUES = 4 + 2 * COUNTER_SLOTS };

struct shown {
    uint32_t row;   /* of the library's table; 0: it has none */
    uint32_t model; /* the oracle's index; NOT_THERE */
    enum bucket_kind kind;
    uint64_t values[VALUES]; /* as last printed */
    bool printed;
};

struct cli_buckets {
    const struct sim_scenario *scenario;
    uint32_t count;
    uint32_t rows_seen;
    uint32_t models_seen;
    struct shown shown[CLI_BUCKETS_MAX];
    struct prof_contention_record waits[CLI_BUCKETS_MAX];
    uint64_t actual[CLI_BUCKETS_MAX][2]; /* by bucket: what is published */
};

struct cli_buckets *
cli_buckets_open(const struct sim_scenario *scenario)
{
    struct cli_buckets *buckets = calloc(1, sizeof *buckets);

    if (buckets != NULL)
        buckets->scenario = scenario;
    return buckets;
}

void
cli_buckets_close(struct cli_buckets *buckets)
{
    free(buckets);
}

/* The first stack that is as deep; or the first that may have been cut. */
const char *
cli_stack_name(const struct sim_scenario *scenario, const uintptr_t *frames,
               uint32_t depth)
{
    const char *cut = NULL;

    for (uint32_t i = 0; i < scenario->config.stacks_count; i++) {
        const struct truth_stack *stack = &scenario->stacks[i];

        if (stack->depth < depth ||
            (depth > 0 &&
             memcmp(stack->frames, frames, depth * sizeof *frames) != 0))
            continue;
        if (stack->depth == depth)
            return scenario->stack_names[i];
        if (cut == NULL)
            cut = scenario->stack_names[i];
    }
    return cut != NULL ? cut : "?";
}

/* ---- Pairing ---- */

static enum bucket_kind
kind_of_model(const struct model_bucket *bucket)
{
    static const enum bucket_kind kinds[] = {KIND_HEAP, KIND_BLOCK, KIND_MUTEX};

    return kinds[bucket->kind];
}

static struct shown *
add(struct cli_buckets *buckets, enum bucket_kind kind)
{
    struct shown *shown = &buckets->shown[buckets->count];

    if (buckets->count == CLI_BUCKETS_MAX)
        return NULL;
    buckets->count++;
    *shown = (struct shown){.model = NOT_THERE, .kind = kind};
    return shown;
}

static bool
is_same(const struct bucket *bucket, const struct model_bucket *model)
{
    return (bucket->entry->kind & KIND_MASK) == kind_of_model(model) &&
           bucket->entry->size_bytes == model->size_bytes &&
           bucket->entry->depth == model->depth &&
           (model->depth == 0 ||
            memcmp(bucket->frames, model->frames,
                   model->depth * sizeof *model->frames) == 0);
}

/* Add the rows that are new in the library's table. Each is linked, because
 * nothing else runs. */
static void
take_rows(struct cli_buckets *buckets, const struct table *table)
{
    const uint32_t rows = prof_table_rows(table);

    for (; buckets->rows_seen < rows; buckets->rows_seen++) {
        const uint32_t row = buckets->rows_seen + 1;
        const struct entry *entry = prof_table_bucket(table, row).entry;
        struct shown *shown =
            add(buckets, (enum bucket_kind)(entry->kind & KIND_MASK));

        if (shown != NULL)
            shown->row = row;
    }
}

/* Pair each new bucket of the oracle with the first equal row: no two of the
 * oracle's are equal. Row 0 is not linked. */
static void
take_models(struct cli_buckets *buckets, const struct table *table,
            const struct model_bucket *models, uint32_t count)
{
    for (; buckets->models_seen < count; buckets->models_seen++) {
        const struct model_bucket *model = &models[buckets->models_seen];
        struct shown *found = NULL;

        for (uint32_t i = 0; i < buckets->count && found == NULL; i++) {
            struct shown *shown = &buckets->shown[i];
            const struct bucket bucket = prof_table_bucket(table, shown->row);

            if (bucket.entry != NULL && is_same(&bucket, model))
                found = shown;
        }
        if (found == NULL)
            found = add(buckets, kind_of_model(model));
        if (found != NULL)
            found->model = buckets->models_seen;
    }
}

/* ---- What is published ---- */

struct visit {
    struct cli_buckets *buckets;
    const struct table *table;
    uint32_t next; /* records come newest first: where the next one may be */
};

/* A record's stack is the table's own: its address says which row it is. */
static void
note(struct visit *visit, const uintptr_t *stack, uint64_t first,
     uint64_t second)
{
    const uint32_t count = visit->buckets->count;

    for (uint32_t tried = 0; tried < count; tried++) {
        const uint32_t i = (visit->next + count - 1 - tried) % count;
        const uint32_t row = visit->buckets->shown[i].row;

        if (prof_table_bucket(visit->table, row).frames != stack)
            continue;
        visit->buckets->actual[i][0] = first;
        visit->buckets->actual[i][1] = second;
        visit->next = i;
        return;
    }
}

static void
visit_heap(void *context, const struct prof_heap_record *record)
{
    note(context, record->stack, record->allocs, record->frees);
}

static void
visit_waits(struct visit *visit, struct prof *prof,
            enum prof_contention contention)
{
    struct cli_buckets *buckets = visit->buckets;
    size_t count;

    if (prof_contention_snapshot(prof, contention, buckets->waits,
                                 CLI_BUCKETS_MAX, &count) != PROF_OK)
        return;
    for (size_t i = 0; i < count; i++)
        note(visit, buckets->waits[i].stack, buckets->waits[i].count,
             buckets->waits[i].cycles);
}

/* ---- Rows ---- */

/* Compute what is recorded in a slot and not yet published. Each word holds
 * allocations and frees, 32 bits each. */
static void
waiting_in(const struct prof *prof, uint32_t slot, uint32_t row,
           uint64_t *values)
{
    const bool moved = prof->rules.heap == PROF_HEAP_STAGES && slot == RECENT;
    const uint64_t taken = prof->counters.published[moved ? MOVED : slot][row];
    uint32_t allocs = 0;
    uint32_t frees = 0;

    for (uint32_t p = 0; p < prof->procs_count; p++) {
        const uint64_t sum =
            load_relaxed(&prof->procs[p].columns.slots[slot][row]);

        allocs += (uint32_t)sum;
        frees += (uint32_t)(sum >> 32);
    }
    values[0] = allocs - (uint32_t)taken;
    values[1] = frees - (uint32_t)(taken >> 32);
}

/* Fill in the slots of a row; under stages: previous, with what was moved to
 * it, then recent. Row 0 and those of waits have nothing in any slot. */
static void
take_slots(const struct prof *prof, uint32_t row, uint64_t *values)
{
    if (prof->rules.heap == PROF_HEAP_RING) {
        for (uint32_t slot = 0; slot < COUNTER_SLOTS; slot++)
            waiting_in(prof, slot, row, &values[2 * slot]);
    } else {
        const uint64_t moved = prof->counters.published[MOVED][row];
        const uint64_t taken = prof->counters.published[RECENT][row];

        waiting_in(prof, PREVIOUS, row, &values[0]);
        values[0] += (uint32_t)moved - (uint32_t)taken;
        values[1] += (moved >> 32) - (taken >> 32);
        waiting_in(prof, RECENT, row, &values[2]);
    }
}

static void
values_of(const struct cli_buckets *buckets, uint32_t index,
          const struct prof *prof, const struct model_bucket *models,
          uint64_t *values)
{
    const struct shown *shown = &buckets->shown[index];

    memset(values, 0, VALUES * sizeof *values);
    values[0] = buckets->actual[index][0];
    values[1] = buckets->actual[index][1];
    if (shown->model != NOT_THERE) {
        const struct model_bucket *model = &models[shown->model];

        values[2] = model->allocs;
        values[3] = shown->kind == KIND_HEAP ? model->frees : model->cycles;
    }
    take_slots(prof, shown->row, &values[4]);
}

static void
print_bucket(FILE *file, const struct cli_buckets *buckets, uint32_t index,
             const struct table *table, const struct model_bucket *models)
{
    static const char *const kinds[] = {"", "heap", "block", "mutex"};
    const struct shown *shown = &buckets->shown[index];
    const uintptr_t *frames;
    uint64_t size_bytes;
    uint32_t depth;

    if (shown->row != 0) {
        const struct bucket bucket = prof_table_bucket(table, shown->row);

        frames = bucket.frames;
        depth = bucket.entry->depth;
        size_bytes = bucket.entry->size_bytes;
    } else {
        frames = models[shown->model].frames;
        depth = models[shown->model].depth;
        size_bytes = models[shown->model].size_bytes;
    }
    fprintf(file, "{\"kind\":\"%s\",\"stack\":", kinds[shown->kind]);
    sim_json_string(file, cli_stack_name(buckets->scenario, frames, depth));
    fprintf(file, ",\"depth\":%" PRIu32 ",\"size\":%" PRIu64 "}", depth,
            size_bytes);
}

static void
print_rows(FILE *file, struct cli_buckets *buckets, const struct prof *prof,
           const struct model_bucket *models)
{
    const char *comma = "";

    fputs(",\"rows\":[", file);
    for (uint32_t i = 0; i < buckets->count; i++) {
        struct shown *shown = &buckets->shown[i];
        uint64_t values[VALUES];

        values_of(buckets, i, prof, models, values);
        if (shown->printed && memcmp(values, shown->values, sizeof values) == 0)
            continue;
        shown->printed = true;
        memcpy(shown->values, values, sizeof values);
        fprintf(file, "%s[%" PRIu32, comma, i);
        for (uint32_t v = 0; v < VALUES; v++)
            fprintf(file, ",%" PRIu64, values[v]);
        fputc(']', file);
        comma = ",";
    }
    fputc(']', file);
}

void
cli_buckets_changes(FILE *file, struct cli_buckets *buckets,
                    const struct props_judge *judge)
{
    struct prof *prof = sim_world_prof(judge->world);
    struct visit visit = {.buckets = buckets, .table = &prof->table};
    const uint32_t before = buckets->count;
    uint32_t count;
    const struct model_bucket *models =
        model_heap_buckets(judge->model, &count);

    take_rows(buckets, &prof->table);
    take_models(buckets, &prof->table, models, count);
    memset(buckets->actual, 0, buckets->count * sizeof *buckets->actual);
    prof_heap_iterate(prof, visit_heap, &visit);
    visit_waits(&visit, prof, PROF_BLOCK);
    visit_waits(&visit, prof, PROF_MUTEX);
    if (before < buckets->count) {
        fputs(",\"buckets\":[", file);
        for (uint32_t i = before; i < buckets->count; i++) {
            fputs(i > before ? "," : "", file);
            print_bucket(file, buckets, i, &prof->table, models);
        }
        fputc(']', file);
    }
    print_rows(file, buckets, prof, models);
}

/* ---- A snapshot ---- */

void
cli_buckets_snapshot(FILE *file, struct cli_buckets *buckets,
                     const struct props_judge *judge)
{
    const struct sim_answer *answer = sim_world_answer(judge->world);
    const struct table *table = &sim_world_prof(judge->world)->table;
    struct visit visit = {.buckets = buckets, .table = table};
    const char *comma = "";
    uint32_t count;
    uint32_t k;
    bool known;
    const struct model_bucket *models;

    if (answer->kind != SIM_EV_SNAPSHOT && answer->kind != SIM_EV_SNAPSHOT_ALL)
        return;
    known = model_heap_at(judge->model, &k);
    models = model_heap_buckets(judge->model, &count);
    memset(buckets->actual, 0xff, buckets->count * sizeof *buckets->actual);
    for (size_t i = 0; answer->status == PROF_OK && i < answer->count; i++)
        visit_heap(&visit, &answer->heap[i]);
    fprintf(file, ",\"snapshot\":{\"all\":%s,\"status\":",
            answer->kind == SIM_EV_SNAPSHOT_ALL ? "true" : "false");
    sim_json_string(file, prof_status_text(answer->status));
    if (known)
        fprintf(file, ",\"termination\":%" PRIu32, k);
    fputs(",\"rows\":[", file);
    for (uint32_t i = 0; i < buckets->count; i++) {
        const struct shown *shown = &buckets->shown[i];

        if (shown->kind != KIND_HEAP)
            continue;
        fprintf(file, "%s[%" PRIu32, comma, i);
        if (buckets->actual[i][0] == UINT64_MAX)
            fputs(",null,null", file);
        else
            fprintf(file, ",%" PRIu64 ",%" PRIu64, buckets->actual[i][0],
                    buckets->actual[i][1]);
        if (known && shown->model != NOT_THERE)
            fprintf(file, ",%" PRIu64 ",%" PRIu64 "]",
                    models[shown->model].allocs_then,
                    models[shown->model].frees_then);
        else
            fputs(",null,null]", file);
        comma = ",";
    }
    fputs("]}", file);
}
