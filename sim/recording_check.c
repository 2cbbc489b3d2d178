/*
 * recording_check.c -- is this file a recording? One pass, in file order.
 *
 * A file is foreign: each record is read with take(), which knows the largest
 * value that makes sense and reports the first thing that does not, with its
 * offset; after a failure everything reads as 0 and the loops end.
 */
#include "recording_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD_BYTES        12u
#define PAYLOAD_BYTES_MAX (1u << 20)
#define TEXT_BYTES_MAX    65536u
#define ID_BYTES_MAX      64u
#define CAUSES_MAX        64u

/* A place in a file while it is checked. */
struct reader {
    struct sim_recording *recording;
    struct sim_recording_error *error;
    uint64_t at;
    uint64_t limit; /* of the block's payload */
    uint32_t crc;   /* of all blocks so far */
    bool failed;
    uint64_t previous_pc;
    uint32_t path[SIM_RECORDED_DEPTH_MAX]; /* nodes, root first */
    uint32_t path_depth;
    struct sim_recording_cursor cursor; /* of the events */
    uint8_t *live;                      /* a bit per object */
    uint64_t live_room;                 /* objects */
    struct sim_recording_totals seen;
};

static bool
fail_at(struct reader *reader, uint64_t offset, const char *reason)
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
static void *
list_add(struct reader *reader, struct sim_recording_list *list,
         size_t item_bytes)
{
    uint8_t *item;

    if (list->count == list->room) {
        uint32_t room = list->room == 0 ? 64 : list->room + list->room / 2;
        void *items = NULL;

        if (list->count < SIM_RECORDING_NONE / 2)
            items = realloc(list->items, room * item_bytes);
        if (items == NULL) {
            fail_at(reader, reader->at, "not enough memory for the table");
            return NULL;
        }
        list->items = items;
        list->room = room;
    }
    item = (uint8_t *)list->items + list->count++ * item_bytes;
    memset(item, 0, item_bytes);
    return item;
}

/* A number of at most `max`; 0 once anything has failed. */
static uint64_t
take(struct reader *reader, uint64_t max, const char *what)
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
    fail_at(reader, start, reason);
    return 0;
}

/* returns: a copy ended by NUL, or NULL on failure */
static char *
take_text(struct reader *reader, const char *what)
{
    uint64_t bytes = take(reader, TEXT_BYTES_MAX, what);
    const uint8_t *from = reader->recording->bytes + reader->at;
    char *text;

    if (reader->failed)
        return NULL;
    if (bytes > reader->limit - reader->at) {
        fail_at(reader, reader->at, "text reaches past its block");
        return NULL;
    }
    if (memchr(from, 0, bytes) != NULL) {
        fail_at(reader, reader->at, "text holds a NUL byte");
        return NULL;
    }
    text = malloc(bytes + 1);
    if (text == NULL) {
        fail_at(reader, reader->at, "not enough memory for a text");
        return NULL;
    }
    memcpy(text, from, bytes);
    text[bytes] = '\0';
    reader->at += bytes;
    return text;
}

static void
read_text_into(struct reader *reader, struct sim_recording_list *list,
               const char *what)
{
    char *text = take_text(reader, what);
    char **place;

    if (text == NULL)
        return;
    place = list_add(reader, list, sizeof *place);
    if (place == NULL)
        free(text);
    else
        *place = text;
}

static void
read_about(struct reader *reader)
{
    struct sim_recording_totals *totals = &reader->recording->totals;
    uint64_t at = reader->at;
    uint64_t arguments;

    totals->ticks_per_second = take(reader, UINT64_MAX, "tick rate");
    if (!reader->failed && totals->ticks_per_second == 0)
        fail_at(reader, at, "tick rate: 0 ticks a second");
    totals->start_ticks = take(reader, UINT64_MAX, "start");
    totals->process = (uint32_t)take(reader, UINT32_MAX, "process");
    totals->parent = (uint32_t)take(reader, UINT32_MAX, "parent");
    at = reader->at;
    totals->depth_max =
        (uint32_t)take(reader, SIM_RECORDED_DEPTH_MAX, "depth limit");
    if (!reader->failed && totals->depth_max == 0)
        fail_at(reader, at, "depth limit: 0");
    arguments = take(reader, PAYLOAD_BYTES_MAX, "number of arguments");
    for (; arguments > 0 && !reader->failed; arguments--)
        read_text_into(reader, &reader->recording->arguments, "argument");
    if (!reader->failed && reader->at != reader->limit)
        fail_at(reader, reader->at, "bytes left over in the block");
}

