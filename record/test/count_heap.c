/*
 * count_heap.c -- a preloaded library that counts the heap of a program,
 * independently of the recorder: a table of sizes, without stacks and times.
 *
 *      program -> count_heap -> recorder -> libc
 *
 * The program's calls come here first. This library holds its lock while the
 * recorder and libc handle a call, so it and the recorder see the same events
 * in the same order. Calls that the recorder makes itself are passed on
 * uncounted. The counts are in a shared mapping of the file
 * $COUNT_HEAP/PROCESS, so they are right up to the last instruction. After an
 * exec, the new image overwrites the file.
 *
 * A forked child starts with empty counts: all data, the lock included, is in
 * memory that fork() clears. Neither the child's counts nor the recorder's
 * contain frees of inherited blocks.
 *
 * build: so=count_heap.so
 */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <dlfcn.h>

#define HOOK __attribute__((visibility("default")))

/* What the test reads, as text of `od -t u8`. */
struct counts {
    uint64_t allocs;
    uint64_t alloc_bytes;
    uint64_t frees;
    uint64_t live;
    uint64_t live_bytes;
    uint64_t peak; /* objects at the first time when most bytes were in use */
    uint64_t peak_bytes;
    uint64_t unknown; /* frees of blocks that were not counted */
};

struct entry {
    uintptr_t address; /* 0: empty; stays, as an allocator gives it out again */
    size_t bytes;      /* FREED: not in use */
};

#define FREED SIZE_MAX

enum { ENTRIES = 1 << 24 }; /* memory is taken as it is used */

static struct state {
    _Atomic uint32_t lock;
    bool is_open;
    struct counts *counts;
    struct entry *entries;
    size_t used;
} * state;

static struct {
    void *(*malloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void *(*aligned_alloc)(size_t, size_t);
    void *(*memalign)(size_t, size_t);
    void *(*valloc)(size_t);
    void *(*pvalloc)(size_t);
    int (*posix_memalign)(void **, size_t, size_t);
    void (*free)(void *);
} next;

static _Thread_local bool inside __attribute__((tls_model("initial-exec")));
static _Alignas(16) uint8_t arena[1 << 16]; /* for dlsym(); never freed */
static _Atomic size_t arena_used;

static void *
map(size_t bytes, int file)
{
    const int flags =
        file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED;
    void *place = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, file, 0);

    if (place == MAP_FAILED)
        abort(); /* a test that cannot count must not pass */
    return place;
}

static struct entry *
find(uintptr_t address)
{
    const uint64_t mixed = address / 16 * UINT64_C(0x9e3779b97f4a7c15);
    size_t at = (size_t)(mixed >> 24) % ENTRIES;

    while (state->entries[at].address != 0 &&
           state->entries[at].address != address)
        at = (at + 1) % ENTRIES;
    return &state->entries[at];
}

/* ---- counting ---- */

static void
count_free(void *address)
{
    struct counts *counts = state->counts;
    struct entry *entry = find((uintptr_t)address);

    if (entry->address == 0 || entry->bytes == FREED) {
        counts->unknown++;
        return;
    }
    counts->frees++;
    counts->live--;
    counts->live_bytes -= entry->bytes;
    entry->bytes = FREED;
}

static void
count_alloc(void *address, size_t bytes)
{
    struct counts *counts = state->counts;
    struct entry *entry;

    if (address == NULL)
        return;
    entry = find((uintptr_t)address);
    if (entry->address != 0 && entry->bytes != FREED)
        abort(); /* given out twice: a free was missed */
    state->used += entry->address == 0;
    if (state->used > ENTRIES / 2)
        abort();
    *entry = (struct entry){(uintptr_t)address, bytes};
    counts->allocs++;
    counts->alloc_bytes += bytes;
    counts->live++;
    counts->live_bytes += bytes;
    if (counts->allocs > 1 && counts->live_bytes <= counts->peak_bytes)
        return;
    counts->peak_bytes = counts->live_bytes;
    counts->peak = counts->live;
}

/* ---- start, lock ---- */

