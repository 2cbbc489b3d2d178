/*
 * log_model.h -- a model of the recorder's log, byte by byte, written from
 * spool.h alone. A test reports each event to the recorder and to the model.
 *
 * Here an image is a process between two forks; each has a log of its own.
 */
#ifndef LOG_MODEL_H
#define LOG_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "hooks.h"
#include "spool.h"

enum {
    MODEL_THREADS = 4,
    MODEL_STACKS = 12,
    MODEL_LOCKS = 6,
    MODEL_LOG_BYTES = 65536,
    MODEL_SLOTS = 4096 /* for locks that a thread waits for */
};

struct model_thread {
    bool is_known; /* this image's log has the thread */
    uint32_t index;
    uint32_t names_seen;
};

/* A wait or a resize that has begun. */
struct model_begun {
    uint32_t image;
    uint64_t offset; /* of its record or its stack; 0: not logged */
    uint64_t start_ticks;
    bool is_registered;
};

struct log_model {
    uint32_t image;
    uint64_t first_bytes; /* where records begin */
    uint64_t used_bytes;
    uint64_t published_bytes;
    uint64_t limit_bytes;
    uint64_t disk_bytes;
    bool is_full;
    enum embed_cause cause;
    uint64_t dropped[EMBED_DROP_COUNT];
    uint64_t events, asked_bytes, executed, notes;
    uint64_t last_ticks;
    uint32_t threads_count;
    uint32_t names;                         /* how often a thread was named */
    char name[16];                          /* of all threads */
    uint64_t offset_of_stack[MODEL_STACKS]; /* in this epoch; 0: none */
    struct model_thread threads[MODEL_THREADS];
    uint32_t slot_lock[MODEL_SLOTS]; /* 1 + lock; 0: free */
    uint32_t slot_count[MODEL_SLOTS];
    uint32_t awaited;               /* slots in use */
    uint8_t bytes[MODEL_LOG_BYTES]; /* from first_bytes on */
};

/* Which thread and stack made a call, and when. */
struct model_moment {
    uint32_t thread;
    uint32_t stack;
    uint64_t ticks;
    uint64_t coarse_ticks;
};

/* Make a stack. Stacks come in similar pairs, to collide: equal hashes, and one
 * longer or with a different end. out: pcs; returns: the depth */
uint32_t log_model_stack(uint32_t stack, uintptr_t *pcs);
uint64_t log_model_hash(uint32_t stack);

/* Begin an image. in: first_bytes, where records begin in its log */
void log_model_begin(struct log_model *model, uint64_t first_bytes,
                     uint64_t ticks, uint32_t threads_before);

/* usable_bytes: UINT64_MAX if they are not logged */
void log_model_alloc(struct log_model *model, const struct model_moment *at,
                     uint64_t address, struct embed_request request,
                     uint64_t usable_bytes);
void log_model_free(struct log_model *model, const struct model_moment *at,
                    uint64_t address);
struct model_begun log_model_resize(struct log_model *model,
                                    const struct model_moment *at,
                                    uint64_t address);
/* in: address, 0 if the resize failed, or if it was to 0 bytes and freed */
void log_model_resized(struct log_model *model, const struct model_moment *at,
                       const struct model_begun *begun, uint64_t address,
                       uint64_t bytes, uint64_t usable_bytes);

/* in: slot, slot_of: the locks' places in the table of locks waited for */
struct model_begun log_model_wait(struct log_model *model,
                                  const struct model_moment *at, uint32_t lock,
                                  uint32_t slot, bool has_releaser);
void log_model_waited(struct log_model *model, const struct model_moment *at,
                      const struct model_begun *begun, uint64_t address,
                      uint32_t slot, uint32_t detail);
void log_model_release(struct log_model *model, const struct model_moment *at,
                       uint32_t lock, uint32_t slot, uint64_t address,
                       enum embed_lock_kind kind);
void log_model_unload(struct log_model *model, const struct model_moment *at);

/* returns: the offset of the EXEC record, 0 if there was no room */
uint64_t log_model_exec(struct log_model *model, uint32_t process,
                        const char *path, uint32_t path_bytes, uint64_t ticks);
void log_model_change(struct log_model *model, uint64_t offset,
                      enum embed_kind kind);

#endif
