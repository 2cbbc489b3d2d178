/*
 * test_log.c -- the recorder's log at its limit of size; without the recorder.
 *
 * The same calls are logged first with room for all, then with every smaller
 * limit, in steps of a word. Each log must be a prefix of the first one, with
 * as many whole records as fit, and must count those that are missing.
 */
#include <linux/futex.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#include "recorder.h"
#include "unit_test.h"

enum {
    PAGE_BYTES = 65536,
    LOG_BYTES = 65536,
    ROUNDS = 8,
    EVENTS = 8,    /* in a round */
    PATH_BYTES = 9 /* a word and one byte */
};

static const char PATH[] = "/bin/true";

/* The bytes of a log, and how many calls had no room. */
struct outcome {
    uint8_t bytes[LOG_BYTES]; /* up to used_bytes */
    uint64_t used_bytes;
    uint64_t published_bytes;
    uint64_t dropped[EMBED_DROP_COUNT];
    uint64_t refused; /* calls of embed_log() that returned 0 */
};

static struct outcome whole, part;
static uint64_t disk_bytes;
static uint64_t clock_ns;

/* The fine clock always returns the same times; the coarse clock lags, so that
 * a free fits into a short record. */
int __wrap_clock_gettime(clockid_t which, struct timespec *to);
int
__wrap_clock_gettime(clockid_t which, struct timespec *to)
{
    assert_true(which == CLOCK_MONOTONIC || which == CLOCK_MONOTONIC_COARSE);
    clock_ns += which == CLOCK_MONOTONIC_COARSE ? 0 : 7;
    *to = (struct timespec){.tv_sec = 1, .tv_nsec = (long)clock_ns};
    return 0;
}

static uint64_t sleeps, wakes;
static uint64_t sleeps_until; /* at this sleep the lock's holder releases it */

/* A sleeper that is woken finds what was logged, unless the log is full. */
static long
call_futex(const uint32_t *word, int operation, int value)
{
    _Atomic uint32_t *const lock = &embed_state->lock;

    assert_ptr_equal(word, lock);
    if (operation == FUTEX_WAIT_PRIVATE) {
        assert_int_equal(value, 2);
        assert_int_equal(atomic_load(lock), 2);
        if (++sleeps >= sleeps_until)
            atomic_store(lock, 0);
        return 0;
    }
    assert_int_equal(operation, FUTEX_WAKE_PRIVATE);
    assert_int_equal(value, 1);
    assert_int_equal(atomic_load(lock), 0);
    assert_true(embed_state->full ||
                embed_state->used_bytes ==
                    atomic_load(&embed_header()->used_bytes));
    wakes++;
    return 0;
}

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);
long
__wrap_syscall(long number, ...)
{
    va_list list;
    long words[5];

    va_start(list, number);
    for (int i = 0; i < 5; i++)
        words[i] = va_arg(list, long);
    va_end(list);
    return number == SYS_futex ? call_futex((const uint32_t *)words[0],
                                            (int)words[1], (int)words[2])
                               : __real_syscall(number, words[0], words[1],
                                                words[2], words[3], words[4]);
}

/* Stubs of spool.c and modules.c, which log.c calls. Meanwhile another thread
 * begins to wait for the lock. */
bool
embed_reserve(uint64_t bytes)
{
    assert_int_not_equal(atomic_load(&embed_state->lock), 0);
    atomic_store(&embed_state->lock, 2);
    if (bytes > disk_bytes)
        return false;
    embed_state->reserved_bytes = bytes;
    return true;
}

void
embed_modules_note(struct embed_stack *stack)
{
    (void)stack;
}

static void
log_event(enum embed_kind kind, uint32_t detail, uint64_t address,
          uint32_t words_count, struct embed_stack *stack)
{
    uint64_t words[6] = {0, address, 40, 3};

    if (embed_log(kind, detail, words, words_count, stack) == 0)
        part.refused++;
}

/* Log records of every kind, long ones before short ones. */
static void
log_all(void)
{
    static struct embed_stack stack;

    for (uint32_t round = 0; round < ROUNDS; round++) {
        const uint64_t address = 4096 + 64 * round;

        stack.depth = 1 + round * 5 % 7;
        stack.hash = 1000 + round;
        for (uint32_t i = 0; i < stack.depth; i++)
            stack.pcs[i] = round * 100 + i;
        log_event(EMBED_ALLOC, 0, address, 4, &stack);
        log_event(EMBED_FREE, 0, address, 2, NULL);
        log_event(EMBED_ALLOC, 1, address, 4, &stack);
        log_event(EMBED_FREE, 0, address + 1, 2, NULL);
        log_event(EMBED_WAIT, 1, address, 4, NULL);
        log_event(EMBED_FREE, 0, address, 2, NULL);
        log_event(EMBED_ALLOC, 0, address, 5, &stack);
        log_event(EMBED_FREE, 0, address, 2, NULL);
        stack.hash += 1000;
        (void)embed_log_stack(&stack);
        if (round == ROUNDS / 2) {
            embed_log_unload();
            (void)embed_log_exec(7, PATH, PATH_BYTES, 77);
            atomic_fetch_add(&embed_names, 1);
        }
    }
}

