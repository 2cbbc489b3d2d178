/*
 * tasks.c -- tasks with their stacks, as Go's runtime prints goroutines.
 *
 *      goroutine 7 [chan receive, 12 minutes, locked to thread]:   header
 *      main.work(...)                                              a frame:
 *      |TAB|work.go:12 +0x3f                                       two lines
 *      created by main.main
 *      |TAB|main.go:3 +0x1c
 *
 * The arguments of calls are not known, so each call shows `...` for them. An
 * address without a name is shown as function `?` with entry 0, so its offset
 * is the address. If a function has a name but no known entry, no offset is
 * shown.
 */
#include <string.h>

#include "prof/pprof/builder.h"
#include "prof/core/assertion.h"
#include "prof/pprof/frame_lines.h"
#include "prof/core/poison.h"
#include "prof/text.h"
#include "prof/pprof/symbol_of.h"

enum { STAGE_BYTES = 256 };

#define NS_PER_MINUTE UINT64_C(60000000000)

/* A text of tasks that is being written. */
struct listing {
    struct out out;
    struct prof_symbols names;
    enum frames_shown shown;
    unsigned char stage[STAGE_BYTES];
};

static void
begin(struct listing *listing, const struct prof_sink *sink,
      const struct prof_symbols *names, enum frames_shown shown)
{
    listing->names = *names;
    listing->shown = shown;
    prof_out_init(&listing->out, sink, listing->stage, STAGE_BYTES);
}

/* ---- frames ---- */

/* Can the program call this function? `runtime.Gosched` yes, `runtime.gopark`
 * no. */
static bool
is_exported(const char *function)
{
    static const char prefix[] = "runtime.";
    const size_t bytes = prof_text_bytes(function);

    return bytes > sizeof prefix - 1 &&
           memcmp(function, prefix, sizeof prefix - 1) == 0 &&
           function[sizeof prefix - 1] >= 'A' &&
           function[sizeof prefix - 1] <= 'Z';
}

static bool
is_shown(const struct prof_symbol *symbol, enum frames_shown shown)
{
    return shown == FRAMES_ALL || symbol->kind == PROF_FRAME_PROGRAM ||
           is_exported(symbol->function);
}

static void
put_name(struct out *out, const char *name)
{
    if (prof_text_bytes(name) > 0)
        prof_text_name(out, name);
    else
        prof_out_bytes(out, "?", 1);
}

/* Write the second line: file, line, and offset into the function. */
static void
put_place(struct out *out, uintptr_t pc, const struct prof_symbol *symbol)
{
    prof_out_bytes(out, "\t", 1);
    put_name(out, symbol->file);
    prof_out_bytes(out, ":", 1);
    prof_out_u64(out, symbol->line);
    if (pc > symbol->entry &&
        (symbol->entry != 0 || prof_text_bytes(symbol->function) == 0)) {
        prof_out_text(out, " +");
        prof_out_0x(out, pc - symbol->entry);
    }
    prof_out_bytes(out, "\n", 1);
}

/* returns: whether any frame was shown */
static bool
put_frames(struct listing *listing, const struct prof_task_stack *task,
           enum frames_shown shown)
{
    uint32_t printed = 0;

    for (uint32_t i = 0; i < task->depth; i++) {
        const uintptr_t pc = task->stack[i];
        const struct prof_symbol symbol = symbol_of(&listing->names, pc);

        if (!is_shown(&symbol, shown))
            continue;
        if (printed == PROF_TASK_FRAMES_MAX) {
            prof_out_text(&listing->out, "...additional frames elided...\n");
            break;
        }
        printed++;
        put_name(&listing->out, symbol.function);
        prof_out_text(&listing->out, "(...)\n");
        put_place(&listing->out, pc, &symbol);
    }
    return printed > 0;
}

static void
put_creator(struct listing *listing, uintptr_t pc)
{
    const struct prof_symbol symbol = symbol_of(&listing->names, pc);

    if (pc == 0 || !is_shown(&symbol, listing->shown))
        return;
    prof_out_text(&listing->out, "created by ");
    put_name(&listing->out, symbol.function);
    prof_out_bytes(&listing->out, "\n", 1);
    put_place(&listing->out, pc, &symbol);
}

/* ---- tasks ---- */

