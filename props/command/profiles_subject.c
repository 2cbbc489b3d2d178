/*
 * profiles_subject.c -- prints what a subject shows after the last event of a
 * scenario, and writes it as profile.proto: the subject's own numbers, rounded
 * to integers in the files.
 *
 * The scenario is run once more, as in profiles_scenario.c.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/command/complaint.h"
#include "common/escape.h"
#include "sim/instruments/instrument_subject.h"
#include "common/profiles.h"
#include "props/command/profiles_scenario.h"
#include "common/proto.h"
#include "common/command/saved_file.h"
#include "sim/scenario/scenario.h"

enum { VALUES_MAX = 4, FIELD_SAMPLE_TYPE = 1 };

/* A profile that is being written. */
struct message {
    const struct sim_scenario *scenario;
    struct cli_proto profile;
    struct cli_proto strings; /* fields 6 */
    uint64_t strings_count;
    uintptr_t *pcs; /* of locations and functions: number i + 1 */
    size_t pcs_count;
    size_t pcs_max;
};

/* ---- The message ---- */

static uint64_t
put_string(struct message *to, const char *text)
{
    cli_proto_text(&to->strings, 6, text);
    return to->strings_count++;
}

static void
put_type(struct message *to, const char *name, const char *unit)
{
    struct cli_proto type = {.count = 0};

    cli_proto_number(&type, 1, put_string(to, name));
    cli_proto_number(&type, 2, put_string(to, unit));
    cli_proto_message(&to->profile, FIELD_SAMPLE_TYPE, &type);
}

static void
put_location(struct message *to, uintptr_t pc)
{
    const char *name = sim_scenario_frame_name(to->scenario, pc);
    struct cli_proto line = {.count = 0};
    struct cli_proto location = {.count = 0};
    struct cli_proto function = {.count = 0};
    char text[32];

    snprintf(text, sizeof text, "0x%" PRIxPTR, pc);
    cli_proto_number(&line, 1, to->pcs_count);
    cli_proto_number(&location, 1, to->pcs_count);
    cli_proto_number(&location, 3, pc);
    cli_proto_message(&location, 4, &line);
    cli_proto_message(&to->profile, 4, &location);
    cli_proto_number(&function, 1, to->pcs_count);
    cli_proto_number(&function, 2, put_string(to, name ? name : text));
    cli_proto_message(&to->profile, 5, &function);
}

static uint64_t
location_of(struct message *to, uintptr_t pc)
{
    for (size_t i = 0; i < to->pcs_count; i++) {
        if (to->pcs[i] == pc)
            return i + 1;
    }
    if (to->pcs_count == to->pcs_max) {
        to->pcs_max = 2 * to->pcs_max + 64;
        to->pcs = cli_need(realloc(to->pcs, to->pcs_max * sizeof *to->pcs));
    }
    to->pcs[to->pcs_count++] = pc;
    put_location(to, pc);
    return to->pcs_count;
}

static uint64_t
whole(double value)
{
    if (isnan(value))
        return 0;
    if (fabs(value) >= 9e18)
        return (uint64_t)(value > 0 ? INT64_MAX : INT64_MIN);
    return (uint64_t)llround(value);
}

/* Add a sample. in: site, leaf, depth, as in the records of subjects */
static void
put_sample(struct message *to, uint32_t site, uintptr_t leaf, uint32_t depth,
           const double *values, int values_count)
{
    const uintptr_t *frames = &leaf;
    struct cli_proto sample = {.count = 0};
    struct cli_proto numbers = {.count = 0};

    if (site != SIM_SUBJECT_NOWHERE)
        frames = to->scenario->config.stacks[site].frames;
    else if (depth > 1)
        depth = 1; /* only the leaf is known */
    for (uint32_t i = 0; i < depth; i++)
        cli_proto_varint(&numbers, location_of(to, frames[i]));
    cli_proto_message(&sample, 1, &numbers);
    for (int i = 0; i < values_count; i++)
        cli_proto_varint(&numbers, whole(values[i]));
    cli_proto_message(&sample, 2, &numbers);
    cli_proto_message(&to->profile, 2, &sample);
}

static bool
complain(const char *path, const char *why)
{
    sim_escape_line(stderr, "profsim: %s: %s", path, why);
    return false;
}

/* Write it as a file, and release it. */
static bool
finish(struct message *message, const char *folder, const char *name,
       const char *input)
{
    struct cli_bytes bytes;
    bool good;

    cli_proto_put(&message->profile, message->strings.at,
                  message->strings.count);
    bytes = (struct cli_bytes){message->profile.at, message->profile.count};
    good = cli_save(folder, name, input, cli_save_bytes, &bytes);
    free(message->profile.at);
    free(message->strings.at);
    free(message->pcs);
    return good;
}

static struct message
begin(const struct sim_scenario *scenario)
{
    struct message message = {.scenario = scenario};

    (void)put_string(&message, ""); /* the format requires it */
    return message;
}

/* ---- The heap ---- */

static const char *
site_name(const struct sim_scenario *scenario, uint32_t site)
{
    return site == SIM_SUBJECT_NOWHERE ? "a site that is none"
                                       : scenario->stack_names[site];
}

static void
print_count(const char *what, const struct subject_count *count)
{
    printf(", %s %.15g (%.15g bytes)", what, count->objects, count->bytes);
}

