/* trace_dump.c -- see trace_dump.h. */
#include "model/command/trace_dump.h"

#include <inttypes.h>
#include <stdlib.h>

static void
print_place(const struct model_trace *trace,
            const struct model_trace_event *event, FILE *to)
{
    switch ((enum model_trace_track)event->track) {
    case MODEL_TRACE_ON_PROC:
        fprintf(to, " p=%" PRId64, model_trace_proc_id(trace, event->proc));
        break;
    case MODEL_TRACE_ON_TIMERS:
        fputs(" p=timers", to);
        break;
    case MODEL_TRACE_ON_NETWORK:
        fputs(" p=network", to);
        break;
    case MODEL_TRACE_ON_SYSCALLS:
        fputs(" p=syscalls", to);
        break;
    case MODEL_TRACE_ON_GC:
        fputs(" p=gc", to);
        break;
    }
}

/* Print the argument, with the name that it has for this type. */
static void
print_arg(const struct model_trace_event *event, FILE *to)
{
    if (event->type == MODEL_TRACE_GOMAXPROCS)
        fprintf(to, " procs=%" PRIu64, event->arg);
    if (event->type == MODEL_TRACE_PROC_START)
        fprintf(to, " thread=%" PRIu64, event->arg);
    if (event->type == MODEL_TRACE_GO_CREATE)
        fprintf(to, " new=%" PRIu64, event->arg);
    if (event->type == MODEL_TRACE_GO_UNBLOCK)
        fprintf(to, " target=%" PRIu64, event->arg);
    if (event->type == MODEL_TRACE_HEAP_ALLOC ||
        event->type == MODEL_TRACE_NEXT_GC)
        fprintf(to, " bytes=%" PRIu64, event->arg);
    if (event->pc != 0)
        fprintf(to, " pc=0x%" PRIx64, event->pc);
    if (event->stack != 0)
        fprintf(to, " stack=%" PRIu64, event->stack);
}

bool
model_trace_dump(const struct model_trace *trace, FILE *to)
{
    for (uint32_t i = 0; i < model_trace_count(trace); i++) {
        const struct model_trace_event *event = model_trace_at(trace, i);
        fprintf(to, "%" PRId64 " %" PRId64 " offset=0x%" PRIx64, event->seq,
                event->ticks, event->offset_bytes);
        print_place(trace, event, to);
        fprintf(to, " g=%" PRIu64 " %s", event->g,
                model_trace_type_name((enum model_trace_type)event->type));
        print_arg(event, to);
        fputc('\n', to);
    }

    uint64_t *pcs = malloc(MODEL_TRACE_FRAMES_MAX * sizeof *pcs);
    if (pcs == NULL)
        return false;
    for (uint32_t i = 0; i < trace->stacks.count; i++) {
        const uint64_t id = trace->stacks.nodes[i].key;
        const uint32_t frames = model_trace_stack(trace, id, pcs);
        fprintf(to, "stack %" PRIu64 ":", id);
        for (uint32_t frame = 0; frame < frames; frame++)
            fprintf(to, " 0x%" PRIx64, pcs[frame]);
        fputc('\n', to);
    }
    free(pcs);
    return true;
}
