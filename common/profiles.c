/* profiles.c -- the profile files of `profsim run` and `show --out DIR`. */
#include "common/profiles.h"

#include "common/command/complaint.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/escape.h"
#include "prof/file.h"
#include "prof/text.h"
#include "common/command/saved_file.h"

/* What one file holds. */
enum content { HEAP, ALLOCS, PEAK, EXIT, BLOCK, MUTEX, CONTENT_COUNT };

static const char *const content_names[CONTENT_COUNT] = {
    "heap", "allocs", "peak", "exit", "block", "mutex"};

/* Memory for the largest of the files. */
struct room {
    uintptr_t *pcs; /* all addresses, each once */
    size_t pcs_count;
    void *scratch;
    size_t scratch_bytes;
};

/* ---- measuring ---- */

static int
compare_pcs(const void *a, const void *b)
{
    const uintptr_t x = *(const uintptr_t *)a;
    const uintptr_t y = *(const uintptr_t *)b;

    return x < y ? -1 : x > y;
}

/* Sort and keep each once. returns: how many are left */
static size_t
keep_distinct(uintptr_t *pcs, size_t count)
{
    size_t kept = 0;

    qsort(pcs, count, sizeof *pcs, compare_pcs);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || pcs[i] != pcs[kept - 1])
            pcs[kept++] = pcs[i];
    }
    return kept;
}

struct census {
    size_t records;
    size_t frames;
    uintptr_t *pcs; /* NULL: only count */
};

static void
take_stack(struct census *census, const uintptr_t *stack, uint32_t depth)
{
    if (census->pcs != NULL && depth > 0)
        memcpy(&census->pcs[census->frames], stack, depth * sizeof *stack);
    census->frames += depth;
    census->records++;
}

static void
take_all(struct census *census, const struct cli_profiles *profiles)
{
    const struct prof_heap_record *heap = profiles->heaps[CLI_PROFILES_RUN];

    for (size_t i = 0; i < profiles->heap_count; i++)
        take_stack(census, heap[i].stack, heap[i].depth);
    for (int kind = 0; kind < 2; kind++) {
        const struct prof_contention_record *records =
            profiles->contention[kind];

        for (size_t i = 0; i < profiles->contention_count[kind]; i++)
            take_stack(census, records[i].stack, records[i].depth);
    }
}

/* ---- memory ---- */

static void
room_release(struct room *room)
{
    free(room->pcs);
    free(room->scratch);
}

static void
room_take(struct room *room, const struct cli_profiles *profiles)
{
    struct census census = {0};

    memset(room, 0, sizeof *room);
    take_all(&census, profiles);
    room->pcs = cli_need(calloc(census.frames + 1, sizeof *room->pcs));
    census = (struct census){.pcs = room->pcs};
    take_all(&census, profiles);
    room->pcs_count = keep_distinct(room->pcs, census.frames);
    room->scratch_bytes =
        (prof_pprof_scratch_bytes(census.records, room->pcs_count + 1) + 63) /
        PROF_BLOCK_ALIGN * PROF_BLOCK_ALIGN;
    room->scratch =
        cli_need(aligned_alloc(PROF_BLOCK_ALIGN, room->scratch_bytes));
}

/* ---- files ---- */

struct file {
    const struct cli_profiles *profiles;
    const struct room *room;
    enum content content;
};

static struct prof_output
output_to(const struct prof_sink *sink, const struct file *file)
{
    const struct cli_profiles *const profiles = file->profiles;

    return (struct prof_output){
        .sink = *sink,
        .symbols = profiles->symbols,
        .mappings = profiles->mappings,
        .mappings_count = profiles->mappings_count,
        .lost = CLI_PROFILES_LOST,
        .rules = profiles->rules,
        .scratch = file->room->scratch,
        .scratch_bytes = file->room->scratch_bytes,
    };
}

/* returns: the factor by which a reader multiplies the records of a contention
 * profile */
static uint64_t
period_of(const struct cli_profiles *profiles, enum prof_contention kind)
{
    return kind == PROF_MUTEX ? profiles->mutex_period : 1;
}

static enum cli_profiles_heap
heap_kind(enum content content)
{
    if (content == PEAK)
        return CLI_PROFILES_PEAK;
    return content == EXIT ? CLI_PROFILES_EXIT : CLI_PROFILES_RUN;
}

/* returns: NULL if there is none of that content */
static const struct prof_heap_record *
heap_of(const struct cli_profiles *profiles, enum content content)
{
    return content < BLOCK ? profiles->heaps[heap_kind(content)] : NULL;
}

static enum prof_status
write_proto(const void *context, const struct prof_sink *to)
{
    const struct file *const file = context;
    const struct cli_profiles *const profiles = file->profiles;
    const struct prof_output output = output_to(to, file);
    const enum prof_contention kind =
        file->content == MUTEX ? PROF_MUTEX : PROF_BLOCK;

    if (file->content < BLOCK)
        return prof_pprof_heap(&output, heap_of(profiles, file->content),
                               profiles->heap_count, profiles->rate_bytes,
                               file->content == ALLOCS ? PROF_VIEW_ALLOCS
                                                       : PROF_VIEW_INUSE);
    return prof_pprof_contention(
        &output, profiles->contention[kind], profiles->contention_count[kind],
        profiles->ticks_per_second, period_of(profiles, kind));
}

/* A sink in front of a file's, for the first line of a heap text. */
struct retitled {
    struct prof_sink to;
    bool done;
};

/*
 * Replace `heap/2` in the first line by `heapprofile`, which says that
 * everything was recorded: for `heap/2`, google-pprof would divide by an
 * object's size, which may be 0. The writer passes the first line in one call.
 */
