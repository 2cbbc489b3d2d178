/*
 * failure_page.c -- see failure_page.h.
 *
 * The run may crash or hang, so it takes place in a child process. The child
 * prints each event to a file as soon as it has happened, so the page shows
 * everything up to a crash. Another child finds out which events the failure
 * needs.
 */
#include "props/page/failure_page.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "props/page/buckets.h"
#include "common/command/complaint.h"
#include "props/page/failure_event.h"
#include "props/page/failure_trace.h"
#include "common/json.h"
#include "props/page/needed.h"
#include "prof/version.h"
#include "props/judge/replay.h"
#include "props/command/subject_file.h"

enum {
    HANG_SECONDS = 10,
    EVENTS_BYTES_MAX = 1200000, /* of a page of at most 2 MB */
    SCENARIO_BYTES_MAX = 1 << 16
};

/* What the children find, in memory shared with them. */
struct found {
    struct props_breach breach;
    struct sim_error error; /* an expectation that failed, or a refusal */
    uint32_t error_event;
    uint32_t begun; /* events that began to happen */
    bool has_needed;
    bool needed[CLI_NEEDED_EVENTS_MAX];
};

struct telling {
    const struct sim_scenario *scenario;
    props_set requested;
    uint32_t shown_from; /* index of the first event that is printed */
    struct props_run *run;
    struct cli_buckets *buckets; /* NULL: the run has no profiles */
    FILE *events;
    FILE *traces;    /* empty: the run was not traced, or did not end */
    uint32_t *facts; /* length of the truth log after each event */
    struct found *found;
};

static struct cli_event
event_at(const struct telling *telling, uint32_t index)
{
    return (struct cli_event){.scenario = telling->scenario,
                              .index = index,
                              .run = telling->run,
                              .buckets = telling->buckets,
                              .before = telling->run->cover};
}

/* ---- The run ---- */

static bool
refuse(struct telling *telling, uint32_t index, const char *why)
{
    const struct sim_scenario *scenario = telling->scenario;

    snprintf(telling->found->error.text, sizeof telling->found->error.text,
             "%.120s: event %u: %.100s", scenario->name, (unsigned)index + 1,
             why);
    telling->found->error_event = index;
    return false;
}

/* Make an event happen and print it. returns: false if no further one can
 * happen */
static bool
happen(struct telling *telling, uint32_t index)
{
    const struct sim_scenario *scenario = telling->scenario;
    const struct sim_world *world = telling->run->judge.world;
    struct cli_event event = event_at(telling, index);
    const char *refused;
    bool holds;

    cli_event_begin(&event);
    telling->found->begun = index + 1;
    holds = props_run_event(telling->run, &scenario->events[index], &refused);
    if (refused != NULL)
        return refuse(telling, index, refused);
    telling->facts[index] = sim_world_truth(world)->entries_count;
    if (index >= telling->shown_from)
        cli_event_print(telling->events, &event);
    if (sim_scenario_check_answer(scenario, index, sim_world_answer(world),
                                  &telling->found->error))
        return holds;
    telling->found->error_event = index;
    return false;
}

static void
report_run(struct telling *telling)
{
    const struct sim_scenario *scenario = telling->scenario;
    struct props_run *run = telling->run;
    const char *why =
        props_run_begin(run, &scenario->config, telling->requested);
    bool holds = true;

    if (why != NULL) {
        refuse(telling, 0, why);
        return;
    }
    if (run->has_profiles && sim_world_prof(run->judge.world) != NULL)
        telling->buckets = cli_buckets_open(scenario);
    for (uint32_t i = 0; i < scenario->events_count && holds; i++)
        holds = happen(telling, i);
    if (holds)
        props_run_end(run);
    telling->found->breach = run->judge.breach;
    if (holds && run->has_trace)
        cli_failure_trace_print(telling->traces, scenario, run, telling->facts,
                                scenario->events_count);
    cli_buckets_close(telling->buckets);
}

static void
find_needed(struct telling *telling)
{
    struct found *found = telling->found;

    if (found->breach.property != PROPS_NONE)
        found->has_needed =
            cli_needed_find(telling->run, telling->scenario, telling->requested,
                            found->breach.property, found->needed);
}

