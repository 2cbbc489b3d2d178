/*
 * recfile.h -- writes recordings, docs/recording.md.
 *
 * Records come in the order of the file: about, strings, modules, frames,
 * stacks, threads, events, end. This file computes the deltas and makes the
 * blocks. The recording is built in memory, so the file appears whole or not at
 * all.
 */
#ifndef RECORD_CONVERT_RECFILE_H
#define RECORD_CONVERT_RECFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/proto.h"

#define CLI_RECFILE_CAUSES 12u

/* Plain data; `to` is the file after cli_recfile_end(). */
struct cli_recfile {
    struct cli_proto to;
    size_t block_offset; /* of the open block */
    uint32_t crc;
    uint8_t block_kind; /* 0: no block is open */
    uint64_t pc;        /* of the frame before */
    uint32_t stack[128];
    uint32_t stack_depth;
    uint64_t ticks; /* of the event before */
    uint32_t thread;
    uint64_t allocs;
    uint64_t frees;
    uint64_t waits;
    uint64_t releases;
    uint64_t resizes;
};

struct cli_recfile_about {
    uint64_t ticks_per_second;
    uint64_t start_ticks;
    uint64_t forked_ticks; /* 0: not known, or begun by an exec */
    uint32_t process;
    uint32_t parent;
    uint32_t depth_max;
    uint32_t arguments_count;
    const char *const *arguments;
};

struct cli_recfile_module {
    uint64_t start;
    uint64_t length_bytes;
    uint64_t offset;
    uint64_t path; /* string */
    const uint8_t *id;
    uint32_t id_bytes;
};

struct cli_recfile_frame {
    uint64_t pc;
    uint64_t module;   /* from 1; 0: none */
    uint64_t function; /* string */
    uint64_t function_offset;
    uint64_t file; /* string */
    uint32_t line;
};

struct cli_recfile_request {
    bool zeroed;
    bool has_alignment;
    uint32_t alignment_log2; /* below 64 */
    uint64_t usable_bytes;   /* not known: 0, or less than was asked for */
};

void cli_recfile_init(struct cli_recfile *file);
void cli_recfile_release(struct cli_recfile *file);

void cli_recfile_about(struct cli_recfile *file,
                       const struct cli_recfile_about *about);
void cli_recfile_string(struct cli_recfile *file, const char *text);
void cli_recfile_module(struct cli_recfile *file,
                        const struct cli_recfile_module *module);
void cli_recfile_frame(struct cli_recfile *file,
                       const struct cli_recfile_frame *frame);

/* in: frames, leaf first; depth <= 128 */
void cli_recfile_stack(struct cli_recfile *file, const uint32_t *frames,
                       uint32_t depth);
void cli_recfile_thread(struct cli_recfile *file, uint64_t number,
                        const char *name);

/*
 * Write events. Ticks count from the start and never decrease.
 *
 * in: object, its number: the n-th allocation makes object n
 */
void cli_recfile_alloc(struct cli_recfile *file, uint32_t thread,
                       uint64_t ticks, uint64_t size_bytes,
                       const struct cli_recfile_request *request,
                       uint32_t stack);
void cli_recfile_free(struct cli_recfile *file, uint32_t thread, uint64_t ticks,
                      uint64_t object);

/* in: usable_bytes, as in a request */
void cli_recfile_resize(struct cli_recfile *file, uint32_t thread,
                        uint64_t ticks, uint64_t object, uint64_t size_bytes,
                        uint64_t usable_bytes, uint32_t stack);

/* in: lock_kind as in docs/recording.md; failed: it ended without the lock */
void cli_recfile_wait(struct cli_recfile *file, uint32_t thread, uint64_t ticks,
                      uint32_t lock_kind, bool failed, uint64_t lock,
                      uint64_t wait_ticks, uint32_t stack);
void cli_recfile_release_of(struct cli_recfile *file, uint32_t thread,
                            uint64_t ticks, uint32_t lock_kind, uint64_t lock,
                            uint32_t stack);

/* Totals; in: dropped, CLI_RECFILE_CAUSES counts */
void cli_recfile_end(struct cli_recfile *file, const uint64_t *dropped);

#endif
