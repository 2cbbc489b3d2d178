/* recording_decode.c -- decodes the numbers of a recording, and events from
 * these numbers. */
#include <string.h>

#include "common/recording/recording_internal.h"

/* returns: false if the bytes at `at` are not a shortest varint before limit */
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
    uint64_t excess; /* of usable bytes over those requested */
    uint64_t stack;
};

/* Does the tag have a known kind, and no flag that this kind lacks? */
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

/* returns: false if it names an object or a lock that has not occurred */
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
