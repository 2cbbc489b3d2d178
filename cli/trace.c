/*
 * trace.c -- see trace.h. Files are foreign: reading one gives a verdict
 * whatever it holds. A file that does not begin like a trace is not read to its
 * end, so a device without an end gets its verdict too.
 */
#include "trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "trace_dump.h"
#include "trace_reader.h"
#include "trace_stat.h"
#include "trace_view.h"
#include "whole.h"

/* More events than an index can number would need a larger file than this. */
#define FILE_BYTES_MAX ((size_t)4 << 30)

struct input {
    const char *path;
    uint8_t *bytes;
    size_t bytes_count;
    const char *unreadable; /* why, or NULL */
    struct model_trace trace;
};

/* Take over what `from` has. returns: NULL or what went wrong */
static const char *
slurp(struct input *input, FILE *from)
{
    struct model_trace_wire wire;
    size_t room = 0;

    for (;;) {
        if (input->bytes_count == room) {
            room = room == 0 ? 65536 : room * 2;
            if (room > FILE_BYTES_MAX)
                return "the file is larger than 4 GiB";
            uint8_t *bytes = realloc(input->bytes, room);
            if (bytes == NULL)
                return "out of memory";
            input->bytes = bytes;
        }
        const size_t got = fread(input->bytes + input->bytes_count, 1,
                                 room - input->bytes_count, from);
        input->bytes_count += got;
        if (ferror(from))
            return strerror(errno);
        if (got == 0 ||
            !model_trace_wire_open(&wire, input->bytes, input->bytes_count))
            return NULL;
    }
}

/* Read and judge a file; what cannot be read is an error like any other. */
static enum model_trace_verdict
input_open(struct input *input, const char *path)
{
    FILE *from = fopen(path, "rb");

    *input = (struct input){.path = path};
    model_trace_init(&input->trace);
    if (from == NULL) {
        input->unreadable = strerror(errno);
    } else {
        input->unreadable = slurp(input, from);
        (void)fclose(from);
    }
    if (input->unreadable != NULL) {
        input->trace.verdict = MODEL_TRACE_ERROR;
        return MODEL_TRACE_ERROR;
    }
    return model_trace_read(&input->trace, input->bytes, input->bytes_count);
}

static void
input_close(struct input *input)
{
    model_trace_release(&input->trace);
    free(input->bytes);
}

static void
print_verdict(const struct input *input, FILE *to)
{
    const struct model_trace *trace = &input->trace;

    if (trace->verdict == MODEL_TRACE_OK)
        fprintf(to, "%s: ok %" PRIu32 " events\n", input->path,
                model_trace_count(trace));
    else if (input->unreadable != NULL)
        fprintf(to, "%s: error: cannot be read: %s\n", input->path,
                input->unreadable);
    else
        fprintf(to, "%s: %s: offset 0x%" PRIx64 ": %s\n", input->path,
                model_trace_verdict_name(trace->verdict),
                trace->reason.offset_bytes, trace->reason.text);
}

static bool
complain(const char *path, const char *what)
{
    fprintf(stderr, "profsim trace: %s: %s\n", path, what);
    return false;
}

/* The verbs: one file each. returns: whether all is well. */
static bool
check(struct input *input)
{
    print_verdict(input, stdout);
    return input->trace.verdict == MODEL_TRACE_OK;
}

static bool
dump(struct input *input)
{
    if (!model_trace_dump(&input->trace, stdout))
        return complain(input->path, "out of memory");
    if (input->trace.verdict != MODEL_TRACE_OK)
        print_verdict(input, stderr);
    return input->trace.verdict == MODEL_TRACE_OK;
}

static bool
stat_file(struct input *input)
{
    struct model_trace_stat stat;

    if (input->trace.verdict != MODEL_TRACE_OK) {
        print_verdict(input, stderr);
        return false;
    }
    if (!model_trace_stat_make(&stat, &input->trace))
        return complain(input->path, "out of memory");
    printf("%s\n", input->path);
    model_trace_stat_print(&stat, &input->trace, stdout);
    model_trace_stat_release(&stat);
    return true;
}

static const struct verb {
    const char *name;
    bool (*run)(struct input *input);
} verbs[] = {
    {"check", check},
    {"dump", dump},
    {"stat", stat_file},
};

typedef bool (*writer_fn)(const struct model_trace *trace, FILE *to);

