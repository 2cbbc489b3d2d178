/* small_recording.c -- see small_recording.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "small_recording.h"
#include "unit_test.h"

const uint64_t props_recording_dropped[CLI_RECFILE_CAUSES] = {1, 2, 3, 4,
                                                              5, 6, 7, 8};

void
props_small_recording_tables(struct cli_recfile *file)
{
    static const char *const arguments[] = {"prog", "", "a b"};
    static const uint8_t id[3] = {9, 0, 255};
    struct cli_recfile_about about = {.ticks_per_second = 1000000000,
                                      .start_ticks = 77,
                                      .forked_ticks = 70,
                                      .process = 12,
                                      .parent = 11,
                                      .depth_max = 4,
                                      .arguments_count = 3,
                                      .arguments = arguments};
    struct cli_recfile_module module = {.start = 0x1000,
                                        .length_bytes = 0x500,
                                        .offset = 64,
                                        .path = 2,
                                        .id = id,
                                        .id_bytes = 3};
    struct cli_recfile_frame frames[3] = {
        {.pc = 0x1010, .module = 1, .function = 1, .function_offset = 7},
        {.pc = UINT64_MAX, .file = 3, .line = UINT32_MAX},
        {.pc = 0x1001, .module = 1},
    };
    static const uint32_t stacks[3][4] = {{0, 1}, {2, 1}, {2, 0, 2, 1}};
    int i;

    cli_recfile_about(file, &about);
    cli_recfile_string(file, "work");
    cli_recfile_string(file, "/bin/prog");
    cli_recfile_string(file, "prog.c");
    cli_recfile_module(file, &module);
    for (i = 0; i < 3; i++)
        cli_recfile_frame(file, &frames[i]);
    cli_recfile_stack(file, stacks[0], 2);
    cli_recfile_stack(file, stacks[1], 2);
    cli_recfile_stack(file, stacks[0], 0);
    cli_recfile_stack(file, stacks[2], 4);
    cli_recfile_thread(file, 12, "");
    cli_recfile_thread(file, 900, "io worker");
}

const struct sim_recorded props_small_recording[PROPS_SMALL_COUNT] = {
    {.kind = SIM_RECORDED_ALLOC, .ticks = 0, .size_bytes = UINT64_MAX},
    {.kind = SIM_RECORDED_ALLOC,
     .thread = 1,
     .ticks = 5,
     .stack = 3,
     .object = 1},
    {.kind = SIM_RECORDED_WAIT,
     .thread = 1,
     .ticks = 900,
     .stack = 1,
     .lock_kind = SIM_RECORDED_COND,
     .wait_ticks = 900,
     .wait_failed = true},
    {.kind = SIM_RECORDED_RELEASE, .ticks = 900, .lock = 1, .stack = 2},
    {.kind = SIM_RECORDED_RELEASE,
     .ticks = 901,
     .stack = 2,
     .lock_kind = SIM_RECORDED_READ},
    {.kind = SIM_RECORDED_WAIT,
     .ticks = 902,
     .lock = 1,
     .lock_kind = SIM_RECORDED_WRITE},
    {.kind = SIM_RECORDED_WAIT,
     .ticks = 902,
     .lock = 1,
     .lock_kind = SIM_RECORDED_SEMAPHORE,
     .wait_ticks = 1,
     .wait_failed = true},
    {.kind = SIM_RECORDED_RESIZE,
     .thread = 1,
     .ticks = 950,
     .stack = 3,
     .object = 1,
     .size_bytes = UINT64_MAX - 9,
     .usable_bytes = UINT64_MAX},
    {.kind = SIM_RECORDED_FREE, .ticks = 1000, .object = 1},
    {.kind = SIM_RECORDED_ALLOC,
     .ticks = UINT64_MAX - 77,
     .size_bytes = 300,
     .usable_bytes = 300,
     .stack = 1,
     .object = 2,
     .zeroed = true,
     .alignment = UINT64_C(1) << 63},
    {.kind = SIM_RECORDED_FREE, .thread = 1, .ticks = UINT64_MAX - 77},
};

static void
write_event(struct cli_recfile *file, const struct sim_recorded *event)
{
    struct cli_recfile_request request = {0};

    switch (event->kind) {
    case SIM_RECORDED_ALLOC:
        request.zeroed = event->zeroed;
        request.usable_bytes = event->usable_bytes;
        request.has_alignment = event->alignment != 0;
        if (request.has_alignment)
            request.alignment_log2 =
                (uint32_t)__builtin_ctzll(event->alignment);
        cli_recfile_alloc_as(file, event->thread, event->ticks,
                             event->size_bytes, &request, event->stack);
        break;
    case SIM_RECORDED_RESIZE:
        cli_recfile_resize_usable(file, event->thread, event->ticks,
                                  event->object, event->size_bytes,
                                  event->usable_bytes, event->stack);
        break;
    case SIM_RECORDED_FREE:
        cli_recfile_free(file, event->thread, event->ticks, event->object);
        break;
    case SIM_RECORDED_WAIT:
        cli_recfile_wait(file, event->thread, event->ticks,
                         (uint32_t)event->lock_kind, event->wait_failed,
                         event->lock, event->wait_ticks, event->stack);
        break;
    case SIM_RECORDED_RELEASE:
        cli_recfile_release_of(file, event->thread, event->ticks,
                               (uint32_t)event->lock_kind, event->lock,
                               event->stack);
        break;
    }
}

void
props_small_recording_write(struct cli_recfile *file, size_t block_bytes)
{
    size_t i;

    cli_recfile_init(file, block_bytes);
    props_small_recording_tables(file);
    for (i = 0; i < PROPS_SMALL_COUNT; i++)
        write_event(file, &props_small_recording[i]);
    cli_recfile_end(file, props_recording_dropped);
    assert_false(file->failed);
}

struct sim_recording *
props_small_recording_read(const uint8_t *bytes, size_t count)
{
    struct sim_recording *recording;
    struct sim_recording_error error;
    char line[200];

    if (sim_recording_parse(&recording, bytes, count, &error))
        return recording;
    sim_recording_explain(&error, "file", line, sizeof line);
    fail_msg("%s", line);
    return NULL;
}

void
props_small_recording_walk(const struct sim_recording *recording)
{
    const struct sim_recording_totals *totals = sim_recording_totals(recording);
    struct sim_recording_cursor cursor;
    struct sim_recorded event;
    uint32_t frames[SIM_RECORDED_DEPTH_MAX];
    uint64_t events = 0;
    uint32_t i;

    sim_recording_begin(recording, &cursor);
    while (sim_recording_next(&cursor, &event)) {
        events++;
        assert_true(event.stack == 0 || event.stack < totals->stacks);
        assert_true(event.thread < totals->threads);
        assert_true(event.object <= totals->allocs);
    }
    assert_int_equal(events, sim_recording_events(recording));
    for (i = 0; i < totals->stacks; i++)
        assert_true(
            sim_recording_stack(recording, i, frames, SIM_RECORDED_DEPTH_MAX) <=
            totals->depth_max);
    for (i = 0; i < totals->frames; i++)
        assert_non_null(sim_recording_frame(recording, i).function);
}
