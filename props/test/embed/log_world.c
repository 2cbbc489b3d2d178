/* log_world.c -- see log_world.h. */
#include "log_world.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#include "recorder.h"
#include "unit_test.h"
#include "unwind.h"

enum { NOBODY = -1 };

/* A stack at this offset can no longer be referred to by a short record. */
#define FAR_BYTES ((UINT64_C(1) << 29) - 512)
#define MAP_BYTES (FAR_BYTES + MODEL_LOG_BYTES)

struct log_world log_world;

static enum log_world_moment fork_at;
static uint8_t *log_memory;
static int stack_held = NOBODY;
static uint64_t stacks_noted;
static struct embed_stack the_stack;
static const char frames[MODEL_STACKS];

const void *
log_world_frame(void)
{
    return &frames[log_world.now.stack];
}

/* ---- what events.c and log.c call; it may change errno ---- */

_Atomic uint32_t embed_awaited;

int __wrap_clock_gettime(clockid_t which, struct timespec *to);
int
__wrap_clock_gettime(clockid_t which, struct timespec *to)
{
    const uint64_t ns = which == CLOCK_MONOTONIC_COARSE
                            ? log_world.now.coarse_ticks
                            : log_world.now.ticks;

    *to = (struct timespec){.tv_sec = (time_t)(ns / 1000000000u),
                            .tv_nsec = (long)(ns % 1000000000u)};
    errno = EINVAL;
    return 0;
}

/* A thread may be named again right after it has read its name. */
long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);
long
__wrap_syscall(long number, ...)
{
    unsigned long words[5];
    va_list list;
    long result;

    va_start(list, number);
    for (size_t i = 0; i < 5; i++)
        words[i] = va_arg(list, unsigned long);
    va_end(list);
    result = __real_syscall(number, words[0], words[1], words[2], words[3],
                            words[4]);
    if (number == SYS_prctl && sim_rng_below(&log_world.rng, 4) == 0) {
        atomic_fetch_add(&embed_names, 1);
        log_world.model.names++;
    }
    return result;
}

/* ---- the lock: what it guards is out of reach while it is free ---- */

/* From used_bytes to module_count. */
#define GUARDED       offsetof(struct embed_state, used_bytes)
#define GUARDED_BYTES (offsetof(struct embed_state, full) - GUARDED)

static uint8_t guarded[GUARDED_BYTES]; /* while the lock is free */
static uint8_t poison[GUARDED_BYTES];
static bool is_locked;

static void
act(struct log_world_act *what)
{
    void (*const run)(void) = what->run;
    const bool is_entered = log_world.is_entered;

    if (run == NULL || what->skip-- > 0)
        return;
    what->run = NULL;
    log_world.is_entered = false;
    run();
    log_world.is_entered = is_entered;
}

/* The records, for some images: it takes time. */
static void
protect_log(int protection)
{
    const uint64_t first = log_world.model.first_bytes & ~UINT64_C(4095);

    if (log_world.is_protected)
        assert_int_equal(
            mprotect(log_memory + first, MAP_BYTES - first, protection), 0);
}

void __real_embed_lock(void);
static void
lock_state(void)
{
    uint8_t *const at = (uint8_t *)embed_state + GUARDED;

    assert_false(is_locked);
    act(&log_world.before_lock);
    assert_memory_equal(at, poison, sizeof poison);
    __real_embed_lock();
    is_locked = true;
    memcpy(at, guarded, sizeof guarded);
    protect_log(PROT_READ | PROT_WRITE);
}

void __wrap_embed_lock(void);
void
__wrap_embed_lock(void)
{
    assert_true(log_world.is_entered);
    lock_state();
}

void __real_embed_unlock(void);
void __wrap_embed_unlock(void);
void
__wrap_embed_unlock(void)
{
    uint8_t *const at = (uint8_t *)embed_state + GUARDED;

    assert_true(is_locked);
    protect_log(PROT_NONE);
    memcpy(guarded, at, sizeof guarded);
    memcpy(at, poison, sizeof poison);
    is_locked = false;
    __real_embed_unlock();
    act(&log_world.after_lock);
}