static const struct format {
    const char *name;
    writer_fn write;
} formats[] = {
    {"chrome", model_trace_write_chrome},
    {"perfetto", model_trace_write_perfetto},
};

/* A device or directory must not be replaced by a file. */
static bool
may_replace(const char *path)
{
    struct stat status;

    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
        return complain(path, "is not a regular file");
    return true;
}

static bool
write_whole(const char *path, const struct model_trace *trace, writer_fn write)
{
    char *bytes = NULL;
    size_t count = 0;
    FILE *to = open_memstream(&bytes, &count);
    bool done = to != NULL && write(trace, to);
    int error = ENOMEM;

    if (to != NULL && fclose(to) == 0 && done)
        error = cli_whole_write(path, bytes, count);
    free(bytes);
    return error == 0 || complain(path, strerror(error));
}

static bool
convert_file(const char *from, const char *to, writer_fn write)
{
    struct input input;
    bool done = false;

    if (!may_replace(to))
        return false;
    if (input_open(&input, from) == MODEL_TRACE_OK)
        done = write_whole(to, &input.trace, write);
    else
        print_verdict(&input, stderr);
    input_close(&input);
    return done;
}

static enum cli_exit
usage(const char *what)
{
    fprintf(stderr,
            "profsim trace: %s; usage: trace check|dump|stat FILE..., or "
            "trace convert --to chrome|perfetto FILE -o OUT\n",
            what);
    return CLI_USAGE;
}

static enum cli_exit
help(void)
{
    puts("usage: profsim trace check FILE...\n"
         "       profsim trace dump FILE...\n"
         "       profsim trace stat FILE...\n"
         "       profsim trace convert --to chrome|perfetto FILE -o OUT\n"
         "\n"
         "check    one line a file: PATH: ok N events, PATH: time-order: "
         "REASON,\n"
         "         or PATH: error: REASON; exits 0 only if all are ok\n"
         "dump     the events in their order and the stacks, one a line\n"
         "stat     counts, and where the time of every goroutine went\n"
         "convert  for chrome://tracing or Perfetto's viewer");
    return fflush(stdout) == 0 ? CLI_OK : CLI_USAGE;
}

/* Point at where the value of an option goes; NULL: not an option. */
static const char **
option(const char *word, const char **format, const char **to)
{
    if (strcmp(word, "--to") == 0)
        return format;
    if (strcmp(word, "-o") == 0)
        return to;
    return NULL;
}

static enum cli_exit
convert(int argc, char **argv)
{
    const char *format = NULL;
    const char *from = NULL;
    const char *to = NULL;

    for (int i = 2; i < argc; i++) {
        const char **value = option(argv[i], &format, &to);
        if (value == NULL && argv[i][0] == '-')
            return usage("convert has no such option");
        if (value == NULL)
            value = &from;
        else if (++i == argc)
            return usage("an option without its value");
        if (*value != NULL)
            return usage("convert takes one FILE, one --to and one -o");
        *value = argv[i];
    }
    if (format == NULL || from == NULL || to == NULL)
        return usage("convert needs --to, FILE and -o");
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (strcmp(format, formats[i].name) == 0)
            return convert_file(from, to, formats[i].write) ? CLI_OK
                                                            : CLI_USAGE;
    }
    return usage("--to takes chrome or perfetto");
}

static enum cli_exit
run(const struct verb *verb, int argc, char **argv)
{
    bool all_well = true;

    if (argc < 3)
        return usage("no FILE");
    for (int i = 2; i < argc; i++) {
        if (argv[i][0] == '-' && argv[i][1] != '\0')
            return usage("this verb has no options (write ./-name for a file)");
    }
    for (int i = 2; i < argc; i++) {
        struct input input;
        (void)input_open(&input, argv[i]);
        all_well = verb->run(&input) && all_well;
        input_close(&input);
    }
    if (fflush(stdout) != 0)
        all_well = complain("stdout", strerror(errno));
    return all_well ? CLI_OK : CLI_USAGE;
}

enum cli_exit
cli_trace(int argc, char **argv)
{
    if (argc < 2)
        return usage("no verb");
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "help") == 0)
        return help();
    if (strcmp(argv[1], "convert") == 0)
        return convert(argc, argv);
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        if (strcmp(argv[1], verbs[i].name) == 0)
            return run(&verbs[i], argc, argv);
    }
    return usage("no such verb");
}