static void
put_header(struct out *out, const struct prof_task_stack *task)
{
    prof_out_text(out, "goroutine ");
    prof_out_u64(out, task->id);
    prof_out_text(out, " [");
    if (prof_text_bytes(task->state) > 0)
        prof_text_name(out, task->state);
    else
        prof_out_text(out, "???");
    if (task->waits_ns >= NS_PER_MINUTE) {
        prof_out_text(out, ", ");
        prof_out_u64(out, task->waits_ns / NS_PER_MINUTE);
        prof_out_text(out, " minutes");
    }
    if (task->is_locked)
        prof_out_text(out, ", locked to thread");
    prof_out_text(out, "]:\n");
}

static void
put_task(struct listing *listing, const struct prof_task_stack *task)
{
    put_header(&listing->out, task);
    if (task->depth == 0)
        prof_out_text(&listing->out, "\tgoroutine running on other thread; "
                                     "stack unavailable\n");
    else if (!put_frames(listing, task, listing->shown))
        put_frames(listing, task, FRAMES_ALL);
    put_creator(listing, task->created_by);
}

/* A buffer that takes as much of a text as fits. */
struct cut {
    char *buffer;
    size_t room;
    size_t used;
};

static enum prof_status
write_cut(void *context, const void *bytes, size_t bytes_count)
{
    struct cut *const cut = context;
    const size_t left = cut->room - cut->used;
    const size_t part = bytes_count < left ? bytes_count : left;

    memcpy(cut->buffer + cut->used, bytes, part);
    cut->used += part;
    return part == bytes_count ? PROF_OK : PROF_ERR_SHORT;
}

size_t
prof_text_tasks(char *buffer, size_t room, const struct prof_symbols *symbols,
                const struct prof_task_stack *tasks, size_t tasks_count)
{
    struct cut cut = {.buffer = buffer, .room = room};
    const struct prof_sink sink = {.write = write_cut, .context = &cut};
    struct listing listing;

    if (room == 0)
        return 0;
    begin(&listing, &sink, symbols, FRAMES_PROGRAM);
    for (size_t i = 0; i < tasks_count && listing.out.status == PROF_OK; i++) {
        if (i > 0)
            prof_out_bytes(&listing.out, "\n", 1);
        put_task(&listing, &tasks[i]);
    }
    prof_out_drain(&listing.out);
    return cut.used;
}

/* ---- debug lines ---- */

/* End the text of an allocation or free: the task that did it. */
static enum prof_status
end_debug(struct listing *listing, const struct prof_task_stack *task)
{
    prof_out_text(&listing->out, ")\n");
    put_task(listing, task);
    prof_out_bytes(&listing->out, "\n", 1);
    return prof_out_finish(&listing->out);
}

enum prof_status
prof_text_trace_alloc(const struct prof_output *output, uintptr_t address,
                      uint64_t size_bytes, const char *type,
                      const struct prof_task_stack *task)
{
    struct listing listing;

    begin(&listing, &output->sink, &output->symbols, FRAMES_ALL);
    prof_out_text(&listing.out, "tracealloc(");
    prof_out_0x(&listing.out, address);
    prof_out_text(&listing.out, ", ");
    prof_out_0x(&listing.out, size_bytes);
    if (prof_text_bytes(type) > 0) {
        prof_out_text(&listing.out, ", ");
        prof_text_name(&listing.out, type);
    }
    return end_debug(&listing, task);
}

enum prof_status
prof_text_trace_free(const struct prof_output *output, uintptr_t address,
                     uint64_t size_bytes, const struct prof_task_stack *task)
{
    struct listing listing;

    begin(&listing, &output->sink, &output->symbols, FRAMES_ALL);
    prof_out_text(&listing.out, "tracefree(");
    prof_out_0x(&listing.out, address);
    prof_out_text(&listing.out, ", ");
    prof_out_0x(&listing.out, size_bytes);
    return end_debug(&listing, task);
}

enum prof_status
prof_text_trace_gc(const struct prof_output *output,
                   const struct prof_task_stack *tasks, size_t tasks_count)
{
    struct listing listing;

    begin(&listing, &output->sink, &output->symbols, FRAMES_ALL);
    prof_out_text(&listing.out, "tracegc()\n");
    for (size_t i = 0; i < tasks_count && listing.out.status == PROF_OK; i++) {
        prof_out_bytes(&listing.out, "\n", 1);
        put_task(&listing, &tasks[i]);
    }
    prof_out_text(&listing.out, "end tracegc\n\n");
    return prof_out_finish(&listing.out);
}
