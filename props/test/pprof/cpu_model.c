/* cpu_model.c -- see cpu_model.h. */
#include "cpu_model.h"

#include <stdbool.h>
#include <string.h>

#include "prof/fork.h"
#include "unit_test.h"

enum { MODEL_STACKS = 9, MODEL_TICKS = 8, MODEL_FRAMES = 6, MODEL_SETS = 4 };

struct model_stack {
    const struct prof_label_set *labels;
    const uintptr_t *frames;
    uint32_t depth;
    bool is_lost;
    uint64_t ticks;
};

/* A profile: its stacks in the order of their first ticks; and the ticks that
 * were not drained yet. */
static struct {
    struct prof_cpu_config config;
    struct prof_cpu *cpu;
    bool is_running;
    uint64_t hz;
    struct model_stack stacks[MODEL_STACKS];
    uint32_t stacks_count;
    struct model_stack ticks[MODEL_TICKS];
    uint32_t ticks_count;
    uint64_t lost; /* with the next drain */
} model;

static const struct prof_label model_labels[] = {
    {"a", "1"}, {"b", ""}, {"c", "33"}};
static const struct prof_label_set model_sets[MODEL_SETS] = {
    {model_labels, 1}, {model_labels, 3}, {model_labels, 3}, {NULL, 0}};
static const uintptr_t model_frames[] = {1, 3, 1, 3, 3, 1, 7, 1, 3, 9, 1, 3};

static uint32_t
draw(uint32_t limit)
{
    static uint64_t drawn = 1;

    drawn = drawn * 6364136223846793005U + 1442695040888963407U;
    return (uint32_t)(drawn >> 33) % limit;
}

static struct model_stack
draw_stack(void)
{
    const uint32_t set = draw(MODEL_SETS + 1);

    return (struct model_stack){.labels =
                                    set < MODEL_SETS ? &model_sets[set] : NULL,
                                .frames = &model_frames[draw(6)],
                                .depth = draw(MODEL_FRAMES + 1)};
}

static void
model_count(struct model_stack one, uint64_t ticks)
{
    uint32_t others = 0;

    if (one.depth > model.config.depth_max)
        one.depth = model.config.depth_max;
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < model.stacks_count; i++) {
            struct model_stack *known = &model.stacks[i];

            others += pass == 0 && !known->is_lost;
            if (known->is_lost != one.is_lost || known->labels != one.labels ||
                known->depth != one.depth ||
                memcmp(known->frames, one.frames,
                       one.depth * sizeof *one.frames) != 0)
                continue;
            known->ticks += ticks;
            return;
        }
        if (one.is_lost || others < model.config.stacks_max)
            break;
        one = (struct model_stack){.frames = model_frames, .is_lost = true};
    }
    one.ticks = ticks;
    model.stacks[model.stacks_count++] = one;
}

static const struct model_stack model_lost = {.frames = model_frames,
                                              .is_lost = true};

static void
model_drain(void)
{
    for (uint32_t i = 0; i < model.ticks_count; i++)
        model_count(model.ticks[i], 1);
    if (model.lost > 0)
        model_count(model_lost, model.lost);
    model.ticks_count = 0;
    model.lost = 0;
}

static void
start_any(void)
{
    static const uint32_t rates[] = {0, 1, 100, 1000000, 1000001, 3000000000};
    const uint32_t hz = rates[draw(6)];
    const bool is_rate = hz >= 1 && hz <= 1000000;

    assert_int_equal(prof_cpu_start(model.cpu, hz), !is_rate ? PROF_ERR_CONFIG
                                                    : model.is_running
                                                        ? PROF_ERR_ACTIVE
                                                        : PROF_OK);
    if (!is_rate || model.is_running)
        return;
    model.is_running = true;
    model.hz = hz;
    model.stacks_count = 0;
}

static void
tick_any(void)
{
    const struct model_stack one = draw_stack();
    uint32_t room = 2; /* at least; a power of 2 */

    while (room < model.config.ticks_max)
        room *= 2;
    prof_cpu_tick(model.cpu, one.frames, one.depth, one.labels);
    if (!model.is_running)
        return;
    if (model.ticks_count == room)
        model.lost++;
    else
        model.ticks[model.ticks_count++] = one;
}

