/*
 * profile_command.c -- `profsim profile`: a command under the profiler.
 *
 *      profile -- COMMAND      LD_PRELOAD=libprof-malloc.so
 *         |                      |  each process writes FOLDER/PID.heap.pb, ...
 *         +-- names them  <------+
 *               FOLDER/PID.heap.pb.gz, ...
 *
 * A process writes only addresses. Names are looked up here after the process
 * has ended, so the process itself need not read symbol tables.
 */
#include "record/command/profile_command.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/command/complaint.h"
#include "common/escape.h"
#include "record/command/lost_files.h"
#include "record/report/named_profile.h"
#include "common/command/options.h"
#include "record/report/otlp.h"
#include "common/command/preload.h"
#include "prof/file.h"
#include "record/sampler/profile_env.h"
#include "record/report/profile_top.h"

enum { OUTPUT = 1, HEAP, MUTEX, BLOCK, CPU, EVERY, NO_AGENT, OTLP, STRICT };
enum { TOP_LINES = 10, FILES_MAX = 256 << 20 };
enum { PROFILE_BYTES = 16384 }; /* of a small one */

struct options {
    const char *output;
    char folder[PROFILE_FOLDER_MAX]; /* the same, absolute */
    uint64_t heap_rate_bytes;
    uint64_t mutex_fraction;
    uint64_t block_rate_ns;
    uint64_t cpu_hz;
    uint64_t every_s;
    bool no_agent;
    bool otlp;
    bool is_strict;
    char **command;
};

static const struct cli_option table[] = {
    {OUTPUT, 'o', "output", "FOLDER",
     "write the profiles into FOLDER (profsim-profile)"},
    {HEAP, 0, "heap", "BYTES", "mean bytes per sample; 0: none (524288)"},
    {MUTEX, 0, "mutex", "N", "one contended unlock in N; 0: none (1)"},
    {BLOCK, 0, "block", "NS", "mean ns of waiting per sample; 0: none (0)"},
    {CPU, 0, "cpu", "HZ", "samples per second of CPU; 0: none (0)"},
    {EVERY, 0, "every", "S", "write files every S seconds, not only at exit"},
    {NO_AGENT, 0, "no-agent", NULL,
     "no thread in the process: files at exit only"},
    {STRICT, 0, "strict", NULL, "exit with 125 if a profile is missing"},
    {OTLP, 0, "otlp", NULL, "also PID.heap.otlp and so on, for OpenTelemetry"},
    {0},
};

static const struct cli_syntax syntax = {
    .command = "profile",
    .words = "[OPTION...] [--] COMMAND [ARG...]",
    .about = "Run a command with sampled profiles of its heap, its contended "
             "locks and its CPU\ntime. Each process writes its own when it "
             "exits or gets SIGUSR2; while it runs,\n'profsim top' and "
             "'profsim dump' ask for them.\n",
    .options = table,
    .exits = "exit: as COMMAND (by the same signal, if one ended it); 125 if "
             "profiles\ncannot be written, or with --strict were not; 126 if "
             "COMMAND cannot be run;\n127 if it is not found\n",
    .ends_at_word = true,
    .usage_error = CLI_RECORD,
};

static bool
take(struct options *options, int id, const char *value)
{
    switch (id) {
    case OUTPUT:
        options->output = value;
        return true;
    case HEAP:
        return cli_number("--heap", value, 0, INT64_MAX,
                          &options->heap_rate_bytes);
    case MUTEX:
        return cli_number("--mutex", value, 0, INT64_MAX,
                          &options->mutex_fraction);
    case BLOCK:
        return cli_number("--block", value, 0, INT64_MAX,
                          &options->block_rate_ns);
    case CPU:
        return cli_number("--cpu", value, 0, 1000, &options->cpu_hz);
    case EVERY:
        return cli_number("--every", value, 1, 1000000, &options->every_s);
    case STRICT:
        options->is_strict = true;
        return true;
    case OTLP:
        options->otlp = true;
        return true;
    default:
        options->no_agent = true;
        return true;
    }
}

static bool
read_options(struct options *options, int argc, char **argv,
             enum cli_exit *exit_code)
{
    struct cli_options words;
    int id;

    *options = (struct options){.output = "profsim-profile",
                                .heap_rate_bytes = 524288,
                                .mutex_fraction = 1};
    cli_options_begin(&words, &syntax, argc, argv);
    *exit_code = CLI_RECORD;
    while ((id = cli_options_next(&words)) != CLI_OPTIONS_END)
        if (!take(options, id, words.value))
            return false;
    *exit_code = words.exit_code;
    options->command = &argv[words.index];
    if (!words.ended && options->heap_rate_bytes == 0 &&
        options->mutex_fraction == 0 && options->block_rate_ns == 0 &&
        options->cpu_hz == 0) {
        return cli_complain("profile: --heap, --mutex, --block and --cpu are "
                            "all 0: nothing would be sampled");
    }
    if (!words.ended && words.index >= argc)
        return cli_complain("profile: no command to profile; "
                            "'profsim profile --help' says more");
    return !words.ended;
}

