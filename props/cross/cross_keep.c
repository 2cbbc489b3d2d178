/* cross_keep.c -- keeps the results and inputs of instruments at a moment. */
#include <stdlib.h>
#include <string.h>

#include "props/cross/cross.h"
#include "sim/instruments/instrument_cpu.h"
#include "sim/instruments/instrument_debug.h"
#include "sim/instruments/instrument_tasks.h"
#include "model/trace/trace_map.h"

uint32_t
cross_lines_so_far(const struct cross *cross)
{
    return cross_carries(cross, SIM_INSTRUMENT_BIT(SIM_DEBUG_LINES))
               ? sim_debug_text(cross->world).events
               : 0;
}

void
cross_keep_tasks(struct cross *cross)
{
    const struct sim_tasks_reading *from = sim_tasks_reading(cross->world);
    struct cross_reading *to;

    if (cross->readings_count == CROSS_READINGS_MAX || !from->fits)
        return;
    to = &cross->readings[cross->readings_count++];
    to->session = cross->sessions_count - 1;
    to->gomaxprocs = cross->gomaxprocs;
    to->count = (uint32_t)from->count;
    for (uint32_t i = 0; i < to->count; i++) {
        const struct prof_task_stack *task = &from->list.tasks[i];
        struct cross_listed *listed = &to->listed[i];

        *listed = (struct cross_listed){.id = task->id,
                                        .state = task->state,
                                        .stack = task->stack,
                                        .depth = task->depth};
        if (task->stack == &from->list.starts[i]) {
            listed->start = *task->stack;
            listed->stack = NULL;
        }
    }
}

static struct cross_moment
moment_now(const struct cross *cross)
{
    return (struct cross_moment){
        .session = cross->sessions_count - 1,
        .lines = cross_lines_so_far(cross),
        .gc_done = cross->gc_done,
        .is_marking = sim_world_gc(cross->world)->marking,
    };
}

/* returns: items, with room for one more; NULL if there is not enough memory,
 * which is noted */
static void *
grow(struct cross *cross, void *items, uint32_t count, uint32_t *room,
     size_t item_bytes)
{
    void *larger = model_trace_grow(items, count, room, item_bytes);

    cross->is_short |= larger == NULL;
    return larger;
}

static void
keep_record(struct cross *cross, const struct prof_heap_record *record)
{
    struct prof_heap_record *records =
        grow(cross, cross->records, cross->records_count, &cross->records_room,
             sizeof *records);

    if (records == NULL)
        return;
    cross->records = records;
    records[cross->records_count++] = *record;
}

/* Stacks of records keep their addresses as long as the instance lives. */
void
cross_keep_snapshot(struct cross *cross)
{
    const struct sim_answer *answer = sim_world_answer(cross->world);
    struct cross_snapshot *to;

    if (answer->status != PROF_OK)
        return;
    if (cross->snapshots_count == CROSS_SNAPSHOTS_MAX) {
        props_cover_hit(cross->cover, COVER_CROSS_SNAPSHOT_UNJUDGED);
        return;
    }
    to = &cross->snapshots[cross->snapshots_count++];
    *to = (struct cross_snapshot){.at = moment_now(cross),
                                  .controls = cross->controls_count,
                                  .records_at = cross->records_count,
                                  .records_count = (uint32_t)answer->count};
    for (size_t i = 0; i < answer->count; i++) {
        to->allocs += answer->heap[i].allocs;
        to->frees += answer->heap[i].frees;
        keep_record(cross, &answer->heap[i]);
    }
}

void
cross_keep_control(struct cross *cross, enum sim_event_kind kind)
{
    struct cross_control *controls =
        grow(cross, cross->controls, cross->controls_count,
             &cross->controls_room, sizeof *controls);

    if (controls == NULL)
        return;
    cross->controls = controls;
    controls[cross->controls_count++] =
        (struct cross_control){.at = moment_now(cross), .kind = kind};
}

