/*
 * profiles_recording.c -- the profile files of a recording: its heap, its
 * waits, its names, and the files that its code came from.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/command/complaint.h"
#include "common/escape.h"
#include "record/symbols/map.h"
#include "common/profiles.h"
#include "record/report/profiles_recording.h"
#include "common/recording/releases.h"

/* Everything that is handed to the writers. */
struct gathered {
    const struct sim_recording *recording;
    const struct cli_calls *calls;
    const struct sim_live_heap *heap;
    uintptr_t *frames;  /* of all stacks */
    uintptr_t **stacks; /* by stack; NULL: it has none */
    uint32_t *depths;
    struct prof_heap_record *heaps[CLI_PROFILES_HEAPS];
    struct prof_contention_record *contention[2]; /* by stack, then packed */
    struct prof_mapping *mappings;
    uint32_t mappings_count;
};

/* ---- names ---- */

static void
find_recorded(void *context, uintptr_t pc, struct prof_symbol *symbol)
{
    const struct gathered *gathered = context;
    const struct cli_call *call = cli_calls_find(gathered->calls, pc);

    if (pc == CLI_PROFILES_LOST) {
        symbol->function = "(no stack)";
        symbol->entry = CLI_PROFILES_LOST;
        return;
    }
    if (call == NULL)
        return;
    symbol->function = call->function;
    symbol->file = call->file;
    symbol->line = call->line;
    symbol->entry = call->function_offset != 0 ? pc - call->function_offset : 0;
    symbol->kind = call->is_telling ? PROF_FRAME_PROGRAM : PROF_FRAME_RUNTIME;
}

/* Stretch the mapping of this call's module over it. */
static void
cover_call(struct gathered *gathered, struct cli_map *by_file,
           const struct cli_call *call)
{
    const uint64_t key = (uint64_t)(uintptr_t)call->module;
    const uint64_t known = cli_map_get(by_file, key);
    struct prof_mapping *mapping;

    if (known == CLI_MAP_NONE) {
        gathered->mappings[gathered->mappings_count] =
            (struct prof_mapping){.start = call->address - 1,
                                  .limit = call->address + 1,
                                  .file = call->module};
        cli_map_put(by_file, key, gathered->mappings_count++);
        return;
    }
    mapping = &gathered->mappings[known];
    if (call->address - 1 < mapping->start)
        mapping->start = call->address - 1;
    if (call->address + 1 > mapping->limit)
        mapping->limit = call->address + 1;
}

/* returns: how many signs there are that this frame's module is the program
 * itself */
static int
program_signs(const struct sim_recording *recording,
              const struct sim_recorded_frame *frame)
{
    const char *const name = cli_base_name(frame->module);

    if (sim_recording_totals(recording)->arguments > 0 &&
        strcmp(name, cli_base_name(sim_recording_argument(recording, 0))) == 0)
        return 3;
    if (strcmp(frame->function, "main") == 0)
        return 2;
    return strstr(name, ".so") == NULL;
}

/* Move the program's mapping to the front, because readers take the first for
 * the program. The others keep their order. */
static void
program_first(struct prof_mapping *mappings, uint32_t count,
              const struct sim_recording *recording)
{
    const struct sim_recording_totals *totals = sim_recording_totals(recording);
    struct sim_recorded_frame program = {.module = ""};
    struct prof_mapping first;
    uint32_t at = 0;
    int most = 0;

    for (uint32_t i = 0; i < totals->frames; i++) {
        const struct sim_recorded_frame frame =
            sim_recording_frame(recording, i);
        const int signs =
            frame.module[0] == '\0' ? 0 : program_signs(recording, &frame);

        if (signs > most) {
            most = signs;
            program = frame;
        }
    }
    if (most == 0)
        return;
    while (at + 1 < count && strcmp(mappings[at].file, program.module) != 0)
        at++;
    first = mappings[at];
    memmove(&mappings[1], &mappings[0], at * sizeof *mappings);
    mappings[0] = first;
}

static void
gather_mappings(struct gathered *gathered)
{
    const struct sim_recording *recording = gathered->recording;
    const uint32_t frames = sim_recording_totals(recording)->frames;
    struct cli_map by_file = {0};

    gathered->mappings =
        cli_need(calloc((size_t)frames + 1, sizeof *gathered->mappings));
    for (uint32_t i = 0; i < frames; i++) {
        const struct cli_call *call = cli_calls_at(gathered->calls, i);

        if (call->module[0] != '\0')
            cover_call(gathered, &by_file, call);
    }
    cli_map_release(&by_file);
    program_first(gathered->mappings, gathered->mappings_count, recording);
}

/* ---- stacks ---- */

/* Do the stacks have too many frames? A small file can describe many very deep
 * stacks. */
static bool
is_too_deep(const struct gathered *gathered, uint64_t frames)
{
    const uint64_t file_bytes =
        sim_recording_totals(gathered->recording)->file_bytes;

    return frames > 8 * file_bytes + (UINT64_C(8) << 20);
}

