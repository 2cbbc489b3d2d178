/*
 * top.c -- `profsim top` and `profsim dump`: ask a process that runs under
 * `profsim profile`.
 */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/command/agent_client.h"
#include "common/command/complaint.h"
#include "record/command/lost_files.h"
#include "record/report/named_profile.h"
#include "common/command/options.h"
#include "record/report/otlp.h"
#include "record/command/profile_command.h"
#include "record/report/profile_top.h"

enum { LINES = 1, VALUE, OUTPUT, STATUS, OTLP };
/* With the longest ending, a path. */
enum { PREFIX_MAX = PATH_MAX - (int)sizeof ".allocs.pb.gz" };

static const struct cli_option top_table[] = {
    {LINES, 'n', "lines", "N", "stacks to show (20)"},
    {VALUE, 0, "value", "NAME",
     "what to sort by: inuse_space, inuse_objects,\nalloc_space, "
     "alloc_objects"},
    {STATUS, 0, "status", NULL, "what is sampled, and what was lost"},
    {0},
};

static const struct cli_syntax top_syntax = {
    .command = "top",
    .words = "[OPTION...] PID",
    .about = "Show which stacks of a process under 'profsim profile' have most "
             "memory in use.\n",
    .options = top_table,
};

static const struct cli_option dump_table[] = {
    {OUTPUT, 'o', "output", "PREFIX",
     "begin the names of the files with PREFIX (profsim-PID)"},
    {OTLP, 0, "otlp", NULL,
     "also PREFIX.heap.otlp and so on, for OpenTelemetry"},
    {0},
};

static const struct cli_syntax dump_syntax = {
    .command = "dump",
    .words = "[OPTION...] PID",
    .about = "Write the profiles of a process under 'profsim profile', as they "
             "are now:\nPREFIX.heap.pb.gz, .allocs, .mutex, .block and .cpu, "
             "those of them that\nare being taken.\n",
    .options = dump_table,
};

/* returns: false, reported */
static bool
take_process(const char *word, uint64_t *process)
{
    if (*process == 0)
        return cli_number("PID", word, 1, INT32_MAX, process);
    return cli_complain("one process at a time, not '%s' as well", word);
}

static bool
complain_of(uint64_t process, const char *reason)
{
    return cli_complain("process %" PRIu64 ": %s", process, reason);
}

/*
 * Ask for a profile and name it.
 *
 * out:     *named, to be released; *is_taken, whether there was a reply
 * returns: NULL, or why not
 */
static const char *
ask(uint64_t process, const char *kind, struct cli_named_profile *named,
    bool *is_taken)
{
    size_t bytes_count;
    uint8_t *bytes;
    const char *reason = cli_agent_ask(process, kind, &bytes, &bytes_count);

    *named = (struct cli_named_profile){.samples_count = 0};
    *is_taken = reason == NULL;
    if (reason != NULL)
        return reason;
    reason = cli_named_profile_make(named, bytes, bytes_count);
    free(bytes);
    return reason;
}

static bool
show_status(uint64_t process)
{
    uint8_t *bytes;
    size_t bytes_count;
    const char *const reason =
        cli_agent_ask(process, "status", &bytes, &bytes_count);

    if (reason != NULL)
        return complain_of(process, reason);
    fwrite(bytes, 1, bytes_count, stdout);
    free(bytes);
    return true;
}

static bool
has_lost_blocks(uint64_t process)
{
    uint8_t *status = NULL;
    size_t count = 0;
    const bool any =
        cli_agent_ask(process, "status", &status, &count) == NULL &&
        cli_lost_blocks((const char *)status);

    free(status);
    return any;
}

static bool
show_top(uint64_t process, const char *value, size_t lines)
{
    struct cli_named_profile named;
    bool is_taken;
    const char *const reason = ask(process, "heap", &named, &is_taken);
    bool good;

    if (reason == NULL)
        named.is_lossy = has_lost_blocks(process);
    if (reason != NULL)
        good = complain_of(process, reason);
    else
        good = cli_profile_top(&named, value, lines, stdout) ||
               cli_complain("top: there is no value '%s'", value);
    cli_named_profile_release(&named);
    return good;
}

