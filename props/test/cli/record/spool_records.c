/* spool_records.c -- see spool_exact.h: each record at its limits. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "spool_case.h"
#include "spool_exact.h"
#include "unit_test.h"

/* in: text, NULL: it is taken */
static void
expect_record(uint64_t at, const char *text)
{
    struct cli_converted what;
    char error[200] = "";
    char want[200] = "";

    if (text != NULL)
        snprintf(want, sizeof want,
                 "the log is damaged at offset %" PRIu64 ": %s", at, text);
    assert_int_equal(spool_convert(&what, error, sizeof error), text == NULL);
    assert_string_equal(error, want);
}

static void
check_kinds(void)
{
    /* words behind the first one that a record of a kind needs */
    static const uint32_t needed[] = {0, 1, 1, 5, 4, 2, 4, 3, 2, 5, 2, 2, 1, 2};
    static const uint64_t words[8];

    for (uint32_t kind = 0; kind < 256; kind++) {
        const bool is_known = kind > 0 && kind < sizeof needed / sizeof *needed;
        const bool is_short =
            kind == EMBED_SHORT_ALLOC || kind == EMBED_SHORT_FREE;

        if (is_short)
            continue;
        spool_begin();
        expect_record(spool_append((enum embed_kind)kind, 0, 0, words,
                                   is_known ? needed[kind] - 1 : 6),
                      is_known ? "a record is too short"
                               : "a record of no known kind");
    }
}

static void
check_ends(void)
{
    static const uint64_t words[20];

    for (uint64_t cut = 0; cut < 3; cut++) {
        uint64_t at;

        spool_begin();
        at = spool_append(EMBED_EXEC, 0, 0, words, 20);
        atomic_fetch_sub(&spool_header()->used_bytes, 8 * cut);
        expect_record(at, cut > 0 ? "a record reaches past the end" : NULL);
    }
}

static void
check_stacks(void)
{
    static const uint64_t words[12];

    for (uint32_t depth = 0; depth < 11; depth++)
        for (uint32_t left = 0; left < 11; left++) {
            spool_begin();
            expect_record(spool_append(EMBED_STACK, 0, depth, words, left + 1),
                          depth == left && depth <= 8
                              ? NULL
                              : "a stack of another length");
        }
}

void
spool_check_records(void)
{
    static uint64_t words[600] = {0x4000, 0x5000, 0x6000};
    static const uint64_t limits[] = {0x6000, 0x5001, 0x5000, 0x4fff};

    check_kinds();
    check_ends();
    check_stacks();
    for (uint32_t number = 0; number < 3; number++) {
        spool_begin();
        expect_record(spool_append(EMBED_NAME, 0, number, words, 2),
                      number > 0 ? "a name of no known thread" : NULL);
    }
    for (uint64_t bytes = 4095; bytes < 4098; bytes++) {
        spool_begin();
        words[4] = bytes << 32;
        memset(&words[5], 'p', bytes);
        expect_record(spool_append(EMBED_MODULE, 0, 0, words,
                                   (uint32_t)(5 + (bytes + 7) / 8)),
                      bytes > 4096 ? "a module of another length" : NULL);
    }
    for (size_t i = 0; i < 4; i++) {
        spool_begin();
        words[2] = limits[i];
        words[4] = 0;
        expect_record(spool_append(EMBED_MODULE, 0, 0, words, 5),
                      limits[i] <= 0x5000 ? "an empty module" : NULL);
    }
    words[2] = 0x6000;
}

/* ---- modules with one hash ---- */

