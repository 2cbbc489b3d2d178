/*
 * start.c -- how the log of a process image begins, and which processes may
 * write to it.
 *
 * The log is begun by the constructor, or by an allocation that comes before
 * it. A forked child finds its state wiped (R4) and starts again, with the
 * settings that its parent read, even if the environment has changed since.
 */
#include "record/preload/recorder.h"

#include "record/unwind/frames.h"
#include "record/unwind/unwind.h"

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

#define LIMIT_BYTES (UINT64_C(512) << 20)
#define WAITS_MAX   1000000u
#define OWN_BYTES   (UINT64_C(8) << 20) /* address space, besides the spool */

static _Atomic uint32_t config_phase; /* of embed_config; EMBED_ON: filled in */

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
    struct embed_config *const to = &embed_config;
    const char *directory = getenv(EMBED_ENV_SPOOL);
    uint64_t depth = number_of(getenv(EMBED_ENV_DEPTH), 32);

    if (directory == NULL || strlen(directory) >= sizeof to->directory)
        return false;
    memcpy(to->directory, directory, strlen(directory) + 1);
    to->device = number_of(getenv(EMBED_ENV_DEVICE), 0);
    to->inode = number_of(getenv(EMBED_ENV_INODE), 0);
    to->limit_bytes = number_of(getenv(EMBED_ENV_LIMIT), LIMIT_BYTES);
    if (depth >= 1 && depth <= EMBED_DEPTH_MAX)
        embed_depth_max = (uint32_t)depth;
    to->asks_usable = number_of(getenv(EMBED_ENV_USABLE), 0) == 1;
    embed_by_frames =
        EMBED_FRAMES_OFFERED && number_of(getenv(EMBED_ENV_FRAMES), 0) == 1;
    return true;
}

/* Map the memory of the recorder itself, some 8 MiB of address space. */
static bool
make_state(void)
{
    void *place = mmap(NULL, sizeof *embed_state, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (place == MAP_FAILED)
        return false;
    if (!embed_stacks_start()) {
        munmap(place, sizeof *embed_state);
        return false;
    }
    /* R4; a kernel without it leaves the work to the fork handler. */
    (void)madvise(place, sizeof *embed_state, MADV_WIPEONFORK);
    embed_state = place;
    embed_unwind_start();
    embed_fork_start();
    return true;
}

/*
 * If the program's address space is limited, the recorder takes at most a
 * sixteenth of the limit. If a sixteenth is too little, there is no log.
 */
static bool
has_room(void)
{
    struct rlimit limit;
    uint64_t share;

    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return true;
    share = limit.rlim_cur / 16;
    if (share < 2 * OWN_BYTES)
        return false;
    if (embed_config.limit_bytes > share - OWN_BYTES)
        embed_config.limit_bytes = share - OWN_BYTES;
    return true;
}

static bool
start_configured(void)
{
    uint32_t phase = EMBED_FRESH;

    /* Before libc has started there is no environment to read. */
    if (atomic_load(&config_phase) == EMBED_FRESH && environ == NULL)
        return false;
    if (!atomic_compare_exchange_strong(&config_phase, &phase, EMBED_STARTING))
        return phase == EMBED_ON;
    phase = configure() && has_room() && make_state() ? EMBED_ON : EMBED_OFF;
    atomic_store(&config_phase, phase);
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
        phase = atomic_load(&embed_confinements) == 0 && embed_spool_open()
                    ? EMBED_ON
                    : EMBED_OFF;
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
    const int saved_errno = errno;

    if (embed_inside) {
        embed_drop(EMBED_DROP_INSIDE);
        return false;
    }
    if (atomic_load_explicit(&config_phase, memory_order_relaxed) == EMBED_OFF)
        return false;
    embed_inside = true;
    if (embed_is_on() || start())
        return true;
    embed_inside = false;
    if (atomic_load_explicit(&config_phase, memory_order_relaxed) ==
        EMBED_FRESH)
        embed_drop(EMBED_DROP_EARLY);
    errno = saved_errno;
    return false;
}

void
embed_leave(void)
{
    if (embed_self.orphan)
        embed_fork_leave();
    embed_inside = false;
}

static void __attribute__((constructor)) start_early(void)
{
    bool inside = embed_inside;

    embed_inside = true;
    embed_locks_resolve();
    embed_heap_resolve();
    embed_names_resolve();
    embed_maps_resolve();
    embed_is_bypassed = !embed_heap_is_reached();
    if (embed_is_bypassed && embed_is_on())
        embed_drop(EMBED_DROP_OWN);
    embed_inside = inside;
    if (embed_enter())
        embed_leave();
}