static void
print_heap(const struct sim_scenario *scenario,
           const struct sim_subject_view *view)
{
    const uint32_t can = scenario->config.subject->can;

    for (size_t i = 0; i < view->count; i++) {
        const struct sim_subject_record *record = &view->records[i];

        sim_escape_text(stdout, site_name(scenario, record->site));
        if (record->address != 0)
            printf(" at 0x%" PRIx64, record->address);
        if ((can & SUBJECT_LIVE) != 0)
            print_count("live", &record->live);
        if ((can & SUBJECT_ALLOCATED) != 0)
            print_count("allocated", &record->allocated);
        if ((can & SUBJECT_FREED) != 0)
            print_count("freed", &record->freed);
        putchar('\n');
    }
}

static bool
write_heap(const char *folder, const char *input,
           const struct sim_scenario *scenario,
           const struct sim_subject_view *view)
{
    const uint32_t can = scenario->config.subject->can;
    struct message message = begin(scenario);

    if ((can & SUBJECT_ALLOCATED) != 0) {
        put_type(&message, "alloc_objects", "count");
        put_type(&message, "alloc_space", "bytes");
    }
    if ((can & SUBJECT_LIVE) != 0) {
        put_type(&message, "inuse_objects", "count");
        put_type(&message, "inuse_space", "bytes");
    }
    for (size_t i = 0; i < view->count; i++) {
        const struct sim_subject_record *record = &view->records[i];
        double values[VALUES_MAX];
        int count = 0;

        if ((can & SUBJECT_ALLOCATED) != 0) {
            values[count++] = record->allocated.objects;
            values[count++] = record->allocated.bytes;
        }
        if ((can & SUBJECT_LIVE) != 0) {
            values[count++] = record->live.objects;
            values[count++] = record->live.bytes;
        }
        put_sample(&message, record->site, record->leaf, record->depth, values,
                   count);
    }
    return finish(&message, folder, "heap.pb.gz", input);
}

/* ---- Waits ---- */

static const char *const wait_names[] = {"block", "mutex"};
static const char *const wait_files[] = {"block.pb.gz", "mutex.pb.gz"};

static void
print_waits(const struct sim_scenario *scenario,
            const struct sim_subject_waits *waits, int kind)
{
    for (size_t i = 0; i < waits->count; i++) {
        const struct sim_subject_wait *record = &waits->records[i];

        sim_escape_text(stdout, site_name(scenario, record->site));
        printf(", %s %.15g (%.15g ticks)\n", wait_names[kind], record->count,
               record->ticks);
    }
}

static bool
write_waits(const char *folder, const char *input,
            const struct sim_scenario *scenario,
            const struct sim_subject_waits *waits, int kind)
{
    struct message message = begin(scenario);

    put_type(&message, "contentions", "count");
    put_type(&message, "delay", "ticks");
    for (size_t i = 0; i < waits->count; i++) {
        const struct sim_subject_wait *record = &waits->records[i];
        const double values[] = {record->count, record->ticks};

        put_sample(&message, record->site, record->leaf, record->depth, values,
                   2);
    }
    return finish(&message, folder, wait_files[kind], input);
}

/* ---- The run ---- */

static bool
step(struct sim_world *world, enum sim_event_kind kind, const char *path)
{
    const struct sim_event event = {.kind = kind, .room = SIM_ROOM_ENOUGH};
    const char *why = sim_world_apply(world, &event);

    return why == NULL || complain(path, why);
}

static bool
show_heap(struct sim_world *world, const char *folder, const char *path,
          const struct sim_scenario *scenario)
{
    if (sim_subject_is_read(world) && !step(world, SIM_EV_PART_LAST, path))
        return false;
    if (!step(world, SIM_EV_SNAPSHOT, path))
        return false;
    print_heap(scenario, sim_subject_view(world, 0));
    return folder[0] == '\0' ||
           write_heap(folder, path, scenario, sim_subject_view(world, 0));
}

static bool
show_waits(struct sim_world *world, const char *folder, const char *path,
           const struct sim_scenario *scenario)
{
    static const uint32_t flags[] = {SUBJECT_BLOCK, SUBJECT_MUTEX};
    static const enum sim_event_kind events[] = {SIM_EV_BLOCK_SNAPSHOT,
                                                 SIM_EV_MUTEX_SNAPSHOT};
    const struct subject *subject = scenario->config.subject;
    bool good = true;

    for (int i = 0; i < 2 && good; i++) {
        if (subject->wait == NULL || (subject->can & flags[i]) == 0)
            continue;
        good = step(world, events[i], path);
        if (good)
            print_waits(scenario, sim_subject_waits(world, 0), i);
        if (good && folder[0] != '\0')
            good = write_waits(folder, path, scenario,
                               sim_subject_waits(world, 0), i);
    }
    return good;
}

bool
cli_profiles_show_subject(const char *folder, const char *path,
                          const struct sim_scenario *scenario)
{
    struct sim_limits limits = sim_scenario_limits(scenario);
    struct sim_world *world;
    const char *why;
    bool good;

    limits.events_max += 4; /* the readings at the end */
    world = sim_world_new(&limits);
    why = world == NULL ? "not enough memory"
                        : sim_world_reset(world, &scenario->config);
    for (uint32_t i = 0; why == NULL && i < scenario->events_count; i++) {
        if (sim_world_apply(world, &scenario->events[i]) != NULL)
            break; /* the judge has complained of it */
    }
    good = why == NULL ? (folder[0] == '\0' || cli_save_folder(folder)) &&
                             show_heap(world, folder, path, scenario) &&
                             show_waits(world, folder, path, scenario)
                       : complain(path, why);
    if (why == NULL)
        sim_subject_end(world);
    sim_world_delete(world);
    return good;
}