static bool
make_folder(struct options *options)
{
    char folder[PATH_MAX];
    struct prof_file file;

    if (prof_file_folder(&file, options->output) != PROF_OK)
        return cli_complain("%s: %s", options->output, prof_file_reason(&file));
    if (realpath(options->output, folder) == NULL)
        return cli_complain("%s: %s", options->output, strerror(errno));
    if (strlen(folder) >= sizeof options->folder)
        return cli_complain("%s: its path is too long", folder);
    strcpy(options->folder, folder);
    if (access(options->folder, R_OK | W_OK | X_OK) != 0)
        return cli_complain("%s: %s", options->folder, strerror(errno));
    return true;
}

static void
set_number(const char *name, uint64_t value)
{
    char text[24];

    snprintf(text, sizeof text, "%" PRIu64, value);
    setenv(name, text, 1);
}

static void
set_environment(void *context)
{
    const struct options *const options = context;

    setenv(PROFILE_ENV_FOLDER, options->folder, 1);
    set_number(PROFILE_ENV_HEAP, options->heap_rate_bytes);
    set_number(PROFILE_ENV_MUTEX, options->mutex_fraction);
    set_number(PROFILE_ENV_BLOCK, options->block_rate_ns);
    set_number(PROFILE_ENV_CPU, options->cpu_hz);
    set_number(PROFILE_ENV_EVERY, options->every_s);
    set_number(PROFILE_ENV_NO_AGENT, options->no_agent);
}

/* ---- naming ---- */

/* returns: the file's bytes; NULL, with errno. A link is not followed. */
static uint8_t *
read_file(const char *path, size_t *bytes_count)
{
    const int file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    FILE *const from = file >= 0 ? fdopen(file, "r") : NULL;
    struct stat status;
    uint8_t *bytes = NULL;

    if (from == NULL)
        return NULL;
    if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) {
        errno = EINVAL;
    } else if (status.st_size >= FILES_MAX) {
        errno = EFBIG;
    } else {
        bytes = cli_need(malloc((size_t)status.st_size + 1));
        *bytes_count = fread(bytes, 1, (size_t)status.st_size, from);
        if (ferror(from) != 0) {
            free(bytes);
            bytes = NULL;
        }
    }
    fclose(from);
    return bytes;
}

/* The files named so far, and the largest heap profile, which is shown at the
 * end. */
struct shown {
    struct cli_named_profile heap;
    size_t count;
    char path[PATH_MAX];
};

static bool
is_heap(const char *stem)
{
    return strcmp(strrchr(stem, '.'), ".heap") == 0;
}

/* returns: false, reported, if there is a reason why it was not written */
static bool
is_saved(const char *path, const char *reason)
{
    return reason == NULL || cli_complain("%s: %s", path, reason);
}

/* Save PID.KIND.pb.gz, and PID.KIND.otlp if that is asked for. in: stem,
 * FOLDER/PID.KIND; path, room. returns: false, reported */
static bool
save(const struct cli_named_profile *named, const char *stem, char *path,
     const struct options *options)
{
    snprintf(path, PATH_MAX, "%s.otlp", stem);
    if (options->otlp && !is_saved(path, cli_otlp_save(named, path)))
        return false;
    snprintf(path, PATH_MAX, "%s.pb.gz", stem);
    return is_saved(path, cli_named_profile_save(named, path));
}

/*
 * Save what a process wrote. Of a heap, there is also the profile of
 * allocations: it has the same values, but shows those of allocations first.
 *
 * returns: false, reported
 */
static bool
save_all(struct cli_named_profile *named, const char *stem,
         const struct options *options, struct shown *shown)
{
    const int length = (int)(strlen(stem) - strlen("heap"));
    char path[PATH_MAX];
    char allocs[PATH_MAX];

    if (!save(named, stem, path, options))
        return false;
    shown->count++;
    if (!is_heap(stem))
        return true;
    snprintf(allocs, sizeof allocs, "%.*sallocs", length, stem);
    if (!is_saved(allocs, cli_named_profile_show(named, "alloc_space")) ||
        !save(named, allocs, path, options))
        return false;
    shown->count++;
    return true;
}

/* Did the process lose blocks of its heap profile? in: stem, FOLDER/PID.heap */
static bool
has_lost_blocks(const char *stem)
{
    char path[PATH_MAX];
    size_t count = 0;
    char *text;
    bool any;

    snprintf(path, sizeof path, "%.*s%s", (int)(strlen(stem) - strlen(".heap")),
             stem, PROFILE_LOST_END);
    text = (char *)read_file(path, &count);
    if (text == NULL)
        return false;
    text[count] = '\0';
    any = cli_lost_blocks(text);
    free(text);
    return any;
}

/*
 * Name a file's addresses. PID.heap.pb becomes PID.heap.pb.gz and
 * PID.allocs.pb.gz; another PID.KIND.pb becomes PID.KIND.pb.gz. A file without
 * samples is removed.
 *
 * returns: false, reported
 */
