/*
 * world_tracer.c -- starts, stops and reads an instrument's tracer, and checks
 * each result.
 *
 * Invariant
 *   I1  bytes borrowed from the tracer are copied as late as its contract
 *       allows: at the next call for more.
 */
#include "sim/instruments/world_tracer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- start and stop ---- */

/* Count a wrong result. in: count, a member of answers: wrong_... */
static void
note_wrong(struct tracer *tracer, uint32_t *count, const char *what,
           enum prof_status status)
{
    char *text = tracer->answers.wrong_text;

    ++*count;
    if (text[0] == '\0')
        snprintf(text, sizeof tracer->answers.wrong_text, "%s: %s", what,
                 prof_status_text(status));
}

/* Name the next existing task to the tracer, when it starts. */
static bool
next_task(void *context, struct prof_trace_task *task)
{
    struct tracer *tracer = context;
    const struct sim_config *config = sim_world_config(tracer->world);

    while (tracer->announced < sim_world_tasks(tracer->world)) {
        const uint32_t id = ++tracer->announced;
        const struct sim_task *one = sim_world_task(tracer->world, id);
        const bool has = one->created != TRUTH_NO_STACK;
        const bool away =
            one->state == SIM_TASK_AWAY || one->state == SIM_TASK_LEFT;

        tracer->owes_exit[id] = away;
        if (one->state == SIM_TASK_DEAD)
            continue;
        *task = (struct prof_trace_task){
            .id = id,
            .start_pc = one->pc,
            .stack = has ? config->stacks[one->created].frames : NULL,
            .depth = has ? config->stacks[one->created].depth : 0,
            .state = away ? PROF_TASK_IN_SYSCALL
                     : one->state == SIM_TASK_WAITING ||
                             one->state == SIM_TASK_STOPPED
                         ? PROF_TASK_WAITING
                         : PROF_TASK_RUNNABLE,
        };
        return true;
    }
    return false;
}

static enum prof_status
start_on(struct tracer *tracer, uint32_t proc)
{
    const struct prof_trace_world begin = {
        .proc = proc,
        .thread = sim_world_threads(tracer->world),
        .task = sim_world_proc(tracer->world, proc)->task,
        .next = next_task,
        .context = tracer,
        .is_collecting = sim_world_gc(tracer->world)->marking,
    };

    tracer->announced = 0;
    return prof_trace_start(tracer->trace, &begin);
}

static enum prof_status
stop_on(struct tracer *tracer, uint32_t proc, uint32_t stack)
{
    const struct truth_stack *stacks = sim_world_config(tracer->world)->stacks;
    const bool has = stack != TRUTH_NO_STACK;

    return prof_trace_stop(tracer->trace, proc,
                           has ? stacks[stack].frames : NULL,
                           has ? stacks[stack].depth : 0);
}

void
sim_tracer_start(struct tracer *tracer, uint32_t proc)
{
    const enum prof_status status = start_on(tracer, proc);

    if (status != PROF_OK)
        note_wrong(tracer, &tracer->answers.wrong_controls, "start returns",
                   status);
    tracer->traces = true;
    tracer->sessions_count++;
}

void
sim_tracer_stop(struct tracer *tracer, uint32_t proc, uint32_t stack)
{
    const enum prof_status status = stop_on(tracer, proc, stack);
    struct sim_session *session = &tracer->sessions[tracer->sessions_count - 1];

    if (status != PROF_OK)
        note_wrong(tracer, &tracer->answers.wrong_controls, "stop returns",
                   status);
    tracer->traces = false;
    session->chunks_on = session->chunks;
}

/* A start that the tracer must refuse. */
void
sim_tracer_start_in_vain(struct tracer *tracer, uint32_t proc)
{
    const enum prof_status status = start_on(tracer, proc);

    if (status != PROF_ERR_BUSY)
        note_wrong(tracer, &tracer->answers.wrong_controls,
                   "a start that must be refused returns", status);
    tracer->answers.starts_refused_on += tracer->traces;
    tracer->answers.starts_refused_read += !tracer->traces;
}

void
sim_tracer_stop_in_vain(struct tracer *tracer, uint32_t proc, uint32_t stack)
{
    const enum prof_status status = stop_on(tracer, proc, stack);

    if (status != PROF_ERR_OFF)
        note_wrong(tracer, &tracer->answers.wrong_controls,
                   "a stop that must be refused returns", status);
    tracer->answers.stops_refused++;
}

/* ---- the reader ---- */

/* Copy the borrowed bytes; they must not have changed until now. */
static void
keep_borrowed(struct tracer *tracer)
{
    struct sim_session *session = &tracer->sessions[tracer->sessions_count - 1];
    const size_t need = session->bytes_count + tracer->borrowed_bytes;
    uint8_t *bytes;

    if (tracer->borrowed == NULL)
        return;
    if (need > session->bytes_room) {
        bytes = realloc(session->bytes, 2 * need);
        if (bytes == NULL)
            abort(); /* without memory the run cannot be judged */
        session->bytes = bytes;
        session->bytes_room = 2 * need;
    }
    memcpy(session->bytes + session->bytes_count, tracer->borrowed,
           tracer->borrowed_bytes);
    session->bytes_count = need;
    if (session->chunks < SIM_TRACE_CHUNKS_MAX)
        session->chunk_ends[session->chunks++] = (uint32_t)need;
    tracer->borrowed = NULL;
}

static enum prof_status
read_one(struct tracer *tracer, struct sim_world *world, uint32_t clock_proc)
{
    struct sim_session *session;
    enum prof_status status;

    if (tracer->sessions_count > 0)
        keep_borrowed(tracer);
    status = prof_trace_read(tracer->trace, &tracer->borrowed,
                             &tracer->borrowed_bytes);
    if (status != PROF_OK)
        tracer->borrowed = NULL;
    if (status != PROF_ERR_END)
        return status;
    if (!sim_world_is_unread(world) || tracer->traces) {
        note_wrong(tracer, &tracer->answers.wrong_reads,
                   "a read inside a session returns", status);
        return status;
    }
    session = &tracer->sessions[tracer->sessions_count - 1];
    session->has_ended = true;
    session->drops = prof_trace_drops(tracer->trace);
    sim_world_was_read(world, clock_proc);
    return status;
}

void
sim_tracer_take(struct tracer *tracer, struct sim_world *world, uint64_t chunks,
                uint32_t clock_proc)
{
    const bool was_unread = sim_world_is_unread(world);
    enum prof_status status = PROF_OK;
    uint64_t done = 0;

    while (status == PROF_OK && (chunks == 0 || done < chunks) &&
           done < SIM_TRACE_CHUNKS_MAX) {
        status = read_one(tracer, world, clock_proc);
        done++;
    }
    tracer->answers.last_read = status;
    if (status == PROF_OK && chunks != 0 && done == chunks)
        return;
    if (status != (tracer->traces ? PROF_ERR_AGAIN
                   : was_unread   ? PROF_ERR_END
                                  : PROF_ERR_OFF))
        note_wrong(tracer, &tracer->answers.wrong_reads,
                   "the last read returns", status);
}
