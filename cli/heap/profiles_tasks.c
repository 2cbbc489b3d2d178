/*
 * profiles_tasks.c -- the profiles of a scenario's tasks, threads and CPU time,
 * as they are after its last event.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "complaint.h"
#include "escape.h"
#include "instrument_cpu.h"
#include "instrument_debug.h"
#include "instrument_tasks.h"
#include "instrument_threads.h"
#include "output.h"
#include "prof/file.h"
#include "prof/gzip.h"
#include "prof/registry.h"
#include "profiles.h"

enum { SCRATCH_BYTES = 4 << 20 };

/* What the files are made of. */
struct source {
    struct sim_world *world;
    struct prof_registry *registry;
    struct prof_output output; /* without a sink */
    const char *folder;
    const char *input;
    struct sim_task_list list;
    void *packing;
};

/* A file, and what it shows. */
struct content {
    const char *name;    /* of the file */
    const char *profile; /* of the registry; NULL: CPU time */
    int debug;
    bool packed;
};

static const struct content contents[] = {
    {"goroutine.pb.gz", "goroutine", 0, true},
    {"goroutine.txt", "goroutine", 1, false},
    {"goroutine-stacks.txt", "goroutine", 2, false},
    {"threadcreate.pb.gz", "threadcreate", 0, true},
    {"threadcreate.txt", "threadcreate", 1, false},
    {"profile.pb.gz", NULL, 0, true},
    {"profile.txt", NULL, 1, false},
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

static enum prof_status
write_to(struct source *source, const struct content *content,
         const struct prof_sink *sink)
{
    struct prof_output output = source->output;

    output.sink = *sink;
    if (content->profile == NULL)
        return content->debug == 0 ? sim_cpu_write(source->world, &output)
                                   : sim_cpu_write_text(source->world, &output);
    return prof_profile_write(
        prof_registry_find(source->registry, content->profile), &output,
        content->debug);
}

static enum prof_status
write_content(struct source *source, const struct content *content,
              struct prof_file *file)
{
    const struct prof_sink plain = prof_file_sink(file);
    struct prof_gzip gzip;
    struct prof_sink packed;

    if (!content->packed)
        return write_to(source, content, &plain);
    prof_gzip_begin(&gzip, &plain, source->packing, prof_gzip_bytes());
    packed = prof_gzip_sink(&gzip);
    return prof_gzip_end(&gzip, write_to(source, content, &packed));
}

static bool
write_file(struct source *source, const struct content *content)
{
    char path[PROF_PATH_MAX];
    const struct props_output to = {.path = path, .input = source->input};
    struct prof_file file;
    enum prof_status status;

    if (snprintf(path, sizeof path, "%s/%s", source->folder, content->name) >=
        (int)sizeof path) {
        sim_escape_line(stderr, "profsim: %.40s...: File name too long",
                        source->folder);
        return false;
    }
    status = props_output_begin(&file, &to);
    if (status == PROF_OK)
        status = props_output_end(&file, write_content(source, content, &file));
    if (status != PROF_OK)
        sim_escape_line(stderr, "profsim: %s: %s", path,
                        file.error != 0 ? prof_file_reason(&file)
                                        : prof_status_text(status));
    return status == PROF_OK;
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
write_files(struct source *source)
{
    struct prof_file file;

    if (prof_file_folder(&file, source->folder) != PROF_OK) {
        sim_escape_line(stderr, "profsim: %s: %s", source->folder,
                        prof_file_reason(&file));
        return false;
    }
    for (size_t i = 0; i < sizeof contents / sizeof *contents; i++) {
        if (is_there(source, &contents[i]) && !write_file(source, &contents[i]))
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
        .folder = folder,
        .input = path,
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
    source.packing = cli_need(malloc(prof_gzip_bytes()));
    good = prof_registry_init(&source.registry, &config, block, bytes) ==
               PROF_OK &&
           write_files(&source);
    free(source.packing);
    free(source.output.scratch);
    free(block);
    return good;
}