static bool
gather_stacks(struct gathered *gathered)
{
    const struct sim_recording_totals *totals =
        sim_recording_totals(gathered->recording);
    const struct cli_call *calls[CLI_CALLS_MAX];
    uint64_t frames = 0;

    gathered->stacks =
        cli_need(calloc((size_t)totals->stacks + 1, sizeof *gathered->stacks));
    gathered->depths =
        cli_need(calloc((size_t)totals->stacks + 1, sizeof *gathered->depths));
    for (uint32_t i = 0; i < totals->stacks; i++) {
        gathered->depths[i] = cli_calls_of(gathered->calls, i, calls);
        frames += gathered->depths[i];
        if (is_too_deep(gathered, frames))
            return false;
    }
    gathered->frames = cli_need(calloc(frames + 1, sizeof *gathered->frames));
    frames = 0;
    for (uint32_t i = 0; i < totals->stacks; i++) {
        gathered->stacks[i] = &gathered->frames[frames];
        cli_calls_of(gathered->calls, i, calls);
        for (uint32_t k = 0; k < gathered->depths[i]; k++)
            gathered->frames[frames++] = calls[k]->address;
    }
    return true;
}

/* ---- heaps ---- */

static void
gather_heaps(struct gathered *gathered)
{
    const struct sim_live_heap *heap = gathered->heap;

    for (int i = 0; i < CLI_PROFILES_HEAPS; i++)
        gathered->heaps[i] = cli_need(calloc((size_t)heap->buckets_count + 1,
                                             sizeof *gathered->heaps[i]));
    for (uint32_t i = 0; i < heap->buckets_count; i++) {
        const struct sim_heap_bucket *bucket = &heap->buckets[i];
        struct prof_heap_record record = {
            .size_bytes = bucket->size_bytes,
            .rate_bytes = 1,
            .stack = gathered->stacks[bucket->stack],
            .depth = gathered->depths[bucket->stack],
        };

        record.allocs = bucket->allocs;
        record.frees = bucket->frees;
        gathered->heaps[CLI_PROFILES_EXIT][i] = record;
        record.frees =
            bucket->allocs - (bucket->peak_allocs - bucket->peak_frees);
        gathered->heaps[CLI_PROFILES_RUN][i] = record;
        record.allocs = bucket->peak_allocs;
        record.frees = bucket->peak_frees;
        gathered->heaps[CLI_PROFILES_PEAK][i] = record;
    }
}

/* ---- text ---- */

/* Compute what a row shows as in use and as allocated, which depends on the
 * kind of heap. */
static void
row_of(const struct sim_heap_sums *sums, enum cli_profiles_heap heap,
       struct sim_heap_count *inuse, struct sim_heap_count *allocs)
{
    *inuse = heap == CLI_PROFILES_EXIT ? sums->exit : sums->peak;
    *allocs = heap == CLI_PROFILES_PEAK ? sums->peak_allocs : sums->allocs;
}

static void
put_row(FILE *memory, struct sim_heap_count inuse, struct sim_heap_count allocs)
{
    fprintf(memory, "%" PRIu64 ": %" PRIu64 " [%" PRIu64 ": %" PRIu64 "] @",
            inuse.objects, inuse.bytes, allocs.objects, allocs.bytes);
}

/* Write the first line. If both totals are equal, readers assume that the
 * second is missing. */
static void
put_head(FILE *memory, const struct sim_heap_sums *total,
         enum cli_profiles_heap heap)
{
    struct sim_heap_count inuse;
    struct sim_heap_count allocs;

    row_of(total, heap, &inuse, &allocs);
    allocs.bytes += allocs.bytes == inuse.bytes;
    fputs("heap profile: ", memory);
    put_row(memory, inuse, allocs);
    fputs(" heapprofile\n", memory);
}

static void
put_rows(FILE *memory, const struct gathered *gathered,
         enum cli_profiles_heap heap, uint32_t first, uint32_t limit)
{
    for (uint32_t i = first; i < limit; i++) {
        const struct sim_heap_sums *sums = &gathered->heap->sites[i];
        struct sim_heap_count inuse;
        struct sim_heap_count allocs;

        row_of(sums, heap, &inuse, &allocs);
        if (allocs.objects == 0)
            continue;
        put_row(memory, inuse, allocs);
        if (gathered->depths[i] == 0)
            fprintf(memory, " 0x%x", CLI_PROFILES_LOST);
        for (uint32_t k = 0; k < gathered->depths[i]; k++)
            fprintf(memory, " 0x%" PRIxPTR, gathered->stacks[i][k]);
        fputc('\n', memory);
    }
}

/*
 * Write the heap as google-pprof reads it, one row per stack. The word
 * `heapprofile` says that everything was recorded: for Go's `heap/1`,
 * google-pprof would divide by the size of objects, which may be 0.
 */
