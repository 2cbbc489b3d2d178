/*
 * cpu_profile.c -- counts ticks by stack, in the order of each stack's first
 * tick, and writes them as profile.proto.
 *
 * There is room for stacks_max stacks and one more entry. This entry counts
 * ticks without a stack and those whose stack does not fit; it is shown under
 * the `lost` address.
 */
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "prof/core/block.h"
#include "prof/pprof/builder.h"
#include "prof/core/assertion.h"
#include "prof/pprof/cpu_fields.h"
#include "prof/core/poison.h"

enum {
    TICKS_DEFAULT = 512,
    STACKS_DEFAULT = 4096,
    DEPTH_DEFAULT = 64,
    SIZES_LIMIT = 1 << 24
};

struct layout {
    size_t ticks;
    size_t tick_pcs;
    size_t stacks;
    size_t stack_pcs;
    size_t chains;
    size_t end;
    uint32_t ticks_log2;
    uint32_t stacks_max;
    uint32_t depth_max;
    uint32_t chains_log2;
};

static bool
layout_of(struct layout *layout, const struct prof_cpu_config *config)
{
    size_t frame_bytes;

    if (config->ticks_max > SIZES_LIMIT || config->stacks_max > SIZES_LIMIT ||
        config->depth_max > PROF_DEPTH_LIMIT)
        return false;
    layout->ticks_log2 =
        log2_of(config->ticks_max != 0 ? config->ticks_max : TICKS_DEFAULT);
    layout->stacks_max =
        config->stacks_max != 0 ? config->stacks_max : STACKS_DEFAULT;
    layout->depth_max =
        config->depth_max != 0 ? config->depth_max : DEPTH_DEFAULT;
    layout->chains_log2 = log2_of(layout->stacks_max);
    frame_bytes = layout->depth_max * sizeof(uintptr_t);
    layout->ticks = aligned(sizeof(struct prof_cpu));
    layout->tick_pcs =
        layout->ticks + aligned(sizeof(struct tick) << layout->ticks_log2);
    layout->stacks =
        layout->tick_pcs + aligned(frame_bytes << layout->ticks_log2);
    layout->stack_pcs =
        layout->stacks +
        aligned(((size_t)layout->stacks_max + 1) * sizeof(struct cpu_stack));
    layout->chains = layout->stack_pcs +
                     aligned(((size_t)layout->stacks_max + 1) * frame_bytes);
    layout->end =
        layout->chains + aligned(sizeof(uint32_t) << layout->chains_log2);
    return true;
}

size_t
prof_cpu_bytes_needed(const struct prof_cpu_config *config)
{
    struct layout layout;

    return layout_of(&layout, config) ? layout.end : 0;
}

void
prof_cpu_empty_ring(struct prof_cpu *cpu)
{
    /* All relaxed: no other thread uses them. */
    for (uint64_t i = 0; i < UINT64_C(1) << cpu->ticks_log2; i++)
        store_relaxed(&cpu->ticks[i].sequence, i);
    store_relaxed(&cpu->head, 0);
    cpu->tail = 0;
}

enum prof_status
prof_cpu_init(struct prof_cpu **out, const struct prof_cpu_config *config,
              void *block, size_t block_bytes)
{
    unsigned char *const base = block;
    struct prof_cpu *cpu = block;
    struct layout layout;

    if (!layout_of(&layout, config))
        return PROF_ERR_CONFIG;
    if (block_bytes < layout.end || (uintptr_t)block % PROF_BLOCK_ALIGN != 0)
        return PROF_ERR_MEMORY;
    memset(cpu, 0, sizeof *cpu);
    cpu->ticks = (void *)(base + layout.ticks);
    cpu->tick_pcs = (void *)(base + layout.tick_pcs);
    cpu->stacks = (void *)(base + layout.stacks);
    cpu->stack_pcs = (void *)(base + layout.stack_pcs);
    cpu->chains = (void *)(base + layout.chains);
    cpu->ticks_log2 = layout.ticks_log2;
    cpu->stacks_max = layout.stacks_max;
    cpu->depth_max = layout.depth_max;
    cpu->chains_log2 = layout.chains_log2;
    prof_cpu_empty_ring(cpu);
    prof_cpu_forget(cpu);
    cpu->hz = PROF_CPU_HZ;
    *out = cpu;
    return PROF_OK;
}

