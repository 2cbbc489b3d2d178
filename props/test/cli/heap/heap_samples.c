/* heap_samples.c -- see heap_shown.h: the samples of profiles, one a line. */
#include "heap_shown.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "pprof.h"
#include "releases.h"
#include "unit_test.h"

/* ---- Lines ---- */

static char *lines[2 * MODEL_EVENTS];
static size_t lines_count;
static char *line;
static size_t line_bytes;

static FILE *
begin_line(void)
{
    FILE *to = open_memstream(&line, &line_bytes);

    assert_non_null(to);
    return to;
}

static void
end_line(FILE *to)
{
    assert_int_equal(fclose(to), 0);
    assert_true(lines_count < 2 * MODEL_EVENTS);
    lines[lines_count++] = line;
}

static int
by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* in: last, the line behind all others. returns: the lines, sorted */
static char *
join_lines(char *last)
{
    char *text = NULL;
    size_t bytes;
    FILE *to = open_memstream(&text, &bytes);

    assert_non_null(to);
    qsort(lines, lines_count, sizeof *lines, by_text);
    for (size_t i = 0; i < lines_count; i++) {
        fprintf(to, "%s\n", lines[i]);
        free(lines[i]);
    }
    lines_count = 0;
    fputs(last, to);
    free(last);
    assert_int_equal(fclose(to), 0);
    return text;
}

/* ---- What must be there ---- */

static void
put_mapping(FILE *to, const struct heap_model *model, const char *path)
{
    uint64_t least = UINT64_MAX;
    uint64_t most = 0;

    for (uint32_t i = 0; i < model->calls_count; i++) {
        const struct model_call *const call = &model->calls[i];

        if (strcmp(call->module, path) != 0)
            continue;
        if (call->address < least)
            least = call->address;
        if (call->address > most)
            most = call->address;
    }
    if (most > 0)
        fprintf(to, "%" PRIx64 "-%" PRIx64 " %s, ", least - 1, most + 1, path);
}

/* The program is the first mapping; the others are in order of their calls. */
static char *
mappings_of(const struct heap_model *model)
{
    const char *const program = heap_shown_program(model);
    const char *done[MODEL_MODULES + 1] = {"", program};
    uint32_t count = 2;
    FILE *to = begin_line();

    put_mapping(to, model, program);
    for (uint32_t i = 0; i < model->calls_count; i++) {
        const char *const path = model->calls[i].module;
        uint32_t k = 0;

        while (k < count && strcmp(done[k], path) != 0)
            k++;
        if (k < count)
            continue;
        put_mapping(to, model, path);
        done[count++] = path;
    }
    assert_int_equal(fclose(to), 0);
    return line;
}

static void
put_calls(FILE *to, const struct heap_model *model, uint32_t stack,
          bool is_heap)
{
    const struct model_call *calls[MODEL_CALLS];
    const uint32_t count = heap_model_calls(model, stack, calls);
    uint32_t leaf = 0;

    while (is_heap && leaf < count && calls[leaf]->is_plumbing)
        leaf++;
    if (leaf == count)
        leaf = 0;
    for (uint32_t i = leaf; i < count; i++)
        fprintf(to, "; %" PRIx64 " %s:%u of %s", calls[i]->address,
                calls[i]->shown, calls[i]->line, calls[i]->module);
    if (count == 0)
        fputs("; 1 (no stack):0 of ", to);
}

char *
heap_shown_samples(const struct heap_model *model, enum heap_shown what)
{
    for (uint32_t i = 0; i < model->buckets_count; i++) {
        const struct model_bucket *const bucket = &model->buckets[i];
        const uint64_t allocs =
            what == SHOWN_AT_PEAK ? bucket->peak_allocs : bucket->allocs;
        const uint64_t inuse = what == SHOWN_AT_EXIT
                                   ? bucket->allocs - bucket->frees
                                   : bucket->peak_allocs - bucket->peak_frees;
        FILE *to;

        if (allocs == 0 || bucket->bytes == 0)
            continue; /* as in Go, objects of no bytes are not counted */
        to = begin_line();
        fprintf(to,
                "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " of %" PRIu64,
                allocs, allocs * bucket->bytes, inuse, inuse * bucket->bytes,
                bucket->bytes);
        put_calls(to, model, bucket->stack, true);
        end_line(to);
    }
    return join_lines(mappings_of(model));
}

