/*
 * recording.h -- what a real program did, read from a `.rec` file.
 *
 * docs/recording.md describes the format. Opening a recording checks all of it;
 * afterwards every event, stack and name can be used without a check. Objects
 * are numbered from 0 in order of allocation, locks in order of appearance,
 * threads from 0. The only addresses are those of code.
 */
#ifndef COMMON_RECORDING_RECORDING_H
#define COMMON_RECORDING_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/input.h"

#define SIM_RECORDED_DEPTH_MAX 128u

struct sim_recording; /* opaque; owned by the caller, see _close() */

enum sim_recorded_kind {
    SIM_RECORDED_ALLOC = 1,
    SIM_RECORDED_FREE,
    SIM_RECORDED_WAIT,
    SIM_RECORDED_RELEASE,
    SIM_RECORDED_RESIZE, /* of an object that is live, and stays so */
};

enum sim_recorded_lock {
    SIM_RECORDED_MUTEX,
    SIM_RECORDED_READ,  /* read-write lock; of a release: either way */
    SIM_RECORDED_WRITE, /* read-write lock */
    SIM_RECORDED_COND,
    SIM_RECORDED_SEMAPHORE,
};

/* Why something is missing, in the order of docs/recording.md. */
enum sim_recorded_cause {
    SIM_RECORDED_LIMIT,
    SIM_RECORDED_DISK,
    SIM_RECORDED_INSIDE,
    SIM_RECORDED_EARLY,
    SIM_RECORDED_UNKNOWN,
    SIM_RECORDED_MISSED,
    SIM_RECORDED_WAITERS,
    SIM_RECORDED_CHILDREN, /* older recordings do not count it */
    SIM_RECORDED_CONFINED, /* nor these */
    SIM_RECORDED_CUT,
    SIM_RECORDED_OWN,
    SIM_RECORDED_MAPPED,
    SIM_RECORDED_CAUSE_COUNT
};

/* One event. Fields that its kind does not have are 0. */
struct sim_recorded {
    enum sim_recorded_kind kind;
    enum sim_recorded_lock lock_kind; /* WAIT, RELEASE */
    uint32_t thread;
    uint32_t stack;        /* all but FREE */
    uint64_t ticks;        /* since the recording began; never falls */
    uint64_t object;       /* ALLOC, FREE, RESIZE */
    uint64_t size_bytes;   /* ALLOC, RESIZE */
    uint64_t lock;         /* WAIT, RELEASE */
    uint64_t wait_ticks;   /* WAIT: up to `ticks` */
    bool wait_failed;      /* WAIT: it ended without the lock */
    bool zeroed;           /* ALLOC */
    uint64_t alignment;    /* ALLOC: as requested; 0: none */
    uint64_t usable_bytes; /* ALLOC, RESIZE: as malloc said; 0: not known */
};

struct sim_recording_totals {
    uint64_t allocs;
    uint64_t frees;
    uint64_t waits;
    uint64_t releases;
    uint64_t resizes;
    uint64_t live; /* objects never freed */
    uint64_t dropped[SIM_RECORDED_CAUSE_COUNT];
    uint64_t ticks_per_second;
    uint64_t file_bytes;
    uint64_t start_ticks;
    uint64_t forked_ticks;   /* when the process was forked; 0: not known */
    uint64_t duration_ticks; /* of the last event; 0 without events */
    uint64_t locks;
    uint32_t process;
    uint32_t parent;
    uint32_t depth_max; /* deeper stacks were cut at the root's side */
    uint32_t arguments; /* of the command line */
    uint32_t threads;
    uint32_t stacks;
    uint32_t frames;
};

/* A frame with its names; texts are empty where nothing is known. */
struct sim_recorded_frame {
    uint64_t pc; /* a return address */
    const char *function;
    uint64_t function_offset;
    const char *file;
    uint32_t line;
    const char *module; /* path of the mapped file */
};

/* Why a file was refused. */
struct sim_recording_error {
    bool has_offset; /* false: it could not be read at all */
    uint64_t offset_bytes;
    char reason[112];
};

/* Checksum of blocks, as gzip has it. in: crc, of what is before; at first 0 */
uint32_t sim_recording_crc(uint32_t crc, const uint8_t *bytes, uint64_t count);

/* The position of an iteration; plain data, copy it to remember it. */
struct sim_recording_cursor {
    const struct sim_recording *recording;
    uint64_t offset_bytes;
    uint64_t block_limit_bytes;
    uint64_t ticks;
    uint64_t objects; /* seen so far */
    uint64_t locks;   /* seen so far */
    uint32_t thread;
};

/*
 * Read and check a whole file.
 *
 * out:     *recording, to be closed; *error on failure
 * returns: false if the file is not a recording, or is damaged or cut
 */
bool sim_recording_open(struct sim_recording **recording, const char *path,
                        struct sim_recording_error *error);

/* The same for an input that has been read; takes over its bytes. */
bool sim_recording_take_input(struct sim_recording **recording,
                              struct sim_input *input,
                              struct sim_recording_error *error);

/* NULL is allowed. */
void sim_recording_close(struct sim_recording *recording);

/*
 * The error as one line: `x.rec: offset 4096: block checksum does not match`.
 *
 * out:     line, ended by NUL, cut if line_bytes is too small
 */
void sim_recording_explain(const struct sim_recording_error *error,
                           const char *path, char *line, size_t line_bytes);

/* returns: size of the file */
uint64_t sim_recording_bytes(const struct sim_recording *recording);

const struct sim_recording_totals *
sim_recording_totals(const struct sim_recording *recording);

/* in: index < totals.arguments; returns: text owned by the recording */
const char *sim_recording_argument(const struct sim_recording *recording,
                                   uint32_t index);

/* in: thread < totals.threads; returns: the kernel's number of it */
uint64_t sim_recording_thread(const struct sim_recording *recording,
                              uint32_t thread);

/* returns: its name, owned by the recording; "" if none is known */
const char *sim_recording_thread_name(const struct sim_recording *recording,
                                      uint32_t thread);

/* returns: how many events there are */
uint64_t sim_recording_events(const struct sim_recording *recording);

/* Begin before the first event. */
void sim_recording_begin(const struct sim_recording *recording,
                         struct sim_recording_cursor *cursor);

/*
 * Take the next event.
 *
 * out:     *event
 * returns: false after the last one; *event is then untouched
 */
bool sim_recording_next(struct sim_recording_cursor *cursor,
                        struct sim_recorded *event);

/*
 * The frames of a stack, leaf first.
 *
 * out:     frames, room for frames_max numbers
 * in:      stack < totals.stacks
 * returns: the stack's depth, at most SIM_RECORDED_DEPTH_MAX; frames that do
 *          not fit are left out
 */
uint32_t sim_recording_stack(const struct sim_recording *recording,
                             uint32_t stack, uint32_t *frames,
                             uint32_t frames_max);

/* The same as program counters. */
uint32_t sim_recording_stack_pcs(const struct sim_recording *recording,
                                 uint32_t stack, uintptr_t *pcs,
                                 uint32_t pcs_max);

/* in: frame < totals.frames; returns: texts owned by the recording */
struct sim_recorded_frame
sim_recording_frame(const struct sim_recording *recording, uint32_t frame);

/*
 * Is a frame's function inlined into another one? The other one is then frame
 * `frame + 1`, with the same pc.
 */
bool sim_recording_is_inlined(const struct sim_recording *recording,
                              uint32_t frame);

#endif
