/*
 * recording_check.c -- is this file a recording? One pass, in file order:
 * blocks and their checksums, tables, events, totals.
 */
#include "common/recording/recording_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD_BYTES        12u
#define PAYLOAD_BYTES_MAX (1u << 20)
#define CAUSES_MIN        7u /* the first recorders had no more */
#define CAUSES_MAX        64u

static bool
make_live(struct sim_recording_reader *reader, uint64_t object)
{
    if (object == reader->live_room) {
        uint64_t room = reader->live_room == 0 ? 4096 : reader->live_room * 2;
        uint8_t *live = realloc(reader->live, room / 8);

        if (live == NULL)
            return sim_recording_fail(reader, reader->at,
                                      "not enough memory for objects");
        memset(live + reader->live_room / 8, 0, (room - reader->live_room) / 8);
        reader->live = live;
        reader->live_room = room;
    }
    reader->live[object / 8] |= (uint8_t)(1u << object % 8);
    return true;
}

static bool
check_event(struct sim_recording_reader *reader, uint64_t at,
            const struct sim_recorded *event)
{
    struct sim_recording *recording = reader->recording;
    struct sim_recording_totals *seen = &reader->seen;
    uint8_t bit = (uint8_t)(1u << event->object % 8);

    if (event->thread >= recording->threads.count)
        return sim_recording_fail(reader, at,
                                  "event of a thread not in the file");
    if (event->kind != SIM_RECORDED_FREE &&
        event->stack >= recording->stacks.count)
        return sim_recording_fail(reader, at,
                                  "event with a stack not in the file");
    if (event->ticks > UINT64_MAX - recording->totals.start_ticks)
        return sim_recording_fail(reader, at, "the clock passes its end");
    switch (event->kind) {
    case SIM_RECORDED_ALLOC:
        seen->allocs++;
        return make_live(reader, event->object);
    case SIM_RECORDED_FREE:
        if ((reader->live[event->object / 8] & bit) == 0)
            return sim_recording_fail(reader, at,
                                      "free of an object that is not live");
        reader->live[event->object / 8] &= (uint8_t)~bit;
        seen->frees++;
        return true;
    case SIM_RECORDED_RESIZE:
        if ((reader->live[event->object / 8] & bit) == 0)
            return sim_recording_fail(reader, at,
                                      "resize of an object that is not live");
        seen->resizes++;
        return true;
    case SIM_RECORDED_WAIT:
        if (event->wait_ticks > event->ticks)
            return sim_recording_fail(reader, at,
                                      "a wait that began before the start");
        seen->waits++;
        return true;
    case SIM_RECORDED_RELEASE:
        if (event->lock_kind > SIM_RECORDED_READ)
            return sim_recording_fail(reader, at,
                                      "release of a lock of no such kind");
        seen->releases++;
        return true;
    }
    return false;
}

static void
read_event(struct sim_recording_reader *reader)
{
    struct sim_recorded event;
    uint64_t at = reader->at;

    reader->cursor.offset_bytes = at;
    reader->cursor.block_limit_bytes = reader->limit;
    if (!sim_recording_decode(&reader->cursor, &event)) {
        sim_recording_fail(reader, at, "not an event");
        return;
    }
    reader->at = reader->cursor.offset_bytes;
    check_event(reader, at, &event);
}

static void
read_totals(struct sim_recording_reader *reader)
{
    struct sim_recording_totals *totals = &reader->recording->totals;
    const struct sim_recording_totals *seen = &reader->seen;
    uint64_t at = reader->at;
    uint64_t causes;
    uint64_t i;

    totals->allocs = sim_recording_take(reader, UINT64_MAX, "allocations");
    totals->frees = sim_recording_take(reader, UINT64_MAX, "frees");
    totals->waits = sim_recording_take(reader, UINT64_MAX, "waits");
    totals->releases = sim_recording_take(reader, UINT64_MAX, "releases");
    if (reader->recording->version > 1)
        totals->resizes = sim_recording_take(reader, UINT64_MAX, "resizes");
    totals->live = sim_recording_take(reader, UINT64_MAX, "live");
    if (totals->allocs != seen->allocs || totals->frees != seen->frees ||
        totals->waits != seen->waits || totals->releases != seen->releases ||
        totals->resizes != seen->resizes ||
        totals->live != seen->allocs - seen->frees)
        sim_recording_fail(reader, at, "totals do not match the events");
    at = reader->at;
    causes = sim_recording_take(reader, CAUSES_MAX, "causes");
    if (!reader->failed && causes < CAUSES_MIN)
        sim_recording_fail(reader, at, "too few causes of drops");
    for (i = 0; i < causes && !reader->failed; i++) {
        uint64_t dropped = sim_recording_take(reader, UINT64_MAX, "dropped");

        if (i < SIM_RECORDED_CAUSE_COUNT)
            totals->dropped[i] = dropped;
    }
    if (!reader->failed && reader->at != reader->limit)
        sim_recording_fail(reader, reader->at, "bytes left over in the block");
}