/* Load some records, of which the last may be cut short. */
static void
load_any(void)
{
    uint64_t words[64] = {3, 0, 1 + draw(3)};
    const struct prof_label_set *labels[8] = {NULL};
    const uint32_t records = draw(6);
    const bool has_labels = draw(2) == 0;
    const bool is_cut = records > 0 && draw(3) == 0;
    size_t count = 3;

    if (!model.is_running) {
        model.stacks_count = 0;
        model.hz = words[2];
    }
    for (uint32_t i = 0; i < records; i++) {
        struct model_stack one = draw_stack();
        const uint64_t ticks = (uint64_t)draw(3) << draw(34);
        uint64_t *const record = &words[count];

        if (!has_labels)
            one.labels = NULL;
        labels[i + 1] = one.labels;
        record[0] = 3 + one.depth;
        record[2] = ticks;
        for (uint32_t j = 0; j < one.depth; j++)
            record[3 + j] = one.frames[j];
        count += record[0];
        if (model.is_running || (is_cut && i + 1 == records))
            continue;
        if (ticks == 0 && one.depth == 1)
            model_count(model_lost, one.frames[0]);
        else
            model_count(one, ticks);
    }
    assert_int_equal(prof_cpu_load(model.cpu, words, count - is_cut,
                                   has_labels ? labels : NULL,
                                   has_labels ? records + 1 : 0),
                     model.is_running ? PROF_ERR_ACTIVE
                     : is_cut         ? PROF_ERR_FORMAT
                                      : PROF_OK);
}

static void
check_sample(const struct case_run *run,
             const struct model_pprof_sample *sample,
             const struct model_stack *want)
{
    static const uintptr_t lost = CASE_LOST;
    const bool is_shown_lost = want->is_lost || want->depth == 0;
    const uintptr_t *const frames = is_shown_lost ? &lost : want->frames;

    assert_int_equal(sample->values[0], want->ticks);
    assert_int_equal(sample->values[1], want->ticks * (1000000000 / model.hz));
    assert_int_equal(sample->locations_count, is_shown_lost ? 1 : want->depth);
    for (size_t i = 0; i < sample->locations_count; i++)
        assert_int_equal(
            model_pprof_location(&run->profile, sample->locations[i])->address,
            frames[i] - 1);
    assert_int_equal(sample->labels_count,
                     want->labels != NULL ? want->labels->count : 0);
    for (size_t i = 0; i < sample->labels_count; i++) {
        assert_string_equal(sample->labels[i].key, model_labels[i].key);
        assert_string_equal(sample->labels[i].text, model_labels[i].value);
    }
}

static void
check_written(struct case_run *run)
{
    struct prof_cpu_totals totals = {0};
    enum prof_status status;

    case_begin(run);
    run->output.symbols.find = NULL;
    status = prof_cpu_write(model.cpu, &run->output, 7);
    if (model.is_running) {
        assert_int_equal(status, PROF_ERR_ACTIVE);
        assert_int_equal(run->memory.bytes_count, 0);
        return;
    }
    case_read(run, status);
    assert_int_equal(run->profile.samples_count, model.stacks_count);
    for (uint32_t i = 0; i < model.stacks_count; i++) {
        check_sample(run, &run->profile.samples[i], &model.stacks[i]);
        *(model.stacks[i].is_lost ? &totals.lost : &totals.recorded) +=
            model.stacks[i].ticks;
    }
    case_end(run);
    assert_int_equal(prof_cpu_totals(model.cpu).recorded, totals.recorded);
    assert_int_equal(prof_cpu_totals(model.cpu).lost, totals.lost);
}

void
cpu_model_call(struct case_run *run)
{
    const uint32_t call = draw(40);

    if (call < 2) {
        start_any();
    } else if (call < 4) {
        assert_int_equal(prof_cpu_stop(model.cpu), PROF_OK);
        model_drain();
        model.is_running = false;
    } else if (call < 8) {
        prof_cpu_drain(model.cpu);
        model_drain();
    } else if (call < 10) {
        load_any();
    } else if (call < 11) {
        prof_cpu_after_fork_child(model.cpu);
        model.is_running = false;
        model.stacks_count = model.ticks_count = 0;
        model.lost = 0;
    } else if (call < 14) {
        check_written(run);
    } else {
        tick_any();
    }
}

struct prof_cpu_config
cpu_model_config(void)
{
    return (struct prof_cpu_config){.ticks_max = 1 + draw(MODEL_TICKS),
                                    .stacks_max = 1 + draw(MODEL_STACKS - 1),
                                    .depth_max = 1 + draw(MODEL_FRAMES)};
}

void
cpu_model_begin(struct prof_cpu *cpu, const struct prof_cpu_config *config)
{
    memset(&model, 0, sizeof model);
    model.config = *config;
    model.cpu = cpu;
    model.hz = PROF_CPU_HZ;
}