static enum prof_status
write_heap_text(const void *context, const struct prof_sink *to,
                enum cli_profiles_heap heap)
{
    enum { AT_ONCE = 1024 };
    const struct gathered *gathered = context;
    const uint32_t stacks = sim_recording_totals(gathered->recording)->stacks;
    enum prof_status status = PROF_OK;

    for (uint32_t first = 0; status == PROF_OK; first += AT_ONCE) {
        char *text = NULL;
        size_t bytes = 0;
        FILE *memory = open_memstream(&text, &bytes);

        if (memory == NULL)
            return PROF_ERR_MEMORY;
        if (first == 0)
            put_head(memory, &gathered->heap->total, heap);
        put_rows(memory, gathered, heap, first,
                 stacks - first < AT_ONCE ? stacks : first + AT_ONCE);
        if (fclose(memory) != 0)
            status = PROF_ERR_MEMORY;
        else if (bytes > 0)
            status = to->write(to->context, text, bytes);
        free(text);
        if (stacks - first <= AT_ONCE)
            break;
    }
    return status;
}

/* ---- waits ---- */

static void
add_wait(struct gathered *gathered, enum prof_contention kind, uint32_t stack,
         uint64_t ticks)
{
    gathered->contention[kind][stack].count++;
    gathered->contention[kind][stack].cycles += ticks;
}

/* Add up waits and releases by stack. */
static void
walk_waits(struct gathered *gathered)
{
    struct sim_recording_cursor cursor;
    struct sim_recorded event;
    struct sim_releases releases;
    uint64_t released = 0;
    int64_t ticks;

    if (!sim_releases_open(&releases, gathered->recording))
        cli_need(NULL);
    sim_recording_begin(gathered->recording, &cursor);
    while (sim_recording_next(&cursor, &event)) {
        if (event.kind == SIM_RECORDED_WAIT)
            add_wait(gathered, PROF_BLOCK, event.stack,
                     event.wait_ticks > 0 ? event.wait_ticks : 1);
        else if (event.kind == SIM_RECORDED_RELEASE &&
                 sim_releases_find(&releases, released++, &ticks))
            add_wait(gathered, PROF_MUTEX, event.stack, (uint64_t)ticks);
    }
    sim_releases_close(&releases);
}

static void
gather_waits(struct gathered *gathered, size_t *counts)
{
    const uint32_t stacks = sim_recording_totals(gathered->recording)->stacks;

    for (int kind = 0; kind < 2; kind++)
        gathered->contention[kind] = cli_need(
            calloc((size_t)stacks + 1, sizeof *gathered->contention[kind]));
    walk_waits(gathered);
    for (int kind = 0; kind < 2; kind++) {
        struct prof_contention_record *records = gathered->contention[kind];

        counts[kind] = 0;
        for (uint32_t i = 0; i < stacks; i++) {
            if (records[i].count == 0)
                continue;
            records[i].stack = gathered->stacks[i];
            records[i].depth = gathered->depths[i];
            records[counts[kind]++] = records[i];
        }
    }
}

/* ---- files ---- */

static void
release(struct gathered *gathered)
{
    for (int i = 0; i < CLI_PROFILES_HEAPS; i++)
        free(gathered->heaps[i]);
    free(gathered->contention[PROF_BLOCK]);
    free(gathered->contention[PROF_MUTEX]);
    free(gathered->mappings);
    free(gathered->stacks);
    free(gathered->depths);
    free(gathered->frames);
}

bool
cli_profiles_write_recording(const char *folder, const char *path,
                             const struct sim_recording *recording,
                             const struct cli_calls *calls,
                             const struct sim_live_heap *heap)
{
    struct gathered gathered = {
        .recording = recording, .calls = calls, .heap = heap};
    struct cli_profiles profiles = {
        .folder = folder,
        .input = path,
        .symbols = {.find = find_recorded, .context = &gathered},
        .rate_bytes = 1,
        .ticks_per_second = sim_recording_totals(recording)->ticks_per_second,
        .mutex_period = 1,
        .heap_text = write_heap_text,
        .heap_text_context = &gathered,
    };
    bool good = gather_stacks(&gathered);

    if (good) {
        gather_mappings(&gathered);
        gather_heaps(&gathered);
        gather_waits(&gathered, profiles.contention_count);
        profiles.mappings = gathered.mappings;
        profiles.mappings_count = gathered.mappings_count;
        for (int i = 0; i < CLI_PROFILES_HEAPS; i++)
            profiles.heaps[i] = gathered.heaps[i];
        profiles.heap_count = heap->buckets_count;
        for (int i = 0; i < 2; i++)
            profiles.contention[i] = gathered.contention[i];
        good = cli_profiles_write(&profiles);
    } else {
        sim_escape_line(
            stderr, "profsim: %s: not enough memory for the profiles", folder);
    }
    release(&gathered);
    return good;
}
