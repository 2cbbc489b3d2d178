/*
 * recording.c -- the reader of `.rec` files, written from docs/recording.md.
 *
 *      bytes:  PROFREC\n 2 | A ... | S ... | M ... | ... | E ... | E ... | Z ..
 *                            |       |                     ^
 *      tables: strings, modules, frames, nodes, stacks     cursor
 *
 * A file is foreign: whatever it holds, the answer is a recording or an offset
 * and a reason. All is checked at opening, in one pass in file order; events
 * are then decoded again from the bytes by each cursor, with the same function
 * and nothing left to fail.
 *
 * Invariants
 *   I1  each record of a table costs the file at least one byte and us a fixed
 *       number: memory is at most a constant times the size of the file. So
 *       stacks that share frames share nodes (a node is a frame and its
 *       caller), instead of each being written out.
 *   I2  a recording that was returned has only numbers in range.
 */
#include "recording_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* returns: false if the bytes at `at` are no shortest varint before limit */
bool
sim_recording_varint(const uint8_t *bytes, uint64_t *at, uint64_t limit,
                     uint64_t *value)
{
    uint64_t result = 0;
    uint32_t shift;

    for (shift = 0; shift < 70 && *at < limit; shift += 7) {
        uint8_t byte = bytes[(*at)++];

        if (shift == 63 && byte > 1)
            return false;
        result |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *value = result;
            return byte != 0 || shift == 0;
        }
    }
    return false;
}

enum { TAG_SEMAPHORE = 6, TAG_KINDS = 7 };

/* The numbers behind the ticks of an event, by tag. */
struct numbers {
    uint64_t first;
    uint64_t second; /* ticks waited, or the new size */
    uint64_t alignment_log2;
    uint64_t excess; /* of usable bytes over those asked for */
    uint64_t stack;
};

/* Bits of the tag that mean something, by kind. */
static bool
is_tag(const struct sim_recording *recording, uint8_t tag)
{
    static const uint8_t allowed[2][TAG_KINDS] = {
        {0, 0, 0, 0xe0, 0x60},
        {0, 0xe0, 0, 0xe0, 0x60, 0x80, 0x80},
    };
    const uint32_t version = recording->version;
    const uint32_t kind = tag & 15u;
    const uint32_t kinds = version == 1 ? SIM_RECORDED_RELEASE : TAG_SEMAPHORE;

    return kind >= SIM_RECORDED_ALLOC && kind <= kinds &&
           (tag & 0xe0 & ~allowed[version - 1][kind]) == 0;
}

/* Does the event say how many bytes may be used? */
static bool
is_usable(uint8_t tag)
{
    const uint32_t kind = tag & 15u;

    return (tag & 0x80) != 0 &&
           (kind == SIM_RECORDED_ALLOC || kind == SIM_RECORDED_RESIZE);
}

static bool
read_numbers(struct sim_recording_cursor *cursor, uint8_t tag,
             struct numbers *numbers)
{
    const uint8_t *bytes = cursor->recording->bytes;
    uint64_t *at = &cursor->offset_bytes;
    const uint64_t limit = cursor->block_limit_bytes;
    const uint32_t kind = tag & 15u;
    const bool has_second = kind == SIM_RECORDED_WAIT ||
                            kind == SIM_RECORDED_RESIZE ||
                            kind == TAG_SEMAPHORE;
    const bool has_alignment = kind == SIM_RECORDED_ALLOC && (tag & 0x40) != 0;
    const bool has_usable = is_usable(tag);

    memset(numbers, 0, sizeof *numbers);
    return sim_recording_varint(bytes, at, limit, &numbers->first) &&
           (!has_second ||
            sim_recording_varint(bytes, at, limit, &numbers->second)) &&
           (!has_alignment ||
            sim_recording_varint(bytes, at, limit, &numbers->alignment_log2)) &&
           (!has_usable ||
            sim_recording_varint(bytes, at, limit, &numbers->excess)) &&
           (kind == SIM_RECORDED_FREE ||
            sim_recording_varint(bytes, at, limit, &numbers->stack)) &&
           numbers->stack <= UINT32_MAX && numbers->alignment_log2 < 64;
}

/* returns: false if it names an object or a lock that never was */
static bool
fill_event(struct sim_recording_cursor *cursor, struct sim_recorded *event,
           uint8_t tag, const struct numbers *numbers)
{
    const uint64_t first = numbers->first;

    switch (event->kind) {
    case SIM_RECORDED_ALLOC:
        event->size_bytes = first;
        event->object = cursor->objects++;
        event->zeroed = (tag & 0x20) != 0;
        if ((tag & 0x40) != 0)
            event->alignment = UINT64_C(1) << numbers->alignment_log2;
        break;
    case SIM_RECORDED_RESIZE:
        event->size_bytes = numbers->second;
        /* fall through */
    case SIM_RECORDED_FREE:
        if (first == 0 || first > cursor->objects)
            return false;
        event->object = cursor->objects - first;
        break;
    case SIM_RECORDED_WAIT:
        event->wait_ticks = numbers->second;
        /* fall through */
    case SIM_RECORDED_RELEASE:
        if (first > cursor->locks)
            return false;
        event->lock = first;
        event->lock_kind = (enum sim_recorded_lock)(tag >> 5 & 3);
        cursor->locks += first == cursor->locks;
        break;
    }
    return true;
}