static void
read_module(struct reader *reader)
{
    struct sim_recording *recording = reader->recording;
    uint64_t start = take(reader, UINT64_MAX, "module start");
    uint64_t at = reader->at;
    uint64_t length = take(reader, UINT64_MAX, "module length");
    struct sim_recording_module *module;
    uint64_t path;
    uint64_t bytes;

    if (!reader->failed && (length == 0 || length > UINT64_MAX - start))
        fail_at(reader, at, "module length: out of range");
    take(reader, UINT64_MAX, "module offset");
    path = take(reader, recording->strings.count - 1, "module path");
    bytes = take(reader, ID_BYTES_MAX, "length of a build id");
    if (!reader->failed && bytes > reader->limit - reader->at)
        fail_at(reader, reader->at, "build id reaches past its block");
    if (reader->failed)
        return;
    reader->at += bytes;
    module = list_add(reader, &recording->modules, sizeof *module);
    if (module != NULL)
        module->path = (uint32_t)path;
}

static void
read_frame(struct reader *reader)
{
    struct sim_recording *recording = reader->recording;
    uint64_t zigzag = take(reader, UINT64_MAX, "pc");
    uint32_t string_max = recording->strings.count - 1;
    struct sim_recording_frame frame;
    struct sim_recording_frame *place;

    frame.pc = reader->previous_pc + (zigzag >> 1 ^ (0 - (zigzag & 1)));
    frame.module = (uint32_t)take(reader, recording->modules.count, "module");
    frame.function = (uint32_t)take(reader, string_max, "function");
    frame.function_offset = take(reader, UINT64_MAX, "function offset");
    frame.file = (uint32_t)take(reader, string_max, "source file");
    frame.line = (uint32_t)take(reader, UINT32_MAX, "line");
    if (reader->failed)
        return;
    reader->previous_pc = frame.pc;
    place = list_add(reader, &recording->frames, sizeof frame);
    if (place != NULL)
        *place = frame;
}

