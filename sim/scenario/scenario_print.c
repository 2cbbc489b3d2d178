/*
 * scenario_print.c -- a scenario as text, in its canonical form.
 *
 * The parts, with a blank line between them: first line and header; directives
 * that differ from their defaults; stacks; events, with their expectations
 * indented below them; the outcome.
 */
#include "sim/scenario/scenario.h"

#include <inttypes.h>
#include <string.h>

#include "sim/scenario/scenario_store.h"

static void
print_header(FILE *file, const char *header)
{
    while (*header != '\0') {
        const size_t bytes = strcspn(header, "\n");

        (void)fprintf(file, bytes > 0 ? "# %.*s\n" : "#\n", (int)bytes, header);
        header += bytes + (header[bytes] == '\n');
    }
}

static void
print_frame(FILE *file, const struct sim_scenario *s, uintptr_t frame)
{
    const char *name = sim_scenario_frame_name(s, frame);

    if (name == NULL)
        (void)fprintf(file, "0x%" PRIxPTR, frame);
    else if (sim_frame_address(name) == frame)
        (void)fputs(name, file);
    else
        (void)fprintf(file, "%s@0x%" PRIxPTR, name, frame);
}

static void
print_stacks(FILE *file, const struct sim_scenario *s)
{
    for (uint32_t i = 0; i < s->config.stacks_count; i++) {
        const struct truth_stack *stack = &s->stacks[i];

        (void)fprintf(file, "stack %s = ", s->stack_names[i]);
        for (uint32_t frame = stack->depth; frame-- > 0;) {
            print_frame(file, s, stack->frames[frame]);
            if (frame > 0)
                (void)fputc('>', file);
        }
        (void)fputs(stack->depth == 0 ? "-\n" : "\n", file);
    }
}

static void
print_trace_config(FILE *file, const struct sim_config *config)
{
    const struct sim_trace_config *trace = &config->trace;
    const struct sim_trace_config *plain = &sim_trace_plain;

    if (config->scheduled)
        (void)fputs("scheduled\n", file);
    if (config->instruments != SIM_PROFILES) {
        (void)fputs("instruments", file);
        for (int i = 0; i < SIM_INSTRUMENT_COUNT; i++) {
            if ((config->instruments >> i & 1) != 0)
                (void)fprintf(file, " %s",
                              sim_instrument_word((enum sim_instrument_id)i));
        }
        (void)fputc('\n', file);
    }
    if (trace->buffers != plain->buffers)
        (void)fprintf(file, "buffers %" PRIu32 "\n", trace->buffers);
    if (trace->buffer_bytes != plain->buffer_bytes)
        (void)fprintf(file, "buffer-bytes %" PRIu32 "\n", trace->buffer_bytes);
    if (trace->tick_divisor != plain->tick_divisor)
        (void)fprintf(file, "tick-divisor %" PRIu32 "\n", trace->tick_divisor);
    if (trace->stacks_room != plain->stacks_room)
        (void)fprintf(file, "stacks-room %" PRIu32 "\n", trace->stacks_room);
    if (trace->ticks_per_us != plain->ticks_per_us)
        (void)fprintf(file, "ticks-per-us %" PRIu64 "\n", trace->ticks_per_us);
    if (trace->by_clock)
        (void)fputs("order-by-clock\n", file);
    if (trace->eager)
        (void)fputs("eager-reader\n", file);
    if (trace->two_readers)
        (void)fputs("two-readers\n", file);
}

static void
print_config(FILE *file, const struct sim_config *config)
{
    if (config->rules != &prof_rules_exact)
        (void)fprintf(file, "rules %s\n", config->rules->name);
    if (config->hash != PROF_HASH_MULTILINEAR)
        (void)fprintf(file, "hash %s\n", sim_hash_words[config->hash]);
    if (config->buckets_max != SIM_SCENARIO_BUCKETS_DEFAULT)
        (void)fprintf(file, "buckets %" PRIu32 "\n", config->buckets_max);
    if (config->depth_max != 32)
        (void)fprintf(file, "depth %" PRIu32 "\n", config->depth_max);
    if (config->frames_max != 0)
        (void)fprintf(file, "frames %" PRIu64 "\n", config->frames_max);
    if (config->cycle_first != 0)
        (void)fprintf(file, "cycle %" PRIu32 "\n", config->cycle_first);
    if (config->procs != 1)
        (void)fprintf(file, "procs %" PRIu32 "\n", config->procs);
    if (config->seed != 0)
        (void)fprintf(file, "seed %" PRIu64 "\n", config->seed);
    if (config->waiters_all)
        (void)fputs("waiters all\n", file);
    print_trace_config(file, config);
    for (uint32_t i = 0;
         i < (config->scheduled ? SIM_PROCS_MAX : config->procs); i++) {
        const struct sim_clock *clock = &config->clocks[i];

        if (clock->offset_ticks == 0 && clock->drift_ppm == 0)
            continue;
        (void)fprintf(file, "clock %" PRIu32, i);
        if (clock->offset_ticks != 0)
            (void)fprintf(file, " offset=%" PRId64, clock->offset_ticks);
        if (clock->drift_ppm != 0)
            (void)fprintf(file, " drift=%" PRId64 "ppm", clock->drift_ppm);
        (void)fputc('\n', file);
    }
}