/* Note that the event's task begins to wait. */
static void
keep_wait(struct cross *cross, const struct sim_event *event, uint32_t id)
{
    const struct sim_world *world = cross->world;
    const struct sim_task *task = sim_world_task(world, id);
    struct prof *prof = sim_world_prof(world);
    const struct sim_locks *locks = sim_world_locks(world);
    struct cross_wait *waits = grow(cross, cross->waits, cross->waits_count,
                                    &cross->waits_room, sizeof *waits);

    if (waits == NULL)
        return;
    cross->waits = waits;
    waits[cross->waits_count] = (struct cross_wait){
        .task = (uint8_t)id,
        .is_of_lock = task->waits_for_lock,
        .is_of_mutex =
            task->waits_for_lock &&
            locks->waiters[locks->waiters_count - 1].kind == SIM_LOCK_MUTEX,
        .block_on = prof != NULL && prof_block_rate_ticks(prof) > 0,
        .mutex_on = prof != NULL && prof_mutex_fraction_set(prof, -1) > 0,
        .lock = event->lock,
        .stack = event->stack,
        .began_ticks = sim_world_clock(world, task->proc),
    };
    cross->last[id] = ++cross->waits_count;
}

/* Follow which tasks wait, and which mutex was handed over. */
void
cross_keep_waits(struct cross *cross, const struct sim_event *event)
{
    const struct sim_world *world = cross->world;
    const struct sim_locks *locks = sim_world_locks(world);
    const bool is_of_task = sim_event_by(event->kind) == 't';
    const uint32_t id = is_of_task                    ? event->task
                        : event->proc < SIM_PROCS_MAX ? cross->on[event->proc]
                                                      : 0;

    if (id != 0 && sim_world_task(world, id)->state == SIM_TASK_WAITING)
        keep_wait(cross, event, id);
    if (sim_locks_concern(event->kind) && locks->wakes_count > 0 &&
        locks->wakes[0].waiter.kind == SIM_LOCK_MUTEX)
        cross->released[event->lock] = (struct cross_release){
            .ticks = sim_world_clock(world, sim_world_task(world, id)->proc),
            .begun = cross->waits_count,
        };
    for (uint32_t p = 0; p < SIM_PROCS_MAX; p++)
        cross->on[p] = sim_world_proc(world, p)->task;
}

/* Note the origin of the debug lines that the event has made. */
void
cross_keep_origins(struct cross *cross, const struct sim_event *event)
{
    const uint32_t lines = cross_lines_so_far(cross);
    const uint32_t proc = sim_event_by(event->kind) == 't'
                              ? sim_world_task(cross->world, event->task)->proc
                              : event->proc;

    while (cross->origins_count < lines) {
        struct cross_origin *origins =
            grow(cross, cross->origins, cross->origins_count,
                 &cross->origins_room, sizeof *origins);

        if (origins == NULL)
            return;
        cross->origins = origins;
        origins[cross->origins_count++] =
            (struct cross_origin){(uint8_t)event->kind, (uint8_t)proc};
    }
}

static enum prof_status
append(void *context, const void *bytes, size_t bytes_count)
{
    struct cross_session *session = context;
    const size_t need = session->cpu_bytes + bytes_count;

    if (need > session->cpu_room) {
        uint8_t *larger = realloc(session->cpu, 2 * need);

        if (larger == NULL)
            return PROF_ERR_MEMORY;
        session->cpu = larger;
        session->cpu_room = 2 * need;
    }
    memcpy(session->cpu + session->cpu_bytes, bytes, bytes_count);
    session->cpu_bytes = need;
    return PROF_OK;
}

/* Keep the first CPU profile that lies wholly inside a session. */
void
cross_keep_cpu(struct cross *cross)
{
    static _Alignas(PROF_BLOCK_ALIGN) unsigned char scratch[1 << 20];
    struct cross_session *session = &cross->sessions[cross->sessions_count - 1];
    const struct prof_output output = {
        .sink = {.write = append, .context = session},
        .scratch = scratch,
        .scratch_bytes = sizeof scratch,
    };

    if (session->has_cpu || cross->cpu_session == 0 ||
        cross->cpu_session != cross->sessions_count)
        return;
    session->cpu_bytes = 0;
    session->has_cpu = true;
    session->cpu_status = sim_cpu_write(cross->world, &output);
    session->cpu_hz = sim_cpu_profile(cross->world)->hz;
    session->cpu_lost = sim_cpu_totals(cross->world).lost;
}