/* The path is the stack before, as nodes from the root; I1. */
static void
read_stack(struct reader *reader)
{
    struct sim_recording *recording = reader->recording;
    uint32_t depth_max = recording->totals.depth_max;
    uint32_t frames[SIM_RECORDED_DEPTH_MAX];
    uint32_t keep = (uint32_t)take(reader, reader->path_depth, "keep");
    uint32_t fresh = (uint32_t)take(reader, depth_max - keep, "new frames");
    uint32_t *stack;
    uint32_t i;

    if (!reader->failed && fresh > 0 && recording->frames.count == 0)
        fail_at(reader, reader->at, "a stack without frames in the file");
    for (i = 0; i < fresh && !reader->failed; i++)
        frames[i] =
            (uint32_t)take(reader, recording->frames.count - 1, "frame");
    reader->path_depth = keep;
    for (i = fresh; i > 0 && !reader->failed; i--) {
        struct sim_recording_node *node = list_add(
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
    stack = list_add(reader, &recording->stacks, sizeof *stack);
    if (stack != NULL)
        *stack = reader->path_depth == 0 ? SIM_RECORDING_NONE
                                         : reader->path[reader->path_depth - 1];
}

static void
read_thread(struct reader *reader)
{
    uint64_t number = take(reader, UINT64_MAX, "thread");
    uint64_t *place;

    if (reader->failed)
        return;
    place = list_add(reader, &reader->recording->threads, sizeof(uint64_t));
    if (place != NULL)
        *place = number;
}

static bool
make_live(struct reader *reader, uint64_t object)
{
    if (object == reader->live_room) {
        uint64_t room = reader->live_room == 0 ? 4096 : reader->live_room * 2;
        uint8_t *live = realloc(reader->live, room / 8);

        if (live == NULL)
            return fail_at(reader, reader->at, "not enough memory for objects");
        memset(live + reader->live_room / 8, 0, (room - reader->live_room) / 8);
        reader->live = live;
        reader->live_room = room;
    }
    reader->live[object / 8] |= (uint8_t)(1u << object % 8);
    return true;
}

static bool
check_event(struct reader *reader, uint64_t at,
            const struct sim_recorded *event)
{
    struct sim_recording *recording = reader->recording;
    struct sim_recording_totals *seen = &reader->seen;
    uint8_t bit = (uint8_t)(1u << event->object % 8);

    if (event->thread >= recording->threads.count)
        return fail_at(reader, at, "event of a thread not in the file");
    if (event->kind != SIM_RECORDED_FREE &&
        event->stack >= recording->stacks.count)
        return fail_at(reader, at, "event with a stack not in the file");
    if (event->ticks > UINT64_MAX - recording->totals.start_ticks)
        return fail_at(reader, at, "the clock passes its end");
    switch (event->kind) {
    case SIM_RECORDED_ALLOC:
        seen->allocs++;
        return make_live(reader, event->object);
    case SIM_RECORDED_FREE:
        if ((reader->live[event->object / 8] & bit) == 0)
            return fail_at(reader, at, "free of an object that is not live");
        reader->live[event->object / 8] &= (uint8_t)~bit;
        seen->frees++;
        return true;
    case SIM_RECORDED_WAIT:
        if (event->wait_ticks > event->ticks)
            return fail_at(reader, at, "a wait that began before the start");
        seen->waits++;
        return true;
    case SIM_RECORDED_RELEASE:
        if (event->lock_kind > SIM_RECORDED_READ)
            return fail_at(reader, at, "release of a lock of no such kind");
        seen->releases++;
        return true;
    }
    return false;
}

static void
read_event(struct reader *reader)
{
    struct sim_recorded event;
    uint64_t at = reader->at;

    reader->cursor.offset_bytes = at;
    reader->cursor.block_limit_bytes = reader->limit;
    if (!sim_recording_decode(&reader->cursor, &event)) {
        fail_at(reader, at, "not an event");
        return;
    }
    reader->at = reader->cursor.offset_bytes;
    check_event(reader, at, &event);
}

static void
read_totals(struct reader *reader)
{
    struct sim_recording_totals *totals = &reader->recording->totals;
    const struct sim_recording_totals *seen = &reader->seen;
    uint64_t at = reader->at;
    uint64_t causes;
    uint64_t i;

    totals->allocs = take(reader, UINT64_MAX, "allocations");
    totals->frees = take(reader, UINT64_MAX, "frees");
    totals->waits = take(reader, UINT64_MAX, "waits");
    totals->releases = take(reader, UINT64_MAX, "releases");
    totals->live = take(reader, UINT64_MAX, "live");
    if (totals->allocs != seen->allocs || totals->frees != seen->frees ||
        totals->waits != seen->waits || totals->releases != seen->releases ||
        totals->live != seen->allocs - seen->frees)
        fail_at(reader, at, "totals do not match the events");
    at = reader->at;
    causes = take(reader, CAUSES_MAX, "causes");
    if (!reader->failed && causes < SIM_RECORDED_CAUSE_COUNT)
        fail_at(reader, at, "too few causes of drops");
    for (i = 0; i < causes && !reader->failed; i++) {
        uint64_t dropped = take(reader, UINT64_MAX, "dropped");

        if (i < SIM_RECORDED_CAUSE_COUNT)
            totals->dropped[i] = dropped;
    }
    if (!reader->failed && reader->at != reader->limit)
        fail_at(reader, reader->at, "bytes left over in the block");
}

static void
read_payload(struct reader *reader, uint8_t kind)
{
    while (reader->at < reader->limit && !reader->failed) {
        switch (kind) {
        case 'A':
            read_about(reader);
            break;
        case 'S':
            read_text_into(reader, &reader->recording->strings, "string");
            break;
        case 'M':
            read_module(reader);
            break;
        case 'F':
            read_frame(reader);
            break;
        case 'K':
            read_stack(reader);
            break;
        case 'T':
            read_thread(reader);
            break;
        case 'E':
            read_event(reader);
            break;
        case 'Z':
            read_totals(reader);
            break;
        }
    }
}

static uint32_t
crc_of(uint32_t crc, const uint8_t *bytes, uint64_t count)
{
    uint32_t table[256];
    uint32_t i;
    uint64_t at;

    for (i = 0; i < 256; i++) {
        uint32_t value = i;
        int bit;

        for (bit = 0; bit < 8; bit++)
            value = value >> 1 ^ (0xedb88320u & (0 - (value & 1)));
        table[i] = value;
    }
    crc = ~crc;
    for (at = 0; at < count; at++)
        crc = crc >> 8 ^ table[(crc ^ bytes[at]) & 0xff];
    return ~crc;
}

/* Check a block's frame; sets at and limit to its payload. */
static bool
enter_block(struct reader *reader)
{
    const struct sim_recording *recording = reader->recording;
    const uint8_t *head = recording->bytes + reader->at;
    uint64_t left = recording->bytes_count - reader->at;
    uint32_t bytes;

    if (left < SIM_BLOCK_HEAD_BYTES)
        return fail_at(reader, reader->at,
                       left == 0 ? "the file ends without its totals: cut off"
                                 : "the file ends inside a block: cut off");
    bytes = sim_recording_u32(head + 1);
    if (bytes == 0 || bytes > PAYLOAD_BYTES_MAX)
        return fail_at(reader, reader->at, "block length out of range");
    if (bytes > left - SIM_BLOCK_HEAD_BYTES)
        return fail_at(reader, reader->at,
                       "the file ends inside a block: cut off");
    reader->crc = crc_of(reader->crc, head, 5);
    reader->crc = crc_of(reader->crc, head + SIM_BLOCK_HEAD_BYTES, bytes);
    if (reader->crc != sim_recording_u32(head + 5))
        return fail_at(reader, reader->at, "block checksum does not match");
    reader->at += SIM_BLOCK_HEAD_BYTES;
    reader->limit = reader->at + bytes;
    return true;
}

static bool
read_blocks(struct reader *reader)
{
    static const char order[] = "ASMFKTEZ";
    struct sim_recording *recording = reader->recording;
    const char *previous = NULL;

    while (previous == NULL || *previous != 'Z') {
        uint64_t at = reader->at;
        const char *kind;

        if (!enter_block(reader))
            return false;
        kind = memchr(order, recording->bytes[at], sizeof order - 1);
        if (kind == NULL)
            return fail_at(reader, at, "block of no known kind");
        if (previous == NULL ? *kind != 'A' : kind < previous || *kind == 'A')
            return fail_at(reader, at, "block out of order");
        if (*kind == 'E' && recording->events_offset == 0)
            recording->events_offset = at;
        read_payload(reader, (uint8_t)*kind);
        if (reader->failed)
            return false;
        previous = kind;
    }
    if (reader->at != recording->bytes_count)
        return fail_at(reader, reader->at, "bytes behind the totals");
    return true;
}

static bool
read_head(struct reader *reader)
{
    static const uint8_t magic[8] = "PROFREC\n";
    struct sim_recording *recording = reader->recording;
    char **empty;

    if (recording->bytes_count < sizeof magic ||
        memcmp(recording->bytes, magic, sizeof magic) != 0)
        return fail_at(reader, 0, "not a recording");
    if (recording->bytes_count < HEAD_BYTES)
        return fail_at(reader, recording->bytes_count,
                       "the file ends inside its head: cut off");
    if (sim_recording_u32(recording->bytes + 8) != 1)
        return fail_at(reader, 8, "a version this reader does not know");
    reader->at = HEAD_BYTES;
    empty = list_add(reader, &recording->strings, sizeof *empty);
    if (empty == NULL)
        return false;
    *empty = calloc(1, 1);
    return *empty != NULL || fail_at(reader, 0, "not enough memory");
}

/* Sort frames by pc: heap sort, so that no file makes it slow. */
static void
sift(const struct sim_recording *recording, uint32_t *order, uint32_t at,
     uint32_t count)
{
    for (;;) {
        uint32_t child = 2 * at + 1;
        uint32_t held = order[at];

        if (child >= count)
            return;
        if (child + 1 < count &&
            sim_recording_frame_at(recording, order[child])->pc <
                sim_recording_frame_at(recording, order[child + 1])->pc)
            child++;
        if (sim_recording_frame_at(recording, held)->pc >=
            sim_recording_frame_at(recording, order[child])->pc)
            return;
        order[at] = order[child];
        order[child] = held;
        at = child;
    }
}

static bool
sort_frames(struct reader *reader)
{
    struct sim_recording *recording = reader->recording;
    uint32_t count = recording->frames.count;
    uint32_t *order = malloc((count + 1) * sizeof *order);
    uint32_t i;

    if (order == NULL)
        return fail_at(reader, 0, "not enough memory");
    recording->by_pc = order;
    for (i = 0; i < count; i++)
        order[i] = i;
    for (i = count / 2; i > 0; i--)
        sift(recording, order, i - 1, count);
    for (i = count; i > 1; i--) {
        uint32_t last = order[i - 1];

        order[i - 1] = order[0];
        order[0] = last;
        sift(recording, order, 0, i - 1);
    }
    return true;
}

static void
fill_totals(struct sim_recording *recording, uint64_t locks)
{
    struct sim_recording_totals *totals = &recording->totals;

    totals->locks = locks;
    totals->arguments = recording->arguments.count;
    totals->threads = recording->threads.count;
    totals->stacks = recording->stacks.count;
    totals->frames = recording->frames.count;
}

bool
sim_recording_check(struct sim_recording *recording,
                    struct sim_recording_error *error)
{
    struct reader *reader = calloc(1, sizeof *reader);
    bool good;

    memset(error, 0, sizeof *error);
    if (reader == NULL) {
        snprintf(error->reason, sizeof error->reason, "not enough memory");
        return false;
    }
    reader->recording = recording;
    reader->cursor.recording = recording;
    reader->error = error;
    good = read_head(reader) && read_blocks(reader) && sort_frames(reader);
    if (good)
        fill_totals(recording, reader->cursor.locks);
    free(reader->live);
    free(reader);
    return good;
}