static void
print_block(FILE *file, const struct sim_event *event)
{
    if (event->cycles != 0)
        (void)fprintf(file, " align=%" PRId64, event->cycles);
    if (event->room != 0)
        (void)fputs(" zeroed", file);
}

/* An argument, by its letter in event.def. */
static void
print_argument(FILE *file, const struct sim_scenario *s,
               const struct sim_event *event, char letter)
{
    const bool nowhere = event->stack == TRUTH_NO_STACK;

    if (letter == 'o')
        (void)fprintf(file, " %s", s->object_names[event->object]);
    else if (letter == 's' || (letter == 'S' && s->config.scheduled))
        (void)fprintf(file, " %s",
                      nowhere ? "-" : s->stack_names[event->stack]);
    else if (letter == 'b' || letter == 'n')
        (void)fprintf(file, " %" PRIu64, event->size_bytes);
    else if (letter == 'c' ||
             (letter == 'w' && event->cycles != SIM_UNTIL_GO_ON))
        (void)fprintf(file, " %" PRId64, event->cycles);
    else if (letter == 'a')
        print_block(file, event);
    else if (letter == 'l')
        (void)fprintf(file, " %" PRIu32, event->lock);
    else if (letter == 'h')
        (void)fprintf(file, " %s", s->stack_names[event->lock]);
    else if (letter == 't')
        (void)fprintf(file, " t%" PRIu32, event->object);
    else if (letter == 'r' && event->room != SIM_ROOM_ENOUGH)
        (void)fprintf(file, " room=%" PRIu32, event->room);
}

void
sim_scenario_print_event(FILE *file, const struct sim_scenario *s,
                         const struct sim_event *event)
{
    const char by = sim_event_by(event->kind);

    if (event->delay_ticks != 0)
        (void)fprintf(file, "@+%" PRIu64 " ", event->delay_ticks);
    if (by == 'p' || (by == 'b' && s->config.scheduled))
        (void)fprintf(file, "p%" PRIu32 ": ", event->proc);
    else if (event->task != 0)
        (void)fprintf(file, "t%" PRIu32 ": ", event->task);
    (void)fputs(sim_event_word(event->kind), file);
    for (const char *letter = sim_event_arguments(event->kind); *letter != '\0';
         letter++)
        print_argument(file, s, event, *letter);
    (void)fputc('\n', file);
}

static void
print_order(FILE *file, const struct sim_scenario *s,
            const struct sim_expect *expect)
{
    const enum sim_event_kind kind = s->events[expect->event].kind;
    const bool contention =
        kind == SIM_EV_BLOCK_SNAPSHOT || kind == SIM_EV_MUTEX_SNAPSHOT;

    (void)fputs("order", file);
    for (uint64_t i = 0; i < expect->second; i++) {
        const struct sim_listed *listed = &s->listed[expect->first + i];

        (void)fprintf(file, " %s", s->stack_names[listed->stack]);
        if (!contention)
            (void)fprintf(file, ":%" PRIu64, listed->size_bytes);
    }
    (void)fputc('\n', file);
}

static void
print_expect(FILE *file, const struct sim_scenario *s,
             const struct sim_expect *expect)
{
    (void)fputs("  expect ", file);
    switch (expect->kind) {
    case SIM_EXPECT_COUNT:
        (void)fprintf(file, "count %" PRIu64 "\n", expect->first);
        break;
    case SIM_EXPECT_SHORT:
        (void)fputs("short\n", file);
        break;
    case SIM_EXPECT_NOTHING:
        (void)fputs("nothing\n", file);
        break;
    case SIM_EXPECT_HEAP:
        (void)fprintf(file, "%s %" PRIu64 " %" PRIu64 "/%" PRIu64 "\n",
                      s->stack_names[expect->stack], expect->size_bytes,
                      expect->first, expect->second);
        break;
    case SIM_EXPECT_CONTENTION:
        (void)fprintf(file, "%s %" PRIu64 " events %" PRIu64 " cycles\n",
                      s->stack_names[expect->stack], expect->first,
                      expect->second);
        break;
    case SIM_EXPECT_ORDER:
        print_order(file, s, expect);
        break;
    }
}

bool
sim_scenario_print(FILE *file, const struct sim_scenario *scenario)
{
    uint32_t expect = 0;

    (void)fputs("profsim scenario 2\n", file);
    print_header(file, scenario->header);
    (void)fputc('\n', file);
    print_config(file, &scenario->config);
    print_stacks(file, scenario);
    (void)fputc('\n', file);
    for (uint32_t i = 0; i < scenario->events_count; i++) {
        sim_scenario_print_event(file, scenario, &scenario->events[i]);
        while (expect < scenario->expects_count &&
               scenario->expects[expect].event == i)
            print_expect(file, scenario, &scenario->expects[expect++]);
    }
    if (scenario->outcome == SIM_OUTCOME_OK)
        (void)fputs("\nexpect ok\n", file);
    else if (scenario->outcome == SIM_OUTCOME_BROKEN)
        (void)fprintf(file, "\nexpect property %s broken\n",
                      scenario->property);
    return ferror(file) == 0;
}