static void
read_payload(struct sim_recording_reader *reader, uint8_t kind)
{
    while (reader->at < reader->limit && !reader->failed) {
        switch (kind) {
        case 'A':
            sim_recording_read_about(reader);
            break;
        case 'S':
            sim_recording_read_text(reader, &reader->recording->strings,
                                    "string");
            break;
        case 'M':
            sim_recording_read_module(reader);
            break;
        case 'F':
            sim_recording_read_frame(reader);
            break;
        case 'K':
            sim_recording_read_stack(reader);
            break;
        case 'T':
            sim_recording_read_thread(reader);
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

uint32_t
sim_recording_crc(uint32_t crc, const uint8_t *bytes, uint64_t count)
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
enter_block(struct sim_recording_reader *reader)
{
    const struct sim_recording *recording = reader->recording;
    const uint8_t *head = recording->bytes + reader->at;
    uint64_t left = recording->bytes_count - reader->at;
    uint32_t bytes;

    if (left < SIM_BLOCK_HEAD_BYTES)
        return sim_recording_fail(
            reader, reader->at,
            left == 0 ? "the file ends without its totals: cut off"
                      : "the file ends inside a block: cut off");
    bytes = sim_recording_u32(head + 1);
    if (bytes == 0 || bytes > PAYLOAD_BYTES_MAX)
        return sim_recording_fail(reader, reader->at,
                                  "block length out of range");
    if (bytes > left - SIM_BLOCK_HEAD_BYTES)
        return sim_recording_fail(reader, reader->at,
                                  "the file ends inside a block: cut off");
    reader->crc = sim_recording_crc(reader->crc, head, 5);
    reader->crc =
        sim_recording_crc(reader->crc, head + SIM_BLOCK_HEAD_BYTES, bytes);
    if (reader->crc != sim_recording_u32(head + 5))
        return sim_recording_fail(reader, reader->at,
                                  "block checksum does not match");
    reader->at += SIM_BLOCK_HEAD_BYTES;
    reader->limit = reader->at + bytes;
    return true;
}

static bool
read_blocks(struct sim_recording_reader *reader)
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
            return sim_recording_fail(reader, at, "block of no known kind");
        if (previous == NULL ? *kind != 'A' : kind < previous || *kind == 'A')
            return sim_recording_fail(reader, at, "block out of order");
        if (*kind == 'E' && recording->events_offset == 0)
            recording->events_offset = at;
        read_payload(reader, (uint8_t)*kind);
        if (reader->failed)
            return false;
        previous = kind;
    }
    if (reader->at != recording->bytes_count)
        return sim_recording_fail(reader, reader->at,
                                  "bytes behind the totals");
    return true;
}

static bool
read_head(struct sim_recording_reader *reader)
{
    static const uint8_t magic[8] = "PROFREC\n";
    static char nothing[1];
    struct sim_recording *recording = reader->recording;
    char **empty;

    if (recording->bytes_count < sizeof magic ||
        memcmp(recording->bytes, magic, sizeof magic) != 0)
        return sim_recording_fail(reader, 0, "not a recording");
    if (recording->bytes_count < HEAD_BYTES)
        return sim_recording_fail(reader, recording->bytes_count,
                                  "the file ends inside its head: cut off");
    recording->version = sim_recording_u32(recording->bytes + 8);
    if (recording->version < 1 || recording->version > 2)
        return sim_recording_fail(reader, 8,
                                  "a version this reader does not know");
    reader->at = HEAD_BYTES;
    empty = sim_recording_add(reader, &recording->strings, sizeof *empty);
    if (empty == NULL)
        return false;
    *empty = nothing;
    return true;
}

static void
fill_totals(struct sim_recording *recording,
            const struct sim_recording_cursor *end)
{
    struct sim_recording_totals *totals = &recording->totals;

    totals->file_bytes = recording->bytes_count;
    totals->locks = end->locks;
    totals->duration_ticks = end->ticks;
    totals->arguments = recording->arguments.count;
    totals->threads = recording->threads.count;
    totals->stacks = recording->stacks.count;
    totals->frames = recording->frames.count;
}

bool
sim_recording_check(struct sim_recording *recording,
                    struct sim_recording_error *error)
{
    struct sim_recording_reader *reader = calloc(1, sizeof *reader);
    bool good;

    memset(error, 0, sizeof *error);
    if (reader == NULL) {
        snprintf(error->reason, sizeof error->reason, "not enough memory");
        return false;
    }
    reader->recording = recording;
    reader->cursor.recording = recording;
    reader->error = error;
    good = read_head(reader) && read_blocks(reader);
    if (good)
        fill_totals(recording, &reader->cursor);
    free(reader->live);
    free(reader);
    return good;
}
