/* profiles.c -- the profile files of `profsim run` and `show --out DIR`. */
#include "profiles.h"

#include "complaint.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "escape.h"
#include "output.h"
#include "prof/file.h"
#include "prof/gzip.h"
#include "prof/text.h"

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
    unsigned char *packing;
    size_t packing_bytes;
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
    free(room->packing);
}

static bool
room_take(struct room *room, const struct cli_profiles *profiles)
{
    struct census census = {0};

    memset(room, 0, sizeof *room);
    take_all(&census, profiles);
    room->pcs = calloc(census.frames + 1, sizeof *room->pcs);
    if (room->pcs == NULL)
        return false;
    census = (struct census){.pcs = room->pcs};
    take_all(&census, profiles);
    room->pcs_count = keep_distinct(room->pcs, census.frames);
    room->scratch_bytes =
        (prof_pprof_scratch_bytes(census.records, room->pcs_count + 1) + 63) /
        PROF_BLOCK_ALIGN * PROF_BLOCK_ALIGN;
    room->packing_bytes = prof_gzip_bytes();
    room->scratch = aligned_alloc(PROF_BLOCK_ALIGN, room->scratch_bytes);
    room->packing = malloc(room->packing_bytes);
    return room->scratch != NULL && room->packing != NULL;
}

/* ---- files ---- */