/* ---- counting ---- */

void
prof_cpu_forget(struct prof_cpu *cpu)
{
    memset(cpu->chains, 0, sizeof *cpu->chains << cpu->chains_log2);
    cpu->stacks_count = 0;
    cpu->lost_stack = 0;
}

uintptr_t *
prof_cpu_stack_pcs(const struct prof_cpu *cpu, uint32_t number)
{
    return &cpu->stack_pcs[(size_t)number * cpu->depth_max];
}

static struct cpu_stack *
append(struct prof_cpu *cpu, const uintptr_t *stack, uint32_t depth,
       const struct prof_label_set *labels)
{
    const uint32_t number = cpu->stacks_count++;

    cpu->stacks[number] = (struct cpu_stack){.labels = labels, .depth = depth};
    if (depth > 0)
        memcpy(prof_cpu_stack_pcs(cpu, number), stack, depth * sizeof *stack);
    return &cpu->stacks[number];
}

void
prof_cpu_count_lost(struct prof_cpu *cpu, uint64_t ticks)
{
    if (cpu->lost_stack == 0) {
        append(cpu, NULL, 0, NULL);
        cpu->lost_stack = cpu->stacks_count;
    }
    cpu->stacks[cpu->lost_stack - 1].ticks += ticks;
}

/* Is there room for a stack? One entry is kept for lost ticks. */
static bool
has_room(const struct prof_cpu *cpu)
{
    return cpu->stacks_count - (cpu->lost_stack != 0) < cpu->stacks_max;
}

void
prof_cpu_count(struct prof_cpu *cpu, const uintptr_t *stack, size_t depth,
               const struct prof_label_set *labels, uint64_t ticks)
{
    const uint32_t kept =
        depth < cpu->depth_max ? (uint32_t)depth : cpu->depth_max;
    const size_t bytes = kept * sizeof *stack;
    const uint64_t hash = XXH3_64bits_withSeed(stack, bytes, (uintptr_t)labels);
    uint32_t *const chain = &cpu->chains[hash >> (64 - cpu->chains_log2)];

    for (uint32_t at = *chain; at != 0; at = cpu->stacks[at - 1].next) {
        struct cpu_stack *known = &cpu->stacks[at - 1];

        if (known->labels == labels && known->depth == kept &&
            memcmp(prof_cpu_stack_pcs(cpu, at - 1), stack, bytes) == 0) {
            known->ticks += ticks;
            return;
        }
    }
    if (!has_room(cpu)) {
        prof_cpu_count_lost(cpu, ticks);
        return;
    }
    append(cpu, stack, kept, labels)->ticks = ticks;
    cpu->stacks[cpu->stacks_count - 1].next = *chain;
    *chain = cpu->stacks_count;
}

bool
prof_cpu_is_active(const struct prof_cpu *cpu)
{
    /* Acquire [pair: cpu-state]: what handlers did before they left. */
    return load_acquire(&cpu->state) != 0;
}

struct prof_cpu_totals
prof_cpu_totals(struct prof_cpu *cpu)
{
    struct prof_cpu_totals totals = {0};

    prof_port_lock_take(&cpu->lock);
    for (uint32_t i = 0; i < cpu->stacks_count; i++) {
        if (i + 1 == cpu->lost_stack)
            totals.lost += cpu->stacks[i].ticks;
        else
            totals.recorded += cpu->stacks[i].ticks;
    }
    prof_port_lock_release(&cpu->lock);
    return totals;
}

/* ---- words from Go ---- */

