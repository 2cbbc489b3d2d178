/*
 * log.c -- one global order: the records of events.
 *
 *      malloc -> real malloc -> embed_log(ALLOC)
 *      free   -> embed_log(FREE) -> real free
 *
 * One lock guards "take the clock, append". With this order of calls that gives
 * S2: a free is logged before another thread can get its address.
 *
 * Invariants
 *   L1  log != NULL and used_bytes <= reserved_bytes <= mapped_bytes <=
 *       limit_bytes while the phase is EMBED_ON.
 *   L2  once full, always full: a log that lost events for lack of room is a
 *       prefix.
 *   L3  each event that is not logged is counted in the header, by cause.
 *
 * Room on the disk is made in steps before it is written to, see spool.c.
 */
#include "record/preload/recorder.h"

#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void
embed_drop_many(enum embed_cause cause, uint64_t count)
{
    if (embed_is_on())
        atomic_fetch_add_explicit(&embed_header()->dropped[cause], count,
                                  memory_order_relaxed);
}

void
embed_drop(enum embed_cause cause)
{
    if (embed_is_on())
        embed_drop_many(cause, 1);
    else
        atomic_fetch_add_explicit(&embed_early_drops, 1, memory_order_relaxed);
}

static bool
stack_is_at(uint64_t offset, const struct embed_stack *stack, uint64_t hash)
{
    const struct embed_record *record =
        (const void *)(embed_state->log + offset);
    const uint64_t *words = (const void *)(record + 1);

    return record->number == stack->depth && words[0] == hash &&
           memcmp(words + 1, stack->pcs, 8 * (size_t)stack->depth) == 0;
}

/*
 * returns: the offset of this stack in the log, 0 if there is no room for it
 *
 * Once the table is three quarters full, a stack that is not in it is logged
 * again with each event. That takes more of the log, but loses no event; the
 * reader of the spool merges equal stacks.
 */
static uint64_t
intern_locked(const struct embed_stack *stack, bool *is_new)
{
    struct embed_state *state = embed_state;
    uint32_t mask = (1u << EMBED_TABLE_LOG2) - 1;
    const uint64_t hash =
        stack->hash ^ state->unloads * UINT64_C(0x9e3779b97f4a7c15);
    uint32_t tag = (uint32_t)(hash >> 32);
    uint32_t slot = (uint32_t)hash & mask;
    uint64_t *words;
    uint64_t offset;

    for (; state->table[slot] != 0; slot = (slot + 1) & mask) {
        offset = (state->table[slot] & UINT32_MAX) * 8;
        if (state->table[slot] >> 32 == tag && stack_is_at(offset, stack, hash))
            return offset;
    }
    offset = state->used_bytes;
    words = embed_append_locked(EMBED_STACK, 0, stack->depth, 1 + stack->depth);
    if (words == NULL)
        return 0;
    words[0] = hash;
    memcpy(words + 1, stack->pcs, 8 * (size_t)stack->depth);
    *is_new = true;
    if (state->interned_count < (mask + 1) / 4 * 3 && offset / 8 < UINT32_MAX) {
        state->interned_count++;
        state->table[slot] = (uint64_t)tag << 32 | offset / 8;
    }
    return offset;
}

/* Log the name of the calling thread. It reads its own name, because other
 * threads do not know its number in the log. */
static void
log_name_locked(struct embed_self *self, uint32_t names)
{
    uint64_t *words = embed_append_locked(EMBED_NAME, 0, self->thread_index, 2);

    self->names_seen = names;
    if (words == NULL)
        return;
    words[0] = words[1] = 0;
    if (embed_is_confined())
        return;
    syscall(SYS_prctl, PR_GET_NAME, words, 0, 0, 0); /* prctl() is hooked */
    words[1] &= ~(UINT64_C(0xff) << 56);
}

static void
name_thread_locked(void)
{
    const uint32_t names =
        atomic_load_explicit(&embed_names, memory_order_relaxed);
    struct embed_self *self = &embed_self;
    uint32_t now =
        atomic_load_explicit(&embed_generation, memory_order_relaxed);
    uint64_t *words;

    if (self->generation == now) {
        if (self->names_seen != names)
            log_name_locked(self, names);
        return;
    }
    words = embed_append_locked(EMBED_THREAD, 0, embed_state->thread_count, 1);
    if (words == NULL)
        return;
    words[0] = embed_is_confined() ? 0 : (uint64_t)syscall(SYS_gettid);
    self->generation = now;
    self->thread_index = embed_state->thread_count++;
    log_name_locked(self, names);
}

/*
 * returns: the time, which never runs backwards (S3). A free gets the coarse
 * time that the kernel's timer last stored, which is up to one tick of that
 * timer old: an exact reading would cost more than the rest of the record.
 */
static uint64_t
ticks_locked(enum embed_kind kind)
{
    struct timespec now;
    uint64_t ticks;

    clock_gettime(kind == EMBED_FREE ? CLOCK_MONOTONIC_COARSE
                                     : atomic_load_explicit(
                                           &embed_clock, memory_order_relaxed),
                  &now);
    ticks = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    return ticks > embed_state->last_ticks ? ticks : embed_state->last_ticks;
}

enum { SHORT_WORDS = 4 }; /* of an ALLOC that may have a short record */

