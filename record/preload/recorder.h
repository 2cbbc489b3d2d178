/*
 * recorder.h -- the internal interface of the LD_PRELOAD recorder.
 *
 *      heap.c, locks.c     the interposed functions; exec.c: those of exec
 *         | hooks.h
 *      events.c            what is logged of them
 *         |     \
 *         |      stack.c     the stack of an event
 *         |        unwind.c    by unwind tables (cfi*.c)
 *         |        frames.c    by frame pointers
 *         v
 *      log.c               one global order; append.c: the end of the log
 *      start.c             when a log begins; fork.c: in a child
 *      spool.c             the file of this image
 *         ^
 *      modules.c           what is mapped where
 *
 * Rules
 *   R1  Nothing here calls malloc. What libc allocates on our behalf is seen by
 *       R2 and passed through.
 *   R2  Between embed_enter() and embed_leave() a thread is inside; interposed
 *       functions that it calls there go straight to the real ones.
 *   R3  Under the recorder lock nothing is called that could take another lock,
 *       and no lock of the dynamic linker is taken at all once it is resolved.
 *   R4  The state of the process image is in one mapping that the kernel clears
 *       on fork: a child finds phase 0 and starts a log of its own.
 */
#ifndef RECORD_PRELOAD_RECORDER_H
#define RECORD_PRELOAD_RECORDER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/preload/hooks.h"
#include "record/preload/spool.h"
#include "record/preload/stack.h"

#define EMBED_TABLE_LOG2 19u
#define EMBED_WAITERS    4096u
#define EMBED_MODULES    1024u

enum embed_phase { EMBED_FRESH, EMBED_STARTING, EMBED_ON, EMBED_OFF };

struct embed_waiter {
    _Atomic uintptr_t lock; /* 0: free */
    uint32_t count;         /* guarded by lock */
};

/* R4. All zero is the state of a process that has not started. */
struct embed_state {
    _Atomic uint32_t phase;
    _Atomic uint32_t lock; /* 0 free, 1 taken, 2 taken and awaited */
    uint8_t *log;          /* the spool; guards: all below by lock */
    uint64_t used_bytes;
    uint64_t limit_bytes;
    uint64_t mapped_bytes;
    uint64_t reserved_bytes; /* the disk has room up to here */
    uint64_t orphan_bytes;   /* in the place of the parent's log */
    uint64_t last_ticks;
    uint64_t unloads; /* so far: the epoch of stacks and modules */
    uint64_t events;  /* without frees */
    uint64_t requested_bytes;
    uint32_t thread_count;
    uint32_t interned_count;
    uint32_t module_count;
    bool full;
    enum embed_cause full_cause;
    uint64_t modules[EMBED_MODULES]; /* hashes of the logged ones */
    struct embed_waiter waiters[EMBED_WAITERS];
    uint64_t table[1u << EMBED_TABLE_LOG2]; /* hash's top | offset / 8 */
};

/* What a thread knows about itself. Initial-exec: reading it calls nothing. */
struct embed_self {
    uint32_t generation; /* of the image that thread_index belongs to */
    uint32_t thread_index;
    bool orphan; /* forked in the middle of the parent's log; see fork.c */
    uint32_t names_seen; /* of embed_names, when its name was logged */
    struct embed_own_stack stack;
};

extern _Thread_local struct embed_self embed_self
    __attribute__((tls_model("initial-exec")));
extern struct embed_state *embed_state; /* NULL until the first start */

extern _Atomic uint32_t embed_generation; /* of images: parent, child ... */
extern _Atomic uint64_t embed_early_drops;
extern _Atomic uint32_t embed_names; /* how often a thread was named */
/* The number of calls that have restricted the system calls of this process
 * (seccomp), or prepared to. After such a call, a child might be killed for
 * opening a spool. */
extern _Atomic uint32_t embed_confinements;

static inline bool
embed_is_confined(void)
{
    return atomic_load_explicit(&embed_confinements, memory_order_relaxed) != 0;
}