/* returns: the same time in nanoseconds, cut off; without an overflow between
 */
static uint64_t
nanoseconds(const struct heap_model *model, uint64_t ticks)
{
    const uint64_t rate = model->ticks_per_second;

    return ticks / rate * 1000000000 + ticks % rate * 1000000000 / rate;
}

/* How long others waited for a released lock is what releases.h says. */
char *
heap_shown_waits(const struct heap_model *model, const char *path, int kind)
{
    static uint64_t count_of[MODEL_STACKS];
    static uint64_t ticks_of[MODEL_STACKS];
    struct sim_recording *recording;
    struct sim_recording_error error;
    struct sim_releases releases;
    uint64_t released = 0;

    memset(count_of, 0, sizeof count_of);
    memset(ticks_of, 0, sizeof ticks_of);
    assert_true(sim_recording_open(&recording, path, &error));
    assert_true(sim_releases_open(&releases, recording));
    for (uint32_t i = 0; i < model->events_count; i++) {
        const struct model_event *const event = &model->events[i];
        int64_t ticks = event->waited > 0 ? (int64_t)event->waited : 1;

        if (event->kind == MODEL_WAIT
                ? kind != 0
                : event->kind != MODEL_RELEASE ||
                      !sim_releases_find(&releases, released++, &ticks) ||
                      kind != 1)
            continue;
        count_of[event->stack]++;
        ticks_of[event->stack] += (uint64_t)ticks;
    }
    sim_releases_close(&releases);
    sim_recording_close(recording);
    for (uint32_t i = 0; i < model->stacks_count; i++) {
        FILE *to;

        if (count_of[i] == 0)
            continue;
        to = begin_line();
        fprintf(to, "%" PRIu64 " %" PRIu64 " of 0", count_of[i],
                nanoseconds(model, ticks_of[i]));
        put_calls(to, model, i, false);
        end_line(to);
    }
    return join_lines(mappings_of(model));
}

/* ---- What is there ---- */

static const char *
module_of(const struct model_pprof *profile, uint64_t id)
{
    for (size_t i = 0; i < profile->mappings_count; i++) {
        if (profile->mappings[i].id == id)
            return profile->mappings[i].file;
    }
    assert_int_equal(id, 0);
    return "";
}

static void
read_sample(const struct model_pprof *profile,
            const struct model_pprof_sample *sample)
{
    bool any = false;
    FILE *to;

    for (size_t i = 0; i < sample->values_count; i++)
        any = any || sample->values[i] != 0;
    if (!any)
        return;
    to = begin_line();
    for (size_t i = 0; i < sample->values_count; i++)
        fprintf(to, "%" PRId64 " ", sample->values[i]);
    fprintf(to, "of %" PRId64,
            sample->labels_count > 0 ? sample->labels[0].number : 0);
    for (size_t i = 0; i < sample->locations_count; i++) {
        const struct model_pprof_location *const at =
            model_pprof_location(profile, sample->locations[i]);
        const struct model_pprof_function *const function =
            model_pprof_function(profile, at->function);

        fprintf(to, "; %" PRIx64 " %s:%" PRId64 " of %s",
                at->address + (at->address != 1), function->name, at->line,
                module_of(profile, at->mapping));
    }
    end_line(to);
}

char *
heap_shown_read(const void *bytes, size_t count)
{
    struct model_pprof profile;
    char *text;
    FILE *to;

    if (!model_pprof_read(&profile, bytes, count))
        fail_msg("%s", profile.reason);
    for (size_t i = 0; i < profile.samples_count; i++)
        read_sample(&profile, &profile.samples[i]);
    to = begin_line();
    for (size_t i = 0; i < profile.mappings_count; i++)
        fprintf(to, "%" PRIx64 "-%" PRIx64 " %s, ", profile.mappings[i].start,
                profile.mappings[i].limit, profile.mappings[i].file);
    assert_int_equal(fclose(to), 0);
    text = join_lines(line);
    model_pprof_release(&profile);
    return text;
}