/* The hash of modules.c, without the last word. */
static uint64_t
hash_of(const uint64_t *words, uint32_t count)
{
    uint64_t hash = count + 1;

    for (uint32_t i = 0; i + 1 < count; i++) {
        hash = (hash ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    return hash;
}

/* The last word, of their build ids, makes the hashes the same. */
void
spool_check_collisions(void)
{
    uint64_t words[6] = {0};
    struct sim_recording *recording;
    struct sim_recorded_frame frame;
    struct cli_converted what;
    uint64_t hash = 0;
    char error[200];

    spool_begin();
    for (uint64_t start = 0x5000; start < 0xd000; start += 0x2000) {
        words[0] = words[1] = start;
        words[2] = start + 0x1000;
        words[3] = start / 16;
        words[4] = 8;
        hash = start == 0x5000 ? hash_of(words, 6) : hash;
        words[5] = hash ^ hash_of(words, 6);
        spool_append(EMBED_MODULE, 0, 0, words, 6);
        spool_append_alloc(1, start, 1, spool_append_stack(start + 16, 1));
    }
    if (!spool_convert(&what, error, sizeof error))
        fail_msg("%s", error);
    recording = spool_open_result();
    for (uint64_t start = 0x5000; start < 0xd000; start += 0x2000) {
        char want[32];

        snprintf(want, sizeof want, "+0x%" PRIx64, start / 16 + 16);
        assert_true(sim_recording_find(recording, start + 16, &frame));
        assert_string_equal(frame.function, want);
    }
    sim_recording_close(recording);
}

/* ---- events ---- */

/* in: want, the events, and what is dropped as not known */
static void
expect_events(const struct sim_recorded *want, size_t count, uint64_t dropped)
{
    struct sim_recording_cursor cursor;
    struct sim_recording *recording;
    struct sim_recorded event;
    struct cli_converted what;
    struct stat status;
    char error[200];

    if (!spool_convert(&what, error, sizeof error))
        fail_msg("%s", error);
    assert_int_equal(stat(spool_path_of("x.rec"), &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600); /* it may have secrets */
    assert_int_equal(spool_lost(&what), dropped);
    recording = spool_open_result();
    sim_recording_begin(recording, &cursor);
    for (size_t i = 0; i < count; i++) {
        assert_true(sim_recording_next(&cursor, &event));
        assert_int_equal(event.kind, want[i].kind);
        assert_int_equal(event.object, want[i].object);
        assert_int_equal(event.wait_ticks, want[i].wait_ticks);
        assert_int_equal(event.alignment, want[i].alignment);
    }
    assert_false(sim_recording_next(&cursor, &event));
    sim_recording_close(recording);
}

static void
check_resizes(void)
{
    static const struct sim_recorded want[] = {
        {.kind = SIM_RECORDED_ALLOC},
        {.kind = SIM_RECORDED_ALLOC, .object = 1}, /* of an unknown block */
        {.kind = SIM_RECORDED_RESIZE},
        {.kind = SIM_RECORDED_ALLOC, .object = 2}, /* it had ended */
        {.kind = SIM_RECORDED_ALLOC, .object = 3}};
    uint64_t stack;
    uint64_t begun;

    spool_begin();
    stack = spool_append_stack(0x5010, 1);
    spool_append_alloc(1, 0xa000, 1, stack);
    begun = spool_append_free(EMBED_RESIZE, 2, 0xdead0);
    spool_append_resized(3, 0xb000, 2, begun, stack);
    begun = spool_append_free(EMBED_RESIZE, 4, 0xa000);
    spool_append_resized(5, 0xc000, 3, begun, stack);
    spool_append_resized(6, 0xd000, 4, begun, stack);
    spool_append_resized(7, 1, 5, 0, stack); /* the lowest address */
    expect_events(want, 5, 1);
}

static void
check_alignments(void)
{
    for (uint32_t given = 0; given < 128; given++) {
        const struct sim_recorded want = {
            .kind = SIM_RECORDED_ALLOC,
            .alignment =
                given > 0 && given <= 64 ? UINT64_C(1) << (given - 1) : 0};
        uint64_t words[4] = {START, 0xa000, 1, 0};

        spool_begin();
        words[3] = spool_append_stack(0x5010, 1);
        spool_append(EMBED_ALLOC, (uint8_t)(given << 1), 0, words, 4);
        expect_events(&want, 1, 0);
    }
}

static void
check_waits(void)
{
    static const uint64_t begun[] = {START - 1, START, START + 1, START + 9,
                                     START + 10};
    static const uint64_t waited[] = {0, 9, 8, 0, 0};

    for (int i = 0; i < 5; i++) {
        const struct sim_recorded want = {.kind = SIM_RECORDED_WAIT,
                                          .wait_ticks = waited[i]};
        uint64_t words[4] = {START + 9, 0xbeef, begun[i], 0};

        spool_begin();
        words[3] = spool_append_stack(0x5010, 1);
        spool_append(EMBED_WAIT, 0, 0, words, 4);
        expect_events(&want, 1, 0);
    }
}

void
spool_check_events(void)
{
    uint64_t words[4] = {START + 2, 0xa000, 1, EMBED_SPOOL_FIRST};
    struct cli_converted what;
    char error[200];
    uint64_t at;

    check_resizes();
    check_alignments();
    check_waits();
    spool_begin(); /* where the stack should be is a thread */
    at = spool_append(EMBED_ALLOC, 0, 0, words, 4);
    expect_record(at, "an event with no known stack");
    spool_begin();
    words[0] = (uint64_t)0xa00 << 20 | EMBED_SHORT_ALLOC;
    words[1] = 0;
    at = spool_append(EMBED_SHORT_ALLOC, 0, 0, &words[1], 1);
    memcpy(&spool[at], words, 8); /* thread 0 */
    expect_record(at, "an event with no known stack");
    spool_begin();
    words[3] = spool_append_stack(0x5010, 1);
    words[0] = START + 2;
    words[1] = 0;
    at = spool_append(EMBED_ALLOC, 0, 0, words, 4);
    expect_record(at, "an event with no known stack");
    spool_begin();
    words[3] = spool_append_stack(0x5010, 1);
    words[1] = 0xa000;
    spool_append(EMBED_ALLOC, 0, 0, words, 4);
    words[0] = START + 1;
    at = spool_append(EMBED_ALLOC, 0, 0, words, 4);
    expect_record(at, "the clock goes back");
    spool_begin();
    assert_int_equal(spool_convert(&what, error, sizeof error), true);
    assert_false(cli_convert(spool_path_of("spool"), "/no/such/x.rec", NULL,
                             &what, error, sizeof error));
    assert_string_equal(
        error, "cannot write /no/such/x.rec: No such file or directory");
}
