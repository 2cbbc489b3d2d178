/* conform_events.c -- see conform_events.h. */
#include "conform_events.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "conform_stream.h"
#include "drawn.h"
#include "unit_test.h"

enum { ALLOC, FREE };

static struct stream *shared;

static void
expect(const char *name, enum cli_verdict verdict, const char *text)
{
    struct cli_conform_outcome outcome;

    cli_conform_stream_judge(name, &outcome);
    assert_string_equal(outcome.text, text);
    assert_int_equal(outcome.verdict, verdict);
}

enum { DRAWN_MAX = 14 };

static const uint64_t processes[] = {5, 42, 99};
static const uint64_t addresses[] = {0, 0x1000, UINT64_C(1) << 40};

static void
draw_events(void)
{
    const bool is_never_null = draw(4) > 0;
    const uint64_t process_count = 1 + draw(3);
    const uint64_t count = draw(DRAWN_MAX + 1);
    bool is_live[3][3] = {{false}};

    for (uint64_t i = 0; i < count; i++) {
        const uint64_t p = draw(process_count);
        const uint64_t a = is_never_null ? 1 + draw(2) : draw(2) + draw(2);
        const uint64_t bytes = draw(4) * draw(3);
        bool *const live = &is_live[p][a];

        if (draw(16) > 0) /* as it must be */
            *live = !*live;
        shared->events[shared->count++] = (struct stream_event){
            .kind = *live ? ALLOC : FREE + draw(2),
            .process = processes[p],
            .address = addresses[a],
            .bytes = bytes,
            .weight_bytes =
                bytes == 0 && draw(4) > 0 ? 0 : 6 + bytes - draw(8) / 7};
    }
}

void
conform_events_draw(struct stream *stream, uint64_t seed)
{
    shared = stream;
    drawn = seed;
    draw_events();
}

/* The events of a block in their order. returns: false if they cannot be */
static bool
follow(uint64_t process, uint64_t address, char *text, size_t room,
       uint64_t *closed, uint64_t *inherited)
{
    const struct stream_event *before = NULL;

    for (uint64_t i = 0; i < shared->count; i++) {
        const struct stream_event *const now = &shared->events[i];

        if (now->process != process || now->address != address)
            continue;
        if (before != NULL && (before->kind != ALLOC) == (now->kind != ALLOC)) {
            snprintf(text, room, "process %d: %#jx has two %s after each other",
                     (int)process, (uintmax_t)address,
                     now->kind == ALLOC ? "allocs" : "frees");
            return false;
        }
        if (before == NULL && now->kind != ALLOC &&
            process == shared->events[0].process) {
            snprintf(text, room, "%#jx has a free, and no alloc before it",
                     (uintmax_t)address);
            return false;
        }
        if (now->kind != ALLOC)
            ++*(before != NULL ? closed : inherited);
        before = now;
    }
    return true;
}

static void
expect_lives(void)
{
    const int count = (int)shared->count;
    uint64_t closed = 0;
    uint64_t inherited = 0;
    char text[128];

    for (int block = 0; block < 9; block++)
        if (!follow(processes[block / 3], addresses[block % 3], text,
                    sizeof text, &closed, &inherited)) {
            expect("frees", CLI_VERDICT_BROKEN, text);
            return;
        }
    if (closed + inherited == 0)
        snprintf(text, sizeof text, "none of %d events is a free", count);
    else
        snprintf(text, sizeof text,
                 "%d of %d events are frees of their alloc, %d of inherited "
                 "blocks",
                 (int)closed, count, (int)inherited);
    expect("frees",
           closed + inherited == 0 ? CLI_VERDICT_NOT_TRIED : CLI_VERDICT_HOLDS,
           text);
}

/* Is it said of two allocs of one size, of which one follows the other among
 * them, that their weights differ? Or of one that it weighs too little? */
static bool
is_wrong(const struct stream_event *before, const struct stream_event *now,
         const char *said)
{
    char text[128];

    snprintf(text, sizeof text,
             "a block of %d bytes weighs %d: a chance above 1", (int)now->bytes,
             (int)now->weight_bytes);
    if (now->weight_bytes < now->bytes && strcmp(said, text) == 0)
        return true;
    if (before == NULL)
        return false;
    snprintf(text, sizeof text, "blocks of %d bytes weigh %d and %d",
             (int)now->bytes, (int)before->weight_bytes,
             (int)now->weight_bytes);
    return strcmp(said, text) == 0;
}

