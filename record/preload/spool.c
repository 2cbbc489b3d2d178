/*
 * spool.c -- the file that a process image logs into.
 *
 * It is created, mapped and closed at once, because the program owns its
 * descriptors. Disk space is allocated in steps, before it is written to, by
 * asking the kernel to populate the mapping: on a full disk that fails, whereas
 * a write to a hole would end the program with SIGBUS. With a kernel that
 * cannot do that (before 5.14) all the space is allocated at the start.
 *
 * The mapping grows in place, by as much as is needed: a program that limits
 * its address space, or locks its memory, must not pay for a log that is not
 * written yet. So it lies far below where the kernel maps what the program asks
 * for.
 *
 * The folder is the one that `profsim record` made, identified by its device
 * and inode: once it is gone, another user may reuse its name.
 *
 * open and close are called directly as system calls. libc's functions are
 * cancellation points, malloc is not; and a thread must not be cancelled while
 * it holds the lock.
 */
#include "record/preload/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

#define STEP_BYTES_MIN  (UINT64_C(64) << 10)
#define STEP_BYTES_MAX  (UINT64_C(4) << 20)
#define AT_ONCE_BYTES   (UINT64_C(64) << 20) /* if steps are not possible */
#define MAPPED_BYTES    (UINT64_C(16) << 20) /* at a time */
#define BELOW_BYTES     (UINT64_C(64) << 30) /* ... the other mappings */
#define LIMIT_BYTES_MIN (UINT64_C(64) << 10)
#define PAGE_MASK       (~UINT64_C(4095))

static int
open_raw(int folder, const char *path, int flags)
{
    return (int)syscall(SYS_openat, folder, path, flags | O_CLOEXEC, 0600);
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

static void
read_command(struct embed_spool_header *to)
{
    int file = open_raw(AT_FDCWD, "/proc/self/cmdline", O_RDONLY);
    long got;

    if (file < 0)
        return;
    got = syscall(SYS_read, file, to->command, sizeof to->command - 1);
    close_raw(file);
    if (got <= 0)
        return;
    if (to->command[got - 1] != '\0')
        got++; /* truncated: end the text here */
    to->command_bytes = (uint32_t)got;
}

/*
 * returns: `bytes`, or the process's limit of file sizes if that is less. The
 * program may change the limit at any time; writing past it would end the
 * program with SIGXFSZ.
 */
static uint64_t
file_limit(uint64_t bytes)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < bytes)
        bytes = limit.rlim_cur;
    return bytes & PAGE_MASK;
}

/*
 * returns: may the mapping grow to `bytes`? Of an address space that the
 * program has limited meanwhile it takes a sixteenth at most.
 */
static bool
is_in_limit(uint64_t bytes)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_AS, &limit) != 0 ||
           limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur / 16;
}

static bool
grow(struct embed_state *state, uint64_t bytes)
{
    uint64_t end = state->mapped_bytes;

    while (end < bytes)
        end += MAPPED_BYTES;
    if (end > state->limit_bytes)
        end = state->limit_bytes;
    if (end == state->mapped_bytes)
        return true;
    if (!is_in_limit(end) ||
        mremap(state->log, state->mapped_bytes, end, 0) == MAP_FAILED)
        return false;
    state->mapped_bytes = end;
    return true;
}

/* Make room for the whole log, as far as the disk and the address space
 * allow. */
static bool
make_room_at_once(struct embed_state *state, int file)
{
    uint64_t bytes = state->limit_bytes;

    if (bytes > AT_ONCE_BYTES)
        bytes = AT_ONCE_BYTES;
    for (; bytes >= LIMIT_BYTES_MIN; bytes = bytes / 2 & PAGE_MASK)
        if (grow(state, bytes) &&
            syscall(SYS_fallocate, file, 0, 0, bytes) == 0) {
            state->reserved_bytes = bytes;
            state->limit_bytes = bytes;
            return true;
        }
    return false;
}

bool
embed_reserve(uint64_t bytes)
{
    struct embed_state *state = embed_state;
    const int saved_errno = errno;
    uint64_t step = state->reserved_bytes;
    uint64_t end;
    int status;

    /* Double the space each time: a thousand short-lived children must not fill
     * the disk. */
    if (step < STEP_BYTES_MIN)
        step = STEP_BYTES_MIN;
    if (step > STEP_BYTES_MAX)
        step = STEP_BYTES_MAX;
    end = (bytes + step) & PAGE_MASK;
    if (end > state->limit_bytes)
        end = state->limit_bytes;
    if (end <= state->reserved_bytes || bytes > end)
        return false;
    if (embed_is_confined()) {
        state->full_cause = EMBED_DROP_CONFINED;
        return false;
    }
    if (!grow(state, end)) {
        state->full_cause = EMBED_DROP_LIMIT;
        errno = saved_errno;
        return false;
    }
    do
        status = madvise(state->log + state->reserved_bytes,
                         end - state->reserved_bytes, MADV_POPULATE_WRITE);
    while (status != 0 && (errno == EINTR || errno == EAGAIN));
    if (status == 0)
        state->reserved_bytes = end;
    errno = saved_errno;
    return status == 0;
}

