/* report_json.c -- the report as data of a page: docs/pages.md. */
#include <inttypes.h>

#include "common/json.h"
#include "explore/report/failing_run.h"

static void
print_columns(struct engine *e, FILE *file, const struct sim_kernel *kernel)
{
    fputs("\"columns\":[", file);
    for (uint32_t t = 0; t < e->threads_count; t++) {
        char title[64];

        snprintf(title, sizeof title, "%" PRIu32 ": %s", t,
                 sim_thread_name(e, kernel, t));
        fputs(t > 0 ? "," : "", file);
        sim_json_string(file, title);
    }
    fputs("]", file);
}

static void
print_broken(FILE *file, const struct replay *replay)
{
    const struct sim_failure *failure = &replay->result->first_failure.failure;
    const uint32_t last = replay->trace_count > 0 ? replay->trace_count - 1 : 0;

    fputs(",\n\"broken\":{\"property\":", file);
    sim_json_string(file, sim_failure_kind_text(failure->kind));
    fprintf(file, ",\"event\":%" PRIu32 ",\"text\":", last);
    sim_json_string(file, failure->text);
    if (failure->site != 0) {
        fputs(",\"site\":", file);
        sim_json_string(file, sim_site_text(failure->site));
    }
    if (failure->other_site != 0) {
        fputs(",\"against\":", file);
        sim_json_string(file, sim_site_text(failure->other_site));
    }
    fputc('}', file);
}

/* The value that the event read from a location, and the value it left
 * there. */
static void
print_memory(FILE *file, const struct replay *replay,
             struct report_locations *locations, const struct trace_event *v)
{
    const bool stores = v->op == SIM_OP_STORE || v->op == SIM_OP_RMW ||
                        (v->op == SIM_OP_CAS && v->ok);
    char text[LOCATION_BYTES];

    if (v->op != SIM_OP_LOAD && v->op != SIM_OP_STORE && v->op != SIM_OP_RMW &&
        v->op != SIM_OP_CAS)
        return;
    sim_report_location(locations, text, v->address);
    fputs(",\"place\":", file);
    sim_json_string(file, text);
    sim_report_value(replay, locations, text, v->value);
    if (v->op != SIM_OP_STORE) {
        fputs(",\"read\":", file);
        sim_json_string(file, text);
        sim_report_value(replay, locations, text, v->written);
    }
    if (stores) {
        fputs(",\"stored\":", file);
        sim_json_string(file, text);
    }
}

static void
print_stale(FILE *file, const struct trace_event *v, uint32_t index)
{
    char text[128];

    if (v->behind == 0)
        return;
    if (v->from < index)
        snprintf(text, sizeof text,
                 "it saw the store of event %" PRIu32 "; %" PRIu32
                 " newer, the last of event %" PRIu32,
                 v->from, v->behind, v->newest);
    else
        snprintf(text, sizeof text,
                 "it saw the value before the run; %" PRIu32
                 " newer, the last of event %" PRIu32,
                 v->behind, v->newest);
    fputs(",\"stale\":{\"from\":", file);
    if (v->from < index)
        fprintf(file, "%" PRIu32, v->from);
    else
        fputs("null", file);
    fprintf(file, ",\"newest\":%" PRIu32 ",\"text\":\"%s\"}", v->newest, text);
}

static void
print_event(FILE *file, const struct replay *replay,
            struct report_locations *locations, uint32_t index)
{
    const struct trace_event *v = &replay->trace[index];
    char text[128] = "";

    sim_report_event(replay, locations, text, sizeof text, v);
    fprintf(file, "{\"n\":%" PRIu32 ",\"column\":%" PRIu32 ",\"text\":", index,
            v->thread);
    sim_json_string(file, text);
    fputs(",\"site\":", file);
    sim_json_string(file, sim_site_text(v->site));
    print_memory(file, replay, locations, v);
    print_stale(file, v, index);
    if (v->before != TRACE_MAX)
        fprintf(file, ",\"before\":%" PRIu32, v->before);
    fputc('}', file);
}

static void
print_events(FILE *file, const struct replay *replay)
{
    struct report_locations locations = {.count = 0};
    const char *comma = "\n";

    fputs(",\n\"events\":[", file);
    for (uint32_t i = 0; i < replay->trace_count; i++) {
        if (!replay->needed[i])
            continue;
        fputs(comma, file);
        print_event(file, replay, &locations, i);
        comma = ",\n";
    }
    fprintf(file, "],\n\"events_count\":%" PRIu32 ",\"left_out\":%" PRIu32,
            replay->trace_count, replay->trace_count - replay->kept);
}

/* Place each choice before the first shown event that comes after it. */
static void
print_choices(FILE *file, const struct replay *replay)
{
    const struct sim_exhaust_result *result = replay->result;
    const char *comma = "\n";
    uint32_t event = 0;

    fputs(",\n\"choices\":[", file);
    for (uint32_t i = 0; i < result->choices_count; i++) {
        const struct sim_choice *c = &result->choices[i];
        char text[CHOICE_BYTES];

        if (c->value == 0)
            continue;
        while (event < replay->trace_count &&
               (replay->trace[event].choice <= i || !replay->needed[event]))
            event++;
        sim_report_choice(result, c, text, sizeof text);
        fprintf(file,
                "%s{\"choice\":%" PRIu32 ",\"value\":%" PRIu32
                ",\"text\":\"choice %" PRIu32 ", %s\",\"event\":",
                comma, i, c->value, i, text);
        if (event < replay->trace_count)
            fprintf(file, "%" PRIu32, event);
        else
            fputs("null", file);
        fprintf(file, ",\"necessary\":%s}",
                replay->necessary[i] ? "true" : "false");
        comma = ",\n";
    }
    fputs("]", file);
}

static void
print_curve(FILE *file, const struct replay *replay)
{
    fprintf(file, ",\n\"curve_runs\":%d,\"curve\":[", CURVE_RUNS);
    for (uint32_t i = 0; i < replay->curve_count; i++)
        fprintf(file, "%s[%" PRIu32 ",%" PRIu32 "]", i > 0 ? "," : "",
                replay->curve[i][0], replay->curve[i][1]);
    fputc(']', file);
}

void
sim_report_data(struct engine *e, FILE *file, const struct sim_kernel *kernel,
                const struct replay *replay)
{
    fputs("\"kind\":\"threads\",\n\"title\":", file);
    sim_json_string(file, kernel->name);
    fputs(",\n\"about\":", file);
    sim_json_string(file, kernel->about);
    fputs(",\n\"stacks\":[],\n", file);
    print_columns(e, file, kernel);
    print_broken(file, replay);
    print_events(file, replay);
    print_choices(file, replay);
    print_curve(file, replay);
}
