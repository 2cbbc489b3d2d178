/*
 * recording_internal.h -- the tables of an open recording, shared by the two
 * files that fill and read them.
 */
#ifndef COMMON_RECORDING_RECORDING_INTERNAL_H
#define COMMON_RECORDING_RECORDING_INTERNAL_H

#include "common/recording/recording.h"

#define SIM_RECORDING_NONE UINT32_MAX

struct sim_recording_frame {
    uint64_t pc;
    uint64_t function_offset;
    uint32_t module;
    uint32_t function;
    uint32_t file;
    uint32_t line;
};

struct sim_recording_node {
    uint32_t frame;
    uint32_t caller; /* node, or SIM_RECORDING_NONE at the root */
};

/* A growing array; `items` is NULL until the first is added. */
struct sim_recording_list {
    void *items;
    uint32_t count;
    uint32_t room;
};

struct sim_recording {
    struct sim_recording_totals totals;
    uint8_t *bytes;
    uint64_t bytes_count;
    uint64_t events_offset; /* of the first E block; 0: there is none */
    struct sim_recording_list arguments; /* char *, into bytes */
    struct sim_recording_list strings;   /* the same; [0] is "" */
    struct sim_recording_list modules;   /* uint32_t: string, the path */
    struct sim_recording_list frames;    /* struct sim_recording_frame */
    struct sim_recording_list nodes;     /* struct sim_recording_node */
    struct sim_recording_list
        stacks; /* uint32_t: leaf node, or SIM_RECORDING_NONE */
    struct sim_recording_list threads; /* uint64_t */
    struct sim_recording_list names; /* char *, of threads; not in version 1 */
    uint32_t version;
};

#define SIM_BLOCK_HEAD_BYTES 9u

static inline uint32_t
sim_recording_u32(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 |
           (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static inline struct sim_recording_frame *
sim_recording_frame_at(const struct sim_recording *recording, uint32_t index)
{
    return (struct sim_recording_frame *)recording->frames.items + index;
}

/*
 * Read the shortest varint at `at`, before `limit`.
 *
 * returns: false if there is none
 */
bool sim_recording_varint(const uint8_t *bytes, uint64_t *at, uint64_t limit,
                          uint64_t *value);

/*
 * Decode the event at the cursor and advance the cursor. The caller checks the
 * numbers of threads, stacks and live objects, once.
 *
 * returns: false if the bytes are not an event
 */
bool sim_recording_decode(struct sim_recording_cursor *cursor,
                          struct sim_recorded *event);

/* A place in a file while it is checked. */
struct sim_recording_reader {
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

/* Keep the first failure; returns: false */
bool sim_recording_fail(struct sim_recording_reader *reader, uint64_t offset,
                        const char *reason);

/*
 * Append an item to a table.
 *
 * returns: the new item, zeroed, or NULL if there is no memory (reported)
 */
void *sim_recording_add(struct sim_recording_reader *reader,
                        struct sim_recording_list *list, size_t item_bytes);

/* returns: a number of at most `max`; 0 once anything has failed */
uint64_t sim_recording_take(struct sim_recording_reader *reader, uint64_t max,
                            const char *what);

/* Each reads one record. */
void sim_recording_read_about(struct sim_recording_reader *reader);
void sim_recording_read_text(struct sim_recording_reader *reader,
                             struct sim_recording_list *list, const char *what);
void sim_recording_read_module(struct sim_recording_reader *reader);
void sim_recording_read_frame(struct sim_recording_reader *reader);
void sim_recording_read_stack(struct sim_recording_reader *reader);
void sim_recording_read_thread(struct sim_recording_reader *reader);

/*
 * Check all of recording->bytes and fill the tables.
 *
 * returns: false with *error set; the tables then hold what came before
 */
bool sim_recording_check(struct sim_recording *recording,
                         struct sim_recording_error *error);

#endif
