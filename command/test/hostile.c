/*
 * hostile.c -- the command on files that were changed at random, thousands of
 * each kind. Whatever the file: no crash, no report of a sanitizer, no run of
 * more than ten seconds, no byte printed that is not text, no memory above 64
 * MiB and 64 times the file, and no exit code 0 for a damaged file.
 *
 *      hostile KIND COUNT FILE...       inputs 1 to COUNT, made from FILEs
 *      hostile KIND =NUMBER FILE... input NUMBER, kept as ./hostile-KIND-NUMBER
 *
 * A file counts as damaged if no reader may overlook its last change: any
 * change in formats with checksums, those of mutate_damage_*() in others.
 *
 * build: verbs=all
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command/test/bad_commands.h"
#include "common/test/captured.h"
#include "props/command/commands.h"
#include "record/command/record.h"
#include "record/convert/convert.h"
#include "common/escape.h"
#include "common/shard/merge.h"
#include "props/fuzz/mutate.h"
#include "prof/process.h"
#include "model/command/trace_command.h"

enum { SECONDS_MAX = 10, FILES_MAX = 128, FINDINGS_MAX = 10, BATCH = 100 };

/* Sanitizers use memory of their own. */
#if defined(__SANITIZE_ADDRESS__)
#define IS_SANITIZED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define IS_SANITIZED true
#endif
#endif
#ifndef IS_SANITIZED
#define IS_SANITIZED false
#endif

static struct mutate_file input;

static bool
write_input(const char *path)
{
    FILE *file = fopen(path, "wb");

    return file != NULL &&
           fwrite(input.bytes, 1, input.count, file) == input.count &&
           fclose(file) == 0;
}

/* ---- more readers ---- */

static enum cli_exit
convert(int argc, char **argv)
{
    struct cli_converted what;
    char error[512];

    (void)argc;
    if (!cli_convert(argv[1], "/dev/null", NULL, &what, error, sizeof error) &&
        strstr(error, "/dev/null") == NULL)
        return cli_usage("%s: %s", argv[1], error);
    sim_escape_line(stdout, "%s", what.command);
    return CLI_OK;
}

static enum cli_exit
read_mappings(int argc, char **argv)
{
    static char text[MUTATE_ROOM];
    struct prof_mapping mappings[16];
    FILE *file = fopen(argv[1], "rb");
    size_t count = 0;
    enum prof_status status;

    (void)argc;
    if (file == NULL)
        return CLI_USAGE;
    status = prof_mappings_parse(mappings, 16, &count, text,
                                 fread(text, 1, sizeof text, file));
    fclose(file);
    for (size_t i = 0; status == PROF_OK && i < count; i++)
        sim_escape_line(stdout, "%" PRIx64 " %s", mappings[i].start,
                        mappings[i].file);
    return status == PROF_OK ? CLI_OK : CLI_USAGE;
}

/* Merge a folder with only the input. The verdict is what the file says. */
static enum cli_exit
merge(int argc, char **argv)
{
    char folder[] = "/tmp/profsim-hostile-XXXXXX";
    char path[sizeof folder + 16];
    char *words[] = {argv[0], folder, NULL};
    enum cli_exit exit_code = CLI_CRASH;

    (void)argc;
    snprintf(path, sizeof path, "%s/a.result", mkdtemp(folder));
    if (write_input(path))
        exit_code = cli_merge(2, words) == CLI_OK ? CLI_OK : CLI_USAGE;
    unlink(path);
    rmdir(folder);
    return exit_code;
}

/* ---- kinds ---- */

struct command {
    enum cli_exit (*run)(int argc, char **argv);
    const char *words[2]; /* the name of the command, and a verb */
};

static bool
mend_nothing(struct mutate_file *file, uint64_t *seed)
{
    (void)file;
    (void)seed;
    return false;
}