static void begin_image(void);
static void end_image(void);

bool
embed_enter(void)
{
    assert_false(log_world.is_entered);
    if (fork_at == LOG_WORLD_AT_ENTER)
        begin_image();
    log_world.is_entered = !log_world.is_barred;
    errno = log_world.is_entered ? EPERM : errno;
    return log_world.is_entered;
}

void
embed_leave(void)
{
    assert_true(log_world.is_entered);
    log_world.is_entered = false;
    if (fork_at == LOG_WORLD_AT_LEAVE)
        log_world_settle();
    errno = ENOENT;
}

struct embed_stack *
embed_stack_borrow(void)
{
    assert_int_equal(stack_held, NOBODY);
    stack_held = 0;
    return &the_stack;
}

/* Overwrite the stack's memory: from now on another thread may use it. */
void
embed_stack_return(struct embed_stack *stack)
{
    assert_int_not_equal(stack_held, NOBODY);
    stack_held = NOBODY;
    memset(stack, 0xee, sizeof *stack);
    stack->depth = 2;
}

void
embed_stack_take(struct embed_stack *stack, const void *frame,
                 struct embed_own_stack *own)
{
    stack_held = (int)((const char *)frame - frames);
    assert_in_range(stack_held, 0, MODEL_STACKS - 1);
    assert_ptr_equal(own, &embed_self.stack);
    stack->depth = log_model_stack((uint32_t)stack_held, stack->pcs);
    stack->hash = log_model_hash((uint32_t)stack_held);
    errno = ENOMEM;
}

bool
embed_reserve(uint64_t bytes)
{
    struct embed_state *const state = embed_state;
    const uint64_t most = log_world.model.disk_bytes < state->limit_bytes
                              ? log_world.model.disk_bytes
                              : state->limit_bytes;

    assert_true(bytes > state->reserved_bytes && bytes <= state->limit_bytes);
    if (bytes > log_world.model.disk_bytes)
        return false;
    bytes += 8 * sim_rng_below(&log_world.rng, 20);
    state->reserved_bytes = bytes < most ? bytes : most;
    return true;
}

void
embed_modules_note(struct embed_stack *stack)
{
    uintptr_t pcs[EMBED_DEPTH_MAX];
    const uint32_t depth = log_model_stack((uint32_t)stack_held, pcs);

    assert_int_equal(atomic_load(&embed_state->lock), 0);
    assert_int_equal(stack->depth, depth);
    assert_memory_equal(stack->pcs, pcs, depth * sizeof *pcs);
    stacks_noted++;
}

void
embed_unwind_forget(void)
{
    log_world.forgotten++;
    errno = EIO;
}

size_t
embed_usable_bytes(void *address)
{
    (void)address;
    return log_world.usable_bytes;
}

/* ---- images ---- */

static void *
pages(uint64_t bytes)
{
    void *const place =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    assert_true(place != MAP_FAILED);
    return place;
}

static uint64_t
some_limit(uint64_t first_bytes)
{
    return first_bytes + (sim_rng_below(&log_world.rng, 3) == 0
                              ? 8 * sim_rng_below(&log_world.rng, 300)
                              : MODEL_LOG_BYTES);
}

static void
begin_model(void)
{
    const bool is_far = sim_rng_below(&log_world.rng, 4) == 0;
    const uint64_t first = is_far ? FAR_BYTES : EMBED_SPOOL_FIRST;
    const uint32_t before = sim_rng_below(&log_world.rng, 4) == 0 ? 4094 : 0;

    log_world.threads_before = before;
    log_model_begin(&log_world.model, first, log_world.now.ticks, before);
    log_world.model.limit_bytes = some_limit(first);
    log_world.model.disk_bytes = some_limit(first);
}