/*
 * Populate the first step. A kernel that cannot do so returns EINVAL.
 * Read-ahead is turned off for this, because it would clear megabytes of an
 * empty file, and many programs end before they have filled the first pages.
 */
static bool
make_first_room(struct embed_state *state, int file)
{
    bool is_made;

    state->reserved_bytes = 0;
    (void)madvise(state->log, state->mapped_bytes, MADV_RANDOM);
    is_made =
        madvise(state->log, 4096, MADV_POPULATE_WRITE) != 0 && errno == EINVAL
            ? make_room_at_once(state, file)
            : embed_reserve(EMBED_SPOOL_FIRST);
    (void)madvise(state->log, state->mapped_bytes, MADV_NORMAL);
    return is_made;
}

/* in: bytes, of the file. returns: what the mapping begins with */
static uint64_t
first_mapping(struct embed_state *state, int file, uint64_t bytes)
{
    const uintptr_t hint = (uintptr_t)&embed_state & PAGE_MASK;
    void *place;

    if (ftruncate(file, (off_t)bytes) != 0)
        return 0;
    if (bytes > MAPPED_BYTES)
        bytes = MAPPED_BYTES;
    place = mmap(hint > 2 * BELOW_BYTES ? (void *)(hint - BELOW_BYTES) : NULL,
                 bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (place == MAP_FAILED)
        return 0;
    state->log = place;
    return bytes;
}

static bool
map_spool(struct embed_state *state, int file)
{
    uint64_t bytes = file_limit(embed_config.limit_bytes);

    /* A process short of address space gets a shorter log. */
    for (; bytes >= LIMIT_BYTES_MIN; bytes = bytes / 2 & PAGE_MASK) {
        state->limit_bytes = bytes;
        state->mapped_bytes = first_mapping(state, file, bytes);
        if (state->mapped_bytes != 0)
            break;
    }
    if (bytes < LIMIT_BYTES_MIN)
        return false;
    (void)madvise(state->log, state->mapped_bytes, MADV_DONTFORK);
    if (make_first_room(state, file))
        return true;
    munmap(state->log, state->mapped_bytes);
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
    to->forked_ticks = embed_forked_ticks;
    to->limit_bytes = state->limit_bytes;
    read_command(to);
    atomic_store(&to->used_bytes, state->used_bytes);
    atomic_store(&to->dropped[EMBED_DROP_EARLY],
                 atomic_exchange(&embed_early_drops, 0));
    to->dropped[EMBED_DROP_OWN] = embed_is_bypassed;
    to->magic = EMBED_SPOOL_MAGIC;
}

/* returns: the folder, -1 if it is not the one that was made for us */
static int
open_folder(void)
{
    const int folder = open_raw(AT_FDCWD, embed_config.directory,
                                O_DIRECTORY | O_NOFOLLOW | O_PATH);
    struct stat status;

    if (folder < 0)
        return -1;
    if (fstat(folder, &status) == 0 &&
        (uint64_t)status.st_dev == embed_config.device &&
        (uint64_t)status.st_ino == embed_config.inode)
        return folder;
    close_raw(folder);
    return -1;
}

/* Name the spool so that spools sort by the time of their start. */
static void
name_spool(char *to)
{
    const uint64_t ticks = embed_ticks();

    for (uint64_t unit = UINT64_C(1000000000000000000); unit > 0; unit /= 10)
        *to++ = (char)('0' + ticks / unit % 10);
    *to++ = '-';
    *put_number(to, (uint64_t)getpid()) = '\0';
}

bool
embed_spool_open(void)
{
    struct embed_state *state = embed_state;
    const int folder = open_folder();
    char name[48];
    bool mapped = false;
    int file;

    if (folder < 0)
        return false;
    name_spool(name);
    file = open_raw(folder, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW);
    if (file >= 0) {
        mapped = map_spool(state, file);
        close_raw(file);
        if (!mapped) /* an image that cannot log leaves no file */
            syscall(SYS_unlinkat, folder, name, 0);
    }
    close_raw(folder);
    if (mapped)
        fill_header(state);
    return mapped;
}