static const struct kind {
    const char *name;
    bool text;
    void (*mend)(struct mutate_file *file); /* corrects checksums; or NULL */
    bool (*damage)(struct mutate_file *file, uint64_t *seed);
    struct command commands[4];
} kinds[] = {
    {"scenario",
     true,
     NULL,
     mutate_damage_text,
     {{cli_run, {"run"}},
      {cli_replay, {"replay"}},
      {cli_explain, {"explain"}},
      {cli_check, {"check"}}}},
    {"recording",
     false,
     mutate_mend_recording,
     NULL,
     {{cli_show, {"show"}},
      {cli_check, {"check"}},
      {cli_check, {"check"}},
      {cli_diff, {"diff", "fixtures/recordings/waits.rec"}}}},
    {"result", true, mutate_mend_result, NULL, {{merge, {"merge"}}}},
    {"trace",
     false,
     NULL,
     mutate_damage_trace,
     {{cli_trace, {"trace", "check"}},
      {cli_trace, {"trace", "stat"}},
      {cli_trace, {"trace", "dump"}}}},
    {"spool", false, NULL, mend_nothing, {{convert, {"convert"}}}},
    {"mappings", true, NULL, mend_nothing, {{read_mappings, {"mappings"}}}},
    {"bad",
     true,
     NULL,
     mutate_damage_text,
     {{bad_accepts, {"accepts"}},
      {bad_prints, {"prints"}},
      {bad_crashes, {"crashes"}},
      {bad_grows, {"grows"}}}},
};

static struct mutate_file *files;
static uint64_t files_count;

static bool
load(const char *path)
{
    struct mutate_file *to = &files[files_count];
    FILE *file = fopen(path, "rb");

    if (file == NULL || files_count == FILES_MAX) {
        fprintf(stderr, "hostile: %s: cannot be read\n", path);
        return false;
    }
    to->count = fread(to->bytes, 1, sizeof to->bytes, file);
    files_count += to->count > 0 && to->count < sizeof to->bytes; /* whole */
    fclose(file);
    return true;
}

/* ---- inputs ---- */

static bool
is_as_it_was(void)
{
    for (uint64_t i = 0; i < files_count; i++) {
        if (files[i].count == input.count &&
            memcmp(files[i].bytes, input.bytes, input.count) == 0)
            return true;
    }
    return false;
}

/* returns: is it damaged? */
static bool
make_input(const struct kind *kind, uint64_t number)
{
    uint64_t seed = number << 20;
    const struct mutate_file *from = &files[mutate_below(&seed, files_count)];

    input.count = from->count;
    memcpy(input.bytes, from->bytes, from->count);
    if (kind->damage != NULL && mutate_below(&seed, 3) == 0)
        return kind->damage(&input, &seed);
    mutate_any(&input, &files[mutate_below(&seed, files_count)], kind->text,
               &seed);
    if (kind->mend == NULL)
        return false;
    if (mutate_below(&seed, 3) == 0)
        return !is_as_it_was();
    kind->mend(&input);
    return false;
}

/* returns: NULL, or what is wrong with how a command ended or what it
 * printed */
static const char *
judge(const struct captured *captured, bool damaged)
{
    const size_t ceiling = ((size_t)64 << 20) + 64 * input.count;
    size_t length;

    if (captured->signal == SIGALRM)
        return "takes more than ten seconds";
    if (captured->signal != 0 || captured->exit_code > CLI_INCOMPLETE)
        return "crashes";
    if (captured->exit_code == CLI_CRASH ||
        strstr(captured->text, "does not end") != NULL)
        return "lets a run crash or hang";
    if (captured->exit_code == CLI_NONDETERMINISM)
        return "is not deterministic";
    for (size_t i = 0; i < captured->text_bytes; i += length) {
        length = captured->text[i] == '\n'
                     ? 1
                     : sim_escape_printable(captured->text + i,
                                            captured->text_bytes - i);
        if (length == 0)
            return "prints what is no text";
    }
    if (!IS_SANITIZED && captured->peak_bytes > ceiling)
        return "takes memory above the ceiling";
    if (damaged && captured->exit_code == CLI_OK)
        return "accepts a damaged file";
    return NULL;
}

