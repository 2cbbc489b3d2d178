/* heap_shown.c -- see heap_shown.h: sums, sites and profiles. */
#include "heap_shown.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "escape.h"
#include "unit_test.h"

static const char *
base_of(const char *path)
{
    const char *const slash = strrchr(path, '/');

    return slash == NULL ? path : slash + 1;
}

void
heap_shown_name(FILE *to, const char *name)
{
    char cut[68];
    size_t bytes = 61;

    if (strlen(name) <= 64) {
        sim_escape_text(to, name);
        return;
    }
    while (((unsigned char)name[bytes] & 0xc0) == 0x80)
        bytes--;
    snprintf(cut, sizeof cut, "%.*s...", (int)bytes, name);
    sim_escape_text(to, cut);
}

/* ---- Sums ---- */

static double
seconds(const struct heap_model *model, uint64_t ticks)
{
    return (double)ticks / (double)model->ticks_per_second;
}

static void
put_rounded(FILE *to, uint64_t bytes)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB"};
    int unit = 0;

    while (unit < 3 && bytes >> 10 * (unit + 2) != 0)
        unit++;
    if (bytes >= 1024)
        fprintf(to, " (%.1f %s)",
                (double)bytes / (double)(UINT64_C(1) << 10 * (unit + 1)),
                units[unit]);
}

static void
put_sum(FILE *to, const char *what, struct model_count count)
{
    fprintf(to, "%-13s %" PRIu64 " bytes", what, count.bytes);
    put_rounded(to, count.bytes);
    fprintf(to, " in %" PRIu64 " %s", count.objects,
            count.objects == 1 ? "object" : "objects");
}

void
heap_shown_loss(FILE *to, const struct heap_model *model, int cause)
{
    static const char *const losses[MODEL_CAUSES][2] = {
        {"event after the log was full", "events after the log was full"},
        {"event after the disk was full", "events after the disk was full"},
        {"event inside the recorder", "events inside the recorder"},
        {"allocation before the recorder could start",
         "allocations before the recorder could start"},
        {"free of an object that was never seen",
         "frees of objects that were never seen"},
        {"free that nobody saw", "frees that nobody saw"},
        {"wait for a lock beyond the recorder's table",
         "waits for locks beyond the recorder's table"},
        {"child, forked by a process that confined itself",
         "children, forked by a process that confined itself"}};

    fprintf(to, "%" PRIu64 " %s\n", model->dropped[cause],
            losses[cause][model->dropped[cause] != 1]);
}

static void
put_losses(FILE *to, const struct heap_model *model)
{
    bool any = false;

    for (int i = 0; i < MODEL_CAUSES; i++) {
        if (model->dropped[i] == 0)
            continue;
        any = true;
        fputs("not recorded  ", to);
        heap_shown_loss(to, model, i);
    }
    if (!any)
        fputs("not recorded  nothing\n", to);
}

static void
put_head(FILE *to, const struct heap_model *model, const char *path)
{
    const struct model_count *const total = model->total.at;

    fprintf(to, "%s:", path);
    for (uint32_t i = 0; i < model->arguments && i < 8; i++) {
        fputc(' ', to);
        sim_escape_text(to, model->argument[i]);
    }
    fprintf(to, "%s\nprocess %u, %u %s, %.3f s, %u recorded %s\n\n",
            model->arguments > 8 ? " ..." : "", model->process,
            model->threads_count,
            model->threads_count == 1 ? "thread" : "threads",
            seconds(model, model->duration_ticks), model->events_count,
            model->events_count == 1 ? "event" : "events");
    put_sum(to, "peak", total[MODEL_PEAK]);
    fprintf(to, ", at %.3f s\n", seconds(model, model->peak_ticks));
    put_sum(to, "at exit", total[MODEL_EXIT]);
    fputs(" never freed\n", to);
    put_sum(to, "allocated", total[MODEL_ALLOCS]);
    fprintf(to, "; %" PRIu64 " of them freed\n",
            total[MODEL_ALLOCS].objects - total[MODEL_EXIT].objects);
    if (model->has_usable) {
        fprintf(to, "usable        %" PRIu64 " bytes", model->usable_bytes);
        put_rounded(to, model->usable_bytes);
        fprintf(to,
                " at the peak, by malloc_usable_size(): %.1f %% more than was "
                "asked for\n",
                ((double)model->usable_bytes / (double)total[MODEL_PEAK].bytes -
                 1) *
                    100);
    }
    if (model->waits > 0)
        fprintf(to, "waits         %" PRIu64 ", for locks\n", model->waits);
    put_losses(to, model);
}

/* ---- Sites ---- */

static void
put_calls(FILE *to, const struct heap_model *model, uint32_t stack)
{
    const struct model_call *calls[MODEL_CALLS];
    const uint32_t count = heap_model_calls(model, stack, calls);
    int shown = 0;

    for (uint32_t i = 0; i < count && shown < 4; i++) {
        if (calls[i]->is_plumbing)
            continue;
        fputs(shown++ > 0 ? " < " : "", to);
        heap_shown_name(to, calls[i]->shown);
        if (calls[i]->line != 0)
            fprintf(to, " (%s:%u)", base_of(calls[i]->file), calls[i]->line);
    }
    if (shown == 0)
        heap_shown_name(to, count > 0 ? calls[0]->shown : "(no stack)");
}