extern bool embed_is_bypassed;      /* the program has a malloc of its own */
extern uint64_t embed_forked_ticks; /* of this process; 0: not forked */

static inline bool
embed_is_on(void)
{
    return embed_state != NULL &&
           atomic_load_explicit(&embed_state->phase, memory_order_acquire) ==
               EMBED_ON;
}

static inline struct embed_spool_header *
embed_header(void)
{
    return (struct embed_spool_header *)(void *)embed_state->log;
}

/* The environment when the image began. */
struct embed_config {
    uint64_t limit_bytes;
    uint64_t device; /* and inode: of the folder for spools */
    uint64_t inode;
    bool asks_usable; /* log the usable bytes, too */
    char directory[400];
};
extern struct embed_config embed_config;

/* start.c */

/*
 * Enter the recorder. Starts it, or the log of a forked child, if need be.
 *
 * returns: false if the call must not be logged: the recorder is off, cannot
 *          start yet, or the thread is inside; then errno is not changed
 */
bool embed_enter(void);
void embed_leave(void);

/* spool.c */

/* Begin the spool of this image. context: phase EMBED_STARTING */
bool embed_spool_open(void);

/*
 * Make room on the disk for the first `bytes` of the spool, and some more.
 *
 * returns: false if the disk is full, or the spool no longer exists
 * context: recorder lock held
 */
bool embed_reserve(uint64_t bytes);

/* names.c */

/* Find the real function. context: inside */
void embed_names_resolve(void);

/* maps.c: the same */
void embed_maps_resolve(void);

/* fork.c */

/* Register the handlers that run around a fork. */
void embed_fork_start(void);

/* Stop writing to the parent's log. context: embed_self.orphan */
void embed_fork_leave(void);

/* append.c, log.c, state.c */

/* Count an event that is not logged; or many, or bytes. */
void embed_drop(enum embed_cause cause);
void embed_drop_many(enum embed_cause cause, uint64_t count);

/* The clock of the log, CLOCK_MONOTONIC in ns; coarse if the program has turned
 * off the instruction that reads the exact time. */
uint64_t embed_ticks(void);
extern _Atomic int embed_clock;

void embed_lock(void);
void embed_unlock(void);

/*
 * Log one event, with its stack and thread where they are new.
 *
 * in:      kind; words[0] (the ticks) is filled in; the last word becomes the
 *          stack's offset if stack is not NULL
 * returns: the record's offset, 0 if it was dropped (and counted)
 * context: inside, recorder lock not held
 */
uint64_t embed_log(enum embed_kind kind, uint32_t detail, uint64_t *words,
                   uint32_t words_count, struct embed_stack *stack);

/*
 * Log a stack ahead of its event.
 *
 * returns: its offset, 0 if there is no room
 * context: as embed_log()
 */
uint64_t embed_log_stack(struct embed_stack *stack);

/*
 * Log that a process is about to execute a program. in: bytes of the path, at
 * most 400
 *
 * returns: the record's offset, 0 if there is no room
 */
uint64_t embed_log_exec(uint32_t process, const char *path, uint32_t bytes,
                        uint64_t ticks);

/* Log that a module was unloaded: its addresses may mean something else from
 * here on. */
void embed_log_unload(void);

/* Change a RESIZE that turned out to be a FREE, or to have failed. */
void embed_log_change(uint64_t offset, enum embed_kind kind);

/* returns: room for words_count words at the log's end; NULL if there is
 *          none */
uint64_t *embed_append_words_locked(uint32_t words_count);

/*
 * Append one record.
 *
 * returns: its words after word 0, zeroed; NULL if it was dropped
 * context: recorder lock held; visible after embed_publish_locked()
 */
uint64_t *embed_append_locked(enum embed_kind kind, uint32_t detail,
                              uint32_t number, uint32_t words_count);
void embed_publish_locked(void);

/* modules.c */

/* Log the modules of a new stack. context: inside, recorder lock not held */
void embed_modules_note(struct embed_stack *stack);

#endif
