/* record_options.c -- see record_options.h. */
#include "record/command/record_options.h"

#include <string.h>

#include "common/command/complaint.h"
#include "record/unwind/frames.h"
#include "record/symbols/images.h"
#include "common/command/options.h"
#include "record/preload/spool.h"

enum { OUTPUT = 1, IMAGES, DEPTH, LIMIT, FRAMES, USABLE, STRICT };

static const struct cli_option table[] = {
    {OUTPUT, 'o', "output", "FILE", "the recording (profsim.rec)"},
    {IMAGES, 0, "images", "N",
     "keep the N process images that asked for the most\nbytes (32)"},
    {DEPTH, 0, "depth", "N", "frames kept of a stack (32)"},
    {LIMIT, 0, "limit", "BYTES",
     "size of a process's log, 64k to 1024G (512M)"},
    {FRAMES, 0, "frame-pointers", NULL,
     "walk frame pointers; COMMAND must keep them"},
    {USABLE, 0, "usable", NULL, "also ask malloc how many bytes are usable"},
    {STRICT, 0, "strict", NULL, "exit with 125 if there is no recording"},
    {0},
};

static const struct cli_syntax syntax = {
    .command = "record",
    .words = "[OPTION...] [--] COMMAND [ARG...]",
    .about = "Run a command and record what it allocates, frees and waits "
             "for.\n",
    .options = table,
    .exits = "exit: as COMMAND (by the same signal, if one ended it); 125 if a "
             "recording\ncannot be written, or with --strict was not; 126 if "
             "COMMAND cannot be run;\n127 if it is not found\n",
    .ends_at_word = true,
    .usage_error = CLI_RECORD,
};

bool
cli_record_output(const char **output, const char *value)
{
    *output = value;
    return (*value != '\0' && strcmp(value, "-") != 0) ||
           cli_complain("--output takes the name of a file, not '%s'%s", value,
                        *value != '\0' ? "; /dev/stdout is standard output"
                                       : "");
}

static bool
take(struct cli_record_options *options, int id, const char *value)
{
    switch (id) {
    case OUTPUT:
        return cli_record_output(&options->output, value);
    case IMAGES:
        return cli_number("--images", value, 1, 1000000, &options->images);
    case DEPTH:
        return cli_number("--depth", value, 1, EMBED_DEPTH_MAX,
                          &options->depth);
    case LIMIT:
        return cli_bytes("--limit", value, 65536, UINT64_C(1) << 40,
                         &options->limit_bytes);
    case STRICT:
        options->is_strict = true;
        return true;
    case USABLE:
        options->asks_usable = true;
        return true;
    default:
        options->by_frames = EMBED_FRAMES_OFFERED;
        return EMBED_FRAMES_OFFERED ||
               cli_complain("--frame-pointers: not for this processor");
    }
}

bool
cli_record_options(struct cli_record_options *options, int argc, char **argv,
                   enum cli_exit *exit_code)
{
    struct cli_options words;
    int id;

    *options = (struct cli_record_options){.output = "profsim.rec",
                                           .depth = 32,
                                           .images = CLI_IMAGES_DEFAULT,
                                           .limit_bytes = UINT64_C(512) << 20};
    cli_options_begin(&words, &syntax, argc, argv);
    *exit_code = words.exit_code;
    while ((id = cli_options_next(&words)) != CLI_OPTIONS_END) {
        if (!take(options, id, words.value))
            return false;
    }
    *exit_code = words.exit_code;
    options->command = &argv[words.index];
    if (!words.ended && words.index >= argc)
        return cli_complain("record: no command to record; "
                            "'profsim record --help' says more");
    return !words.ended;
}
