/* spool_model_check.c -- see spool_model.h: reads recordings. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "spool_model.h"
#include "unit_test.h"

/* Between a module's layer and the next one's. */
#define LAYER_BYTES (UINT64_C(1) << 48)

/* The frame of a call: its pc is moved up by the files that were there before,
 * and its name is the offset in its file. */
static void
check_frame(const struct spool_model *model, const struct spool_pc *pc,
            const struct sim_recorded_frame *frame)
{
    const uint64_t start = model->base + (uint64_t)pc->place * 0x10000;
    char name[64];
    char path[64] = "";

    if (pc->place < 0) {
        assert_int_equal(frame->pc, pc->pc);
        snprintf(name, sizeof name, "0x%" PRIx64, pc->pc);
    } else {
        assert_int_equal(
            frame->pc,
            pc->pc + LAYER_BYTES *
                         (uint64_t)(model->layers[pc->place][pc->file] - 1));
        snprintf(path, sizeof path, "/no/f%d-%d.so", pc->place, pc->file);
        snprintf(name, sizeof name, "f%d-%d.so+0x%" PRIx64, pc->place, pc->file,
                 pc->pc - start + 0x200 * (uint64_t)pc->file);
    }
    assert_string_equal(frame->function, name);
    assert_string_equal(frame->module, path);
    assert_int_equal(frame->function_offset, 0);
    assert_string_equal(frame->file, "");
    assert_int_equal(frame->line, 0);
}

static void
check_stack(const struct spool_model *model, uint32_t want,
            const struct sim_recording *recording, uint32_t number)
{
    const struct spool_stack *const stack = &model->stacks[want];
    uint32_t frames[SPOOL_DEPTH + 1];

    assert_int_equal(
        sim_recording_stack(recording, number, frames, SPOOL_DEPTH + 1),
        stack->depth);
    for (uint32_t i = 0; i < stack->depth; i++) {
        const struct sim_recorded_frame frame =
            sim_recording_frame(recording, frames[i]);

        check_frame(model, &stack->pcs[i], &frame);
    }
}

static void
check_event(const struct sim_recorded *want, const struct sim_recorded *got)
{
    assert_int_equal(got->kind, want->kind);
    assert_int_equal(got->thread, want->thread);
    assert_int_equal(got->ticks, want->ticks);
    assert_int_equal(got->object, want->object);
    assert_int_equal(got->size_bytes, want->size_bytes);
    assert_int_equal(got->usable_bytes, want->usable_bytes);
    assert_int_equal(got->zeroed, want->zeroed);
    assert_int_equal(got->alignment, want->alignment);
    assert_int_equal(got->lock, want->lock);
    assert_int_equal(got->lock_kind, want->lock_kind);
    assert_int_equal(got->wait_ticks, want->wait_ticks);
    assert_int_equal(got->wait_failed, want->wait_failed);
}

/* Are two stacks the same code? */
static bool
is_same_stack(const struct spool_stack *a, const struct spool_stack *b)
{
    if (a->depth != b->depth)
        return false;
    for (uint32_t i = 0; i < a->depth; i++) {
        if (a->pcs[i].pc != b->pcs[i].pc || a->pcs[i].file != b->pcs[i].file)
            return false;
    }
    return true;
}

static uint32_t
count_distinct(const struct spool_model *model)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < model->stacks_count; i++) {
        uint32_t k = 0;

        while (!is_same_stack(&model->stacks[k], &model->stacks[i]))
            k++;
        count += k == i;
    }
    return count;
}

static void
check_totals(const struct spool_model *model,
             const struct sim_recording *recording)
{
    const struct sim_recording_totals *totals = sim_recording_totals(recording);
    const struct embed_spool_header *header = (const void *)model->bytes;

    for (int i = 0; i < EMBED_DROP_COUNT; i++)
        assert_int_equal(totals->dropped[i], model->dropped[i]);
    assert_int_equal(totals->ticks_per_second, 1000000000);
    assert_int_equal(totals->start_ticks, header->start_ticks);
    assert_int_equal(totals->forked_ticks, header->forked_ticks);
    assert_int_equal(totals->process, header->process);
    assert_int_equal(totals->parent, header->parent);
    assert_int_equal(totals->depth_max, SPOOL_DEPTH);
    assert_int_equal(totals->arguments, 3);
    assert_string_equal(sim_recording_argument(recording, 1), "it");
    assert_string_equal(sim_recording_argument(recording, 2), "x");
    assert_int_equal(totals->locks, model->locks);
    assert_int_equal(totals->stacks, count_distinct(model));
    assert_int_equal(totals->threads, model->threads_count);
    for (uint32_t i = 0; i < model->threads_count; i++) {
        assert_int_equal(sim_recording_thread(recording, i),
                         model->thread_numbers[i]);
        assert_string_equal(sim_recording_thread_name(recording, i),
                            model->thread_names[i]);
    }
}

void
spool_model_check(const struct spool_model *model,
                  const struct sim_recording *recording, bool whole)
{
    struct sim_recording_cursor cursor;
    struct sim_recorded event;
    const struct embed_spool_header *header = (const void *)model->bytes;
    uint32_t count = 0;

    sim_recording_begin(recording, &cursor);
    for (; sim_recording_next(&cursor, &event); count++) {
        assert_true(count < model->events_count);
        check_event(&model->events[count], &event);
        if (whole && event.kind != SIM_RECORDED_FREE)
            check_stack(model, model->events[count].stack, recording,
                        event.stack);
    }
    if (count < model->events_count)
        assert_true(model->event_ends[count] > header->used_bytes);
    if (whole)
        check_totals(model, recording);
}