static enum prof_status
write_retitled(void *context, const void *bytes, size_t bytes_count)
{
    struct retitled *retitled = context;
    const struct prof_sink *to = &retitled->to;
    const char *const text = bytes;
    const char *const line_end = memchr(text, '\n', bytes_count);
    const char *const at = memchr(text, '@', bytes_count);
    const bool replaces = !retitled->done && line_end != NULL && at != NULL &&
                          line_end - at == 8 && memcmp(at, "@ heap/2", 8) == 0;
    enum prof_status status;

    retitled->done = true;
    if (!replaces)
        return to->write(to->context, bytes, bytes_count);
    status = to->write(to->context, text, (size_t)(at - text));
    if (status == PROF_OK)
        status = to->write(to->context, "@ heapprofile", 13);
    return status != PROF_OK
               ? status
               : to->write(to->context, line_end,
                           bytes_count - (size_t)(line_end - text));
}

static enum prof_status
write_heap_text(const struct file *file, const struct prof_sink *to)
{
    const struct cli_profiles *const profiles = file->profiles;
    struct retitled retitled = {.to = *to};
    const struct prof_sink sink = {.write = write_retitled,
                                   .context = &retitled};
    const struct prof_output output = output_to(&sink, file);

    if (profiles->heap_text != NULL)
        return profiles->heap_text(profiles->heap_text_context, to,
                                   heap_kind(file->content));
    return prof_text_heap(&output, heap_of(profiles, file->content),
                          profiles->heap_count, profiles->rate_bytes, NULL);
}

static enum prof_status
write_text(const void *context, const struct prof_sink *to)
{
    const struct file *const file = context;
    const struct cli_profiles *const profiles = file->profiles;
    const struct prof_output output = output_to(to, file);
    const enum prof_contention kind =
        file->content == MUTEX ? PROF_MUTEX : PROF_BLOCK;

    if (file->content < BLOCK)
        return write_heap_text(file, to);
    return prof_text_contention(&output, kind, profiles->contention[kind],
                                profiles->contention_count[kind],
                                profiles->ticks_per_second,
                                period_of(profiles, kind));
}

/* Print a table: addresses, as they appear in stacks, and their names, escaped
 * so that they do not end their line. */
static void
print_symbols(FILE *to, const struct file *file)
{
    const struct cli_profiles *const profiles = file->profiles;

    fputs("--- symbol\nbinary=", to);
    sim_escape_text(to, profiles->mappings_count > 0
                            ? profiles->mappings[0].file
                            : "unknown");
    fputc('\n', to);
    for (size_t i = 0; i < file->room->pcs_count; i++) {
        struct prof_symbol symbol = {.line = 0};
        const uintptr_t pc = file->room->pcs[i];

        profiles->symbols.find(profiles->symbols.context, pc, &symbol);
        if (symbol.function == NULL || symbol.function[0] == '\0')
            continue;
        fprintf(to, "0x%016" PRIxPTR " ", pc);
        sim_escape_text(to, symbol.function);
        fputc('\n', to);
    }
    fputs("---\n", to);
}

/* Write the text after a table of names, the only place where google-pprof
 * looks for names. */
static enum prof_status
write_symbolized(const void *context, const struct prof_sink *to)
{
    enum prof_status status = PROF_ERR_MEMORY;
    char *text = NULL;
    size_t bytes = 0;
    FILE *memory = open_memstream(&text, &bytes);

    if (memory == NULL)
        return status;
    print_symbols(memory, context);
    if (fclose(memory) == 0)
        status = to->write(to->context, text, bytes);
    free(text);
    return status == PROF_OK ? write_heap_text(context, to) : status;
}

static bool
write_files(const struct file *file)
{
    const char *const folder = file->profiles->folder;
    const char *const input = file->profiles->input;
    char name[32];

    snprintf(name, sizeof name, "%s.pb.gz", content_names[file->content]);
    if (!cli_save(folder, name, input, write_proto, file))
        return false;
    snprintf(name, sizeof name, "%s.txt", content_names[file->content]);
    return cli_save(folder, name, input, write_text, file);
}

bool
cli_profiles_write(const struct cli_profiles *profiles)
{
    struct room room;
    struct file file = {.profiles = profiles, .room = &room};
    bool good = cli_save_folder(profiles->folder);

    if (!good)
        return false;
    room_take(&room, profiles);
    for (int i = 0; i < CONTENT_COUNT && good; i++) {
        file.content = (enum content)i;
        if (i < BLOCK && heap_of(profiles, file.content) == NULL)
            continue; /* a scenario has no peak */
        good = write_files(&file);
    }
    file.content = HEAP;
    good = good && cli_save(profiles->folder, "heap.symbolized",
                            profiles->input, write_symbolized, &file);
    room_release(&room);
    return good;
}

bool
cli_folder_prepare(char *folder, size_t room, const char *command,
                   const char *out, bool each, const char *path)
{
    const char *name = strrchr(path, '/');
    struct prof_file file;
    int length;

    name = name != NULL ? name + 1 : path;
    folder[0] = '\0';
    if (out == NULL)
        return true;
    length = each ? snprintf(folder, room, "%s/%s", out, name)
                  : snprintf(folder, room, "%s", out);
    if ((size_t)length >= room) {
        cli_usage("%s: --out: %.40s...: name too long", command, out);
        return false;
    }
    if (each && prof_file_folder(&file, out) != PROF_OK) {
        cli_usage("%s: %s: %s", command, out, prof_file_reason(&file));
        return false;
    }
    return true;
}
