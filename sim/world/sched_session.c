/*
 * sched_session.c -- a traced world starts, stops and reads its tracer, and
 * looks at each answer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sched_inside.h"

/* in: count, of answers.wrong_* */
static void
note_wrong(struct sim_sched_world *world, uint32_t *count, const char *what,
           enum prof_status status)
{
    char *text = world->answers.wrong_text;

    ++*count;
    if (text[0] == '\0')
        snprintf(text, sizeof world->answers.wrong_text, "%s: %s", what,
                 prof_status_text(status));
}

/* One task that the tracer shall know from the start. */
static bool
next_task(void *context, struct prof_trace_task *task)
{
    struct sim_sched_world *world = context;

    while (world->announced < world->tasks_count) {
        const uint32_t id = ++world->announced;
        struct sim_sched_task *mine = &world->tasks[id];
        const bool has = mine->stack != TRUTH_NO_STACK;

        mine->was_woken = false;
        mine->owes_exit =
            mine->state == SIM_TASK_AWAY || mine->state == SIM_TASK_LEFT;
        if (mine->state == SIM_TASK_DEAD)
            continue;
        *task = (struct prof_trace_task){
            .id = id,
            .start_pc = SIM_SCHED_PC(id),
            .stack = has ? world->config.stacks[mine->stack].frames : NULL,
            .depth = has ? world->config.stacks[mine->stack].depth : 0,
            .state = mine->owes_exit                   ? PROF_TASK_IN_SYSCALL
                     : mine->state == SIM_TASK_WAITING ? PROF_TASK_WAITING
                                                       : PROF_TASK_RUNNABLE,
        };
        return true;
    }
    return false;
}

void
sim_sched_start_trace(struct sim_sched_world *world, uint32_t proc)
{
    const struct prof_trace_world begin = {
        .proc = proc,
        .thread = world->threads,
        .task = world->procs[proc].task,
        .next = next_task,
        .context = world,
        .is_collecting = world->collects,
    };
    enum prof_status status;

    world->announced = 0;
    status = prof_trace_start(world->trace, &begin);
    if (world->traces || world->is_unread) {
        if (status != PROF_ERR_BUSY)
            note_wrong(world, &world->answers.wrong_controls,
                       "a start that must be refused answers", status);
        world->answers.starts_refused_on += world->traces;
        world->answers.starts_refused_read += !world->traces;
        return;
    }
    if (status != PROF_OK)
        note_wrong(world, &world->answers.wrong_controls, "start answers",
                   status);
    world->traces = true;
    world->is_unread = true;
    world->sessions_count++;
}

void
sim_sched_stop_trace(struct sim_sched_world *world, uint32_t proc,
                     uint32_t stack)
{
    const bool has = stack != TRUTH_NO_STACK;
    const enum prof_status status = prof_trace_stop(
        world->trace, proc, has ? world->config.stacks[stack].frames : NULL,
        has ? world->config.stacks[stack].depth : 0);

    if (!world->traces) {
        if (status != PROF_ERR_OFF)
            note_wrong(world, &world->answers.wrong_controls,
                       "a stop that must be refused answers", status);
        world->answers.stops_refused++;
        return;
    }
    if (status != PROF_OK)
        note_wrong(world, &world->answers.wrong_controls, "stop answers",
                   status);
    world->traces = false;
    world->sessions[world->sessions_count - 1].chunks_on =
        world->sessions[world->sessions_count - 1].chunks;
}

/* ----------------------------------------------------------------- the reader
 */

/* Copy what was lent; it must not have changed until now. */
static void
keep_lent(struct sim_sched_world *world)
{
    struct sim_sched_session *session =
        &world->sessions[world->sessions_count - 1];
    const size_t need = session->bytes_count + world->lent_bytes;
    uint8_t *bytes;

    if (world->lent == NULL)
        return;
    if (need > session->bytes_room) {
        bytes = realloc(session->bytes, 2 * need);
        if (bytes == NULL)
            abort(); /* nothing can be said of a run without memory */
        session->bytes = bytes;
        session->bytes_room = 2 * need;
    }
    memcpy(session->bytes + session->bytes_count, world->lent,
           world->lent_bytes);
    session->bytes_count = need;
    if (session->chunks < SIM_SCHED_CHUNKS_MAX)
        session->chunk_ends[session->chunks++] = (uint32_t)need;
    world->lent = NULL;
}

static enum prof_status
read_one(struct sim_sched_world *world)
{
    struct sim_sched_session *session;
    enum prof_status status;

    if (world->sessions_count > 0)
        keep_lent(world);
    status = prof_trace_read(world->trace, &world->lent, &world->lent_bytes);
    if (status != PROF_OK)
        world->lent = NULL;
    if (status != PROF_ERR_END)
        return status;
    if (!world->is_unread || world->traces) {
        note_wrong(world, &world->answers.wrong_reads,
                   "a read inside a session answers", status);
        return status;
    }
    session = &world->sessions[world->sessions_count - 1];
    session->has_ended = true;
    session->drops = prof_trace_drops(world->trace);
    world->is_unread = false;
    sim_sched_tell(world, (struct truth_step){.kind = STEP_TRACE_READ,
                                              .proc = TRUTH_NO_PROC,
                                              .stack = TRUTH_NO_STACK});
    return status;
}

void
sim_sched_read(struct sim_sched_world *world, uint64_t chunks)
{
    const bool was_unread = world->is_unread;
    enum prof_status status = PROF_OK;
    uint64_t done = 0;

    while (status == PROF_OK && (chunks == 0 || done < chunks) &&
           done < SIM_SCHED_CHUNKS_MAX) {
        status = read_one(world);
        done++;
    }
    world->answers.last_read = status;
    if (status == PROF_OK && chunks != 0 && done == chunks)
        return;
    if (status != (world->traces ? PROF_ERR_AGAIN
                   : was_unread  ? PROF_ERR_END
                                 : PROF_ERR_OFF))
        note_wrong(world, &world->answers.wrong_reads, "the last read answers",
                   status);
}
