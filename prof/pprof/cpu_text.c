/* cpu_text.c -- a CPU profile as text, in the form of count profiles. */
#include "prof/core/assertion.h"
#include "prof/pprof/cpu_fields.h"
#include "prof/pprof/frame_lines.h"
#include "prof/pprof/labels.h"
#include "prof/core/poison.h"

static bool
more_ticks(const void *context, uint32_t a, uint32_t b)
{
    const struct prof_cpu *cpu = context;

    return cpu->stacks[a].ticks > cpu->stacks[b].ticks;
}

static void
put_stack(struct text *text, const struct prof_cpu *cpu, uint32_t number)
{
    const struct cpu_stack *one = &cpu->stacks[number];
    /* Readers reject a line without an address. */
    const bool is_lost = one->depth == 0;
    const uintptr_t *stack =
        is_lost ? &text->lost : prof_cpu_stack_pcs(cpu, number);
    const uint32_t depth = is_lost ? 1 : one->depth;

    prof_out_u64(&text->out, one->ticks);
    prof_out_bytes(&text->out, " ", 1);
    prof_text_addresses(text, stack, depth);
    if (one->labels != NULL && one->labels->count > 0) {
        prof_out_text(&text->out, "# labels: ");
        prof_labels_put(&text->out, one->labels->labels, one->labels->count);
        prof_out_bytes(&text->out, "\n", 1);
    }
    prof_text_frames(text, stack, depth, FRAMES_ALL);
}

static enum prof_status
write_locked(const struct prof_cpu *cpu, const struct prof_output *output)
{
    struct arena arena = prof_arena_of(output);
    const uint32_t *order =
        prof_arena_order(&arena, cpu->stacks_count, more_ticks, cpu);
    struct text text;
    uint64_t ticks = 0;

    if (order == NULL || !prof_text_begin(&text, output, &arena))
        return PROF_ERR_MEMORY;
    for (uint32_t i = 0; i < cpu->stacks_count; i++)
        ticks += cpu->stacks[i].ticks;
    prof_out_text(&text.out, "cpu profile: total ");
    prof_out_u64(&text.out, ticks);
    prof_out_bytes(&text.out, "\n", 1);
    for (uint32_t i = 0; i < cpu->stacks_count; i++)
        put_stack(&text, cpu, order[i]);
    return prof_out_finish(&text.out);
}

enum prof_status
prof_cpu_write_text(struct prof_cpu *cpu, const struct prof_output *output)
{
    enum prof_status status = PROF_ERR_ACTIVE;

    prof_port_lock_take(&cpu->lock);
    if (!prof_cpu_is_active(cpu))
        status = write_locked(cpu, output);
    prof_port_lock_release(&cpu->lock);
    return status;
}
