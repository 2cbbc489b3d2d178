/*
 * trace_command.c -- see trace_command.h. Files are untrusted: whatever a file
 * contains, reading it gives a verdict. A file that does not begin like a trace
 * is not read to its end, so even an endless device can be judged.
 */
#include "model/command/trace_command.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/command/complaint.h"
#include "common/escape.h"
#include "common/nearest.h"
#include "common/command/options.h"
#include "common/output.h"
#include "model/command/trace_dump.h"
#include "model/trace/trace_reader.h"
#include "model/command/trace_stat.h"
#include "model/command/trace_view.h"

/* More events than an index can number would need a larger file than this. */
#define FILE_BYTES_MAX ((size_t)4 << 30)

struct input {
    const char *path;
    uint8_t *bytes;
    size_t bytes_count;
    const char *unreadable; /* why, or NULL */
    struct model_trace trace;
};

/*
 * Walk over the records that have been read so far.
 *
 * in, out: wire, opened; it stops in front of an incomplete record
 * returns: false if the file cannot be a trace, whatever follows
 */
static bool
is_sound_so_far(struct model_trace_wire *wire, const struct input *input)
{
    struct model_trace_record record;
    enum model_trace_step step;
    size_t at;

    wire->bytes = input->bytes;
    wire->bytes_count = input->bytes_count;
    wire->is_cut = false; /* more bytes have come */
    do {
        at = wire->at;
        step = model_trace_wire_next(wire, &record);
    } while (step == MODEL_TRACE_STEP_RECORD);
    wire->at = at;
    return step == MODEL_TRACE_STEP_END || wire->is_cut;
}

/*
 * Read all of `from`, but stop where it ceases to be a trace: the file may be
 * endless.
 *
 * returns: NULL or what went wrong
 */
static const char *
slurp(struct input *input, FILE *from)
{
    struct model_trace_wire wire = {.at = 0};
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
            (wire.at == 0 &&
             !model_trace_wire_open(&wire, input->bytes, input->bytes_count)) ||
            !is_sound_so_far(&wire, input))
            return NULL;
    }
}

/* Read and judge a file. A file that cannot be read is an error like any
 * other. */
static enum model_trace_verdict
input_open(struct input *input, const char *path)
{
    const bool is_standard = strcmp(path, "-") == 0;
    FILE *from = is_standard ? stdin : fopen(path, "rb");

    *input = (struct input){.path = path};
    model_trace_init(&input->trace);
    if (from == NULL) {
        input->unreadable = strerror(errno);
    } else {
        input->unreadable = slurp(input, from);
        if (!is_standard)
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
        sim_escape_line(to, "%s: ok %" PRIu32 " events", input->path,
                        model_trace_count(trace));
    else if (input->unreadable != NULL)
        sim_escape_line(to, "%s: error: cannot be read: %s", input->path,
                        input->unreadable);
    else
        sim_escape_line(to, "%s: %s: offset 0x%" PRIx64 ": %s", input->path,
                        model_trace_verdict_name(trace->verdict),
                        trace->reason.offset_bytes, trace->reason.text);
}

static bool
complain(const char *path, const char *what)
{
    sim_escape_line(stderr, "profsim trace: %s: %s", path, what);
    return false;
}

/* The verbs, each on one file. returns: true if the file is ok and all was
 * written */
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
    sim_escape_line(stdout, "%s", input->path);
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

static bool
write_whole(const struct props_output *output, const struct model_trace *trace,
            writer_fn write)
{
    char *bytes = NULL;
    size_t count = 0;
    FILE *to = open_memstream(&bytes, &count);
    bool done = to != NULL && write(trace, to);
    const char *reason = "out of memory";

    if (to != NULL && fclose(to) == 0 && done)
        reason = props_output_write(output, bytes, count);
    free(bytes);
    return reason == NULL || complain(output->path, reason);
}

static bool
convert_file(const char *from, const char *to, writer_fn write)
{
    const struct props_output output = {.path = to, .input = from};
    struct prof_file file;
    struct input input;
    bool done = false;

    if (prof_file_check(&file, to) != PROF_OK)
        return complain(to, prof_file_reason(&file));
    if (input_open(&input, from) == MODEL_TRACE_OK)
        done = write_whole(&output, &input.trace, write);
    else
        print_verdict(&input, stderr);
    input_close(&input);
    return done;
}

static const struct cli_syntax syntax = {
    .command = "trace",
    .words = "check FILE...\n"
             "       profsim trace dump FILE...\n"
             "       profsim trace stat FILE...\n"
             "       profsim trace convert --to chrome|perfetto FILE -o OUT",
    .about = "check    one line a file: PATH: ok N events, PATH: time-order: "
             "REASON,\n"
             "         or PATH: error: REASON\n"
             "dump     the events in their order and the stacks, one a line\n"
             "stat     counts, and where the time of every goroutine went\n"
             "convert  for chrome://tracing or Perfetto's viewer\n",
    .exits = "exit code: 0 if all files are ok; 1 otherwise\n",
    .ends_at_word = true,
};

enum { TO = 1, OUTPUT };

static const struct cli_option convert_table[] = {
    {TO, 0, "to", "FORMAT", "chrome or perfetto"},
    {OUTPUT, 'o', "output", "OUT", "the file to write"},
    {0},
};

static const struct cli_syntax convert_syntax = {
    .command = "trace convert",
    .words = "--to chrome|perfetto FILE -o OUT",
    .about = "Write a trace for chrome://tracing or Perfetto's viewer.\n",
    .options = convert_table,
};

static const struct cli_syntax verb_syntax = {
    .command = "trace",
    .words = "check|dump|stat FILE...",
    .about = "See 'profsim trace --help'.\n",
    .exits = "exit code: 0 if all files are ok; 1 otherwise\n",
};

static enum cli_exit
convert_to(const char *format, const char *from, const char *to)
{
    struct sim_nearest nearest = {.wrong = format,
                                  .wrong_bytes = strlen(format)};

    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (strcmp(format, formats[i].name) == 0)
            return convert_file(from, to, formats[i].write) ? CLI_OK
                                                            : CLI_USAGE;
        sim_nearest_try(&nearest, formats[i].name);
    }
    cli_unknown("format", &nearest, "take chrome or perfetto");
    return CLI_USAGE;
}