/* Decode the varints of one event; ranges are checked by check_event(). */
bool
sim_recording_decode(struct sim_recording_cursor *cursor,
                     struct sim_recorded *event)
{
    const uint8_t *bytes = cursor->recording->bytes;
    uint64_t *at = &cursor->offset_bytes;
    uint64_t limit = cursor->block_limit_bytes;
    uint8_t tag = bytes[(*at)++];
    const bool is_semaphore = (tag & 15u) == TAG_SEMAPHORE;
    uint64_t thread = cursor->thread;
    struct numbers numbers;
    uint64_t delta;

    memset(event, 0, sizeof *event);
    if (!is_tag(cursor->recording, tag) ||
        ((tag & 16) != 0 && !sim_recording_varint(bytes, at, limit, &thread)) ||
        !sim_recording_varint(bytes, at, limit, &delta) ||
        !read_numbers(cursor, tag, &numbers))
        return false;
    if (thread > UINT32_MAX || delta > UINT64_MAX - cursor->ticks)
        return false;
    event->kind =
        is_semaphore ? SIM_RECORDED_WAIT : (enum sim_recorded_kind)(tag & 15u);
    event->wait_failed = event->kind == SIM_RECORDED_WAIT && (tag & 0x80) != 0;
    event->thread = cursor->thread = (uint32_t)thread;
    event->ticks = cursor->ticks += delta;
    event->stack = (uint32_t)numbers.stack;
    if (!fill_event(cursor, event, tag, &numbers) ||
        numbers.excess > UINT64_MAX - event->size_bytes)
        return false;
    if (is_usable(tag))
        event->usable_bytes = event->size_bytes + numbers.excess;
    if (is_semaphore)
        event->lock_kind = SIM_RECORDED_SEMAPHORE;
    return true;
}

/* Takes `bytes` over, whatever the outcome. */
static bool
parse(struct sim_recording **result, uint8_t *bytes, uint64_t bytes_count,
      struct sim_recording_error *error)
{
    struct sim_recording *recording = calloc(1, sizeof *recording);

    *result = NULL;
    if (recording == NULL) {
        memset(error, 0, sizeof *error);
        snprintf(error->reason, sizeof error->reason, "not enough memory");
        free(bytes);
        return false;
    }
    recording->bytes = bytes;
    recording->bytes_count = bytes_count;
    if (sim_recording_check(recording, error)) {
        *result = recording;
        return true;
    }
    sim_recording_close(recording);
    return false;
}

bool
sim_recording_parse(struct sim_recording **recording, const uint8_t *bytes,
                    size_t bytes_count, struct sim_recording_error *error)
{
    uint8_t *copy = malloc(bytes_count + 1);

    *recording = NULL;
    memset(error, 0, sizeof *error);
    if (copy == NULL) {
        snprintf(error->reason, sizeof error->reason, "not enough memory");
        return false;
    }
    memcpy(copy, bytes, bytes_count);
    return parse(recording, copy, bytes_count, error);
}

bool
sim_recording_take_input(struct sim_recording **recording,
                         struct sim_input *input,
                         struct sim_recording_error *error)
{
    uint8_t *bytes = input->bytes;

    input->bytes = NULL;
    return parse(recording, bytes, input->bytes_count, error);
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
    free(recording->by_pc);
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

/* Stand on the first payload byte of the E block at `offset`, or at an end. */
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
    const struct sim_recording_module *modules = recording->modules.items;
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
        result.module = strings[modules[from->module - 1].path];
    return result;
}

bool
sim_recording_is_inlined(const struct sim_recording *recording, uint32_t frame)
{
    return frame + 1 < recording->frames.count &&
           sim_recording_frame_at(recording, frame)->pc ==
               sim_recording_frame_at(recording, frame + 1)->pc;
}

bool
sim_recording_find(const struct sim_recording *recording, uintptr_t pc,
                   struct sim_recorded_frame *frame)
{
    uint32_t low = 0;
    uint32_t high = recording->frames.count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (sim_recording_frame_at(recording, recording->by_pc[middle])->pc <
            pc)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == recording->frames.count ||
        sim_recording_frame_at(recording, recording->by_pc[low])->pc != pc)
        return false;
    *frame = sim_recording_frame(recording, recording->by_pc[low]);
    return true;
}
