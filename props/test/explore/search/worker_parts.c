/* worker_parts.c -- see worker_parts.h. */
#include "worker_parts.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "blocks.h"
#include "engine.h"
#include "futile.h"
#include "lists.h"
#include "unit_test.h"
#include "worker.h"

/* ---- The system, played for one descriptor ---- */

enum { FD = 1000, BYTES_MAX = 1 << 18 };

static struct {
    uint8_t in[BYTES_MAX]; /* what the other side sends */
    size_t in_bytes;
    size_t in_at;
    uint8_t out[BYTES_MAX]; /* what is sent to it */
    size_t out_bytes;
    size_t at_once;    /* bytes that a call takes; 0: all */
    uint32_t calls;    /* so far */
    uint32_t fails_at; /* that call, from 1 on */
    int fails_with;    /* errno; or 0: it returns 0 */
    uint32_t signals;  /* what prctl() was asked for */
    int exit_code;
} os;

static jmp_buf back;

static void
begin(void)
{
    memset(&os, 0, sizeof os);
    os.exit_code = -1;
}

/* returns: does this call do nothing, with *result? */
static bool
refuses(ssize_t *result)
{
    if (++os.calls != os.fails_at)
        return false;
    *result = os.fails_with != 0 ? -1 : 0;
    if (os.fails_with != 0)
        errno = os.fails_with;
    return true;
}

static size_t
part_of(size_t bytes)
{
    return os.at_once != 0 && bytes > os.at_once ? os.at_once : bytes;
}

ssize_t __wrap_send(int fd, const void *data, size_t bytes, int flags);

ssize_t
__wrap_send(int fd, const void *data, size_t bytes, int flags)
{
    const size_t part = part_of(bytes);
    ssize_t result;

    assert_int_equal(fd, FD);
    assert_int_equal(flags, MSG_NOSIGNAL); /* the other side may have ended */
    if (refuses(&result))
        return result;
    assert_true(os.out_bytes + part <= BYTES_MAX);
    memcpy(os.out + os.out_bytes, data, part);
    os.out_bytes += part;
    return (ssize_t)part;
}

ssize_t __real_read(int fd, void *data, size_t bytes);
ssize_t __wrap_read(int fd, void *data, size_t bytes);

ssize_t
__wrap_read(int fd, void *data, size_t bytes)
{
    const size_t left = os.in_bytes - os.in_at;
    const size_t part = part_of(bytes < left ? bytes : left);
    ssize_t result;

    if (fd != FD)
        return __real_read(fd, data, bytes);
    if (refuses(&result))
        return result;
    memcpy(data, os.in + os.in_at, part);
    os.in_at += part;
    return (ssize_t)part;
}

int __wrap_prctl(int option, unsigned long argument);

int
__wrap_prctl(int option, unsigned long argument)
{
    assert_int_equal(option, PR_SET_PDEATHSIG);
    assert_int_equal(argument, SIGKILL);
    os.signals++;
    return 0;
}

_Noreturn void __real__exit(int code);
_Noreturn void __wrap__exit(int code);

_Noreturn void
__wrap__exit(int code)
{
    if (os.exit_code != -1)
        __real__exit(code);
    os.exit_code = code;
    longjmp(back, 1);
}

static void
add_input(enum sim_message_type type, uint32_t count, const void *data,
          size_t bytes)
{
    const struct sim_message head = {
        .type = type, .count = count, .bytes = bytes};

    memcpy(os.in + os.in_bytes, &head, sizeof head);
    if (bytes > 0)
        memcpy(os.in + os.in_bytes + sizeof head, data, bytes);
    os.in_bytes += sizeof head + bytes;
}

/* ---- Messages ---- */

static const char text[] = "twenty-four bytes, say.";

/* A call that is interrupted is made again; any other that fails ends it. */
static void
check_call(bool reads, uint32_t at, size_t at_once, int fails_with)
{
    const uint32_t blocks = blocks_guarded();
    const bool ends = at != 0 && fails_with != EINTR;
    struct sim_message m;
    bool done;

    begin();
    add_input(SIM_MESSAGE_DONE, 7, text, sizeof text);
    os.fails_at = at;
    os.fails_with = fails_with;
    os.at_once = at_once;
    errno = EINTR;
    done = reads ? sim_message_receive(FD, &m)
                 : sim_message_send(FD, SIM_MESSAGE_DONE, 7, text, sizeof text);
    assert_true(done == !ends);
    if (ends) {
        assert_int_equal(os.calls, at);
    } else if (!reads) {
        assert_int_equal(os.out_bytes, os.in_bytes);
        assert_memory_equal(os.out, os.in, os.in_bytes);
    } else {
        assert_int_equal(m.type, SIM_MESSAGE_DONE);
        assert_int_equal(m.count, 7);
        assert_string_equal(m.data, text);
        sim_message_free(&m);
        assert_null(m.data);
    }
    assert_int_equal(blocks_guarded(), blocks);
}