/* The state of the image that the model has begun. */
static void
begin_image(void)
{
    const uint64_t first = log_world.model.first_bytes;

    if (embed_state != NULL)
        end_image();
    fork_at = LOG_WORLD_NEVER;
    memset(poison, 0xee, sizeof poison);
    log_memory = pages(MAP_BYTES);
    embed_state = pages(sizeof *embed_state);
    embed_state->log = log_memory;
    embed_header()->magic = EMBED_SPOOL_MAGIC;
    embed_state->limit_bytes = log_world.model.limit_bytes;
    embed_state->used_bytes = first;
    embed_state->reserved_bytes = first;
    embed_state->last_ticks = log_world.now.ticks;
    embed_state->thread_count = log_world.threads_before;
    __real_embed_lock();
    is_locked = true;
    embed_publish_locked();
    __wrap_embed_unlock();
    atomic_store(&embed_state->phase, EMBED_ON);
    atomic_fetch_add(&embed_generation, 1);
    atomic_store(&embed_awaited, 0);
    stacks_noted = 0;
}

void
log_world_begin_image(void)
{
    begin_model();
    begin_image();
}

/* Copy the hashes of stacks from the log to the model, which cannot compute
 * them. */
static void
take_hashes(void)
{
    const uint64_t bytes =
        log_world.model.used_bytes - log_world.model.first_bytes;

    for (uint64_t at = 0; at < bytes;) {
        struct embed_record record;

        memcpy(&record, &log_world.model.bytes[at], sizeof record);
        if (record.kind == EMBED_STACK)
            memcpy(&log_world.model.bytes[at + 8],
                   &log_memory[log_world.model.first_bytes + at + 8], 8);
        at += record.kind == EMBED_SHORT_ALLOC  ? 16
              : record.kind == EMBED_SHORT_FREE ? 8
                                                : 8 * record.words;
    }
}

void
log_world_check(void)
{
    const struct embed_spool_header *const header = embed_header();

    lock_state();
    assert_int_equal(embed_state->used_bytes, log_world.model.used_bytes);
    __wrap_embed_unlock();
    assert_int_equal(header->magic, EMBED_SPOOL_MAGIC);
    assert_int_equal(atomic_load(&header->used_bytes),
                     log_world.model.published_bytes);
    assert_int_equal(atomic_load(&header->events), log_world.model.events);
    assert_int_equal(atomic_load(&header->asked_bytes),
                     log_world.model.asked_bytes);
    assert_int_equal(atomic_load(&header->executed), log_world.model.executed);
    assert_int_equal(atomic_load(&embed_awaited), log_world.model.awaited);
    assert_int_equal(atomic_load(&embed_state->lock), 0);
    assert_false(is_locked);
    assert_int_equal(stacks_noted, log_world.model.notes);
    assert_int_equal(stack_held, NOBODY);
    assert_false(log_world.is_entered);
    for (int i = 0; i < EMBED_DROP_COUNT; i++)
        assert_int_equal(atomic_load(&header->dropped[i]),
                         log_world.model.dropped[i]);
}

/* Behind its end the log is zero, as it was: records rely on it. */
static void
expect_log(void)
{
    static const uint8_t behind[8192];
    const uint64_t used = log_world.model.used_bytes;

    log_world_check();
    lock_state();
    take_hashes();
    assert_memory_equal(log_memory + log_world.model.first_bytes,
                        log_world.model.bytes,
                        used - log_world.model.first_bytes);
    assert_memory_equal(log_memory + used, behind,
                        used + sizeof behind < MAP_BYTES ? sizeof behind
                                                         : MAP_BYTES - used);
    __wrap_embed_unlock();
}

/* Who still writes to it crashes. */
static void
end_image(void)
{
    munmap(log_memory, MAP_BYTES);
    munmap(embed_state, sizeof *embed_state);
    embed_state = NULL;
}

void
log_world_end_image(void)
{
    expect_log();
    end_image();
}

void
log_world_fork(enum log_world_moment when)
{
    fork_at = when;
    if (when != LOG_WORLD_AT_ENTER)
        return;
    expect_log();
    begin_model();
}

void
log_world_settle(void)
{
    if (fork_at == LOG_WORLD_AT_LEAVE) {
        expect_log();
        begin_model();
    }
    if (fork_at != LOG_WORLD_NEVER)
        begin_image();
}
