/*
 * recording_table.c -- the records of a recording's tables, one at a time.
 *
 * A file is untrusted: sim_recording_take() reads each number, compares it with
 * the largest valid value, and reports the first that is too large, with its
 * offset. After a failure all numbers read as 0, so that loops end.
 */
#include "common/recording/recording_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAYLOAD_BYTES_MAX (1u << 20)
#define TEXT_BYTES_MAX    65536u
#define ID_BYTES_MAX      64u

bool
sim_recording_fail(struct sim_recording_reader *reader, uint64_t offset,
                   const char *reason)
{
    if (!reader->failed) {
        reader->failed = true;
        reader->error->has_offset = true;
        reader->error->offset_bytes = offset;
        snprintf(reader->error->reason, sizeof reader->error->reason, "%s",
                 reason);
    }
    return false;
}

/* returns: the new item, zeroed, or NULL if there is no memory (reported) */
void *
sim_recording_add(struct sim_recording_reader *reader,
                  struct sim_recording_list *list, size_t item_bytes)
{
    uint8_t *item;

    if (list->count == list->room) {
        uint32_t room = list->room == 0 ? 64 : list->room + list->room / 2;
        void *items = NULL;

        if (list->count < SIM_RECORDING_NONE / 2)
            items = realloc(list->items, room * item_bytes);
        if (items == NULL) {
            sim_recording_fail(reader, reader->at,
                               "not enough memory for the table");
            return NULL;
        }
        list->items = items;
        list->room = room;
    }
    item = (uint8_t *)list->items + list->count++ * item_bytes;
    memset(item, 0, item_bytes);
    return item;
}

/* Read a number of at most `max`; 0 once anything has failed. */
uint64_t
sim_recording_take(struct sim_recording_reader *reader, uint64_t max,
                   const char *what)
{
    char reason[sizeof reader->error->reason];
    uint64_t start = reader->at;
    uint64_t value = 0;

    if (reader->failed)
        return 0;
    if (!sim_recording_varint(reader->recording->bytes, &reader->at,
                              reader->limit, &value)) {
        snprintf(reason, sizeof reason, "%s: not a number", what);
    } else if (value > max) {
        snprintf(reason, sizeof reason,
                 "%s: %llu is out of range, at most %llu", what,
                 (unsigned long long)value, (unsigned long long)max);
    } else {
        return value;
    }
    sim_recording_fail(reader, start, reason);
    return 0;
}

/*
 * Terminate a text with NUL in place: it moves one byte to the front, over the
 * last byte of its length. So texts take no memory of their own.
 *
 * returns: the text, of the recording; NULL on failure
 */
static char *
take_text(struct sim_recording_reader *reader, const char *what)
{
    uint64_t bytes = sim_recording_take(reader, TEXT_BYTES_MAX, what);
    uint8_t *from = reader->recording->bytes + reader->at;
    char *text = (char *)from - 1;

    if (reader->failed)
        return NULL;
    if (bytes > reader->limit - reader->at) {
        sim_recording_fail(reader, reader->at, "text reaches past its block");
        return NULL;
    }
    if (memchr(from, 0, bytes) != NULL) {
        sim_recording_fail(reader, reader->at, "text holds a NUL byte");
        return NULL;
    }
    memmove(text, from, bytes);
    text[bytes] = '\0';
    reader->at += bytes;
    return text;
}

void
sim_recording_read_text(struct sim_recording_reader *reader,
                        struct sim_recording_list *list, const char *what)
{
    char *text = take_text(reader, what);
    char **slot;

    if (text == NULL)
        return;
    slot = sim_recording_add(reader, list, sizeof *slot);
    if (slot != NULL)
        *slot = text;
}

void
sim_recording_read_about(struct sim_recording_reader *reader)
{
    struct sim_recording_totals *totals = &reader->recording->totals;
    uint64_t at = reader->at;
    uint64_t arguments;

    totals->ticks_per_second =
        sim_recording_take(reader, UINT64_MAX, "tick rate");
    if (!reader->failed && totals->ticks_per_second == 0)
        sim_recording_fail(reader, at, "tick rate: 0 ticks a second");
    totals->start_ticks = sim_recording_take(reader, UINT64_MAX, "start");
    totals->process =
        (uint32_t)sim_recording_take(reader, UINT32_MAX, "process");
    totals->parent = (uint32_t)sim_recording_take(reader, UINT32_MAX, "parent");
    if (reader->recording->version > 1)
        totals->forked_ticks = sim_recording_take(reader, UINT64_MAX, "forked");
    at = reader->at;
    totals->depth_max = (uint32_t)sim_recording_take(
        reader, SIM_RECORDED_DEPTH_MAX, "depth limit");
    if (!reader->failed && totals->depth_max == 0)
        sim_recording_fail(reader, at, "depth limit: 0");
    arguments =
        sim_recording_take(reader, PAYLOAD_BYTES_MAX, "number of arguments");
    for (; arguments > 0 && !reader->failed; arguments--)
        sim_recording_read_text(reader, &reader->recording->arguments,
                                "argument");
    if (!reader->failed && reader->at != reader->limit)
        sim_recording_fail(reader, reader->at, "bytes left over in the block");
}

