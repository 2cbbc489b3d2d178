/*
 * profiles_tasks.c -- the profiles of a scenario's tasks, threads and CPU time,
 * as they are after its last event.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/command/complaint.h"
#include "sim/instruments/instrument_cpu.h"
#include "sim/instruments/instrument_debug.h"
#include "sim/instruments/instrument_tasks.h"
#include "sim/instruments/instrument_threads.h"
#include "prof/registry.h"
#include "common/profiles.h"
#include "props/command/profiles_scenario.h"
#include "common/command/saved_file.h"

enum { SCRATCH_BYTES = 4 << 20 };

/* What the files are made of. */
struct source {
    struct sim_world *world;
    struct prof_registry *registry;
    struct prof_output output; /* without a sink */
    struct sim_task_list list;
};

/* A file, and what it shows. */
struct content {
    const char *name;    /* of the file */
    const char *profile; /* of the registry; NULL: CPU time */
    int debug;
};

static const struct content contents[] = {
    {"goroutine.pb.gz", "goroutine", 0},
    {"goroutine.txt", "goroutine", 1},
    {"goroutine-stacks.txt", "goroutine", 2},
    {"threadcreate.pb.gz", "threadcreate", 0},
    {"threadcreate.txt", "threadcreate", 1},
    {"profile.pb.gz", NULL, 0},
    {"profile.txt", NULL, 1},
};

/* returns: the task that requests the profiles: the one that runs on the first
 * processor that runs any; 0 if none does */
static uint32_t
asking(const struct sim_world *world)
{
    for (uint32_t proc = 0; proc < sim_world_procs(world); proc++) {
        if (sim_world_runs(world, proc))
            return sim_world_proc(world, proc)->task;
    }
    return 0;
}

static enum prof_status
list_tasks(void *context, struct prof_count_record *records, size_t records_max,
           size_t *count)
{
    struct source *source = context;

    sim_task_list(&source->list, source->world, asking(source->world), false);
    *count = source->list.count;
    if (*count > records_max)
        return PROF_ERR_SHORT;
    memcpy(records, source->list.records, *count * sizeof *records);
    return PROF_OK;
}

static size_t
print_tasks(void *context, char *buffer, size_t room)
{
    struct source *source = context;

    sim_task_list(&source->list, source->world, asking(source->world), false);
    return prof_text_tasks(buffer, room, &source->output.symbols,
                           source->list.tasks, source->list.count);
}

/* What is written now. */
struct file {
    struct source *source;
    const struct content *content;
};

static enum prof_status
write_file(const void *context, const struct prof_sink *to)
{
    const struct file *const file = context;
    const struct content *const content = file->content;
    struct prof_output output = file->source->output;

    output.sink = *to;
    if (content->profile == NULL)
        return content->debug == 0
                   ? sim_cpu_write(file->source->world, &output)
                   : sim_cpu_write_text(file->source->world, &output);
    return prof_profile_write(
        prof_registry_find(file->source->registry, content->profile), &output,
        content->debug);
}

/* Does the run have any data for this file? It has lists of tasks and threads.
 */
static bool
is_there(const struct source *source, const struct content *content)
{
    const struct sim_world *world = source->world;

    return content->profile != NULL || (sim_world_carries(world, SIM_CPU) &&
                                        sim_cpu_profile(world)->begins > 0);
}

static bool
write_files(struct source *source, const char *folder, const char *input)
{
    if (!cli_save_folder(folder))
        return false;
    for (size_t i = 0; i < sizeof contents / sizeof *contents; i++) {
        const struct file file = {source, &contents[i]};

        if (is_there(source, &contents[i]) &&
            !cli_save(folder, contents[i].name, input, write_file, &file))
            return false;
    }
    return true;
}

bool
cli_profiles_write_tasks(const char *folder, const char *path,
                         struct sim_world *world,
                         const struct prof_symbols *symbols)
{
    struct source source = {
        .world = world,
        .output = {.symbols = *symbols,
                   .lost = CLI_PROFILES_LOST,
                   .scratch_bytes = SCRATCH_BYTES},
    };
    const struct prof_registry_config config = {
        .sources = {
            .goroutines = {.list = list_tasks, .context = &source},
            .threads = {.list = sim_threads_list, .context = world},
            .dump = {.print = print_tasks, .context = &source},
        }};
    const size_t bytes = prof_registry_bytes_needed(&config);
    void *block = cli_need(aligned_alloc(PROF_BLOCK_ALIGN, bytes));
    bool good;

    source.output.scratch =
        cli_need(aligned_alloc(PROF_BLOCK_ALIGN, SCRATCH_BYTES));
    good = prof_registry_init(&source.registry, &config, block, bytes) ==
               PROF_OK &&
           write_files(&source, folder, path);
    free(source.output.scratch);
    free(block);
    return good;
}