static bool
name_file(const struct options *options, const char *name, struct shown *shown)
{
    const int length = (int)(strlen(name) - strlen(".pb"));
    struct cli_named_profile named;
    char stem[PATH_MAX - sizeof ".pb.gz"];
    char from[PATH_MAX];
    size_t bytes_count;
    uint8_t *bytes;
    bool good;

    snprintf(stem, sizeof stem, "%s/%.*s", options->folder, length, name);
    snprintf(from, sizeof from, "%s/%s", options->folder, name);
    bytes = read_file(from, &bytes_count);
    if (bytes == NULL)
        return cli_complain("%s: %s", from, strerror(errno));
    good = is_saved(from, cli_named_profile_make(&named, bytes, bytes_count));
    if (good && named.samples_count > 0)
        good = save_all(&named, stem, options, shown);
    free(bytes);
    if (good)
        unlink(from);
    if (good && named.samples_count > 0 && is_heap(stem) &&
        named.proto.count > shown->heap.proto.count) {
        cli_named_profile_release(&shown->heap);
        shown->heap = named;
        shown->heap.is_lossy = has_lost_blocks(stem);
        snprintf(shown->path, sizeof shown->path, "%s.pb.gz", stem);
        return true;
    }
    cli_named_profile_release(&named);
    return good;
}

/* Is it PID.KIND.pb, what a process writes? Others are not ours to replace. */
static int
is_raw(const struct dirent *entry)
{
    static const char *const kinds[] = {".heap.pb", ".allocs.pb", ".mutex.pb",
                                        ".block.pb", ".cpu.pb"};
    const char *const end = entry->d_name + strspn(entry->d_name, "0123456789");

    for (size_t i = 0; end > entry->d_name && i < sizeof kinds / sizeof *kinds;
         i++)
        if (strcmp(end, kinds[i]) == 0)
            return 1;
    return 0;
}

static int
compare_names(const struct dirent **left, const struct dirent **right)
{
    return strcmp((*left)->d_name, (*right)->d_name);
}

static void
show_heap(const struct shown *shown)
{
    sim_escape_line(stderr, "profsim profile: %s:", shown->path);
    cli_profile_top(&shown->heap, "alloc_space", TOP_LINES, stderr);
    cli_profile_top(&shown->heap, "inuse_space", TOP_LINES, stderr);
}

/* No process wrote a profile, or none with a sample: report why. returns: false
 * if one should have */
static bool
explain_none(const struct options *options, bool are_empty, int status)
{
    const char *obstacle;

    if (are_empty) {
        sim_escape_line(stderr, "profsim profile: nothing was sampled: no "
                                "allocation, wait or tick was chosen");
        return true;
    }
    obstacle = cli_preload_obstacle(options->folder, PROFILE_BYTES);
    if (obstacle != NULL)
        return cli_complain("%s: no profile was written: %s", options->output,
                            obstacle);
    if (WIFSIGNALED(status)) {
        sim_escape_line(stderr,
                        "profsim profile: signal %d ended the command before "
                        "it wrote a profile; --every S writes them earlier",
                        WTERMSIG(status));
        return true;
    }
    return cli_complain("%s: no profile was written: is the command linked "
                        "statically, set-uid or another user's, or does it end "
                        "by _exit()?",
                        options->output);
}

/* Name what the processes wrote; show the heap of the largest. */
static bool
finish(const struct options *options, int status)
{
    struct dirent **names = NULL;
    const int count = scandir(options->folder, &names, is_raw, compare_names);
    struct shown shown = {.count = 0};
    bool good = true;

    if (count < 0)
        return cli_complain("%s: %s", options->folder, strerror(errno));
    for (int i = 0; i < count; i++) {
        good = name_file(options, names[i]->d_name, &shown) && good;
        free(names[i]);
    }
    free(names);
    cli_lost_files(options->folder);
    if (shown.count == 0)
        return good && explain_none(options, count > 0, status);
    sim_escape_line(stderr, "profsim profile: %zu %s in %s", shown.count,
                    shown.count == 1 ? "profile" : "profiles", options->output);
    if (shown.heap.proto.at != NULL)
        show_heap(&shown);
    cli_named_profile_release(&shown.heap);
    return good;
}

enum cli_exit
cli_profile(int argc, char **argv)
{
    struct options options;
    const struct cli_preload preload = {.verb = "profile",
                                        .library = "libprof-malloc.so",
                                        .variable = "PROFSIM_PROFILER",
                                        .set_environment = set_environment,
                                        .context = &options};
    char library[PATH_MAX];
    enum cli_exit run;
    int status = 0;
    bool good;

    if (!read_options(&options, argc, argv, &run))
        return run;
    if (!cli_preload_find(library, sizeof library, &preload) ||
        !make_folder(&options))
        return CLI_RECORD;
    run = cli_preload_run(&preload, library, options.command, &status);
    cli_preload_ended(); /* looking names up may take long */
    good = run == CLI_OK && finish(&options, status);
    cli_preload_let_go();
    if (run != CLI_OK)
        return run;
    if (good || !options.is_strict)
        return cli_preload_end_as(status);
    if (status != 0)
        cli_preload_report_end(&preload, status);
    return CLI_RECORD;
}