static const struct heap_model *sorted_model;
static enum model_measure sorted_measure;

static const struct model_count *
count_of(uint32_t stack)
{
    return &sorted_model->stacks[stack].sums.at[sorted_measure];
}

static int
by_count(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a;
    const uint32_t y = *(const uint32_t *)b;

    if (count_of(x)->bytes != count_of(y)->bytes)
        return count_of(x)->bytes < count_of(y)->bytes ? 1 : -1;
    if (count_of(x)->objects != count_of(y)->objects)
        return count_of(x)->objects < count_of(y)->objects ? 1 : -1;
    return x < y ? -1 : 1;
}

static void
put_sites(FILE *to, const struct heap_model *model, enum model_measure measure,
          uint64_t top)
{
    static const char *const titles[] = {"in use at the peak", "never freed",
                                         "allocated in all"};
    static uint32_t sites[MODEL_STACKS];
    const uint64_t all = model->total.at[measure].bytes;
    uint32_t count = 0;

    for (uint32_t i = 0; i < model->stacks_count; i++) {
        if (model->stacks[i].sums.at[measure].objects > 0)
            sites[count++] = i;
    }
    if (count == 0)
        return;
    sorted_model = model;
    sorted_measure = measure;
    qsort(sites, count, sizeof *sites, by_count);
    if (top > count)
        top = count;
    fprintf(to, "\n%s, by site (%" PRIu64 " of %u)\n%14s %10s\n",
            titles[measure], top, count, "bytes", "objects");
    for (uint32_t i = 0; i < top; i++) {
        const struct model_count *const site = count_of(sites[i]);

        fprintf(to, "%14" PRIu64 " %10" PRIu64 " %5.1f %%  ", site->bytes,
                site->objects,
                all > 0 ? 100.0 * (double)site->bytes / (double)all : 0.0);
        put_calls(to, model, sites[i]);
        fputc('\n', to);
    }
}

/* ---- Times, threads, sizes ---- */

static void
put_time(FILE *to, const struct heap_model *model)
{
    const uint64_t length = model->duration_ticks / MODEL_SPANS + 1;
    const uint64_t most = model->total.at[MODEL_PEAK].bytes;

    fprintf(to, "\nover time\n%10s %14s %14s %14s %10s\n", "until s",
            "most bytes", "at its end", "allocated", "objects");
    for (uint64_t i = 0; i <= model->duration_ticks / length; i++) {
        const struct model_span *const span = &model->spans[i];
        uint64_t end = (i + 1) * length;

        if (end > model->duration_ticks)
            end = model->duration_ticks;
        fprintf(to,
                "%10.3f %14" PRIu64 " %14" PRIu64 " %14" PRIu64 " %10" PRIu64
                "  %.*s\n",
                seconds(model, end), span->most_bytes, span->last_bytes,
                span->allocs.bytes, span->allocs.objects,
                (int)((double)span->most_bytes / (double)most * 20),
                "####################");
    }
}

static void
put_threads(FILE *to, const struct heap_model *model, uint64_t top)
{
    fprintf(to, "\nby thread%s\n%10s %14s %14s %14s %10s %14s\n",
            model->threads_count > top ? ", the first ones" : "", "thread",
            "at the peak", "never freed", "allocated", "objects",
            "freed by it");
    for (uint32_t i = 0; i < model->threads_count && i < top; i++) {
        const struct model_thread *const thread = &model->threads[i];

        fprintf(to,
                "%10" PRIu64 " %14" PRIu64 " %14" PRIu64 " %14" PRIu64
                " %10" PRIu64 " %14" PRIu64 "  %s\n",
                thread->number, thread->at[MODEL_PEAK].bytes,
                thread->at[MODEL_EXIT].bytes, thread->at[MODEL_ALLOCS].bytes,
                thread->at[MODEL_ALLOCS].objects, thread->freed.bytes,
                thread->name);
    }
}

static void
put_classes(FILE *to, const struct heap_model *model)
{
    fprintf(to, "\nby size\n%21s %14s %14s %14s %10s\n", "bytes an object",
            "at the peak", "never freed", "allocated", "objects");
    for (uint64_t i = 0; i < MODEL_CLASSES; i++) {
        const struct model_count *const sums = model->classes[i].at;
        const uint64_t least = i > 0 ? UINT64_C(1) << (i - 1) : 0;

        if (sums[MODEL_ALLOCS].objects > 0)
            fprintf(to,
                    "%10" PRIu64 "-%10" PRIu64 " %14" PRIu64 " %14" PRIu64
                    " %14" PRIu64 " %10" PRIu64 "\n",
                    least, least + (i > 0 ? least - 1 : 0),
                    sums[MODEL_PEAK].bytes, sums[MODEL_EXIT].bytes,
                    sums[MODEL_ALLOCS].bytes, sums[MODEL_ALLOCS].objects);
    }
}