static void
expect_weights(void)
{
    struct cli_conform_outcome outcome;
    bool is_good = true;
    bool is_told = false;
    int allocs = 0;
    int pairs = 0;
    char text[128];

    cli_conform_stream_judge("weights", &outcome);
    for (uint64_t i = 0; i < shared->count; i++) {
        const struct stream_event *const now = &shared->events[i];
        const struct stream_event *before = NULL;

        if (now->kind != ALLOC)
            continue;
        for (uint64_t j = 0; j < i; j++)
            if (shared->events[j].kind == ALLOC &&
                shared->events[j].bytes == now->bytes)
                before = &shared->events[j];
        allocs++;
        pairs += before != NULL;
        is_good =
            is_good && now->weight_bytes >= now->bytes &&
            (before == NULL || (now->weight_bytes <= before->weight_bytes + 1 &&
                                before->weight_bytes <= now->weight_bytes + 1));
        is_told = is_told || is_wrong(before, now, outcome.text);
    }
    assert_int_equal(outcome.verdict, !is_good     ? CLI_VERDICT_BROKEN
                                      : pairs == 0 ? CLI_VERDICT_NOT_TRIED
                                                   : CLI_VERDICT_HOLDS);
    if (!is_good) {
        assert_true(is_told);
        return;
    }
    snprintf(text, sizeof text,
             pairs == 0
                 ? "of %d sampled blocks no two have one size"
                 : "%d sampled blocks, %d of a size that another one has",
             allocs, pairs);
    assert_string_equal(outcome.text, text);
}

static void
expect_nothing(void)
{
    struct cli_conform_outcome outcome;
    const struct stream_event *first = NULL; /* of the smallest process */
    char text[64];

    for (uint64_t i = shared->count; i-- > 0;) {
        const struct stream_event *const now = &shared->events[i];

        if (now->address == 0 &&
            (first == NULL || now->process <= first->process))
            first = now;
    }
    cli_conform_stream_judge("nothing", &outcome);
    assert_int_equal(outcome.verdict,
                     first != NULL ? CLI_VERDICT_BROKEN : CLI_VERDICT_HOLDS);
    snprintf(text, sizeof text, "none of %d events is of NULL",
             (int)shared->count);
    assert_string_equal(outcome.text, first == NULL ? text
                                      : first->kind == ALLOC
                                          ? "an alloc of NULL"
                                          : "a free of NULL");
}

static void
expect_zeros(void)
{
    struct cli_conform_outcome outcome;
    bool is_good = true;
    bool is_told = false;
    int zeros = 0;
    char text[64];

    cli_conform_stream_judge("size_zero", &outcome);
    for (uint64_t i = 0; i < shared->count; i++) {
        const struct stream_event *const now = &shared->events[i];

        if (now->kind != ALLOC || now->bytes != 0)
            continue;
        zeros++;
        is_good = is_good && now->weight_bytes == 0;
        snprintf(text, sizeof text, "a block of no size weighs %d bytes",
                 (int)now->weight_bytes);
        is_told = is_told ||
                  (now->weight_bytes != 0 && strcmp(outcome.text, text) == 0);
    }
    assert_int_equal(outcome.verdict, !is_good     ? CLI_VERDICT_BROKEN
                                      : zeros == 0 ? CLI_VERDICT_NOT_TRIED
                                                   : CLI_VERDICT_HOLDS);
    snprintf(text, sizeof text,
             zeros == 0 ? "no block of no size was sampled"
                        : "%d blocks of no size",
             zeros);
    if (is_good)
        assert_string_equal(outcome.text, text);
    else
        assert_true(is_told);
}

void
conform_events_expect(void)
{
    static const char *const names[] = {"frees", "weights", "nothing",
                                        "size_zero"};

    if (shared->count > 0) {
        expect_lives();
        expect_weights();
        expect_nothing();
        expect_zeros();
        return;
    }
    for (int name = 0; name < 4; name++)
        expect(names[name], CLI_VERDICT_NOT_TRIED, "nothing was sampled");
}
