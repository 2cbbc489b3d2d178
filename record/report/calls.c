/*
 * calls.c -- see calls.h. Call i is frame i of the recording. An inlined
 * function is followed by the function that contains it.
 */
#include "record/report/calls.h"

#include <stdlib.h>
#include <string.h>

#include "common/command/complaint.h"
#include "common/demangle.h"
#include "common/escape.h"
#include "record/symbols/map.h"

enum {
    SHOWN_MAX = 4,
    FUNCTION_MAX_BYTES = 64, /* of a name in a line of the summary */
    FREE_WITHIN = 64         /* bytes */
};

struct cli_calls {
    const struct sim_recording *recording;
    struct cli_call *calls; /* by frame */
    uint32_t count;
    char **names; /* those that were demangled */
    uint32_t names_count;
    struct cli_map by_symbol;  /* address of the text -> first call with it */
    struct cli_map by_address; /* -> call */
};

const char *
cli_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

static bool
is_telling(const char *symbol)
{
    static const char *const plumbing[] = {"malloc",
                                           "calloc",
                                           "realloc",
                                           "reallocarray",
                                           "aligned_alloc",
                                           "posix_memalign",
                                           "memalign",
                                           "valloc",
                                           "pvalloc",
                                           "_Znwm",
                                           "_Znam",
                                           "_ZnwmRKSt9nothrow_t",
                                           "_ZnamRKSt9nothrow_t"};

    for (size_t i = 0; i < sizeof plumbing / sizeof *plumbing; i++) {
        if (strcmp(symbol, plumbing[i]) == 0)
            return false;
    }
    return true;
}

static const char *
name_without_symbol(const char *module)
{
    const char *name = cli_base_name(module);

    return name[0] != '\0' ? name : "?";
}

/* Name a call. Texts of a recording differ if their addresses do. */
static void
name_call(struct cli_calls *calls, struct cli_call *call)
{
    const char *key = call->symbol[0] != '\0' ? call->symbol : call->module;
    const uint32_t number = (uint32_t)(call - calls->calls);
    const uint64_t known =
        cli_map_get(&calls->by_symbol, (uint64_t)(uintptr_t)key);
    char *name;

    if (known != CLI_MAP_NONE) {
        call->name = (uint32_t)known;
        call->function = calls->calls[known].function;
        return;
    }
    call->name = number;
    call->function = key == call->symbol ? key : name_without_symbol(key);
    name = cli_demangle(call->symbol);
    if (name != NULL) {
        calls->names[calls->names_count++] = name;
        call->function = name;
    }
    cli_map_put(&calls->by_symbol, (uint64_t)(uintptr_t)key, number);
}

/* Is this frame the function that the one before was inlined into? */
static bool
is_outer(const struct cli_calls *calls, uint32_t frame)
{
    return frame > 0 && sim_recording_is_inlined(calls->recording, frame - 1);
}

/* returns: the next address below the inner call's that no other call has */
static uintptr_t
address_below(const struct cli_calls *calls, uintptr_t inner)
{
    for (uintptr_t below = 1; below <= FREE_WITHIN && below < inner; below++) {
        if (cli_map_get(&calls->by_address, inner - below) == CLI_MAP_NONE)
            return inner - below;
    }
    return inner; /* a compiler inlines less */
}

/*
 * Give each call an address of its own, because readers of a profile tell calls
 * apart by address. Of the functions inlined at one pc, the innermost gets the
 * pc; the others get unused addresses just below it.
 */
static void
give_addresses(struct cli_calls *calls)
{
    for (uint32_t i = 0; i < calls->count; i++) {
        if (!is_outer(calls, i) && calls->calls[i].address != 0)
            cli_map_put(&calls->by_address, calls->calls[i].address, i);
    }
    for (uint32_t i = 1; i < calls->count; i++) {
        struct cli_call *call = &calls->calls[i];

        if (!is_outer(calls, i))
            continue;
        call->address = address_below(calls, call[-1].address);
        if (call->address != call[-1].address)
            cli_map_put(&calls->by_address, call->address, i);
    }
}