/* in: argv[0], "convert" */
static enum cli_exit
convert(int argc, char **argv)
{
    const char *values[3] = {NULL}; /* FILE, FORMAT, OUT */
    static const char *const names[3] = {"a FILE", "--to", "-o OUT"};
    struct cli_options words;
    int id;

    cli_options_begin(&words, &convert_syntax, argc, argv);
    while ((id = cli_options_next(&words)) != CLI_OPTIONS_END) {
        const int which = id == CLI_OPTIONS_WORD ? 0 : id;

        if (values[which] != NULL)
            return cli_usage("trace convert: takes one FILE, one --to and one "
                             "-o");
        values[which] = words.value;
    }
    if (words.ended)
        return words.exit_code;
    for (int i = 0; i < 3; i++) {
        if (values[i] == NULL)
            return cli_options_missing(&words, names[i]);
    }
    return convert_to(values[TO], values[0], values[OUTPUT]);
}

/* in: argv[0], the verb */
static enum cli_exit
run(const struct verb *verb, int argc, char **argv)
{
    struct cli_options words;
    bool all_well = true;
    int count;

    cli_options_begin(&words, &verb_syntax, argc, argv);
    if (!cli_options_words(&words, &count))
        return words.exit_code;
    if (count == 0)
        return cli_options_missing(&words, "a FILE");
    for (int i = 1; i <= count; i++) {
        struct input input;

        (void)input_open(&input, argv[i]);
        all_well = verb->run(&input) && all_well;
        input_close(&input);
    }
    /* If the output cannot be written, main() says why. */
    return fflush(stdout) == 0 && all_well ? CLI_OK : CLI_USAGE;
}

enum cli_exit
cli_trace(int argc, char **argv)
{
    struct cli_options words;
    struct sim_nearest nearest = {.wrong = NULL};

    cli_options_begin(&words, &syntax, argc, argv);
    (void)cli_options_next(&words);
    if (words.ended)
        return words.exit_code;
    if (words.index >= argc)
        return cli_options_missing(&words, "check, dump, stat or convert");
    argc -= words.index;
    argv += words.index;
    if (strcmp(argv[0], "convert") == 0)
        return convert(argc, argv);
    nearest =
        (struct sim_nearest){.wrong = argv[0], .wrong_bytes = strlen(argv[0])};
    sim_nearest_try(&nearest, "convert");
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        if (strcmp(argv[0], verbs[i].name) == 0)
            return run(&verbs[i], argc, argv);
        sim_nearest_try(&nearest, verbs[i].name);
    }
    cli_unknown("verb", &nearest, "'profsim trace --help' names them");
    return CLI_USAGE;
}
