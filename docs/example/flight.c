/*
 * flight.c -- a toy runtime with a flight recorder: two tasks take turns on one
 * processor. When one of them has waited for too long, the last generations are
 * written to files, each a trace that can be opened without the others.
 *
 * usage: flight FOLDER
 */
#include <prof/flight.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TASKS = 2,
    TURNS = 100000,
    TURNS_A_GENERATION = 1000,
    SLOW_TURN = 54321
};

static struct prof_flight *flight;
static int waited; /* turns since task 2 last ran */

/* ---- the world, for the beginning of a generation ---- */

static bool
next_task(void *context, struct prof_trace_task *task)
{
    int *given = (int *)context;

    if (*given == TASKS)
        return false;
    memset(task, 0, sizeof *task);
    *given += 1;
    task->id = (uint64_t)*given;
    task->state = PROF_TASK_RUNNABLE;
    return true;
}

/* Begin a generation. The caller is task 1, on processor 0. The program has one
 * thread, so the world stands still while that thread is here. */
static void
begin_generation(void)
{
    int given = 0;
    struct prof_trace_world world;

    memset(&world, 0, sizeof world);
    world.thread = 1;
    world.task = 1;
    world.next = next_task;
    world.context = &given;
    if (prof_flight_next(flight, &world, NULL, 0) == PROF_ERR_OFF &&
        prof_flight_start(flight, &world) != PROF_OK)
        abort();
}

static void
emit(enum prof_trace_event event, uint64_t argument)
{
    prof_trace_emit(prof_flight_tracer(flight), 0, event, &argument, NULL, 0);
}

/* ---- the program ---- */

/* Task 1 yields the processor to task 2, which yields it back; in a slow turn
 * task 1 keeps it. returns: whether task 2 ran */
static bool
take_step(int turn)
{
    const bool is_slow = turn >= SLOW_TURN && turn < SLOW_TURN + 500;

    if (is_slow)
        return false;
    emit(PROF_EV_GO_SCHED, 0);
    emit(PROF_EV_GO_START, 2);
    emit(PROF_EV_GO_SCHED, 0);
    emit(PROF_EV_GO_START, 1);
    return true;
}

/* Write every generation that has ended to FOLDER/generation-N.trace.
 * returns: how many; -1 if one cannot be written */
static int
dump(const char *folder)
{
    struct prof_flight_part part;
    enum prof_status status;
    FILE *file = NULL;
    char path[4096];
    int files = 0;

    while ((status = prof_flight_read(flight, &part)) != PROF_ERR_OFF) {
        if (status == PROF_OK && file == NULL) {
            snprintf(path, sizeof path, "%s/generation-%llu.trace", folder,
                     (unsigned long long)part.generation);
            file = fopen(path, "wb");
        }
        if (file == NULL)
            return -1;
        if (status == PROF_OK)
            fwrite(part.bytes, 1, part.bytes_count, file);
        if (status == PROF_ERR_END) {
            const int failed = ferror(file);

            if (fclose(file) != 0 || failed)
                return -1;
            file = NULL;
            printf("%s: %llu events lost\n", path,
                   (unsigned long long)part.losses.no_buffer);
            files++;
        }
    }
    return files;
}

int
main(int argc, char **argv)
{
    struct prof_flight_config config;
    size_t bytes;
    void *block;
    int turn;

    memset(&config, 0, sizeof config);
    config.trace.procs_max = 1;
    config.trace.buffers_max = 8;
    config.trace.stacks_max = 64;
    config.generations_max = 4;
    bytes = prof_flight_bytes_needed(&config);
    block = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (argc != 2 || block == NULL)
        return 1;
    memset(block, 0, bytes);
    if (prof_flight_init(&flight, &config, block, bytes) != PROF_OK)
        return 1;
    for (turn = 0; turn < TURNS; turn++) {
        if (turn % TURNS_A_GENERATION == 0 || prof_flight_is_filling(flight))
            begin_generation();
        waited = take_step(turn) ? 0 : waited + 1;
        if (waited == 100) { /* the recorder has the events before this */
            begin_generation();
            return dump(argv[1]) > 0 ? 0 : 1;
        }
    }
    return 1;
}
