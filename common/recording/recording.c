/*
 * recording.c -- the reader of `.rec` files, written from docs/recording.md.
 *
 *      bytes:  PROFREC\n 2 | A ... | S ... | M ... | ... | E ... | E ... | Z ..
 *                            |       |                     ^
 *      tables: strings, modules, frames, nodes, stacks     cursor
 *
 * A file is untrusted: whatever it contains, the result is a recording, or an
 * error with an offset and a reason. Opening checks everything, in one pass in
 * file order. Later each cursor decodes the events again, with the same
 * function, and cannot fail.
 *
 * Invariants
 *   I1  each record of a table takes at least one byte of the file and a fixed
 *       number of bytes in memory, so memory is at most a constant times the
 *       size of the file. For this reason stacks that share frames share nodes
 *       (a node is a frame and its caller); no stack is expanded.
 *   I2  all numbers in a recording that was returned are in range.
 */
#include "common/recording/recording_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool
sim_recording_take_input(struct sim_recording **result, struct sim_input *input,
                         struct sim_recording_error *error)
{
    struct sim_recording *recording = calloc(1, sizeof *recording);
    uint8_t *const bytes = input->bytes;

    *result = NULL;
    input->bytes = NULL;
    if (recording == NULL) {
        memset(error, 0, sizeof *error);
        snprintf(error->reason, sizeof error->reason, "not enough memory");
        free(bytes);
        return false;
    }
    recording->bytes = bytes;
    recording->bytes_count = input->bytes_count;
    if (sim_recording_check(recording, error)) {
        *result = recording;
        return true;
    }
    sim_recording_close(recording);
    return false;
}

bool
sim_recording_open(struct sim_recording **recording, const char *path,
                   struct sim_recording_error *error)
{
    struct sim_input input;

    *recording = NULL;
    if (sim_input_read(&input, path))
        return sim_recording_take_input(recording, &input, error);
    memset(error, 0, sizeof *error);
    snprintf(error->reason, sizeof error->reason, "%s", input.reason);
    return false;
}

void
sim_recording_close(struct sim_recording *recording)
{
    if (recording == NULL)
        return;
    free(recording->arguments.items);
    free(recording->strings.items);
    free(recording->modules.items);
    free(recording->frames.items);
    free(recording->nodes.items);
    free(recording->stacks.items);
    free(recording->threads.items);
    free(recording->names.items);
    free(recording->bytes);
    free(recording);
}

void
sim_recording_explain(const struct sim_recording_error *error, const char *path,
                      char *line, size_t line_bytes)
{
    if (error->has_offset)
        snprintf(line, line_bytes, "%s: offset %llu: %s", path,
                 (unsigned long long)error->offset_bytes, error->reason);
    else
        snprintf(line, line_bytes, "%s: %s", path, error->reason);
}

uint64_t
sim_recording_bytes(const struct sim_recording *recording)
{
    return recording->bytes_count;
}

const struct sim_recording_totals *
sim_recording_totals(const struct sim_recording *recording)
{
    return &recording->totals;
}

const char *
sim_recording_argument(const struct sim_recording *recording, uint32_t index)
{
    return ((char **)recording->arguments.items)[index];
}

uint64_t
sim_recording_thread(const struct sim_recording *recording, uint32_t thread)
{
    return ((const uint64_t *)recording->threads.items)[thread];
}

const char *
sim_recording_thread_name(const struct sim_recording *recording,
                          uint32_t thread)
{
    return thread < recording->names.count
               ? ((char *const *)recording->names.items)[thread]
               : "";
}

uint64_t
sim_recording_events(const struct sim_recording *recording)
{
    const struct sim_recording_totals *totals = &recording->totals;

    return totals->allocs + totals->frees + totals->waits + totals->releases +
           totals->resizes;
}

/* Move to the first payload byte of the E block at `offset`, or to the end. */
static void
cursor_enter(struct sim_recording_cursor *cursor, uint64_t offset)
{
    const uint8_t *bytes = cursor->recording->bytes;

    if (offset == 0 || bytes[offset] != 'E') {
        cursor->offset_bytes = cursor->block_limit_bytes = 0;
        return;
    }
    cursor->offset_bytes = offset + SIM_BLOCK_HEAD_BYTES;
    cursor->block_limit_bytes =
        cursor->offset_bytes + sim_recording_u32(bytes + offset + 1);
}

void
sim_recording_begin(const struct sim_recording *recording,
                    struct sim_recording_cursor *cursor)
{
    memset(cursor, 0, sizeof *cursor);
    cursor->recording = recording;
    cursor_enter(cursor, recording->events_offset);
}

bool
sim_recording_next(struct sim_recording_cursor *cursor,
                   struct sim_recorded *event)
{
    struct sim_recorded next;

    /* A block is never empty, and Z follows the last E. */
    if (cursor->offset_bytes == cursor->block_limit_bytes)
        cursor_enter(cursor, cursor->offset_bytes);
    if (cursor->offset_bytes == 0 || !sim_recording_decode(cursor, &next))
        return false;
    *event = next;
    return true;
}

uint32_t
sim_recording_stack(const struct sim_recording *recording, uint32_t stack,
                    uint32_t *frames, uint32_t frames_max)
{
    const struct sim_recording_node *nodes = recording->nodes.items;
    uint32_t node = ((const uint32_t *)recording->stacks.items)[stack];
    uint32_t depth = 0;

    for (; node != SIM_RECORDING_NONE; node = nodes[node].caller) {
        if (depth < frames_max)
            frames[depth] = nodes[node].frame;
        depth++;
    }
    return depth;
}

uint32_t
sim_recording_stack_pcs(const struct sim_recording *recording, uint32_t stack,
                        uintptr_t *pcs, uint32_t pcs_max)
{
    uint32_t frames[SIM_RECORDED_DEPTH_MAX];
    uint32_t depth =
        sim_recording_stack(recording, stack, frames, SIM_RECORDED_DEPTH_MAX);
    uint32_t i;

    for (i = 0; i < depth && i < pcs_max; i++)
        pcs[i] = sim_recording_frame_at(recording, frames[i])->pc;
    return depth;
}

struct sim_recorded_frame
sim_recording_frame(const struct sim_recording *recording, uint32_t frame)
{
    char *const *strings = recording->strings.items;
    const uint32_t *modules = recording->modules.items; /* their paths */
    const struct sim_recording_frame *from =
        sim_recording_frame_at(recording, frame);
    struct sim_recorded_frame result = {
        .pc = from->pc,
        .function = strings[from->function],
        .function_offset = from->function_offset,
        .file = strings[from->file],
        .line = from->line,
        .module = "",
    };

    if (from->module != 0)
        result.module = strings[modules[from->module - 1]];
    return result;
}

bool
sim_recording_is_inlined(const struct sim_recording *recording, uint32_t frame)
{
    return frame + 1 < recording->frames.count &&
           sim_recording_frame_at(recording, frame)->pc ==
               sim_recording_frame_at(recording, frame + 1)->pc;
}