/* Count the records after the first. returns: false at a malformed one */
static bool
load_records(struct prof_cpu *cpu, const uint64_t *words, size_t words_count,
             const struct prof_label_set *const *labels, size_t labels_count)
{
    size_t record = 1;

    for (size_t at = 0; at < words_count; record++) {
        const uint64_t length = words[at];
        const uint64_t *stack = &words[at] + 3;

        if (length < 3 || length > words_count - at ||
            (labels != NULL && record >= labels_count))
            return false;
        if (words[at + 2] == 0 && length == 4)
            prof_cpu_count_lost(cpu, stack[0]);
        else
            prof_cpu_count(cpu, (const uintptr_t *)stack, length - 3,
                           labels != NULL ? labels[record] : NULL,
                           words[at + 2]);
        at += length;
    }
    return labels == NULL || record == labels_count;
}

enum prof_status
prof_cpu_load(struct prof_cpu *cpu, const uint64_t *words, size_t words_count,
              const struct prof_label_set *const *labels, size_t labels_count)
{
    enum prof_status status = PROF_ERR_FORMAT;

    prof_port_lock_take(&cpu->lock);
    if (prof_cpu_is_active(cpu)) {
        status = PROF_ERR_ACTIVE;
    } else if (words_count >= 3 && words[0] == 3 && words[2] != 0 &&
               words[2] <= 1000000000 && (labels == NULL || labels_count > 0)) {
        prof_cpu_forget(cpu);
        cpu->hz = words[2];
        if (load_records(cpu, words + 3, words_count - 3, labels, labels_count))
            status = PROF_OK;
    }
    prof_port_lock_release(&cpu->lock);
    return status;
}

/* ---- writing ---- */

static void
write_stack(struct builder *builder, const struct prof_cpu *cpu,
            uint32_t number, const struct prof_output *output,
            uint64_t period_ns)
{
    const struct cpu_stack *stack = &cpu->stacks[number];
    const uintptr_t lost = output->lost != 0 ? output->lost : 1;
    struct sample_label labels[PROF_LABELS_MAX];
    struct sample sample = {
        .stack = prof_cpu_stack_pcs(cpu, number),
        .depth = stack->depth,
        .labels = labels,
        .values = {(int64_t)stack->ticks, (int64_t)(stack->ticks * period_ns)},
    };

    if (number + 1 == cpu->lost_stack) {
        sample.stack = &lost;
        sample.depth = 1;
    }
    for (uint32_t i = 0; stack->labels != NULL && i < stack->labels->count &&
                         i < PROF_LABELS_MAX;
         i++) {
        const struct prof_label *label = &stack->labels->labels[i];

        labels[sample.labels_count++] =
            (struct sample_label){.key = label->key, .text = label->value};
    }
    prof_builder_sample(builder, &sample);
}

static enum prof_status
write_locked(const struct prof_cpu *cpu, const struct prof_output *output,
             int64_t duration_ns)
{
    const uint64_t period_ns = 1000000000 / cpu->hz;
    struct arena arena = prof_arena_of(output);
    struct builder builder;

    if (!prof_builder_init(&builder, output, &arena, 2))
        return PROF_ERR_MEMORY;
    prof_out_number(&builder.out, PROFILE_TIME_NS, (uint64_t)output->time_ns);
    prof_builder_value_type(&builder, PROFILE_SAMPLE_TYPE, "samples", "count");
    prof_builder_value_type(&builder, PROFILE_SAMPLE_TYPE, "cpu",
                            "nanoseconds");
    prof_out_number(&builder.out, PROFILE_DURATION_NS,
                    duration_ns > 0 ? (uint64_t)duration_ns : 0);
    prof_builder_value_type(&builder, PROFILE_PERIOD_TYPE, "cpu",
                            "nanoseconds");
    prof_out_number(&builder.out, PROFILE_PERIOD, period_ns);
    for (uint32_t i = 0; i < cpu->stacks_count && builder.out.status == PROF_OK;
         i++)
        write_stack(&builder, cpu, i, output, period_ns);
    return prof_builder_finish(&builder);
}

enum prof_status
prof_cpu_write(struct prof_cpu *cpu, const struct prof_output *output,
               int64_t duration_ns)
{
    enum prof_status status = PROF_ERR_ACTIVE;

    prof_port_lock_take(&cpu->lock);
    if (!prof_cpu_is_active(cpu))
        status = write_locked(cpu, output, duration_ns);
    prof_port_lock_release(&cpu->lock);
    return status;
}
