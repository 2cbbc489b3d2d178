/*
 * fork.c -- a forked child begins a log of its own.
 *
 * The kernel clears the state of the image in the child (R4). So the child
 * finds phase 0 and starts a log, however it was forked. It does not inherit
 * the spool's mapping.
 *
 * A child may be forked by a signal handler that interrupted the recorder. When
 * the handler returns, the child continues in the middle of writing the
 * parent's log. So fork() leaves such a child the old state, with unused memory
 * in place of the log, and wipes the state when the child leaves the recorder.
 * Everything that was held by threads that do not exist in the child is
 * released.
 */
#include "record/preload/recorder.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#define MADV_KEEPONFORK 19
#endif

static struct {
    void *place;
    uint64_t bytes;
} log_before;

static pid_t (*real_fork)(void);

static void
before_fork(void)
{
    struct embed_state *state = embed_state;

    if (!embed_inside || state == NULL)
        return;
    log_before.place = state->log;
    log_before.bytes = state->mapped_bytes;
    (void)madvise(state, sizeof *state, MADV_KEEPONFORK);
}

static void
wipe_on_fork_again(void)
{
    if (embed_inside && embed_state != NULL)
        (void)madvise(embed_state, sizeof *embed_state, MADV_WIPEONFORK);
}

/* This also runs after a fork() that failed: the handlers cannot know. */
static void
after_fork_in_parent(void)
{
    if (atomic_load(&embed_confinements) != 0 && embed_is_on())
        embed_drop(EMBED_DROP_CHILDREN);
    wipe_on_fork_again();
}

/* The interrupted code goes on: it needs memory where its log was, and a free
 * lock. */
static void
go_on_beside_the_log(struct embed_state *state)
{
    if (log_before.place != NULL)
        (void)mmap(log_before.place, log_before.bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
                   0);
    state->orphan_bytes = log_before.bytes;
    atomic_store(&state->lock, 0);
    if (atomic_load(&state->phase) == EMBED_STARTING)
        atomic_store(&state->phase, EMBED_OFF);
    embed_self.orphan = true;
    (void)madvise(state, sizeof *state, MADV_WIPEONFORK);
}

/* Wipe what the kernel does not wipe, and the state if the kernel has not. */
static void
wipe(struct embed_state *state)
{
    if (atomic_load(&state->phase) != EMBED_FRESH)
        memset(state, 0, sizeof *state);
    atomic_store(&embed_awaited, 0);
}

static void
after_fork_in_child(void)
{
    struct embed_state *state = embed_state;

    if (state == NULL)
        return;
    embed_forked_ticks = embed_ticks();
    if (embed_inside)
        go_on_beside_the_log(state);
    else
        wipe(state);
    embed_stacks_reclaim();
}

void
embed_fork_leave(void)
{
    struct embed_state *state = embed_state;

    embed_self.orphan = false;
    if (state->log != NULL && state->orphan_bytes != 0)
        munmap(state->log, state->orphan_bytes);
    wipe(state);
}

void
embed_fork_start(void)
{
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

EMBED_HOOK pid_t _Fork(void); /* newer than some headers */

/* fork() for signal handlers: runs no handlers of ours by itself. */
EMBED_HOOK pid_t
_Fork(void)
{
    pid_t child;

    if (real_fork == NULL)
        embed_resolve(&real_fork, "_Fork", NULL);
    before_fork();
    child = real_fork();
    if (child == 0)
        after_fork_in_child();
    else if (child > 0)
        after_fork_in_parent();
    else
        wipe_on_fork_again();
    return child;
}