/* returns: the status that the child ended with; -1 if there was none */
static int
apart(struct telling *telling, void (*work)(struct telling *telling))
{
    int status;
    pid_t pid;

    fflush(NULL); /* nothing buffered may be written twice */
    pid = fork();
    if (pid == 0) {
        alarm(HANG_SECONDS);
        work(telling);
        _exit(0);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        return -1;
    return status;
}

/* ---- All of it ---- */

static void
print_stacks(FILE *file, const struct sim_scenario *scenario)
{
    fputs(",\n\"stacks\":[", file);
    for (uint32_t i = 0; i < scenario->config.stacks_count; i++) {
        const struct truth_stack *stack = &scenario->stacks[i];

        fputs(i > 0 ? ",\n{\"name\":" : "\n{\"name\":", file);
        sim_json_string(file, scenario->stack_names[i]);
        fputs(",\"frames\":[", file);
        for (uint32_t f = 0; f < stack->depth && f < 64; f++) {
            const char *name =
                sim_scenario_frame_name(scenario, stack->frames[f]);
            char address[32];

            snprintf(address, sizeof address, "%#" PRIxPTR, stack->frames[f]);
            fputs(f > 0 ? "," : "", file);
            sim_json_string(file, name != NULL ? name : address);
        }
        fputs("]}", file);
    }
    fputs("]", file);
}

/* Print the columns that a page begins with; it adds those that come later. */
static void
print_columns(FILE *file, const struct sim_scenario *scenario)
{
    const uint32_t procs = scenario->config.procs;

    fputs(",\n\"columns\":[", file);
    for (uint32_t p = 0; p < procs || p == 0; p++)
        fprintf(file, "%s\"p%" PRIu32 "\"", p > 0 ? "," : "", p);
    fputc(']', file);
}

static void
print_broken(FILE *file, const struct found *found, int status)
{
    const struct props_breach *breach = &found->breach;

    fputs(",\n\"broken\":", file);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;

        fprintf(file, "{\"event\":%" PRIu32 ",\"text\":", found->begun);
        sim_json_string(file, signal == SIGALRM ? "the run does not end"
                              : signal != 0     ? strsignal(signal)
                                                : "the run ended its process");
        fputc('}', file);
    } else if (breach->property != PROPS_NONE) {
        fprintf(file, "{\"property\":\"%s\",\"sentence\":",
                props_property_id(breach->property));
        sim_json_string(file, props_property_sentence(breach->property));
        /* A trace's breach concerns a whole session, not one event. */
        if ((breach->broken & PROPS_OF_TRACES) != 0)
            fputs(",\"text\":", file);
        else
            fprintf(file,
                    ",\"event\":%" PRIu32 ",\"text\":", breach->event + 1);
        sim_json_string(file, breach->text);
        fputc('}', file);
    } else if (found->error.text[0] != '\0') {
        fprintf(file,
                "{\"event\":%" PRIu32 ",\"text\":", found->error_event + 1);
        sim_json_string(file, found->error.text);
        fputc('}', file);
    } else {
        fputs("null", file);
    }
}

static void
print_needed(FILE *file, const struct sim_scenario *scenario,
             const struct found *found)
{
    const char *comma = "";

    if (!found->has_needed)
        return;
    fputs(",\n\"needed\":[", file);
    for (uint32_t i = 0; i < scenario->events_count; i++) {
        if (!found->needed[i])
            continue;
        fprintf(file, "%s%" PRIu32, comma, i + 1);
        comma = ",";
    }
    fputc(']', file);
}

static void
print_head(FILE *file, const struct sim_scenario *scenario, const char *command)
{
    const struct sim_config *config = &scenario->config;

    fprintf(file,
            "{\"format\":\"profsim failure\",\"version\":1,\"profsim\":\"%s\","
            "\n\"title\":",
            PROF_VERSION);
    sim_json_string(file, scenario->name);
    fputs(",\n\"command\":", file);
    sim_json_string(file, command);
    fprintf(file, ",\n\"%s\":\"%s\",\"scheme\":\"%s\",\"about\":",
            config->subject != NULL ? "subject" : "rules",
            config->subject != NULL ? config->subject->name
                                    : config->rules->name,
            config->rules->heap == PROF_HEAP_RING ? "ring" : "stages");
    sim_json_string(file, scenario->header);
    fprintf(file, ",\n\"events_count\":%" PRIu32, scenario->events_count);
}

/* Print the text of the file, unless it is large: it also shows what is set
 * before the first event. */
static void
print_scenario(FILE *file, const struct sim_scenario *scenario)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *memory = open_memstream(&text, &bytes);

    if (memory == NULL)
        return;
    sim_scenario_print(memory, scenario);
    if (fclose(memory) == 0 && bytes <= SCENARIO_BYTES_MAX) {
        fputs(",\n\"scenario\":", file);
        sim_json_string(file, text);
    }
    free(text);
}

/* Copy what the child printed, a line for each event; after a crash the last
 * line may be incomplete. */
static void
copy_events(FILE *file, FILE *events)
{
    const char *comma = "\n";
    char *line = NULL;
    size_t room = 0;
    ssize_t bytes;

    fputs(",\n\"events\":[", file);
    rewind(events);
    while ((bytes = getline(&line, &room, events)) > 1) {
        if (line[bytes - 1] != '\n')
            break;
        line[bytes - 1] = '\0';
        fprintf(file, "%s%s", comma, line);
        comma = ",\n";
    }
    free(line);
    fputc(']', file);
}

/* The child printed all traces, or was killed before it printed any. */
static void
copy_traces(FILE *file, FILE *traces)
{
    char block[4096];
    size_t bytes;

    if (fseek(traces, 0, SEEK_END) != 0 || ftell(traces) <= 0)
        return;
    fputs(",\n\"traces\":", file);
    rewind(traces);
    while ((bytes = fread(block, 1, sizeof block, traces)) > 0)
        fwrite(block, 1, bytes, file);
}