#define RESOLVE(name)                                \
    do {                                             \
        void *const found = dlsym(RTLD_NEXT, #name); \
                                                     \
        memcpy(&next.name, &found, sizeof found);    \
    } while (0)

static void
resolve_all(void)
{
    RESOLVE(free);
    RESOLVE(calloc);
    RESOLVE(realloc);
    RESOLVE(aligned_alloc);
    RESOLVE(memalign);
    RESOLVE(valloc);
    RESOLVE(pvalloc);
    RESOLVE(posix_memalign);
    RESOLVE(malloc);
}

/* returns: false if there is no environment yet, or no counts are wanted */
static bool
open_counts(void)
{
    const char *const folder = environ != NULL ? getenv("COUNT_HEAP") : NULL;
    char path[512];
    char digits[24];
    size_t at;
    int length = 0;
    int file;

    if (folder == NULL || strlen(folder) > sizeof path - sizeof digits)
        return false;
    at = strlen(folder);
    memcpy(path, folder, at);
    for (long pid = getpid(); pid > 0; pid /= 10)
        digits[length++] = (char)('0' + pid % 10);
    path[at++] = '/';
    while (length > 0)
        path[at++] = digits[--length];
    path[at] = '\0';
    file = (int)syscall(SYS_openat, AT_FDCWD, path,
                        O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0 || ftruncate(file, 4096) != 0)
        abort();
    state->counts = map(4096, file);
    syscall(SYS_close, file);
    state->used = 0;
    state->entries = map(ENTRIES * sizeof *state->entries, -1);
    state->is_open = true;
    return true;
}

/* returns: false if the call must be passed on without being counted */
static bool
enter(void)
{
    uint32_t unlocked = 0;

    if (inside)
        return false;
    inside = true;
    if (next.malloc == NULL)
        resolve_all();
    if (state == NULL) {
        state = map(sizeof *state, -1);
        if (madvise(state, sizeof *state, MADV_WIPEONFORK) != 0)
            abort();
    }
    while (!atomic_compare_exchange_weak(&state->lock, &unlocked, 1)) {
        unlocked = 0;
        sched_yield();
    }
    if (state->is_open || open_counts())
        return true;
    atomic_store(&state->lock, 0);
    inside = false;
    return false;
}

static void
leave(void)
{
    const int saved = errno;

    atomic_store(&state->lock, 0);
    inside = false;
    errno = saved;
}

static void __attribute__((constructor)) start(void)
{
    if (enter())
        leave();
}

/* ---- hooks ---- */

static void *
take_arena(size_t bytes)
{
    const size_t at =
        atomic_fetch_add(&arena_used, (bytes + 15) / 16 * 16 + 16);

    if (at + bytes > sizeof arena)
        abort();
    return arena + at;
}

static bool
is_of_arena(const void *address)
{
    return (uintptr_t)address >= (uintptr_t)arena &&
           (uintptr_t)address < (uintptr_t)arena + sizeof arena;
}

/* Make `call`, and count the block that it returned. */
#define COUNTED(bytes, call)            \
    do {                                \
        void *made;                     \
        const bool counted = enter();   \
                                        \
        if (next.malloc == NULL)        \
            return take_arena(bytes);   \
        made = (call);                  \
        if (counted) {                  \
            count_alloc(made, (bytes)); \
            leave();                    \
        }                               \
        return made;                    \
    } while (0)

HOOK void *
malloc(size_t bytes)
{
    COUNTED(bytes, next.malloc(bytes));
}

HOOK void *
calloc(size_t count, size_t each)
{
    COUNTED(count * each, next.calloc(count, each));
}

HOOK void *
aligned_alloc(size_t alignment, size_t bytes)
{
    COUNTED(bytes, next.aligned_alloc(alignment, bytes));
}

HOOK void *
memalign(size_t alignment, size_t bytes)
{
    COUNTED(bytes, next.memalign(alignment, bytes));
}

HOOK void *
valloc(size_t bytes)
{
    COUNTED(bytes, next.valloc(bytes));
}

HOOK void *
pvalloc(size_t bytes)
{
    COUNTED(bytes, next.pvalloc(bytes));
}

HOOK int
posix_memalign(void **to, size_t alignment, size_t bytes)
{
    const bool counted = enter();
    const int status = next.posix_memalign(to, alignment, bytes);

    if (counted) {
        if (status == 0)
            count_alloc(*to, bytes);
        leave();
    }
    return status;
}

HOOK void *
realloc(void *old, size_t bytes)
{
    const bool counted = enter();
    void *made;

    if (next.malloc == NULL || is_of_arena(old))
        abort(); /* dlsym does not */
    made = next.realloc(old, bytes);
    if (counted) {
        if (old != NULL && (made != NULL || bytes == 0))
            count_free(old);
        count_alloc(made, bytes);
        leave();
    }
    return made;
}

HOOK void *
reallocarray(void *old, size_t count, size_t each)
{
    size_t bytes;

    if (__builtin_mul_overflow(count, each, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(old, bytes);
}

HOOK void
free(void *address)
{
    bool counted;

    if (address == NULL || is_of_arena(address))
        return;
    counted = enter();
    if (counted)
        count_free(address);
    next.free(address);
    if (counted)
        leave();
}
