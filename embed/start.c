/*
 * start.c -- how the log of a process image begins, and who may write to it.
 *
 * Started by whoever comes first: the constructor, or an allocation before it.
 * A forked child finds its state wiped (R4) and starts again, with the settings
 * its parent read, whatever became of the environment since.
 *
 * System calls that open and close are made raw: the library's are points of
 * cancellation, malloc is not, and a thread must not end under the lock.
 */
#include "recorder.h"

#include "frames.h"
#include "unwind.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define STEP_BYTES      (UINT64_C(4) << 20)
#define LIMIT_BYTES     (UINT64_C(512) << 20)
#define LIMIT_BYTES_MIN (UINT64_C(64) << 10)
#define WAITS_MAX       1000000u

static struct {
    _Atomic uint32_t phase; /* of this table; EMBED_ON: filled in */
    uint64_t limit_bytes;
    char directory[400];
} config;

static int
open_raw(const char *path, int flags)
{
    return (int)syscall(SYS_openat, AT_FDCWD, path,
                        flags | O_CLOEXEC | O_NOFOLLOW, 0600);
}

static void
close_raw(int file)
{
    syscall(SYS_close, file);
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

/* Where the kernel has not wiped the state (R4) it is wiped here. */
static void
after_fork_in_child(void)
{
    if (atomic_load(&embed_state->phase) != EMBED_FRESH)
        memset(embed_state, 0, sizeof *embed_state);
    embed_stacks_reclaim();
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
    embed_by_frames =
        EMBED_FRAMES_OFFERED && number_of(getenv(EMBED_ENV_FRAMES), 0) == 1;
    place = mmap(NULL, sizeof *embed_state, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (place == MAP_FAILED)
        return false;
    /* R4; a kernel without it leaves the work to the fork handler. */
    (void)madvise(place, sizeof *embed_state, MADV_WIPEONFORK);
    embed_state = place;
    pthread_atfork(NULL, NULL, after_fork_in_child);
    embed_unwind_start();
    if (embed_stacks_start())
        return true;
    munmap(place, sizeof *embed_state);
    embed_state = NULL;
    return false;
}

static void
read_command(struct embed_spool_header *to)
{
    int file = open_raw("/proc/self/cmdline", O_RDONLY);
    long got;

    if (file < 0)
        return;
    got = syscall(SYS_read, file, to->command, sizeof to->command - 1);
    close_raw(file);
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
    if (syscall(SYS_fallocate, file, 0, have, bytes - have) != 0 &&
        errno != EOPNOTSUPP && errno != ENOSYS)
        return false;
    state->reserved_bytes = bytes;
    return true;
}

bool
embed_reserve(uint64_t bytes)
{
    struct embed_state *state = embed_state;
    bool reserved;
    int file;

    /* The file is not kept open: the program owns its descriptors. */
    file = open_raw(state->path, O_RDWR);
    if (file < 0)
        return false;
    reserved = reserve(state, file, bytes + STEP_BYTES);
    close_raw(file);
    return reserved;
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
    struct embed_spool_header *to = embed_header();

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
                 atomic_exchange(&embed_early_drops, 0));
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
    file = open_raw(state->path, O_RDWR | O_CREAT | O_EXCL);
    if (file < 0)
        return false;
    mapped = map_spool(state, file);
    close_raw(file);
    if (mapped)
        fill_header(state);
    return mapped;
}

static bool
start_configured(void)
{
    uint32_t phase = EMBED_FRESH;

    /* Before libc is up there is no environment to read. */
    if (atomic_load(&config.phase) == EMBED_FRESH && environ == NULL)
        return false;
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

    if (!start_configured())
        return false;
    state = embed_state;
    if (atomic_compare_exchange_strong(&state->phase, &phase, EMBED_STARTING)) {
        atomic_fetch_add(&embed_generation, 1);
        phase = open_spool(state) ? EMBED_ON : EMBED_OFF;
        atomic_store_explicit(&state->phase, phase, memory_order_release);
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
    if (embed_is_on() || start())
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

static void __attribute__((constructor)) start_early(void)
{
    bool inside = embed_self.inside;

    embed_self.inside = true;
    embed_locks_resolve();
    embed_heap_resolve();
    embed_self.inside = inside;
    if (embed_enter())
        embed_leave();
}