static void
check_calls(bool reads)
{
    static const int fails[] = {0, EINTR, EIO, EPIPE, EAGAIN, ENOENT};

    for (uint32_t i = 0; i < 6; i++) {
        check_call(reads, 0, i, 0);
        for (uint32_t at = 1; at <= 2; at++) { /* the head, and the rest */
            check_call(reads, at, 0, fails[i]);
            check_call(reads, at, 5, fails[i]);
        }
    }
}

void
worker_parts_sent(void)
{
    check_calls(false);
}

void
worker_parts_received(void)
{
    check_calls(true);
}

/* ---- A worker ---- */

enum { NUMBER = 3 };

static struct sim_shared shared;
static struct sim_slot *const slot = &shared.slots[NUMBER];

/* Play a worker until its input ends. */
static void
work(const struct sim_kernel *kernel, struct sim_exhaust_options options,
     struct sim_search search)
{
    static struct sim_search s;
    uint32_t blocks;

    sim_futile_forget(); /* makes its set, which is kept */
    blocks = blocks_guarded();
    s = search;
    s.kernel = kernel;
    s.options = &options;
    sim_search_begin(&s);
    s.sample_seed = 70;
    if (setjmp(back) == 0)
        sim_worker_main(&s, FD, &shared, NUMBER);
    assert_int_equal(os.exit_code, 0);
    assert_int_equal(os.signals, 1);
    if (!options.portfolio)
        assert_true(s.sample_seed == 70 + ((uint64_t)(NUMBER + 1) << 40));
    sim_search_end(&s);
    if (os.fails_at == 0) /* but for a failure's list */
        assert_in_range(blocks_guarded(), 0,
                        blocks + (slot->counts[SIM_COUNT_FAILURES] > 0));
}

/* Take the next message that was sent, with its data. */
static struct sim_message
next_sent(enum sim_message_type type)
{
    struct sim_message m;

    assert_true(os.in_at + sizeof m <= os.out_bytes);
    memcpy(&m, os.out + os.in_at, sizeof m);
    m.data = os.out + os.in_at + sizeof m;
    os.in_at += sizeof m + m.bytes;
    assert_true(os.in_at <= os.out_bytes);
    assert_int_equal(m.type, type);
    return m;
}

/* From here on os.in_at is a place in what was sent. */
static void
begin_reading(void)
{
    assert_int_equal(os.in_at, os.in_bytes);
    os.in_at = 0;
}

static void
check_published(void *context, const struct sim_run *run)
{
    const uint64_t at = lists_made / 32 * 32; /* when it was told last */

    assert_int_equal(slot->counts[SIM_COUNT_RUNS], at);
    assert_int_equal(slot->counts[SIM_COUNT_GRAPHS], at);
    assert_int_equal(slot->share, at * (SIM_SHARE_ONE / LISTS));
    lists_count(context, run);
}

/* A worker takes 32 runs at a time, tells its counts as often, and gives the
 * part back when none is left. */
void
worker_parts_counted(void)
{
    static const int64_t left[] = {0, 1, 31, 32, 33, 63, 64, 100, LISTS, 5000};

    for (uint32_t i = 0; i < sizeof left / sizeof left[0]; i++) {
        const struct sim_kernel kernel = lists_kernel(NULL);
        const uint64_t runs = left[i] < LISTS ? (uint64_t)left[i] : LISTS;
        const bool done = left[i] >= LISTS;

        begin();
        memset(&shared, 0, sizeof shared);
        shared.runs_left = left[i];
        add_input(SIM_MESSAGE_PART, 0, NULL, 0);
        work(&kernel,
             (struct sim_exhaust_options){.after_run = check_published},
             (struct sim_search){.reduced = i % 2 != 0});
        begin_reading();
        next_sent(done ? SIM_MESSAGE_DONE : SIM_MESSAGE_GIVEN);
        assert_int_equal(os.in_at, os.out_bytes);
        assert_int_equal(slot->counts[SIM_COUNT_RUNS], runs);
        assert_int_equal(slot->counts[SIM_COUNT_GRAPHS], runs);
        assert_int_equal(lists_made, runs);
    }
}

static void
ask_at_times(void *context, const struct sim_run *run)
{
    lists_count(context, run);
    if (lists_made == 3 || lists_made == 6)
        slot->request = SIM_REQUEST_SHARE;
    if (lists_made == 9)
        slot->request = SIM_REQUEST_SHOW;
}

/* It tells one failure, before the first message after it. It shares what is
 * below two of its questions, and keeps 16 lists. */