static void *
pages(size_t bytes)
{
    void *place = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    assert_true(place != MAP_FAILED);
    return place;
}

/* Log the same again within a limit, into `part`, as a new process. */
static void
log_within(uint64_t limit_bytes, uint64_t disk)
{
    const uint64_t end = limit_bytes < disk ? limit_bytes : disk;
    uint8_t *const memory = pages(LOG_BYTES + PAGE_BYTES);

    /* Behind the log lies an inaccessible page. */
    assert_int_equal(mprotect(memory + LOG_BYTES, PAGE_BYTES, PROT_NONE), 0);
    embed_state = pages(sizeof *embed_state);
    embed_state->log = memory + LOG_BYTES - end;
    embed_state->limit_bytes = limit_bytes;
    embed_state->used_bytes = EMBED_SPOOL_FIRST;
    embed_state->reserved_bytes = EMBED_SPOOL_FIRST;
    embed_publish_locked();
    atomic_store(&embed_state->phase, EMBED_ON);
    memset(&embed_self, 0, sizeof embed_self);
    atomic_store(&embed_generation, 1);
    atomic_store(&embed_names, 0);
    disk_bytes = disk;
    clock_ns = 0;
    part.refused = 0;
    log_all();
    part.used_bytes = embed_state->used_bytes;
    part.published_bytes = atomic_load(&embed_header()->used_bytes);
    for (int i = 0; i < EMBED_DROP_COUNT; i++)
        part.dropped[i] = atomic_load(&embed_header()->dropped[i]);
    memcpy(part.bytes, embed_state->log, part.used_bytes);
    munmap(memory, LOG_BYTES + PAGE_BYTES);
    munmap(embed_state, sizeof *embed_state);
    embed_state = NULL;
}

static uint64_t
end_of_record(uint64_t start)
{
    struct embed_record record;

    memcpy(&record, whole.bytes + start, sizeof record);
    if (record.kind == EMBED_SHORT_ALLOC || record.kind == EMBED_SHORT_FREE)
        return start + (record.kind == EMBED_SHORT_ALLOC ? 16 : 8);
    return start + 8 * (uint64_t)record.words;
}

/* Return where the last record ends that fits within the limit. */
static uint64_t
whole_records(uint64_t limit_bytes)
{
    uint64_t end = EMBED_SPOOL_FIRST;

    while (end < whole.used_bytes && end_of_record(end) <= limit_bytes)
        end = end_of_record(end);
    return end;
}

static uint64_t
events_within(uint64_t used_bytes)
{
    uint64_t events = 0;

    for (uint64_t at = EMBED_SPOOL_FIRST; at < used_bytes;
         at = end_of_record(at)) {
        const uint8_t kind = whole.bytes[at];

        events += kind == EMBED_ALLOC || kind == EMBED_FREE ||
                  kind == EMBED_WAIT || kind == EMBED_SHORT_ALLOC ||
                  kind == EMBED_SHORT_FREE;
    }
    return events;
}

static void
expect_prefix(uint64_t limit_bytes, enum embed_cause cause)
{
    assert_int_equal(part.used_bytes, whole_records(limit_bytes));
    assert_true(part.published_bytes <= part.used_bytes);
    assert_int_equal(whole_records(part.published_bytes), part.published_bytes);
    assert_memory_equal(part.bytes + EMBED_SPOOL_FIRST,
                        whole.bytes + EMBED_SPOOL_FIRST,
                        part.used_bytes - EMBED_SPOOL_FIRST);
    assert_int_equal(part.refused + events_within(part.used_bytes),
                     EVENTS * ROUNDS);
    for (int i = 0; i < EMBED_DROP_COUNT; i++)
        assert_int_equal(part.dropped[i], i == (int)cause ? part.refused : 0);
}

static int
log_whole(void **state)
{
    (void)state;
    log_within(LOG_BYTES, LOG_BYTES);
    whole = part;
    return 0;
}

TEST(records_of_all_sizes_are_logged)
{
    uint64_t sizes = 0; /* bit n: a record of n words */
    uint64_t next;

    assert_int_equal(whole.refused, 0);
    assert_int_equal(whole.published_bytes, whole.used_bytes);
    for (uint64_t at = EMBED_SPOOL_FIRST; at < whole.used_bytes; at = next) {
        next = end_of_record(at);
        assert_in_range(next, at + 8, whole.used_bytes);
        sizes |= UINT64_C(1) << (next - at) / 8;
    }
    /* Short and long events, a thread and its name, and stacks of 1 to 7
     * frames. */
    assert_int_equal(sizes, 0x3fe);
}