static void
fill(struct cli_calls *calls)
{
    for (uint32_t i = 0; i < calls->count; i++) {
        const struct sim_recorded_frame frame =
            sim_recording_frame(calls->recording, i);
        struct cli_call *call = &calls->calls[i];

        *call = (struct cli_call){
            .symbol = frame.function,
            .file = frame.file,
            .line = frame.line,
            .module = frame.module,
            .address = (uintptr_t)frame.pc,
            .function_offset = frame.function_offset,
            .is_telling = is_telling(frame.function),
        };
        name_call(calls, call);
    }
    give_addresses(calls);
}

struct cli_calls *
cli_calls_open(const struct sim_recording *recording)
{
    struct cli_calls *const calls = cli_need(calloc(1, sizeof *calls));

    calls->recording = recording;
    calls->count = sim_recording_totals(recording)->frames;
    calls->calls =
        cli_need(calloc((size_t)calls->count + 1, sizeof *calls->calls));
    calls->names =
        cli_need(calloc((size_t)calls->count + 1, sizeof *calls->names));
    fill(calls);
    return calls;
}

void
cli_calls_close(struct cli_calls *calls)
{
    if (calls == NULL)
        return;
    for (uint32_t i = 0; i < calls->names_count; i++)
        free(calls->names[i]);
    free(calls->names);
    free(calls->calls);
    cli_map_release(&calls->by_symbol);
    cli_map_release(&calls->by_address);
    free(calls);
}

uint32_t
cli_calls_of(const struct cli_calls *calls, uint32_t stack,
             const struct cli_call **stack_calls)
{
    uint32_t frames[SIM_RECORDED_DEPTH_MAX];
    const uint32_t depth = sim_recording_stack(calls->recording, stack, frames,
                                               SIM_RECORDED_DEPTH_MAX);
    uint32_t count = 0;

    for (uint32_t i = 0; i < depth; i++) {
        for (uint32_t frame = frames[i]; count < CLI_CALLS_MAX; frame++) {
            stack_calls[count++] = &calls->calls[frame];
            if (!sim_recording_is_inlined(calls->recording, frame))
                break;
        }
    }
    return count;
}

const struct cli_call *
cli_calls_at(const struct cli_calls *calls, uint32_t frame)
{
    return &calls->calls[frame];
}

const struct cli_call *
cli_calls_find(const struct cli_calls *calls, uintptr_t address)
{
    const uint64_t number = cli_map_get(&calls->by_address, address);

    return number != CLI_MAP_NONE ? &calls->calls[number] : NULL;
}

void
cli_print_function(FILE *file, const char *function)
{
    char text[FUNCTION_MAX_BYTES + 1];
    size_t length = strlen(function);

    if (length <= FUNCTION_MAX_BYTES) {
        sim_escape_text(file, function);
        return;
    }
    length = FUNCTION_MAX_BYTES - 3;
    while (length > 0 && ((uint8_t)function[length] & 0xc0) == 0x80)
        length--; /* not in the middle of a character */
    memcpy(text, function, length);
    memcpy(text + length, "...", 4);
    sim_escape_text(file, text);
}

void
cli_calls_print(FILE *file, const struct cli_calls *calls, uint32_t stack)
{
    const struct cli_call *stack_calls[CLI_CALLS_MAX];
    const uint32_t count = cli_calls_of(calls, stack, stack_calls);
    uint32_t shown = 0;

    for (uint32_t i = 0; i < count && shown < SHOWN_MAX; i++) {
        const struct cli_call *call = stack_calls[i];

        if (!call->is_telling)
            continue;
        fputs(shown++ == 0 ? "" : " < ", file);
        cli_print_function(file, call->function);
        if (call->line > 0) {
            fputs(" (", file);
            sim_escape_text(file, cli_base_name(call->file));
            fprintf(file, ":%u)", call->line);
        }
    }
    if (shown == 0)
        cli_print_function(file, count == 0 ? "(no stack)"
                                            : stack_calls[0]->function);
}
