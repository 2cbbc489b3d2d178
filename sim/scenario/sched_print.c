/* sched_print.c -- schedules as text. */
#include "sched_text.h"

#include <inttypes.h>
#include <string.h>

static void
print_header(FILE *file, const char *header)
{
    const char *line = header;

    while (line != NULL && *line != '\0') {
        const char *end = strchr(line, '\n');
        const int bytes = end != NULL ? (int)(end - line) : (int)strlen(line);

        fprintf(file, "# %.*s\n", bytes, line);
        line = end != NULL ? end + 1 : NULL;
    }
}

static void
print_config(FILE *file, const struct sim_sched_config *config)
{
    fprintf(file,
            "\nprocs %" PRIu32 "\nbuffers %" PRIu32 "\nbuffer-bytes %" PRIu32
            "\ntick-divisor %" PRIu32 "\nstacks-room %" PRIu32
            "\nticks-per-us %" PRIu64 "\n",
            config->procs, config->buffers, config->buffer_bytes,
            config->tick_divisor, config->stacks_room, config->ticks_per_us);
    if (config->is_by_clock)
        fprintf(file, "order-by-clock\n");
    if (config->is_eager)
        fprintf(file, "eager-reader\n");
    if (config->has_two_readers)
        fprintf(file, "two-readers\n");
    for (uint32_t p = 0; p < SIM_SCHED_PROCS_MAX; p++) {
        const struct sim_clock *clock = &config->clocks[p];

        if (clock->offset_ticks != 0 || clock->drift_ppm != 0)
            fprintf(file,
                    "clock %" PRIu32 " offset=%" PRId64 " drift=%" PRId64
                    "ppm\n",
                    p, clock->offset_ticks, clock->drift_ppm);
    }
}

static bool
is_used(const struct sim_schedule_source *source, uint32_t stack)
{
    for (uint32_t i = 0; i < source->events_count; i++) {
        if (source->events[i].stack == stack)
            return true;
    }
    return false;
}

/* Root first, as people read them. */
static void
print_stack(FILE *file, uint32_t index, const struct truth_stack *stack)
{
    fprintf(file, "stack s%" PRIu32 " =", index + 1);
    for (uint32_t i = stack->depth; i-- > 0;)
        fprintf(file, " 0x%" PRIxPTR, stack->frames[i]);
    fputc('\n', file);
}

static void
print_event(FILE *file, const struct sim_sched_event *event)
{
    if (event->delay_ticks != 0)
        fprintf(file, "@+%" PRIu64 " ", event->delay_ticks);
    fprintf(file, "p%" PRIu32 ": %s", event->proc, sim_sched_word(event->kind));
    for (const char *c = sim_sched_arguments(event->kind); *c != '\0'; c++) {
        if (*c == 't')
            fprintf(file, " t%" PRIu64, event->task);
        else if (*c == 'n')
            fprintf(file, " %" PRIu64, event->number);
        else if (event->stack == TRUTH_NO_STACK)
            fprintf(file, " -");
        else
            fprintf(file, " s%" PRIu32, event->stack + 1);
    }
    fputc('\n', file);
}

bool
sim_schedule_print(FILE *file, const struct sim_schedule_source *source)
{
    fprintf(file, "profsim schedule 1\n");
    print_header(file, source->header);
    print_config(file, source->config);
    for (uint32_t i = 0; i < source->config->stacks_count; i++) {
        if (is_used(source, i))
            print_stack(file, i, &source->config->stacks[i]);
    }
    fputc('\n', file);
    for (uint32_t i = 0; i < source->events_count; i++)
        print_event(file, &source->events[i]);
    if (source->broken != NULL)
        fprintf(file, "\nexpect property %s broken\n", source->broken);
    return ferror(file) == 0;
}