enum cli_exit
cli_top(int argc, char **argv)
{
    const char *value = "inuse_space";
    struct cli_options words;
    uint64_t process = 0;
    uint64_t lines = 20;
    bool status = false;
    bool good = true;
    int id;

    cli_options_begin(&words, &top_syntax, argc, argv);
    while (good && (id = cli_options_next(&words)) != CLI_OPTIONS_END) {
        if (id == LINES)
            good = cli_number("--lines", words.value, 1, 1000000, &lines);
        else if (id == VALUE)
            value = words.value;
        else if (id == STATUS)
            status = true;
        else
            good = take_process(words.value, &process);
    }
    if (!good)
        return CLI_USAGE;
    if (words.ended)
        return words.exit_code;
    if (process == 0)
        return cli_options_missing(&words, "a PID");
    good = status ? show_status(process) : show_top(process, value, lines);
    return good ? CLI_OK : CLI_USAGE;
}

/* Save a profile that has samples. returns: NULL, or why it was not written */
static const char *
save(const struct cli_named_profile *named, const char *prefix,
     const char *kind, bool otlp)
{
    char path[PATH_MAX];
    const char *reason;

    snprintf(path, sizeof path, "%s.%s.pb.gz", prefix, kind);
    reason = cli_named_profile_save(named, path);
    if (reason != NULL)
        return reason;
    puts(path);
    if (!otlp)
        return NULL;
    snprintf(path, sizeof path, "%s.%s.otlp", prefix, kind);
    reason = cli_otlp_save(named, path);
    if (reason == NULL)
        puts(path);
    return reason;
}

/*
 * Save all kinds of profiles that the process takes and that have a sample.
 *
 * returns: NULL, or why not
 */
static const char *
dump_all(uint64_t process, const char *prefix, bool otlp)
{
    static const char *const kinds[] = {"heap", "allocs", "mutex", "block",
                                        "cpu"};
    const char *last = NULL;
    size_t written = 0;

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct cli_named_profile named;
        bool is_taken;
        const char *reason = ask(process, kinds[i], &named, &is_taken);

        if (!is_taken) {
            last = reason;
            continue;
        }
        if (reason == NULL && named.samples_count > 0) {
            reason = save(&named, prefix, kinds[i], otlp);
            written++;
        } else if (reason == NULL) {
            last = "nothing was sampled so far";
        }
        cli_named_profile_release(&named);
        if (reason != NULL)
            return reason;
    }
    return written > 0 ? NULL : last;
}

enum cli_exit
cli_dump(int argc, char **argv)
{
    const char *prefix = NULL;
    char by_process[64];
    struct cli_options words;
    uint64_t process = 0;
    bool otlp = false;
    const char *reason;
    bool good = true;
    int id;

    cli_options_begin(&words, &dump_syntax, argc, argv);
    while (good && (id = cli_options_next(&words)) != CLI_OPTIONS_END) {
        if (id == OUTPUT)
            prefix = words.value;
        else if (id == OTLP)
            otlp = true;
        else
            good = take_process(words.value, &process);
    }
    if (!good)
        return CLI_USAGE;
    if (words.ended)
        return words.exit_code;
    if (process == 0)
        return cli_options_missing(&words, "a PID");
    if (prefix != NULL && strlen(prefix) > PREFIX_MAX) {
        cli_complain("-o: the path of a profile would be too long");
        return CLI_USAGE;
    }
    snprintf(by_process, sizeof by_process, "profsim-%" PRIu64, process);
    reason = dump_all(process, prefix != NULL ? prefix : by_process, otlp);
    return reason == NULL || complain_of(process, reason) ? CLI_OK : CLI_USAGE;
}