static bool
fits(uint64_t value, uint32_t bits)
{
    return value >> bits == 0;
}

/* Append a short record. in: words, as for the event's long record. out: *to,
 * NULL if there is no room. returns: false if the event does not fit into a
 * short record */
static bool
append_short_locked(enum embed_kind kind, uint32_t detail,
                    const uint64_t *words, uint64_t **to)
{
    const bool is_alloc = kind == EMBED_ALLOC;
    const uint64_t thread = embed_self.thread_index;
    const uint64_t passed = words[0] - embed_state->last_ticks;
    const uint64_t cell = words[1] / 16;

    if ((!is_alloc && kind != EMBED_FREE) || detail != 0 ||
        words[1] % 16 != 0 || !fits(cell, EMBED_SHORT_ADDRESS_BITS) ||
        !fits(thread, EMBED_SHORT_THREAD_BITS) ||
        !fits(passed, is_alloc ? EMBED_SHORT_TICKS_BITS : 0) ||
        (is_alloc && (!fits(words[2], EMBED_SHORT_BYTES_BITS) ||
                      !fits(words[3] / 8, EMBED_SHORT_STACK_BITS))))
        return false;
    *to = embed_append_words_locked(is_alloc ? 2 : 1);
    if (*to == NULL)
        return true;
    (*to)[0] = (is_alloc ? EMBED_SHORT_ALLOC : EMBED_SHORT_FREE) | thread << 8 |
               cell << (64 - EMBED_SHORT_ADDRESS_BITS);
    if (is_alloc)
        (*to)[1] = words[2] | passed << EMBED_SHORT_BYTES_BITS |
                   words[3] / 8 << (64 - EMBED_SHORT_STACK_BITS);
    return true;
}

static uint64_t
log_locked(enum embed_kind kind, uint32_t detail, uint64_t *words,
           uint32_t words_count, struct embed_stack *stack, bool *is_new)
{
    struct embed_state *state = embed_state;
    uint64_t offset;
    uint64_t *place;

    name_thread_locked();
    if (stack != NULL)
        words[words_count - 1] = intern_locked(stack, is_new);
    offset = state->used_bytes;
    words[0] = ticks_locked(kind);
    if (words_count > SHORT_WORDS ||
        !append_short_locked(kind, detail, words, &place)) {
        place = embed_append_locked(kind, detail, embed_self.thread_index,
                                    words_count);
        if (place != NULL)
            memcpy(place, words, 8 * (size_t)words_count);
    }
    if (place == NULL)
        return 0;
    state->last_ticks = words[0];
    if (kind != EMBED_FREE && kind != EMBED_RESIZE)
        atomic_store_explicit(&embed_header()->events, ++state->events,
                              memory_order_relaxed);
    if (kind == EMBED_ALLOC || kind == EMBED_RESIZED)
        atomic_store_explicit(&embed_header()->requested_bytes,
                              state->requested_bytes += words[2],
                              memory_order_relaxed);
    embed_publish_locked();
    return offset;
}

static void
note_new(struct embed_stack *stack)
{
    if (stack->is_cut)
        embed_drop(EMBED_DROP_CUT);
    embed_modules_note(stack);
}

uint64_t
embed_log(enum embed_kind kind, uint32_t detail, uint64_t *words,
          uint32_t words_count, struct embed_stack *stack)
{
    bool is_new = false;
    uint64_t offset;

    embed_lock();
    offset = log_locked(kind, detail, words, words_count, stack, &is_new);
    embed_unlock();
    if (offset == 0)
        embed_drop(embed_state->full_cause);
    if (is_new)
        note_new(stack);
    return offset;
}

uint64_t
embed_log_stack(struct embed_stack *stack)
{
    bool is_new = false;
    uint64_t offset;

    embed_lock();
    offset = intern_locked(stack, &is_new);
    embed_publish_locked();
    embed_unlock();
    if (is_new)
        note_new(stack);
    return offset;
}

uint64_t
embed_log_exec(uint32_t process, const char *path, uint32_t bytes,
               uint64_t ticks)
{
    const uint32_t words_count = 2 + (bytes + 7) / 8;
    uint64_t offset;
    uint64_t *words;

    embed_lock();
    offset = embed_state->used_bytes;
    words = embed_append_locked(EMBED_EXEC, 0, process, words_count);
    if (words != NULL) {
        words[0] = ticks;
        words[1] = bytes;
        words[words_count - 1] = bytes > 0 ? 0 : words[words_count - 1];
        memcpy(words + 2, path, bytes);
        atomic_fetch_add(&embed_header()->executed, 1);
        embed_publish_locked();
    }
    embed_unlock();
    return words != NULL ? offset : 0;
}

void
embed_log_unload(void)
{
    struct embed_state *state = embed_state;
    uint64_t *words;

    embed_lock();
    words = embed_append_locked(EMBED_UNLOAD, 0, 0, 1);
    if (words != NULL) {
        words[0] = embed_ticks();
        state->unloads++;
        state->module_count = 0;
        embed_publish_locked();
    }
    embed_unlock();
}

void
embed_log_change(uint64_t offset, enum embed_kind kind)
{
    struct embed_record *record;

    embed_lock();
    record = (struct embed_record *)(void *)(embed_state->log + offset);
    record->kind = (uint8_t)kind;
    embed_unlock();
}