/* Discard a run, to run again. returns: false if a file has an error */
static bool
begin_again(struct telling *telling)
{
    *telling->found = (struct found){.breach = {.property = PROPS_NONE}};
    rewind(telling->events);
    rewind(telling->traces);
    return ftruncate(fileno(telling->events), 0) == 0 &&
           ftruncate(fileno(telling->traces), 0) == 0;
}

/*
 * Run the scenario in a child. If the run ends before the events that the page
 * should show, or if these are too large for a page, choose earlier or fewer
 * events and run the scenario again.
 *
 * returns: as apart()
 */
static int
run_shown(struct telling *telling)
{
    uint32_t shown = CLI_FAILURE_EVENTS_MAX;
    uint32_t end = telling->scenario->events_count;

    for (;;) {
        int status;

        telling->shown_from = end > shown ? end - shown : 0;
        status = apart(telling, report_run);
        if (status == -1 || fseek(telling->events, 0, SEEK_END) != 0)
            return -1;
        if (ftell(telling->events) > EVENTS_BYTES_MAX && shown > 1)
            shown /= 4;
        else if (telling->found->begun == end || telling->shown_from == 0)
            return status;
        end = telling->found->begun;
        if (!begin_again(telling))
            return -1;
    }
}

static bool
report(FILE *file, struct telling *telling, const char *command)
{
    const struct sim_scenario *scenario = telling->scenario;
    int status = run_shown(telling);

    if (status == -1)
        return false;
    print_head(file, scenario, command);
    print_scenario(file, scenario);
    print_columns(file, scenario);
    print_stacks(file, scenario);
    print_broken(file, telling->found, status);
    if (status == 0 && apart(telling, find_needed) == 0)
        print_needed(file, scenario, telling->found);
    copy_events(file, telling->events);
    if (status == 0)
        copy_traces(file, telling->traces);
    fputs("}\n", file);
    return true;
}

bool
cli_failure_print(FILE *file, const struct sim_scenario *scenario,
                  props_set requested, const char *command)
{
    const struct sim_limits limits = sim_scenario_limits(scenario);
    struct telling telling = {.scenario = scenario,
                              .requested =
                                  props_replay_requested(scenario, requested)};
    bool done = false;

    telling.run = props_run_new(&limits);
    telling.events = tmpfile();
    telling.traces = tmpfile();
    telling.facts = calloc(scenario->events_count + 1, sizeof *telling.facts);
    telling.found = mmap(NULL, sizeof *telling.found, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (telling.run != NULL && telling.events != NULL &&
        telling.traces != NULL && telling.facts != NULL &&
        telling.found != MAP_FAILED) {
        telling.found->breach.property = PROPS_NONE;
        done = report(file, &telling, command);
    }
    if (telling.found != MAP_FAILED)
        munmap(telling.found, sizeof *telling.found);
    if (telling.events != NULL)
        fclose(telling.events);
    if (telling.traces != NULL)
        fclose(telling.traces);
    free(telling.facts);
    props_run_delete(telling.run);
    return done;
}

bool
cli_failure_write(const struct cli_page_paths *paths,
                  const struct sim_scenario *scenario, props_set requested,
                  const char *command)
{
    struct cli_page page;
    bool done;

    if (!cli_page_wanted(paths))
        return true;
    cli_page_begin(&page);
    done = page.file != NULL &&
           cli_failure_print(page.file, scenario, requested, command);
    if (done)
        return cli_page_end(&page, CLI_PAGE_FAILURE, paths,
                            paths->input != NULL ? paths->input
                                                 : scenario->name);
    cli_page_drop(&page);
    return cli_complain("%s: not enough memory for a page", scenario->name);
}

bool
cli_failure_write_beside(const char *path, const char *text,
                         const struct subject *subject, const char *command,
                         char *page, size_t page_bytes)
{
    struct cli_page_paths paths = {.html = page};
    const size_t stem = strlen(path) - strlen(".sim");
    struct sim_error error;
    struct sim_scenario *scenario;
    bool done;

    if (stem + sizeof ".html" > page_bytes)
        return cli_complain("%s: its path is too long for a page", path);
    snprintf(page, page_bytes, "%.*s.html", (int)stem, path);
    scenario = sim_scenario_parse(text, strlen(text), path, &error);
    if (scenario == NULL)
        return cli_complain("%s", error.text);
    done = cli_failure_write(&paths, scenario,
                             cli_subject_give(scenario, subject), command);
    sim_scenario_free(scenario);
    return done;
}

bool
cli_subject_pages(const struct cli_page_paths *pages,
                  const struct sim_scenario *scenario, props_set requested,
                  const char *path, const char *file)
{
    char command[2 * CLI_SUBJECT_COMMAND_BYTES]; /* has two paths */

    cli_subject_command_on(command, sizeof command, "replay", path, file);
    return cli_failure_write(pages, scenario, requested, command);
}