void
worker_parts_asked(void)
{
    const struct sim_kernel kernel = lists_kernel(NULL);
    struct sim_step path[3];
    struct sim_message m;

    begin();
    memset(&shared, 0, sizeof shared);
    memset(path, 0, sizeof path);
    for (uint32_t i = 0; i < 3; i++)
        path[i].choice = (struct sim_choice){.bound = 4, .kind = SIM_DATA};
    path[0].choice.value = 1;
    shared.runs_left = 90;
    lists_fail = LISTS;
    add_input(SIM_MESSAGE_PART, 1, path, sizeof path[0]);
    add_input(SIM_MESSAGE_GO_ON, 0, NULL, 0);
    work(&kernel,
         (struct sim_exhaust_options){.after_run = ask_at_times,
                                      .keep_going = true},
         (struct sim_search){.reduced = true});
    begin_reading();
    m = next_sent(SIM_MESSAGE_FAILED);
    assert_int_equal(m.count, 5);
    assert_int_equal(m.bytes,
                     sizeof(struct sim_failed) + 5 * sizeof(struct sim_choice));
    assert_false(
        ((const struct sim_failed *)(const void *)m.data)->by_sampling);
    m = next_sent(SIM_MESSAGE_SHARED); /* the open question is the first */
    assert_int_equal(m.count, 1);
    assert_int_equal(m.bytes, sizeof(struct sim_step) + 1);
    m = next_sent(SIM_MESSAGE_SHARED);
    assert_int_equal(m.count, 1);
    assert_int_equal(m.bytes, sizeof(struct sim_step) + 2);
    m = next_sent(SIM_MESSAGE_SHOWN);
    assert_int_equal(m.count, 5 - 3);
    assert_int_equal(m.bytes, 2 * sizeof(struct sim_step) + 3);
    next_sent(SIM_MESSAGE_DONE);
    assert_int_equal(os.in_at, os.out_bytes);
    assert_int_equal(lists_made, 16);
    assert_int_equal(slot->counts[SIM_COUNT_FAILURES], 16);
}

/* ---- How its search ends ---- */

static void
fail_at_random(void *context)
{
    (void)context;
    if (lists_made == 256 && sim_engine.choices->backend != SIM_ODOMETER)
        sim_explore_fail("at random");
}

static uint32_t threads_learned;

static void
learn(void *context)
{
    (void)context;
    sim_engine.threads_known = threads_learned;
    sim_engine.cleared_bytes = 8192;
    sim_engine.learned = true;
}

static void
check_again(bool reduced, bool whole)
{
    const struct sim_kernel kernel = lists_kernel(learn);
    const uint32_t cleared = sim_engine.cleared_bytes;
    const uintptr_t *sites;
    const uint32_t count = sim_wait_sites(&sites);
    struct sim_message m;

    begin();
    memset(&shared, 0, sizeof shared);
    shared.runs_left = 100;
    add_input(SIM_MESSAGE_PART, 0, NULL, 0);
    work(&kernel, (struct sim_exhaust_options){.jobs = 0},
         (struct sim_search){.reduced = reduced, .shard = {.whole = whole}});
    sim_engine.cleared_bytes = cleared;
    sim_engine.learned = false;
    sim_engine.threads_known = 0;
    begin_reading();
    m = next_sent(SIM_MESSAGE_AGAIN);
    assert_int_equal(m.count & 1, reduced);
    assert_int_equal(m.count >> 1 & 1, whole);
    assert_int_equal(m.count >> 2 & 63, threads_learned);
    assert_int_equal(m.count >> 8, 8192);
    assert_int_equal(m.bytes, count * sizeof *sites);
    assert_int_equal(os.in_at, os.out_bytes);
}

void
worker_parts_told(void)
{
    struct sim_kernel kernel = lists_kernel(NULL);
    struct sim_message m;

    kernel.finish = fail_at_random;
    begin();
    memset(&shared, 0, sizeof shared);
    shared.runs_left = 1000;
    add_input(SIM_MESSAGE_PART, 0, NULL, 0);
    work(&kernel,
         (struct sim_exhaust_options){.portfolio = true,
                                      .after_run = lists_count},
         (struct sim_search){.reduced = true});
    begin_reading();
    m = next_sent(SIM_MESSAGE_FAILED);
    assert_true(((const struct sim_failed *)(const void *)m.data)->by_sampling);
    m = next_sent(SIM_MESSAGE_OVER);
    assert_int_equal(m.count, 0);
    assert_int_equal(m.data[0], '\0');
    assert_int_equal(os.in_at, os.out_bytes);
    assert_int_equal(slot->counts[SIM_COUNT_SAMPLED], 1);
    for (uint32_t i = 0; i < 8; i++) {
        threads_learned = 1 + i;
        check_again(i % 2 != 0, i / 2 % 2 != 0);
    }
}

/* It ends with the first message that nobody takes: what it shares at once, or
 * what it gives back after its runs. */
void
worker_parts_left(void)
{
    for (uint32_t at = 1; at <= 3; at++) {
        const struct sim_kernel kernel = lists_kernel(NULL);

        begin();
        memset(&shared, 0, sizeof shared);
        shared.runs_left = 1000;
        slot->request = SIM_REQUEST_SHARE;
        add_input(SIM_MESSAGE_PART, 0, NULL, 0);
        os.fails_at = 1 + at; /* the part is read by one call */
        os.fails_with = EPIPE;
        work(&kernel, (struct sim_exhaust_options){.after_run = lists_count},
             (struct sim_search){.reduced = true});
        assert_int_equal(os.calls, 1 + at);
        assert_int_equal(lists_made, at == 1 ? 0 : 1000);
    }
}