struct sums {
    uint64_t damaged;
    uint64_t accepted;
    uint64_t findings;
    size_t peak_bytes;
};

/* Choose the command for an input. */
static const struct command *
command_of(const struct kind *kind, uint64_t number, char **words,
           const char *path)
{
    uint64_t commands = 1;
    const struct command *command;
    int count = 0;

    while (commands < 4 && kind->commands[commands].run != NULL)
        commands++;
    command = &kind->commands[number % commands];
    for (; count < 2 && command->words[count] != NULL; count++)
        words[count] = (char *)(uintptr_t)command->words[count];
    words[count] = (char *)(uintptr_t)path;
    words[count + 1] = NULL;
    return command;
}

static void
report(FILE *to, const struct kind *kind, uint64_t number, const char *wrong,
       const struct captured *captured)
{
    const size_t skip =
        captured->text_bytes > 3000 ? captured->text_bytes - 3000 : 0;

    fprintf(to,
            "%s %" PRIu64 ": %s (exit %d, signal %d, %zu KiB, %zu bytes of "
            "file)\n",
            kind->name, number, wrong, (int)captured->exit_code,
            captured->signal, captured->peak_bytes >> 10, input.count);
    for (const char *line = captured->text + skip; *line != '\0';) {
        const int bytes = (int)strcspn(line, "\n");

        sim_escape_line(to, "    %.*s", bytes, line);
        line += bytes + (line[bytes] == '\n');
    }
    fflush(to); /* the next input may end the process */
}

static void
count(struct sums *sums, const struct captured *captured, bool damaged,
      const char *wrong)
{
    sums->damaged += damaged;
    sums->accepted += captured->exit_code == CLI_OK;
    sums->findings += wrong != NULL;
    if (captured->peak_bytes > sums->peak_bytes)
        sums->peak_bytes = captured->peak_bytes;
}

/* Try one input in a process of its own, so that its memory can be measured. */
static bool
try_input(const struct kind *kind, uint64_t number, const char *path,
          struct sums *sums)
{
    const bool damaged = make_input(kind, number);
    struct captured captured;
    const char *wrong;
    char *words[4];
    const struct command *command = command_of(kind, number, words, path);

    if (!write_input(path) ||
        !captured_run(&captured, command->run, words, -1, SECONDS_MAX)) {
        perror("hostile");
        return false;
    }
    wrong = judge(&captured, damaged);
    count(sums, &captured, damaged, wrong);
    if (wrong != NULL)
        report(stdout, kind, number, wrong, &captured);
    captured_free(&captured);
    return true;
}

/* State shared with the process that tries a batch. */
struct batch {
    uint64_t number; /* being tried; beyond the last: all are done */
    struct sums sums;
};

static _Noreturn void
be_batch(const struct kind *kind, uint64_t last, const char *path,
         struct batch *batch, int output)
{
    FILE *to = fdopen(dup(STDOUT_FILENO), "w");
    char *words[4];

    if (to == NULL || dup2(output, 1) < 0 || dup2(output, 2) < 0)
        _exit(126);
    for (; batch->number <= last; batch->number++) {
        const bool damaged = make_input(kind, batch->number);
        const struct command *command =
            command_of(kind, batch->number, words, path);
        struct captured captured = {.exit_code = CLI_OK};
        const char *wrong;

        if (!write_input(path) || ftruncate(output, 0) != 0 ||
            lseek(output, 0, SEEK_SET) != 0)
            _exit(126);
        alarm(SECONDS_MAX);
        captured.exit_code = (int)command->run(words[1] == path ? 2 : 3, words);
        fflush(stdout);
        alarm(0);
        if (!captured_read(&captured, output))
            _exit(126);
        wrong = judge(&captured, damaged);
        count(&batch->sums, &captured, damaged, wrong);
        if (wrong != NULL)
            report(to, kind, batch->number, wrong, &captured);
        captured_free(&captured);
    }
    fclose(to);
    exit(0);
}

/*
 * Try many inputs in one process, as processes with sanitizers are slow to
 * start. in/out: batch->number, the first; then the one after the last that was
 * tried
 */