static struct prof_output
output_to(const struct prof_sink *sink, const struct cli_profiles *profiles,
          const struct room *room)
{
    return (struct prof_output){
        .sink = *sink,
        .symbols = profiles->symbols,
        .mappings = profiles->mappings,
        .mappings_count = profiles->mappings_count,
        .lost = CLI_PROFILES_LOST,
        .rules = profiles->rules,
        .scratch = room->scratch,
        .scratch_bytes = room->scratch_bytes,
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
write_proto(const struct prof_output *output,
            const struct cli_profiles *profiles, enum content content)
{
    const enum prof_contention kind =
        content == MUTEX ? PROF_MUTEX : PROF_BLOCK;

    if (content < BLOCK)
        return prof_pprof_heap(output, heap_of(profiles, content),
                               profiles->heap_count, profiles->rate_bytes,
                               content == ALLOCS ? PROF_VIEW_ALLOCS
                                                 : PROF_VIEW_INUSE);
    return prof_pprof_contention(
        output, profiles->contention[kind], profiles->contention_count[kind],
        profiles->ticks_per_second, period_of(profiles, kind));
}

static bool
explain(const char *path, const struct prof_file *file, enum prof_status status)
{
    sim_escape_line(stderr, "profsim: %s: %s", path,
                    file->error != 0 ? prof_file_reason(file)
                                     : prof_status_text(status));
    return false;
}

static enum prof_status
write_packed(struct prof_file *file, const struct cli_profiles *profiles,
             const struct room *room, enum content content)
{
    const struct prof_sink to = prof_file_sink(file);
    struct prof_gzip gzip;
    struct prof_sink sink;
    struct prof_output output;

    prof_gzip_begin(&gzip, &to, room->packing, room->packing_bytes);
    sink = prof_gzip_sink(&gzip);
    output = output_to(&sink, profiles, room);
    return prof_gzip_end(&gzip, write_proto(&output, profiles, content));
}

static enum prof_status
say(const struct prof_sink *sink, const char *text)
{
    return sink->write(sink->context, text, strlen(text));
}

/* Write a name, escaped so that it does not end its line of the table. */
static enum prof_status
say_name(const struct prof_sink *sink, const char *name)
{
    enum prof_status status = PROF_ERR_MEMORY;
    char *text = NULL;
    size_t bytes = 0;
    FILE *file = open_memstream(&text, &bytes);

    if (file == NULL)
        return status;
    sim_escape_text(file, name);
    if (fclose(file) == 0)
        status = sink->write(sink->context, text, bytes);
    free(text);
    return status;
}

/* Write one line of the table: an address, as it appears in stacks, and its
 * name. */
static enum prof_status
say_symbol(const struct prof_sink *sink, const struct cli_profiles *profiles,
           uintptr_t pc)
{
    struct prof_symbol symbol = {.line = 0};
    char line[64];
    enum prof_status status;

    profiles->symbols.find(profiles->symbols.context, pc, &symbol);
    if (symbol.function == NULL || symbol.function[0] == '\0')
        return PROF_OK;
    snprintf(line, sizeof line, "0x%016" PRIxPTR " ", pc);
    status = say(sink, line);
    if (status == PROF_OK)
        status = say_name(sink, symbol.function);
    return status == PROF_OK ? say(sink, "\n") : status;
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
    enum prof_status status;

    if (retitled->done || line_end == NULL || at == NULL)
        return to->write(to->context, bytes, bytes_count);
    retitled->done = true;
    status = to->write(to->context, text, (size_t)(at - text));
    if (status == PROF_OK)
        status = say(to, "@ heapprofile");
    return status != PROF_OK
               ? status
               : to->write(to->context, line_end,
                           bytes_count - (size_t)(line_end - text));
}

static enum prof_status
write_heap_text(const struct prof_sink *to, const struct cli_profiles *profiles,
                const struct room *room, enum content content)
{
    struct retitled retitled = {.to = *to, .done = profiles->rate_bytes > 1};
    const struct prof_sink sink = {.write = write_retitled,
                                   .context = &retitled};
    const struct prof_output output = output_to(&sink, profiles, room);

    if (profiles->heap_text != NULL)
        return profiles->heap_text(profiles->heap_text_context, to,
                                   heap_kind(content));
    return prof_text_heap(&output, heap_of(profiles, content),
                          profiles->heap_count, profiles->rate_bytes, NULL);
}

static enum prof_status
write_text(struct prof_file *file, const struct cli_profiles *profiles,
           const struct room *room, enum content content)
{
    const struct prof_sink sink = prof_file_sink(file);
    const struct prof_output output = output_to(&sink, profiles, room);
    const enum prof_contention kind =
        content == MUTEX ? PROF_MUTEX : PROF_BLOCK;

    if (content < BLOCK)
        return write_heap_text(&sink, profiles, room, content);
    return prof_text_contention(&output, kind, profiles->contention[kind],
                                profiles->contention_count[kind],
                                profiles->ticks_per_second,
                                period_of(profiles, kind));
}

/* Write the text after a table of names, the only place where google-pprof
 * looks for names. */
static enum prof_status
write_symbolized(struct prof_file *file, const struct cli_profiles *profiles,
                 const struct room *room, enum content content)
{
    const struct prof_sink sink = prof_file_sink(file);
    enum prof_status status = say(&sink, "--- symbol\nbinary=");

    if (status == PROF_OK)
        status = say_name(&sink, profiles->mappings_count > 0
                                     ? profiles->mappings[0].file
                                     : "unknown");
    if (status == PROF_OK)
        status = say(&sink, "\n");
    for (size_t i = 0; i < room->pcs_count && status == PROF_OK; i++)
        status = say_symbol(&sink, profiles, room->pcs[i]);
    if (status == PROF_OK)
        status = say(&sink, "---\n");
    return status == PROF_OK ? write_heap_text(&sink, profiles, room, content)
                             : status;
}

typedef enum prof_status write_function(struct prof_file *file,
                                        const struct cli_profiles *profiles,
                                        const struct room *room,
                                        enum content content);

static bool
write_file(const struct cli_profiles *profiles, const struct room *room,
           enum content content, const char *ending, write_function *write)
{
    char path[PROF_PATH_MAX];
    const struct props_output to = {.path = path, .input = profiles->input};
    struct prof_file file;
    enum prof_status status;

    if (snprintf(path, sizeof path, "%s/%s.%s", profiles->folder,
                 content_names[content], ending) >= (int)sizeof path) {
        sim_escape_line(stderr, "profsim: %.40s...: %s", profiles->folder,
                        strerror(ENAMETOOLONG));
        return false;
    }
    status = props_output_begin(&file, &to);
    if (status == PROF_OK)
        status = props_output_end(&file, write(&file, profiles, room, content));
    return status == PROF_OK ? true : explain(path, &file, status);
}

bool
cli_profiles_write(const struct cli_profiles *profiles)
{
    struct prof_file file;
    struct room room;
    bool good;

    if (prof_file_folder(&file, profiles->folder) != PROF_OK)
        return explain(profiles->folder, &file, PROF_ERR_SINK);
    good = room_take(&room, profiles);
    if (!good)
        sim_escape_line(stderr, "profsim: %s: not enough memory",
                        profiles->folder);
    for (int i = 0; i < CONTENT_COUNT && good; i++) {
        const enum content content = (enum content)i;

        if (content < BLOCK && heap_of(profiles, content) == NULL)
            continue; /* a scenario has no peak */
        good = write_file(profiles, &room, content, "pb.gz", write_packed) &&
               write_file(profiles, &room, content, "txt", write_text);
    }
    good = good &&
           write_file(profiles, &room, HEAP, "symbolized", write_symbolized);
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
