/*
 * log.c -- one global order: the lock, the spool, the start of an image.
 *
 *      malloc -> real malloc -> embed_log(ALLOC)
 *      free   -> embed_log(FREE) -> real free
 *
 * With one lock around "take the clock, append", that order of calls gives S2:
 * between the two lines of an address's life nobody else can be given it.
 *
 * Invariants
 *   L1  log != NULL and used_bytes <= reserved_bytes <= limit_bytes while the
 *       phase is EMBED_ON.
 *   L2  once full, always full: a log that lost events is a prefix.
 *   L3  whatever is not logged is counted in the header, by cause.
 *
 * The disk is reserved in steps before it is written to: a write to a hole of
 * a shared mapping on a full disk would kill the program with SIGBUS.
 */
#include "recorder.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define STEP_BYTES      (UINT64_C(4) << 20)
#define LIMIT_BYTES     (UINT64_C(512) << 20)
#define LIMIT_BYTES_MIN (UINT64_C(64) << 10)
#define WAITS_MAX       1000000u

_Thread_local struct embed_self embed_self;
struct embed_state *embed_state;
uint32_t embed_depth_max = 32;

static struct {
    _Atomic uint32_t phase; /* of this table; EMBED_ON: filled in */
    uint64_t limit_bytes;
    char directory[400];
} config;
static _Atomic uint32_t generation; /* of images: parent, child, ... */
static _Atomic uint64_t early_drops;

static struct embed_spool_header *
header(void)
{
    return (struct embed_spool_header *)(void *)embed_state->log;
}

static bool
is_on(void)
{
    return embed_state != NULL &&
           atomic_load_explicit(&embed_state->phase, memory_order_acquire) ==
               EMBED_ON;
}