static bool
try_batch(const struct kind *kind, uint64_t last, const char *path,
          struct batch *batch)
{
    const int output = memfd_create("output", MFD_CLOEXEC);
    struct captured captured = {.exit_code = CLI_OK};
    int status = 0;
    pid_t child;

    fflush(NULL);
    child = fork();
    if (child == 0)
        be_batch(kind, last, path, batch, output);
    if (child < 0 || output < 0 || waitpid(child, &status, 0) != child ||
        !captured_read(&captured, output))
        return false;
    close(output);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        captured.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
        captured.exit_code = CLI_CRASH;
        batch->sums.findings++;
        report(stdout, kind, batch->number,
               batch->number > last ? "leaks, one of a batch" : "crashes",
               &captured);
        batch->number++;
    }
    captured_free(&captured);
    return true;
}

static bool
try_all(const struct kind *kind, uint64_t last, const char *path,
        struct batch *batch)
{
    bool good = true;

    while (good && batch->number <= last &&
           batch->sums.findings < FINDINGS_MAX) {
        const uint64_t to = batch->number + BATCH - 1;

        if (IS_SANITIZED)
            good = try_batch(kind, to < last ? to : last, path, batch);
        else
            good = try_input(kind, batch->number++, path, &batch->sums);
        fflush(stdout);
    }
    return good;
}

/*
 * Inputs are files in memory. Spools must be real files, since a command
 * refuses links to them. returns: the exit code; 1 also if none of many files
 * was accepted
 */
static int
run_all(const struct kind *kind, uint64_t first, uint64_t last)
{
    char path[] = "/tmp/profsim-hostile-XXXXXX";
    const bool is_spool = strcmp(kind->name, "spool") == 0;
    const int memory = is_spool ? mkstemp(path) : memfd_create("input", 0);
    struct batch *batch = mmap(NULL, sizeof *batch, PROT_READ | PROT_WRITE,
                               MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    bool good = memory >= 0 && batch != MAP_FAILED;

    if (!is_spool)
        snprintf(path, sizeof path, "/proc/self/fd/%d", memory);
    if (good) {
        batch->number = first;
        good = try_all(kind, last, path, batch);
    }
    if (is_spool)
        unlink(path);
    if (!good)
        return 1;
    printf("%s: %" PRIu64 " inputs, %" PRIu64 " damaged, %" PRIu64
           " accepted, at most %zu KiB, %" PRIu64 " findings\n",
           kind->name, batch->number - first, batch->sums.damaged,
           batch->sums.accepted, batch->sums.peak_bytes >> 10,
           batch->sums.findings);
    return batch->sums.findings > 0 ||
           (batch->number - first >= 100 && batch->sums.accepted == 0);
}

int
main(int argc, char **argv)
{
    const struct kind *kind = kinds;
    uint64_t last;
    char name[64];

    files = mmap(NULL, FILES_MAX * sizeof *files, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (; argc > 2 && kind < kinds + sizeof kinds / sizeof *kinds; kind++) {
        if (strcmp(kind->name, argv[1]) == 0)
            break;
    }
    if (files == MAP_FAILED || argc < 3 ||
        kind == kinds + sizeof kinds / sizeof *kinds) {
        fprintf(stderr, "usage: hostile KIND COUNT|=NUMBER FILE...\n");
        return 1;
    }
    for (int i = 3; i < argc; i++) {
        if (!load(argv[i]))
            return 1;
    }
    if (strcmp(kind->name, "spool") == 0)
        mutate_make_spool(&files[files_count++]);
    if (files_count == 0)
        return 1;
    if (argv[2][0] != '=')
        return run_all(kind, 1, strtoull(argv[2], NULL, 10));
    last = strtoull(argv[2] + 1, NULL, 10);
    (void)make_input(kind, last);
    snprintf(name, sizeof name, "hostile-%s-%" PRIu64, kind->name, last);
    return !write_input(name) || run_all(kind, last, last);
}