void
sim_recording_read_module(struct sim_recording_reader *reader)
{
    struct sim_recording *recording = reader->recording;
    uint64_t start = sim_recording_take(reader, UINT64_MAX, "module start");
    uint64_t at = reader->at;
    uint64_t length = sim_recording_take(reader, UINT64_MAX, "module length");
    uint32_t *module;
    uint64_t path;
    uint64_t bytes;

    if (!reader->failed && (length == 0 || length > UINT64_MAX - start))
        sim_recording_fail(reader, at, "module length: out of range");
    sim_recording_take(reader, UINT64_MAX, "module offset");
    path =
        sim_recording_take(reader, recording->strings.count - 1, "module path");
    bytes = sim_recording_take(reader, ID_BYTES_MAX, "length of a build id");
    if (!reader->failed && bytes > reader->limit - reader->at)
        sim_recording_fail(reader, reader->at,
                           "build id reaches past its block");
    if (reader->failed)
        return;
    reader->at += bytes;
    module = sim_recording_add(reader, &recording->modules, sizeof *module);
    if (module != NULL)
        *module = (uint32_t)path;
}

void
sim_recording_read_frame(struct sim_recording_reader *reader)
{
    struct sim_recording *recording = reader->recording;
    uint64_t zigzag = sim_recording_take(reader, UINT64_MAX, "pc");
    uint32_t string_max = recording->strings.count - 1;
    struct sim_recording_frame frame;
    struct sim_recording_frame *slot;

    frame.pc = reader->previous_pc + (zigzag >> 1 ^ (0 - (zigzag & 1)));
    frame.module = (uint32_t)sim_recording_take(
        reader, recording->modules.count, "module");
    frame.function =
        (uint32_t)sim_recording_take(reader, string_max, "function");
    frame.function_offset =
        sim_recording_take(reader, UINT64_MAX, "function offset");
    frame.file =
        (uint32_t)sim_recording_take(reader, string_max, "source file");
    frame.line = (uint32_t)sim_recording_take(reader, UINT32_MAX, "line");
    if (reader->failed)
        return;
    reader->previous_pc = frame.pc;
    slot = sim_recording_add(reader, &recording->frames, sizeof frame);
    if (slot != NULL)
        *slot = frame;
}

/* Read a stack record. The path has the previous stack's nodes, root first. */
void
sim_recording_read_stack(struct sim_recording_reader *reader)
{
    struct sim_recording *recording = reader->recording;
    uint32_t depth_max = recording->totals.depth_max;
    uint32_t frames[SIM_RECORDED_DEPTH_MAX];
    uint32_t keep =
        (uint32_t)sim_recording_take(reader, reader->path_depth, "keep");
    uint32_t fresh =
        (uint32_t)sim_recording_take(reader, depth_max - keep, "new frames");
    uint32_t *stack;
    uint32_t i;

    if (!reader->failed && fresh > 0 && recording->frames.count == 0)
        sim_recording_fail(reader, reader->at,
                           "a stack without frames in the file");
    for (i = 0; i < fresh && !reader->failed; i++)
        frames[i] = (uint32_t)sim_recording_take(
            reader, recording->frames.count - 1, "frame");
    reader->path_depth = keep;
    for (i = fresh; i > 0 && !reader->failed; i--) {
        struct sim_recording_node *node = sim_recording_add(
            reader, &recording->nodes, sizeof(struct sim_recording_node));
        uint32_t depth = reader->path_depth;

        if (node == NULL)
            return;
        node->frame = frames[i - 1];
        node->caller =
            depth == 0 ? SIM_RECORDING_NONE : reader->path[depth - 1];
        reader->path[depth] = recording->nodes.count - 1;
        reader->path_depth = depth + 1;
    }
    if (reader->failed)
        return;
    stack = sim_recording_add(reader, &recording->stacks, sizeof *stack);
    if (stack != NULL)
        *stack = reader->path_depth == 0 ? SIM_RECORDING_NONE
                                         : reader->path[reader->path_depth - 1];
}

void
sim_recording_read_thread(struct sim_recording_reader *reader)
{
    uint64_t number = sim_recording_take(reader, UINT64_MAX, "thread");
    uint64_t *slot;

    if (reader->failed)
        return;
    slot = sim_recording_add(reader, &reader->recording->threads,
                             sizeof(uint64_t));
    if (slot != NULL)
        *slot = number;
    if (reader->recording->version > 1)
        sim_recording_read_text(reader, &reader->recording->names,
                                "name of a thread");
}