uint64_t
embed_ticks(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void
embed_drop(enum embed_cause cause)
{
    if (is_on())
        atomic_fetch_add_explicit(&header()->dropped[cause], 1,
                                  memory_order_relaxed);
    else
        atomic_fetch_add_explicit(&early_drops, 1, memory_order_relaxed);
}

void
embed_lock(void)
{
    _Atomic uint32_t *lock = &embed_state->lock;
    uint32_t seen = 0;
    uint32_t spins;

    for (spins = 0; spins < 200; spins++) {
        seen = 0;
        if (atomic_compare_exchange_weak_explicit(
                lock, &seen, 1, memory_order_acquire, memory_order_relaxed))
            return;
        if (seen == 2)
            break;
    }
    while (atomic_exchange_explicit(lock, 2, memory_order_acquire) != 0)
        syscall(SYS_futex, lock, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
}

void
embed_unlock(void)
{
    _Atomic uint32_t *lock = &embed_state->lock;

    if (atomic_exchange_explicit(lock, 0, memory_order_release) == 2)
        syscall(SYS_futex, lock, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static char *
put_number(char *to, uint64_t value)
{
    char digits[20];
    int count = 0;

    do {
        digits[count++] = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    while (count > 0)
        *to++ = digits[--count];
    return to;
}

static uint64_t
number_of(const char *text, uint64_t otherwise)
{
    uint64_t value = 0;

    if (text == NULL || *text == '\0')
        return otherwise;
    for (; *text >= '0' && *text <= '9'; text++)
        value = value * 10 + (uint64_t)(*text - '0');
    return *text == '\0' ? value : otherwise;
}

/* Read the environment, once, before the program can change it. */
static bool
configure(void)
{
    const char *directory = getenv(EMBED_ENV_SPOOL);
    uint64_t depth = number_of(getenv(EMBED_ENV_DEPTH), 32);
    struct rlimit file_limit;
    void *place;

    if (directory == NULL || strlen(directory) >= sizeof config.directory)
        return false;
    memcpy(config.directory, directory, strlen(directory) + 1);
    config.limit_bytes = number_of(getenv(EMBED_ENV_LIMIT), LIMIT_BYTES);
    if (getrlimit(RLIMIT_FSIZE, &file_limit) == 0 &&
        file_limit.rlim_cur < config.limit_bytes)
        config.limit_bytes = file_limit.rlim_cur;
    config.limit_bytes &= ~UINT64_C(4095);
    if (config.limit_bytes < LIMIT_BYTES_MIN)
        config.limit_bytes = LIMIT_BYTES_MIN;
    if (depth >= 1 && depth <= EMBED_DEPTH_MAX)
        embed_depth_max = (uint32_t)depth;
    place = mmap(NULL, sizeof *embed_state, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (place == MAP_FAILED)
        return false;
    /* R4; a kernel without it leaves the work to the fork handler. */
    (void)madvise(place, sizeof *embed_state, MADV_WIPEONFORK);
    embed_state = place;
    embed_unwind_start();
    return true;
}

static void
read_command(struct embed_spool_header *to)
{
    int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t got;

    if (file < 0)
        return;
    got = read(file, to->command, sizeof to->command - 1);
    close(file);
    if (got <= 0)
        return;
    if (to->command[got - 1] != '\0')
        got++; /* cut in the middle: end it here */
    to->command_bytes = (uint32_t)got;
}

/* Room on the disk for the first `bytes` of the spool. */
static bool
reserve(struct embed_state *state, int file, uint64_t bytes)
{
    uint64_t have = state->reserved_bytes;

    if (bytes > state->limit_bytes)
        bytes = state->limit_bytes;
    if (fallocate(file, 0, (off_t)have, (off_t)(bytes - have)) != 0 &&
        errno != EOPNOTSUPP && errno != ENOSYS)
        return false;
    state->reserved_bytes = bytes;
    return true;
}

static bool
map_spool(struct embed_state *state, int file)
{
    void *place = MAP_FAILED;
    uint64_t bytes = config.limit_bytes;

    /* A process short of address space gets a shorter log. */
    for (; bytes >= LIMIT_BYTES_MIN; bytes = bytes / 2 & ~UINT64_C(4095)) {
        if (ftruncate(file, (off_t)bytes) != 0)
            return false;
        place = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (place != MAP_FAILED)
            break;
    }
    if (place == MAP_FAILED)
        return false;
    (void)madvise(place, bytes, MADV_DONTFORK);
    state->limit_bytes = bytes;
    state->reserved_bytes = 0;
    state->log = place;
    if (reserve(state, file, STEP_BYTES))
        return true;
    munmap(place, bytes);
    return false;
}

static void
fill_header(struct embed_state *state)
{
    struct embed_spool_header *to = header();

    state->used_bytes = EMBED_SPOOL_FIRST;
    state->last_ticks = embed_ticks();
    to->version = EMBED_SPOOL_VERSION;
    to->depth_max = embed_depth_max;
    to->process = (uint32_t)getpid();
    to->parent = (uint32_t)getppid();
    to->start_ticks = state->last_ticks;
    to->limit_bytes = state->limit_bytes;
    read_command(to);
    atomic_store(&to->used_bytes, state->used_bytes);
    atomic_store(&to->dropped[EMBED_DROP_EARLY],
                 atomic_exchange(&early_drops, 0));
    to->magic = EMBED_SPOOL_MAGIC;
}

/* One spool for this image, named so that names sort by start. */
static bool
open_spool(struct embed_state *state)
{
    char *end = state->path;
    uint64_t ticks = embed_ticks();
    uint64_t unit;
    bool mapped;
    int file;

    memcpy(end, config.directory, strlen(config.directory));
    end += strlen(config.directory);
    *end++ = '/';
    for (unit = UINT64_C(1000000000000000000); unit > 0; unit /= 10)
        *end++ = (char)('0' + ticks / unit % 10);
    *end++ = '-';
    end = put_number(end, (uint64_t)getpid());
    *end = '\0';
    file = open(state->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0)
        return false;
    mapped = map_spool(state, file);
    close(file);
    if (mapped)
        fill_header(state);
    return mapped;
}

static bool
start_configured(void)
{
    uint32_t phase = EMBED_FRESH;

    if (!atomic_compare_exchange_strong(&config.phase, &phase, EMBED_STARTING))
        return phase == EMBED_ON;
    phase = configure() ? EMBED_ON : EMBED_OFF;
    atomic_store(&config.phase, phase);
    return phase == EMBED_ON;
}

/* returns: true if this image has a log; context: inside */
static bool
start(void)
{
    struct embed_state *state;
    uint32_t phase = EMBED_FRESH;
    uint32_t waits;

    /* Before libc is up there is no environment to read. */
    if (environ == NULL || !start_configured())
        return false;
    state = embed_state;
    if (atomic_compare_exchange_strong(&state->phase, &phase, EMBED_STARTING)) {
        atomic_fetch_add(&generation, 1);
        phase = open_spool(state) ? EMBED_ON : EMBED_OFF;
        atomic_store_explicit(&state->phase, phase, memory_order_release);
        if (phase == EMBED_ON)
            embed_modules_refresh();
        return phase == EMBED_ON;
    }
    for (waits = 0; waits < WAITS_MAX && phase == EMBED_STARTING; waits++) {
        sched_yield();
        phase = atomic_load_explicit(&state->phase, memory_order_acquire);
    }
    return phase == EMBED_ON;
}

bool
embed_enter(void)
{
    if (embed_self.inside) {
        embed_drop(EMBED_DROP_INSIDE);
        return false;
    }
    if (atomic_load_explicit(&config.phase, memory_order_relaxed) == EMBED_OFF)
        return false;
    embed_self.inside = true;
    if (is_on() || start())
        return true;
    embed_self.inside = false;
    if (atomic_load_explicit(&config.phase, memory_order_relaxed) ==
        EMBED_FRESH)
        embed_drop(EMBED_DROP_EARLY);
    return false;
}

void
embed_leave(void)
{
    embed_self.inside = false;
}

static bool
make_room_locked(struct embed_state *state, uint64_t bytes)
{
    bool reserved;
    int file;

    if (bytes <= state->reserved_bytes - state->used_bytes)
        return true;
    state->full_cause = EMBED_DROP_LIMIT;
    if (bytes > state->limit_bytes - state->used_bytes)
        return false;
    /* The file is not kept open: the program owns its descriptors. */
    state->full_cause = EMBED_DROP_DISK;
    file = open(state->path, O_RDWR | O_CLOEXEC);
    if (file < 0)
        return false;
    reserved = reserve(state, file, state->used_bytes + bytes + STEP_BYTES);
    close(file);
    return reserved;
}

uint64_t *
embed_append_locked(enum embed_kind kind, uint32_t detail, uint32_t number,
                    uint32_t words_count)
{
    struct embed_state *state = embed_state;
    struct embed_record *record;
    uint64_t bytes = 8 * ((uint64_t)words_count + 1);

    if (state->full || !make_room_locked(state, bytes)) {
        state->full = true;
        return NULL;
    }
    record = (struct embed_record *)(void *)(state->log + state->used_bytes);
    record->kind = (uint8_t)kind;
    record->detail = (uint8_t)detail;
    record->words = (uint16_t)(words_count + 1);
    record->number = number;
    state->used_bytes += bytes;
    return (uint64_t *)(void *)(record + 1);
}

void
embed_publish_locked(void)
{
    atomic_store_explicit(&header()->used_bytes, embed_state->used_bytes,
                          memory_order_release);
}

static bool
stack_is_at(uint64_t offset, const struct embed_stack *stack)
{
    const struct embed_record *record =
        (const void *)(embed_state->log + offset);
    const uint64_t *words = (const void *)(record + 1);

    return record->number == stack->depth && words[0] == stack->hash &&
           memcmp(words + 1, stack->pcs, 8 * (size_t)stack->depth) == 0;
}

/*
 * returns: the offset of this stack in the log, 0 if there is no room for it
 *
 * Past three quarters of the table stacks are written again each time: that
 * costs log, never an event; the reader of the spool finds them equal.
 */
static uint64_t
intern_locked(const struct embed_stack *stack, bool *is_new)
{
    struct embed_state *state = embed_state;
    uint32_t mask = (1u << EMBED_TABLE_LOG2) - 1;
    uint32_t tag = (uint32_t)(stack->hash >> 32);
    uint32_t slot = (uint32_t)stack->hash & mask;
    uint64_t *words;
    uint64_t offset;

    for (; state->table[slot] != 0; slot = (slot + 1) & mask) {
        offset = (state->table[slot] & UINT32_MAX) * 8;
        if (state->table[slot] >> 32 == tag && stack_is_at(offset, stack))
            return offset;
    }
    offset = state->used_bytes;
    words = embed_append_locked(EMBED_STACK, 0, stack->depth, 1 + stack->depth);
    if (words == NULL)
        return 0;
    words[0] = stack->hash;
    memcpy(words + 1, stack->pcs, 8 * (size_t)stack->depth);
    *is_new = true;
    if (state->interned_count < (mask + 1) / 4 * 3 && offset / 8 < UINT32_MAX) {
        state->interned_count++;
        state->table[slot] = (uint64_t)tag << 32 | offset / 8;
    }
    return offset;
}

static void
name_thread_locked(void)
{
    struct embed_self *self = &embed_self;
    uint32_t now = atomic_load_explicit(&generation, memory_order_relaxed);
    uint64_t *words;

    if (self->generation == now)
        return;
    words = embed_append_locked(EMBED_THREAD, 0, embed_state->thread_count, 1);
    if (words == NULL)
        return;
    words[0] = (uint64_t)syscall(SYS_gettid);
    self->generation = now;
    self->thread_index = embed_state->thread_count++;
}

static uint64_t
log_locked(enum embed_kind kind, uint32_t detail, uint64_t *words,
           uint32_t words_count, const struct embed_stack *stack, bool *is_new)
{
    struct embed_state *state = embed_state;
    uint64_t offset;
    uint64_t *place;

    name_thread_locked();
    if (stack != NULL)
        words[words_count - 1] = intern_locked(stack, is_new);
    offset = state->used_bytes;
    place =
        embed_append_locked(kind, detail, embed_self.thread_index, words_count);
    if (place == NULL)
        return 0;
    /* CLOCK_MONOTONIC should not fall between processors; S3 is certain. */
    words[0] = embed_ticks();
    if (words[0] < state->last_ticks)
        words[0] = state->last_ticks;
    state->last_ticks = words[0];
    memcpy(place, words, 8 * (size_t)words_count);
    embed_publish_locked();
    return offset;
}

uint64_t
embed_log(enum embed_kind kind, uint32_t detail, uint64_t *words,
          uint32_t words_count, const struct embed_stack *stack)
{
    bool is_new = false;
    uint64_t offset;

    embed_lock();
    offset = log_locked(kind, detail, words, words_count, stack, &is_new);
    embed_unlock();
    if (offset == 0)
        embed_drop(embed_state->full_cause);
    if (is_new)
        embed_modules_refresh();
    return offset;
}

void
embed_log_cancel(uint64_t offset)
{
    struct embed_record *record;

    embed_lock();
    record = (struct embed_record *)(void *)(embed_state->log + offset);
    record->kind = EMBED_CANCELLED;
    embed_unlock();
}

static void __attribute__((constructor)) start_early(void)
{
    bool inside = embed_self.inside;

    embed_self.inside = true;
    embed_heap_resolve();
    embed_locks_resolve();
    embed_self.inside = inside;
    if (embed_enter())
        embed_leave();
}