/* A path is logged to its last byte; the rest of the word is zeros. */
TEST(what_is_executed_is_logged_whole)
{
    static const uint8_t padding[16 - PATH_BYTES];
    uint32_t count = 0;

    for (uint64_t at = EMBED_SPOOL_FIRST; at < whole.used_bytes;
         at = end_of_record(at)) {
        uint64_t words[3];

        if (whole.bytes[at] != EMBED_EXEC)
            continue;
        count++;
        memcpy(words, &whole.bytes[at], sizeof words);
        assert_int_equal(words[0] >> 32, 7);
        assert_int_equal(words[1], 77);
        assert_int_equal(words[2], PATH_BYTES);
        assert_memory_equal(&whole.bytes[at + 24], PATH, PATH_BYTES);
        assert_memory_equal(&whole.bytes[at + 24 + PATH_BYTES], padding,
                            sizeof padding);
    }
    assert_int_equal(count, 1);
}

TEST(a_full_log_is_a_prefix_whatever_the_limit)
{
    for (uint64_t limit = EMBED_SPOOL_FIRST; limit <= whole.used_bytes;
         limit += 8) {
        log_within(limit, LOG_BYTES);
        expect_prefix(limit, EMBED_DROP_LIMIT);
    }
}

TEST(a_full_disk_ends_the_log_as_a_limit_does)
{
    for (uint64_t disk = EMBED_SPOOL_FIRST; disk <= whole.used_bytes;
         disk += 8) {
        log_within(LOG_BYTES, disk);
        expect_prefix(disk, EMBED_DROP_DISK);
    }
}

/* Once its table of stacks is three quarters full, the log writes a new stack
 * each time. */
TEST(stacks_are_known_as_long_as_there_is_room)
{
    enum { KNOWN = (1 << 19) / 4 * 3, BYTES = 32 << 20 };
    struct embed_stack stack = {.depth = 1};
    uint64_t first;
    uint64_t last = 0;

    (void)state;
    embed_state = pages(sizeof *embed_state);
    embed_state->log = pages(BYTES);
    embed_state->limit_bytes = embed_state->reserved_bytes = BYTES;
    embed_state->used_bytes = first = EMBED_SPOOL_FIRST;
    for (uint64_t i = 0; i < KNOWN + 2; i++) {
        stack.hash = i * UINT64_C(0x9e3779b97f4a7c15);
        stack.pcs[0] = i;
        last = embed_log_stack(&stack);
        assert_int_equal(last, first + i * 24);
    }
    assert_int_not_equal(embed_log_stack(&stack), last);
    stack.hash = (KNOWN - 1) * UINT64_C(0x9e3779b97f4a7c15);
    stack.pcs[0] = KNOWN - 1;
    assert_int_equal(embed_log_stack(&stack), first + (KNOWN - 1) * 24);
    stack.hash = 0;
    stack.pcs[0] = 0;
    assert_int_equal(embed_log_stack(&stack), first);
    munmap(embed_state->log, BYTES);
    munmap(embed_state, sizeof *embed_state);
    embed_state = NULL;
}

/* Before there is a log, what is lost is counted apart, each once. */
TEST(what_is_lost_before_the_log_is_counted)
{
    (void)state;
    assert_null(embed_state);
    for (uint64_t i = 1; i <= 3; i++) {
        embed_drop(EMBED_DROP_EARLY);
        assert_int_equal(atomic_load(&embed_early_drops), i);
    }
}

/* A thread that is woken but does not get the lock sleeps again. One that may
 * have left other sleepers behind wakes one when it releases the lock. */
TEST(a_lock_that_is_held_is_slept_for)
{
    (void)state;
    embed_state = pages(sizeof *embed_state);
    embed_state->full = true;
    for (uint32_t held = 1; held <= 2; held++) {
        sleeps = wakes = 0;
        sleeps_until = 3;
        atomic_store(&embed_state->lock, held);
        embed_lock();
        assert_int_equal(sleeps, 3);
        assert_int_equal(atomic_load(&embed_state->lock), 2);
        embed_unlock();
        assert_int_equal(wakes, 1);
    }
    embed_lock();
    assert_int_equal(atomic_load(&embed_state->lock), 1);
    embed_unlock();
    assert_int_equal(atomic_load(&embed_state->lock), 0);
    assert_int_equal(sleeps, 3);
    assert_int_equal(wakes, 1);
    munmap(embed_state, sizeof *embed_state);
    embed_state = NULL;
}

int
main(void)
{
    return tests_run(log_whole, NULL);
}