char *
heap_shown_run(const struct heap_model *model, const char *path, uint64_t top,
               enum model_measure only)
{
    char *text = NULL;
    size_t bytes;
    FILE *to = open_memstream(&text, &bytes);

    assert_non_null(to);
    put_head(to, model, path);
    for (int i = 0; i < MODEL_MEASURES; i++) {
        if (only == MODEL_MEASURES || (int)only == i)
            put_sites(to, model, (enum model_measure)i, top);
    }
    put_time(to, model);
    put_threads(to, model, top);
    put_classes(to, model);
    assert_int_equal(fclose(to), 0);
    return text;
}

/* ---- Profiles ---- */

static struct model_count
allocs_of(const struct model_sums *sums, enum heap_shown what)
{
    return what == SHOWN_AT_PEAK ? sums->peak_allocs : sums->at[MODEL_ALLOCS];
}

static struct model_count
inuse_of(const struct model_sums *sums, enum heap_shown what)
{
    return sums->at[what == SHOWN_AT_EXIT ? MODEL_EXIT : MODEL_PEAK];
}

static void
put_row(FILE *to, struct model_count inuse, struct model_count allocs)
{
    fprintf(to, "%" PRIu64 ": %" PRIu64 " [%" PRIu64 ": %" PRIu64 "] @",
            inuse.objects, inuse.bytes, allocs.objects, allocs.bytes);
}

static void
put_addresses(FILE *to, const struct heap_model *model, uint32_t stack)
{
    const struct model_call *calls[MODEL_CALLS];
    const uint32_t count = heap_model_calls(model, stack, calls);

    for (uint32_t i = 0; i < count; i++)
        fprintf(to, " 0x%" PRIx64, calls[i]->address);
    if (count == 0)
        fputs(" 0x1", to);
}

char *
heap_shown_text(const struct heap_model *model, enum heap_shown what)
{
    struct model_count allocs = allocs_of(&model->total, what);
    const struct model_count inuse = inuse_of(&model->total, what);
    char *text = NULL;
    size_t bytes;
    FILE *to = open_memstream(&text, &bytes);

    assert_non_null(to);
    if (allocs.bytes == inuse.bytes)
        allocs.bytes++; /* a reader takes equal ones for none */
    fputs("heap profile: ", to);
    put_row(to, inuse, allocs);
    fputs(" heapprofile\n", to);
    for (uint32_t i = 0; i < model->stacks_count; i++) {
        const struct model_sums *const sums = &model->stacks[i].sums;

        if (allocs_of(sums, what).objects == 0)
            continue;
        put_row(to, inuse_of(sums, what), allocs_of(sums, what));
        put_addresses(to, model, i);
        fputc('\n', to);
    }
    assert_int_equal(fclose(to), 0);
    return text;
}

const char *
heap_shown_program(const struct heap_model *model)
{
    const char *with_main = NULL;

    if (model->arguments > 0)
        return "/usr/bin/prog";
    for (uint32_t i = model->calls_count; i > 0; i--) {
        const struct model_call *const call = &model->calls[i - 1];

        if (strcmp(call->symbol, "main") == 0 && *call->module != '\0')
            with_main = call->module;
    }
    return with_main != NULL ? with_main : "/usr/bin/prog";
}

/* Is this call in a stack that allocates, waits, or lets another go on? */
static bool
is_used(const struct heap_model *model, const struct model_call *call)
{
    const struct model_call *calls[MODEL_CALLS];

    for (uint32_t i = 0; i < model->events_count; i++) {
        if (model->events[i].kind == MODEL_FREE ||
            (model->events[i].kind == MODEL_RELEASE &&
             model->events[i + 1].waited == 0))
            continue;
        for (uint32_t k =
                 heap_model_calls(model, model->events[i].stack, calls);
             k > 0; k--) {
            if (calls[k - 1] == call)
                return true;
        }
    }
    return false;
}

char *
heap_shown_symbols(const struct heap_model *model)
{
    uint64_t before = 0;
    char *text = NULL;
    size_t bytes;
    FILE *to = open_memstream(&text, &bytes);

    assert_non_null(to);
    fprintf(to, "--- symbol\nbinary=%s\n", heap_shown_program(model));
    for (;;) {
        const struct model_call *next = NULL;

        for (uint32_t i = 0; i < model->calls_count; i++) {
            const struct model_call *const call = &model->calls[i];

            if (call->address > before &&
                (next == NULL || call->address < next->address))
                next = call;
        }
        if (next == NULL)
            break;
        before = next->address;
        if (!is_used(model, next))
            continue;
        fprintf(to, "0x%016" PRIx64 " ", next->address);
        sim_escape_text(to, next->shown);
        fputc('\n', to);
    }
    fputs("---\n", to);
    assert_int_equal(fclose(to), 0);
    return text;
}
